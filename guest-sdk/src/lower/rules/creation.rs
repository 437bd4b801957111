//! Tensors of one number.

use super::super::call::{Call, Emitted};
use super::Rule;

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

fn number<'k>(c: &Call<'k>, value: f64) -> Emitted<'k> {
    Ok(c.literal(c.math(c.result)?, value))
}
