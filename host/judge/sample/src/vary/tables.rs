//! Indices into tables: where a table becomes smaller, so do the recorded numbers that say which of its rows are taken.

use crate::reading::Reading;
use crate::translate::InputSource;
use passhost_ir::dims::wrap;
use passhost_ir::ops::Counts;
use passhost_ir::{Arg, Dtype, Graph, NodeKind, OpName, OpRow, ValueId};
use std::collections::HashMap;

/// Lowers the records of indices into what became smaller, where they were within it before. Those that the graph is
/// built on stay.
pub fn follow(before: &Reading, now: &mut Reading) {
    let (was, is) = (rows(before), rows(now));
    let fixed = &now.translation.fixed;
    let names = now.program.parameters.iter().enumerate();
    let drawn: HashMap<&str, usize> = names.map(|(position, parameter)| (parameter.name.as_str(), position)).collect();
    for weight in &mut now.weights {
        let Some(position) = drawn.get(weight.name.as_str()).filter(|position| !fixed.contains(position)) else {
            continue;
        };
        let (Some(&was), Some(&is)) = (was.get(position), is.get(position)) else { continue };
        let (was, is) = (was as f64, is as f64);
        // A table without rows has no number that says which.
        if is < 1.0 || is >= was || !weight.ty.dtype.is_integer() || weight.ty.dtype == Dtype::Bool {
            continue;
        }
        let inside = |element: f64| if (-was..was).contains(&element) { element.clamp(-is, is - 1.0) } else { element };
        weight.min = weight.min.map(inside);
        weight.max = weight.max.map(inside);
        weight.data.iter_mut().flatten().for_each(|element| *element = inside(*element));
    }
}

/// Of each parameter that says which rows are taken, by its position, how many there are of what it takes the fewest of.
fn rows(reading: &Reading) -> HashMap<usize, i64> {
    let Reading { translation, .. } = reading;
    let graph = &translation.graph;
    let parameter = |source: &InputSource| match source {
        InputSource::Parameter(position) => Some(*position),
        InputSource::Random(_) => None,
    };
    let sources = graph.inputs.iter().zip(&translation.inputs);
    let mut origin: HashMap<ValueId, usize> =
        sources.filter_map(|(&input, source)| Some((input, parameter(source)?))).collect();
    let mut rows = HashMap::new();
    for node in &graph.nodes {
        let NodeKind::Aten { op, args } = &node.kind else { continue };
        for (index, count) in taken(graph, op, args) {
            if let Some(&position) = origin.get(&index) {
                rows.entry(position).and_modify(|least: &mut i64| *least = count.min(*least)).or_insert(count);
            }
        }
        let first = args.first().and_then(|arg| arg.values().next());
        if let Some(&position) = first.and_then(|value| origin.get(value)).filter(|_| keeps_numbers(op)) {
            origin.extend(node.outputs.iter().map(|&output| (output, position)));
        }
    }
    rows
}

/// Whether an op gives the numbers that it is given.
fn keeps_numbers(op: &OpName) -> bool {
    OpRow::of(op).is_some_and(|row| row.shows.is_some())
}

/// The tensors that say which elements a call takes, or where it puts them, each with the number of those that there are.
fn taken(graph: &Graph, op: &OpName, args: &[Arg]) -> Vec<(ValueId, i64)> {
    let index = OpRow::of(op).and_then(|row| row.index);
    let (Some(Arg::Value(table)), Some((position, counts))) = (args.first(), index) else { return vec![] };
    let shape = &graph.ty(*table).shape;
    let extent = |dim: i64| wrap(dim, shape.len()).map(|dim| shape[dim]);
    let dim = |at: usize| args.get(at).and_then(|arg| if let Arg::Int(dim) = arg { Some(*dim) } else { None });
    match args.get(position) {
        Some(Arg::Value(index)) => {
            let count = match counts {
                Counts::Rows => extent(0),
                Counts::All => i64::try_from(graph.ty(*table).numel()).ok(),
                Counts::Dim1 => dim(1).and_then(extent),
                Counts::Dim2 => dim(2).and_then(extent),
                Counts::Classes => extent(i64::from(shape.len() > 1)),
                Counts::Each | Counts::Nothing => None,
            };
            count.map(|count| (*index, count)).into_iter().collect()
        }
        Some(Arg::OptionalValues(indices)) => {
            let mut at = 0;
            let mut found = vec![];
            for index in indices {
                let mask = index.filter(|&index| graph.ty(index).dtype == Dtype::Bool);
                found.extend(index.filter(|_| mask.is_none()).zip(extent(at)));
                at += mask.map_or(1, |mask| graph.ty(mask).shape.len() as i64);
            }
            found
        }
        _ => vec![],
    }
}
