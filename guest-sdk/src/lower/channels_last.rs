//! Images with their channels last between convolutions that stay calls of a GPU's library.
//!
//! Its kernels of half types take channels last, and those of large transposed convolutions of `f32`. Of row-major images it
//! makes such by kernels of its own: of the input and the weight before the convolution, and back of the result. Kernels of
//! ours read and write either layout, so that a conversion is saved wherever one of them, or another such convolution, stands
//! at either side.

use super::analysis::GraphAnalysis;
use super::contraction::convolution::of_images;
use super::fusion::FusionPlan;
use super::group::Group;
use super::moves::Move;
use super::rule::{Recipe, Rule};
use crate::args::Args;
use crate::indexing::pinned;
use crate::rewriter::{COPY, Rewriter, is_row_major_image};
use fixedbitset::FixedBitSet;
use passhost_ir::{DeviceFacts, DeviceKind, Dtype, Graph, Infer, Node, NodeId, NodeKind, TensorType, ValueId};
use std::collections::HashSet;

/// Channels that the library's kernels take at a time.
const CHANNELS_AT_A_TIME: i64 = 8;

/// Channels of `f32` from which on a transposed convolution rounds to TF32 in either layout: with fewer, and where it is not
/// transposed, channels last have other bits.
const FEWEST_OF_F32: i64 = 16;

/// Elements of a result of `f32` from which on conversions are most of what the library's convolution takes.
const SMALLEST_OF_F32: u64 = 1 << 24;

/// Elements of a weight up to which a copy of it takes less than the conversions that are saved.
const LARGEST_WEIGHT: u64 = 600_000;

/// `(input, weight, bias, stride, padding, dilation, groups)`; of a transposed one `(..., output_padding, groups, dilation)`.
const GROUPS: usize = 6;

/// Has convolutions that a plan leaves to a GPU's library take and give their images with channels last, together with the
/// ops between them, where that saves more conversions than it adds. Says how many nodes read such images then: if any do,
/// the plan is for another graph. What lies at the ends is copied, by ops that [`fuse`](super::fuse) makes part of kernels;
/// the host must allow these.
pub fn lay_channels_last(
    rewriter: &mut Rewriter,
    device: &DeviceFacts,
    (plan, groups): (&FusionPlan, &[Group]),
    host: &mut dyn Infer,
) -> usize {
    let graph = rewriter.graph();
    let fused: HashSet<NodeId> = plan.kernels.iter().flat_map(|fused| fused.lowered.nodes()).copied().collect();
    let stays = |node: &Node| gains(graph, node) && !fused.contains(&node.id);
    if device.kind != DeviceKind::Cuda || !graph.nodes.iter().any(stays) {
        return 0;
    }
    let [convolutions, others] = {
        let analysis = GraphAnalysis::of(graph, groups).on(device.kind);
        ImageChain::of(&analysis, stays).members()
    };
    if convolutions.is_clear() || !host.may_insert(&COPY.into()) {
        return 0;
    }
    rewriter.lay_channels_last([&convolutions, &others], host)
}

/// What a node is to the convolutions around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChainRole {
    /// A convolution of the library's that gains.
    Gains,
    /// It takes images in either layout, and gives them in that: element-wise ops, pools, products of single elements.
    Passes,
    /// It goes over images in an order of its own, to give such: norms.
    Norm,
    /// It makes something else of them, in a kernel.
    Ends,
    /// A call, or a view.
    Other,
}

struct ImageChain<'a> {
    analysis: &'a GraphAnalysis<'a>,
    roles: Vec<ChainRole>,
}

