//! From a torch call to an ATen op: a short table of calls whose Python form differs, then overload resolution against
//! the dispatcher's schemas.

use crate::value::{PyValue, int, tensor};
use passhost_ir::schema::BaseType;
use passhost_ir::{Arg, OpName, OpTable, Schema, TensorType, ValueId};

/// How something is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callee {
    /// By a dotted path, such as `torch.cat`.
    Function,
    /// As a method or an operator: the first argument is the tensor.
    Method,
}

/// A call as written.
#[derive(Debug, Clone)]
pub struct Call {
    /// Dotted path or method name.
    pub path: String,
    /// How it is called.
    pub callee: Callee,
    /// Positional arguments.
    pub positional: Vec<PyValue>,
    /// Keyword arguments.
    pub keyword: Vec<(String, PyValue)>,
}

/// What a call comes to.
#[derive(Debug, Clone)]
pub enum Meaning {
    /// A value that is known without an op.
    Value(PyValue),
    /// An op by its name without overload, with arguments in the schema's terms.
    Op(String, Vec<PyValue>, Vec<(String, PyValue)>),
}

/// The call with the kinds of its arguments, for messages: `torch.cat([T, T], dim=int)`.
pub fn shown(path: &str, callee: Callee, positional: &[PyValue], keyword: &[(String, PyValue)]) -> String {
    let mut arguments: Vec<String> = positional.iter().map(|value| value.kind().to_owned()).collect();
    arguments.extend(keyword.iter().map(|(name, value)| format!("{name}={}", value.kind())));
    match callee {
        Callee::Function => format!("{path}({})", arguments.join(", ")),
        Callee::Method => {
            let base = if arguments.is_empty() { "?".into() } else { arguments.remove(0) };
            format!("{base}.{path}({})", arguments.join(", "))
        }
    }
}

/// `slice(a, b, c)` of integers and `None`.
pub fn slice(parts: &[PyValue]) -> Option<PyValue> {
    let part = |value: Option<&PyValue>| match value {
        None | Some(PyValue::None) => Some(None),
        Some(PyValue::Int(value)) => Some(Some(*value)),
        Some(_) => None,
    };
    match parts {
        [stop] => Some(PyValue::Slice(None, part(Some(stop))?, None)),
        _ => Some(PyValue::Slice(part(parts.first())?, part(parts.get(1))?, part(parts.get(2))?)),
    }
}

/// The op of an infix operator and its operands, the tensor first.
pub fn infix(operator: &str, left: PyValue, right: PyValue) -> (&'static str, Vec<PyValue>) {
    let reflected = tensor(&left).is_none();
    match (operator, reflected) {
        ("add", false) => ("add", vec![left, right]),
        ("add", true) => ("add", vec![right, left]),
        ("mul", false) => ("mul", vec![left, right]),
        ("mul", true) => ("mul", vec![right, left]),
        ("sub", false) => ("sub", vec![left, right]),
        ("sub", true) => ("rsub", vec![right, left]),
        ("div", false) => ("div", vec![left, right]),
        ("div", true) => ("reciprocal_mul", vec![right, left]),
        ("pow", _) => ("pow", vec![left, right]),
        ("floor_divide", _) => ("floor_divide", vec![left, right]),
        ("remainder", _) => ("remainder", vec![left, right]),
        ("matmul", _) => ("matmul", vec![left, right]),
        ("bitwise_and", false) => ("bitwise_and", vec![left, right]),
        ("bitwise_and", true) => ("bitwise_and", vec![right, left]),
        ("bitwise_or", false) => ("bitwise_or", vec![left, right]),
        ("bitwise_or", true) => ("bitwise_or", vec![right, left]),
        (_, false) => ("bitwise_xor", vec![left, right]),
        (_, true) => ("bitwise_xor", vec![right, left]),
    }
}

/// The comparison with its operands exchanged.
pub fn mirrored(name: &str) -> &'static str {
    match name {
        "lt" => "gt",
        "le" => "ge",
        "gt" => "lt",
        "ge" => "le",
        "ne" => "ne",
        _ => "eq",
    }
}

