//! Comparisons, logic, bits and choices.

use super::super::call::{Call, Uncovered};
use super::Rule;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Reg, Unary};

pub(super) const RULES: &[Rule] = &[
    Rule::cheap("aten::eq", &["Tensor", "Scalar"], |c| compare(c, Compare::Eq)),
    Rule::cheap("aten::ne", &["Tensor", "Scalar"], |c| compare(c, Compare::Ne)),
    Rule::cheap("aten::lt", &["Tensor", "Scalar"], |c| compare(c, Compare::Lt)),
    Rule::cheap("aten::le", &["Tensor", "Scalar"], |c| compare(c, Compare::Le)),
    Rule::cheap("aten::gt", &["Tensor", "Scalar"], |c| compare(c, Compare::Gt)),
    Rule::cheap("aten::ge", &["Tensor", "Scalar"], |c| compare(c, Compare::Ge)),
    Rule::cheap("aten::logical_and", &[""], |c| logical(c, Binary::And)),
    Rule::cheap("aten::logical_or", &[""], |c| logical(c, Binary::Or)),
    Rule::cheap("aten::logical_xor", &[""], |c| logical(c, Binary::Xor)),
    Rule::cheap("aten::logical_not", &[""], |c| {
        let x = truth(c, 0)?;
        Ok(c.unary(Unary::Not, x))
    }),
    Rule::cheap("aten::bitwise_and", &["Tensor", "Scalar"], |c| bits(c, Binary::And)),
    Rule::cheap("aten::bitwise_or", &["Tensor", "Scalar"], |c| bits(c, Binary::Or)),
    Rule::cheap("aten::bitwise_xor", &["Tensor", "Scalar"], |c| bits(c, Binary::Xor)),
    Rule::cheap("aten::__and__", &["Tensor", "Scalar"], |c| bits(c, Binary::And)),
    Rule::cheap("aten::__or__", &["Tensor", "Scalar"], |c| bits(c, Binary::Or)),
    Rule::cheap("aten::__xor__", &["Tensor", "Scalar"], |c| bits(c, Binary::Xor)),
    Rule::cheap("aten::bitwise_not", &[""], |c| {
        let x = c.operand(0, c.result)?;
        Ok(c.unary(Unary::Not, x))
    }),
    Rule::cheap("aten::isnan", &[""], |c| {
        let dtype = c.common(&[0])?;
        let x = c.operand(0, dtype)?;
        Ok(if dtype.is_float() { c.unary(Unary::IsNan, x) } else { c.kernel.bool(false) })
    }),
    Rule::cheap("aten::isinf", &[""], |c| {
        let dtype = c.common(&[0])?;
        let x = c.operand(0, dtype)?;
        if !dtype.is_float() {
            return Ok(c.kernel.bool(false));
        }
        let magnitude = c.unary(Unary::Abs, x);
        Ok(c.test(magnitude, Compare::Eq, f64::INFINITY))
    }),
    Rule::cheap("aten::where", &["self", "ScalarOther", "ScalarSelf", "Scalar"], |c| {
        let condition = truth(c, 0)?;
        let (then, otherwise) = (c.operand(1, c.result)?, c.operand(2, c.result)?);
        Ok(c.kernel.select(condition, then, otherwise))
    }),
    Rule::cheap("aten::masked_fill", &["Scalar", "Tensor"], |c| {
        let mask = truth(c, 1)?;
        let (value, x) = (c.operand(2, c.result)?, c.operand(0, c.result)?);
        Ok(c.kernel.select(mask, value, x))
    }),
];

/// Compares in the operands' common type, to which a number is rounded, as on the CPU; CUDA keeps the number's f32
/// value beside half types.
fn compare(c: &mut Call<'_>, op: Compare) -> Result<Reg, Uncovered> {
    let common = c.common(&[0, 1])?;
    // Bools compare as 0 and 1.
    let common = if common == Dtype::Bool { Dtype::I32 } else { common };
    let (a, b) = (c.rounded(0, common)?, c.rounded(1, common)?);
    Ok(c.kernel.compare(op, a, b))
}

/// Whether the operand at a place is not zero.
fn truth(c: &mut Call<'_>, place: usize) -> Result<Reg, Uncovered> {
    let dtype = c.common(&[place])?;
    let x = c.operand(place, dtype)?;
    Ok(c.truth(x))
}

fn logical(c: &mut Call<'_>, op: Binary) -> Result<Reg, Uncovered> {
    let (a, b) = (truth(c, 0)?, truth(c, 1)?);
    Ok(c.binary(op, a, b))
}

fn bits(c: &mut Call<'_>, op: Binary) -> Result<Reg, Uncovered> {
    let (a, b) = c.pair()?;
    Ok(c.binary(op, a, b))
}
