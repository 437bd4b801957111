//! Calls of torch functions: by overload resolution, but for those whose Python form is not that of an op.

use super::Unsupported;
use super::arguments::{Arguments, flag, optional, required};
use super::builder::Builder;
use super::{attention, creation, indexing, methods, resampling, vmap};
use crate::value::PyValue;

/// A function of Python's with the arguments of a call.
type Handler = fn(&mut Builder<'_>, Arguments) -> Result<PyValue, Unsupported>;

/// Namespaces whose functions are the ops of the same name, `fft` and the like with a prefix.
const NAMESPACES: [(&str, &str); 11] = [
    ("torch.nn.functional.", ""),
    ("torch._C._nn.", ""),
    ("torch._C._special.", ""),
    ("torch._C._fft.", ""),
    ("torch._C._linalg.", ""),
    ("torch.functional.", ""),
    ("torch._VF.", ""),
    ("torch.special.", "special_"),
    ("torch.fft.", "fft_"),
    ("torch.linalg.", "linalg_"),
    ("torch.", ""),
];

/// Translates a call of the function at a dotted path.
pub fn function(builder: &mut Builder<'_>, path: &str, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    if let Some(op) = path.strip_prefix("torch.ops.aten.") {
        return aten(builder, op, arguments);
    }
    if let Some(method) = path.strip_prefix("torch.Tensor.") {
        return methods::method(builder, method, arguments);
    }
    if let Some(result) = without_effect(path, &arguments) {
        return result;
    }
    if let Some(result) = symbolic(path, &arguments) {
        return result;
    }
    if let Some(name) =
        ["torch._functorch.predispatch.", "torch._C._functorch."].iter().find_map(|p| path.strip_prefix(p))
    {
        return functorch(builder, name, arguments);
    }
    if let Some(handler) = handler(path) {
        return handler(builder, arguments);
    }
    let (prefix, op_prefix) = NAMESPACES
        .iter()
        .find(|(prefix, _)| path.starts_with(prefix))
        .ok_or_else(|| Unsupported("it is no torch function".into()))?;
    let name = &path[prefix.len()..];
    if name.contains('.') {
        return Err(Unsupported("this namespace of torch has no translation".into()));
    }
    if arguments.positional.iter().any(PyValue::is_batched) {
        return vmap::pointwise(builder, name, arguments.positional);
    }
    if let Some(op) = in_place_by_flag(name, &mut arguments)? {
        return builder.call(&op, None, arguments);
    }
    builder.call(&format!("{op_prefix}{name}"), None, arguments)
}

