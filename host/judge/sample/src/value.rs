//! Python values during translation.

use crate::fx::Expr;
use crate::nesting::nested;
use passhost_ir::{Arg, Dtype, MemoryFormat, TensorType, ValueId};
use serde::{Deserialize, Serialize};

/// What a Python expression of a sample evaluates to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PyValue {
    /// A tensor of the graph.
    Tensor(ValueId),
    /// A tensor inside `vmap`: its first dimensions are the batches of these levels.
    Batched(ValueId, Vec<i64>),
    /// A Python number that is the only element of a tensor and not known before the program runs.
    Element(ValueId),
    /// What Python calculates from such a number. Only checks that have no effect here may take it.
    Unknown,
    /// Random numbers that nobody has read yet; whoever does makes them an input of the graph.
    Random(RandomTensor),
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
    #[serde(deserialize_with = "nested")]
    Slice(Box<[PyValue; 3]>),
    /// A list, a tuple, a size.
    #[serde(deserialize_with = "nested")]
    List(Vec<PyValue>),
}

/// A tensor of random numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RandomTensor {
    /// Element type and shape.
    pub ty: TensorType,
    /// Uniform in [0, 1) instead of normal.
    pub uniform: bool,
}

impl PyValue {
    /// What an argument is, where values are these.
    pub fn of(expression: &Expr, values: &[PyValue]) -> PyValue {
        match expression {
            Expr::Value(value) => values.get(value.index()).cloned().unwrap_or(PyValue::None),
            Expr::None => PyValue::None,
            Expr::Bool(value) => PyValue::Bool(*value),
            Expr::Int(value) => PyValue::Int(*value),
            Expr::Float(value) => PyValue::Float(*value),
            Expr::Str(text) => PyValue::Str(text.clone()),
            Expr::Ellipsis => PyValue::Ellipsis,
            Expr::Constant(path) => constant(path),
            Expr::Device(..) => PyValue::Device,
            Expr::Slice(parts) => PyValue::Slice(Box::new(parts.each_ref().map(|part| PyValue::of(part, values)))),
            Expr::List(items) | Expr::Tuple(items) => {
                PyValue::List(items.iter().map(|item| PyValue::of(item, values)).collect())
            }
        }
    }

    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            PyValue::Tensor(_) | PyValue::Random(_) => "T",
            PyValue::Batched(..) => "batched T",
            PyValue::Element(_) | PyValue::Unknown => "number that depends on data",
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
            PyValue::List(items) => return list_arg(items),
            _ => return None,
        })
    }

    /// About how much of it there is to copy or compare, in numbers.
    pub fn weight(&self) -> u64 {
        1 + match self {
            PyValue::Str(text) => text.len() as u64 / 8,
            PyValue::Batched(_, levels) => levels.len() as u64,
            PyValue::Slice(parts) => parts.iter().map(PyValue::weight).sum(),
            PyValue::List(items) => items.iter().map(PyValue::weight).sum(),
            _ => 0,
        }
    }

    /// A list of these integers.
    pub fn ints(values: impl IntoIterator<Item = i64>) -> PyValue {
        PyValue::List(values.into_iter().map(PyValue::Int).collect())
    }

    /// The tensor that it is.
    pub fn tensor(&self) -> Option<ValueId> {
        match self {
            PyValue::Tensor(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer that it is.
    pub fn int(&self) -> Option<i64> {
        match self {
            PyValue::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The number that it is, as Python converts it to a float.
    pub fn float(&self) -> Option<f64> {
        match self {
            PyValue::Bool(value) => Some(f64::from(u8::from(*value))),
            PyValue::Int(value) => Some(*value as f64),
            PyValue::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether it is a tensor or holds one that only exists inside `vmap`.
    pub fn is_batched(&self) -> bool {
        match self {
            PyValue::Batched(..) => true,
            PyValue::List(items) => items.iter().any(PyValue::is_batched),
            _ => false,
        }
    }
}

/// A constant of torch; one that has no meaning here is shown by its path where it is used.
fn constant(path: &str) -> PyValue {
    match path.strip_prefix("torch.").unwrap_or(path) {
        "contiguous_format" => PyValue::MemoryFormat(MemoryFormat::Contiguous),
        "preserve_format" => PyValue::MemoryFormat(MemoryFormat::Preserve),
        "channels_last" => PyValue::MemoryFormat(MemoryFormat::ChannelsLast),
        "channels_last_3d" => PyValue::MemoryFormat(MemoryFormat::ChannelsLast3d),
        "strided" => PyValue::Strided,
        name => Dtype::from_torch_name(name).map_or_else(|| PyValue::Str(path.to_owned()), PyValue::Dtype),
    }
}

/// A homogeneous list; integers among floats count as floats.
fn list_arg(items: &[PyValue]) -> Option<Arg> {
    let all = |test: fn(&PyValue) -> bool| !items.is_empty() && items.iter().all(test);
    if all(|item| matches!(item, PyValue::Tensor(_))) {
        return Some(Arg::Values(items.iter().filter_map(PyValue::tensor).collect()));
    }
    if all(|item| matches!(item, PyValue::Tensor(_) | PyValue::None)) {
        return Some(Arg::OptionalValues(items.iter().map(PyValue::tensor).collect()));
    }
    if all(|item| matches!(item, PyValue::Bool(_))) {
        let bools = items.iter().map(|item| matches!(item, PyValue::Bool(true)));
        return Some(Arg::Bools(bools.collect()));
    }
    if items.iter().all(|item| matches!(item, PyValue::Int(_))) {
        return Some(Arg::Ints(items.iter().filter_map(PyValue::int).collect()));
    }
    let numbers = items.iter().map(|item| match item {
        PyValue::Float(_) | PyValue::Int(_) => item.float(),
        _ => None,
    });
    numbers.collect::<Option<_>>().map(Arg::Floats)
}
