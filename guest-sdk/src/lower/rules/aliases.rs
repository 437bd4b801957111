//! Other names of ops: the same rule lowers both.

/// Each alias, and the name that the rules have.
pub(super) const ALIASES: &[(&str, &str)] = &[
    ("aten::_adaptive_avg_pool2d", "aten::adaptive_avg_pool2d"),
    ("aten::absolute", "aten::abs"),
    ("aten::arccos", "aten::acos"),
    ("aten::arcsin", "aten::asin"),
    ("aten::arctan", "aten::atan"),
    ("aten::arctan2", "aten::atan2"),
    ("aten::clip", "aten::clamp"),
    ("aten::divide", "aten::div"),
    ("aten::greater", "aten::gt"),
    ("aten::greater_equal", "aten::ge"),
    ("aten::less", "aten::lt"),
    ("aten::less_equal", "aten::le"),
    ("aten::linalg_cross", "aten::cross"),
    ("aten::multiply", "aten::mul"),
    ("aten::negative", "aten::neg"),
    ("aten::not_equal", "aten::ne"),
    ("aten::special_logit", "aten::logit"),
    ("aten::subtract", "aten::sub"),
    ("aten::true_divide", "aten::div"),
    ("aten::__and__", "aten::bitwise_and"),
    ("aten::__or__", "aten::bitwise_or"),
    ("aten::__xor__", "aten::bitwise_xor"),
];

/// The name that the rules have for an op.
pub(in crate::lower) fn meant(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, meant)| meant)
}
