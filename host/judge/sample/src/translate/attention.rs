//! `torch.nn.functional.multi_head_attention_forward`, which is a function of Python's, as the ops that it calls.

use super::arguments::{Arguments, required};
use super::builder::GraphBuilder;
use super::unsupported::Unsupported;
use crate::value::PyValue;
use passhost_ir::Dtype;
use std::collections::HashMap;

const SIGNATURE: &str = "query, key, value, embed_dim_to_check=None, num_heads, in_proj_weight=None, \
    in_proj_bias=None, bias_k=None, bias_v=None, add_zero_attn=False, dropout_p=0.0, out_proj_weight, \
    out_proj_bias=None, training=True, key_padding_mask=None, need_weights=True, attn_mask=None, \
    use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, \
    static_v=None, average_attn_weights=True, is_causal=False";

const YES: PyValue = PyValue::Bool(true);

/// The arguments of the call that are not used yet.
struct AttentionArguments(HashMap<&'static str, PyValue>);

impl AttentionArguments {
    fn take(&mut self, name: &str) -> PyValue {
        self.0.remove(name).unwrap_or(PyValue::None)
    }

    /// An argument that need not be there in every call, and must in this one.
    fn needed(&mut self, name: &str) -> Result<PyValue, Unsupported> {
        required(Some(self.take(name)).filter(|value| *value != PyValue::None), name)
    }
}

/// A pair of the attended values and the weights, `None` where those are not asked for.
pub fn multi_head(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let mut given = AttentionArguments(arguments.named(SIGNATURE)?.into_iter().collect());
    refuse(&mut given)?;
    let heads = given.take("num_heads").int().filter(|&heads| heads > 0);
    let heads = heads.ok_or_else(|| Unsupported("`num_heads` is no positive integer".into()))?;
    let mut operands = [given.take("query"), given.take("key"), given.take("value")];
    let mut padding = given.take("key_padding_mask");
    let is_batched = builder.shape_of(&operands[0])?.len() == 3;
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
    let needs_weights = given.take("need_weights") == YES;
    let is_causal = given.take("is_causal") == YES && padding == PyValue::None;
    let mut mask = match given.take("attn_mask") {
        _ if is_causal && !needs_weights => PyValue::None,
        mask => additive(builder, mask, dtype)?,
    };
    projected(builder, &mut operands, &mut given, embed)?;
    if let PyValue::Tensor(tensor) = mask
        && builder.ty(tensor).rank() == 2
    {
        mask = builder.op("unsqueeze", [mask, PyValue::Int(0)])?;
    }
    let (rows, head_dim) = (batch.saturating_mul(heads), embed / heads);
    by_head(builder, &mut operands, rows, head_dim)?;
    let source = builder.shape_of(&operands[1])?.get(1).copied().unwrap_or(0);
    let shape = AttentionShape { batch, heads, length, source, head_dim };
    mask = with_padding(builder, mask, padding, &shape)?;
    let out = [given.take("out_proj_weight"), given.take("out_proj_bias")];
    let (mut attended, mut weights) = if needs_weights {
        with_weights(builder, operands, mask, &shape, out, given.take("average_attn_weights") == YES)?
    } else {
        (without_weights(builder, operands, mask, &shape, out, is_causal)?, PyValue::None)
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
fn refuse(given: &mut AttentionArguments) -> Result<(), Unsupported> {
    if given.take("training") == YES && given.take("dropout_p").float() != Some(0.0) {
        return Err(Unsupported("attention that trains draws random numbers; export the model after .eval()".into()));
    }
    for name in ["bias_k", "bias_v", "static_k", "static_v"] {
        if given.take(name) != PyValue::None {
            return Err(Unsupported(format!("`{name}` other than None has no translation")));
        }
    }
    if given.take("add_zero_attn") == YES {
        return Err(Unsupported("`add_zero_attn` has no translation".into()));
    }
    Ok(())
}

/// Gives operands without a batch one. Those that are one tensor stay one: how the projection is done depends on it.
fn batch_of_one(builder: &mut GraphBuilder<'_>, operands: &mut [PyValue]) -> Result<(), Unsupported> {
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
    builder: &mut GraphBuilder<'_>,
    operands: &mut [PyValue; 3],
    rows: i64,
    head_dim: i64,
) -> Result<(), Unsupported> {
    for operand in operands {
        let length = *builder.shape_of(operand)?.first().unwrap_or(&0);
        let split = builder.op("view", [operand.clone(), PyValue::ints([length, rows, head_dim])])?;
        *operand = builder.op("transpose", [split, PyValue::Int(0), PyValue::Int(1)])?;
    }
    Ok(())
}

struct AttentionShape {
    batch: i64,
    heads: i64,
    length: i64,
    source: i64,
    head_dim: i64,
}

/// One mask for what may not attend and what must not be attended to.
fn with_padding(
    builder: &mut GraphBuilder<'_>,
    mask: PyValue,
    padding: PyValue,
    shape: &AttentionShape,
) -> Result<PyValue, Unsupported> {
    let &AttentionShape { batch, heads, source, .. } = shape;
    if padding == PyValue::None {
        return Ok(mask);
    }
    let padding = builder.op("view", [padding, PyValue::ints([batch, 1, 1, source])])?;
    let padding = builder.op("expand", [padding, PyValue::ints([-1, heads, -1, -1])])?;
    let padding = builder.op("reshape", [padding, PyValue::ints([batch.saturating_mul(heads), 1, source])])?;
    if mask == PyValue::None { Ok(padding) } else { builder.op("add", [mask, padding]) }
}

fn with_weights(
    builder: &mut GraphBuilder<'_>,
    [q, k, v]: [PyValue; 3],
    mask: PyValue,
    shape: &AttentionShape,
    out: [PyValue; 2],
    average: bool,
) -> Result<(PyValue, PyValue), Unsupported> {
    let &AttentionShape { batch, heads, length, source, head_dim } = shape;
    let scale = (1.0 / head_dim as f64).sqrt();
    let q = builder.op("mul", [q, PyValue::Float(scale)])?;
    let k = builder.op("transpose", [k, PyValue::Int(-2), PyValue::Int(-1)])?;
    let scores =
        if mask == PyValue::None { builder.op("bmm", [q, k])? } else { builder.op("baddbmm", [mask, q, k])? };
    let weights = builder.op("softmax", [scores, PyValue::Int(-1)])?;
    let attended = builder.op("bmm", [weights.clone(), v])?;
    let attended = builder.op("transpose", [attended, PyValue::Int(0), PyValue::Int(1)])?;
    let attended = project_out(builder, attended, shape, out)?;
    let mut weights = builder.op("view", [weights, PyValue::ints([batch, heads, length, source])])?;
    if average {
        weights = builder.op("mean", [weights, PyValue::ints([1])])?;
    }
    Ok((attended, weights))
}

fn without_weights(
    builder: &mut GraphBuilder<'_>,
    operands: [PyValue; 3],
    mask: PyValue,
    shape: &AttentionShape,
    out: [PyValue; 2],
    is_causal: bool,
) -> Result<PyValue, Unsupported> {
    let &AttentionShape { batch, heads, length, source, head_dim } = shape;
    let mask = match &mask {
        PyValue::Tensor(tensor) if builder.ty(*tensor).shape.first() == Some(&1) && builder.ty(*tensor).rank() == 3 => {
            builder.op("unsqueeze", [mask, PyValue::Int(0)])?
        }
        PyValue::Tensor(_) => builder.op("view", [mask, PyValue::ints([batch, heads, -1, source])])?,
        _ => PyValue::None,
    };
    let mut split = vec![];
    for (operand, length) in operands.into_iter().zip([length, source, source]) {
        split.push(builder.op("view", [operand, PyValue::ints([batch, heads, length, head_dim])])?);
    }
    split.extend([mask, PyValue::Float(0.0), PyValue::Bool(is_causal)]);
    let attended = builder.op("scaled_dot_product_attention", split)?;
    let attended = builder.op("permute", [attended, PyValue::ints([2, 0, 1, 3])])?;
    project_out(builder, attended, shape, out)
}

/// The projection behind the attention, by its weight and bias.
fn project_out(
    builder: &mut GraphBuilder<'_>,
    attended: PyValue,
    &AttentionShape { batch, heads, length, head_dim, .. }: &AttentionShape,
    [weight, bias]: [PyValue; 2],
) -> Result<PyValue, Unsupported> {
    let attended = builder.op("contiguous", [attended])?;
    let rows = PyValue::ints([length.saturating_mul(batch), heads.saturating_mul(head_dim)]);
    let attended = builder.op("view", [attended, rows])?;
    let attended = builder.op("linear", [attended, weight, bias])?;
    let out = *builder.shape_of(&attended)?.get(1).unwrap_or(&0);
    builder.op("view", [attended, PyValue::ints([length, batch, out])])
}

/// Projects query, key and value, by three weights or by one.
fn projected(
    builder: &mut GraphBuilder<'_>,
    operands: &mut [PyValue; 3],
    given: &mut AttentionArguments,
    embed: i64,
) -> Result<(), Unsupported> {
    let bias = given.take("in_proj_bias");
    let weights = if given.take("use_separate_proj_weight") == YES {
        [given.needed("q_proj_weight")?, given.needed("k_proj_weight")?, given.needed("v_proj_weight")?]
    } else {
        let weight = given.needed("in_proj_weight")?;
        if operands[1] == operands[2] {
            return projected_together(builder, operands, weight, bias, embed);
        }
        thirds(builder, weight)?
    };
    let biases = thirds(builder, bias)?;
    for ((operand, weight), bias) in operands.iter_mut().zip(weights).zip(biases) {
        *operand = builder.op("linear", [operand.clone(), weight, bias])?;
    }
    Ok(())
}

/// Key and value are one tensor: one product where the query is that too, else two.
fn projected_together(
    builder: &mut GraphBuilder<'_>,
    [query, key, value]: &mut [PyValue; 3],
    weight: PyValue,
    bias: PyValue,
    embed: i64,
) -> Result<(), Unsupported> {
    if query == key {
        [*query, *key, *value] = product(builder, key, weight, bias, embed)?;
        return Ok(());
    }
    let extents = PyValue::ints([embed, embed.saturating_mul(2)]);
    let [weight_q, weight_kv] = parts(builder, "split_with_sizes", weight, extents.clone())?;
    let [bias_q, bias_kv] = parts(builder, "split_with_sizes", bias, extents)?;
    *query = builder.op("linear", [query.clone(), weight_q, bias_q])?;
    [*key, *value] = product(builder, key, weight_kv, bias_kv, embed)?;
    Ok(())
}

/// One product that stands for `N` projections of the same tensor.
fn product<const N: usize>(
    builder: &mut GraphBuilder<'_>,
    x: &PyValue,
    weight: PyValue,
    bias: PyValue,
    embed: i64,
) -> Result<[PyValue; N], Unsupported> {
    let projected = builder.op("linear", [x.clone(), weight, bias])?;
    let extents = PyValue::ints([N as i64, embed]);
    let projected = builder.op("unflatten", [projected, PyValue::Int(-1), extents])?;
    let projected = builder.op("unsqueeze", [projected, PyValue::Int(0)])?;
    let projected = builder.op("transpose", [projected, PyValue::Int(0), PyValue::Int(-2)])?;
    let projected = builder.op("squeeze", [projected, PyValue::Int(-2)])?;
    let projected = builder.op("contiguous", [projected])?;
    let mut selected = [const { PyValue::None }; N];
    for (position, selected) in selected.iter_mut().enumerate() {
        *selected = builder.op("select", [projected.clone(), PyValue::Int(0), PyValue::Int(position as i64)])?;
    }
    Ok(selected)
}

/// A weight or a bias cut in three along its first dimension.
fn thirds(builder: &mut GraphBuilder<'_>, x: PyValue) -> Result<[PyValue; 3], Unsupported> {
    parts(builder, "chunk", x, PyValue::Int(3))
}

/// What an op cuts a weight or a bias into, if there is one.
fn parts<const N: usize>(
    builder: &mut GraphBuilder<'_>,
    op: &str,
    x: PyValue,
    how: PyValue,
) -> Result<[PyValue; N], Unsupported> {
    if x == PyValue::None {
        return Ok([const { PyValue::None }; N]);
    }
    let items = match builder.op(op, [x, how])? {
        PyValue::List(items) => items,
        one => vec![one],
    };
    let count = if N == 2 { "two" } else { "three" };
    items.try_into().map_err(|_| Unsupported(format!("a projection that does not split in {count}")))
}

/// A mask to be added: one of bools masks with minus infinity.
fn additive(builder: &mut GraphBuilder<'_>, mask: PyValue, dtype: Dtype) -> Result<PyValue, Unsupported> {
    let PyValue::Tensor(tensor) = mask else { return Ok(PyValue::None) };
    if builder.ty(tensor).dtype != Dtype::Bool {
        return Ok(mask);
    }
    let zeros = builder.op_with("zeros_like", [mask.clone()], [("dtype", PyValue::Dtype(dtype))])?;
    builder.op("masked_fill_", [zeros, mask, PyValue::Float(f64::NEG_INFINITY)])
}
