//! Calls of torch functions: by overload resolution, but for those whose Python form is not that of an op.

use super::arguments::{Arguments, flag, required};
use super::builder::GraphBuilder;
use super::unsupported::Unsupported;
use super::{creation, forms, indexing, methods, operators, resampling, vmap};
use crate::value::PyValue;

const BATCH_NORM: &str = "input, running_mean=None, running_var=None, weight=None, bias=None, training=False, \
    momentum=0.1, eps=1e-5";
const INSTANCE_NORM: &str = "input, running_mean=None, running_var=None, weight=None, bias=None, \
    use_input_stats=True, momentum=0.1, eps=1e-5";

/// Translates a call of the function at a dotted path.
pub fn function(builder: &mut GraphBuilder<'_>, path: &str, arguments: Arguments) -> Result<PyValue, Unsupported> {
    if let Some(op) = path.strip_prefix("torch.ops.aten.") {
        return aten(builder, op, arguments);
    }
    if let Some(method) = path.strip_prefix("torch.Tensor.") {
        return methods::method(builder, method, arguments);
    }
    if let Some(result) = without_effect(path, &arguments).or_else(|| symbolic(path, &arguments)) {
        return result;
    }
    if let Some(name) =
        ["torch._functorch.predispatch.", "torch._C._functorch."].iter().find_map(|p| path.strip_prefix(p))
    {
        return functorch(builder, name, arguments);
    }
    let (namespace, name) = path.rsplit_once('.').unwrap_or_default();
    match (namespace, name) {
        ("torch", "tensor" | "as_tensor" | "asarray") => creation::from_data(builder, arguments),
        ("torch", "full") => creation::full(builder, arguments),
        ("torch", "zeros" | "ones") => creation::filled(builder, name, 0, arguments),
        ("torch", "empty") => creation::empty(builder, arguments),
        ("torch", "empty_like") => builder.call("zeros_like", None, arguments),
        ("torch", "rand" | "randn") => creation::random(name == "rand", arguments),
        ("torch", "sym_size") => methods::method(builder, "size", arguments),
        ("torch", "sym_sum") => sum(builder, flat(arguments.positional)),
        ("torch", "clamp" | "clip") => clamp(builder, arguments),
        ("torch" | "torch.functional", "einsum") => einsum(builder, arguments),
        ("torch" | "torch.functional", "meshgrid") => meshgrid(builder, arguments),
        ("torch" | "torch.functional", "broadcast_tensors") => {
            builder.op("broadcast_tensors", [PyValue::List(flat(arguments.positional))])
        }
        ("torch" | "torch.functional", "norm") => norm(builder, arguments),
        ("torch", "avg_pool1d") | ("torch._C._nn", "avg_pool2d" | "avg_pool3d") | ("torch.nn.functional", _) => {
            functional(builder, name, arguments)
        }
        (namespace, name) => overloaded(builder, namespace, name, arguments),
    }
}

/// Functions of `torch.nn.functional` that are written in Python, or that an op takes in another form.
fn functional(builder: &mut GraphBuilder<'_>, name: &str, arguments: Arguments) -> Result<PyValue, Unsupported> {
    if let Some(result) = forms::form(builder, name, &arguments) {
        return result;
    }
    match name {
        "normalize" => normalize(builder, arguments),
        "dropout" | "dropout1d" | "dropout2d" | "dropout3d" | "alpha_dropout" | "feature_alpha_dropout" => {
            dropout(builder, arguments)
        }
        "batch_norm" => running_norm(builder, name, arguments.bind(BATCH_NORM)?),
        "instance_norm" => running_norm(builder, name, arguments.bind(INSTANCE_NORM)?),
        "embedding" => embedding(builder, arguments),
        "interpolate" | "upsample" => resampling::interpolate(builder, arguments),
        "grid_sample" => resampling::grid_sample(builder, arguments),
        name if name.ends_with("_loss") => Err(Unsupported("this loss has no translation".into())),
        name => overloaded(builder, "torch.nn.functional", name, arguments),
    }
}

