//! From regions to the kernels of a graph, and the reasons for all that has none.

use super::refusal;
use super::search::{FusionSearch, written};
use crate::indexing::{index_reached, indices};
use crate::lower::LowerError;
use crate::lower::analysis::GraphAnalysis;
use crate::lower::constants::LONGEST_REWRITE;
use crate::lower::contraction::Contraction;
use crate::lower::cost::Model;
use crate::lower::group::Group;
use crate::lower::library::Calls;
use crate::lower::region::Lowered;
use crate::lower::work::WorkEstimate;
use crate::rewriter::NodeRefusal;
use fixedbitset::FixedBitSet;
use passhost_ir::{DeviceFacts, Graph, NodeKind};

/// What [`fuse`] makes of a graph.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FusionPlan {
    /// The kernels, for [`Rewriter::replace_all`](crate::Rewriter::replace_all).
    pub kernels: Vec<Fused>,
    /// The nodes that have none, and the pairs of regions that did not join, by reason.
    pub refusals: Vec<NodeRefusal>,
    /// Nanoseconds that eager is estimated to take.
    pub eager: f64,
    /// Nanoseconds that the graph with these kernels is estimated to take.
    pub rewritten: f64,
    /// No kernel is estimated to save anything. This one is there because a graph without any counts as untouched.
    pub is_forced: bool,
}

/// A kernel of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// The kernel.
    pub lowered: Lowered,
    /// Nanoseconds that it is estimated to take.
    pub kernel: f64,
    /// Nanoseconds that ATen is estimated to take for its nodes.
    pub calls: f64,
}

/// Chooses the kernels of a graph by what they are estimated to take on a device, among those that the rules of some groups
/// give. Of matrix products those with a vector are taken, and on a GPU those of few terms and those that take less time in
/// tiles than in a library.
pub fn fuse(graph: &Graph, device: &DeviceFacts, groups: &[Group]) -> FusionPlan {
    let analysis = GraphAnalysis::of(graph, groups).on(device.kind);
    let model = Model::of(device);
    // Ops that take indices and lower are taken to become part of kernels. If one does not, it keeps its indices.
    let (plan, members) = planned(&analysis, &model, |position| analysis.recipe(position).is_ok());
    if !graph.nodes.iter().any(|node| indices(node).is_some()) {
        return plan;
    }
    match index_reached(graph, &members, &analysis.links.reached(&members)) {
        Some(_) => planned(&analysis, &model, |_| false).0,
        None => plan,
    }
}

/// A plan in which every op with indices that does not become part of a kernel keeps them, and the positions of the nodes
/// in its kernels.
fn planned(
    analysis: &GraphAnalysis<'_>,
    model: &Model,
    becomes_kernel: impl Fn(usize) -> bool,
) -> (FusionPlan, FixedBitSet) {
    let calls = Calls::of(analysis, model);
    let wanted =
        if model.constants.few_terms { Contraction::is_of_vectors_or_few_terms } else { Contraction::is_of_vectors };
    let refused = refusal::refused(analysis, becomes_kernel, wanted);
    let mut search = FusionSearch::run(analysis, model, &calls, &refused);
    let mut draft = PlanDraft { analysis, model, calls: &calls, kernels: vec![], left: vec![], unwritten: vec![] };
    for (members, kernel) in search.take_regions() {
        draft.settle(&members, kernel);
    }
    let (mut plan, members) = draft.choose();
    plan.report(analysis, &search, refused);
    (plan, members)
}

/// A plan that is being made.
struct PlanDraft<'a> {
    analysis: &'a GraphAnalysis<'a>,
    model: &'a Model,
    calls: &'a Calls,
    /// Kernels that save time, and the nodes that they are for.
    kernels: Vec<(Fused, FixedBitSet)>,
    /// Kernels that save none.
    left: Vec<(Fused, FixedBitSet)>,
    /// Products by themselves that are estimated to take longer in tiles before their kernel is written.
    unwritten: Vec<(FixedBitSet, [f64; 2])>,
}

