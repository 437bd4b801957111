//! How each input is drawn: from what is recorded of it and from the argument it feeds.

mod structure;

use crate::value::RandomTensor;
use crate::weights::Weight;
use passhost_ir::ops::Range;
use passhost_ir::{Draw, Graph, InputSpec, NodeKind, OpRow, OpTable, ValueId};
use passhost_result::InputMode;
use std::collections::HashMap;

/// What an input is to the op that takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRole {
    Weight,
    Variance,
    /// Refused outside of 0 to 1.
    Probability,
    Other,
}

/// What inputs are for, as far as a call says so: by the name of the schema argument that one feeds first, directly or
/// through views, or by one that refuses others. Subgraphs call every input `in_0`, so that names say nothing.
pub fn roles(program: &Graph) -> HashMap<ValueId, InputRole> {
    let mut origin: HashMap<ValueId, ValueId> = program.inputs.iter().map(|&input| (input, input)).collect();
    let mut roles = HashMap::new();
    for node in &program.nodes {
        let NodeKind::Aten { op, args } = &node.kind else { continue };
        let Some(schema) = OpTable::sample().get(op) else { continue };
        let range = OpRow::of(op).and_then(|row| row.range);
        for (declared, arg) in schema.args.iter().zip(args) {
            for value in arg.values() {
                let Some(&input) = origin.get(value) else { continue };
                if schema.is_view() {
                    for output in &node.outputs {
                        origin.insert(*output, input);
                    }
                    continue;
                }
                let role = match declared.name.as_str() {
                    "running_var" => InputRole::Variance,
                    "self" | "target" if range == Some(Range::Probabilities) => InputRole::Probability,
                    "weight" => InputRole::Weight,
                    _ => InputRole::Other,
                };
                if role == InputRole::Probability {
                    roles.insert(input, role);
                } else {
                    roles.entry(input).or_insert(role);
                }
            }
        }
    }
    roles
}

/// A recorded value from which on, downwards, elements mask.
const MASKS: f64 = -1e4;

/// The description of one input. `fixed` ones keep their recorded elements, because the graph is built on them.
pub fn input_spec(weight: &Weight, role: InputRole, fixed: bool, mode: InputMode) -> InputSpec {
    let recorded = weight.elements().filter(|_| fixed);
    let draw = match (recorded, mode) {
        (Some(elements), _) if weight.ty.dtype.is_float() => Draw::Floats(elements),
        (Some(elements), _) => Draw::Integers(elements.into_iter().map(|element| element as i64).collect()),
        (None, InputMode::Fresh) => fresh(weight, role),
        (None, InputMode::Published) => published(weight),
    };
    // Bounds of floats hold for a mask; elsewhere they are the extremes of one draw, and only their sign is kept.
    let is_float = weight.ty.dtype.is_float();
    let (min, max) = match mode {
        _ if fixed => (None, None),
        InputMode::Fresh if role == InputRole::Probability => (Some(0.0), Some(1.0)),
        // Zeros throughout say nothing of the sign.
        InputMode::Fresh if is_float && (weight.min, weight.max) != (Some(0.0), Some(0.0)) => {
            (weight.min.filter(|&min| min >= 0.0).map(|_| 0.0), weight.max.filter(|&max| max <= 0.0).map(|_| 0.0))
        }
        InputMode::Fresh => (None, None),
        InputMode::Published => (Some(weight.min.unwrap_or(-100.0)), Some(weight.max.unwrap_or(100.0))),
    };
    InputSpec { name: weight.name.clone(), ty: weight.ty.clone(), draw, min, max }
}

/// The description of an input that stands for random numbers which the model draws.
pub fn random_spec(name: &str, random: &RandomTensor) -> InputSpec {
    let (draw, bounds) = if random.uniform {
        (Draw::Normal { mean: 0.5, std: 0.3 }, Some((0.0, 1.0)))
    } else {
        (Draw::Normal { mean: 0.0, std: 1.0 }, None)
    };
    let (min, max) = bounds.unzip();
    InputSpec { name: name.to_owned(), ty: random.ty.clone(), draw, min, max }
}

fn fresh(weight: &Weight, role: InputRole) -> Draw {
    if !weight.ty.dtype.is_float() {
        return integers(weight);
    }
    if let Some(low) = weight.min.filter(|&low| low <= MASKS) {
        return Draw::FloatMask { low };
    }
    let recorded = weight.std.filter(|&std| std > 0.0);
    match (role, recorded) {
        (InputRole::Variance, _) => {
            let median = weight.mean.filter(|&mean| mean > 0.0).unwrap_or(1.0);
            Draw::LogNormal { median, sigma: 0.25 }
        }
        // A scalar such as an epsilon, a slope or a temperature: about as large as recorded. Zero says nothing of what else
        // it may be, and one that masks is what it is.
        (_, None) if weight.ty.rank() == 0 => match weight.mean.unwrap_or(0.0) {
            median if median > MASKS && median != 0.0 => Draw::LogNormal { median, sigma: 0.25 },
            other => Draw::Floats(vec![other]),
        },
        (InputRole::Weight, None) => Draw::Normal { mean: weight.mean.unwrap_or(1.0), std: 0.1 },
        (InputRole::Probability | InputRole::Other, None) => {
            Draw::Normal { mean: weight.mean.unwrap_or(0.0), std: 1.0 }
        }
        (_, Some(std)) => Draw::Normal { mean: weight.mean.unwrap_or(0.0), std },
    }
}

fn integers(weight: &Weight) -> Draw {
    if let Some(data) = &weight.data {
        let data: Vec<i64> = data.iter().map(|&value| value as i64).collect();
        return structure::like(&weight.ty, &data).unwrap_or(Draw::Integers(data));
    }
    let is_mask = weight.ty.dtype == passhost_ir::Dtype::Bool
        || (weight.max == Some(1.0) && weight.min.is_some_and(|min| min == 0.0 || min == 1.0));
    match (weight.min, weight.max) {
        (Some(low), Some(high)) if !is_mask => Draw::Uniform { low: low as i64, high: high as i64 },
        _ => Draw::Mask,
    }
}

/// The published rules, but for non-finite entries, which cannot occur here.
fn published(weight: &Weight) -> Draw {
    if !weight.ty.dtype.is_float() {
        return match (weight.min, weight.max) {
            (Some(low), Some(high)) => Draw::Uniform { low: low as i64, high: high as i64 },
            _ => integers(weight),
        };
    }
    if let Some(data) = &weight.data {
        return Draw::Floats(data.clone());
    }
    let (mean, std) = (weight.mean.unwrap_or(0.0), weight.std.unwrap_or(0.1));
    if std == 0.0 { Draw::Floats(vec![mean]) } else { Draw::Normal { mean, std: 0.2 * std } }
}