/// A function that is the op of its name, in `fft` and the like with a prefix.
fn overloaded(
    builder: &mut GraphBuilder<'_>,
    namespace: &str,
    name: &str,
    mut arguments: Arguments,
) -> Result<PyValue, Unsupported> {
    let prefix = match namespace {
        "torch" | "torch.functional" | "torch.nn.functional" | "torch._VF" => "",
        "torch._C._nn" | "torch._C._special" | "torch._C._fft" | "torch._C._linalg" => "",
        "torch.special" => "special_",
        "torch.fft" => "fft_",
        "torch.linalg" => "linalg_",
        _ => return Err(Unsupported("this namespace of torch has no translation".into())),
    };
    if arguments.positional.iter().any(PyValue::is_batched) {
        return vmap::pointwise(builder, name, arguments.positional);
    }
    if let Some(op) = in_place_by_flag(name, &mut arguments)? {
        return builder.call(&op, None, arguments);
    }
    builder.call(&format!("{prefix}{name}"), None, arguments)
}

/// `torch.ops.aten.name` or `torch.ops.aten.name.overload`.
fn aten(builder: &mut GraphBuilder<'_>, op: &str, arguments: Arguments) -> Result<PyValue, Unsupported> {
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
            let [base, indices] = arguments.bind("self, indices")?;
            indexing::get(builder, base, indices)
        }
        _ => builder.call(name, overload, arguments),
    }
}

/// Functions that only concern Python: checks, autograd, autocast that is off.
fn without_effect(path: &str, arguments: &Arguments) -> Option<Result<PyValue, Unsupported>> {
    const CHECKS: &str = "torch._C._log_api_usage_once torch._C._set_grad_enabled torch.set_grad_enabled \
        torch.autograd.function.FunctionCtx torch._check torch._check_is_size torch._assert \
        torch.amp.autocast_mode._exit_autocast torch._functorch.vmap.lazy_load_decompositions \
        torch._C._autograd._saved_tensors_hooks_disable torch._C._autograd._saved_tensors_hooks_enable";
    if path == "torch.amp.autocast_mode._enter_autocast" {
        return Some(match arguments.positional.get(2) {
            Some(PyValue::Bool(false)) => Ok(PyValue::None),
            _ => Err(Unsupported("autocast that is on changes the types of ops by rules of its own".into())),
        });
    }
    CHECKS.split_whitespace().any(|known| known == path).then_some(Ok(PyValue::None))
}

/// Arithmetic on sizes.
fn symbolic(path: &str, arguments: &Arguments) -> Option<Result<PyValue, Unsupported>> {
    let all: Option<Vec<i64>> = flat(arguments.positional.clone()).iter().map(PyValue::int).collect();
    let first = arguments.positional.first();
    let value = match path.strip_prefix("torch.sym_")? {
        "max" => all.and_then(|all| all.into_iter().max()).map(PyValue::Int),
        "min" => all.and_then(|all| all.into_iter().min()).map(PyValue::Int),
        "int" => first.and_then(PyValue::float).map(|value| PyValue::Int(value.trunc() as i64)),
        "float" => first.and_then(PyValue::float).map(PyValue::Float),
        "not" => first.and_then(PyValue::float).map(|value| PyValue::Bool(value == 0.0)),
        _ => return None,
    };
    Some(value.ok_or_else(|| Unsupported("it needs numbers".into())))
}

/// Python's sum, which begins with 0: of sizes, or of tensors that hold them.
fn sum(builder: &mut GraphBuilder<'_>, terms: Vec<PyValue>) -> Result<PyValue, Unsupported> {
    terms.into_iter().try_fold(PyValue::Int(0), |sum, term| operators::operator(builder, "add", vec![sum, term]))
}

/// What `torch.vmap` leaves behind.
fn functorch(builder: &mut GraphBuilder<'_>, name: &str, arguments: Arguments) -> Result<PyValue, Unsupported> {
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
    const FLAGGED: &str = "relu relu6 silu mish hardswish hardsigmoid elu selu celu leaky_relu hardtanh threshold";
    if !FLAGGED.split_whitespace().any(|known| known == name) {
        return Ok(None);
    }
    let given =
        arguments.take("inplace").or_else(|| arguments.positional.pop_if(|last| matches!(last, PyValue::Bool(_))));
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

fn einsum(builder: &mut GraphBuilder<'_>, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    if arguments.positional.is_empty() {
        return Err(Unsupported("it needs an equation".into()));
    }
    let operands = arguments.positional.split_off(1);
    arguments.positional.push(PyValue::List(flat(operands)));
    builder.op("einsum", arguments.positional)
}

