//! Why a kernel is refused. Names are those of the text form: body values `v0, v1, ...`, index expressions `i0, ...`,
//! inputs `x0, ...`.

use super::place::KernelLine;
use super::{IndexId, Reg, Scalar, limits};
use crate::text::cursor::Joined;
use crate::{Dtype, TypeError};

/// A kernel breaks a rule of the kernel language.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{rule}", line.subject())]
pub struct KernelError {
    /// The line that is to blame.
    pub line: KernelLine,
    /// The rule.
    pub rule: KernelRule,
}

/// A rule that a kernel breaks. The text of each goes on where the name of the line ends.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KernelRule {
    /// So many of these, more than a kernel may have, and what to do.
    #[error("{1} {0}; at most {2} are allowed: {3}")]
    Count(&'static str, usize, usize, &'static str),
    /// A parallel axis with a negative extent.
    #[error("parallel axis {0} has extent {1}; expected 0 or more")]
    ParallelExtent(usize, i64),
    /// A reduce axis, counted after the parallel axes, with an extent below 1: an empty reduction has no largest element.
    #[error("reduce axis {0} has extent {1}; expected 1 or more: write an empty reduction as a constant")]
    ReduceExtent(usize, i64),
    /// So many points, more than [`limits::WORK`]; saturated.
    #[error("the axes span {0} points; at most {limit} are allowed: split the kernel", limit = limits::WORK)]
    Work(u64),
    /// A kernel without a result.
    #[error("the kernel stores nothing; end it with an `out` for each result")]
    NoStore,
    /// A complex input.
    #[error(" is {0}; kernels take no complex tensors: view it as real first")]
    InputComplex(Dtype),
    /// An input that is no tensor the host handles.
    #[error(": {0}")]
    InputType(TypeError),
    /// An index expression that reads itself or a later one.
    #[error(" reads {0}, which does not come before it: reorder the list")]
    IndexOperand(IndexId),
    /// An axis that the space, of so many axes, does not have.
    #[error(" names axis {0}, but the kernel has {1} axes, counted from 0")]
    AxisRange(u32, usize),
    /// A divisor below 1.
    #[error(" divides by {0}; expected a positive constant")]
    Divisor(i64),
    /// A gather from a body value that does not exist, of so many that do.
    #[error(" reads {0}, but the body ends at {1} instructions")]
    IndexValueMissing(Reg, usize),
    /// A gather from a value that is no integer.
    #[error(" reads {0}, which is {1}; expected an integer type: cast it first")]
    IndexValueType(Reg, Dtype),
    /// Index arithmetic that may leave 62 bits: the smallest and the largest value that it may give.
    #[error(" ranges over {0}..={1}, which leaves +-2^62: bound gathered values by min and max first")]
    IndexOverflow(i128, i128),
    /// An instruction uses an index expression that depends on its own result or a later one: the latest of these.
    #[error(" uses index {0}, which needs {1}: a gather must come after the value it gathers by")]
    IndexTooEarly(IndexId, Reg),
    /// An instruction reads itself or a later one.
    #[error(" reads {0}, which does not come before it: name one that is defined above")]
    Operand(Reg),
    /// An instruction uses an index expression that does not exist, of so many that do.
    #[error(" uses index {0}, but the kernel has {1} index expressions")]
    MissingIndex(IndexId, usize),
    /// A load from an input that does not exist, of so many that do.
    #[error(" loads input x{0}, but the kernel has {1} inputs, counted from 0: declare it by `in`")]
    MissingInput(u32, usize),
    /// A load from this input by more or fewer indices than it has dimensions.
    #[error(" loads input x{0} by {1} indices; its shape has {2} dimensions: give one index for each")]
    LoadRank(u32, usize, usize),
    /// A load that clamps into this dimension, without elements, of this input.
    #[error(" clamps into dimension {0} of input x{1}, which has extent 0: pad with a constant instead")]
    ClampEmpty(usize, u32),
    /// A literal of another kind than its type.
    #[error(" is {}, but its literal is {}; write {}", .0, kind(*.1), example(*.0))]
    LiteralKind(Dtype, Scalar),
    /// An integer literal that its type cannot hold.
    #[error(" takes the literal {1} as {0}, which does not hold it")]
    LiteralRange(Dtype, i64),
    /// A NaN with a payload, which no text form or target would keep: its bits.
    #[error(" takes a NaN literal with bits {:#018x}; expected {:#018x}", .0, f64::NAN.to_bits())]
    LiteralNan(u64),
    /// A complex value in the body.
    #[error(" is {0}; kernels hold no complex values")]
    ComplexValue(Dtype),
    /// An operation, the types that it takes, and an operand of another one.
    #[error(": {0} takes {1}, but {2} is {3}: cast it first")]
    OperandType(&'static str, &'static str, Reg, Dtype),
    /// An operation that takes operands of one type, and two of different ones.
    #[error(": {} takes operands of one type, but {} is {} and {} is {}: cast one", .0, .1.0, .1.1, .2.0, .2.1)]
    OperandsDiffer(&'static str, (Reg, Dtype), (Reg, Dtype)),
    /// An operation, the type that it gives here, and the one that is declared.
    #[error(": {0} gives {1} here, but the instruction declares {2}: cast behind it")]
    ResultType(&'static str, Dtype, Dtype),
    /// A reduction or scan of this name in a kernel without reduce axes.
    #[error(": {0} needs a reduce axis, but the kernel has none: declare one")]
    NoReduceAxis(&'static str),
    /// A store of a body value that does not exist, of so many that do.
    #[error(" writes {0}, but the body ends at {1} instructions")]
    StoreValue(Reg, usize),
    /// A store whose order is neither a permutation of the parallel axes nor one of all axes: it, and how many there are.
    #[error(
        " has order [{}]; expected each of the {} parallel axes once, or each of all {} axes once",
        Joined(.0, ", "), .1, .2
    )]
    StoreOrder(Vec<u32>, usize, usize),
    /// An elem value stored over the parallel axes alone: many values for one element.
    #[error(
        " writes {0}, which varies along the reduce axes, over the parallel axes alone: reduce it, or order all axes"
    )]
    StoreElem(Reg),
    /// A store whose declared shape has another number of elements than its axes have points.
    #[error(
        " declares shape [{}] with {} elements; its axes have {} points: name a shape of as many elements",
        Joined(.0, ", "), .1, .2
    )]
    StoreShape(Vec<i64>, u64, u64),
    /// An output that is no tensor the host handles.
    #[error(": {0}")]
    StoreType(TypeError),
}

impl KernelRule {
    /// The error of a line that breaks it.
    pub(super) fn broken_by(self, line: KernelLine) -> KernelError {
        KernelError { line, rule: self }
    }

    /// The error of an instruction that breaks it.
    pub(super) fn broken_at(self, at: Reg) -> KernelError {
        self.broken_by(KernelLine::Inst(at.0))
    }
}

/// What a literal is, for a message.
fn kind(literal: Scalar) -> &'static str {
    match literal {
        Scalar::Bool(_) => "a bool",
        Scalar::Int(_) => "an integer",
        Scalar::Float(_) => "a float",
    }
}

/// Literals of a type, for a message.
fn example(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bool => "`true` or `false`",
        float if float.is_float() => "it with a point, such as `1.0`",
        _ => "an integer, such as `1`",
    }
}
