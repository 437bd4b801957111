//! From ATen ops to kernels.
//!
//! The default lowering is *eager-faithful*: it rounds to a tensor's type wherever eager would have stored that tensor.
//! Half types are loaded, widened to `f32`, calculated with as ATen's own kernels do, and rounded at the end of every
//! op. A cast costs little next to the memory traffic that fusion saves.
//!
//! - [`KernelBuilder`] writes any kernel, instruction by instruction.
//! - A [`Group`] has the rules of ops that lower alike. A pass names the groups that it wants: no other op lowers, and no
//!   other rule is part of the component.
//! - [`region`] lowers a set of ops to one kernel.
//! - [`partition`] finds the sets that are worth it; [`fuse`] does so by what they are estimated to take on a device.
//! - [`is_small_contraction`] says which matrix products and convolutions a kernel does about as fast as a library.
//!
//! # From a norm and what surrounds it to a kernel
//!
//! Rows of the reduction become parallel axes, what is reduced becomes reduce axes. Every op in front of it is calculated
//! at the coordinates at which it is read, views and copies as index maps; every op behind it on elements or on rows. What
//! something outside reads is stored, here the sum as well as the norm:
//!
//! ```
//! use passhost_guest_sdk::ir::{Graph, NodeId};
//! use passhost_guest_sdk::lower::{self, Group};
//!
//! const GROUPS: &[Group] = &[Group::POINTWISE, Group::NORMS];
//!
//! let graph = Graph::parse(
//!     "graph(%x: f16[8,197,768], %y: f16[8,197,768], %w: f16[768], %b: f16[768]) {
//!        %sum: f16[8,197,768] = aten::add.Tensor(%x, %y)
//!        %norm: f16[8,197,768] = aten::layer_norm(%sum, [768], %w, %b, 1e-06)
//!        return (%sum, %norm)
//!      }",
//! )?;
//! let lowered = lower::region(&graph, &[NodeId(0), NodeId(1)], GROUPS)?;
//! assert_eq!((&lowered.kernel().parallel[..], &lowered.kernel().reduce[..]), (&[8, 197][..], &[768][..]));
//! assert_eq!(lowered.outputs().len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What does not fit says why, by the name of the op:
//!
//! ```
//! # use passhost_guest_sdk::ir::{Graph, NodeId};
//! # use passhost_guest_sdk::lower::{self, Group};
//! let graph = Graph::parse(
//!     "graph(%x: f32[4,4]) {
//!        %rows: f32[4,4] = aten::softmax.int(%x, -1)
//!        %columns: f32[4,4] = aten::softmax.int(%rows, 0)
//!        return (%columns)
//!      }",
//! )?;
//! let error = lower::region(&graph, &[NodeId(0), NodeId(1)], &[Group::NORMS]).unwrap_err();
//! assert_eq!(error.to_string(), "aten::softmax.int is needed for other rows than that of the element");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analysis;
mod boundary;
mod builder;
mod call;
mod channels_last;
mod constants;
mod contraction;
mod cost;
mod coverage;
mod emit;
mod error;
mod footprint;
mod fusion;
mod group;
mod kernel_axes;
mod library;
mod math;
mod moves;
mod node_call;
mod only;
mod partition;
mod quantity;
mod recipe;
mod region;
mod resample;
mod rule;
mod rules;
mod space;
mod work;
mod write_back;

pub(crate) use analysis::GraphAnalysis;
pub use builder::KernelBuilder;
pub use channels_last::lay_channels_last;
pub use coverage::{CallCoverage, LoweringCoverage, call_coverage, coverage};
pub use error::LowerError;
pub use fusion::{Fused, FusionPlan, fuse, lay_row_major};
pub use group::Group;
pub use library::call_times;
pub use math::math;
pub use partition::{Partition, partition};
pub use passhost_ir::promote::{Strength, common, promote};
pub use recipe::is_small_contraction;
pub(crate) use region::stored_type;
pub use region::{KernelOutput, Lowered, is_reduction, region};
