//! Kernel IR: what each output element of a fused kernel is. How it is computed is the host's business.
//!
//! A kernel ranges over a space of *parallel* axes `P` and *reduce* axes `R`. Its body is an SSA list of scalar
//! instructions. Every value has a class: [`Class::InterpretedRow`] if it depends on `P` only, [`Class::Elem`] if it depends on
//! `R` as well. Rows become outputs over `P`; elements become outputs over `P` and `R`.
//!
//! Nothing in it can name an address, a thread or another output element, and every operation is total. With the checks
//! of [`verify`] that makes a kernel safe whoever wrote it.

mod approx;
mod arithmetic;
pub mod effort;
mod error;
mod facts;
mod fold;
mod interpret;
mod interval;
#[cfg(test)]
mod mistakes_tests;
pub mod operations;
mod place;
pub mod scalar;
mod tensor;
mod typing;
mod verify;

pub use approx::Approx;
pub use arithmetic::Mode;
pub use effort::{Effort, remarks};
pub use error::{KernelError, KernelRule};
pub use facts::Facts;
pub use interpret::{InterpretedOutput, InterpretedRow, interpret, interpret_watched};
pub use interval::Interval;
pub use operations::{Binary, Compare, ReduceOp, ScanOp, Unary};
pub(crate) use place::carets;
pub use place::{KernelLine, excerpt};
pub use tensor::Tensor;
pub use verify::verify;

use crate::Dtype;

/// An index expression of a [`Kernel`]: a position in [`Kernel::index`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IndexId(pub u32);

/// A body value of a [`Kernel`]: a position in [`Kernel::body`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reg(pub u32);

/// Limits that [`verify`] enforces.
pub mod limits {
    /// Parallel axes.
    pub const PARALLEL_AXES: usize = 8;
    /// Reduce axes.
    pub const REDUCE_AXES: usize = 4;
    /// Instructions in the body.
    pub const BODY: usize = 512;
    /// Loads in the body.
    pub const LOADS: usize = 64;
    /// Index expressions.
    pub const INDEX: usize = 1024;
    /// Input tensors.
    pub const INPUTS: usize = 64;
    /// Stores.
    pub const STORES: usize = 32;
    /// Points of the space, the product of all extents.
    pub const WORK: u64 = 1 << 40;
    /// Rows, or terms, of a sum of products that is computed in tiles. They are counted in 32 bits
    /// there, with room for threads past the last. One with more is verified, and computed row by row.
    pub const TILED: u64 = 1 << 28;
}

/// An input tensor, in logical coordinates: strides are bound when the kernel runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputDecl {
    /// Element type.
    pub dtype: Dtype,
    /// Extent of each dimension.
    pub shape: Vec<i64>,
}

/// An integer expression over the axes, evaluated in 64 bits. Operands come earlier in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum IndexExpr {
    /// The position along an axis: parallel axes first, then reduce axes.
    Axis(u32),
    /// A constant.
    Const(i64),
    /// Sum.
    Add(IndexId, IndexId),
    /// Difference.
    Sub(IndexId, IndexId),
    /// Product with a constant.
    Mul(IndexId, i64),
    /// Quotient by a positive constant, rounded down.
    FloorDiv(IndexId, i64),
    /// Remainder of [`IndexExpr::FloorDiv`]: never negative.
    Mod(IndexId, i64),
    /// An integer body value: a gather.
    Value(Reg),
}

/// A literal. A `Float` stands for the nearest value of the type it is used at.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Scalar {
    /// For `bool`.
    Bool(bool),
    /// For integer types; must fit.
    Int(i64),
    /// For float types.
    Float(f64),
}

/// What a load yields where an index is out of bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PaddingMode {
    /// This constant.
    Pad(Scalar),
    /// The nearest element: each index is clamped to its dimension.
    Clamp,
}

