//! What the candidates of a kernel take, measured on its tensors.

use super::compiler::Compiler;
use super::device::{DriverError, Entered, Gpu, Stream};
use super::event::StreamEvent;
use super::graph::LaunchGraph;
use super::kernel::{Candidates, CudaError, PreparedLaunch};
use std::sync::Arc;

/// Nanoseconds of one candidate in one round: long beside what it takes to ask for it.
const ROUND_NS: u64 = 100_000;
/// Launches of one candidate in one round, at most.
const MOST_LAUNCHES: u64 = 50;
/// Rounds, at most; the best one of each candidate counts.
const MOST_ROUNDS: u64 = 4;
/// Nanoseconds of all rounds of all candidates, unless a single launch of each takes longer.
const ALL_NS: u64 = 6_000_000;

impl Candidates {
    /// Nanoseconds of a launch of each, once it is compiled and warm.
    ///
    /// # Safety
    /// As for [`PreparedLaunch::launch`], for many launches one after the other. `entered` is the GPU, to which the stream
    /// belongs.
    pub unsafe fn measure(
        &self,
        gpu: &Arc<Gpu>,
        compiler: &Compiler,
        (entered, stream): (&Entered<'_>, Stream),
        addresses: &[u64],
    ) -> Result<Vec<u64>, CudaError> {
        let prepare = |source| PreparedLaunch::of(gpu, compiler, source, self.alignments.clone());
        let launches = self.sources.iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
        let time = |launch: &PreparedLaunch| {
            // SAFETY: the caller's promise, for this launch and those below.
            Ok(second(gpu, (entered, stream), || unsafe { launch.launch(entered, stream, addresses) })?.max(1))
        };
        let each = launches.iter().map(time).collect::<Result<Vec<u64>, CudaError>>()?;
        let count = (ROUND_NS / each.iter().min().unwrap_or(&1)).clamp(1, MOST_LAUNCHES);
        let round_ns = 2 * count * each.iter().sum::<u64>().max(1);
        let graphs = launches.iter().map(|launch| {
            let many = vec![(launch.clone(), addresses.to_vec()); count as usize];
            // SAFETY: as above.
            unsafe { LaunchGraph::new(gpu, &many) }
        });
        let graphs: Vec<LaunchGraph> = graphs.collect::<Result<_, _>>()?;
        let mut best = vec![u64::MAX; graphs.len()];
        for _ in 0..(ALL_NS / round_ns).clamp(1, MOST_ROUNDS) {
            for (graph, best) in graphs.iter().zip(&mut best) {
                // SAFETY: as above.
                let ns = second(gpu, (entered, stream), || unsafe { graph.launch(entered, stream) })?;
                *best = (ns / count).clamp(1, *best);
            }
        }
        Ok(best)
    }
}

/// Launches twice, and returns how many nanoseconds the second time took at most: it is asked for while the first one runs,
/// and there when that has ended.
fn second<T>(
    gpu: &Arc<Gpu>,
    (entered, stream): (&Entered<'_>, Stream),
    launch: impl Fn() -> Result<T, DriverError>,
) -> Result<u64, DriverError> {
    launch()?;
    let start = StreamEvent::record(gpu, entered, stream)?;
    launch()?;
    let end = StreamEvent::record(gpu, entered, stream)?;
    entered.synchronize(stream)?;
    end.since(&start)
}