/// Functions that are written in Python, or that an op takes in another form.
fn handler(path: &str) -> Option<Handler> {
    Some(match path {
        "torch.tensor" | "torch.as_tensor" | "torch.asarray" => creation::from_data,
        "torch.full" => creation::full,
        "torch.zeros" => |builder, arguments| creation::filled(builder, "zeros", arguments),
        "torch.ones" => |builder, arguments| creation::filled(builder, "ones", arguments),
        "torch.empty" => creation::empty,
        "torch.empty_like" => |builder, arguments| builder.call("zeros_like", None, arguments),
        "torch.rand" => |_, arguments| creation::random(true, arguments),
        "torch.randn" => |_, arguments| creation::random(false, arguments),
        "torch.einsum" | "torch.functional.einsum" => einsum,
        "torch.meshgrid" | "torch.functional.meshgrid" => meshgrid,
        "torch.broadcast_tensors" | "torch.functional.broadcast_tensors" => {
            |builder, arguments| builder.op("broadcast_tensors", [PyValue::List(flat(arguments.positional))])
        }
        "torch.clamp" | "torch.clip" => {
            |builder, arguments| clamp(builder, methods::renamed(arguments, "input", "self"))
        }
        "torch.norm" | "torch.functional.norm" => norm,
        "torch.nn.functional.normalize" => normalize,
        "torch.nn.functional.dropout"
        | "torch.nn.functional.dropout1d"
        | "torch.nn.functional.dropout2d"
        | "torch.nn.functional.dropout3d"
        | "torch.nn.functional.alpha_dropout"
        | "torch.nn.functional.feature_alpha_dropout" => dropout,
        "torch.nn.functional.softmax" => |builder, arguments| softmax(builder, "softmax", arguments),
        "torch.nn.functional.log_softmax" => |builder, arguments| softmax(builder, "log_softmax", arguments),
        "torch.nn.functional.batch_norm" => batch_norm,
        "torch.nn.functional.instance_norm" => instance_norm,
        "torch.nn.functional.embedding" => embedding,
        "torch.nn.functional.max_pool1d" => |builder, arguments| max_pool(builder, "max_pool1d", arguments),
        "torch.nn.functional.max_pool2d" => |builder, arguments| max_pool(builder, "max_pool2d", arguments),
        "torch.nn.functional.max_pool3d" => |builder, arguments| max_pool(builder, "max_pool3d", arguments),
        "torch._C._nn.avg_pool2d" | "torch.nn.functional.avg_pool2d" => {
            |builder, arguments| avg_pool(builder, "avg_pool2d", arguments)
        }
        "torch._C._nn.avg_pool3d" | "torch.nn.functional.avg_pool3d" => {
            |builder, arguments| avg_pool(builder, "avg_pool3d", arguments)
        }
        "torch.avg_pool1d" | "torch.nn.functional.avg_pool1d" => {
            |builder, arguments| avg_pool(builder, "avg_pool1d", arguments)
        }
        "torch.nn.functional.adaptive_avg_pool2d" => {
            |builder, arguments| adaptive_pool(builder, "adaptive_avg_pool2d", 2, arguments)
        }
        "torch.nn.functional.adaptive_avg_pool3d" => {
            |builder, arguments| adaptive_pool(builder, "adaptive_avg_pool3d", 3, arguments)
        }
        "torch.nn.functional.adaptive_max_pool1d" => {
            |builder, arguments| adaptive_pool(builder, "adaptive_max_pool1d", 1, arguments)
        }
        "torch.nn.functional.adaptive_max_pool2d" => {
            |builder, arguments| adaptive_pool(builder, "adaptive_max_pool2d", 2, arguments)
        }
        "torch.nn.functional.interpolate" | "torch.nn.functional.upsample" => resampling::interpolate,
        "torch.nn.functional.grid_sample" => resampling::grid_sample,
        "torch.nn.functional.unfold" => unfold,
        "torch.nn.functional.fold" => fold,
        "torch.nn.functional.multi_head_attention_forward" => attention::multi_head,
        "torch.sym_size" => |builder, arguments| methods::method(builder, "size", arguments),
        _ => return None,
    })
}

/// `torch.ops.aten.name` or `torch.ops.aten.name.overload`.
fn aten(builder: &mut Builder<'_>, op: &str, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let (name, overload) = match op.split_once('.') {
        Some((name, "default")) => (name, Some("")),
        Some((name, overload)) => (name, Some(overload)),
        None => (op, None),
    };
    match name {
        "sym_size" => methods::method(builder, "size", arguments),
        "_local_scalar_dense" | "item" => methods::method(builder, "item", arguments),
        "_assert_scalar" | "_assert_async" | "_assert_tensor_metadata" | "sym_constrain_range_for_size" => {
            Ok(PyValue::None)
        }
        "index" => {
            let [base, indices] = arguments.bind(["self", "indices"])?;
            indexing::get(builder, required(base, "self")?, required(indices, "indices")?)
        }
        _ => builder.call(name, overload, arguments),
    }
}

/// Functions that only concern Python: checks, autograd, autocast that is off.
fn without_effect(path: &str, arguments: &Arguments) -> Option<Result<PyValue, Unsupported>> {
    match path {
        "torch._C._log_api_usage_once"
        | "torch._C._set_grad_enabled"
        | "torch.set_grad_enabled"
        | "torch.autograd.function.FunctionCtx"
        | "torch._check"
        | "torch._check_is_size"
        | "torch._assert"
        | "torch.amp.autocast_mode._exit_autocast"
        | "torch._functorch.vmap.lazy_load_decompositions"
        | "torch._C._autograd._saved_tensors_hooks_disable"
        | "torch._C._autograd._saved_tensors_hooks_enable" => Some(Ok(PyValue::None)),
        "torch.amp.autocast_mode._enter_autocast" => Some(match arguments.positional.get(2) {
            Some(PyValue::Bool(false)) => Ok(PyValue::None),
            _ => Err(Unsupported("autocast that is on changes the types of ops by rules of its own".into())),
        }),
        _ => None,
    }
}

