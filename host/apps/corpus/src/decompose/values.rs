//! What the inputs of a piece must be like for its ops to take them.

use super::class::plain_name;
use super::interval::{Interval, intervals};
use super::memory::Memory;
use super::refusal::Refusal;
use passhost_ir::ops::Counts;
use passhost_ir::{Arg, Dtype, Graph, Node, NodeKind, OpRow, TensorType, ValueId};
use passhost_sample::Weight;

/// A positive input is drawn around this number, if its range goes so far.
const POSITIVE: f64 = 2.0;
/// Its deviation is this part of that: even what is drawn at eight times the deviation does not reach zero.
const SPREAD: f64 = 1.0 / 40.0;
/// A float whose range goes from here to about zero is an additive mask, which is drawn as zeros and this.
const MASK: f64 = -1e4;
/// A float whose range is wider than this may have any value, as far as drawing it goes.
const WIDEST: f64 = 1e4;
/// Integers of which too little is known have this many values.
const DIGITS: f64 = 10.0;

/// The record of a tensor that the model computes. Nobody has seen it, and all that is known is its range: mean 0 and
/// deviation 1, or what fits a narrower range.
pub(super) fn computed(name: String, ty: &TensorType, range: Interval) -> Weight {
    let ty = TensorType::contiguous(ty.dtype, &ty.shape[..]);
    let Interval { low, high } = range;
    let mut weight = Weight { name, original_name: None, mean: None, std: None, data: None, min: None, max: None, ty };
    match weight.ty.dtype {
        Dtype::Bool => {}
        dtype if !dtype.is_float() => {
            let Interval { low, high } = digits(range);
            (weight.min, weight.max) = (Some(low), Some(high));
        }
        dtype => {
            (weight.mean, weight.std) = (Some(0.0), Some(1.0));
            if low <= MASK && high <= 1.0 {
                (weight.min, weight.max) = (Some(low.max(-largest(dtype))), Some(high));
            } else if high - low <= WIDEST {
                (weight.min, weight.max) = (Some(low), Some(high));
                (weight.mean, weight.std) = (Some(low.midpoint(high)), Some((high - low) / 8.0));
            } else if low >= 0.0 {
                weight.min = Some(low);
            } else if high <= 0.0 {
                weight.max = Some(high);
            }
        }
    }
    weight
}

/// The largest finite number of a float type.
fn largest(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F16 => 65504.0,
        Dtype::Bf16 => 3.389_531_389_251_535_5e38,
        Dtype::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    }
}

/// A range with two ends.
fn digits(range: Interval) -> Interval {
    match (range.low.is_finite(), range.high.is_finite()) {
        (true, true) => range,
        (true, false) => Interval::new(range.low, range.low + DIGITS - 1.0),
        (false, true) => Interval::new(range.high - DIGITS + 1.0, range.high),
        (false, false) => Interval::new(0.0, DIGITS - 1.0),
    }
}

/// Adjusts the records of inputs that the model computes (`computed[position]`) to what the ops of the piece take.
///
/// An index that is itself an input gets the range of what it indexes where no better one is known; what a logarithm,
/// a root or a quotient takes is kept away from zero. An index or an integer divisor that might be wrong all the same
/// is refused.
pub(super) fn fit(graph: &Graph, weights: &mut [Weight], computed: &[bool]) -> Result<(), Refusal> {
    let memory = Memory::of(graph);
    let position = |value: ValueId| graph.inputs.iter().position(|&input| input == value);
    // Each round settles an input at least.
    for _ in 0..=weights.len() {
        let ranges = intervals(graph, &memory, |value| {
            position(value).and_then(|position| weights.get(position)).map_or(Interval::ALL, Interval::of_weight)
        });
        let range = |value: ValueId| ranges[value.index()];
        let mut refused = None;
        let mut changed = false;
        for node in &graph.nodes {
            for demand in demands(graph, node) {
                let found = range(demand.value);
                if demand.allows(found) {
                    continue;
                }
                let input = position(memory.base(demand.value)).filter(|&position| computed[position]);
                match input {
                    Some(position) if demand.change(&mut weights[position]) => changed = true,
                    _ if demand.is_strict => {
                        let NodeKind::Aten { op, .. } = &node.kind else { continue };
                        refused.get_or_insert(Refusal::Values { op: op.to_string(), what: demand.what });
                    }
                    _ => {}
                }
            }
        }
        match (changed, refused) {
            (true, _) => {}
            (false, Some(refusal)) => return Err(refusal),
            (false, None) => return Ok(()),
        }
    }
    Ok(())
}

