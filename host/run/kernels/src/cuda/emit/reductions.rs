//! What accumulators of reductions and scans start with.

use crate::cuda::text::literal;
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::Identity;
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
        Some(Identity::Zero) => "0".to_owned(),
        Some(Identity::One) => "1".to_owned(),
        Some(Identity::Lowest) => extreme(true),
        Some(Identity::Highest) => extreme(false),
        Some(Identity::False) => "false".to_owned(),
        Some(Identity::True) => "true".to_owned(),
        None => unreachable!("positions start with no candidate"),
    }
}
