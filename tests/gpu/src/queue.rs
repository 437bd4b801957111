//! What a GPU alone takes for programs that overwrite their inputs, which are restored in the queue; and what a launch and a
//! wait take behind a program that runs for milliseconds.

use anyhow::{Context as _, Result, ensure};
use passhost_bench::device::{BenchDevice, QueuedProgram, Spacing};
use passhost_ir::{Dtype, Graph, TensorType};
use passhost_runtime::{Hints, Mode, NodeError, Recorded};
use passhost_torch::{Program, Target, Tensor};
use std::time::Instant;

/// Elements of the tensors: a launch, and what takes a GPU some tens of microseconds.
const LENGTHS: [i64; 2] = [1000, 1 << 24];
/// How far a call that is restored may be from the same out of place: as a share, and in microseconds for the events around it.
const SHARE: f64 = 0.25;
const EVENTS_US: f64 = 10.0;
const PROBES: usize = 400;

/// `x + w`, in place or not.
fn sum(device: &BenchDevice, length: i64, op: &str) -> Result<Program> {
    let text = format!(
        "graph(%x: f32[{length}], %w: f32[{length}]) {{\n  %y: f32[{length}] = aten::{op}.Tensor(%x, %w)\n  return (%y)\n}}"
    );
    let graph = Graph::parse(&text).with_context(|| text.clone())?;
    Ok(Program::compile(&graph, Mode::Found, &Hints::default(), device.context())?)
}

/// A program with its inputs, of which it overwrites the first or none.
struct Sum<'p> {
    program: &'p Program,
    inputs: [Tensor; 2],
    pristine: Option<Tensor>,
    recorded: Option<Recorded<'p, Target>>,
    calls: u64,
}

impl<'p> Sum<'p> {
    fn new(device: &BenchDevice, program: &'p Program, length: i64, is_recorded: bool) -> Result<Sum<'p>> {
        let inputs = [filled(device, length, 1.0)?, filled(device, length, 2.0)?];
        let pristine = (!program.mutated_inputs.is_empty()).then(|| inputs[0].deep_clone());
        let recorded = if is_recorded { Some(program.record(&inputs)?) } else { None };
        Ok(Sum { program, inputs, pristine, recorded, calls: 0 })
    }
}

impl QueuedProgram for Sum<'_> {
    fn launches(&self) -> usize {
        2
    }

    fn restore(&mut self) {
        if let Some(pristine) = &self.pristine {
            // What it fails by shows in what the input holds afterwards.
            let _ = self.inputs[0].copy_from(pristine);
        }
    }

    fn call(&mut self) -> Result<(), NodeError> {
        self.calls += 1;
        match &self.recorded {
            Some(recorded) => recorded.launch(),
            None => self.program.run(&self.inputs).map(drop),
        }
    }
}

fn filled(device: &BenchDevice, length: i64, value: f32) -> Result<Tensor> {
    let bytes: Vec<u8> = (0..length).flat_map(|_| value.to_le_bytes()).collect();
    Ok(Tensor::from_bytes(device.target(), &TensorType::contiguous(Dtype::F32, [length]), &bytes)?)
}

/// Holds programs that overwrite an input against the same out of place.
pub(crate) fn restored(device: &BenchDevice) -> Result<()> {
    for length in LENGTHS {
        let (in_place, out_of_place) = (sum(device, length, "add_")?, sum(device, length, "add")?);
        ensure!(in_place.mutated_inputs == [0] && out_of_place.mutated_inputs.is_empty(), "which program overwrites");
        for is_recorded in [false, true] {
            let mut overwriting = Sum::new(device, &in_place, length, is_recorded)?;
            let mut other = Sum::new(device, &out_of_place, length, is_recorded)?;
            let apart = median_us(device, &mut overwriting, Spacing::Apart)?;
            ensure!(overwriting.calls >= 12, "{} calls", overwriting.calls);
            let once = filled(device, length, 3.0)?;
            ensure!(overwriting.inputs[0].same_bytes(&once)?, "the input was not restored before each call");
            let close = median_us(device, &mut other, Spacing::Close)?;
            let other_apart = median_us(device, &mut other, Spacing::Apart)?;
            let how = if is_recorded { "recorded" } else { "op by op" };
            println!(
                "{length} elements, {how}: in place {apart:.2} us a call; out of place {other_apart:.2} us between events \
                 of its own, {close:.2} us one after the other"
            );
            // In place two thirds of the memory are moved at least, and restoring would double it.
            let (least, most) = ((1.0 - SHARE) * close * 2.0 / 3.0, (1.0 + SHARE) * close + EVENTS_US);
            ensure!((least..most).contains(&apart), "in place takes {least:.2} to {most:.2} us");
        }
    }
    println!("ok      inputs are restored in the queue, outside of what is timed");
    Ok(())
}

