//! A gate on a stream, and what waits behind it.

use super::{compiled, doubled, graph, input, multiples, on_stream};
use anyhow::{Context as _, Result, ensure};
use passhost_runtime::{Compiler, Gpu};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the host keeps a gate shut.
const KEPT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(2);

/// Runs wait until the gate is opened, and go on without that when the limit has passed.
pub(super) fn holds(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let program = compiled(&graph(&[doubled("a", "x")], "a")?, &context)?;
    let x = [input(&context, 3.0)?];
    program.run(&x)?;
    let mut gate = context.gate()?.context("a GPU has gates")?;
    let mut waited = vec![];
    for (limit, opens) in [(LONG, true), (KEPT, false), (LONG, true)] {
        context.synchronize()?;
        let started = Instant::now();
        let shut = context.shut(&mut gate, limit)?;
        let (before, outputs, after) = (context.mark()?, program.run(&x)?, context.mark()?);
        if opens {
            std::thread::sleep(KEPT);
            drop(shut);
            context.synchronize()?;
        } else {
            // The program of a rewrite may wait as well: it must not do so for ever.
            context.synchronize()?;
            drop(shut);
        }
        let took = started.elapsed();
        ensure!(took >= KEPT && took < LONG, "with a limit of {limit:?} it took {took:?}");
        ensure!(gate.gave_up() != opens, "with a limit of {limit:?} the gate gave up: {}", gate.gave_up());
        ensure!(outputs[0].to_bytes() == multiples(6.0), "what ran behind the gate is wrong");
        let (before, after) = before.zip(after).context("a GPU has marks")?;
        let ran = Duration::from_nanos(after.since(&before)?);
        ensure!(ran < KEPT / 2, "the run itself took {ran:?}: the wait was counted");
        waited.push(format!("{:.1}", took.as_secs_f64() * 1e3));
    }
    Ok(format!("opened, given up and opened after {} ms", waited.join(", ")))
}
