//! What the inputs of a graph reach.

use passhost_ir::{Graph, ValueId};
use std::collections::HashSet;

/// Values that depend on an input.
pub(crate) struct Reached {
    /// On any.
    pub by_any: HashSet<ValueId>,
    /// On the value of a float, by floats alone: they may be NaN or infinite as it may.
    pub by_floats: HashSet<ValueId>,
}

impl Reached {
    pub fn of(graph: &Graph) -> Reached {
        let is_float = |value: &ValueId| graph.ty(*value).dtype.is_float();
        let mut by_any: HashSet<ValueId> = graph.inputs.iter().copied().collect();
        let mut by_floats: HashSet<ValueId> = graph.inputs.iter().copied().filter(is_float).collect();
        for node in &graph.nodes {
            let operands = node.operands();
            if operands.iter().any(|operand| by_any.contains(operand)) {
                by_any.extend(&node.outputs);
            }
            if operands.iter().any(|operand| by_floats.contains(operand)) {
                by_floats.extend(node.outputs.iter().copied().filter(is_float));
            }
        }
        Reached { by_any, by_floats }
    }
}
