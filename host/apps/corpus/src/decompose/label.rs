//! What a piece is called by: the layer of the model that it lies in, and the ops that say most of it.

use super::class::class_of;
use super::steps::{Step, Steps};
use passhost_ir::ops::{Class, OpRow, Shows};
use passhost_ir::{NodeKind, parameter_name};
use std::ops::Range;

/// Ops that a name holds; views only where it has fewer than two others.
const OPS: usize = 3;
const OPS_WITH_VIEWS: usize = 2;
/// Characters of a layer.
const LAYER: usize = 40;
/// Parts of a layer that has no number.
const PARTS: usize = 3;
/// What views and constructors have.
const LAST_RANK: u8 = 5;

/// `layer.3.attention-softmax-dropout`.
pub(super) fn label(steps: &Steps<'_>, range: &Range<usize>) -> String {
    let ops = ops(steps, range);
    match layer(steps, range) {
        Some(layer) => format!("{layer}-{ops}"),
        None => ops,
    }
}

/// Where the model keeps the parameters that the calls read; for calls that read none, what the nearest parameters before
/// and behind have in common.
fn layer(steps: &Steps<'_>, range: &Range<usize>) -> Option<String> {
    let of = |step: &Step| -> Vec<Vec<String>> { step.reads.iter().filter_map(|&read| module(steps, read)).collect() };
    let own: Vec<Vec<String>> = steps.list[range.clone()].iter().flat_map(of).collect();
    let near = || {
        let before = steps.list[..range.start].iter().rev().find_map(|step| of(step).pop());
        let behind = steps.list[range.end..].iter().find_map(|step| of(step).into_iter().next());
        before.into_iter().chain(behind).collect()
    };
    let modules = if own.is_empty() { near() } else { own };
    let first = modules.first()?;
    let shared = (0..first.len()).take_while(|&part| modules.iter().all(|module| module.get(part) == first.get(part)));
    Some(shortened(match shared.count() {
        0 => first,
        parts => &first[..parts],
    }))
}

/// The path of the module that a tensor is a parameter of.
fn module(steps: &Steps<'_>, tensor: passhost_ir::ValueId) -> Option<Vec<String>> {
    let record = steps.record(steps.memory.base(tensor))?;
    let name = record.original_name.as_ref().unwrap_or(&record.name);
    let path = parameter_name(name);
    let (module, _) = path.rsplit_once('.').filter(|_| path != *name)?;
    Some(module.split('.').map(str::to_owned).collect())
}

/// From the list with a number on, without what says least where that is long.
fn shortened(path: &[String]) -> String {
    let number = path.iter().position(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let start = number.map_or(path.len().saturating_sub(PARTS), |number| number.saturating_sub(1));
    let mut names = (start..path.len()).map(|start| path[start..].join("."));
    names.find(|name| name.len() <= LAYER).or_else(|| path.last().cloned()).unwrap_or_default()
}

/// The names of the ops that say most, in their order.
fn ops(steps: &Steps<'_>, range: &Range<usize>) -> String {
    let mut ranked: Vec<(u8, usize, &str)> = vec![];
    let names: Vec<String> = steps.list[range.clone()].iter().map(|step| op(steps, step)).collect();
    for (position, (step, name)) in steps.list[range.clone()].iter().zip(&names).enumerate() {
        match ranked.iter_mut().find(|(.., known)| known == name) {
            Some((known, ..)) => *known = rank(steps, step).min(*known),
            None => ranked.push((rank(steps, step), position, name)),
        }
    }
    ranked.sort_unstable();
    let telling = ranked.iter().filter(|(rank, ..)| *rank < LAST_RANK).count();
    ranked.truncate(telling.clamp(OPS_WITH_VIEWS, OPS));
    ranked.sort_unstable_by_key(|(_, position, _)| *position);
    ranked.into_iter().map(|(.., name)| name).collect::<Vec<_>>().join("-")
}

/// The name of a call's op without where Python finds it.
fn op(steps: &Steps<'_>, step: &Step) -> String {
    let name = target(steps, step);
    name.rsplit('.').next().unwrap_or_default().trim_matches('_').to_owned()
}

fn target(steps: &Steps<'_>, step: &Step) -> String {
    steps.reading.program.nodes[step.position].target.op_name()
}

/// The less it is, the more a call says of a piece.
fn rank(steps: &Steps<'_>, step: &Step) -> u8 {
    let is_infix = target(steps, step).starts_with("operator.");
    let of = |node: usize| {
        let node = &steps.graph().nodes[node];
        let converts = matches!(&node.kind, NodeKind::Aten { op, .. }
            if OpRow::of(op).is_some_and(|row| row.shows == Some(Shows::Converted)));
        match class_of(steps.graph(), node) {
            Class::Library => 0,
            Class::Normalisation | Class::Reduction | Class::Scan | Class::Opaque => 1,
            Class::Gather | Class::Movement => 2,
            Class::Pointwise if is_infix || converts => 4,
            Class::Pointwise => 3,
            Class::View | Class::Constructor => LAST_RANK,
        }
    };
    step.nodes.clone().map(of).min().unwrap_or(LAST_RANK)
}
