//! Why a call has no translation.

use passhost_ir::InferError;

/// Why a call has no translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl Unsupported {
    /// That an op does not take these operands.
    pub fn infer(error: InferError) -> Unsupported {
        Unsupported(error.to_string())
    }
}
