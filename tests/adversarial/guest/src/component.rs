//! The component side: the exports of the contract, and the imports that a script may call.

use crate::{World, play, script, steps};
use passhost_guest_sdk::ir::{Arg, Infer, InferError, OpName, TensorType};
use passhost_guest_sdk::wasm;

struct Component;

impl wasm::Guest for Component {
    fn describe() -> wasm::PassInfo {
        let text = script::text().unwrap_or_default();
        let called = steps(text).into_iter().find(|step| step.verb == "called");
        wasm::PassInfo {
            name: called.map_or_else(|| "script".to_owned(), |step| crate::damage::unescaped(step.rest)),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: "Plays the script written into it".to_owned(),
        }
    }

    fn run(graph: wasm::Graph, _device: wasm::DeviceFacts) -> wasm::PassOutcome {
        let played = play(script::text()?, wasm::read(graph)?, &mut Outside(wasm::Host))?;
        let refusals = played.refusals.into_iter();
        let refusals = refusals.map(|reason| wasm::Refusal { nodes: vec![], reason }).collect();
        Ok(wasm::Rewrite { graph: wasm::write(played.graph), refusals })
    }
}

wasm::export!(Component with_types_in wasm::bindings);

struct Outside(wasm::Host);

impl World for Outside {
    fn log(&mut self, line: &str) {
        passhost_guest_sdk::log_line(line);
    }
}

impl Infer for Outside {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        self.0.infer(op, args)
    }
}
