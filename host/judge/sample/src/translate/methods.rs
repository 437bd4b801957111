//! Methods and attributes of tensors: by overload resolution, but for those that Python implements itself.

use super::arguments::{Arguments, required, sizes};
use super::builder::GraphBuilder;
use super::unsupported::Unsupported;
use super::{creation, functions, indexing, operators, vmap};
use crate::value::PyValue;
use passhost_ir::Dtype;

/// Translates a call of a method; the object comes first among the arguments.
pub fn method(builder: &mut GraphBuilder<'_>, name: &str, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    let object = required(arguments.positional.first().cloned(), "self")?;
    // `x.__eq__(y)` is how FX writes some operators.
    if let Some(operator) = name.strip_prefix("__").and_then(|name| name.strip_suffix("__")) {
        let keyword = if matches!(operator, "and" | "or") { "_" } else { "" };
        return operators::operator(builder, &format!("{operator}{keyword}"), arguments.positional);
    }
    if arguments.positional.iter().any(PyValue::is_batched) {
        return under_vmap(builder, name, arguments);
    }
    let PyValue::Tensor(tensor) = object else {
        return Err(Unsupported(format!("a method of a {}", object.kind())));
    };
    let ty = builder.ty(tensor).clone();
    // `x.half()` is `x.to(torch.half)`.
    if let Some(dtype) = Dtype::from_torch_name(name) {
        return cast(builder, object, dtype);
    }
    match name {
        "size" => match arguments.bind("self, dim=None")? {
            [_, PyValue::None] => Ok(PyValue::ints(ty.shape)),
            [_, dim] => indexing::get(builder, PyValue::ints(ty.shape), dim),
        },
        "dim" => Ok(PyValue::Int(ty.rank() as i64)),
        "numel" => Ok(PyValue::Int(i64::try_from(ty.numel()).unwrap_or(i64::MAX))),
        "item" => item(builder, &object),
        "cpu" | "cuda" | "requires_grad_" => Ok(object),
        // Sizes may be given one by one.
        "view" | "reshape" | "permute" | "expand" | "repeat" | "flip" | "tile" | "broadcast_to" => {
            let given = arguments.positional.split_off(1);
            let listed = match &given[..] {
                [] => given,
                [PyValue::Dtype(_)] => given,
                _ => vec![sizes(given)],
            };
            arguments.positional.extend(listed);
            builder.call(name, None, arguments)
        }
        "to" | "type" | "type_as" => to(builder, arguments),
        "clamp" | "clip" => functions::clamp(builder, arguments),
        "norm" => functions::norm(builder, arguments),
        "new_zeros" | "new_ones" => creation::filled(builder, name, 1, arguments),
        "new_empty" => creation::filled(builder, "new_zeros", 1, arguments),
        "new_tensor" => {
            let [_, data, dtype, _device] = arguments.bind("self, data, dtype=None, device=None")?;
            let dtype = creation::dtype_of(dtype)?.unwrap_or(ty.dtype);
            creation::tensor(builder, &data, Some(dtype))
        }
        // The object is what is chosen where the condition holds.
        "where" => {
            let [chosen, condition, other] = arguments.bind("self, condition, other")?;
            builder.op("where", [condition, chosen, other])
        }
        _ => builder.call(name, None, arguments),
    }
}

/// A method inside `vmap`: what only makes or converts a tensor, or an op that works element by element.
fn under_vmap(builder: &mut GraphBuilder<'_>, name: &str, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    let Some(PyValue::Batched(value, levels)) = arguments.positional.first().cloned() else {
        return vmap::pointwise(builder, name, arguments.positional);
    };
    match name {
        // What is made from nothing is the same for every batch.
        "new_ones" | "new_zeros" | "new_full" | "new_tensor" => {
            arguments.positional[0] = PyValue::Tensor(value);
            method(builder, name, arguments)
        }
        "to" | "float" | "half" | "long" | "int" | "bool" | "clone" | "detach" | "contiguous" => {
            arguments.positional[0] = PyValue::Tensor(value);
            match method(builder, name, arguments)? {
                PyValue::Tensor(value) => Ok(PyValue::Batched(value, levels)),
                other => Ok(other),
            }
        }
        _ if arguments.keyword.is_empty() => vmap::pointwise(builder, name, arguments.positional),
        _ => Err(Unsupported("a method with keyword arguments under vmap".into())),
    }
}

