//! `torch.nn.functional.multi_head_attention_forward`, which is a function of Python's, as the ops that it calls.

use super::Unsupported;
use super::arguments::{Arguments, flag, optional, required};
use super::builder::Builder;
use crate::value::PyValue;
use passhost_ir::Dtype;

const PARAMETERS: [&str; 25] = [
    "query",
    "key",
    "value",
    "embed_dim_to_check",
    "num_heads",
    "in_proj_weight",
    "in_proj_bias",
    "bias_k",
    "bias_v",
    "add_zero_attn",
    "dropout_p",
    "out_proj_weight",
    "out_proj_bias",
    "training",
    "key_padding_mask",
    "need_weights",
    "attn_mask",
    "use_separate_proj_weight",
    "q_proj_weight",
    "k_proj_weight",
    "v_proj_weight",
    "static_k",
    "static_v",
    "average_attn_weights",
    "is_causal",
];

/// A pair of the attended values and the weights, `None` where those are not asked for.
pub fn multi_head(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [
        query,
        key,
        value,
        _embed_dim,
        heads,
        in_weight,
        in_bias,
        bias_k,
        bias_v,
        add_zero,
        _dropout,
        out_weight,
        out_bias,
        training,
        padding,
        need_weights,
        mask,
        separate,
        q_weight,
        k_weight,
        v_weight,
        static_k,
        static_v,
        average,
        is_causal,
    ] = arguments.bind(PARAMETERS)?;
    refuse(
        training,
        add_zero,
        [(bias_k, "bias_k"), (bias_v, "bias_v"), (static_k, "static_k"), (static_v, "static_v")],
    )?;
    let (query, key, value) = (required(query, "query")?, required(key, "key")?, required(value, "value")?);
    let heads = required(heads, "num_heads")?.int().filter(|&heads| heads > 0);
    let heads = heads.ok_or_else(|| Unsupported("`num_heads` is no positive integer".into()))?;
    let need_weights = flag(need_weights, true, "need_weights")?;
    let average = flag(average, true, "average_attn_weights")?;
    let is_causal = flag(is_causal, false, "is_causal")?;

    let is_batched = builder.shape_of(&query)?.len() == 3;
    let mut operands = vec![query, key, value];
    let mut padding = optional(padding);
    if !is_batched {
        batch_of_one(builder, &mut operands)?;
        if padding != PyValue::None {
            padding = builder.op("unsqueeze", [padding, PyValue::Int(0)])?;
        }
    }
    let [length, batch, embed] = builder.shape_of(&operands[0])?[..] else {
        return Err(Unsupported("`query` has neither two nor three dimensions".into()));
    };
    let dtype = builder.ty_of(&operands[0])?.dtype;
    let padding = additive(builder, padding, dtype)?;
    let mut mask = if is_causal && padding == PyValue::None && !need_weights {
        PyValue::None
    } else {
        additive(builder, optional(mask), dtype)?
    };
    let is_causal = is_causal && padding == PyValue::None;

    let bias = optional(in_bias);
    let projected = if flag(separate, false, "use_separate_proj_weight")? {
        let weights = [
            required(q_weight, "q_proj_weight")?,
            required(k_weight, "k_proj_weight")?,
            required(v_weight, "v_proj_weight")?,
        ];
        let biases = thirds(builder, &bias)?;
        let operands = operands.into_iter().zip(weights).zip(biases);
        let linear = |((operand, weight), bias)| builder.op("linear", [operand, weight, bias]);
        operands.map(linear).collect::<Result<Vec<_>, Unsupported>>()?
    } else {
        packed_projection(builder, operands, required(in_weight, "in_proj_weight")?, bias, embed)?
    };
    let head_dim = embed / heads;
    let rows = batch.saturating_mul(heads);
    if let PyValue::Tensor(tensor) = mask
        && builder.ty(tensor).rank() == 2
    {
        mask = builder.op("unsqueeze", [mask, PyValue::Int(0)])?;
    }
    let [q, k, v] = by_head(builder, projected, rows, head_dim)?;
    let source = builder.shape_of(&k)?.get(1).copied().unwrap_or(0);
    if padding != PyValue::None {
        let padding = builder.op("view", [padding, PyValue::ints([batch, 1, 1, source])])?;
        let padding = builder.op("expand", [padding, PyValue::ints([-1, heads, -1, -1])])?;
        let padding = builder.op("reshape", [padding, PyValue::ints([rows, 1, source])])?;
        mask = if mask == PyValue::None { padding } else { builder.op("add", [mask, padding])? };
    }
    let (out_weight, out_bias) = (required(out_weight, "out_proj_weight")?, optional(out_bias));
    let shape = Shape { batch, heads, length, source, head_dim };
    let (mut attended, mut weights) = if need_weights {
        with_weights(builder, [q, k, v], mask, &shape, out_weight, out_bias, average)?
    } else {
        let attended = without_weights(builder, [q, k, v], mask, &shape, is_causal, out_weight, out_bias)?;
        (attended, PyValue::None)
    };
    if !is_batched {
        attended = builder.op("squeeze", [attended, PyValue::Int(1)])?;
        if weights != PyValue::None {
            weights = builder.op("squeeze", [weights, PyValue::Int(0)])?;
        }
    }
    Ok(PyValue::List(vec![attended, weights]))
}

