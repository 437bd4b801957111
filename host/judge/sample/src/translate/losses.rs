//! Losses of `torch.nn.functional`: functions in Python around an op that has a number for the reduction.

use super::Unsupported;
use super::arguments::{Arguments, required};
use super::builder::Builder;
use crate::value::PyValue;

/// How a loss is called in Python, and how its op takes that.
struct Loss {
    name: &'static str,
    op: &'static str,
    /// The parameters in Python.
    signature: &'static str,
    /// Those that the op has, in its order.
    taken: &'static [&'static str],
    /// Whether both operands are made as large as the other first.
    broadcasts: bool,
}

impl Loss {
    const fn new(
        name: &'static str,
        op: &'static str,
        signature: &'static str,
        taken: &'static [&'static str],
    ) -> Loss {
        Loss { name, op, signature, taken, broadcasts: false }
    }

    const fn broadcasting(self) -> Loss {
        Loss { broadcasts: true, ..self }
    }
}

const LOSSES: &[Loss] = &[
    Loss::new(
        "mse_loss",
        "mse_loss",
        "input, target, size_average=None, reduce=None, reduction='mean', weight=None",
        &["input", "target", "reduction"],
    )
    .broadcasting(),
    Loss::new(
        "l1_loss",
        "l1_loss",
        "input, target, size_average=None, reduce=None, reduction='mean', weight=None",
        &["input", "target", "reduction"],
    )
    .broadcasting(),
    Loss::new(
        "smooth_l1_loss",
        "smooth_l1_loss",
        "input, target, size_average=None, reduce=None, reduction='mean', beta=1.0",
        &["input", "target", "reduction", "beta"],
    )
    .broadcasting(),
    Loss::new(
        "huber_loss",
        "huber_loss",
        "input, target, reduction='mean', delta=1.0, weight=None",
        &["input", "target", "reduction", "delta"],
    )
    .broadcasting(),
    Loss::new(
        "soft_margin_loss",
        "soft_margin_loss",
        "input, target, size_average=None, reduce=None, reduction='mean'",
        &["input", "target", "reduction"],
    ),
    Loss::new(
        "poisson_nll_loss",
        "poisson_nll_loss",
        "input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'",
        &["input", "target", "log_input", "full", "eps", "reduction"],
    ),
    Loss::new(
        "cross_entropy",
        "cross_entropy_loss",
        "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', \
         label_smoothing=0.0",
        &["input", "target", "weight", "reduction", "ignore_index", "label_smoothing"],
    ),
    Loss::new(
        "nll_loss",
        "nll_loss_nd",
        "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
        &["input", "target", "weight", "reduction", "ignore_index"],
    ),
    Loss::new(
        "binary_cross_entropy",
        "binary_cross_entropy",
        "input, target, weight=None, size_average=None, reduce=None, reduction='mean'",
        &["input", "target", "weight", "reduction"],
    ),
    Loss::new(
        "binary_cross_entropy_with_logits",
        "binary_cross_entropy_with_logits",
        "input, target, weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None",
        &["input", "target", "weight", "pos_weight", "reduction"],
    ),
    Loss::new(
        "hinge_embedding_loss",
        "hinge_embedding_loss",
        "input, target, margin=1.0, size_average=None, reduce=None, reduction='mean'",
        &["input", "target", "margin", "reduction"],
    ),
    Loss::new(
        "margin_ranking_loss",
        "margin_ranking_loss",
        "input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'",
        &["input1", "input2", "target", "margin", "reduction"],
    ),
    Loss::new(
        "cosine_embedding_loss",
        "cosine_embedding_loss",
        "input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'",
        &["input1", "input2", "target", "margin", "reduction"],
    ),
    Loss::new(
        "triplet_margin_loss",
        "triplet_margin_loss",
        "anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, \
         reduction='mean'",
        &["anchor", "positive", "negative", "margin", "p", "eps", "swap", "reduction"],
    ),
    Loss::new(
        "multi_margin_loss",
        "multi_margin_loss",
        "input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'",
        &["input", "target", "p", "margin", "weight", "reduction"],
    ),
    Loss::new(
        "multilabel_margin_loss",
        "multilabel_margin_loss",
        "input, target, size_average=None, reduce=None, reduction='mean'",
        &["input", "target", "reduction"],
    ),
];

