//! Python's operators, each once: the function of the module `operator` that does it, how it is written, and the op that
//! it is on tensors.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A function of Python's module `operator`.
pub type OperatorName = &'static str;

/// Those of two operands, in the order of the reference manual, then those of one, whose symbols may stand twice.
const OPERATORS: [(&str, &str, Option<&str>); 22] = [
    ("add", "+", Some("add")),
    ("sub", "-", Some("sub")),
    ("mul", "*", Some("mul")),
    ("truediv", "/", Some("div")),
    ("floordiv", "//", Some("floor_divide")),
    ("mod", "%", Some("remainder")),
    ("pow", "**", Some("pow")),
    ("matmul", "@", Some("matmul")),
    ("and_", "&", Some("bitwise_and")),
    ("or_", "|", Some("bitwise_or")),
    ("xor", "^", Some("bitwise_xor")),
    ("lshift", "<<", Some("bitwise_left_shift")),
    ("rshift", ">>", Some("bitwise_right_shift")),
    ("eq", "==", Some("eq")),
    ("ne", "!=", Some("ne")),
    ("lt", "<", Some("lt")),
    ("le", "<=", Some("le")),
    ("gt", ">", Some("gt")),
    ("ge", ">=", Some("ge")),
    ("neg", "-", Some("neg")),
    ("invert", "~", Some("bitwise_not")),
    ("not_", "not ", None),
];

/// The function of an operator of two operands; `None` for those that have no meaning in a graph, such as `is`.
pub fn function(symbol: &str) -> Option<&'static str> {
    OPERATORS.iter().find(|(_, known, _)| *known == symbol).map(|(function, ..)| *function)
}

/// How the operator of a function is written.
pub fn symbol(function: &str) -> &'static str {
    OPERATORS.iter().find(|(known, ..)| *known == function).map_or("", |(_, symbol, _)| *symbol)
}

/// The function of an operator as another process names it.
pub fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OperatorName, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = OPERATORS.iter().find(|(known, ..)| *known == name);
    known.map(|(known, ..)| *known).ok_or_else(|| D::Error::custom("no function of Python's module operator"))
}

/// The op that an operator is on tensors.
pub fn op(function: &str) -> Option<&'static str> {
    OPERATORS.iter().find(|(known, ..)| *known == function)?.2
}

/// A comparison by the name of its operator.
pub fn compared<T: PartialOrd>(name: &str, a: T, b: T) -> Option<bool> {
    Some(match name {
        "eq" => a == b,
        "ne" => a != b,
        "lt" => a < b,
        "le" => a <= b,
        "gt" => a > b,
        "ge" => a >= b,
        _ => return None,
    })
}