/// Refuses what has no translation.
fn refuse(
    training: Option<PyValue>,
    add_zero: Option<PyValue>,
    others: [(Option<PyValue>, &str); 4],
) -> Result<(), Unsupported> {
    if flag(training, true, "training")? {
        return Err(Unsupported("attention that trains draws random numbers; export the model after .eval()".into()));
    }
    for (value, name) in others {
        if optional(value) != PyValue::None {
            return Err(Unsupported(format!("`{name}` other than None has no translation")));
        }
    }
    if flag(add_zero, false, "add_zero_attn")? {
        return Err(Unsupported("`add_zero_attn` has no translation".into()));
    }
    Ok(())
}

/// Gives operands without a batch one. Those that are one tensor stay one: how the projection is done depends on it.
fn batch_of_one(builder: &mut Builder<'_>, operands: &mut [PyValue]) -> Result<(), Unsupported> {
    let mut lifted: Vec<(PyValue, PyValue)> = vec![];
    for operand in operands {
        let known = lifted.iter().find(|(from, _)| from == operand).map(|(_, to)| to.clone());
        let to = match known {
            Some(to) => to,
            None => builder.op("unsqueeze", [operand.clone(), PyValue::Int(1)])?,
        };
        lifted.push((operand.clone(), to.clone()));
        *operand = to;
    }
    Ok(())
}

/// Query, key and value with a matrix for each head of each row.
fn by_head(
    builder: &mut Builder<'_>,
    projected: Vec<PyValue>,
    rows: i64,
    head_dim: i64,
) -> Result<[PyValue; 3], Unsupported> {
    let mut split = vec![];
    for tensor in projected {
        let rows_of = *builder.shape_of(&tensor)?.first().unwrap_or(&0);
        let tensor = builder.op("view", [tensor, PyValue::ints([rows_of, rows, head_dim])])?;
        split.push(builder.op("transpose", [tensor, PyValue::Int(0), PyValue::Int(1)])?);
    }
    <[PyValue; 3]>::try_from(split).map_err(|_| Unsupported("the projection gave no three tensors".into()))
}

struct Shape {
    batch: i64,
    heads: i64,
    length: i64,
    source: i64,
    head_dim: i64,
}

impl Shape {
    fn rows(&self) -> i64 {
        self.batch.saturating_mul(self.heads)
    }

    fn embed(&self) -> i64 {
        self.heads.saturating_mul(self.head_dim)
    }
}

fn with_weights(
    builder: &mut Builder<'_>,
    [q, k, v]: [PyValue; 3],
    mask: PyValue,
    shape: &Shape,
    out_weight: PyValue,
    out_bias: PyValue,
    average: bool,
) -> Result<(PyValue, PyValue), Unsupported> {
    let scale = (1.0 / shape.head_dim as f64).sqrt();
    let q = builder.op("mul", [q, PyValue::Float(scale)])?;
    let k = builder.op("transpose", [k, PyValue::Int(-2), PyValue::Int(-1)])?;
    let scores =
        if mask == PyValue::None { builder.op("bmm", [q, k])? } else { builder.op("baddbmm", [mask, q, k])? };
    let weights = builder.op("softmax", [scores, PyValue::Int(-1)])?;
    let attended = builder.op("bmm", [weights.clone(), v])?;
    let attended = builder.op("transpose", [attended, PyValue::Int(0), PyValue::Int(1)])?;
    let attended = builder.op("contiguous", [attended])?;
    let flat = shape.length.saturating_mul(shape.batch);
    let attended = builder.op("view", [attended, PyValue::ints([flat, shape.embed()])])?;
    let attended = builder.op("linear", [attended, out_weight, out_bias])?;
    let out = *builder.shape_of(&attended)?.get(1).unwrap_or(&0);
    let attended = builder.op("view", [attended, PyValue::ints([shape.length, shape.batch, out])])?;
    let mut weights =
        builder.op("view", [weights, PyValue::ints([shape.batch, shape.heads, shape.length, shape.source])])?;
    if average {
        weights = builder.op("mean", [weights, PyValue::ints([1])])?;
    }
    Ok((attended, weights))
}

