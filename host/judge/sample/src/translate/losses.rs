//! Losses of `torch.nn.functional`: functions in Python around an op that has a number for the reduction.

use super::arguments::{Arguments, required};
use super::builder::GraphBuilder;
use super::unsupported::Unsupported;
use crate::value::PyValue;
use passhost_ir::schema::SchemaArg;
use passhost_ir::{OpName, OpTable};

/// The losses whose op has their name, but for [`op_of`], and some of their arguments: as Python declares them.
const LOSSES: &str = "\
mse_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None)
l1_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None)
smooth_l1_loss(input, target, size_average=None, reduce=None, reduction='mean', beta=1.0)
huber_loss(input, target, reduction='mean', delta=1.0, weight=None)
soft_margin_loss(input, target, size_average=None, reduce=None, reduction='mean')
poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean')
cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0)
nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean')
binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction='mean')
binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None)
hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction='mean')
margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean')
cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean')
triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction='mean')
multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean')
multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction='mean')
";

const KL_DIV: &str = "input, target, size_average=None, reduce=None, reduction='mean', log_target=False";
const MULTILABEL_SOFT_MARGIN: &str = "input, target, weight=None, size_average=None, reduce=None, reduction='mean'";

/// Those whose operands are made as large as each other first.
const BROADCASTING: [&str; 4] = ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"];

/// Translates a loss of `torch.nn.functional`; `None` for functions that are none.
pub fn loss(builder: &mut GraphBuilder<'_>, name: &str, arguments: &Arguments) -> Option<Result<PyValue, Unsupported>> {
    match name {
        "kl_div" => Some(kl_div(builder, arguments.clone())),
        "multilabel_soft_margin_loss" => Some(multilabel_soft_margin(builder, arguments.clone())),
        name => {
            let declared =
                LOSSES.lines().find_map(|line| line.strip_suffix(')')?.strip_prefix(name)?.strip_prefix('('));
            declared.map(|signature| one_op(builder, name, signature, arguments.clone()))
        }
    }
}

/// The op of a loss.
fn op_of(name: &str) -> &str {
    match name {
        "cross_entropy" => "cross_entropy_loss",
        "nll_loss" => "nll_loss_nd",
        name => name,
    }
}

fn one_op(
    builder: &mut GraphBuilder<'_>,
    name: &str,
    signature: &'static str,
    arguments: Arguments,
) -> Result<PyValue, Unsupported> {
    let mut given = LossArguments(arguments.named(signature)?);
    let reduction = given.reduction()?;
    if BROADCASTING.contains(&name) {
        if !matches!(given.get("weight"), None | Some(PyValue::None)) {
            return Err(Unsupported("`weight` of single elements has no translation".into()));
        }
        given.broadcast(builder)?;
    }
    if name == "binary_cross_entropy" {
        given.expand_weight(builder)?;
    }
    let without_corner = name == "smooth_l1_loss" && given.get("beta").and_then(PyValue::float) == Some(0.0);
    let op = if without_corner { "l1_loss" } else { op_of(name) };
    let full = OpName::new(format!("aten::{op}"), "");
    let schema = OpTable::sample().get(&full).ok_or_else(|| Unsupported(format!("there is no op `{full}`")))?;
    let value = |declared: &SchemaArg| match declared.name.as_str() {
        "reduction" => Ok(PyValue::Int(reduction.number())),
        "self" => required(given.get("input").cloned(), "input"),
        name => required(given.get(name).cloned(), name),
    };
    builder.op(op, schema.args.iter().map(value).collect::<Result<Vec<_>, _>>()?)
}

/// `batchmean`, which no op knows, divides the sum by the number of rows.
fn kl_div(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let mut given = LossArguments(arguments.named(KL_DIV)?);
    let batch_mean = given.get("reduction") == Some(&PyValue::Str("batchmean".into()));
    if batch_mean {
        given.set("reduction", PyValue::Str("sum".into()));
    }
    let reduction = PyValue::Int(given.reduction()?.number());
    let [input, target, log_target] = ["input", "target", "log_target"].map(|name| given.value(name));
    let loss = builder.op_with("kl_div", [input.clone(), target, reduction], [("log_target", log_target)])?;
    match builder.shape_of(&input)?.first() {
        Some(&rows) if batch_mean => builder.op("div", [loss, PyValue::Int(rows)]),
        _ => Ok(loss),
    }
}

