//! The graph and the kernel language that the host and its guests share: types, text form, verifier, interval
//! analysis and an interpreter. Pure Rust without I/O; it also compiles to WebAssembly, so that a pass can verify what
//! it returns.

mod dtype;
mod graph;
mod infer;
mod input;
pub mod kernel;
mod tensor_type;

pub use dtype::{Dtype, UnknownDtype};
pub use graph::{Arg, Graph, MemoryFormat, Node, NodeId, NodeKind, OpName, Value, ValueId};
pub use infer::{Infer, InferError};
pub use input::{Draw, InputSpec};
pub use kernel::Kernel;
pub use tensor_type::{MAX_RANK, MAX_TENSOR_BYTES, TensorType, TypeError, contiguous_strides, numel};
