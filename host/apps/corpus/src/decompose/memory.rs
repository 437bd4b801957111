//! Which tensors of a program share memory, and which nodes write to it.

use passhost_ir::alias::{Aliasing, aliasing};
use passhost_ir::{Graph, NodeKind, OpTable, ValueId};

/// The tensors of a program by memory.
#[derive(Debug)]
pub(super) struct Memory {
    /// For each value one that was defined no later and shares its memory, or itself.
    shared: Vec<u32>,
    /// The same for values that are one tensor under several names.
    identical: Vec<u32>,
    /// For each node the value whose memory it writes to.
    writes: Vec<Option<ValueId>>,
}

impl Memory {
    /// Of a verified program.
    pub(super) fn of(graph: &Graph) -> Memory {
        let values: Vec<u32> = (0..graph.values.len() as u32).collect();
        let mut memory = Memory { shared: values.clone(), identical: values, writes: vec![] };
        for node in &graph.nodes {
            let aliasing = aliasing(graph, node, OpTable::sample());
            for &output in &node.outputs {
                for &source in aliasing.sources() {
                    join(&mut memory.shared, source, output);
                }
                if let Aliasing::Identity(source) = &aliasing {
                    join(&mut memory.identical, *source, output);
                }
            }
            let in_place = match &node.kind {
                NodeKind::Aten { op, .. } => OpTable::sample().get(op).is_some_and(|schema| schema.writes()),
                NodeKind::Kernel { .. } => false,
            };
            memory.writes.push(node.outputs.first().copied().filter(|_| in_place));
        }
        memory
    }

    /// The first of the values that share memory with this one: the one that is not a view.
    pub(super) fn base(&self, value: ValueId) -> ValueId {
        find(&self.shared, value)
    }

    /// The first of the names of this tensor.
    pub(super) fn tensor(&self, value: ValueId) -> ValueId {
        find(&self.identical, value)
    }

    /// What a node overwrites, at least in part.
    pub(super) fn written(&self, node: usize) -> Option<ValueId> {
        self.writes.get(node).copied().flatten()
    }
}

fn find(first: &[u32], value: ValueId) -> ValueId {
    let mut at = value.0;
    while let Some(&next) = first.get(at as usize).filter(|&&next| next != at) {
        at = next;
    }
    ValueId(at)
}

fn join(first: &mut [u32], source: ValueId, result: ValueId) {
    let (a, b) = (find(first, source).0, find(first, result).0);
    let (early, late) = (a.min(b), a.max(b));
    first[late as usize] = early;
    // So that a chain of views is not a long way.
    first[result.index()] = early;
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn views_share_memory_and_in_place_ops_are_names_of_what_they_write() {
        let graph = Graph::parse(
            "graph(%x: f32[2,3], %y: f32[2,3]) {
  %t: f32[3,2]{1,3} = aten::t(%x)
  %a: f32[3,2]{1,3} = aten::relu_(%t)
  %b: f32[2,3] = aten::add.Tensor(%x, %y)
  %d: f32[2,3] = aten::dropout(%b, 0.1, false)
  return (%a, %d)
}
",
        )
        .unwrap();
        let memory = Memory::of(&graph);
        let value = |name: &str| ValueId(graph.values.iter().position(|value| value.name == name).unwrap() as u32);
        assert_eq!(memory.base(value("a")), value("x"));
        assert_eq!(memory.tensor(value("a")), value("t"));
        assert_eq!(memory.base(value("d")), value("b"));
        assert_eq!(memory.tensor(value("d")), value("b"));
        assert_eq!((memory.written(1), memory.written(2)), (Some(value("a")), None));
    }
}
