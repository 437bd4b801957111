//! The loop form: a kernel as a value, between its schedule and its text.
//!
//! `emit/` makes one of a kernel and a schedule, and `print.rs` prints any as CUDA C++; nothing else writes text. A
//! [`DeviceFunction`] is a list of [`ThreadStep`]s: variables, loads, stores, copies, barriers, loops and branches. What they
//! compute and where they read and write are [`Expression`]s. No step says more than the CUDA that it prints as: which
//! threads run it is in the expressions, which name the thread and the block.
//!
//! ```
//! use passhost_kernels::cuda::loops::{
//!     BLOCK, DeviceFunction, FunctionRole, THREAD, ThreadStep, Variable, binary, call, source,
//! };
//!
//! let [x, y, p] = [Variable::of("x", 0), Variable::of("y", 0), Variable::named("p")];
//! let copied = ThreadStep::Assign(y.at(p), x.at(p));
//! let function = DeviceFunction {
//!     role: FunctionRole::Entry { name: "passhost_copy".into(), threads: 128, cluster: 1 },
//!     inputs: vec![("float", x)],
//!     outputs: vec![("float", y)],
//!     body: vec![
//!         ThreadStep::Call(call("begin", [])),
//!         ThreadStep::Let("u32".into(), vec![(p, BLOCK * 128 + THREAD)]),
//!         copied.guarded(Some(binary("<", p, 1000))),
//!     ],
//! };
//! assert!(source(&[function]).ends_with(
//!     "    begin();\n    const u32 p = blockIdx.x * 128 + threadIdx.x;\n    if (p < 1000) y0[p] = x0[p];\n}\n"
//! ));
//! ```
//!
//! A [`Variable`] is printed as what it is, with the number of the value, tensor or index expression that it is of:
//!
//! | name | what |
//! | --- | --- |
//! | `x`, `y` | an input, an output |
//! | `p`, `r` | the numbers of a row and of a point in it |
//! | `v` alone, `j`, `turn` | a lane of the thread; which of its points a thread is at |
//! | `v`, `i` with a number | a value; an index expression, with a second number, as it is computed in several places |
//! | `s`, `o` | what a wide load read, and what a wide store writes |
//! | `k`, `c` | values that are kept; what a scan gave or carries |
//! | `acc`, `sum` | accumulators of a reduction; what a thread, and then all that share a row, reduced |
//! | `in`, `at` | whether a wide load is inside; its address |
//! | `tile`, `from`, `pairs` | a square of an input in shared memory, where it is read, what a thread takes out of it |
//! | `tile`, `f`, `sums` with a number | of a contraction: a factor in shared memory, what a thread has read of it, the sums there |
//! | `corner`, `batch`, `step` | where a tile of sums begins along a side, its matrix, the number of a tile of terms |
//! | `t`, `e`, `m`, `n`, `k` | a piece of a thread, its number in the tile, where it lies along both sides and the terms |

pub use super::print::source;

use passhost_ir::Dtype;
use std::ops::Range;

/// A variable, or what CUDA calls so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// What it is.
    pub stem: &'static str,
    /// Of which value, tensor or index expression.
    pub number: Option<u32>,
    /// Which of several of that number.
    pub copy: Option<u32>,
}

impl Variable {
    /// The only one that is called so.
    pub const fn named(stem: &'static str) -> Variable {
        Variable { stem, number: None, copy: None }
    }

    /// One of several, told from the others by a number.
    pub const fn of(stem: &'static str, number: u32) -> Variable {
        Variable { stem, number: Some(number), copy: None }
    }

    /// Its element at an index.
    pub fn at(self, index: impl Into<Expression>) -> Expression {
        Expression::from(self).at(index)
    }
}

/// The thread of a block.
pub const THREAD: Variable = Variable::named("threadIdx.x");
/// The block of a grid.
pub const BLOCK: Variable = Variable::named("blockIdx.x");
/// The memory of a block, in bytes.
pub const SHARED: Variable = Variable::named("shared");

/// A type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CudaType {
    /// One that is called so.
    Plain(&'static str),
    /// A template of one type.
    Template(&'static str, &'static str),
    /// The address of some.
    Pointer(&'static str),
}

impl From<&'static str> for CudaType {
    fn from(name: &'static str) -> CudaType {
        CudaType::Plain(name)
    }
}

