//! Steps that wear the host down, or end badly.

use crate::damage::unescaped;
use crate::play::Stage;
use crate::script::Step;
use passhost_guest_sdk::ir::{Arg, Dtype, OpName, TensorType};
use std::hint::black_box;

pub(crate) fn strain(stage: &mut Stage<'_>, step: &Step<'_>) -> Result<(), String> {
    match step.verb {
        "loop" => loop {
            black_box(());
        },
        "allocate" => {
            let mut hoard = vec![];
            loop {
                hoard.push(black_box(vec![1u8; 1 << 20]));
            }
        }
        "recurse" => return Err(format!("{}", deeper(stage.graph.nodes.len() as u64))),
        "exit" => std::process::exit(0),
        "panic" => stop(step.rest),
        "log" => {
            let line = "x".repeat(step.number(1)?);
            (0..step.number(0)?).for_each(|_| stage.world.log(&line));
        }
        "say" => stage.world.log(&unescaped(step.rest)),
        "refuse" => {
            let reason = "x".repeat(step.number(1)?);
            stage.refusals.extend(std::iter::repeat_n(reason, step.number(0)?));
        }
        "ask" => ask(stage, step.number(0)?, step.number(1)?),
        "values" => {
            let value = stage.graph.values[0].clone();
            stage.graph.values.extend(std::iter::repeat_n(value, step.number(0)?));
        }
        verb => return Err(format!("there is no step `{verb}`")),
    }
    Ok(())
}

/// `ask 1000 20`: so many questions about joining so many tensors. No two are alike, so that nobody knows the answer.
fn ask(stage: &mut Stage<'_>, questions: usize, operands: usize) {
    for question in 0..questions {
        let tensors = (0..operands).map(|n| TensorType::contiguous(Dtype::F32, [(question * operands + n) as i64 + 1]));
        let args = [Arg::Values(tensors.collect()), Arg::Int(0)];
        let _ = stage.world.infer(&OpName::new("aten::cat", ""), &args);
    }
}

/// Not a sum or a product: the compiler would make a loop of that.
fn deeper(depth: u64) -> u64 {
    if depth == u64::MAX { 0 } else { deeper(depth + 1).rotate_left(3) ^ depth }
}

#[allow(clippy::panic, reason = "that is what the step is for")]
fn stop(message: &str) -> ! {
    panic!("{}", unescaped(message))
}