/// Arithmetic on sizes.
fn symbolic(path: &str, arguments: &Arguments) -> Option<Result<PyValue, Unsupported>> {
    let all: Option<Vec<i64>> = flat(arguments.positional.clone()).iter().map(PyValue::int).collect();
    let first = arguments.positional.first();
    let value = match path.strip_prefix("torch.sym_")? {
        "sum" => all.and_then(|all| all.into_iter().try_fold(0i64, i64::checked_add)).map(PyValue::Int),
        "max" => all.and_then(|all| all.into_iter().max()).map(PyValue::Int),
        "min" => all.and_then(|all| all.into_iter().min()).map(PyValue::Int),
        "int" => first.and_then(PyValue::float).map(|value| PyValue::Int(value.trunc() as i64)),
        "float" => first.and_then(PyValue::float).map(PyValue::Float),
        "not" => first.and_then(PyValue::float).map(|value| PyValue::Bool(value == 0.0)),
        _ => return None,
    };
    Some(value.ok_or_else(|| Unsupported("it needs numbers".into())))
}

/// What `torch.vmap` leaves behind.
fn functorch(builder: &mut Builder<'_>, name: &str, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let ints =
        |from: usize| -> Option<Vec<i64>> { arguments.positional.get(from..)?.iter().map(PyValue::int).collect() };
    let object = || required(arguments.positional.first().cloned(), "self");
    match (name, ints(1).as_deref()) {
        ("lazy_load_decompositions" | "_vmap_increment_nesting" | "_vmap_decrement_nesting", _) => Ok(PyValue::None),
        ("_add_batch_dim", Some(&[dim, level])) => vmap::add_batch_dim(builder, object()?, dim, level),
        ("_remove_batch_dim", Some(&[level, size, dim])) => {
            vmap::remove_batch_dim(builder, object()?, level, size, dim)
        }
        _ => Err(Unsupported("this part of functorch has no translation".into())),
    }
}

/// Python spells out what runs in place by a flag, the dispatcher by a name.
fn in_place_by_flag(name: &str, arguments: &mut Arguments) -> Result<Option<String>, Unsupported> {
    if !matches!(
        name,
        "relu"
            | "relu6"
            | "silu"
            | "mish"
            | "hardswish"
            | "hardsigmoid"
            | "elu"
            | "selu"
            | "celu"
            | "leaky_relu"
            | "hardtanh"
            | "threshold"
    ) {
        return Ok(None);
    }
    let given = match arguments.take("inplace") {
        Some(value) => Some(value),
        None => match arguments.positional.last() {
            Some(PyValue::Bool(_)) => arguments.positional.pop(),
            _ => None,
        },
    };
    let in_place = flag(given, false, "inplace")?;
    Ok(Some(if in_place { format!("{name}_") } else { name.to_owned() }))
}

/// The tensors of `f(a, b)` and of `f([a, b])`.
fn flat(positional: Vec<PyValue>) -> Vec<PyValue> {
    match <[PyValue; 1]>::try_from(positional) {
        Ok([PyValue::List(items)]) => items,
        Ok([one]) => vec![one],
        Err(several) => several,
    }
}

fn einsum(builder: &mut Builder<'_>, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    if arguments.positional.is_empty() {
        return Err(Unsupported("it needs an equation".into()));
    }
    let operands = arguments.positional.split_off(1);
    arguments.positional.push(PyValue::List(flat(operands)));
    builder.op("einsum", arguments.positional)
}

fn meshgrid(builder: &mut Builder<'_>, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    arguments.positional = vec![PyValue::List(flat(arguments.positional))];
    builder.call("meshgrid", None, arguments)
}

/// Of a number and a tensor as bounds the tensor counts as the number in it, which no op says: one bound goes first.
pub fn clamp(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let tensor = |bound: &Option<PyValue>| matches!(bound, Some(PyValue::Tensor(_)));
    let number = |bound: &Option<PyValue>| bound.as_ref().is_some_and(|bound| bound.float().is_some());
    let [input, low, high] = match arguments.clone().bind(["self", "min", "max"]) {
        Ok(bound) if tensor(&bound[1]) && number(&bound[2]) || number(&bound[1]) && tensor(&bound[2]) => bound,
        _ => return builder.call("clamp", None, arguments),
    };
    let (input, low, high) = (required(input, "self")?, required(low, "min")?, required(high, "max")?);
    let expected = builder.ty_of(&input)?.dtype;
    let bound = builder.ty_of(if low.tensor().is_some() { &low } else { &high })?;
    if bound.rank() != 0 || bound.dtype != expected {
        return Err(Unsupported(format!("a number and a {bound} as bounds of {expected}")));
    }
    let raised = builder.op("clamp_min", [input, low])?;
    builder.op("clamp_max", [raised, high])
}