impl<'a> ImageChain<'a> {
    fn of(analysis: &'a GraphAnalysis<'a>, gains: impl Fn(&Node) -> bool) -> ImageChain<'a> {
        let pinned = pinned(analysis.graph);
        let role = |position: usize| match pinned[position] {
            Some(_) => ChainRole::Other,
            None if gains(analysis.node(position)) => ChainRole::Gains,
            None => role(analysis, position),
        };
        ImageChain { analysis, roles: (0..analysis.graph.nodes.len()).map(role).collect() }
    }

    /// The convolutions that gain, and what follows them; none where no more conversions are saved than added.
    fn members(&self) -> [FixedBitSet; 2] {
        let graph = self.analysis.graph;
        let mut members = self.reached();
        let normed = self.norms();
        let mut saved = 0;
        for position in (0..graph.nodes.len()).filter(|&position| self.roles[position] == ChainRole::Gains) {
            let result = graph.nodes[position].outputs[0];
            let is_plain = |side: &FixedBitSet, at: usize| self.roles[at] == ChainRole::Passes && !side.contains(at);
            let is_saved = |side: &FixedBitSet, at: usize| members.contains(at) || is_plain(side, at);
            let before = self.definitions(position).take(1).filter(|&at| is_saved(&normed[0], at)).count();
            let readers = self.analysis.links.uses.readers(result);
            let found = match graph.ty(result).dtype {
                // A norm of `f32` goes over images in rows many times as fast.
                Dtype::F32 => usize::from(!readers.is_empty() && readers.iter().all(|&at| is_plain(&normed[1], at))),
                _ => before + usize::from(readers.iter().any(|&at| is_saved(&normed[1], at))),
            };
            if found == 0 {
                members.set(position, false);
            }
            saved += found;
        }
        if saved <= self.copied(&members) {
            members.clear();
        }
        members.ones().partition(|&position| self.roles[position] == ChainRole::Gains).into()
    }

    /// Images that are needed in both layouts.
    fn copied(&self, members: &FixedBitSet) -> usize {
        let uses = &self.analysis.links.uses;
        let needs = |reader: &usize| !members.contains(*reader) && self.roles[*reader] == ChainRole::Other;
        let is_needed = |value: ValueId| {
            let readers = uses.readers(value);
            readers.iter().any(|&reader| members.contains(reader))
                && (uses.is_output(value) || readers.iter().any(needs))
        };
        members.ones().filter(|&position| is_needed(self.analysis.node(position).outputs[0])).count()
    }

    /// Convolutions that gain, and what reads their results and takes either layout.
    fn reached(&self) -> FixedBitSet {
        let mut reached = FixedBitSet::with_capacity(self.roles.len());
        for position in 0..self.roles.len() {
            let is_reached = match self.roles[position] {
                ChainRole::Gains => true,
                ChainRole::Passes => self.definitions(position).any(|at| reached.contains(at)),
                _ => false,
            };
            reached.set(position, is_reached);
        }
        reached
    }

    /// The nodes that give the images which a node reads.
    fn definitions(&self, position: usize) -> impl Iterator<Item = usize> + use<'_> {
        self.images(position).filter_map(|image| self.analysis.links.definitions[image.index()])
    }

    /// Nodes that may become part of a kernel with a norm before them, and of one with a norm behind.
    fn norms(&self) -> [FixedBitSet; 2] {
        let mut found = [(); 2].map(|()| FixedBitSet::with_capacity(self.roles.len()));
        let spreads =
            |role: ChainRole, is_known: bool| role == ChainRole::Norm || role == ChainRole::Passes && is_known;
        let has_product = |at: usize| matches!(self.analysis.recipe(at), Ok(Recipe::Contraction(_)));
        let pairs = |reader: usize| {
            self.definitions(reader)
                .map(move |at| (at, reader))
                .filter(|&(at, reader)| !has_product(at) && !has_product(reader))
        };
        for (before, reader) in (0..self.roles.len()).flat_map(pairs) {
            let is_known = found[0].contains(before);
            if spreads(self.roles[before], is_known) {
                found[0].insert(reader);
            }
        }
        for (before, reader) in (0..self.roles.len()).rev().flat_map(pairs) {
            let is_known = found[1].contains(reader);
            if spreads(self.roles[reader], is_known) {
                found[1].insert(before);
            }
        }
        found
    }

    /// The images that a node reads; of a convolution not its weight.
    fn images(&self, position: usize) -> impl Iterator<Item = ValueId> + use<'_> {
        let count = of_images(self.analysis.node(position)).map_or(usize::MAX, |_| 1);
        let operands = self.analysis.links.operands[position].iter().copied().take(count);
        operands.filter(|&operand| is_row_major_image(self.analysis.graph.ty(operand)))
    }
}

