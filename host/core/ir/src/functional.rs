//! From a program with in-place ops to the graph that a pass sees, in which every op only returns new values.
//!
//! Each in-place op becomes its functional counterpart, and later reads of what it wrote take the result. Where the same
//! memory is read again through another view, the result is first put into the tensor that both are views of
//! (`aten::slice_scatter` and the like), and the view is made of that again. It is what PyTorch's own functionalisation
//! does, but only where somebody reads.

mod draft;
mod error;
mod follow;
pub(crate) mod layout;
mod memory;
mod overwrite;
mod region;
mod result;
mod tensors;
#[cfg(test)]
mod tests;
mod view;

pub use error::FunctionalError;
pub use layout::formatted;
pub use region::elements_are_distinct;
#[cfg(test)]
pub(crate) use result::functional_schema;

use crate::{Graph, Node, NodeId, OpName, OpTable, ValueId};
use draft::with_operands;
use memory::{ProgramMemory, ValueRead};
use overwrite::InPlace;
use tensors::Tensors;

/// What [`functionalise`] makes of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Functional {
    /// The same calculation without in-place ops. Nodes and values keep their ids. A copy into part of a tensor is gone;
    /// casts, views made once more, and what puts results back into what they are part of have new ids.
    pub graph: Graph,
    /// Positions of the inputs that the program overwrites, directly or through a view, in ascending order.
    pub mutated_inputs: Vec<usize>,
    /// The nodes that stand for in-place ops, and those ops. Each of them may run in place again where nobody else reads
    /// what it overwrites; those whose result has another type than that are left out, but for strides where the result is
    /// put back into what it is a part of.
    pub in_place: Vec<(NodeId, OpName)>,
    /// The nodes that put results back into part of a tensor. Each of them may write there where nobody else reads it.
    pub written_back: Vec<NodeId>,
}

/// The nodes of a program's functional form that may run in place again, and the ops that do so: [`Functional::in_place`],
/// and `aten::copy_` for each of [`Functional::written_back`]. None, if the program has no functional form.
pub fn in_place_nodes(program: &Graph, ops: &OpTable) -> Vec<(NodeId, OpName)> {
    let Ok(Functional { in_place, written_back, .. }) = functionalise(program, ops) else { return Vec::new() };
    let copied = written_back.into_iter().map(|node| (node, OpName::new("aten::copy_", "")));
    in_place.into_iter().chain(copied).collect()
}

/// Replaces every in-place op by its functional counterpart and every later read of what it wrote, under whichever name,
/// by the result.
///
/// `program` must be verified. The types of the graph are those of the program, strides included: where the counterpart
/// returns another element type (`f16.add_(f32)` stays `f16`) or another layout, a conversion follows.
pub fn functionalise(program: &Graph, ops: &OpTable) -> Result<Functional, FunctionalError> {
    let tensors = Tensors::of(program, ops)?;
    let mut memory = ProgramMemory::new(program, &tensors);
    let mut overwritten = vec![false; tensors.count()];
    let mut in_place = Vec::new();
    for (position, node) in program.nodes.iter().enumerate() {
        let Some(write) = InPlace::of(node, position, ops) else {
            memory.calculate(node)?;
            continue;
        };
        tensors.relatives(tensors.root(write.target)).iter().for_each(|&root| overwritten[root] = true);
        if memory.overwrite(&write, ops)? {
            in_place.push((node.id, write.schema.op.clone()));
        }
    }
    let outputs = program.outputs.iter().map(|&value| memory.read(ValueRead { node: None, value }));
    let outputs = outputs.collect::<Result<_, _>>()?;
    let inputs = program.inputs.iter().enumerate();
    let mutated_inputs = inputs.filter(|(_, input)| overwritten[input.index()]).map(|(position, _)| position).collect();
    let written_back = memory.draft.written_back;
    Ok(Functional { graph: Graph { outputs, ..memory.draft.graph }, mutated_inputs, in_place, written_back })
}

impl ProgramMemory<'_> {
    /// Adds a node that writes to none of its operands.
    fn calculate(&mut self, node: &Node) -> Result<(), FunctionalError> {
        let operands = self.operands(node)?;
        for &output in &node.outputs {
            self.check_addressed(&node.kind, ValueRead { node: Some(node.id), value: output })?;
            self.define(output);
        }
        self.draft.graph.nodes.push(Node { kind: with_operands(&node.kind, &operands), ..node.clone() });
        Ok(())
    }

    /// The values that now hold what a node reads.
    fn operands(&mut self, node: &Node) -> Result<Vec<ValueId>, FunctionalError> {
        node.operands().into_iter().map(|value| self.read(ValueRead { node: Some(node.id), value })).collect()
    }
}
