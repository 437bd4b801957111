//! What executors of kernels have in common: forms of index expressions, bounds, layouts, and the check of bound storage
//! against a kernel's declarations.
//!
//! Nothing here reads or writes a tensor. The CPU and the GPU half both build on it, and neither imports the other.

mod analysis;
mod binding;
mod forms;
mod layout;

pub use binding::{BindError, BoundInput, BoundOutput};
pub use layout::KernelLayout;

pub(crate) use analysis::{KernelAnalysis, axes_in_store_order};
pub(crate) use binding::{check, check_apart};
pub(crate) use forms::{Affine, AxisSet, IndexForm, multiple_of};
pub(crate) use layout::{Offset, effective_strides, prefers_columns};
