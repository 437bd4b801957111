//! The component side: bindings of `wit/pass.wit`, and the calls that [`register!`](crate::register) wires up.

#[path = "../../../wit/convert.rs"]
mod convert;
mod memory;
mod output;

/// What wit-bindgen makes of the contract.
#[allow(missing_docs, unreachable_pub, clippy::undocumented_unsafe_blocks, reason = "generated from wit/pass.wit")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../wit",
        world: "plugin",
        pub_export_macro: true,
        default_bindings_module: "passhost_guest_sdk::wasm::bindings",
    });
}

pub use bindings::export;
pub use bindings::exports::passhost::pass::pass::{Guest, PassInfo, Refusal, Rewrite};
pub use bindings::passhost::pass::types::{DeviceFacts, Graph};

use crate::{Pass, Rewriter};
use bindings::passhost::pass::host;
use passhost_ir::{Arg, Infer, InferError, OpName, TensorType};

/// The host's side of [`Infer`].
#[derive(Debug, Clone, Copy)]
pub struct Host;

impl Infer for Host {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let args: Vec<_> = args.iter().map(Into::into).collect();
        match host::infer(&op.clone().into(), &args) {
            Ok(types) => Ok(types.into_iter().map(Into::into).collect()),
            Err(message) => Err(InferError::Refused { op: op.to_string(), message }),
        }
    }

    fn may_insert(&mut self, op: &OpName) -> bool {
        host::may_insert(&op.clone().into())
    }
}

/// `describe` of the contract.
pub fn describe(pass: &dyn Pass) -> PassInfo {
    let info = pass.info();
    PassInfo { name: info.name, version: info.version, description: info.description }
}

/// A graph of the contract as the SDK has it.
///
/// # Errors
///
/// If the host knows operations that this SDK does not.
pub fn read(graph: Graph) -> Result<passhost_ir::Graph, String> {
    convert::graph_of(graph).map_err(|error| format!("{error}; rebuild the pass with this host's SDK"))
}

/// A graph as the contract has it, whatever is in it: for components that return what a [`Rewriter`] does not.
pub fn write(graph: passhost_ir::Graph) -> Graph {
    convert::graph(graph)
}

/// What `run` of the contract returns.
pub type PassOutcome = Result<Rewrite, String>;

/// `run` of the contract.
pub fn run(pass: &dyn Pass, graph: Graph, device: DeviceFacts) -> PassOutcome {
    let mut rewriter = Rewriter::new(read(graph)?);
    pass.run(&mut rewriter, &device.into(), &mut Host).map_err(|error| error.to_string())?;
    let (graph, refusals) = rewriter.finish();
    let refusals = refusals
        .into_iter()
        .map(|refusal| Refusal { nodes: refusal.nodes.iter().map(|id| id.0).collect(), reason: refusal.reason })
        .collect();
    Ok(Rewrite { graph: write(graph), refusals })
}
