//! Bit by bit, and shifts.

use crate::lower::call::{Emitted, OpCall};
use crate::lower::rule::Rule;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::cheap("aten::bitwise_and", &["Tensor", "Scalar"], |c| c.binary(Binary::And)),
    Rule::cheap("aten::bitwise_or", &["Tensor", "Scalar"], |c| c.binary(Binary::Or)),
    Rule::cheap("aten::bitwise_xor", &["Tensor", "Scalar"], |c| c.binary(Binary::Xor)),
    Rule::cheap("aten::bitwise_not", &[""], |c| c.unary(Unary::Not)),
    Rule::cheap("aten::bitwise_left_shift", &["Tensor", "Tensor_Scalar"], |c| shifted(c, Binary::Shl)),
    Rule::cheap("aten::bitwise_right_shift", &["Tensor", "Tensor_Scalar"], |c| shifted(c, Binary::Shr)),
];

/// A count that is negative or too large shifts everything out: to the left 0 is left, to the right the sign.
fn shifted<'k>(c: &OpCall<'k>, op: Binary) -> Emitted<'k> {
    let (x, count) = c.pair()?;
    let bits = 8 * c.result.size();
    let most = if op == Binary::Shr && c.result != Dtype::U8 { bits - 1 } else { bits };
    let is_outside = count.compare(Compare::Lt, 0.0).binary(Binary::Or, count.compare(Compare::Ge, most as f64));
    let all = match op {
        Binary::Shr => x.binary(op, most as f64),
        _ => x.literal(0.0),
    };
    Ok(is_outside.select(all, x.binary(op, count)))
}