/// What an instruction computes. Operands come earlier in the body.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Op {
    /// A literal.
    Const(Scalar),
    /// The value of an index expression; `i64`.
    Index(IndexId),
    /// One element of an input.
    Load {
        /// Position in [`Kernel::inputs`].
        input: u32,
        /// One index per dimension.
        index: Vec<IndexId>,
        /// What lies outside.
        padding: PaddingMode,
    },
    /// One operand.
    Unary(Unary, Reg),
    /// Two operands.
    Binary(Binary, Reg, Reg),
    /// A comparison.
    Compare(Compare, Reg, Reg),
    /// The second operand where the first, a `bool`, is true, the third elsewhere. Any type.
    Select(Reg, Reg, Reg),
    /// `a * b + c` with one rounding. Floats only.
    Fma(Reg, Reg, Reg),
    /// The operand in the instruction's type: floats round to nearest even, a narrower float by way of `f32`; integers
    /// wrap; floats to integers truncate and saturate, NaN gives 0; to `bool` means not equal to 0.
    Cast(Reg),
    /// A reduction over all of `R`.
    Reduce(ReduceOp, Reg),
    /// A running reduction along the last axis of `R`.
    Scan(ScanOp, Reg),
}

impl Op {
    /// The body values this instruction reads directly, those of its index expressions not included.
    pub fn operands(&self) -> Vec<Reg> {
        match *self {
            Op::Const(_) | Op::Index(_) | Op::Load { .. } => vec![],
            Op::Unary(_, a) | Op::Cast(a) | Op::Reduce(_, a) | Op::Scan(_, a) => vec![a],
            Op::Binary(_, a, b) | Op::Compare(_, a, b) => vec![a, b],
            Op::Select(a, b, c) | Op::Fma(a, b, c) => vec![a, b, c],
        }
    }
}

/// One instruction; its result is the [`Reg`] of its position.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Inst {
    /// Type of the result.
    pub dtype: Dtype,
    /// What is computed.
    pub op: Op,
}

/// What a body value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The parallel axes only.
    Row,
    /// The parallel and the reduce axes.
    Elem,
}

/// An output tensor, written densely.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Store {
    /// What is stored; its type is the output's.
    pub value: Reg,
    /// The axes, outermost first: a permutation of the parallel axes for an output over `P`, or of all axes for one
    /// over `P` and `R`. A row value stored over all axes is repeated along `R`.
    pub order: Vec<u32>,
    /// The declared shape: any with as many elements as the axes in `order` have points.
    pub shape: Vec<i64>,
}

/// A fused kernel.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kernel {
    /// Extents of the parallel axes. One of 0 makes every output empty, and nothing is launched.
    pub parallel: Vec<i64>,
    /// Extents of the reduce axes, at least 1 each.
    pub reduce: Vec<i64>,
    /// Input tensors.
    pub inputs: Vec<InputDecl>,
    /// Index expressions.
    pub index: Vec<IndexExpr>,
    /// Instructions.
    pub body: Vec<Inst>,
    /// Output tensors.
    pub stores: Vec<Store>,
}

impl Kernel {
    /// Extents, indices and operands in it: what it costs to look at all of it.
    pub fn size(&self) -> u64 {
        let inst = |inst: &Inst| match &inst.op {
            Op::Load { index, .. } => 2 + index.len(),
            _ => 4,
        };
        let axes = self.parallel.len() + self.reduce.len();
        let inputs: usize = self.inputs.iter().map(|input| 1 + input.shape.len()).sum();
        let stores: usize = self.stores.iter().map(|store| 1 + store.order.len() + store.shape.len()).sum();
        (axes + inputs + 2 * self.index.len() + self.body.iter().map(inst).sum::<usize>() + stores) as u64
    }

    /// The extent of an axis, parallel axes first; `None` past the last.
    pub fn extent(&self, axis: u32) -> Option<i64> {
        self.parallel.iter().chain(&self.reduce).nth(axis as usize).copied()
    }

    /// The points of the parallel space; 1 if there are no parallel axes.
    pub fn rows(&self) -> u64 {
        crate::numel(&self.parallel)
    }

    /// The points of the reduce space; 1 if there are no reduce axes.
    pub fn row_length(&self) -> u64 {
        crate::numel(&self.reduce)
    }

    /// All points: [`Kernel::rows`] times [`Kernel::row_length`], saturating.
    pub fn work(&self) -> u64 {
        self.rows().saturating_mul(self.row_length())
    }

    /// The types of the outputs: contiguous tensors of the declared shapes. The kernel must be verified.
    pub fn output_types(&self) -> Vec<crate::TensorType> {
        self.stores
            .iter()
            .map(|store| crate::TensorType::contiguous(self.body[store.value.0 as usize].dtype, store.shape.clone()))
            .collect()
    }
}