fn median_us(device: &BenchDevice, program: &mut Sum<'_>, spacing: Spacing) -> Result<f64> {
    let mut times = vec![];
    for _ in 0..5 {
        let taken = device.queued_ns(program, spacing, None)?.map_err(anyhow::Error::msg)?;
        times.push(taken.device_ns as f64 / 1e3);
    }
    Ok(median(&mut times))
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Prints what a launch and a wait take, and what the first launch does, when the device has nothing to do and behind a
/// program of milliseconds: of the first more than a quarter must not take twice as long as the fastest.
pub(crate) fn probes(device: &BenchDevice) -> Result<()> {
    let n = 4096;
    let text = format!(
        "graph(%x: f32[{n},{n}], %w: f32[{n},{n}]) {{\n  %y: f32[{n},{n}] = aten::mm(%x, %w)\n  return (%y)\n}}"
    );
    let graph = Graph::parse(&text).with_context(|| text.clone())?;
    let long = Program::compile(&graph, Mode::Found, &Hints::default(), device.context())?;
    let matrix = |value| -> Result<Tensor> {
        let bytes: Vec<u8> = (0..n * n).flat_map(|_| f32::to_le_bytes(value)).collect();
        Ok(Tensor::from_bytes(device.target(), &TensorType::contiguous(Dtype::F32, [n, n]), &bytes)?)
    };
    let operands = [matrix(1.0)?, matrix(0.5)?];
    let small = sum(device, LENGTHS[0], "add")?;
    let few = [filled(device, LENGTHS[0], 1.0)?, filled(device, LENGTHS[0], 2.0)?];
    let probe = || device.probe_ns().context("a GPU has probes").map(|ns| ns as f64 / 1e3);
    let timed = |program: &Program, inputs: &[Tensor]| -> Result<f64> {
        let start = Instant::now();
        drop(program.run_timed(inputs)?);
        Ok(start.elapsed().as_secs_f64() * 1e6)
    };
    let idle: Vec<f64> = (0..PROBES).map(|_| probe()).collect::<Result<_>>()?;
    let (mut ran, mut behind, mut first) = (vec![], vec![], vec![]);
    for _ in 0..PROBES / 4 {
        ran.push(timed(&long, &operands)?);
        behind.push(probe()?);
        timed(&long, &operands)?;
        first.push(timed(&small, &few)?);
    }
    let second: Vec<f64> = (0..PROBES).map(|_| timed(&small, &few)).collect::<Result<_>>()?;
    println!("a product of matrices takes {:.0} us", median(&mut ran));
    let fastest = idle.iter().chain(&behind).copied().fold(f64::INFINITY, f64::min);
    for (name, mut times) in [
        ("a launch and a wait", idle),
        ("the same behind the product", behind.clone()),
        ("a small program", second),
        ("a small program, the first behind the product", first),
    ] {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
        println!(
            "{name}: least {:.1} us, 10% {:.1}, median {:.1}, 75% {:.1}, 90% {:.1}, most {:.1}",
            at(0.0),
            at(0.1),
            at(0.5),
            at(0.75),
            at(0.9),
            at(1.0)
        );
    }
    let slow = behind.iter().filter(|&&time| time > 2.0 * fastest).count();
    println!("{slow} of {} probes behind the product took twice as long as the fastest", behind.len());
    ensure!(4 * slow <= behind.len(), "a quiet GPU's probes are slow behind a program of milliseconds");
    println!("ok      probes behind a program of milliseconds are as fast as others");
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_overwrites_finds_its_input_restored() {
        let device = BenchDevice::cpu();
        let program = sum(&device, 8, "add_").unwrap();
        let mut overwriting = Sum::new(&device, &program, 8, false).unwrap();
        let three = filled(&device, 8, 3.0).unwrap();
        for restores in [true, true, false] {
            if restores {
                overwriting.restore();
            }
            overwriting.call().unwrap();
            assert_eq!(overwriting.inputs[0].same_bytes(&three), Ok(restores));
        }
    }
}
