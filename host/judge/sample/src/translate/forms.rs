//! Functions of `torch.nn.functional` whose op takes the same arguments in another order, by other names, or without those
//! that change nothing: as Python declares them.

use super::arguments::{Arguments, BoundArgument};
use super::builder::GraphBuilder;
use super::overload::schema_name;
use super::unsupported::Unsupported;
use crate::value::PyValue;
use passhost_ir::OpTable;

/// The functions, each with its op where that has another name.
const FORMS: &str = "\
softmax(input, dim, _stacklevel=3, dtype=None)
log_softmax(input, dim, _stacklevel=3, dtype=None)
max_pool1d(input, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False, return_indices=False)
max_pool2d(input, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False, return_indices=False)
max_pool3d(input, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False, return_indices=False)
adaptive_max_pool1d(input, output_size, return_indices=False)
adaptive_max_pool2d(input, output_size, return_indices=False)
adaptive_max_pool3d(input, output_size, return_indices=False)
avg_pool1d(input, kernel_size, stride=[], padding=0, ceil_mode=False, count_include_pad=True)
avg_pool2d(input, kernel_size, stride=[], padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
avg_pool3d(input, kernel_size, stride=[], padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None)
unfold=im2col(input, kernel_size, dilation=1, padding=0, stride=1)
fold=col2im(input, output_size, kernel_size, dilation=1, padding=0, stride=1)
mse_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None)
l1_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None)
smooth_l1_loss(input, target, size_average=None, reduce=None, reduction='mean', beta=1.0)
huber_loss(input, target, reduction='mean', delta=1.0, weight=None)
kl_div(input, target, size_average=None, reduce=None, reduction='mean', log_target=False)
cross_entropy=cross_entropy_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0)
nll_loss=nll_loss_nd(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean')
binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction='mean')
binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None)
soft_margin_loss(input, target, size_average=None, reduce=None, reduction='mean')
poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean')
hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction='mean')
margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean')
cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean')
triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction='mean')
multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean')
multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction='mean')
";

/// What a loss makes of those of single elements, in the order of the numbers that its op has for them.
const REDUCTIONS: [&str; 3] = ["none", "mean", "sum"];

/// Translates a function of the table; `None` for others.
pub fn form(builder: &mut GraphBuilder<'_>, name: &str, arguments: &Arguments) -> Option<Result<PyValue, Unsupported>> {
    let (op, signature) = FORMS.lines().find_map(|line| {
        let (names, signature) = line.strip_suffix(')')?.split_once('(')?;
        let (python, op) = names.split_once('=').unwrap_or((names, names));
        (python == name).then_some((op, signature))
    })?;
    let result = match batch_mean(builder, name, arguments) {
        Some(sum) => sum.and_then(|(sum, rows)| {
            let sum = by_name(op, signature, sum).and_then(|arguments| builder.call(op, None, arguments))?;
            builder.op("div", [sum, PyValue::Int(rows)])
        }),
        None => by_name(op, signature, arguments.clone()).and_then(|arguments| builder.call(op, None, arguments)),
    };
    // Of a maximum and where it is, Python returns the first.
    Some(result.map(|result| match result {
        PyValue::List(results) => results.into_iter().next().unwrap_or(PyValue::None),
        one => one,
    }))
}

/// What `kl_div` divides by which number of rows for `batchmean`, which its op has not: the arguments of a sum.
fn batch_mean(
    builder: &GraphBuilder<'_>,
    name: &str,
    arguments: &Arguments,
) -> Option<Result<(Arguments, i64), Unsupported>> {
    let mut sum = arguments.clone();
    let (_, reduction) = sum.keyword.iter_mut().find(|(keyword, _)| name == "kl_div" && keyword == "reduction")?;
    if *reduction != PyValue::Str("batchmean".to_owned()) {
        return None;
    }
    *reduction = PyValue::Str("sum".to_owned());
    let input = sum.positional.first().or_else(|| sum.keyword.iter().find(|(name, _)| name == "input").map(|(_, v)| v));
    let shape = input.map(|input| builder.shape_of(input)).unwrap_or_else(|| Ok(vec![]));
    Some(shape.map(|shape| (sum, shape.first().copied().unwrap_or(1))))
}

/// The arguments by name, but for those that the op has not, which must be what they are by default.
fn by_name(op: &str, signature: &'static str, arguments: Arguments) -> Result<Arguments, Unsupported> {
    let schema = OpTable::sample().overloads(&format!("aten::{op}")).next();
    let schema =
        schema.ok_or_else(|| Unsupported(format!("there is no op `{op}` among those that samples may use")))?;
    let mut keyword = vec![];
    for BoundArgument { name, value, is_default } in arguments.named(signature)? {
        if name == "reduction" {
            let number = REDUCTIONS.iter().position(|known| value == PyValue::Str((*known).to_owned()));
            let number = number.ok_or_else(|| Unsupported("`reduction` is none of 'none', 'mean' and 'sum'".into()))?;
            keyword.push((name.to_owned(), PyValue::Int(number as i64)));
        } else if schema.position(schema_name(name, schema)).is_some() {
            keyword.push((name.to_owned(), value));
        } else if !is_default && !name.starts_with('_') {
            return Err(Unsupported(format!("a `{name}` other than the default has no translation")));
        }
    }
    Ok(Arguments { positional: vec![], keyword })
}
