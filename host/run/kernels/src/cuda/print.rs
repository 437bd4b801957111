//! The printer: CUDA C++ of a loop form.
//!
//! Nothing that a guest wrote reaches the text but numbers: names are made of a letter and a position, floats are
//! written as the bits they have.

use super::loops::{
    CudaType, DeviceFunction, Expression, FunctionRole, LoopRange, MemorySpace, SHARED, ThreadStep, Unroll, Variable,
};
use passhost_ir::Dtype;
use std::fmt::{self, Display, Formatter};

const PRELUDE: &str = include_str!("prelude.cu");
const MATRICES: &str = include_str!("matrices.cu");
/// What kernels call of it.
const OF_MATRICES: &str = "multiply_";
/// What a part is called, with its number.
const PART: &str = "k";
/// What a part calls the number of its block among its own.
const OF_PARTS: &str = "// The number of a block among those of one body.\nstruct Block { u32 x; };\n\n";

/// Source text of functions, the one that is launched last.
pub fn source(functions: &[DeviceFunction]) -> String {
    let of_parts = if functions.len() > 1 { OF_PARTS } else { "" };
    let functions = functions.iter().map(function).collect::<Vec<String>>().join("\n");
    let matrices = if functions.contains(OF_MATRICES) { [MATRICES, "\n"] } else { [""; 2] }.concat();
    format!("{PRELUDE}\n{matrices}{of_parts}{functions}")
}

fn function(DeviceFunction { role, inputs, outputs, body }: &DeviceFunction) -> String {
    let opening = match role {
        FunctionRole::Part(number) => format!("D void {PART}{number}"),
        FunctionRole::Entry { name, threads, cluster } => {
            let cluster = if *cluster > 1 { format!(" __cluster_dims__({cluster}, 1, 1)") } else { String::new() };
            format!("extern \"C\" __global__ void __launch_bounds__({threads}){cluster} {name}")
        }
    };
    let of_part = matches!(role, FunctionRole::Part(_)).then(|| format!("const Block blockIdx, u8 *{SHARED}"));
    let inputs = inputs.iter().map(|(ty, name)| format!("const {ty} *__restrict__ {name}"));
    let outputs = outputs.iter().map(|(ty, name)| format!("{ty} *__restrict__ {name}"));
    let parameters: Vec<String> = of_part.into_iter().chain(inputs).chain(outputs).collect();
    format!("{opening}({}){}\n", parameters.join(", "), braces(body, 0))
}

/// Steps as lines of a block at this depth.
pub(super) fn lines(steps: &[ThreadStep], depth: usize) -> String {
    steps.iter().map(|step| format!("{}{}\n", indent(depth), line(step, depth))).collect()
}

fn indent(depth: usize) -> String {
    " ".repeat(4 * depth)
}

/// Steps in braces that open at this depth.
fn braces(steps: &[ThreadStep], depth: usize) -> String {
    format!(" {{\n{}{}}}", lines(steps, depth + 1), indent(depth))
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<String>>().join(", ")
}

/// A step without the indentation of its first line and the end of its last.
fn line(step: &ThreadStep, depth: usize) -> String {
    match step {
        ThreadStep::Let(ty, variables) => {
            format!("const {}{};", before_name(*ty), list(variables, |(name, value)| format!("{name} = {value}")))
        }
        ThreadStep::Declare(space, ty, name, extents, first) => {
            let extents: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
            let extents = if *space == MemorySpace::Asked { "[]" } else { &*extents };
            let first = first.iter().map(|first| format!(" = {first}")).collect::<String>();
            format!("{}{}{name}{extents}{first};", before_type(*space), before_name(*ty))
        }
        ThreadStep::Assign(place, value) => format!("{place} = {value};"),
        ThreadStep::Accumulate(place, functor, values) => {
            format!("{place} = {functor}::of({place}, {});", list(values, ToString::to_string))
        }
        ThreadStep::Load(to, from, None) => format!("read({to}, {from});"),
        ThreadStep::Load(to, from, Some((inside, fill))) => format!("read_or({to}, {from}, {inside}, {fill});"),
        ThreadStep::Store(to, from) => format!("write({to}, {from});"),
        ThreadStep::Copy(lanes, ty, [to, from]) => format!("copy<{lanes}, {ty}>({to}, {from});"),
        ThreadStep::Call(call) => format!("{call};"),
        ThreadStep::Part(number, arguments) => format!("{PART}{number}({});", list(arguments, ToString::to_string)),
        ThreadStep::Barrier => "__syncthreads();".into(),
        ThreadStep::Loop(range, steps) => format!("{}{}", loop_head(range, depth), braces(steps, depth)),
        ThreadStep::Each(range, only) => format!("{} {}", loop_head(range, depth), line(only, depth)),
        ThreadStep::If(condition, steps, others) => {
            let others = (!others.is_empty()).then(|| format!("\n{}else{}", indent(depth), braces(others, depth)));
            format!("if ({condition}){}{}", braces(steps, depth), others.unwrap_or_default())
        }
        ThreadStep::Guarded(condition, only) => format!("if ({condition}) {}", line(only, depth)),
        ThreadStep::Scope(steps) => braces(steps, depth),
        ThreadStep::Return => "return;".into(),
    }
}

