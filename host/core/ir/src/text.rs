//! The text form of graphs and kernels: what people read, compare and write in tests.
//!
//! ```text
//! graph(%x: f16[128,1024,8,8], %m: f16[1024]) {
//!   %1: f16[128,1024,8,8] = aten::relu(%x)
//!   #7 %2: f16[128,1024,1,1] = aten::mean.dim(%1, [2, 3], keepdim=true)
//!   return (%2)
//! }
//! ```
//!
//! - A type is element type and shape; strides follow in braces where the tensor is not contiguous: `f32[4,3]{1,4}`.
//! - A node has the id of its position, from 0, unless `#id` stands before it.
//! - Arguments with a default are given by name and left out where they are the default. Arguments of an op that is on
//!   no list, or that do not fit its schema, are all given by position.
//! - Literals: `none`, `true`, `-3`, `0.5`, `inf`, `"tanh"`, `f16`, `channels_last`, `strided`, `device`, `[1, 2]`,
//!   `[%a, none]`. What an empty list holds, or whether its tensors may be absent, the schema says: of an op that is on no list,
//!   it is one of integers, and one of tensors.
//!
//! Values are known by name: a parsed graph has its values in the order of their definition, and nothing else of the
//! numbering of the printed one. See [`Graph::compact`](crate::Graph::compact).

mod args;
pub(crate) mod cursor;
mod graph;
mod kernel;

pub use cursor::TextError;
pub(crate) use graph::MAX_NAME;
pub use kernel::parse_kernel;

#[cfg(test)]
mod tests;
