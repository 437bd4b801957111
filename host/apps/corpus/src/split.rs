//! Which samples are to train on and which to evaluate on.

mod groups;
mod lists;

pub use groups::{Sides, sides};
pub use lists::{Summary, write_list};

use crate::outcome::Failure;
use crate::worker::Worker;
use base16ct::lower::encode_string;
use passhost_ir::{Graph, NodeKind, live_nodes};
use passhost_sample::SampleText;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// What is found of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sequence {
    /// SHA-256 of the names of the ops that an output depends on, in their order.
    pub op_sequence: String,
}

/// The op sequence of variant `index` of a sample.
///
/// # Errors
///
/// If it cannot be read.
pub fn sequence(worker: &mut Worker, sample: &SampleText, index: usize) -> Result<Sequence, Failure> {
    Ok(Sequence { op_sequence: op_sequence(&worker.load_functional(sample, index)?) })
}

fn op_sequence(graph: &Graph) -> String {
    let mut hash = Sha256::new();
    for (node, _) in graph.nodes.iter().zip(live_nodes(graph)).filter(|(_, live)| *live) {
        if let NodeKind::Aten { op, .. } = &node.kind {
            hash.update(format!("{op}\n"));
        }
    }
    encode_string(&hash.finalize())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn an_op_sequence_knows_ops_and_their_order_but_no_types_and_no_dead_code() {
        let sequence = |body: &str| {
            let text = format!("graph(%x: f32[4]) {{\n{body}\n  return (%r)\n}}\n");
            op_sequence(&Graph::parse(&text).unwrap())
        };
        let one = sequence("  %a: f32[4] = aten::relu(%x)\n  %r: f32[4] = aten::exp(%a)");
        let dead = "  %a: f32[4] = aten::relu(%x)\n  %d: f32[4] = aten::cos(%x)\n  %r: f32[4] = aten::exp(%a)";
        assert_eq!(sequence(dead), one);
        assert_ne!(sequence("  %a: f32[4] = aten::exp(%x)\n  %r: f32[4] = aten::relu(%a)"), one);
    }
}
