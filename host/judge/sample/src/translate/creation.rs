//! Tensors that are made from numbers.

use super::arguments::{Arguments, optional, sizes};
use super::builder::GraphBuilder;
use super::unsupported::Unsupported;
use crate::value::{PyValue, RandomTensor};
use passhost_ir::{Arg, Dtype, TensorType};

/// Elements of a literal tensor beyond this are in no real model.
const LITERAL_ELEMENTS: usize = 1024;

/// `torch.tensor(data, dtype=...)`, `torch.as_tensor`.
pub fn from_data(builder: &mut GraphBuilder<'_>, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    arguments.take("requires_grad");
    arguments.take("pin_memory");
    let [data, dtype, _device] = arguments.bind("data, dtype=None, device=None")?;
    match (&data, dtype_of(dtype)?) {
        (PyValue::Tensor(_), Some(dtype)) => builder.op("to", [data, PyValue::Dtype(dtype)]),
        (PyValue::Tensor(_), None) => Ok(data),
        (_, dtype) => tensor(builder, &data, dtype),
    }
}

/// A tensor of nested lists of numbers, or of tensors without dimensions.
pub fn tensor(builder: &mut GraphBuilder<'_>, data: &PyValue, dtype: Option<Dtype>) -> Result<PyValue, Unsupported> {
    let PyValue::List(_) = data else { return scalar(builder, data.clone(), dtype) };
    let (mut shape, mut elements) = (vec![], vec![]);
    flatten(data, 0, &mut shape, &mut elements)?;
    let dtype = dtype.or_else(|| inferred(&elements));
    let typed = dtype.map_or(PyValue::None, PyValue::Dtype);
    let uniform = elements.first().filter(|first| first.float().is_some() && elements.iter().all(|e| e == *first));
    let extents = PyValue::ints(shape.iter().copied());
    if elements.is_empty() {
        return builder.op_with("zeros", [extents], [("dtype", typed)]);
    }
    if let Some(first) = uniform {
        return builder.op_with("full", [extents, first.clone()], [("dtype", typed)]);
    }
    let parts: Vec<PyValue> =
        elements.into_iter().map(|element| scalar(builder, element, dtype)).collect::<Result<_, _>>()?;
    let stacked = builder.op("stack", [PyValue::List(parts)])?;
    if shape.len() == 1 { Ok(stacked) } else { builder.op("view", [stacked, extents]) }
}

/// The elements of nested lists and their extents.
fn flatten(data: &PyValue, depth: usize, shape: &mut Vec<i64>, elements: &mut Vec<PyValue>) -> Result<(), Unsupported> {
    let PyValue::List(items) = data else {
        if depth != shape.len() {
            return Err(Unsupported("nested lists of different depths".into()));
        }
        elements.push(data.clone());
        if elements.len() > LITERAL_ELEMENTS {
            return Err(Unsupported(format!("a literal of more than {LITERAL_ELEMENTS} elements")));
        }
        return Ok(());
    };
    let extent = i64::try_from(items.len()).unwrap_or(i64::MAX);
    if depth == shape.len() && elements.is_empty() {
        shape.push(extent);
    } else if shape.get(depth) != Some(&extent) {
        return Err(Unsupported("nested lists of different lengths".into()));
    }
    items.iter().try_for_each(|item| flatten(item, depth + 1, shape, elements))
}

/// What `torch.tensor` makes of a list of Python numbers.
fn inferred(elements: &[PyValue]) -> Option<Dtype> {
    let all = |test: fn(&PyValue) -> bool| elements.iter().all(test);
    if elements.is_empty() || elements.iter().any(|element| element.tensor().is_some()) {
        None
    } else if all(|element| matches!(element, PyValue::Bool(_))) {
        Some(Dtype::Bool)
    } else if all(|element| matches!(element, PyValue::Bool(_) | PyValue::Int(_))) {
        Some(Dtype::I64)
    } else {
        Some(Dtype::F32)
    }
}

/// A tensor without dimensions.
pub fn scalar(builder: &mut GraphBuilder<'_>, number: PyValue, dtype: Option<Dtype>) -> Result<PyValue, Unsupported> {
    if number.tensor().is_some() {
        return match dtype {
            Some(dtype) if builder.ty_of(&number)?.dtype != dtype => builder.op("to", [number, PyValue::Dtype(dtype)]),
            _ => Ok(number),
        };
    }
    let dtype = dtype.or_else(|| inferred(std::slice::from_ref(&number)));
    builder.op_with("scalar_tensor", [number], [("dtype", dtype.map_or(PyValue::None, PyValue::Dtype))])
}

/// `torch.zeros(2, 3)`, `torch.zeros((2, 3))`, `torch.zeros(size=(2, 3))`, and the same for ones; `x.new_zeros(2, 3)` has
/// one argument in front of the size.
pub fn filled(
    builder: &mut GraphBuilder<'_>,
    name: &str,
    before: usize,
    mut arguments: Arguments,
) -> Result<PyValue, Unsupported> {
    let size = take_size(&mut arguments, before);
    arguments.positional.push(size);
    builder.call(name, None, arguments)
}

/// `torch.full(size, fill_value, dtype=...)`. A number that is only known when the program runs stays a tensor, which
/// fills one of zeros.
pub fn full(builder: &mut GraphBuilder<'_>, given: Arguments) -> Result<PyValue, Unsupported> {
    let mut arguments = given.clone();
    let Some(PyValue::Element(element)) = arguments.take_at(1, "fill_value") else {
        return builder.call("full", None, given);
    };
    if !arguments.keyword.iter().any(|(name, _)| name == "dtype") {
        // Python's float has the default type in a tensor, whatever type it was read from.
        let dtype = match builder.ty(element).dtype {
            Dtype::Bool => Dtype::Bool,
            dtype if dtype.is_integer() => Dtype::I64,
            _ => Dtype::F32,
        };
        arguments.keyword.push(("dtype".into(), PyValue::Dtype(dtype)));
    }
    let zeros = filled(builder, "zeros", 0, arguments)?;
    builder.op("fill_", [zeros, PyValue::Tensor(element)])
}

/// `torch.empty(...)`: what it holds is nobody's business, so zeros will do and make every run the same.
pub fn empty(builder: &mut GraphBuilder<'_>, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    arguments.take("memory_format");
    filled(builder, "zeros", 0, arguments)
}

/// `torch.rand`, `torch.randn`.
pub fn random(uniform: bool, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    let size = take_size(&mut arguments, 0);
    let dtype = dtype_of(optional(arguments.take("dtype")))?.unwrap_or(Dtype::F32);
    let Some(Arg::Ints(shape)) = size.to_arg() else {
        return Err(Unsupported("a size that is no list of integers".into()));
    };
    let ty = TensorType::contiguous(dtype, shape);
    ty.check().map_err(|error| Unsupported(error.to_string()))?;
    Ok(PyValue::Random(RandomTensor { ty, uniform }))
}

/// The size that stands behind this many arguments or has a name.
fn take_size(arguments: &mut Arguments, before: usize) -> PyValue {
    let given = arguments.positional.split_off(before);
    arguments.take("size").unwrap_or_else(|| sizes(given))
}

/// An element type or nothing.
pub fn dtype_of(value: PyValue) -> Result<Option<Dtype>, Unsupported> {
    match value {
        PyValue::None => Ok(None),
        PyValue::Dtype(dtype) => Ok(Some(dtype)),
        other => Err(Unsupported(format!("`dtype` is a {}", other.kind()))),
    }
}
