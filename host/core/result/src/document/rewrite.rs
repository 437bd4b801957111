//! What a rewrite did to the graph.

use crate::Refusal;
use base16ct::lower::encode_string;
use passhost_ir::{DeviceFacts, Graph};
use passhost_policy::{Inserted, Policy};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What a rewrite did to the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewrite {
    /// Of the rewritten graph's text form and the facts of the device that the pass was given.
    pub sha256: String,
    /// Nodes of the original.
    pub nodes_before: usize,
    /// Nodes of the rewrite.
    pub nodes_after: usize,
    /// Kernel nodes of the rewrite.
    pub kernels: usize,
    /// Whether nothing that counts changed.
    pub pass_miss: bool,
    /// What the pass left alone and why; untrusted text.
    pub refusals: Vec<Refusal>,
    /// Both graphs, for who looks at them. Older documents have none, and neither has a rewrite of long ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graphs: Option<Graphs>,
}

/// A graph and what a pass made of it, in their text form. Names in the second are untrusted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graphs {
    /// The graph that the pass was given.
    pub before: String,
    /// What it returned: the text that [`Rewrite::sha256`] is of.
    pub after: String,
}

impl Graphs {
    /// Bytes of a text that is kept: some hundred nodes.
    const LIMIT: usize = 32 << 10;

    /// Both texts, unless one is long.
    pub fn of(before: &Graph, after: String) -> Option<Graphs> {
        // A node has a line of text of thirty bytes or more: what is long by that is not even written down.
        let is_short = after.len() <= Graphs::LIMIT && before.nodes.len() <= Graphs::LIMIT / 30;
        let before = is_short.then(|| before.to_string()).filter(|text| text.len() <= Graphs::LIMIT)?;
        Some(Graphs { before, after })
    }
}

/// Names a rewrite: by its text form, the facts of the device that it was made for, and whether it might call what the
/// graph does not call.
pub fn rewrite_sha256(text: &str, device: DeviceFacts, policy: &Policy) -> String {
    let calls = if inserts_calls(policy) { "" } else { "no calls inserted\n" };
    encode_string(&Sha256::digest(format!("{text}\n{device}\n{calls}")))
}

/// Whether the policy lets a rewrite call what the graph does not call, views apart.
pub fn inserts_calls(policy: &Policy) -> bool {
    policy.rules().inserted == Inserted::Listed
}
