//! The printer: CUDA C++ of a loop form.
//!
//! Nothing that a guest wrote reaches the text but numbers: names are made of a letter and a position, floats are
//! written as the bits they have.

use super::join::ENTRY;
use super::loops::{
    CudaType, DeviceFunction, Expression, FunctionRole, LoopRange, MemorySpace, ThreadStep, Unroll, Variable,
};
use passhost_ir::Dtype;
use std::fmt::{self, Display, Formatter};

/// A form as text: `write` writes it.
struct Printed<F>(F);

impl<F: Fn(&mut Formatter<'_>) -> fmt::Result> Display for Printed<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

const PRELUDE: &str = include_str!("prelude.cu");
const MATRICES: &str = include_str!("matrices.cu");
/// What a part calls the number of its block among its own.
const OF_PARTS: &str = "// The number of a block among those of one body.\nstruct Block { u32 x; };\n\n";

/// Source text of functions, the one that is launched last.
pub fn source(functions: &[DeviceFunction]) -> String {
    let mut text = format!("{PRELUDE}\n");
    if functions.iter().flat_map(|function| &function.body).any(ThreadStep::is_of_matrices) {
        text += MATRICES;
        text.push('\n');
    }
    text += if functions.len() > 1 { OF_PARTS } else { "" };
    text + &functions.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Steps as lines, as they stand in a function.
pub(super) fn lines(steps: &[ThreadStep]) -> String {
    Printed(|f: &mut Formatter<'_>| block(f, steps, 1)).to_string()
}

impl Display for DeviceFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.role {
            FunctionRole::Entry { threads, cluster } => {
                write!(f, "extern \"C\" __global__ void __launch_bounds__({threads})")?;
                if cluster > 1 {
                    write!(f, " __cluster_dims__({cluster}, 1, 1)")?;
                }
                write!(f, " {ENTRY}(")?;
            }
            FunctionRole::Part(number) => write!(f, "D void {ENTRY}{number}(")?,
        }
        list(f, &self.parameters, |f, (ty, name)| write!(f, "{}{name}", before_name(*ty)))?;
        f.write_str(") {\n")?;
        block(f, &self.body, 1)?;
        f.write_str("}\n")
    }
}

fn block(f: &mut Formatter<'_>, steps: &[ThreadStep], depth: usize) -> fmt::Result {
    let indent = 4 * depth;
    for one in steps {
        write!(f, "{:indent$}", "")?;
        step(f, one, depth)?;
        f.write_str("\n")?;
    }
    Ok(())
}

/// Steps in braces that open at this depth.
fn braces(f: &mut Formatter<'_>, steps: &[ThreadStep], depth: usize) -> fmt::Result {
    f.write_str(" {\n")?;
    block(f, steps, depth + 1)?;
    write!(f, "{:indent$}}}", "", indent = 4 * depth)
}

/// A step without the indentation of its first line and the end of its last.
fn step(f: &mut Formatter<'_>, step: &ThreadStep, depth: usize) -> fmt::Result {
    match step {
        ThreadStep::Let(ty, variables) => {
            write!(f, "const {}", before_name(*ty))?;
            list(f, variables, |f, (name, value)| write!(f, "{name} = {value}"))?;
            f.write_str(";")
        }
        ThreadStep::Declare(space, ty, name, extents, first) => {
            write!(f, "{}{}{name}", before_type(*space), before_name(*ty))?;
            extents.iter().try_for_each(|extent| write!(f, "[{extent}]"))?;
            first.iter().try_for_each(|first| write!(f, " = {first}"))?;
            f.write_str(";")
        }
        ThreadStep::Assign(place, value) => write!(f, "{place} = {value};"),
        ThreadStep::Accumulate(place, functor, values) => {
            write!(f, "{place} = {functor}::of({place}, ")?;
            list(f, values, |f, value| write!(f, "{value}"))?;
            f.write_str(");")
        }
        ThreadStep::Load { to, from, or: None } => write!(f, "read({to}, {from});"),
        ThreadStep::Load { to, from, or: Some((inside, fill)) } => {
            write!(f, "read_or({to}, {from}, {inside}, {fill});")
        }
        ThreadStep::Store { to, from } => write!(f, "write({to}, {from});"),
        ThreadStep::Copy(lanes, ty, [to, from]) => write!(f, "copy<{lanes}, {ty}>({to}, {from});"),
        ThreadStep::CopyAsync { to, from, inside: None } => write!(f, "copy_async({to}, {from});"),
        ThreadStep::CopyAsync { to, from, inside: Some(inside) } => {
            write!(f, "copy_async_or_zero({to}, {from}, {inside});")
        }
        ThreadStep::CommitCopies => f.write_str("commit_copies();"),
        ThreadStep::AwaitCopies(count) => write!(f, "await_copies<{count}>();"),
        ThreadStep::LoadMatrices { to, from, transposed: false } => write!(f, "load_matrices({to}, {from});"),
        ThreadStep::LoadMatrices { to, from, transposed: true } => write!(f, "load_transposed({to}, {from});"),
        ThreadStep::MultiplyMatrices { sums, factors: [a, b] } => write!(f, "multiply_matrices({sums}, {a}, {b});"),
        ThreadStep::Call(call) => write!(f, "{call};"),
        ThreadStep::Part(number, arguments) => {
            write!(f, "{ENTRY}{number}(")?;
            list(f, arguments, |f, argument| write!(f, "{argument}"))?;
            f.write_str(");")
        }
        ThreadStep::Barrier => f.write_str("__syncthreads();"),
        ThreadStep::Loop(range, steps) => {
            loop_head(f, range, depth)?;
            braces(f, steps, depth)
        }
        ThreadStep::Each(range, only) => {
            loop_head(f, range, depth)?;
            f.write_str(" ")?;
            self::step(f, only, depth)
        }
        ThreadStep::If(condition, steps, others) => {
            write!(f, "if ({condition})")?;
            braces(f, steps, depth)?;
            if others.is_empty() {
                return Ok(());
            }
            write!(f, "\n{:indent$}else", "", indent = 4 * depth)?;
            braces(f, others, depth)
        }
        ThreadStep::Guarded(condition, only) => {
            write!(f, "if ({condition}) ")?;
            self::step(f, only, depth)
        }
        ThreadStep::Scope(steps) => braces(f, steps, depth),
        ThreadStep::Return => f.write_str("return;"),
    }
}

fn loop_head(
    f: &mut Formatter<'_>,
    LoopRange { ty, variable, range, unroll }: &LoopRange,
    depth: usize,
) -> fmt::Result {
    match unroll {
        Some(Unroll::All) => write!(f, "#pragma unroll\n{:indent$}", "", indent = 4 * depth)?,
        Some(Unroll::By(count)) => write!(f, "#pragma unroll {count}\n{:indent$}", "", indent = 4 * depth)?,
        None => {}
    }
    write!(f, "for ({ty} {variable} = {}; {variable} < {}; ++{variable})", range.start, range.end)
}

fn before_type(space: MemorySpace) -> &'static str {
    match space {
        MemorySpace::Registers => "",
        MemorySpace::Aligned => "__align__(16) ",
        MemorySpace::SharedAligned => "__shared__ __align__(16) ",
        MemorySpace::Shared => "__shared__ ",
        MemorySpace::Static => "static ",
    }
}

