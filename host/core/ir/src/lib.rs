//! The graph and the kernel language that the host and its guests share: types, text form, verifier, interval
//! analysis and an interpreter. Pure Rust without I/O; it also compiles to WebAssembly, so that a pass can verify what
//! it returns.
//!
//! # From a graph to a rewrite that is verified
//!
//! A [`Graph`] is a list of calls of ATen ops and of [`Kernel`]s over values that each have one type: element type, shape
//! and strides. It has a text form, in which nodes are numbered by their place unless they say otherwise.
//!
//! ```
//! use passhost_ir::{Arg, Graph, Infer, InferError, NodeId, OpName, OpTable, TensorType, verify_graph, verify_rewrite};
//!
//! let original = Graph::parse(
//!     "graph(%x: f32[2,3], %y: f32[2,3]) {
//!        %product: f32[2,3] = aten::mul.Tensor(%x, %y)
//!        %out: f32[2,3] = aten::relu(%product)
//!        return (%out)
//!      }",
//! )?;
//! // Names, types, order of definition, and every call against the schema of its op.
//! verify_graph(&original, OpTable::sample())?;
//!
//! // One kernel in place of both ops. It has an id that no node of the original has: it is inserted.
//! let rewritten = Graph::parse(
//!     "graph(%x: f32[2,3], %y: f32[2,3]) {
//!        #2 %out: f32[2,3] = kernel(%x, %y) {
//!          space p0=2, p1=3
//!          in x0: f32[2,3]
//!          in x1: f32[2,3]
//!          i0 = p0
//!          i1 = p1
//!          v0: f32 = load x0[i0, i1] pad 0.0
//!          v1: f32 = load x1[i0, i1] pad 0.0
//!          v2: f32 = mul v0, v1
//!          v3: f32 = const 0.0
//!          v4: f32 = max v2, v3
//!          out v4 over [p0, p1] as [2,3]
//!        }
//!        return (%out)
//!      }",
//! )?;
//!
//! // Kernels declare what they return. For inserted ops somebody must know: the host asks ATen.
//! struct NoOps;
//! impl Infer for NoOps {
//!     fn infer(&mut self, op: &OpName, _: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
//!         Err(InferError::Unknown(op.to_string()))
//!     }
//! }
//! let summary = verify_rewrite(&original, &rewritten, OpTable::insert(), &mut NoOps)?;
//! assert_eq!((summary.kernels, summary.removed), (1, vec![NodeId(0), NodeId(1)]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a kernel means
//!
//! [`kernel::interpret`] computes a kernel element by element. What it needs is what verifying found out: every access is
//! in bounds or padded, and no integer overflows.
//!
//! ```
//! use passhost_ir::kernel::scalar::Num;
//! use passhost_ir::kernel::{Mode, Tensor, interpret, verify};
//! use passhost_ir::{Dtype, parse_kernel};
//!
//! let kernel = parse_kernel(
//!     "kernel {
//!        space p0=2; reduce r0=3
//!        in x0: f32[2,3]
//!        i0 = p0
//!        i1 = r0
//!        v0: f32 = load x0[i0, i1] pad 0.0
//!        v1: f32 = reduce sum v0
//!        out v1 over [p0] as [2]
//!      }",
//! )?;
//! let facts = verify(&kernel)?;
//! let x = Tensor::from_fn(Dtype::F32, [2, 3], |position| Num::Float(position as f64));
//! let sums = interpret(&kernel, &facts, &[x], Mode::Declared);
//! assert_eq!(sums[0].values.iter().map(|sum| sum.value).collect::<Vec<_>>(), [Num::Float(3.0), Num::Float(12.0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is where
//!
//! | to | use |
//! | --- | --- |
//! | read and write the text form | [`Graph::parse`], [`parse_kernel`], `Display` |
//! | know which ops there are, and which a rewrite may insert | [`OpTable`], [`Schema`] |
//! | know what an op returns without running it | [`typing`], [`Infer`] |
//! | make in-place ops and views of a graph functional | [`functionalise`] |
//! | run a graph in double precision | [`in_double`] |
//! | know whether a rewrite changed anything | [`is_pass_miss`], [`counterparts`] |

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
