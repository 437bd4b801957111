//! Why a mutant computes what the original does, where that can be argued from the graph.

use crate::draft::Site;
use passhost_ir::{NodeKind, ValueId};

/// Ops whose results are never negative, nor NaN where their operands are not.
const NOT_NEGATIVE: [&str; 8] = ["relu", "exp", "sigmoid", "abs", "sqrt", "softmax", "_softmax", "relu6"];

/// The rule by which a mutant of a class at a place is equivalent, if there is one.
pub(crate) fn rule(site: &Site<'_>, class: &str) -> Option<&'static str> {
    let of_positives = || site.operand(0).and_then(|operand| made_by(site, operand));
    match (class, site.name().as_str()) {
        // A bound below that is not above zero changes nothing there.
        ("guard", "relu" | "abs") if of_positives().is_some_and(|op| NOT_NEGATIVE.contains(&op.as_str())) => {
            Some("a guard against negative numbers, of what has none")
        }
        // What was rounded to the type and comes back was never wider.
        ("precision", _) if site.ty().dtype.is_float() && is_rounded(site) => {
            Some("a value that the graph itself has rounded")
        }
        _ => None,
    }
}

/// The name of the op that makes a value.
fn made_by(site: &Site<'_>, value: ValueId) -> Option<String> {
    let node = site.graph.nodes.iter().find(|node| node.outputs.contains(&value))?;
    match &node.kind {
        NodeKind::Aten { op, .. } => Some(op.name.trim_start_matches("aten::").to_owned()),
        NodeKind::Kernel { .. } => None,
    }
}

/// Whether a value is converted from integers or bools, of which narrow floats have the small ones.
fn is_rounded(site: &Site<'_>) -> bool {
    let converts = matches!(site.name().as_str(), "to" | "_to_copy" | "type_as");
    converts && site.operand(0).is_some_and(|operand| site.graph.ty(operand).dtype == passhost_ir::Dtype::Bool)
}
