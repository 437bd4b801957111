//! What is plausible: the least that any program with these inputs and outputs has to do.

use passhost_ir::{Graph, NodeKind, OpTable, TensorType};
use passhost_result::{Block, Finding};
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

/// The floor for a rewrite that was timed beside eager, and whether it is below it. The floor is what the device can do, by
/// its bandwidth, or what eager did where that is less: what is no faster than eager is plausible.
pub fn below_floor(device_ns: u64, pairs: &[Block]) -> (u64, Option<Finding>) {
    let eager_ns = pairs.iter().flat_map(|block| &block.eager_ns).min();
    let floor_ns = eager_ns.map_or(device_ns, |&eager_ns| eager_ns.min(device_ns));
    let mut all: Vec<f64> = pairs.iter().flat_map(|block| &block.other_ns).map(|&time| time as f64).collect();
    if all.is_empty() {
        return (floor_ns, None);
    }
    let median_ns = passhost_score::median(&mut all) as u64;
    (floor_ns, (median_ns < floor_ns).then_some(Finding::BelowFloor { median_ns, floor_ns }))
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
    fn only_what_is_faster_than_the_device_and_than_eager_is_below_the_floor() {
        let block = |eager_ns: [u64; 2], other_ns: [u64; 2]| {
            [Block { eager_ns: eager_ns.to_vec(), other_ns: other_ns.to_vec(), ..Block::default() }]
        };
        let below = |median_ns, floor_ns| Some(Finding::BelowFloor { median_ns, floor_ns });
        for (eager_ns, other_ns, expected) in [
            ([20_000, 21_000], [15_000, 15_000], (14_166, None)),
            ([20_000, 21_000], [9_000, 9_000], (14_166, below(9_000, 14_166))),
            // Eager itself is faster than the device seemed to be.
            ([11_900, 12_300], [12_579, 12_579], (11_900, None)),
            ([11_900, 12_300], [11_000, 11_000], (11_900, below(11_000, 11_900))),
        ] {
            assert_eq!(below_floor(14_166, &block(eager_ns, other_ns)), expected);
        }
        assert_eq!(below_floor(14_166, &[]), (14_166, None));
    }

    #[test]
    fn inputs_count_where_an_op_reads_them_whole() {
        let text = "graph(%x: f32[4,8], %y: f32[4,8], %w: f32[100,8], %i: i64[4]) {\n  %0: f32[4,8] = aten::add.Tensor(%x, %x)\n  %1: f32[8,4]{1,8} = aten::t(%y)\n  %2: f32[4,8] = aten::embedding(%w, %i)\n  return (%0, %1, %2)\n}\n";
        let graph = Graph::parse(text).unwrap();
        assert_eq!(must_read(&graph), 4 * 8 * 4);
    }
}