fn without_weights(
    builder: &mut Builder<'_>,
    operands: [PyValue; 3],
    mask: PyValue,
    shape: &Shape,
    is_causal: bool,
    out_weight: PyValue,
    out_bias: PyValue,
) -> Result<PyValue, Unsupported> {
    let mask = match &mask {
        PyValue::Tensor(tensor) if builder.ty(*tensor).shape.first() == Some(&1) && builder.ty(*tensor).rank() == 3 => {
            builder.op("unsqueeze", [mask, PyValue::Int(0)])?
        }
        PyValue::Tensor(_) => {
            builder.op("view", [mask, PyValue::ints([shape.batch, shape.heads, -1, shape.source])])?
        }
        _ => PyValue::None,
    };
    let lengths = [shape.length, shape.source, shape.source];
    let mut split = vec![];
    for (operand, length) in operands.into_iter().zip(lengths) {
        let extents = PyValue::ints([shape.batch, shape.heads, length, shape.head_dim]);
        split.push(builder.op("view", [operand, extents])?);
    }
    split.extend([mask, PyValue::Float(0.0), PyValue::Bool(is_causal)]);
    let attended = builder.op("scaled_dot_product_attention", split)?;
    let attended = builder.op("permute", [attended, PyValue::ints([2, 0, 1, 3])])?;
    let attended = builder.op("contiguous", [attended])?;
    let flat = shape.length.saturating_mul(shape.batch);
    let attended =
        builder.op("view", [attended, PyValue::ints([flat, shape.rows() / shape.batch.max(1) * shape.head_dim])])?;
    let attended = builder.op("linear", [attended, out_weight, out_bias])?;
    let out = *builder.shape_of(&attended)?.get(1).unwrap_or(&0);
    builder.op("view", [attended, PyValue::ints([shape.length, shape.batch, out])])
}

/// Query, key and value by one weight: in one product where the three are one tensor, in two where key and value are.
fn packed_projection(
    builder: &mut Builder<'_>,
    operands: Vec<PyValue>,
    weight: PyValue,
    bias: PyValue,
    embed: i64,
) -> Result<Vec<PyValue>, Unsupported> {
    let together = |builder: &mut Builder<'_>, x: PyValue, weight: PyValue, bias: PyValue, count: i64| {
        let projected = builder.op("linear", [x, weight, bias])?;
        let projected = builder.op("unflatten", [projected, PyValue::Int(-1), PyValue::ints([count, embed])])?;
        let projected = builder.op("unsqueeze", [projected, PyValue::Int(0)])?;
        let projected = builder.op("transpose", [projected, PyValue::Int(0), PyValue::Int(-2)])?;
        let projected = builder.op("squeeze", [projected, PyValue::Int(-2)])?;
        let projected = builder.op("contiguous", [projected])?;
        (0..count)
            .map(|i| builder.op("select", [projected.clone(), PyValue::Int(0), PyValue::Int(i)]))
            .collect::<Result<Vec<_>, _>>()
    };
    if operands[1] == operands[2] {
        if operands[0] == operands[1] {
            return together(builder, operands[0].clone(), weight, bias, 3);
        }
        let parts = |builder: &mut Builder<'_>, x: PyValue| {
            if x == PyValue::None {
                return Ok((PyValue::None, PyValue::None));
            }
            match builder.op("split_with_sizes", [x, PyValue::ints([embed, embed.saturating_mul(2)])])? {
                PyValue::List(items) => match <[PyValue; 2]>::try_from(items) {
                    Ok([first, rest]) => Ok((first, rest)),
                    Err(_) => Err(Unsupported("a projection that does not split in two".into())),
                },
                _ => Err(Unsupported("a projection that does not split".into())),
            }
        };
        let (weight_q, weight_kv) = parts(builder, weight)?;
        let (bias_q, bias_kv) = parts(builder, bias)?;
        let mut projected = vec![builder.op("linear", [operands[0].clone(), weight_q, bias_q])?];
        projected.extend(together(builder, operands[1].clone(), weight_kv, bias_kv, 2)?);
        return Ok(projected);
    }
    let (weights, biases) = (thirds(builder, &weight)?, thirds(builder, &bias)?);
    let triples = operands.into_iter().zip(weights).zip(biases);
    triples.map(|((x, weight), bias)| builder.op("linear", [x, weight, bias])).collect()
}

/// A weight or a bias cut in three along its first dimension.
fn thirds(builder: &mut Builder<'_>, x: &PyValue) -> Result<Vec<PyValue>, Unsupported> {
    if *x == PyValue::None {
        return Ok(vec![PyValue::None; 3]);
    }
    match builder.op("chunk", [x.clone(), PyValue::Int(3)])? {
        PyValue::List(items) if items.len() == 3 => Ok(items),
        _ => Err(Unsupported("a projection that does not split in three".into())),
    }
}

/// A mask to be added: one of bools masks with minus infinity.
fn additive(builder: &mut Builder<'_>, mask: PyValue, dtype: Dtype) -> Result<PyValue, Unsupported> {
    let PyValue::Tensor(tensor) = mask else { return Ok(PyValue::None) };
    if builder.ty(tensor).dtype != Dtype::Bool {
        return Ok(mask);
    }
    let zeros = builder.op_with("zeros_like", [mask.clone()], [("dtype", PyValue::Dtype(dtype))])?;
    builder.op("masked_fill_", [zeros, mask, PyValue::Float(f64::NEG_INFINITY)])
}
