//! Casts and copies.

use super::Rule;

pub(super) const RULES: &[Rule] = &[
    copy("aten::to", &["dtype", "dtype_layout", "device", "other"]),
    copy("aten::type_as", &[""]),
    copy("aten::_to_copy", &[""]),
    copy("aten::clone", &[""]),
    copy("aten::contiguous", &[""]),
];

/// The element in the result's type. Where it is stored is the store's business.
const fn copy(name: &'static str, overloads: &'static [&'static str]) -> Rule {
    Rule { reads: 1, ..Rule::cheap(name, overloads, |c| c.first()) }
}
