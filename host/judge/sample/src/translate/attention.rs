//! `torch.nn.functional.multi_head_attention_forward`, which is a function of Python's, as the statements of it that a call
//! comes to.

use super::arguments::Arguments;
use super::builder::GraphBuilder;
use super::unsupported::Unsupported;
use crate::value::PyValue;
use passhost_ir::Dtype;

const SIGNATURE: &str = "query, key, value, embed_dim_to_check=None, num_heads, in_proj_weight=None, \
    in_proj_bias=None, bias_k=None, bias_v=None, add_zero_attn=False, dropout_p=0.0, out_proj_weight, \
    out_proj_bias=None, training=True, key_padding_mask=None, need_weights=True, attn_mask=None, \
    use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, \
    static_v=None, average_attn_weights=True, is_causal=False";

/// Query, key and value with a matrix for each head of each row.
const BY_HEAD: &str = "\
q = q.view(length, rows, head_dim).transpose(0, 1)
k = k.view(k.shape[0], rows, head_dim).transpose(0, 1)
v = v.view(v.shape[0], rows, head_dim).transpose(0, 1)
source = k.shape[1]
";

/// The projection behind the attention.
const PROJECT_OUT: &str = "\
out = torch._C._nn.linear(out.contiguous().view(length * batch, num_heads * head_dim), out_proj_weight, out_proj_bias)
out = out.view(length, batch, out.shape[1])
";

