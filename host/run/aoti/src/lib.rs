//! The PyTorch of the process that this is loaded into, as an engine of the runtime. It is not linked: what PyTorch promises to
//! keep for models that AOTInductor compiled is looked up in the libraries that `import torch` has loaded, so that one build
//! works with many versions. Ops are called through its dispatcher, or by
//! [`LibraryOps`].

mod dispatcher;
mod engine;
mod functions;
mod tensor;
mod threads;

pub use engine::{Engine, LibraryCall, LibraryOps};
pub use functions::{Handle, OpenError};
pub use tensor::{PyTorch, Tensor};