fn meshgrid(builder: &mut GraphBuilder<'_>, mut arguments: Arguments) -> Result<PyValue, Unsupported> {
    arguments.positional = vec![PyValue::List(flat(arguments.positional))];
    builder.call("meshgrid", None, arguments)
}

/// Of a number and a tensor as bounds the tensor counts as the number in it, which no op says: one bound goes first.
pub fn clamp(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let (input, low, high) = match arguments.clone().bind("input, min=None, max=None") {
        Ok([input, low @ PyValue::Tensor(_), high]) if high.float().is_some() => (input, low, high),
        Ok([input, low, high @ PyValue::Tensor(_)]) if low.float().is_some() => (input, low, high),
        _ => return builder.call("clamp", None, arguments),
    };
    let expected = builder.ty_of(&input)?.dtype;
    let bound = builder.ty_of(if low.tensor().is_some() { &low } else { &high })?;
    if bound.rank() != 0 || bound.dtype != expected {
        return Err(Unsupported(format!("a number and a {bound} as bounds of {expected}")));
    }
    let raised = builder.op("clamp_min", [input, low])?;
    builder.op("clamp_max", [raised, high])
}

/// `torch.norm(input, p='fro', dim=None, keepdim=False)`: the vector norm, also where it is called Frobenius.
pub fn norm(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, p, dim, keepdim, _out, dtype] =
        arguments.bind("input, p=None, dim=None, keepdim=False, out=None, dtype=None")?;
    let order = match p {
        PyValue::None => PyValue::Float(2.0),
        PyValue::Str(text) if text == "fro" => PyValue::Int(2),
        number => number,
    };
    let dim = match dim {
        PyValue::Int(dim) => PyValue::ints([dim]),
        other => other,
    };
    builder.op_with("linalg_vector_norm", [input, order, dim, keepdim], [("dtype", dtype)])
}

fn normalize(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, p, dim, eps] = arguments.bind("input, p=2.0, dim=1, eps=1e-12")?;
    let positional = vec![input.clone(), p, dim, PyValue::Bool(true)];
    let length = norm(builder, Arguments { positional, keyword: vec![] })?;
    let length = builder.op("clamp_min", [length, eps])?;
    let length = builder.op("expand_as", [length, input.clone()])?;
    builder.op("div", [input, length])
}

fn dropout(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, p, training, _inplace] = arguments.bind("input, p=0.5, training=True, inplace=False")?;
    if training == PyValue::Bool(true) && p.float() != Some(0.0) {
        return Err(Unsupported("a dropout that is on draws random numbers".into()));
    }
    builder.op("dropout", [input, p, PyValue::Bool(false)])
}

/// A norm with running statistics, which stand before the weights in Python and behind them in the op.
///
/// One that trains normalises by the statistics of its input, whatever the running ones are, and then updates these in
/// place. No output depends on the update, so the graph leaves it out, and nothing behind the norm may read what it writes.
fn running_norm(
    builder: &mut GraphBuilder<'_>,
    op: &str,
    [input, mut mean, mut var, weight, bias, uses_input, momentum, eps]: [PyValue; 8],
) -> Result<PyValue, Unsupported> {
    if uses_input == PyValue::Bool(true) {
        for statistic in [&mut mean, &mut var] {
            if let PyValue::Tensor(updated) = std::mem::replace(statistic, PyValue::None) {
                builder.known.lose(updated);
            }
        }
    }
    builder.op(op, [input, weight, bias, mean, var, uses_input, momentum, eps, PyValue::Bool(true)])
}

/// (indices, weight) in Python, (weight, indices) in the op.
fn embedding(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, weight, padding, max_norm, _norm_type, scale_grad, sparse] = arguments.bind(
        "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False",
    )?;
    if max_norm != PyValue::None {
        return Err(Unsupported("`max_norm` makes it write to its weight".into()));
    }
    let rows = builder.shape_of(&weight)?.first().copied().unwrap_or(0);
    // Which row gets no gradient. It changes nothing here, but it is what the model wrote.
    let padding = match padding {
        PyValue::Int(row) if row < 0 => PyValue::Int(row.saturating_add(rows)),
        PyValue::None => PyValue::Int(-1),
        other => other,
    };
    builder.op("embedding", [weight, input, padding, scale_grad, sparse])
}
