//! Why a program has no functional form here.

/// How many views may lie between two tensors of the same memory of which one is written and the other read.
pub(super) const MAX_VIEWS: usize = 64;

/// Why a program has no functional form here: an op on no list, or an in-place op without a counterpart; a write through a
/// view, or to memory of which something else is read, where what follows from it is not known; or one whose result would
/// depend on the order of reads and writes. It says which node does it, and how to write it otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FunctionalError(pub(super) String);
