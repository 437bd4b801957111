//! Why a mutant computes what the original does, where that can be argued from the graph.

use crate::draft::Site;
use passhost_ir::verify::index_argument;
use passhost_ir::{Arg, Dtype, Graph, Node, NodeKind, ValueId};
use std::collections::BTreeMap;

/// The largest integer of 16 bits.
const SMALL: i64 = i16::MAX as i64;

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
        ("term" | "eps", name) if site.args().get(1).is_some_and(|by| changes_nothing(name, by)) => {
            Some("a term of 0, or a factor of 1")
        }
        ("integers narrowed", _) if is_small(site.graph, site.value) => {
            Some("integers that bools, positions or the rows of a table bound to 16 bits")
        }
        _ => None,
    }
}

/// Whether an op leaves a value as it is that is calculated with this number.
fn changes_nothing(name: &str, by: &Arg) -> bool {
    let number = match by {
        Arg::Int(number) => *number as f64,
        Arg::Float(number) => *number,
        _ => return false,
    };
    match name {
        "add" | "sub" => number == 0.0,
        "mul" | "div" | "pow" => number == 1.0,
        _ => false,
    }
}

/// Whether all integers of a value lie within 16 bits, whatever the inputs are. One pass over the nodes in their order: a value
/// that is used many times is looked at once.
fn is_small(graph: &Graph, value: ValueId) -> bool {
    let mut bounds = indices(graph);
    for node in &graph.nodes {
        if let (Some(bound), [output]) = (largest(graph, node, &bounds), node.outputs.as_slice()) {
            let least = bounds.entry(*output).or_insert(bound);
            *least = bound.min(*least);
        }
    }
    bound_of(graph, value, &bounds).is_some_and(|bound| bound <= SMALL)
}

/// What no integer of values that become indices exceeds in magnitude: where one does, eager refuses the inputs.
fn indices(graph: &Graph) -> BTreeMap<ValueId, i64> {
    let mut bounds: BTreeMap<ValueId, i64> = BTreeMap::new();
    for node in graph.nodes.iter().rev() {
        let NodeKind::Aten { op, args } = &node.kind else { continue };
        let mut found = vec![];
        if let Some(index) = index_argument(op).and_then(|position| args.get(position)) {
            let table = args.first().and_then(Arg::as_value).map(|&table| graph.ty(table));
            let most = table.and_then(|table| table.shape.iter().max().copied());
            found.extend(index.values().filter_map(|&index| Some((index, most?))));
        }
        let moved = match (op.name.trim_start_matches("aten::"), args.get(1)) {
            ("view", _) if op.overload == "dtype" => None,
            ("view" | "reshape" | "expand" | "unsqueeze" | "squeeze" | "transpose" | "permute" | "contiguous", _)
            | ("clone" | "neg", _) => Some(0),
            ("add" | "sub", Some(Arg::Int(by))) if is_plain(args) => by.checked_abs(),
            _ => None,
        };
        if let (Some(moved), [output], Some(Arg::Value(operand))) = (moved, node.outputs.as_slice(), args.first()) {
            found.extend(bounds.get(output).and_then(|bound| Some((*operand, bound.checked_add(moved)?))));
        }
        for (value, bound) in found {
            let least = bounds.entry(value).or_insert(bound);
            *least = bound.min(*least);
        }
    }
    bounds
}

/// What no integer of a value exceeds in magnitude. Of bytes it follows from the type, to which negative numbers wrap around.
fn bound_of(graph: &Graph, value: ValueId, bounds: &BTreeMap<ValueId, i64>) -> Option<i64> {
    match graph.ty(value).dtype {
        Dtype::Bool => Some(1),
        Dtype::U8 => Some(u8::MAX.into()),
        _ => bounds.get(&value).copied(),
    }
}

/// What no integer of a node's result exceeds in magnitude: counts of bools, positions, and what is calculated of them.
fn largest(graph: &Graph, node: &Node, bounds: &BTreeMap<ValueId, i64>) -> Option<i64> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let of = |position: usize| match args.get(position)? {
        Arg::Int(number) => number.checked_abs(),
        Arg::Value(operand) => bound_of(graph, *operand, bounds),
        _ => None,
    };
    let of_all =
        || node.operands().iter().try_fold(0, |most, &operand| Some(most.max(bound_of(graph, operand, bounds)?)));
    match op.name.trim_start_matches("aten::") {
        "view" if op.overload == "dtype" => None,
        "to" | "_to_copy" | "clone" | "view" | "reshape" | "expand" | "unsqueeze" | "squeeze" | "slice"
        | "transpose" | "permute" | "contiguous" | "neg" | "abs" | "cat" | "stack" => of_all(),
        "where" => Some(of(1)?.max(of(2)?)),
        "minimum" | "maximum" => Some(of(0)?.max(of(1)?)),
        "add" | "sub" | "rsub" if is_plain(args) => of(0)?.checked_add(of(1)?),
        "mul" => of(0)?.checked_mul(of(1)?),
        "floor_divide" => of(0)?.checked_add(1),
        "remainder" => of(1),
        "clamp" => Some(of(1)?.max(of(2)?)),
        "cumsum" | "sum" => i64::try_from(graph.ty(*node.operands().first()?).numel()).ok()?.checked_mul(of(0)?),
        "arange" => args.iter().try_fold(0, |most: i64, arg| match arg {
            Arg::Int(number) => Some(most.max(number.checked_abs()?)),
            Arg::Float(_) | Arg::Value(_) => None,
            _ => Some(most),
        }),
        _ => None,
    }
}

/// Whether a sum has no factor of its own.
fn is_plain(args: &[Arg]) -> bool {
    args.get(2).is_none_or(|alpha| matches!(alpha, Arg::Int(1)))
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
    converts && site.operand(0).is_some_and(|operand| site.graph.ty(operand).dtype == Dtype::Bool)
}