fn role(analysis: &GraphAnalysis<'_>, position: usize) -> ChainRole {
    let node = analysis.node(position);
    if analysis.is_view(position) || matches!(node.kind, NodeKind::Kernel { .. }) {
        return ChainRole::Other;
    }
    let gives_image = node.outputs.first().is_some_and(|&output| is_row_major_image(analysis.graph.ty(output)));
    match analysis.recipe(position) {
        Ok(Recipe::Contraction(_)) if gives_image && is_of_one_place(analysis.graph, node) => {
            analysis.tile(position).map_or(ChainRole::Other, |_| ChainRole::Passes)
        }
        Ok(Recipe::Contraction(_)) | Err(_) => ChainRole::Other,
        Ok(Recipe::Rule(Rule { footprint: Some(_), .. }, _)) => match analysis.footprint(position, 0) {
            Ok(Some(footprint)) if footprint.elementwise => ChainRole::Norm,
            Ok(Some(footprint)) if footprint.slides && gives_image => ChainRole::Passes,
            _ => ChainRole::Ends,
        },
        Ok(Recipe::Rule(..) | Recipe::Resample(_) | Recipe::Move(Move::Join { .. })) if gives_image => {
            ChainRole::Passes
        }
        Ok(_) => ChainRole::Ends,
    }
}

/// Whether the library has kernels for a convolution that take channels last, faster by what it need not convert.
fn gains(graph: &Graph, node: &Node) -> bool {
    let (Some(1), Some(input), Some(&result)) = (groups(node), Args::of(node).tensor(0), node.outputs.first()) else {
        return false;
    };
    let [input, result] = [input, result].map(|value| graph.ty(value));
    let (fewest, smallest) = match (input.dtype, of_images(node)) {
        (Dtype::F16 | Dtype::Bf16, Some(false)) => (CHANNELS_AT_A_TIME, 0),
        (Dtype::F32, Some(true)) if !is_padded_far(node) => (FEWEST_OF_F32, SMALLEST_OF_F32),
        _ => return false,
    };
    let fits =
        |ty: &TensorType| is_row_major_image(ty) && ty.shape[1] >= fewest && ty.shape[1] % CHANNELS_AT_A_TIME == 0;
    let weight = Args::of(node).tensor(1).map_or(u64::MAX, |weight| graph.ty(weight).numel());
    fits(input) && fits(result) && result.numel() >= smallest && weight <= LARGEST_WEIGHT
}

/// Whether a transposed convolution's result goes on by a stride or more: ATen leaves that to no library.
fn is_padded_far(node: &Node) -> bool {
    let [stride, further] = [3, 5].map(|place| Args::of(node).ints(place).unwrap_or_default());
    further.iter().max() >= stride.iter().min()
}

/// Whether a convolution's windows are single elements: with channels last it is a product of two matrices as they lie.
fn is_of_one_place(graph: &Graph, node: &Node) -> bool {
    let weight = Args::of(node).tensor(1).filter(|_| of_images(node) == Some(false) && groups(node) == Some(1));
    weight.is_some_and(|weight| graph.ty(weight).shape[2..] == [1, 1])
}

/// The groups of a convolution of images.
fn groups(node: &Node) -> Option<i64> {
    Args::of(node).int(GROUPS).filter(|_| of_images(node).is_some())
}