/// `torch.norm(input, p='fro', dim=None, keepdim=False)`: the vector norm, also where it is called Frobenius.
pub fn norm(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, p, dim, keepdim, _out, dtype] = arguments.bind(["input", "p", "dim", "keepdim", "out", "dtype"])?;
    let order = match optional(p) {
        PyValue::None => PyValue::Float(2.0),
        PyValue::Str(text) if text == "fro" => PyValue::Int(2),
        PyValue::Str(text) => return Err(Unsupported(format!("the norm '{text}' has no translation"))),
        number => number,
    };
    let dim = match optional(dim) {
        PyValue::Int(dim) => PyValue::ints([dim]),
        other => other,
    };
    let keepdim = PyValue::Bool(flag(keepdim, false, "keepdim")?);
    let positional = [required(input, "input")?, order, dim, keepdim];
    builder.op_with("linalg_vector_norm", positional, [("dtype", optional(dtype))])
}

fn normalize(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, p, dim, eps] = arguments.bind(["input", "p", "dim", "eps"])?;
    let input = required(input, "input")?;
    let positional =
        vec![input.clone(), p.unwrap_or(PyValue::Float(2.0)), dim.unwrap_or(PyValue::Int(1)), PyValue::Bool(true)];
    let length = norm(builder, Arguments { positional, keyword: vec![] })?;
    let length = builder.op("clamp_min", [length, eps.unwrap_or(PyValue::Float(1e-12))])?;
    let length = builder.op("expand_as", [length, input.clone()])?;
    builder.op("div", [input, length])
}

fn dropout(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, p, training, inplace] = arguments.bind(["input", "p", "training", "inplace"])?;
    flag(inplace, false, "inplace")?;
    let p = p.unwrap_or(PyValue::Float(0.5));
    if flag(training, true, "training")? && p.float() != Some(0.0) {
        return Err(Unsupported("a dropout that is on draws random numbers".into()));
    }
    builder.op("dropout", [required(input, "input")?, p, PyValue::Bool(false)])
}

fn softmax(builder: &mut Builder<'_>, name: &str, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, dim, _stacklevel, dtype] = arguments.bind(["input", "dim", "_stacklevel", "dtype"])?;
    let positional = [required(input, "input")?, required(dim, "dim")?];
    builder.op_with(name, positional, [("dtype", optional(dtype))])
}

fn batch_norm(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, mean, var, weight, bias, training, momentum, eps] =
        arguments.bind(["input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"])?;
    builder.op(
        "batch_norm",
        [
            required(input, "input")?,
            optional(weight),
            optional(bias),
            optional(mean),
            optional(var),
            PyValue::Bool(flag(training, false, "training")?),
            momentum.unwrap_or(PyValue::Float(0.1)),
            eps.unwrap_or(PyValue::Float(1e-5)),
            PyValue::Bool(true),
        ],
    )
}

fn instance_norm(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, mean, var, weight, bias, use_input_stats, momentum, eps] = arguments.bind([
        "input",
        "running_mean",
        "running_var",
        "weight",
        "bias",
        "use_input_stats",
        "momentum",
        "eps",
    ])?;
    builder.op(
        "instance_norm",
        [
            required(input, "input")?,
            optional(weight),
            optional(bias),
            optional(mean),
            optional(var),
            PyValue::Bool(flag(use_input_stats, true, "use_input_stats")?),
            momentum.unwrap_or(PyValue::Float(0.1)),
            eps.unwrap_or(PyValue::Float(1e-5)),
            PyValue::Bool(true),
        ],
    )
}

