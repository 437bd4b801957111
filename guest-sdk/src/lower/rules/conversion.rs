//! Casts and copies.

use super::super::call::{Call, Uncovered};
use super::Rule;
use passhost_ir::kernel::Reg;

pub(super) const RULES: &[Rule] = &[
    copy("aten::to", &["dtype", "dtype_layout", "device", "other"]),
    copy("aten::type_as", &[""]),
    copy("aten::_to_copy", &[""]),
    copy("aten::clone", &[""]),
    copy("aten::contiguous", &[""]),
];

const fn copy(name: &'static str, overloads: &'static [&'static str]) -> Rule {
    Rule { reads: 1, ..Rule::cheap(name, overloads, element) }
}

/// The element in the result's type. Where it is stored is the store's business.
fn element(c: &mut Call<'_>) -> Result<Reg, Uncovered> {
    c.operand(0, c.result)
}
