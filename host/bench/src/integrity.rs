//! What is plausible: the least that any program with these inputs and outputs has to do.

use passhost_ir::{Graph, NodeKind, OpTable, TensorType};
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

/// Bytes of a buffer that stays in a core's own cache.
const CACHED: usize = 256 << 10;
/// Bytes of a buffer that leaves nothing else in the last-level cache.
const FLUSH: usize = 256 << 20;

/// Bytes that any program with these inputs and outputs has to move.
pub fn must_move(graph: &Graph, outputs: &[TensorType]) -> u64 {
    must_read(graph) + outputs.iter().map(TensorType::bytes).sum::<u64>()
}

/// Bytes of the inputs that some op reads whole. An op may read less than its operands only where it selects by
/// position or by index, or passes a view on.
fn must_read(graph: &Graph) -> u64 {
    let whole = |node: &passhost_ir::Node| match &node.kind {
        NodeKind::Aten { op, .. } => OpTable::insert().get(op).is_some_and(|schema| !schema.is_view()),
        NodeKind::Kernel { .. } => false,
    };
    let mut read: Vec<_> = graph.nodes.iter().filter(|node| whole(node)).flat_map(|node| node.operands()).collect();
    read.retain(|value| graph.inputs.contains(value));
    read.sort_unstable();
    read.dedup();
    read.iter().map(|&value| graph.ty(value).bytes()).sum()
}

/// Bytes per second that all cores together read from their own caches, measured once.
pub fn cache_bandwidth() -> f64 {
    static BANDWIDTH: OnceLock<f64> = OnceLock::new();
    *BANDWIDTH.get_or_init(|| {
        let buffer = vec![1u64; CACHED / 8];
        let mut fastest = f64::INFINITY;
        for _ in 0..50 {
            let start = Instant::now();
            black_box(sum(black_box(&buffer)));
            fastest = fastest.min(start.elapsed().as_secs_f64());
        }
        CACHED as f64 / fastest.max(1e-9) * passhost_torch::thread_count() as f64
    })
}

/// Empties the caches by reading a buffer larger than them.
pub fn flush_caches() {
    static BUFFER: OnceLock<Vec<u64>> = OnceLock::new();
    black_box(sum(black_box(BUFFER.get_or_init(|| vec![1; FLUSH / 8]))));
}

/// Sums in independent lanes, so that the loads set the pace.
fn sum(buffer: &[u64]) -> u64 {
    let mut lanes = [0u64; 32];
    for chunk in buffer.chunks_exact(lanes.len()) {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = lane.wrapping_add(value);
        }
    }
    lanes.iter().fold(0, |total, &lane| total.wrapping_add(lane))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn inputs_count_where_an_op_reads_them_whole() {
        let text = "graph(%x: f32[4,8], %y: f32[4,8], %w: f32[100,8], %i: i64[4]) {\n  %0: f32[4,8] = aten::add.Tensor(%x, %x)\n  %1: f32[8,4]{1,8} = aten::t(%y)\n  %2: f32[4,8] = aten::embedding(%w, %i)\n  return (%0, %1, %2)\n}\n";
        let graph = Graph::parse(text).unwrap();
        assert_eq!(must_read(&graph), 4 * 8 * 4);
    }
}
