//! Reductions and scans as text: the functors of `prelude.cu`, and what they start with.

use crate::access::Analysis;
use crate::cuda::text::literal;
use passhost_ir::kernel::{Op, ReduceOp, Scalar, ScanOp};
use passhost_ir::{Dtype, Kernel};

/// Bytes of the largest accumulator that a kernel needs.
pub(in crate::cuda) fn accumulator_bytes(kernel: &Kernel, analysis: &Analysis) -> u64 {
    let needed = kernel.body.iter().zip(&analysis.needed).filter(|(_, needed)| **needed);
    let bytes = needed.filter_map(|(inst, _)| match inst.op {
        // A value and its position.
        Op::Reduce(op, _) if is_position(op) => Some(16),
        Op::Reduce(_, operand) => Some(kernel.body[operand.0 as usize].dtype.size()),
        _ => None,
    });
    bytes.max().unwrap_or(0)
}

pub(super) fn is_position(op: ReduceOp) -> bool {
    matches!(op, ReduceOp::Argmax | ReduceOp::Argmin)
}

pub(super) fn functor(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "Sum",
        ReduceOp::Prod => "Prod",
        ReduceOp::Max => "Max",
        ReduceOp::Min => "Min",
        ReduceOp::Argmax => "Argmax",
        ReduceOp::Argmin => "Argmin",
        ReduceOp::Any => "Any",
        ReduceOp::All => "All",
    }
}

pub(super) fn scan_functor(op: ScanOp) -> &'static str {
    match op {
        ScanOp::Sum => "Sum",
        ScanOp::Prod => "Prod",
        ScanOp::Max => "Max",
        ScanOp::Min => "Min",
    }
}

/// What leaves any other operand as it is.
pub(super) fn neutral(op: ReduceOp, dtype: Dtype) -> String {
    let extreme = |lowest: bool| match dtype {
        Dtype::F32 => literal(dtype, Scalar::Float(if lowest { f64::NEG_INFINITY } else { f64::INFINITY })),
        Dtype::F64 => literal(dtype, Scalar::Float(if lowest { f64::NEG_INFINITY } else { f64::INFINITY })),
        _ => {
            let (low, high) = dtype.integer_range().unwrap_or((0, 0));
            literal(dtype, Scalar::Int(if lowest { low } else { high }))
        }
    };
    match op {
        ReduceOp::Sum => "0".to_owned(),
        ReduceOp::Prod => "1".to_owned(),
        ReduceOp::Max => extreme(true),
        ReduceOp::Min => extreme(false),
        ReduceOp::Any => "false".to_owned(),
        ReduceOp::All => "true".to_owned(),
        ReduceOp::Argmax | ReduceOp::Argmin => unreachable!("positions start with no candidate"),
    }
}

pub(super) fn scan_neutral(op: ScanOp, dtype: Dtype) -> String {
    neutral(
        match op {
            ScanOp::Sum => ReduceOp::Sum,
            ScanOp::Prod => ReduceOp::Prod,
            ScanOp::Max => ReduceOp::Max,
            ScanOp::Min => ReduceOp::Min,
        },
        dtype,
    )
}