/// What is computed, without effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A variable.
    Variable(Variable),
    /// A number, with the suffix of its type.
    Number(i128, &'static str),
    /// A value of this type with these bits.
    Bits(Dtype, u64),
    /// The element of an array, a tensor or shared memory.
    Element(Box<Expression>, Box<Expression>),
    /// A part of a structure.
    Field(Box<Expression>, &'static str),
    /// What a function gives: its name, what it is a template of, its arguments.
    Call(&'static str, Vec<Expression>, Vec<Expression>),
    /// Some values together, as a structure if it has a type.
    List(Option<CudaType>, Vec<Expression>),
    /// A conversion.
    Cast(CudaType, Box<Expression>),
    /// An operator before its operand.
    Prefix(&'static str, Box<Expression>),
    /// An operator between its operands.
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// By the first, the second or the third.
    Select(Box<[Expression; 3]>),
    /// The same in parentheses, where the operator before or behind does not ask for them.
    Group(Box<Expression>),
}

impl Expression {
    /// Its element at an index.
    pub fn at(self, index: impl Into<Expression>) -> Expression {
        Expression::Element(Box::new(self), Box::new(index.into()))
    }

    /// Converted to a type.
    pub fn cast(self, ty: impl Into<CudaType>) -> Expression {
        Expression::Cast(ty.into(), Box::new(self))
    }

    /// In parentheses.
    pub fn group(self) -> Expression {
        Expression::Group(Box::new(self))
    }

    /// One of two values, if this is true or if not.
    pub fn select(self, yes: impl Into<Expression>, no: impl Into<Expression>) -> Expression {
        Expression::Select(Box::new([self, yes.into(), no.into()]))
    }
}

/// Two operands of an operator. Sums are added from the left.
pub fn binary(operator: &'static str, a: impl Into<Expression>, b: impl Into<Expression>) -> Expression {
    match (operator, b.into()) {
        ("+", Expression::Binary("+", first, second)) => binary("+", binary("+", a, *first), *second),
        (_, b) => Expression::Binary(operator, Box::new(a.into()), Box::new(b)),
    }
}

/// A number of a type.
pub fn number(number: impl Into<i128>, ty: &str) -> Expression {
    let suffix = match ty {
        "u32" => "u",
        "i64" => "ll",
        "u64" => "ull",
        _ => "",
    };
    Expression::Number(number.into(), suffix)
}

/// What a function gives.
pub fn call(function: &'static str, arguments: impl Into<Vec<Expression>>) -> Expression {
    Expression::Call(function, vec![], arguments.into())
}

impl From<Variable> for Expression {
    fn from(variable: Variable) -> Expression {
        Expression::Variable(variable)
    }
}

impl<T: Into<i128>> From<T> for Expression {
    fn from(number: T) -> Expression {
        Expression::Number(number.into(), "")
    }
}

macro_rules! operators {
    ($of:ty: $($name:ident::$method:ident = $operator:literal),*) => {$(
        impl<T: Into<Expression>> std::ops::$name<T> for $of {
            type Output = Expression;
            fn $method(self, other: T) -> Expression {
                binary($operator, self, other)
            }
        }
    )*};
}
operators!(Expression: Add::add = "+", Sub::sub = "-", Mul::mul = "*", Div::div = "/", Rem::rem = "%");
operators!(Variable: Add::add = "+", Sub::sub = "-", Mul::mul = "*", Div::div = "/", Rem::rem = "%");

/// Where an array lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySpace {
    /// In a thread's registers.
    Registers,
    /// There, at a multiple of 16 bytes, as wide accesses are.
    Aligned,
    /// In a block's memory, at a multiple of 16 bytes.
    SharedAligned,
    /// In a block's memory, as far as a launch asks for it, at a multiple of what tiles of warpgroups lie at.
    Asked,
    /// In a block's memory.
    Shared,
    /// In memory of the machine code, from one launch to the next.
    Static,
}

/// A variable that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopRange {
    /// Its type.
    pub ty: &'static str,
    /// The variable.
    pub variable: Variable,
    /// What it counts.
    pub range: Range<u64>,
    /// How many iterations become one: none is said, all, or so many.
    pub unroll: Option<Unroll>,
}

/// How many iterations of a loop are written behind each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unroll {
    /// All.
    All,
    /// So many.
    By(u32),
}

/// What a thread does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadStep {
    /// Names values of a type.
    Let(CudaType, Vec<(Variable, Expression)>),
    /// Makes a variable, or an array of these extents, which may begin as something.
    Declare(MemorySpace, CudaType, Variable, Vec<u64>, Option<Expression>),
    /// Puts a value into a variable or an element.
    Assign(Expression, Expression),
    /// Takes values into an accumulator by a functor of the prelude.
    Accumulate(Expression, &'static str, Vec<Expression>),
    /// Reads an array of registers at an address; where a condition does not hold, fills it with a value.
    Load(Expression, Expression, Option<(Expression, Expression)>),
    /// Writes to an address what is in an array of registers.
    Store(Expression, Expression),
    /// Copies so many elements of a type to one address from another.
    Copy(u32, &'static str, [Expression; 2]),
    /// Calls a function of the prelude.
    Call(Expression),
    /// Calls the part of this number.
    Part(u32, Vec<Expression>),
    /// Waits for the other threads of the block.
    Barrier,
    /// Runs steps for each number.
    Loop(LoopRange, Vec<ThreadStep>),
    /// The same with one step.
    Each(LoopRange, Box<ThreadStep>),
    /// Runs the first steps if the condition holds, the others if not.
    If(Expression, Vec<ThreadStep>, Vec<ThreadStep>),
    /// Runs one step if the condition holds.
    Guarded(Expression, Box<ThreadStep>),
    /// Steps whose variables nothing else sees.
    Scope(Vec<ThreadStep>),
    /// Ends.
    Return,
}

impl ThreadStep {
    /// This step under a condition, if there is one.
    pub fn guarded(self, condition: Option<Expression>) -> ThreadStep {
        match condition {
            Some(condition) => ThreadStep::Guarded(condition, Box::new(self)),
            None => self,
        }
    }
}

/// What a function is to a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FunctionRole {
    /// It is launched, in blocks of so many threads and clusters of so many blocks.
    Entry {
        /// What it is called.
        name: String,
        /// Threads of a block.
        threads: u32,
        /// Blocks of a cluster.
        cluster: u32,
    },
    /// The launched one calls it, by this number, with the number of its block and the memory of the block.
    Part(u32),
}

/// A function of a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFunction {
    /// Who calls it.
    pub role: FunctionRole,
    /// The tensors that it reads, with the types of their elements: nobody writes them meanwhile.
    pub inputs: Vec<(&'static str, Variable)>,
    /// Those that it writes, and nobody else uses.
    pub outputs: Vec<(&'static str, Variable)>,
    /// What it does.
    pub body: Vec<ThreadStep>,
}
