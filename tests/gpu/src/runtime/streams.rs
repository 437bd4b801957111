//! Several streams, and memory that is used again.

use super::{chain, compiled, input, multiples, on_stream};
use anyhow::{Result, ensure};
use passhost_runtime::{Cause, Compiler, GUARD, Gpu, Temporary, Watch};
use passhost_torch::{Target, Tensor};
use std::sync::Arc;

const RUNS: usize = 200;

/// The same graph on two streams, on a thread each; the programs are made here and go there.
pub(super) fn two(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let contexts = [on_stream(gpu, compiler)?, on_stream(gpu, compiler)?];
    ensure!(contexts[0].engine() != contexts[1].engine(), "both contexts have one stream");
    let mut threads = vec![];
    for (factor, context) in [1.0f32, 3.0].into_iter().zip(contexts) {
        let program = compiled(&chain(true)?, &context)?;
        threads.push(std::thread::spawn(move || -> Result<()> {
            let x = input(&context, factor)?;
            for run in 0..RUNS {
                let outputs = program.run(std::slice::from_ref(&x))?;
                ensure!(outputs[0].to_bytes() == multiples(32.0 * factor), "run {run} with {factor} is wrong");
            }
            Ok(())
        }));
    }
    for thread in threads {
        thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
    }
    Ok(format!("{RUNS} runs on each"))
}

/// Poisons every temporary before it is written, and looks at its guard zones when nobody reads it any more.
#[derive(Default)]
pub(super) struct Poison {
    pub(super) ended: u32,
    pub(super) overwritten: u32,
}

impl Watch<Target> for Poison {
    const TEMPORARIES: bool = true;

    fn begin(&mut self, mut temporary: Temporary<Tensor>) -> Result<(), Cause> {
        temporary.memory.fill(0xff);
        Ok(())
    }

    fn end(&mut self, temporary: Temporary<Tensor>) -> Result<(), Cause> {
        self.ended += 1;
        let bytes = temporary.memory.to_bytes();
        let (front, back) = (&bytes[..GUARD as usize], &bytes[(GUARD + temporary.bytes) as usize..]);
        self.overwritten += u32::from(front.iter().chain(back).any(|byte| *byte != 0xff));
        Ok(())
    }
}

pub(super) fn poisoned(gpu: &Arc<Gpu>, compiler: &Arc<Compiler>) -> Result<String> {
    let context = on_stream(gpu, compiler)?;
    let program = compiled(&chain(true)?, &context)?;
    let x: Tensor = input(&context, 1.0)?;
    let mut poison = Poison::default();
    for _ in 0..3 {
        let outputs = program.run_watched(std::slice::from_ref(&x), &mut poison)?;
        ensure!(outputs[0].to_bytes() == multiples(32.0), "a poisoned run is wrong");
        let outputs = program.run(std::slice::from_ref(&x))?;
        ensure!(outputs[0].to_bytes() == multiples(32.0), "a run after a poisoned one is wrong");
    }
    ensure!(poison.ended == 12 && poison.overwritten == 0, "{} zones of {}", poison.overwritten, poison.ended);
    Ok(format!("{} bytes for 4 temporaries of {}", program.arena_bytes(), 4 * super::LENGTH))
}