/// Python's own arithmetic on integers and floats; `None` where it has none or overflows.
pub fn python_arithmetic(operator: &str, left: &PyValue, right: &PyValue) -> Option<PyValue> {
    if let (PyValue::Int(a), PyValue::Int(b)) = (left, right) {
        let (a, b) = (*a, *b);
        return Some(match operator {
            "add" => PyValue::Int(a.checked_add(b)?),
            "sub" => PyValue::Int(a.checked_sub(b)?),
            "mul" => PyValue::Int(a.checked_mul(b)?),
            "div" if b != 0 => PyValue::Float(a as f64 / b as f64),
            // Rounded down, whatever the signs.
            "floor_divide" if b != 0 => PyValue::Int(a.checked_div(b)? - i64::from(a % b != 0 && (a < 0) != (b < 0))),
            "remainder" if b != 0 => {
                let rest = a.checked_rem(b)?;
                PyValue::Int(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
            }
            "pow" => PyValue::Int(a.checked_pow(u32::try_from(b).ok()?)?),
            _ => return None,
        });
    }
    if let (PyValue::List(a), PyValue::List(b)) = (left, right) {
        return (operator == "add").then(|| PyValue::List([a.as_slice(), b.as_slice()].concat()));
    }
    let (a, b) = (float(left)?, float(right)?);
    Some(PyValue::Float(match operator {
        "add" => a + b,
        "sub" => a - b,
        "mul" => a * b,
        "div" if b != 0.0 => a / b,
        "pow" => a.powf(b),
        _ => return None,
    }))
}

fn float(value: &PyValue) -> Option<f64> {
    match value {
        PyValue::Int(value) => Some(*value as f64),
        PyValue::Float(value) => Some(*value),
        _ => None,
    }
}

/// The calls whose Python form is not that of the op.
pub fn rewrite(call: Call, ty: &dyn Fn(ValueId) -> TensorType) -> Result<Meaning, String> {
    let Call { path, callee, mut positional, mut keyword } = call;
    let base = positional.first().and_then(tensor);
    let op = |name: &str, positional, keyword| Ok(Meaning::Op(name.to_owned(), positional, keyword));
    if callee == Callee::Method {
        let Some(base) = base else {
            return Err("the method of a value that is no tensor".into());
        };
        return match path.as_str() {
            "size" => {
                let shape = ty(base).shape;
                Ok(Meaning::Value(match positional.get(1).and_then(int) {
                    None => PyValue::List(shape.into_iter().map(PyValue::Int).collect()),
                    Some(dim) => {
                        let position = if dim < 0 { dim + shape.len() as i64 } else { dim };
                        let extent = usize::try_from(position).ok().and_then(|dim| shape.get(dim).copied());
                        PyValue::Int(extent.ok_or("it has no such dimension")?)
                    }
                }))
            }
            "dim" | "ndimension" => Ok(Meaning::Value(PyValue::Int(ty(base).rank() as i64))),
            "numel" => Ok(Meaning::Value(PyValue::Int(i64::try_from(ty(base).numel()).unwrap_or(i64::MAX)))),
            // Sizes may be given one by one.
            "view" | "reshape" | "permute" | "expand" | "repeat" | "flip"
                if positional.get(1).and_then(int).is_some() =>
            {
                let sizes = positional.split_off(1);
                positional.push(PyValue::List(sizes));
                op(&path, positional, keyword)
            }
            "float" | "half" | "double" | "bfloat16" | "long" | "int" | "bool" => {
                let dtype = passhost_ir::Dtype::from_torch_name(&path).ok_or("there is no such element type")?;
                positional.push(PyValue::Dtype(dtype));
                op("to", positional, keyword)
            }
            "to" => to(positional, keyword),
            "type_as" => {
                let dtype = positional.get(1).and_then(tensor).map(ty).ok_or("it needs a tensor")?.dtype;
                op("to", vec![positional.swap_remove(0), PyValue::Dtype(dtype)], vec![])
            }
            "view_as" | "reshape_as" | "expand_as" => op(&path, positional, keyword),
            _ => op(&path, positional, keyword),
        };
    }
    let name = ["torch.nn.functional.", "torch._C._nn.", "torch._C._special.", "torch."]
        .iter()
        .find_map(|prefix| path.strip_prefix(prefix));
    let Some(name) = name else {
        return match path.as_str() {
            "slice" => slice(&positional).map(Meaning::Value).ok_or("its bounds are no integers".into()),
            "device" => Ok(Meaning::Value(PyValue::Device)),
            _ => Err("it is no torch function".into()),
        };
    };
    let take = |keyword: &mut Vec<(String, PyValue)>, name: &str| {
        keyword.iter().position(|(key, _)| key == name).map(|position| keyword.remove(position).1)
    };
    match name {
        "device" => Ok(Meaning::Value(PyValue::Device)),
        "Size" => match <[PyValue; 1]>::try_from(positional) {
            Ok([sizes @ PyValue::List(_)]) => Ok(Meaning::Value(sizes)),
            _ => Err("it needs a list of integers".into()),
        },
        "functional.split" => op("split", positional, keyword),
        // Python spells out what runs in place by a flag, the dispatcher by a name.
        "relu" | "relu6" | "silu" | "mish" | "hardswish" | "hardsigmoid" | "elu" | "selu" | "celu" | "leaky_relu"
        | "hardtanh" => {
            let flag = match take(&mut keyword, "inplace") {
                Some(flag) => Some(flag),
                None => match positional.last() {
                    Some(PyValue::Bool(_)) => positional.pop(),
                    _ => None,
                },
            };
            let in_place = flag == Some(PyValue::Bool(true));
            op(&if in_place { format!("{name}_") } else { name.to_owned() }, positional, keyword)
        }
        "dropout" | "dropout1d" | "dropout2d" | "dropout3d" => {
            let given = |keyword: &mut Vec<(String, PyValue)>, name: &str, position: usize| {
                take(keyword, name).or_else(|| positional.get(position).cloned())
            };
            let p = given(&mut keyword, "p", 1).unwrap_or(PyValue::Float(0.5));
            let training = given(&mut keyword, "training", 2).unwrap_or(PyValue::Bool(true));
            if training != PyValue::Bool(false) {
                return Err("a dropout that is on draws random numbers".into());
            }
            let input = positional.first().cloned().ok_or("it needs a tensor")?;
            op("dropout", vec![input, p, PyValue::Bool(false)], vec![])
        }
        "softmax" | "log_softmax" => {
            take(&mut keyword, "_stacklevel");
            // (input, dim, _stacklevel, dtype) in torch.nn.functional, (input, dim, dtype) in torch.
            if path.starts_with("torch.nn.functional.") && positional.len() > 2 {
                positional.remove(2);
            }
            op(name, positional, keyword)
        }
        "batch_norm" if path.starts_with("torch.nn.functional.") => {
            let names = ["input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"];
            let mut given: Vec<(String, PyValue)> = names.iter().map(|&name| name.to_owned()).zip(positional).collect();
            given.append(&mut keyword);
            for (name, default) in [
                ("weight", PyValue::None),
                ("bias", PyValue::None),
                ("training", PyValue::Bool(false)),
                ("momentum", PyValue::Float(0.1)),
                ("eps", PyValue::Float(1e-5)),
                ("cudnn_enabled", PyValue::Bool(true)),
            ] {
                if !given.iter().any(|(key, _)| key == name) {
                    given.push((name.to_owned(), default));
                }
            }
            op(name, vec![], given)
        }
        "max_pool1d" | "max_pool2d" | "max_pool3d" | "avg_pool1d" | "avg_pool2d" | "avg_pool3d" => {
            // (input, kernel_size, stride, padding, dilation, ceil_mode, return_indices): the last selects another op.
            let given = if name.starts_with("max") && positional.len() > 6 { positional.pop() } else { None };
            let indices = take(&mut keyword, "return_indices").or(given);
            if !matches!(indices, None | Some(PyValue::Bool(false))) {
                return Err("the indices of a pool have no translation".into());
            }
            // The op says with an empty list that the stride is the kernel's size.
            let stride = keyword.iter_mut().find(|(key, _)| key == "stride").map(|(_, value)| value);
            if let Some(stride @ PyValue::None) = stride.or(positional.get_mut(2)) {
                *stride = PyValue::List(vec![]);
            }
            op(name, positional, keyword)
        }
        "layer_norm" | "group_norm" | "linear" | "gelu" | "conv2d" | "embedding" => {
            if name == "embedding" {
                // (indices, weight) in Python, (weight, indices) in the op.
                if positional.len() >= 2 {
                    positional.swap(0, 1);
                    positional.truncate(2);
                }
                keyword.retain(|(key, _)| key == "weight");
            }
            op(name, positional, keyword)
        }
        "conv1d" | "conv3d" => op(name, positional, keyword),
        _ if name.contains('.') => Err("this namespace of torch has no translation".into()),
        _ => op(name, positional, keyword),
    }
}

/// `x.to(...)`: an element type, another tensor's, or a device, which changes nothing here.
fn to(mut positional: Vec<PyValue>, mut keyword: Vec<(String, PyValue)>) -> Result<Meaning, String> {
    keyword.retain(|(name, value)| !matches!(value, PyValue::Device) && name != "non_blocking" && name != "copy");
    let base = positional.remove(0);
    positional.retain(|value| !matches!(value, PyValue::Device | PyValue::Bool(_) | PyValue::None));
    match (positional.as_slice(), keyword.as_slice()) {
        ([], []) => Ok(Meaning::Value(base)),
        ([dtype @ PyValue::Dtype(_)], []) => Ok(Meaning::Op("to".into(), vec![base, dtype.clone()], vec![])),
        ([], [(name, dtype @ PyValue::Dtype(_))]) if name == "dtype" => {
            Ok(Meaning::Op("to".into(), vec![base, dtype.clone()], vec![]))
        }
        _ => Err("only a change of element type or device has a translation".into()),
    }
}

/// Python's names of arguments that the dispatcher calls otherwise.
fn schema_name(name: &str, schema: &Schema) -> String {
    let known = |name: &str| schema.position(name).is_some();
    let other = match name {
        "input" | "tensor" | "x" => "self",
        "split_size_or_sections" => "split_size",
        "axis" => "dim",
        "keepdims" => "keepdim",
        "self" => "input",
        _ => name,
    };
    if known(name) { name.to_owned() } else { other.to_owned() }
}

/// The overload that takes these arguments, and the arguments in its schema's order.
pub fn resolve(
    name: &str,
    positional: &[PyValue],
    keyword: &[(String, PyValue)],
) -> Result<(OpName, Vec<Arg>), String> {
    let full = format!("aten::{name}");
    let args: Vec<Arg> =
        positional.iter().map(PyValue::to_arg).collect::<Option<_>>().ok_or("an argument has no form in a graph")?;
    let mut candidates: Vec<&Schema> = OpTable::sample().overloads(&full).collect();
    if candidates.is_empty() {
        return Err(format!("there is no op `{full}` among those that samples may use"));
    }
    // An exact fit before one that converts, and the shorter signature before the longer.
    candidates.sort_by_key(|schema| (conversions(schema, &args, keyword), schema.args.len()));
    let mut first_error = None;
    for schema in candidates {
        let keyword: Option<Vec<(String, Arg)>> = keyword
            .iter()
            // Devices, pinned memory and the like choose where, not what.
            .filter(|(key, value)| !(matches!(value, PyValue::Device) && schema.position(key).is_none()))
            .map(|(key, value)| Some((schema_name(key, schema), value.to_arg()?)))
            .collect();
        let keyword = keyword.ok_or("a keyword argument has no form in a graph")?;
        match schema.normalise(args.clone(), keyword) {
            Ok(args) => return Ok((schema.op.clone(), args)),
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    Err(first_error.map_or_else(|| "no overload fits".to_owned(), |error| error.to_string()))
}

/// How many arguments an overload would have to convert, a Python number for a tensor most of all.
fn conversions(schema: &Schema, args: &[Arg], keyword: &[(String, PyValue)]) -> usize {
    let keyword = keyword.iter().filter_map(|(name, value)| {
        let declared = &schema.args[schema.position(&schema_name(name, schema))?];
        Some((declared, value.to_arg()?))
    });
    let all = schema.args.iter().zip(args.iter().cloned()).chain(keyword);
    all.map(|(declared, arg)| usize::from(!declared.ty.accepts(&arg)) * 2 + usize::from(widens(declared.ty.base, &arg)))
        .sum()
}

fn widens(base: BaseType, arg: &Arg) -> bool {
    matches!((base, arg), (BaseType::Float, Arg::Int(_)) | (BaseType::Scalar, Arg::Bool(_)))
}

/// Whether the op returns a list or several tensors: Python then sees a tuple even of one.
pub fn returns_several(schema: &Schema) -> bool {
    schema.returns.len() > 1 || schema.returns.iter().any(|result| result.ty.list.is_some())
}