/// A type as it stands before a name that it declares.
fn before_name(ty: CudaType) -> String {
    match ty {
        CudaType::Plain(_) | CudaType::Template(..) => format!("{ty} "),
        CudaType::Pointer(_) => ty.to_string(),
        CudaType::Input(of) => format!("const {of} *__restrict__ "),
        CudaType::Output(of) => format!("{of} *__restrict__ "),
    }
}

impl Display for CudaType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            CudaType::Plain(name) => f.write_str(name),
            CudaType::Template(name, of) => write!(f, "{name}<{of}>"),
            CudaType::Pointer(of) | CudaType::Input(of) | CudaType::Output(of) => write!(f, "{of} *"),
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

/// How tight an operator binds; expressions without one bind tightest.
mod tightness {
    pub(super) const SELECT: u8 = 1;
    pub(super) const PREFIX: u8 = 20;
    pub(super) const WHOLE: u8 = 30;

    pub(super) fn of(operator: &str) -> u8 {
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
}

impl Expression {
    fn tightness(&self) -> u8 {
        match self {
            Expression::Select(_) => tightness::SELECT,
            Expression::Binary(operator, ..) => tightness::of(operator),
            Expression::Cast(..) | Expression::Prefix(..) => tightness::PREFIX,
            Expression::Number(..) | Expression::Bits(..) | Expression::Variable(_) => tightness::WHOLE,
            Expression::Element(..) | Expression::Field(..) | Expression::Call(..) => tightness::WHOLE,
            Expression::List(..) | Expression::Group(_) => tightness::WHOLE,
        }
    }

