//! Bit by bit.

use crate::lower::rule::Rule;
use passhost_ir::kernel::{Binary, Unary};

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::cheap("aten::bitwise_and", &["Tensor", "Scalar"], |c| c.binary(Binary::And)),
    Rule::cheap("aten::bitwise_or", &["Tensor", "Scalar"], |c| c.binary(Binary::Or)),
    Rule::cheap("aten::bitwise_xor", &["Tensor", "Scalar"], |c| c.binary(Binary::Xor)),
    Rule::cheap("aten::bitwise_not", &[""], |c| c.unary(Unary::Not)),
];
