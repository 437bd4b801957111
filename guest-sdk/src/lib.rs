//! What the author of a pass imports: reading and editing graphs, finding patterns, and turning ATen ops into fused
//! kernels. `AUTHORING.md` at the top of the repository says all of it on one page.
//!
//! # A pass in twenty lines
//!
//! A pass gets a graph of ATen ops and gives back a graph of ATen ops and kernels. This one fuses the gate of a SwiGLU
//! block, `silu(x) * y`, into one kernel that reads `x` and `y` once and writes the product once:
//!
//! ```
//! use passhost_guest_sdk::prelude::*;
//!
//! struct FuseGate;
//!
//! impl Pass for FuseGate {
//!     fn info(&self) -> PassInfo {
//!         PassInfo::new("fuse-gate", "0.1.0", "silu(x) * y")
//!     }
//!
//!     fn run(&self, rewriter: &mut Rewriter, _device: &DeviceFacts, _host: &mut dyn Infer) -> Result<(), PassError> {
//!         let gate = op("aten::mul", [op("aten::silu", [any("x")]), any("y")]);
//!         rewriter.for_each_match(&gate, |rewriter, found| {
//!             let lowered = lower::region(rewriter.graph(), &found.nodes, &[Group::POINTWISE])?;
//!             log!("fused as {}", rewriter.replace(&lowered)?);
//!             Ok(())
//!         });
//!         Ok(())
//!     }
//! }
//!
//! register!(FuseGate);
//!
//! // What the pass does is tested natively, on a graph in the text form: it changes something, and computes the same.
//! use passhost_guest_sdk::testing::assert_same;
//!
//! assert_same(
//!     &FuseGate,
//!     "graph(%x: f16[4,64], %y: f16[4,64]) {
//!        %gate: f16[4,64] = aten::silu(%x)
//!        %out: f16[4,64] = aten::mul.Tensor(%y, %gate)
//!        return (%out)
//!      }",
//! );
//! ```
//!
//! As a crate of its own with `crate-type = ["cdylib"]` it becomes a component:
//!
//! ```text
//! cargo build --profile plugin --target wasm32-wasip2 -p fuse-gate
//! passhost eval target/wasm32-wasip2/plugin/fuse_gate.wasm samples/pointwise-chain
//! ```
//!
//! # What is where
//!
//! | to | use |
//! | --- | --- |
//! | read a graph | [`Rewriter::graph`], [`Uses`], [`view`], [`Args`] |
//! | find ops by shape, and learn why nothing was found | [`pattern`] |
//! | change a graph | [`Rewriter`]: every method leaves a valid graph |
//! | change each place that a pattern finds | [`Rewriter::for_each_match`] |
//! | say which ops become kernels: pointwise ones, moves of data, gathers, reductions, norms, pools, products ... | [`lower::Group`] |
//! | turn ops into one kernel | [`lower::region`] |
//! | find all sets of ops worth fusing | [`lower::partition`] |
//! | choose kernels by what they are estimated to take on a device | [`lower::fuse`] |
//! | write any other kernel | [`Rewriter::replace_with`], by its text or a [`lower::KernelBuilder`]; `plugins/masked-mean-pool` is the tutorial |
//! | calculate with coordinates | [`Index`] |
//! | ask for the types an op returns, and whether the policy lets a rewrite insert it | the `host` that [`Pass::run`] gets |
//! | say why something was left alone | [`Rewriter::refuse`], [`log!`] |
//! | test natively | `testing`, which components leave out: `assert_same`, and `Types` for inserted ops |
//!
//! # Rules of the game
//!
//! - A pass is a pure function: the host runs it twice, and a difference is reported. Iterate over nodes in graph order
//!   and not over hash maps.
//! - Inputs and outputs of the graph keep their number, order and types.
//! - A component should be small: the host compiles all of it before it runs. It holds the rules of the
//!   [groups](lower::Group) that the pass names, and no others.
//! - Kernels cannot be wrong about memory, only about values: the host compares those with eager's on fresh inputs.
//!   [`lower`] says how to round as eager does.

mod args;
mod error;
mod index;
mod indexing;
mod links;
mod log;
pub mod lower;
mod pass;
pub mod pattern;
pub mod prelude;
mod register;
mod rewriter;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
pub mod view;
#[cfg(target_arch = "wasm32")]
pub mod wasm;

pub use args::Args;
pub use error::PassError;
pub use index::Index;
pub use log::log_line;
pub use lower::LowerError;
pub use pass::{Pass, PassInfo};
pub use passhost_ir::{self as ir, DeviceFacts, Infer};
pub use rewriter::{EditError, IntoKernel, NodeRefusal, Rewriter, Uses};
