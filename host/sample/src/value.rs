//! Python values during translation.

use passhost_ir::{Arg, Dtype, MemoryFormat, ValueId};

/// What a Python expression of a sample evaluates to.
#[derive(Debug, Clone, PartialEq)]
pub enum PyValue {
    /// A tensor of the graph.
    Tensor(ValueId),
    /// `None`.
    None,
    /// A bool.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(String),
    /// `torch.float16`.
    Dtype(Dtype),
    /// `torch.channels_last`.
    MemoryFormat(MemoryFormat),
    /// `torch.strided`.
    Strided,
    /// Any device: the evaluation has one.
    Device,
    /// `...`.
    Ellipsis,
    /// `slice(a, b, c)`.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// A list, a tuple, a size.
    List(Vec<PyValue>),
}

impl PyValue {
    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            PyValue::Tensor(_) => "T",
            PyValue::None => "None",
            PyValue::Bool(_) => "bool",
            PyValue::Int(_) => "int",
            PyValue::Float(_) => "float",
            PyValue::Str(_) => "str",
            PyValue::Dtype(_) => "dtype",
            PyValue::MemoryFormat(_) => "memory_format",
            PyValue::Strided => "layout",
            PyValue::Device => "device",
            PyValue::Ellipsis => "Ellipsis",
            PyValue::Slice(..) => "slice",
            PyValue::List(_) => "list",
        }
    }

    /// As an argument of an op, if it can be one.
    pub fn to_arg(&self) -> Option<Arg> {
        Some(match self {
            PyValue::Tensor(value) => Arg::Value(*value),
            PyValue::None => Arg::None,
            PyValue::Bool(value) => Arg::Bool(*value),
            PyValue::Int(value) => Arg::Int(*value),
            PyValue::Float(value) => Arg::Float(*value),
            PyValue::Str(value) => Arg::Str(value.clone()),
            PyValue::Dtype(value) => Arg::Dtype(*value),
            PyValue::MemoryFormat(value) => Arg::MemoryFormat(*value),
            PyValue::Strided => Arg::Strided,
            PyValue::Device => Arg::Device,
            PyValue::Ellipsis | PyValue::Slice(..) => return None,
            PyValue::List(items) => return list_arg(items),
        })
    }
}

/// A homogeneous list; integers among floats count as floats.
fn list_arg(items: &[PyValue]) -> Option<Arg> {
    let all = |test: fn(&PyValue) -> bool| !items.is_empty() && items.iter().all(test);
    if all(|item| matches!(item, PyValue::Tensor(_))) {
        return Some(Arg::Values(items.iter().filter_map(tensor).collect()));
    }
    if all(|item| matches!(item, PyValue::Tensor(_) | PyValue::None)) {
        return Some(Arg::OptionalValues(items.iter().map(tensor).collect()));
    }
    if all(|item| matches!(item, PyValue::Bool(_))) {
        return items
            .iter()
            .map(|item| if let PyValue::Bool(b) = item { Some(*b) } else { None })
            .collect::<Option<_>>()
            .map(Arg::Bools);
    }
    if items.iter().all(|item| matches!(item, PyValue::Int(_))) {
        return Some(Arg::Ints(items.iter().filter_map(int).collect()));
    }
    let float = |item: &PyValue| match item {
        PyValue::Float(value) => Some(*value),
        PyValue::Int(value) => Some(*value as f64),
        _ => None,
    };
    items.iter().map(float).collect::<Option<_>>().map(Arg::Floats)
}

/// The tensor that a value is.
pub fn tensor(value: &PyValue) -> Option<ValueId> {
    match value {
        PyValue::Tensor(value) => Some(*value),
        _ => None,
    }
}

/// The integer that a value is.
pub fn int(value: &PyValue) -> Option<i64> {
    match value {
        PyValue::Int(value) => Some(*value),
        _ => None,
    }
}