impl PlanDraft<'_> {
    /// Makes a kernel of a region, or several where one would break a limit or rule.
    fn settle(&mut self, members: &FixedBitSet, kernel: Option<(Lowered, WorkEstimate)>) {
        let single = members.minimum().filter(|_| members.count_ones(..) == 1);
        if let Some(position) = single.filter(|&position| self.analysis.tile(position).is_some()) {
            let work = self.calls.works[position].as_kernel(self.analysis, &self.model.constants, position);
            let times = [self.model.kernel(&work), self.calls.kept[position]];
            if times[0] >= self.model.most_alone(&work, times[1]) {
                return self.unwritten.push((members.clone(), times));
            }
        }
        let kernel = match kernel {
            Some(kernel) => Ok(kernel),
            None => written(self.analysis, self.model, members).map(|(lowered, work, _)| (lowered, work)),
        };
        let (lowered, work) = match kernel {
            Ok(kernel) => kernel,
            // Members stand in graph order, so that either half is a region that no path leaves and comes back to.
            Err(_) if members.count_ones(..) >= 2 => {
                let half = members.count_ones(..) / 2;
                let (first, second) = (members.ones().take(half).collect(), members.ones().skip(half).collect());
                self.settle(&first, None);
                return self.settle(&second, None);
            }
            Err(_) => return,
        };
        let covered = lowered.covered.len() as f64 * self.model.view();
        let calls = members.ones().map(|member| self.calls.kept[member]).sum::<f64>() + covered;
        let write_back = self.calls.write_back(|position| members.contains(position));
        let fused = Fused { kernel: self.model.kernel(&work) + write_back, lowered, calls };
        let share = if single.is_some() { self.model.constants.alone } else { 1.0 };
        let is_faster = fused.kernel < fused.calls * share;
        let list = if is_faster { &mut self.kernels } else { &mut self.left };
        list.push((fused, members.clone()));
    }

    /// The kernels that save time; or the one that costs least, where that leaves the graph's time about as it is; or none
    /// where the rewrite would take longer than eager.
    fn choose(mut self) -> (FusionPlan, FixedBitSet) {
        let wait = self.model.wait();
        let [eager, kept] = [&self.calls.eager, &self.calls.kept].map(|times| wait + times.iter().sum::<f64>());
        let mut plan = FusionPlan { eager, rewritten: kept, ..FusionPlan::default() };
        if self.kernels.is_empty() {
            let lost = |(fused, _): &(Fused, FixedBitSet)| fused.kernel - fused.calls;
            let least = (0..self.left.len()).min_by(|&a, &b| lost(&self.left[a]).total_cmp(&lost(&self.left[b])));
            if let Some(least) = least {
                self.kernels.push(self.left.swap_remove(least));
                plan.is_forced = true;
            }
        }
        plan.rewritten += self.kernels.iter().map(|(fused, _)| fused.kernel - fused.calls).sum::<f64>();
        if plan.rewritten > eager * LONGEST_REWRITE {
            self.left.append(&mut self.kernels);
            plan.is_forced = false;
            plan.refuse_all(self.analysis);
        }
        let left = self.left.into_iter().map(|(fused, members)| (members, [fused.kernel, fused.calls]));
        for (members, [kernel, calls]) in left.chain(self.unwritten) {
            let nodes = members.ones().map(|member| self.analysis.node(member).id).collect();
            let reason = format!("one kernel is estimated at {:.1} us, ATen at {:.1} us", kernel / 1e3, calls / 1e3);
            plan.refusals.push(NodeRefusal { nodes, reason });
        }
        let mut chosen = FixedBitSet::with_capacity(self.analysis.graph.nodes.len());
        for (fused, members) in self.kernels {
            plan.kernels.push(fused);
            chosen.union_with(&members);
        }
        (plan, chosen)
    }
}

impl FusionPlan {
    fn refuse_all(&mut self, analysis: &GraphAnalysis<'_>) {
        let reason = format!(
            "the graph stays unchanged, all of it left to ATen: the rewrite is estimated at {:.1} us, eager at {:.1} us",
            self.rewritten / 1e3,
            self.eager / 1e3
        );
        let nodes = analysis.graph.nodes.iter().map(|node| node.id).collect();
        self.refusals.push(NodeRefusal { nodes, reason });
        self.rewritten = self.eager;
    }

    /// Adds why nodes lower to no kernel, and why regions did not join.
    fn report(&mut self, analysis: &GraphAnalysis<'_>, search: &FusionSearch<'_>, refused: Vec<Option<LowerError>>) {
        let is_call = |position: usize| {
            !analysis.is_view(position) && matches!(analysis.node(position).kind, NodeKind::Aten { .. })
        };
        let alone =
            refused.into_iter().enumerate().filter_map(|(position, error)| Some((position, error?.to_string())));
        let alone = alone.filter(|(position, _)| is_call(*position));
        let apart = search
            .obstacles()
            .flat_map(|(nodes, obstacle)| nodes.map(|position| (position, format!("not one kernel: {obstacle}"))));
        self.refusals.extend(refusal::by_reason(analysis, alone.chain(apart)));
    }
}