fn loop_head(LoopRange { ty, variable, range, unroll }: &LoopRange, depth: usize) -> String {
    let unroll = match unroll {
        Some(Unroll::All) => format!("#pragma unroll\n{}", indent(depth)),
        Some(Unroll::By(count)) => format!("#pragma unroll {count}\n{}", indent(depth)),
        None => String::new(),
    };
    format!("{unroll}for ({ty} {variable} = {}; {variable} < {}; ++{variable})", range.start, range.end)
}

fn before_type(space: MemorySpace) -> &'static str {
    match space {
        MemorySpace::Registers => "",
        MemorySpace::Aligned => "__align__(16) ",
        MemorySpace::SharedAligned => "__shared__ __align__(16) ",
        MemorySpace::Asked => "extern __shared__ __align__(1024) ",
        MemorySpace::Shared => "__shared__ ",
        MemorySpace::Static => "static ",
    }
}

/// A type as it stands before a name that it declares.
fn before_name(ty: CudaType) -> String {
    if let CudaType::Pointer(_) = ty { ty.to_string() } else { format!("{ty} ") }
}

impl Display for CudaType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            CudaType::Plain(name) => f.write_str(name),
            CudaType::Template(name, of) => write!(f, "{name}<{of}>"),
            CudaType::Pointer(of) => write!(f, "{of} *"),
        }
    }
}

impl Display for Variable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.stem)?;
        self.number.iter().try_for_each(|number| write!(f, "{number}"))?;
        self.copy.iter().try_for_each(|copy| write!(f, "_{copy}"))
    }
}

/// How tight a selection binds, and what stands before its operand; operators are between, and nothing binds tighter than
/// what has none.
const SELECT: u8 = 1;
const PREFIX: u8 = 20;

/// How tight an operator between its operands binds.
fn tightness(operator: &str) -> u8 {
    match operator {
        "||" => 2,
        "&&" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "==" | "!=" => 7,
        "<" | "<=" | ">" | ">=" => 8,
        "+" | "-" => 10,
        _ => 11,
    }
}

impl Expression {
    /// The same, in parentheses unless it binds as tight as `least`.
    fn within(&self, least: u8) -> String {
        let own = match self {
            Expression::Select(_) => SELECT,
            Expression::Binary(operator, ..) => tightness(operator),
            Expression::Cast(..) | Expression::Prefix(..) => PREFIX,
            _ => u8::MAX,
        };
        if own < least { format!("({self})") } else { self.to_string() }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all = |expressions: &[Expression]| list(expressions, ToString::to_string);
        match self {
            Expression::Variable(name) => write!(f, "{name}"),
            Expression::Number(number, suffix) => write!(f, "{number}{suffix}"),
            Expression::Bits(dtype, bits) => f.write_str(&literal(*dtype, *bits)),
            Expression::Element(of, at) => write!(f, "{}[{at}]", of.within(u8::MAX)),
            Expression::Field(of, name) => write!(f, "{}.{name}", of.within(u8::MAX)),
            Expression::Call(function, of, arguments) if of.is_empty() => write!(f, "{function}({})", all(arguments)),
            Expression::Call(function, of, arguments) => write!(f, "{function}<{}>({})", all(of), all(arguments)),
            Expression::List(None, values) => write!(f, "{{{}}}", all(values)),
            Expression::List(Some(ty), values) => write!(f, "{ty}{{{}}}", all(values)),
            Expression::Cast(ty, of) => write!(f, "({ty}){}", of.within(PREFIX)),
            Expression::Prefix(operator, of) => write!(f, "{operator}{}", of.within(PREFIX)),
            Expression::Binary(operator, a, b) => {
                let least = tightness(operator);
                write!(f, "{} {operator} {}", a.within(least), b.within(least + 1))
            }
            Expression::Select(parts) => {
                let [condition, yes, no] = parts.as_ref();
                write!(f, "{} ? {yes} : {no}", condition.within(SELECT + 1))
            }
            Expression::Group(of) => write!(f, "({of})"),
        }
    }
}

fn literal(dtype: Dtype, bits: u64) -> String {
    match dtype {
        Dtype::Bool => (bits != 0).to_string(),
        Dtype::F16 => format!("f16{{0x{bits:04x}}}"),
        Dtype::Bf16 => format!("bf16{{0x{bits:04x}}}"),
        Dtype::F32 => format!("__uint_as_float(0x{bits:08x}u)"),
        Dtype::F64 => format!("__longlong_as_double(0x{bits:016x}ll)"),
        Dtype::I64 => format!("(i64)0x{bits:016x}ull"),
        _ => format!("(int)0x{:08x}u", bits as u32),
    }
}
