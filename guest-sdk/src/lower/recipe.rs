//! What the lowering makes of a node.

use super::LowerError;
use super::call::Uncovered;
use super::group::Group;
use super::node_call::NodeCall;
use super::rule::{Align, How, Recipe, Rule, meant};
use crate::index::Index;
use crate::view;
use passhost_ir::{Arg, Graph, Node, NodeKind, ValueId, numel};

/// Of a node, by the rules of some groups; an error names the op and why there is none.
pub(super) fn recipe(graph: &Graph, node: &Node, groups: &[Group]) -> Result<Recipe, LowerError> {
    let NodeKind::Aten { op, args } = &node.kind else {
        return Err(LowerError::NoLowering("a kernel".to_owned()));
    };
    let call = NodeCall::of(graph, node, 0);
    // Some calls need no lowering.
    let is_view = || node.outputs.first().is_some_and(|&output| view::step(graph, node, output).is_some());
    let name = meant(&op.name);
    let mut rules = groups.iter().flat_map(|group| group.rules(name, &op.overload));
    let rule = rules.find(|rule| (rule.applies)(call.args)).filter(|_| !is_view());
    let rule = rule.ok_or_else(|| LowerError::NoLowering(op.to_string()))?;
    let not_covered = |reason: String| LowerError::NotCovered(op.to_string(), reason);
    let found = found(&call, rule).map_err(not_covered)?;
    let tensors = args.iter().flat_map(Arg::values).chain(&node.outputs);
    let complex = tensors.map(|&id| graph.ty(id).dtype).find(|dtype| dtype.is_complex());
    match complex {
        Some(complex) => Err(not_covered(format!("works on {complex}, which kernels do not calculate in"))),
        None => Ok(found),
    }
}

fn found(call: &NodeCall<'_>, rule: &'static Rule) -> Result<Recipe, Uncovered> {
    if rule.footprint.is_none() && call.node.outputs.len() != 1 {
        return Err("has several results".to_owned());
    }
    match rule.how {
        How::Emits(emit) => {
            if let Align::At(reads) = rule.align {
                reads(call)?;
            }
            Ok(Recipe::Rule(rule, emit))
        }
        How::Found(find) => find(call),
        How::Multiplies(find) => {
            let contraction = find(call)?;
            let mut dtypes = contraction.factors.iter().map(|factor| call.graph.ty(factor.tensor).dtype);
            match dtypes.find(|dtype| !dtype.is_float()) {
                Some(dtype) => Err(format!("multiplies {dtype}; floats are covered")),
                None => Ok(Recipe::Contraction(contraction)),
            }
        }
    }
}

/// Whether a node is a matrix product or convolution that a kernel does about as fast as a library: its result depends on
/// few products for each element that is read and written, and one side of the product is short, as in a depthwise
/// convolution or a product with a vector.
///
/// [`region`](super::region) lowers every such op, large ones too.
pub fn is_small_contraction(graph: &Graph, node: &Node) -> bool {
    let recipe = recipe(graph, node, &[Group::PRODUCTS]);
    matches!(recipe, Ok(Recipe::Contraction(contraction)) if contraction.is_small(graph))
}

/// An element that a rule reads for each element of a result.
pub(super) struct RuleReading {
    /// Which operand of the rule it is.
    pub(super) place: usize,
    /// The tensor.
    pub(super) operand: ValueId,
    /// Where it lies in the tensor, over the dimensions of the result.
    pub(super) coordinates: Vec<Index>,
}

/// What a rule reads for each element of a result. Operands whose shapes do not fit are left out.
pub(super) fn readings(call: &NodeCall<'_>, rule: &Rule) -> Vec<RuleReading> {
    let Ok(result) = call.result() else { return vec![] };
    if let Align::At(reads) = rule.align {
        let reads = reads(call).unwrap_or_default().into_iter().enumerate();
        let of_argument = |(place, (argument, coordinates)): (usize, (usize, Vec<Index>))| {
            Some(RuleReading { place, operand: call.args.tensor(argument)?, coordinates })
        };
        return reads.filter_map(of_argument).collect();
    }
    let broadcast = |(place, operand): (usize, ValueId)| {
        let coordinates = match (rule.align, call.shape(operand), &result.shape[..]) {
            (Align::Channels, &[extent], &[_, channels, ..]) if place > 0 && extent == channels => {
                vec![Index::axis(1, extent)]
            }
            (Align::Channels, shape, _) if place > 0 && numel(shape) != 1 => return None,
            (_, shape, result) => view::broadcast(shape, result)?,
        };
        Some(RuleReading { place, operand, coordinates })
    };
    call.args.single_tensors().filter(|(place, _)| *place < rule.reads).filter_map(broadcast).collect()
}