/// (indices, weight) in Python, (weight, indices) in the op.
fn embedding(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, weight, padding, max_norm, _norm_type, scale_grad, sparse] =
        arguments.bind(["input", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"])?;
    if optional(max_norm) != PyValue::None {
        return Err(Unsupported("`max_norm` makes it write to its weight".into()));
    }
    let (weight, input) = (required(weight, "weight")?, required(input, "input")?);
    let rows = builder.shape_of(&weight)?.first().copied().unwrap_or(0);
    // Which row gets no gradient. It changes nothing here, but it is what the model wrote.
    let padding = match optional(padding) {
        PyValue::Int(row) if row < 0 => PyValue::Int(row.saturating_add(rows)),
        PyValue::None => PyValue::Int(-1),
        other => other,
    };
    let scale_grad = PyValue::Bool(flag(scale_grad, false, "scale_grad_by_freq")?);
    let sparse = PyValue::Bool(flag(sparse, false, "sparse")?);
    builder.op("embedding", [weight, input, padding, scale_grad, sparse])
}

fn max_pool(builder: &mut Builder<'_>, name: &str, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, kernel, stride, padding, dilation, ceil_mode, indices] =
        arguments.bind(["input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices"])?;
    if flag(indices, false, "return_indices")? {
        return Err(Unsupported("the indices of a pool have no translation".into()));
    }
    builder.op(
        name,
        [
            required(input, "input")?,
            required(kernel, "kernel_size")?,
            kernel_stride(stride),
            padding.unwrap_or(PyValue::Int(0)),
            dilation.unwrap_or(PyValue::Int(1)),
            PyValue::Bool(flag(ceil_mode, false, "ceil_mode")?),
        ],
    )
}

fn avg_pool(builder: &mut Builder<'_>, name: &str, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, kernel, stride, padding, ceil_mode, count, divisor] = arguments.bind([
        "input",
        "kernel_size",
        "stride",
        "padding",
        "ceil_mode",
        "count_include_pad",
        "divisor_override",
    ])?;
    let mut positional = vec![
        required(input, "input")?,
        required(kernel, "kernel_size")?,
        kernel_stride(stride),
        padding.unwrap_or(PyValue::Int(0)),
        PyValue::Bool(flag(ceil_mode, false, "ceil_mode")?),
        PyValue::Bool(flag(count, true, "count_include_pad")?),
    ];
    if name != "avg_pool1d" {
        positional.push(optional(divisor));
    }
    builder.op(name, positional)
}

/// The op says with an empty list that the stride is the size of the kernel.
fn kernel_stride(stride: Option<PyValue>) -> PyValue {
    match optional(stride) {
        PyValue::None => PyValue::List(vec![]),
        given => given,
    }
}

/// A size of `None` keeps that dimension as it is. Of a maximum's two results Python returns the first.
fn adaptive_pool(
    builder: &mut Builder<'_>,
    name: &str,
    spatial: usize,
    arguments: Arguments,
) -> Result<PyValue, Unsupported> {
    let [input, size, indices] = arguments.bind(["input", "output_size", "return_indices"])?;
    if flag(indices, false, "return_indices")? {
        return Err(Unsupported("the indices of a pool have no translation".into()));
    }
    let input = required(input, "input")?;
    let shape = builder.shape_of(&input)?;
    let extents = shape.iter().skip(shape.len().saturating_sub(spatial));
    let size = match required(size, "output_size")? {
        PyValue::List(items) => {
            let filled = items.into_iter().zip(extents);
            let filled = filled.map(|(item, &extent)| if item == PyValue::None { PyValue::Int(extent) } else { item });
            PyValue::List(filled.collect())
        }
        PyValue::None => PyValue::ints(extents.copied()),
        one => one,
    };
    match builder.op(name, [input, size])? {
        PyValue::List(results) => required(results.into_iter().next(), "result"),
        one => Ok(one),
    }
}

fn unfold(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, kernel, dilation, padding, stride] =
        arguments.bind(["input", "kernel_size", "dilation", "padding", "stride"])?;
    builder.op(
        "im2col",
        [
            required(input, "input")?,
            required(kernel, "kernel_size")?,
            dilation.unwrap_or(PyValue::Int(1)),
            padding.unwrap_or(PyValue::Int(0)),
            stride.unwrap_or(PyValue::Int(1)),
        ],
    )
}

fn fold(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, size, kernel, dilation, padding, stride] =
        arguments.bind(["input", "output_size", "kernel_size", "dilation", "padding", "stride"])?;
    builder.op(
        "col2im",
        [
            required(input, "input")?,
            required(size, "output_size")?,
            required(kernel, "kernel_size")?,
            dilation.unwrap_or(PyValue::Int(1)),
            padding.unwrap_or(PyValue::Int(0)),
            stride.unwrap_or(PyValue::Int(1)),
        ],
    )
}