const KL_DIV: &str = "input, target, size_average=None, reduce=None, reduction='mean', log_target=False";
const MULTILABEL_SOFT_MARGIN: &str = "input, target, weight=None, size_average=None, reduce=None, reduction='mean'";

/// Translates a loss of `torch.nn.functional`; `None` for functions that are none.
pub fn loss(builder: &mut Builder<'_>, name: &str, arguments: &Arguments) -> Option<Result<PyValue, Unsupported>> {
    match name {
        "kl_div" => Some(kl_div(builder, arguments.clone())),
        "multilabel_soft_margin_loss" => Some(multilabel_soft_margin(builder, arguments.clone())),
        name => LOSSES.iter().find(|loss| loss.name == name).map(|loss| one_op(builder, loss, arguments.clone())),
    }
}

fn one_op(builder: &mut Builder<'_>, loss: &Loss, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let mut given = Given(arguments.named(loss.signature)?);
    let reduction = given.reduction()?;
    if loss.broadcasts {
        if !matches!(given.get("weight"), None | Some(PyValue::None)) {
            return Err(Unsupported("`weight` of single elements has no translation".into()));
        }
        given.broadcast(builder)?;
    }
    if loss.op == "binary_cross_entropy" {
        given.expand_weight(builder)?;
    }
    let without_corner = loss.op == "smooth_l1_loss" && given.get("beta").and_then(PyValue::float) == Some(0.0);
    let (op, taken) = if without_corner { ("l1_loss", &loss.taken[..3]) } else { (loss.op, loss.taken) };
    let value = |name: &&str| match *name {
        "reduction" => Ok(PyValue::Int(reduction.number())),
        name => required(given.get(name).cloned(), name),
    };
    builder.op(op, taken.iter().map(value).collect::<Result<Vec<_>, _>>()?)
}

/// `batchmean`, which no op knows, divides the sum by the number of rows.
fn kl_div(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let mut given = Given(arguments.named(KL_DIV)?);
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
fn multilabel_soft_margin(builder: &mut Builder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let given = Given(arguments.named(MULTILABEL_SOFT_MARGIN)?);
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
        Reduction::None => Ok(of_row),
        Reduction::Mean => builder.op("mean", [of_row]),
        Reduction::Sum => builder.op("sum", [of_row]),
    }
}

/// What becomes of the losses of all elements or rows.
#[derive(Clone, Copy)]
enum Reduction {
    None,
    Mean,
    Sum,
}

impl Reduction {
    /// What an op takes for it.
    fn number(self) -> i64 {
        match self {
            Reduction::None => 0,
            Reduction::Mean => 1,
            Reduction::Sum => 2,
        }
    }
}

/// The arguments of a loss by name.
struct Given(Vec<(&'static str, PyValue)>);

impl Given {
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
    fn reduction(&self) -> Result<Reduction, Unsupported> {
        let flag = |name: &str| match self.get(name) {
            None | Some(PyValue::None) => Ok(None),
            Some(PyValue::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(Unsupported(format!("`{name}` is a {}, expected a bool", other.kind()))),
        };
        match (flag("size_average")?, flag("reduce")?) {
            (None, None) => {}
            (_, Some(false)) => return Ok(Reduction::None),
            (Some(false), _) => return Ok(Reduction::Sum),
            _ => return Ok(Reduction::Mean),
        }
        match self.get("reduction") {
            Some(PyValue::Str(text)) if text == "none" => Ok(Reduction::None),
            Some(PyValue::Str(text)) if text == "mean" => Ok(Reduction::Mean),
            Some(PyValue::Str(text)) if text == "sum" => Ok(Reduction::Sum),
            _ => Err(Unsupported("`reduction` is none of 'none', 'mean' and 'sum'".into())),
        }
    }

    fn broadcast(&mut self, builder: &mut Builder<'_>) -> Result<(), Unsupported> {
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

    fn expand_weight(&mut self, builder: &mut Builder<'_>) -> Result<(), Unsupported> {
        let [target, weight] = [self.value("target"), self.value("weight")];
        if weight != PyValue::None && builder.shape_of(&weight)? != builder.shape_of(&target)? {
            let weight = builder.op("expand_as", [weight, target])?;
            self.set("weight", weight);
        }
        Ok(())
    }
}
