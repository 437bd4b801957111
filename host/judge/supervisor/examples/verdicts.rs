//! What verdicts come of equal programs: `noop` timed against eager, which is what it is.
//!
//! ```text
//! passhost bench noop.wasm samples/reference.txt --time-pass-miss --out equal.jsonl
//! cargo run --release -p passhost-supervisor --example verdicts -- equal.jsonl 1000
//! ```
//!
//! Each verdict is one on three processes, drawn from those of all graphs in the files, by the rules of an evaluation.

use passhost_result::document::{Document, Variant};
use passhost_result::recount;
use passhost_supervisor::batch;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::collections::BTreeMap;
use std::path::Path;

/// Processes in which a graph is timed.
const PROCESSES: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let count: u32 = arguments.pop().and_then(|count| count.parse().ok()).ok_or("expected FILE... COUNT")?;
    let mut documents = vec![];
    for path in &arguments {
        documents.extend(batch::read(Path::new(path))?.documents);
    }
    let timed = |document: &Document| document.variants.clone().into_iter().filter(|variant| variant.timing.is_some());
    let graphs: Vec<(&Document, Variant)> =
        documents.iter().flat_map(|document| timed(document).map(move |variant| (document, variant))).collect();
    let processes = |variant: &Variant| variant.timing.as_ref().map_or(vec![], |timing| timing.processes.clone());
    let pool: Vec<_> = graphs.iter().flat_map(|(_, variant)| processes(variant)).collect();
    if pool.is_empty() {
        return Err("no graph is timed; give `passhost bench` --time-pass-miss".into());
    }
    let (mut random, mut ends, mut covers) = (SplitMix64::seed_from_u64(0), BTreeMap::<String, u32>::new(), 0);
    let (mut slowest, mut fastest) = (f64::INFINITY, 0.0f64);
    let mut draw = |below: usize| (random.next_u64() % below as u64) as usize;
    for _ in 0..count {
        let (document, mut variant) = graphs[draw(graphs.len())].clone();
        // The rewrite is taken for one that changed something: there is no other difference.
        variant.rewrite.iter_mut().for_each(|rewrite| rewrite.pass_miss = false);
        let Some(timing) = &mut variant.timing else { continue };
        timing.processes = (0..PROCESSES).map(|_| pool[draw(pool.len())].clone()).collect();
        let document = Document { variants: vec![variant], ..document.clone() };
        let counted = recount(&document).variants.remove(0);
        let Some(speedups) = counted.speedups else {
            *ends.entry("not measured".into()).or_default() += 1;
            continue;
        };
        let estimate = speedups.wall.estimate(speedups.resolution);
        covers += u32::from(estimate.interval.contains(1.0));
        (slowest, fastest) = (slowest.min(estimate.speedup), fastest.max(estimate.speedup));
        *ends.entry(speedups.wall.verdict(speedups.resolution, 1).to_string()).or_default() += 1;
    }
    let ends: Vec<String> = ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
    println!("{} timed graphs, {} processes; of {count} verdicts: {}", graphs.len(), pool.len(), ends.join(", "));
    println!("{covers} intervals contain 1; speedups {slowest:.3} to {fastest:.3}");
    Ok(())
}
