//! What nodes read, themselves or through views.

use crate::args::Args;
use crate::index::Index;
use crate::lower::analysis::GraphAnalysis;
use crate::lower::moves::Move;
use crate::lower::rule::{Recipe, Rule};
use crate::view::View;
use passhost_ir::{Node, ValueId};
use std::collections::BTreeSet;

/// A tensor that a node reads, traced back through views.
#[derive(Clone, Copy)]
pub(super) struct TensorRead {
    /// The tensor.
    pub(super) source: ValueId,
    /// The node reads it in its own arrangement, or reduces all of it.
    pub(super) is_whole: bool,
}

/// For each node the nodes whose results it reads, itself or through views. Views read nothing and nothing reads them.
pub(super) fn dependencies(analysis: &GraphAnalysis<'_>) -> Vec<BTreeSet<usize>> {
    let of = |position: usize| {
        let mut read = BTreeSet::new();
        if !analysis.is_view(position) {
            let sources = analysis.links.operands[position].iter().map(|&operand| analysis.root(operand).source);
            read.extend(sources.filter_map(|source| analysis.links.definitions[source.index()]));
        }
        read
    };
    (0..analysis.graph.nodes.len()).map(of).collect()
}

/// Whether a reduction goes over a tensor next, as it is or behind ops that have as many elements.
pub(super) fn is_reduced_next(analysis: &GraphAnalysis<'_>, value: ValueId) -> bool {
    let graph = analysis.graph;
    let size = graph.ty(value).numel();
    let (mut open, mut seen) = (vec![value], BTreeSet::from([value]));
    while let Some(value) = open.pop() {
        for &reader in analysis.links.uses.readers(value) {
            if matches!(analysis.recipe(reader), Ok(Recipe::Contraction(_))) {
                continue;
            }
            if matches!(analysis.footprint(reader, 0), Ok(Some(footprint)) if !footprint.is_listed()) {
                return true;
            }
            let results = analysis.node(reader).outputs.iter().copied();
            open.extend(results.filter(|&result| graph.ty(result).numel() == size && seen.insert(result)));
        }
    }
    false
}

/// What a node reads.
pub(super) fn reads_of(analysis: &GraphAnalysis<'_>, position: usize, recipe: &Recipe) -> Vec<TensorRead> {
    let (graph, node) = (analysis.graph, analysis.node(position));
    let of_view = |view: &View| read(analysis, node, view.source, &view.coordinates);
    match recipe {
        Recipe::Move(step) => {
            let indices = step.indices().into_iter().map(|index| scattered(analysis, index));
            step.views().into_iter().map(of_view).chain(indices).collect()
        }
        Recipe::Resample(resample) => vec![scattered(analysis, resample.source)],
        // Its factors are read once for each product, which is no place to calculate them; those of matrices in tiles once
        // for each tile.
        Recipe::Contraction(contraction) => {
            if contraction.convolves || analysis.tile(position).is_none() {
                return vec![];
            }
            let is_cheap = |read: &TensorRead| {
                let position = analysis.links.definitions[read.source.index()];
                let recipe = position.and_then(|position| analysis.recipe(position).ok());
                matches!(recipe, Some(Recipe::Rule(Rule { costly: false, .. }, _) | Recipe::Move(Move::Map(_))))
            };
            contraction.factors.iter().map(|factor| scattered(analysis, factor.tensor)).filter(is_cheap).collect()
        }
        Recipe::Rule(rule, _) => {
            let reduces = matches!(analysis.footprint(position, 0), Ok(Some(footprint)) if !footprint.elementwise);
            let folds = if reduces { rule.folds } else { 0 };
            let reduced = Args::of(node).single_tensors().take(folds).map(|(_, operand)| {
                let source = analysis.root(operand).source;
                TensorRead { source, is_whole: graph.ty(source).numel() == graph.ty(operand).numel() }
            });
            let beside = analysis.readings(position, 0).iter();
            let beside = beside.filter(|reading| reading.place >= folds);
            reduced.chain(beside.map(|reading| read(analysis, node, reading.operand, &reading.coordinates))).collect()
        }
    }
}

/// An operand that a node reads in an arrangement of its own.
fn scattered(analysis: &GraphAnalysis<'_>, operand: ValueId) -> TensorRead {
    TensorRead { source: analysis.root(operand).source, is_whole: false }
}

/// How a node reads an operand at these coordinates over its result's dimensions.
fn read(analysis: &GraphAnalysis<'_>, node: &Node, operand: ValueId, coordinates: &[Index]) -> TensorRead {
    let graph = analysis.graph;
    let root = analysis.root(operand);
    let shape = &graph.ty(root.source).shape;
    let is_same_shape = *shape == graph.ty(node.outputs[0]).shape;
    TensorRead { is_whole: is_same_shape && root.at(coordinates) == Index::axes(shape), source: root.source }
}