/// What an op wants of an operand.
struct Demand {
    value: ValueId,
    allowed: Interval,
    /// Whether the run fails otherwise, or does worse.
    is_strict: bool,
    what: &'static str,
}

impl Demand {
    fn allows(&self, range: Interval) -> bool {
        self.allowed.low <= range.low && range.high <= self.allowed.high
    }

    /// Makes an input fit. False if it is as it should be already.
    fn change(&self, weight: &mut Weight) -> bool {
        let old = weight.clone();
        if self.is_strict {
            // Indices may count from the end, and better count from the front.
            let Interval { low, high } = digits(Interval { low: self.allowed.low.max(0.0), ..self.allowed });
            (weight.min, weight.max) = (Some(low), Some(high));
        } else {
            let mean = weight.max.filter(|&max| max > 0.0).map_or(POSITIVE, |max| max.min(POSITIVE));
            (weight.mean, weight.std) = (Some(mean), Some(mean * SPREAD));
            (weight.min, weight.max) = (Some(0.0), weight.max.filter(|&max| max > 0.0));
        }
        *weight != old
    }
}

fn demands(graph: &Graph, node: &Node) -> Vec<Demand> {
    let NodeKind::Aten { op, args } = &node.kind else { return vec![] };
    let tensor = |position: usize| match args.get(position) {
        Some(Arg::Value(value)) => Some(*value),
        _ => None,
    };
    let int = |position: usize| match args.get(position) {
        Some(Arg::Int(value)) => Some(*value),
        _ => None,
    };
    let name = plain_name(op);
    let index = |value: Option<ValueId>, extent: i64, wraps: bool| {
        let high = (extent - 1).max(0) as f64;
        let low = if wraps { -(extent as f64) } else { 0.0 };
        let whole = value.filter(|&value| graph.ty(value).dtype.is_integer());
        whole.map(|value| Demand { value, allowed: Interval { low, high }, is_strict: true, what: "an index outside" })
    };
    let extent = |value: Option<ValueId>, dim: i64| {
        let shape = value.map(|value| &graph.ty(value).shape[..]).unwrap_or_default();
        let dim = if dim < 0 { dim + shape.len() as i64 } else { dim };
        usize::try_from(dim).ok().and_then(|dim| shape.get(dim)).copied().unwrap_or(1)
    };
    let positive = |value: Option<ValueId>| {
        let float = value.filter(|&value| graph.ty(value).dtype.is_float());
        let allowed = Interval { low: f64::MIN_POSITIVE, high: f64::INFINITY };
        float.map(|value| Demand { value, allowed, is_strict: false, what: "a number that is not positive" })
    };
    let found: Vec<Option<Demand>> = match name {
        _ if let Some((at, counts)) = OpRow::of(op).and_then(|row| row.index) => match (counts, args.get(at)) {
            (Counts::Rows, _) => vec![index(tensor(at), extent(tensor(0), 0), false)],
            (Counts::Each, Some(Arg::OptionalValues(indices))) => {
                let indices = indices.iter().enumerate();
                indices.map(|(dim, value)| index(*value, extent(tensor(0), dim as i64), true)).collect()
            }
            (Counts::Dim1, _) => vec![index(tensor(at), extent(tensor(0), int(1).unwrap_or(0)), false)],
            (Counts::Dim2, _) => vec![index(tensor(at), extent(tensor(0), int(2).unwrap_or(0)), true)],
            (Counts::All, _) => {
                vec![index(tensor(at), tensor(0).map_or(1, |value| graph.ty(value).numel() as i64), true)]
            }
            (Counts::Each | Counts::Classes | Counts::Nothing, _) => vec![],
        },
        "one_hot" => vec![index(tensor(0), int(1).unwrap_or(1), false)],
        "floor_divide" | "remainder" | "fmod" | "div" | "divide" => {
            let whole = |value: &ValueId| graph.ty(*value).dtype.is_integer();
            match tensor(1) {
                Some(value) if whole(&value) && node.outputs.iter().all(whole) => {
                    let allowed = Interval { low: 1.0, high: f64::INFINITY };
                    vec![Some(Demand { value, allowed, is_strict: true, what: "zero as a divisor" })]
                }
                divisor => vec![positive(divisor)],
            }
        }
        "log" | "log2" | "log10" | "sqrt" | "rsqrt" | "reciprocal" | "logit" => vec![positive(tensor(0))],
        "pow" if !matches!(args.get(1), Some(Arg::Int(_))) => match args.get(1) {
            Some(Arg::Float(exponent)) if exponent.fract() == 0.0 && *exponent > 0.0 => vec![],
            _ => vec![positive(tensor(0))],
        },
        _ => vec![],
    };
    found.into_iter().flatten().collect()
}
