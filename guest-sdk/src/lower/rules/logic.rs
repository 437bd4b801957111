//! Comparisons, logic and choices.

use crate::lower::call::{Emitted, OpCall};
use crate::lower::rule::Rule;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::cheap("aten::eq", &["Tensor", "Scalar"], |c| compare(c, Compare::Eq)),
    Rule::cheap("aten::ne", &["Tensor", "Scalar"], |c| compare(c, Compare::Ne)),
    Rule::cheap("aten::lt", &["Tensor", "Scalar"], |c| compare(c, Compare::Lt)),
    Rule::cheap("aten::le", &["Tensor", "Scalar"], |c| compare(c, Compare::Le)),
    Rule::cheap("aten::gt", &["Tensor", "Scalar"], |c| compare(c, Compare::Gt)),
    Rule::cheap("aten::ge", &["Tensor", "Scalar"], |c| compare(c, Compare::Ge)),
    Rule::cheap("aten::logical_and", &[""], |c| logical(c, Binary::And)),
    Rule::cheap("aten::logical_or", &[""], |c| logical(c, Binary::Or)),
    Rule::cheap("aten::logical_xor", &[""], |c| logical(c, Binary::Xor)),
    Rule::cheap("aten::logical_not", &[""], |c| Ok(truth(c, 0)?.unary(Unary::Not))),
    Rule::cheap("aten::where", &["self", "ScalarOther", "ScalarSelf", "Scalar"], |c| {
        let condition = truth(c, 0)?;
        let (then, otherwise) = (c.operand(1, c.result)?, c.operand(2, c.result)?);
        Ok(condition.select(then, otherwise))
    }),
    Rule::cheap("aten::masked_fill", &["Scalar", "Tensor"], |c| {
        let mask = truth(c, 1)?;
        let (value, x) = (c.operand(2, c.result)?, c.first()?);
        Ok(mask.select(value, x))
    }),
];

/// Compares in the operands' common type, to which a number is rounded, as on the CPU; CUDA keeps the number's f32
/// value beside half types.
fn compare<'k>(c: &OpCall<'k>, op: Compare) -> Emitted<'k> {
    let common = c.common(&[0, 1])?;
    // Bools compare as 0 and 1.
    let common = if common == Dtype::Bool { Dtype::I32 } else { common };
    let (a, b) = (c.rounded(0, common)?, c.rounded(1, common)?);
    Ok(a.compare(op, b))
}

/// Whether the operand at a place is not zero.
fn truth<'k>(c: &OpCall<'k>, place: usize) -> Emitted<'k> {
    Ok(c.operand(place, c.common(&[place])?)?.truth())
}

fn logical<'k>(c: &OpCall<'k>, op: Binary) -> Emitted<'k> {
    let (a, b) = (truth(c, 0)?, truth(c, 1)?);
    Ok(a.binary(op, b))
}