/// Statements over named values, and what they return.
pub struct PythonFunction {
    /// The statements, the last of which is a `return`.
    pub body: String,
    /// What the names stand for before the first.
    pub names: Vec<(&'static str, PyValue)>,
}

/// A call as statements: they return a pair of the attended values and the weights, `None` where those are not asked for.
pub fn multi_head(builder: &GraphBuilder<'_>, arguments: Arguments) -> Result<PythonFunction, Unsupported> {
    let mut names: Vec<(&str, PyValue)> =
        arguments.named(SIGNATURE)?.into_iter().map(|argument| (argument.name, argument.value)).collect();
    let given = |name: &str| names.iter().find(|(known, _)| *known == name).map_or(&PyValue::None, |(_, value)| value);
    let has = |name: &str| *given(name) != PyValue::None;
    let is_set = |name: &str| *given(name) == PyValue::Bool(true);
    if is_set("training") && given("dropout_p").float() != Some(0.0) {
        return Err(Unsupported("attention that trains draws random numbers; export the model after .eval()".into()));
    }
    if let Some(name) = ["bias_k", "bias_v", "static_k", "static_v"].into_iter().find(|name| has(name)) {
        return Err(Unsupported(format!("`{name}` other than None has no translation")));
    }
    if is_set("add_zero_attn") {
        return Err(Unsupported("`add_zero_attn` has no translation".into()));
    }
    let heads = given("num_heads").int().filter(|&heads| heads > 0);
    let heads = heads.ok_or_else(|| Unsupported("`num_heads` is no positive integer".into()))?;
    let [length, batch, embed] = builder.shape_of(given("query"))?[..] else {
        return Err(Unsupported("`query` has not three dimensions".into()));
    };
    let (rows, head_dim) = (batch.saturating_mul(heads), embed / heads);
    let (padded, needs_weights) = (has("key_padding_mask"), is_set("need_weights"));
    let is_causal = is_set("is_causal") && !padded;
    let masked = has("attn_mask") && (needs_weights || !is_causal);
    let mut body = String::new();
    // A mask of bools becomes one to be added.
    for mask in [("key_padding_mask", padded), ("attn_mask", masked)].into_iter().filter_map(|(m, is)| is.then_some(m))
    {
        if builder.ty_of(given(mask))?.dtype == Dtype::Bool {
            body += &format!("{mask} = torch.zeros_like({mask}, dtype=query.dtype).masked_fill_({mask}, -inf)\n");
        }
    }
    body += &projections(
        is_set("use_separate_proj_weight"),
        has("in_proj_bias"),
        [given("query") == given("key"), given("key") == given("value")],
    );
    let mask_shape = if masked { builder.shape_of(given("attn_mask"))? } else { vec![] };
    let is_shared = mask_shape.len() == 2;
    if is_shared {
        body += "attn_mask = attn_mask.unsqueeze(0)\n";
    }
    body += BY_HEAD;
    if padded {
        body +=
            "pad = key_padding_mask.view(batch, 1, 1, source).expand(-1, num_heads, -1, -1).reshape(rows, 1, source)\n";
        body += if masked { "attn_mask = attn_mask + pad\n" } else { "attn_mask = pad\n" };
    }
    let masked = masked || padded;
    body += &if needs_weights {
        with_weights(masked, is_set("average_attn_weights"))
    } else {
        let is_one_for_all = if padded { rows == 1 } else { is_shared || matches!(mask_shape[..], [1, _, _]) };
        without_weights(masked.then_some(is_one_for_all), is_causal)
    };
    let numbers = [("length", length), ("batch", batch), ("embed", embed), ("rows", rows), ("head_dim", head_dim)];
    names.extend(numbers.map(|(name, number)| (name, PyValue::Int(number))));
    names.push(("scale", PyValue::Float((1.0 / head_dim as f64).sqrt())));
    Ok(PythonFunction { body, names })
}

fn with_weights(masked: bool, average: bool) -> String {
    let product = if masked { "torch.baddbmm(attn_mask, q, k)" } else { "torch.bmm(q, k)" };
    let returned = if average { "w.mean(1)" } else { "w" };
    format!(
        "q = q * scale\nk = k.transpose(-2, -1)\nw = {product}.softmax(-1)\nout = torch.bmm(w, v).transpose(0, 1)\n\
         {PROJECT_OUT}w = w.view(batch, num_heads, length, source)\nreturn out, {returned}"
    )
}

/// `mask` is, if there is one, whether it is the same for all heads of all rows.
fn without_weights(mask: Option<bool>, is_causal: bool) -> String {
    let mask = match mask {
        None => "None",
        Some(true) => "attn_mask.unsqueeze(0)",
        Some(false) => "attn_mask.view(batch, num_heads, -1, source)",
    };
    let causal = if is_causal { "True" } else { "False" };
    format!(
        "attn_mask = {mask}\nq = q.view(batch, num_heads, length, head_dim)\n\
         k = k.view(batch, num_heads, source, head_dim)\nv = v.view(batch, num_heads, source, head_dim)\n\
         out = torch._C._nn.scaled_dot_product_attention(q, k, v, attn_mask, 0.0, {causal}).permute(2, 0, 1, 3)\n\
         {PROJECT_OUT}return out, None"
    )
}

/// Query, key and value by three weights, or by one: then what is the same tensor is projected by one product.
fn projections(separate: bool, has_bias: bool, [query_is_key, key_is_value]: [bool; 2]) -> String {
    let product = |names: &str, count: u8, x: &str, weight: &str, bias: &str| {
        let parts = (0..count).map(|part| format!("p[{part}]")).collect::<Vec<_>>().join(", ");
        format!(
            "p = torch._C._nn.linear({x}, {weight}, {bias}).unflatten(-1, ({count}, embed)).unsqueeze(0)\n\
             p = p.transpose(0, -2).squeeze(-2).contiguous()\n{names} = {parts}\n"
        )
    };
    match (separate, key_is_value) {
        (false, true) if query_is_key => product("q, k, v", 3, "query", "in_proj_weight", "in_proj_bias"),
        (false, true) => {
            let biases =
                if has_bias { "b, c = in_proj_bias.split_with_sizes([embed, embed * 2])\n" } else { "b = c = None\n" };
            format!(
                "w, u = in_proj_weight.split_with_sizes([embed, embed * 2])\n{biases}q = torch._C._nn.linear(query, w, b)\n{}",
                product("k, v", 2, "key", "u", "c")
            )
        }
        _ => {
            let weights =
                if separate { "" } else { "q_proj_weight, k_proj_weight, v_proj_weight = in_proj_weight.chunk(3)\n" };
            let biases = if has_bias { "b, c, d = in_proj_bias.chunk(3)\n" } else { "b = c = d = None\n" };
            format!(
                "{weights}{biases}q = torch._C._nn.linear(query, q_proj_weight, b)\n\
                 k = torch._C._nn.linear(key, k_proj_weight, c)\nv = torch._C._nn.linear(value, v_proj_weight, d)\n"
            )
        }
    }
}
