//! One piece of memory for all temporaries of a program, planned before it first runs.
//!
//! A temporary is an output of a kernel that is neither an output of the program nor possibly part of one. It has a range
//! of the arena from the step that writes it to the last step that may read it, through a view or directly, and guard
//! zones at both ends of the range. Ranges of temporaries that are never needed at once may overlap. Kernels of one step
//! run in no order, so that what any of them reads or writes is needed by all.

use crate::context::Active;
use crate::engine::{Engine, EngineTensor};
use crate::error::Cause;
use crate::watch::{GUARD, Temporary};
use passhost_ir::alias::aliasing;
use passhost_ir::{Dtype, Graph, Node, NodeId, NodeKind, OpTable, TensorType, ValueId};
use std::collections::{HashMap, HashSet};

/// Every temporary starts at a multiple of this many bytes.
const ALIGNMENT: u64 = 256;

/// A temporary's range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) value: ValueId,
    pub(crate) ty: TensorType,
    /// The first byte of its data; guard zones lie before and behind.
    pub(crate) start: u64,
    /// The last step that may read it.
    pub(crate) last: usize,
}

/// Where every temporary lies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ArenaPlan {
    /// In the order in which they are written.
    pub(crate) ranges: Vec<Range>,
    /// Bytes of the arena.
    pub(crate) bytes: u64,
}

impl ArenaPlan {
    /// The plan of a graph of which some nodes write over their first operand. `steps` has for each node the number of its
    /// step; it never falls. Values that last have memory of their own.
    pub(crate) fn new(
        graph: &Graph,
        steps: &[usize],
        overwriting: &HashSet<NodeId>,
        lasting: &HashSet<ValueId>,
    ) -> ArenaPlan {
        let roots = roots(graph, overwriting);
        let none = vec![];
        let roots_of = |value: &ValueId| roots.get(value).unwrap_or(&none);
        let kept: HashSet<ValueId> = graph.outputs.iter().flat_map(roots_of).copied().collect();
        let mut last: HashMap<ValueId, usize> = HashMap::new();
        for (step, node) in steps.iter().zip(&graph.nodes) {
            for value in node.operands().iter().chain(&node.outputs).flat_map(roots_of) {
                last.insert(*value, *step);
            }
        }
        let mut plan = ArenaPlan::default();
        let mut live: Vec<(u64, u64, usize)> = vec![];
        for (step, node) in steps.iter().zip(&graph.nodes) {
            // What this step reads and writes stays in place while it runs.
            live.retain(|(_, _, last)| last >= step);
            for value in node.outputs.iter().filter(|_| matches!(node.kind, NodeKind::Kernel { .. })) {
                let ty = graph.ty(*value);
                if kept.contains(value) || lasting.contains(value) || ty.numel() == 0 {
                    continue;
                }
                let last = last.get(value).copied().unwrap_or(*step);
                let size = (GUARD + ty.bytes() + GUARD).next_multiple_of(ALIGNMENT);
                let start = lowest_gap(&live, size);
                live.push((start, start + size, last));
                live.sort_unstable();
                plan.bytes = plan.bytes.max(start + size);
                plan.ranges.push(Range {
                    value: *value,
                    ty: TensorType::contiguous(ty.dtype, ty.shape.clone()),
                    start: start + GUARD,
                    last,
                });
            }
        }
        plan
    }
}

/// The lowest place that this many bytes fit between ranges, which are in order.
fn lowest_gap(live: &[(u64, u64, usize)], size: u64) -> u64 {
    let mut start = 0;
    for (from, to, _) in live {
        if start + size <= *from {
            break;
        }
        start = start.max(*to);
    }
    start
}

/// The values whose memory each value may share.
pub(crate) fn roots(graph: &Graph, overwriting: &HashSet<NodeId>) -> HashMap<ValueId, Vec<ValueId>> {
    let mut roots: HashMap<ValueId, Vec<ValueId>> = graph.inputs.iter().map(|value| (*value, vec![*value])).collect();
    for node in &graph.nodes {
        let sources = sources(graph, node, overwriting);
        let mut shared: Vec<ValueId> = sources.iter().filter_map(|value| roots.get(value)).flatten().copied().collect();
        shared.sort_unstable();
        shared.dedup();
        for output in &node.outputs {
            let own = std::iter::once(*output);
            roots.insert(*output, own.chain(shared.iter().copied()).collect());
        }
    }
    roots
}

fn sources(graph: &Graph, node: &Node, overwriting: &HashSet<NodeId>) -> Vec<ValueId> {
    let alias = aliasing(graph, node, OpTable::all());
    let overwritten = node.operands().first().copied().filter(|_| overwriting.contains(&node.id));
    alias.sources().iter().copied().chain(overwritten).collect()
}

/// The memory of a plan, and a tensor for each temporary.
pub(crate) struct Arena<T> {
    memory: T,
    /// The first byte of `memory` that is used.
    base: u64,
}

impl<T: EngineTensor> Arena<T> {
    /// Allocates the memory.
    pub(crate) fn new<E: Engine<Tensor = T>>(active: &Active<'_, E>, plan: &ArenaPlan) -> Result<Arena<T>, Cause> {
        let memory = active.empty(&bytes_type(plan.bytes + ALIGNMENT))?;
        let base = (memory.data_ptr() as u64).next_multiple_of(ALIGNMENT) - memory.data_ptr() as u64;
        Ok(Arena { memory, base })
    }

    /// The tensor of a temporary. Its storage ends where the temporary does, whatever an op makes of it.
    pub(crate) fn tensor(&self, range: &Range) -> Result<T, Cause> {
        // SAFETY: the range lies in the arena's memory. It is written to by the kernel whose output it is, and by nodes
        // that the graph lets overwrite it.
        unsafe { self.memory.part(self.base + range.start, &range.ty) }
    }

    /// The range as bytes, guard zones included.
    pub(crate) fn temporary(&self, range: &Range) -> Result<Temporary<T>, Cause> {
        let bytes = range.ty.bytes();
        // SAFETY: as above; the zones are in the plan, and nobody's.
        let memory = unsafe { self.memory.part(self.base + range.start - GUARD, &bytes_type(GUARD + bytes + GUARD)) };
        Ok(Temporary { memory: memory?, bytes })
    }
}

fn bytes_type(bytes: u64) -> TensorType {
    TensorType::contiguous(Dtype::U8, [bytes as i64])
}
