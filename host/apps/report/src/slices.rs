//! Scores of several entrants by what graphs have in common.

use crate::entry::{EntrantResults, GraphItem};
use crate::part::PartScores;
use crate::summary::{grouped, order_of_size, size_class};
use passhost_ir::{Graph, NodeKind};
use std::collections::BTreeSet;

/// Scores by one property of graphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakdown {
    /// The property: `sample`, `list`, `element type`, `size`, `op`.
    pub by: &'static str,
    /// One a value of it.
    pub rows: Vec<BreakdownRow>,
}

/// Graphs with something in common.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakdownRow {
    /// What; an op's or a list's name is text of the sample's.
    pub name: String,
    /// How many graphs.
    pub graphs: usize,
    /// What each entrant scores on them.
    pub parts: Vec<PartScores>,
}

/// A graph that was tried with all entrants: an item of each.
pub(crate) type SharedRow<'i, 'a> = Vec<&'i GraphItem<'a>>;

/// Scores by sample, list, element type, size and op; without those that documents say nothing of.
pub(crate) fn breakdowns(entries: &[EntrantResults<'_>], rows: &[SharedRow<'_, '_>]) -> Vec<Breakdown> {
    let lists = |row: &SharedRow<'_, '_>| row[0].document.job.groups.clone();
    let element_type = |row: &SharedRow<'_, '_>| row[0].variant.element_type.clone().into_iter().collect();
    let size = |row: &SharedRow<'_, '_>| match row[0].variant.bytes {
        None => vec![],
        bytes => vec![size_class(bytes).to_owned()],
    };
    let ops = |row: &SharedRow<'_, '_>| ops(row.iter().copied()).unwrap_or_default().into_iter().collect();
    let sample = |row: &SharedRow<'_, '_>| vec![row[0].document.job.sample.clone()];
    let mut breakdowns = vec![
        breakdown("sample", entries, rows, &sample),
        breakdown("list", entries, rows, &lists),
        breakdown("element type", entries, rows, &element_type),
        breakdown("size", entries, rows, &size),
        breakdown("op", entries, rows, &ops),
    ];
    breakdowns[3].rows.sort_by_key(|row| order_of_size(&row.name));
    breakdowns[4].rows.sort_by(|one, two| two.graphs.cmp(&one.graphs).then_with(|| one.name.cmp(&two.name)));
    breakdowns.retain(|breakdown| !breakdown.rows.is_empty());
    breakdowns
}

/// The ops that a graph calls; `None` where no document has its text.
fn ops<'i, 'a: 'i>(items: impl Iterator<Item = &'i GraphItem<'a>>) -> Option<BTreeSet<String>> {
    let graphs = |item: &GraphItem<'a>| item.variant.rewrite.as_ref()?.graphs.as_ref();
    let text = items.filter_map(graphs).map(|graphs| graphs.before.as_str()).next()?;
    let name = |node: &passhost_ir::Node| match &node.kind {
        NodeKind::Aten { op, .. } => Some(op.to_string()),
        NodeKind::Kernel { .. } => None,
    };
    Graph::parse(text).ok().map(|graph| graph.nodes.iter().filter_map(name).collect())
}

fn breakdown(
    by: &'static str,
    entries: &[EntrantResults<'_>],
    rows: &[SharedRow<'_, '_>],
    names: &dyn Fn(&SharedRow<'_, '_>) -> Vec<String>,
) -> Breakdown {
    let part = |at: usize, rows: &[&SharedRow<'_, '_>]| {
        PartScores::of(&rows.iter().map(|row| row[at]).collect::<Vec<_>>(), entries[at].scoring)
    };
    let row = |(name, rows): (String, Vec<&SharedRow<'_, '_>>)| BreakdownRow {
        name,
        graphs: rows.len(),
        parts: (0..entries.len()).map(|at| part(at, &rows)).collect(),
    };
    Breakdown { by, rows: grouped(rows, names).into_iter().map(row).collect() }
}