/// Written in Python as these calls.
fn multilabel_soft_margin(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let given = LossArguments(arguments.named(MULTILABEL_SOFT_MARGIN)?);
    let reduction = given.reduction()?;
    let [input, target, weight] = ["input", "target", "weight"].map(|name| given.value(name));
    let classes = builder.shape_of(&input)?.last().copied();
    let classes = classes.ok_or_else(|| Unsupported("it needs a dimension of classes".into()))?;
    let is = builder.op("log_sigmoid", [input.clone()])?;
    let is = builder.op("mul", [target.clone(), is])?;
    let rest = builder.op("rsub", [target, PyValue::Int(1)])?;
    let negative = builder.op("neg", [input])?;
    let is_not = builder.op("log_sigmoid", [negative])?;
    let is_not = builder.op("mul", [rest, is_not])?;
    let sum = builder.op("add", [is, is_not])?;
    let mut loss = builder.op("neg", [sum])?;
    if weight != PyValue::None {
        loss = builder.op("mul", [loss, weight])?;
    }
    let of_row = builder.op("sum", [loss, PyValue::ints([-1])])?;
    let of_row = builder.op("div", [of_row, PyValue::Int(classes)])?;
    match reduction {
        LossReduction::None => Ok(of_row),
        LossReduction::Mean => builder.op("mean", [of_row]),
        LossReduction::Sum => builder.op("sum", [of_row]),
    }
}

/// What becomes of the losses of all elements or rows.
#[derive(Clone, Copy)]
enum LossReduction {
    None,
    Mean,
    Sum,
}

impl LossReduction {
    /// What an op takes for it.
    fn number(self) -> i64 {
        match self {
            LossReduction::None => 0,
            LossReduction::Mean => 1,
            LossReduction::Sum => 2,
        }
    }
}

/// The arguments of a loss by name.
struct LossArguments(Vec<(&'static str, PyValue)>);

impl LossArguments {
    fn get(&self, name: &str) -> Option<&PyValue> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    fn value(&self, name: &str) -> PyValue {
        self.get(name).cloned().unwrap_or(PyValue::None)
    }

    fn set(&mut self, name: &str, value: PyValue) {
        if let Some((_, slot)) = self.0.iter_mut().find(|(known, _)| *known == name) {
            *slot = value;
        }
    }

    /// `size_average` and `reduce`, which are older, win where they are given.
    fn reduction(&self) -> Result<LossReduction, Unsupported> {
        let flag = |name: &str| match self.get(name) {
            None | Some(PyValue::None) => Ok(None),
            Some(PyValue::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(Unsupported(format!("`{name}` is a {}, expected a bool", other.kind()))),
        };
        match (flag("size_average")?, flag("reduce")?) {
            (None, None) => {}
            (_, Some(false)) => return Ok(LossReduction::None),
            (Some(false), _) => return Ok(LossReduction::Sum),
            _ => return Ok(LossReduction::Mean),
        }
        match self.get("reduction") {
            Some(PyValue::Str(text)) if text == "none" => Ok(LossReduction::None),
            Some(PyValue::Str(text)) if text == "mean" => Ok(LossReduction::Mean),
            Some(PyValue::Str(text)) if text == "sum" => Ok(LossReduction::Sum),
            _ => Err(Unsupported("`reduction` is none of 'none', 'mean' and 'sum'".into())),
        }
    }

    fn broadcast(&mut self, builder: &mut GraphBuilder<'_>) -> Result<(), Unsupported> {
        let [input, target] = [self.value("input"), self.value("target")];
        if builder.shape_of(&input)? == builder.shape_of(&target)? {
            return Ok(());
        }
        if let PyValue::List(both) = builder.op("broadcast_tensors", [PyValue::List(vec![input, target])])? {
            for (name, value) in ["input", "target"].into_iter().zip(both) {
                self.set(name, value);
            }
        }
        Ok(())
    }

    fn expand_weight(&mut self, builder: &mut GraphBuilder<'_>) -> Result<(), Unsupported> {
        let [target, weight] = [self.value("target"), self.value("weight")];
        if weight != PyValue::None && builder.shape_of(&weight)? != builder.shape_of(&target)? {
            let weight = builder.op("expand_as", [weight, target])?;
            self.set("weight", weight);
        }
        Ok(())
    }
}