/// An attribute.
pub fn attribute(builder: &mut GraphBuilder<'_>, object: PyValue, name: &str) -> Result<PyValue, Unsupported> {
    if let PyValue::List(items) = object {
        let position = match name {
            "values" => 0,
            "indices" => 1,
            _ => return Err(Unsupported("an attribute of a tuple".into())),
        };
        return required(items.into_iter().nth(position), name);
    }
    let ty = builder.ty_of(&object)?.clone();
    match name {
        "shape" => Ok(PyValue::ints(ty.shape)),
        "dtype" => Ok(PyValue::Dtype(ty.dtype)),
        "device" => Ok(PyValue::Device),
        "ndim" => Ok(PyValue::Int(ty.rank() as i64)),
        "T" if ty.rank() <= 2 => builder.op("t", [object]),
        "T" => builder.op("numpy_T", [object]),
        "mT" => builder.op("mT", [object]),
        "data" => builder.op("detach", [object]),
        "real" if !ty.dtype.is_complex() => Ok(object),
        "real" | "imag" => builder.op(name, [object]),
        _ => Err(Unsupported("this attribute".into())),
    }
}

/// The number in a tensor of one element. Where it is known before anything runs, it is a number of the graph.
pub fn item(builder: &mut GraphBuilder<'_>, object: &PyValue) -> Result<PyValue, Unsupported> {
    let tensor = object.tensor().ok_or_else(|| Unsupported("the element of a value that is no tensor".into()))?;
    let ty = builder.ty(tensor).clone();
    if ty.numel() != 1 {
        return Err(Unsupported(format!("the number in a tensor of {} elements", ty.numel())));
    }
    Ok(match builder.known.read(tensor).as_deref() {
        Some(&[element]) => number(element, ty.dtype),
        _ => PyValue::Element(tensor),
    })
}

fn number(element: f64, dtype: Dtype) -> PyValue {
    match dtype {
        Dtype::Bool => PyValue::Bool(element != 0.0),
        dtype if dtype.is_integer() => PyValue::Int(element as i64),
        _ => PyValue::Float(element),
    }
}

fn cast(builder: &mut GraphBuilder<'_>, object: PyValue, dtype: Dtype) -> Result<PyValue, Unsupported> {
    builder.op("to", [object, PyValue::Dtype(dtype)])
}

/// `x.to(...)` and the like: an element type, another tensor's, or a device, which changes nothing here.
fn to(builder: &mut GraphBuilder<'_>, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    let copy = super::arguments::flag(arguments.take("copy"), false, "copy")?;
    arguments.take("non_blocking");
    let format = arguments.take("memory_format");
    let object = required(arguments.positional.first().cloned(), "self")?;
    let mut dtype = None;
    let given = arguments.positional.into_iter().skip(1);
    for value in given.chain(arguments.keyword.into_iter().map(|(_, value)| value)) {
        match value {
            PyValue::Dtype(found) => dtype = Some(found),
            PyValue::Tensor(other) => dtype = Some(builder.ty(other).dtype),
            PyValue::Device | PyValue::None | PyValue::Bool(_) => {}
            // `x.to('cpu')`.
            PyValue::Str(_) => {}
            other => return Err(Unsupported(format!("a conversion to a {}", other.kind()))),
        }
    }
    let unchanged = dtype.is_none() && !copy && format.is_none();
    if unchanged {
        return Ok(object);
    }
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => builder.ty_of(&object)?.dtype,
    };
    let keyword = format.map(|format| ("memory_format", format));
    builder.op_with("to", [object, PyValue::Dtype(dtype), PyValue::Bool(false), PyValue::Bool(copy)], keyword)
}