    /// The same, in parentheses unless it binds as tight as `least`.
    fn within(&self, least: u8) -> impl Display {
        Printed(
            move |f: &mut Formatter<'_>| {
                if self.tightness() < least { write!(f, "({self})") } else { write!(f, "{self}") }
            },
        )
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Variable(name) => write!(f, "{name}"),
            Expression::Number(number, suffix) => write!(f, "{number}{suffix}"),
            Expression::Bits(dtype, bits) => literal(f, *dtype, *bits),
            Expression::Element(of, at) => write!(f, "{}[{at}]", of.within(tightness::WHOLE)),
            Expression::Field(of, name) => write!(f, "{}.{name}", of.within(tightness::WHOLE)),
            Expression::Call(function, template, arguments) => {
                f.write_str(function)?;
                if !template.is_empty() {
                    f.write_str("<")?;
                    list(f, template, |f, argument| write!(f, "{argument}"))?;
                    f.write_str(">")?;
                }
                f.write_str("(")?;
                list(f, arguments, |f, argument| write!(f, "{argument}"))?;
                f.write_str(")")
            }
            Expression::List(ty, values) => {
                ty.iter().try_for_each(|ty| write!(f, "{ty}"))?;
                f.write_str("{")?;
                list(f, values, |f, value| write!(f, "{value}"))?;
                f.write_str("}")
            }
            Expression::Cast(ty, of) => write!(f, "({ty}){}", of.within(tightness::PREFIX)),
            Expression::Prefix(operator, of) => write!(f, "{operator}{}", of.within(tightness::PREFIX)),
            Expression::Binary(operator, a, b) => {
                let least = tightness::of(operator);
                write!(f, "{} {operator} {}", a.within(least), b.within(least + 1))
            }
            Expression::Select(parts) => {
                let [condition, yes, no] = parts.as_ref();
                write!(f, "{} ? {yes} : {no}", condition.within(tightness::SELECT + 1))
            }
            Expression::Group(of) => write!(f, "({of})"),
        }
    }
}

fn list<T>(f: &mut Formatter<'_>, items: &[T], write: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        f.write_str(if at > 0 { ", " } else { "" })?;
        write(f, item)?;
    }
    Ok(())
}

fn literal(f: &mut Formatter<'_>, dtype: Dtype, bits: u64) -> fmt::Result {
    match dtype {
        Dtype::Bool => write!(f, "{}", bits != 0),
        Dtype::F16 => write!(f, "f16{{0x{bits:04x}}}"),
        Dtype::Bf16 => write!(f, "bf16{{0x{bits:04x}}}"),
        Dtype::F32 => write!(f, "__uint_as_float(0x{bits:08x}u)"),
        Dtype::F64 => write!(f, "__longlong_as_double(0x{bits:016x}ll)"),
        Dtype::I64 => write!(f, "(i64)0x{bits:016x}ull"),
        _ => write!(f, "(int)0x{:08x}u", bits as u32),
    }
}
