//! The node of a rewrite at which its values stop being the reference's.

use passhost_ir::NodeId;
use serde::{Deserialize, Serialize};

/// On which inputs a rewrite showed that it is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownBy {
    /// Ordinary ones.
    #[default]
    Ordinary,
    /// Those where this input has another scale.
    #[serde(alias = "stressed")]
    Scaled {
        /// Its name.
        input: String,
    },
    /// Those where this input is unusual.
    #[serde(alias = "unusual")]
    EdgeCase {
        /// Its name.
        input: String,
        /// What is unusual about it, as [`EdgeCaseFinding::draw`](crate::EdgeCaseFinding::draw) says it.
        draw: String,
    },
}

/// Where a rewrite goes wrong: the first node that makes something wrong of operands that are right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DivergentNode {
    /// The node of the rewrite.
    pub node: NodeId,
    /// Its op, or `kernel`.
    pub op: String,
    /// Whether it is a node of the original, so that what it reads is right within the tolerance and no further.
    pub is_kept: bool,
    /// The first of its results that is wrong, by its name in the rewrite.
    pub value: String,
    /// What that should equal, by its name in the graph that the pass was given.
    pub original: String,
    /// The first element that is wrong, by its index.
    pub element: Vec<i64>,
    /// What the rewrite has there, as text: JSON knows no NaN.
    pub rewritten: String,
    /// What the original has there.
    pub expected: String,
    /// Elements that are wrong.
    pub wrong: u64,
    /// Elements of the value.
    pub elements: u64,
    /// On which inputs: never which values these are.
    #[serde(default)]
    pub shown_by: ShownBy,
    /// Nodes before it of which nothing in the original says what they should give: the error may be theirs.
    pub unknown: Vec<NodeId>,
}
