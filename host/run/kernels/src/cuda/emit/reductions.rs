//! What accumulators of reductions and scans start with.

use crate::cuda::text::literal;
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::IdentityElement;
use passhost_ir::kernel::{ReduceOp, Scalar};

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
