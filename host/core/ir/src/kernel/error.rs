//! Why a kernel is refused. Names are those of the text form: body values `v0, v1, ...`, index expressions `i0, ...`,
//! inputs `x0, ...`.

use super::limits;
use super::{IndexId, Reg, Scalar};
use crate::text::cursor::Joined;
use crate::{Dtype, TypeError};

/// A rule of the kernel language that a kernel breaks: one variant a rule.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// More parallel axes than [`limits::PARALLEL_AXES`].
    #[error("{found} parallel axes; at most {} are supported: join neighbouring axes", limits::PARALLEL_AXES)]
    ParallelAxes {
        /// Parallel axes declared.
        found: usize,
    },
    /// More reduce axes than [`limits::REDUCE_AXES`].
    #[error("{found} reduce axes; at most {} are supported: join neighbouring axes", limits::REDUCE_AXES)]
    ReduceAxes {
        /// Reduce axes declared.
        found: usize,
    },
    /// A negative parallel extent.
    #[error("parallel axis {axis} has extent {extent}; expected 0 or more")]
    ParallelExtent {
        /// The axis.
        axis: usize,
        /// Its extent.
        extent: i64,
    },
    /// A reduce extent below 1: an empty reduction has no largest element.
    #[error("reduce axis {axis} has extent {extent}; expected 1 or more: write an empty reduction as a constant")]
    ReduceExtent {
        /// The axis, counted after the parallel axes.
        axis: usize,
        /// Its extent.
        extent: i64,
    },
    /// More points than [`limits::WORK`].
    #[error("the axes span {work} points; at most {} are allowed: split the kernel", limits::WORK)]
    Work {
        /// The product of all extents, saturated.
        work: u64,
    },
    /// More inputs than [`limits::INPUTS`].
    #[error("{found} inputs; at most {} are allowed: split the kernel", limits::INPUTS)]
    InputCount {
        /// Inputs declared.
        found: usize,
    },
    /// More index expressions than [`limits::INDEX`].
    #[error("{found} index expressions; at most {} are allowed: share equal ones or split the kernel", limits::INDEX)]
    IndexCount {
        /// Index expressions declared.
        found: usize,
    },
    /// More instructions than [`limits::BODY`].
    #[error("{found} instructions; at most {} are allowed: split the kernel", limits::BODY)]
    BodyCount {
        /// Instructions declared.
        found: usize,
    },
    /// More loads than [`limits::LOADS`].
    #[error("{found} loads; at most {} are allowed: share equal ones or split the kernel", limits::LOADS)]
    LoadCount {
        /// Loads in the body.
        found: usize,
    },
    /// More stores than [`limits::STORES`].
    #[error("{found} stores; at most {} are allowed: split the kernel", limits::STORES)]
    StoreCount {
        /// Stores declared.
        found: usize,
    },
    /// A kernel without a result.
    #[error("the kernel stores nothing; end it with an `out` for each result")]
    NoStore,
    /// A complex input.
    #[error("input x{input} is {dtype}; kernels take no complex tensors: view it as real first")]
    InputComplex {
        /// The input.
        input: usize,
        /// Its type.
        dtype: Dtype,
    },
    /// An input that is no tensor the host handles.
    #[error("input x{input}: {reason}")]
    InputType {
        /// The input.
        input: usize,
        /// What is wrong with it.
        reason: TypeError,
    },
    /// An index expression that reads itself or a later one.
    #[error("index {index} reads {operand}, which does not come before it: reorder the list")]
    IndexOperand {
        /// The expression.
        index: IndexId,
        /// What it reads.
        operand: IndexId,
    },
    /// An axis that the space does not have.
    #[error("index {index} names axis {axis}, but the kernel has {axes} axes, counted from 0")]
    AxisRange {
        /// The expression.
        index: IndexId,
        /// The axis it names.
        axis: u32,
        /// Axes of the kernel.
        axes: usize,
    },
    /// A divisor below 1.
    #[error("index {index} divides by {divisor}; expected a positive constant")]
    Divisor {
        /// The expression.
        index: IndexId,
        /// The divisor.
        divisor: i64,
    },
    /// A gather from a body value that does not exist.
    #[error("index {index} reads {value}, but the body ends at {body} instructions")]
    IndexValueMissing {
        /// The expression.
        index: IndexId,
        /// The body value it reads.
        value: Reg,
        /// Instructions in the body.
        body: usize,
    },
    /// A gather from a value that is no integer.
    #[error("index {index} reads {value}, which is {dtype}; expected an integer type: cast it first")]
    IndexValueType {
        /// The expression.
        index: IndexId,
        /// The body value it reads.
        value: Reg,
        /// The value's type.
        dtype: Dtype,
    },
    /// Index arithmetic that may leave 62 bits.
    #[error(
        "index {index} ranges over {low}..={high}, which leaves +-2^62: bound gathered values by min and max first"
    )]
    IndexOverflow {
        /// The expression.
        index: IndexId,
        /// Smallest value it may take.
        low: i128,
        /// Largest value it may take.
        high: i128,
    },
    /// An instruction uses an index expression that depends on its own result or a later one.
    #[error("{at} uses index {index}, which needs {needs}: a gather must come after the value it gathers by")]
    IndexTooEarly {
        /// The instruction.
        at: Reg,
        /// The index expression.
        index: IndexId,
        /// The latest body value that the expression depends on.
        needs: Reg,
    },
    /// An instruction reads itself or a later one.
    #[error("{at} reads {operand}, which does not come before it: name one that is defined above")]
    Operand {
        /// The instruction.
        at: Reg,
        /// What it reads.
        operand: Reg,
    },
    /// An instruction uses an index expression that does not exist.
    #[error("{at} uses index {index}, but the kernel has {count} index expressions")]
    MissingIndex {
        /// The instruction.
        at: Reg,
        /// The index expression.
        index: IndexId,
        /// Index expressions of the kernel.
        count: usize,
    },
    /// A load from an input that does not exist.
    #[error("{at} loads input x{input}, but the kernel has {count} inputs, counted from 0: declare it by `in`")]
    MissingInput {
        /// The instruction.
        at: Reg,
        /// The input it names.
        input: u32,
        /// Inputs of the kernel.
        count: usize,
    },
    /// A load with more or fewer indices than its input has dimensions.
    #[error(
        "{at} loads input x{input} by {found} indices; its shape has {expected} dimensions: give one index for each"
    )]
    LoadRank {
        /// The instruction.
        at: Reg,
        /// The input.
        input: u32,
        /// Dimensions of the input.
        expected: usize,
        /// Indices given.
        found: usize,
    },
    /// A load that clamps into a dimension without elements.
    #[error("{at} clamps into dimension {dim} of input x{input}, which has extent 0: pad with a constant instead")]
    ClampEmpty {
        /// The instruction.
        at: Reg,
        /// The input.
        input: u32,
        /// The empty dimension.
        dim: usize,
    },
    /// A literal of another kind than its type.
    #[error("{at} is {dtype}, but its literal is {}; write {}", kind(*.literal), example(*.dtype))]
    LiteralKind {
        /// The instruction.
        at: Reg,
        /// The type it is used at.
        dtype: Dtype,
        /// The literal.
        literal: Scalar,
    },
    /// An integer literal that its type cannot hold.
    #[error("{at} takes the literal {value} as {dtype}, which does not hold it")]
    LiteralRange {
        /// The instruction.
        at: Reg,
        /// The type it is used at.
        dtype: Dtype,
        /// The literal.
        value: i64,
    },
    /// A NaN with a payload, which no text form or target would keep.
    #[error("{at} takes a NaN literal with bits {bits:#018x}; expected {:#018x}", f64::NAN.to_bits())]
    LiteralNan {
        /// The instruction.
        at: Reg,
        /// The bits found.
        bits: u64,
    },
    /// A complex value in the body.
    #[error("{at} is {dtype}; kernels hold no complex values")]
    ComplexValue {
        /// The instruction.
        at: Reg,
        /// Its type.
        dtype: Dtype,
    },
    /// An operand of a type that the operation does not take.
    #[error("{at}: {op} takes {accepted}, but {operand} is {found}: cast it first")]
    OperandType {
        /// The instruction.
        at: Reg,
        /// The operation's name.
        op: &'static str,
        /// The operand.
        operand: Reg,
        /// The types it takes.
        accepted: &'static str,
        /// The operand's type.
        found: Dtype,
    },
    /// Operands of different types where one type is asked for.
    #[error("{at}: {op} takes operands of one type, but {} is {first} and {} is {second}: cast one", operands.0, operands.1)]
    OperandsDiffer {
        /// The instruction.
        at: Reg,
        /// The operation's name.
        op: &'static str,
        /// The two operands.
        operands: (Reg, Reg),
        /// The first one's type.
        first: Dtype,
        /// The second one's type.
        second: Dtype,
    },
    /// An instruction whose declared type is not what it computes.
    #[error("{at}: {op} gives {expected} here, but the instruction declares {found}: cast behind it")]
    ResultType {
        /// The instruction.
        at: Reg,
        /// The operation's name.
        op: &'static str,
        /// The type computed.
        expected: Dtype,
        /// The type declared.
        found: Dtype,
    },
    /// A reduction or scan in a kernel without reduce axes.
    #[error("{at}: {op} needs a reduce axis, but the kernel has none: declare one")]
    NoReduceAxis {
        /// The instruction.
        at: Reg,
        /// The operation's name.
        op: &'static str,
    },
    /// A store of a body value that does not exist.
    #[error("store {store} writes {value}, but the body ends at {body} instructions")]
    StoreValue {
        /// The store.
        store: usize,
        /// The body value it names.
        value: Reg,
        /// Instructions in the body.
        body: usize,
    },
    /// A store whose order is neither a permutation of the parallel axes nor one of all axes.
    #[error(
        "store {store} has order [{}]; expected each of the {parallel} parallel axes once, or each of all {all} \
         axes once",
        Joined(.order, ", ")
    )]
    StoreOrder {
        /// The store.
        store: usize,
        /// Its order.
        order: Vec<u32>,
        /// Parallel axes of the kernel.
        parallel: usize,
        /// All axes of the kernel.
        all: usize,
    },
    /// An elem value stored over the parallel axes alone: many values for one element.
    #[error(
        "store {store} writes {value}, which varies along the reduce axes, over the parallel axes alone: reduce it, or \
         order all axes"
    )]
    StoreElem {
        /// The store.
        store: usize,
        /// The body value.
        value: Reg,
    },
    /// A store whose declared shape has another number of elements than its axes have points.
    #[error("store {store} declares shape [{}] with {found} elements; its axes have {expected} points: name a shape of as many elements", Joined(.shape, ", "))]
    StoreShape {
        /// The store.
        store: usize,
        /// The declared shape.
        shape: Vec<i64>,
        /// Points of the axes in its order.
        expected: u64,
        /// Elements of the shape.
        found: u64,
    },
    /// An output that is no tensor the host handles.
    #[error("store {store}: {reason}")]
    StoreType {
        /// The store.
        store: usize,
        /// What is wrong with it.
        reason: TypeError,
    },
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
