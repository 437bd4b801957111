//! What a pass is.

use crate::{PassError, Rewriter};
use passhost_ir::{DeviceFacts, Infer};

/// Who a pass says it is. Shown to people, never believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassInfo {
    /// A short name: `fuse-pointwise`.
    pub name: String,
    /// A version: `0.1.0`.
    pub version: String,
    /// One sentence on what it does.
    pub description: String,
}

impl PassInfo {
    /// From a short name, a version and one sentence.
    pub fn new(name: impl Into<String>, version: impl Into<String>, description: impl Into<String>) -> PassInfo {
        PassInfo { name: name.into(), version: version.into(), description: description.into() }
    }
}

/// A compiler pass: a pure function from a graph to a graph.
///
/// It runs in a fresh instance for every graph, without files, clock or randomness, and must give the same rewrite for
/// the same graph and device.
pub trait Pass {
    /// Name, version and one sentence.
    fn info(&self) -> PassInfo;

    /// Changes the graph behind `rewriter` for a device. `host` answers which types an op returns, as
    /// [`Rewriter::insert_aten`] asks for every node that it inserts, and whether the policy lets a rewrite insert an op.
    fn run(&self, rewriter: &mut Rewriter, device: &DeviceFacts, host: &mut dyn Infer) -> Result<(), PassError>;
}
