//! Tensors of one number.

use super::super::call::{Call, Uncovered};
use super::Rule;
use passhost_ir::kernel::Reg;

pub(super) const RULES: &[Rule] = &[
    filled("aten::zeros", |c| number(c, 0.0)),
    filled("aten::ones", |c| number(c, 1.0)),
    filled("aten::full", |c| c.operand(1, c.result)),
    filled("aten::zeros_like", |c| number(c, 0.0)),
    filled("aten::ones_like", |c| number(c, 1.0)),
    filled("aten::full_like", |c| c.operand(1, c.result)),
];

const fn filled(name: &'static str, emit: super::Emit) -> Rule {
    Rule { reads: 0, ..Rule::cheap(name, &[""], emit) }
}

fn number(c: &mut Call<'_>, value: f64) -> Result<Reg, Uncovered> {
    let math = c.math(c.result)?;
    Ok(c.literal(math, value))
}
