//! The graph and the kernel language that the host and its guests share: types, text form, verifier, interval
//! analysis and an interpreter. Pure Rust without I/O; it also compiles to WebAssembly, so that a pass can verify what
//! it returns.

pub mod alias;
mod canonical;
mod constant;
mod counterparts;
mod device;
pub mod dims;
mod double;
mod dtype;
mod exact;
mod fixed;
mod functional;
mod graph;
mod infer;
mod input;
pub mod kernel;
mod names;
pub mod namespace;
pub mod ops;
pub mod promote;
pub mod schema;
mod tensor_type;
mod text;
#[cfg(not(target_arch = "wasm32"))]
pub mod typing;
pub mod verify;

pub use canonical::{canonical_text, is_pass_miss, live_nodes, returns_views_alone};
pub use constant::constant_nodes;
pub use counterparts::counterparts;
pub use device::{DeviceFacts, DeviceKind};
pub use double::{Conversions, converts, in_double};
pub use dtype::{Dtype, UnknownDtype};
pub use fixed::{Unscorable, Varying, unscorable, varying};
pub use functional::{Functional, FunctionalError, elements_are_distinct, formatted, functionalise, in_place_nodes};
pub use graph::{Arg, FreshNodeIds, Graph, MemoryFormat, Node, NodeId, NodeKind, OpName, Value, ValueId};
pub use infer::{Infer, InferError};
pub use input::{Draw, InputSpec, Structure};
pub use kernel::Kernel;
pub use names::{is_value_name, parameter_name};
pub use ops::{OpRow, OpTable, RefusedArgument, refused_argument};
pub use schema::{ArgType, BaseType, CallError, Schema, SchemaArg};
pub use tensor_type::{MAX_RANK, MAX_TENSOR_BYTES, TensorType, TypeError, contiguous_strides, numel};
pub use text::{TextError, parse_kernel};
pub use verify::{GraphError, NodeRule, RewriteSummary, TypeMismatch, index_argument, verify_graph, verify_rewrite};
