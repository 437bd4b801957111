//! Which nodes to fuse, for a pass that takes every region of two ops or more: [`fuse`](super::fuse) also decides what is
//! worth a kernel.
//!
//! A region with a single op is left to ATen: a kernel of ours would read and write what ATen's does.

use super::analysis::GraphAnalysis;
use super::contraction::Contraction;
use super::cost::Model;
use super::fusion::{FusionSearch, refusal};
use super::group::Group;
use super::library::Calls;
use crate::rewriter::NodeRefusal;
use passhost_ir::{DeviceFacts, DeviceKind, Graph, NodeId, NodeKind};
use std::collections::BTreeMap;

/// The device that regions are made for: a large GPU.
const NOMINAL: DeviceFacts = DeviceFacts {
    kind: DeviceKind::Cuda,
    multiprocessors: 132,
    l2_bytes: 50 << 20,
    bandwidth: 4_800_000_000_000,
    launch_ns: 2_000,
};

/// What [`partition`] found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Partition {
    /// Sets of nodes for [`region`](super::region), in graph order, two or more nodes each.
    pub regions: Vec<Vec<NodeId>>,
    /// The other nodes that are no views, by reason.
    pub refusals: Vec<NodeRefusal>,
}

/// Divides what lowers by the rules of some groups into regions. Of matrix products and convolutions only the
/// [small](super::is_small_contraction) ones are taken.
pub fn partition(graph: &Graph, groups: &[Group]) -> Partition {
    let analysis = GraphAnalysis::of(graph, groups);
    let refused = refusal::refused(&analysis, |_| false, Contraction::is_small);
    let model = Model::of(&NOMINAL);
    let calls = Calls::of(&analysis, &model);
    let mut search = FusionSearch::run(&analysis, &model, &calls, &refused);
    let taken = search.take_regions();
    let mut obstacles: BTreeMap<usize, &str> = BTreeMap::new();
    for ([_, reader], obstacle) in search.obstacles() {
        obstacles.entry(reader).or_insert(obstacle);
    }
    let alone_of = |position: usize| (position, alone(&analysis, position, obstacles.get(&position).copied()));
    let (mut regions, mut alone) = (BTreeMap::new(), vec![]);
    // In the order of their first nodes.
    for (members, _) in taken {
        match &members.ones().collect::<Vec<_>>()[..] {
            &[position] => alone.push(alone_of(position)),
            positions @ [first, ..] => {
                regions.insert(*first, positions.iter().map(|&member| analysis.node(member).id).collect());
            }
            [] => {}
        }
    }
    let kernels = |position: &usize| matches!(analysis.node(*position).kind, NodeKind::Kernel { .. });
    let others = refused.into_iter().enumerate().filter_map(|(position, reason)| {
        (!analysis.is_view(position) && !kernels(&position)).then_some((position, reason?.to_string()))
    });
    let refusals = refusal::by_reason(&analysis, alone.into_iter().chain(others));
    Partition { regions: regions.into_values().collect(), refusals }
}

/// Why a node is the only one in its region.
fn alone(analysis: &GraphAnalysis<'_>, position: usize, obstacle: Option<&str>) -> String {
    let what = if analysis.is_reduction(position) { "reduction" } else { "pointwise op" };
    match obstacle {
        None => format!("a {what} with no other to fuse with is left to ATen"),
        Some(obstacle) => format!("a {what} is left to ATen; with what it reads: {obstacle}"),
    }
}
