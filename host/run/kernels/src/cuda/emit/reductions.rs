//! What accumulators of reductions and scans start with, and how large they are.

use crate::access::Analysis;
use crate::cuda::text::literal;
use passhost_ir::kernel::operations::{Gives, IdentityElement};
use passhost_ir::kernel::{Op, ReduceOp, Scalar};
use passhost_ir::{Dtype, Kernel};

/// Bytes of the largest accumulator that a reduction or a scan of a kernel needs.
pub(in crate::cuda) fn accumulator_bytes(kernel: &Kernel, analysis: &Analysis) -> u64 {
    let needed = kernel.body.iter().zip(&analysis.needed).filter(|(_, needed)| **needed);
    let bytes = needed.filter_map(|(inst, _)| match inst.op {
        // A value and its position.
        Op::Reduce(op, _) if op.gives() == Gives::Position => Some(16),
        Op::Reduce(_, operand) | Op::Scan(_, operand) => Some(kernel.body[operand.0 as usize].dtype.size()),
        _ => None,
    });
    bytes.max().unwrap_or(0)
}

/// What leaves any other operand as it is.
pub(super) fn neutral(op: ReduceOp, dtype: Dtype) -> String {
    let extreme = |lowest: bool| match dtype {
        Dtype::F32 | Dtype::F64 => {
            literal(dtype, Scalar::Float(if lowest { f64::NEG_INFINITY } else { f64::INFINITY }))
        }
        _ => {
            let (low, high) = dtype.integer_range().unwrap_or((0, 0));
            literal(dtype, Scalar::Int(if lowest { low } else { high }))
        }
    };
    match op.identity() {
        Some(IdentityElement::Zero) => "0".to_owned(),
        Some(IdentityElement::One) => "1".to_owned(),
        Some(IdentityElement::Lowest) => extreme(true),
        Some(IdentityElement::Highest) => extreme(false),
        Some(IdentityElement::False) => "false".to_owned(),
        Some(IdentityElement::True) => "true".to_owned(),
        None => unreachable!("positions start with no candidate"),
    }
}
