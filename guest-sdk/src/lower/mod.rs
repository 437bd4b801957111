//! From ATen ops to kernels.
//!
//! The default lowering is *eager-faithful*: it rounds to a tensor's type wherever eager would have stored that tensor.
//! Half types are loaded, widened to `f32`, calculated with as ATen's own kernels do, and rounded at the end of every
//! op. A cast costs little next to the memory traffic that fusion saves.
//!
//! - [`KernelBuilder`] writes any kernel, instruction by instruction.
//! - [`pointwise`] lowers a set of pointwise ops to one kernel.
//! - [`partition`] finds the sets that are worth it.

mod builder;
mod call;
mod partition;
mod pointwise;
mod promote;
mod rules;

pub use builder::KernelBuilder;
pub use partition::{Partition, partition};
pub use pointwise::{LowerError, Lowered, Output, check_pointwise, pointwise};
pub use promote::{Strength, common, math, promote};
pub use rules::names as pointwise_ops;
