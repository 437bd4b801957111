//! Finding subgraphs by shape: what op, on what operands.
//!
//! ```
//! use passhost_guest_sdk::pattern::{any, number, op};
//!
//! // x * sigmoid(gate) + 1, for any x and gate; `mul` and `add` match either way round.
//! let gated = op("aten::mul", [any("x"), op("aten::sigmoid", [any("gate")])]);
//! let pattern = op("aten::add", [gated.named("gated"), number(1.0)]);
//! ```
//!
//! An op pattern lists the arguments that matter; those behind it are free, but for the `alpha` of `add` and `sub`, which
//! must be 1 unless listed. When nothing matches, [`Pattern::explain`] says how far the best attempt came and what
//! stopped it.

mod brief;
mod matcher;
mod nearest;

use crate::PassError;
use passhost_ir::{Arg, Graph, NodeId, ValueId, namespace};
use std::fmt;

/// What a value, or an argument that is no tensor, has to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    kind: PatternKind,
    name: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum PatternKind {
    /// Any tensor.
    Tensor,
    /// Any argument at all.
    Anything,
    /// A number of this value, as a bool, integer or float.
    Number(f64),
    /// Exactly this argument; no tensor.
    Exactly(Arg),
    /// A list of tensors, one pattern for each.
    List(Vec<Pattern>),
    /// The result of an op.
    Op { name: String, args: Vec<Pattern> },
    /// The first of these that matches.
    OneOf(Vec<Pattern>),
}

/// Any tensor. Under the same name it must be the same one everywhere in a pattern.
pub fn any(name: impl Into<String>) -> Pattern {
    Pattern { kind: PatternKind::Tensor, name: Some(name.into()) }
}

/// Any argument, captured under a name: a number, a list of dimensions, a tensor.
pub fn argument(name: impl Into<String>) -> Pattern {
    Pattern { kind: PatternKind::Anything, name: Some(name.into()) }
}

/// Any argument, not captured.
pub fn anything() -> Pattern {
    Pattern { kind: PatternKind::Anything, name: None }
}

/// A number of this value, whether the graph has it as a float, an integer or a bool.
pub fn number(value: f64) -> Pattern {
    Pattern { kind: PatternKind::Number(value), name: None }
}

/// Exactly this argument, for instance `Arg::Ints(vec![2, 3])`.
pub fn exactly(arg: Arg) -> Pattern {
    Pattern { kind: PatternKind::Exactly(arg), name: None }
}

/// The result of an op with these leading arguments. `aten::mul.Tensor` is one overload, `aten::mul` any. The first two
/// arguments of commutative ops (`add`, `mul`, `maximum`, `minimum`, `logical_and` ...) match either way round.
pub fn op(name: impl Into<String>, args: impl Into<Vec<Pattern>>) -> Pattern {
    Pattern { kind: PatternKind::Op { name: name.into(), args: args.into() }, name: None }
}

/// A list of this many tensors, such as `aten::cat` takes; each must match the pattern at its place.
///
/// ```
/// use passhost_guest_sdk::pattern::{any, list, number, op};
///
/// // The halves of `x` exchanged and one of them negated, as rotary embeddings have it.
/// let half = |name| op("aten::slice", [any("x"), number(-1.0)]).named(name);
/// let rotated = op("aten::cat", [list([op("aten::neg", [half("second")]), half("first")]), number(-1.0)]);
/// assert_eq!(rotated.to_string(), "aten::cat([aten::neg(aten::slice(a tensor x, -1.0)), aten::slice(a tensor x, -1.0)], -1.0)");
/// ```
pub fn list(patterns: impl Into<Vec<Pattern>>) -> Pattern {
    Pattern { kind: PatternKind::List(patterns.into()), name: None }
}

/// The first of several patterns that matches.
pub fn one_of(alternatives: impl Into<Vec<Pattern>>) -> Pattern {
    Pattern { kind: PatternKind::OneOf(alternatives.into()), name: None }
}

impl Pattern {
    /// Captures what matches under a name.
    pub fn named(mut self, name: impl Into<String>) -> Pattern {
        self.name = Some(name.into());
        self
    }

    /// Every place where the pattern matches, in graph order, one match per root node. Matches may overlap. Where there is
    /// none, the attempt that came nearest is logged, which `passhost eval --explain` shows.
    pub fn find(&self, graph: &Graph) -> Vec<Match> {
        let mut matcher = matcher::Matcher::new(graph);
        let found: Vec<Match> = graph.nodes.iter().filter_map(|node| matcher.at(self, node)).collect();
        if found.is_empty() {
            nearest::report(&self.nearest(matcher));
        }
        found
    }

    /// Why nothing matches: the attempt that got furthest. `None` if the pattern does match somewhere.
    pub fn explain(&self, graph: &Graph) -> Option<NearMiss> {
        let mut matcher = matcher::Matcher::new(graph);
        if graph.nodes.iter().any(|node| matcher.at(self, node).is_some()) {
            return None;
        }
        Some(self.nearest(matcher))
    }

    fn nearest(&self, matcher: matcher::Matcher<'_>) -> NearMiss {
        matcher.furthest.unwrap_or_else(|| NearMiss {
            matched: vec![],
            node: None,
            path: "root".to_owned(),
            expected: self.to_string(),
            found: "a graph without nodes".to_owned(),
        })
    }
}

/// A place where a pattern matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The node of the outermost op.
    pub root: NodeId,
    /// Every node that an op of the pattern matched, in graph order.
    pub nodes: Vec<NodeId>,
    values: Vec<(String, ValueId)>,
    arguments: Vec<(String, Arg)>,
}

impl Match {
    /// The tensor captured under a name: of [`any`], or the result of a [named](Pattern::named) op.
    pub fn value(&self, name: &str) -> Option<ValueId> {
        Some(self.values.iter().find(|(known, _)| known == name)?.1)
    }

    /// [`value`](Match::value), or an error that says what was captured.
    pub fn tensor(&self, name: &str) -> Result<ValueId, PassError> {
        self.value(name).ok_or_else(|| self.missing("tensor", name))
    }

    /// A number captured under a name by [`argument`], or an error that says what was captured.
    pub fn number(&self, name: &str) -> Result<f64, PassError> {
        let found = self.captured(name).and_then(matcher::as_number);
        found.ok_or_else(|| self.missing("number", name))
    }

    /// An integer captured under a name by [`argument`], or an error that says what was captured.
    pub fn int(&self, name: &str) -> Result<i64, PassError> {
        self.captured(name).and_then(Arg::as_int).ok_or_else(|| self.missing("integer", name))
    }

    /// Integers captured under a name by [`argument`], such as dimensions, or an error that says what was captured.
    pub fn ints(&self, name: &str) -> Result<&[i64], PassError> {
        self.captured(name).and_then(Arg::as_ints).ok_or_else(|| self.missing("list of integers", name))
    }

    fn missing(&self, what: &str, name: &str) -> PassError {
        let tensors = self.values.iter().map(|(name, _)| format!("the tensor `{name}`"));
        let arguments = self.arguments.iter().map(|(name, arg)| format!("`{name}` = {}", matcher::describe(arg)));
        let captured = matcher::listed(tensors.chain(arguments));
        format!("no {what} was captured as `{name}`; the match has {captured}").into()
    }

    /// The argument captured under a name by [`argument`], or an error that says what was captured.
    pub fn argument(&self, name: &str) -> Result<&Arg, PassError> {
        self.captured(name).ok_or_else(|| self.missing("argument", name))
    }

    fn captured(&self, name: &str) -> Option<&Arg> {
        Some(&self.arguments.iter().find(|(known, _)| known == name)?.1)
    }
}

/// The best of the attempts that failed: where it stopped and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// The nodes that had matched.
    pub matched: Vec<NodeId>,
    /// The node at which it stopped; `None` at an input of the graph or an argument that is no tensor.
    pub node: Option<NodeId>,
    /// Where in the pattern: `aten::add argument 1`.
    pub path: String,
    /// What the pattern has there.
    pub expected: String,
    /// What the graph has there.
    pub found: String,
}

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no match; ")?;
        // An op is written `name(arguments)`; a namespace ends in the only colons that there are. This comes first, as the
        // node that comes nearest to an op that does not exist is any, and long lines are cut where they are shown.
        if self.expected.contains('(') && !namespace::is_in(&self.expected) {
            write!(f, "{}; ", namespace::HINT)?;
        }
        if self.matched.is_empty() {
            write!(f, "no node matches the outermost op: ")?;
        } else {
            let matched = matcher::listed(&self.matched);
            write!(f, "the best attempt matched {matched} and stopped at {}: ", self.path)?;
        }
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

/// As it is written: `aten::mul(x, aten::sigmoid(gate))`.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, patterns: &[Pattern], separator: &str| {
            for (place, pattern) in patterns.iter().enumerate() {
                write!(f, "{}{pattern}", if place == 0 { "" } else { separator })?;
            }
            Ok(())
        };
        match &self.kind {
            PatternKind::Tensor => write!(f, "a tensor {}", self.name.as_deref().unwrap_or("_")),
            PatternKind::Anything => write!(f, "{}", self.name.as_deref().unwrap_or("_")),
            PatternKind::Number(value) => write!(f, "{}", brief::Brief(*value)),
            PatternKind::Exactly(arg) => f.write_str(&matcher::describe(arg)),
            PatternKind::Op { name, args } => {
                write!(f, "{name}(")?;
                list(f, args, ", ")?;
                write!(f, ")")
            }
            PatternKind::List(patterns) => {
                f.write_str("[")?;
                list(f, patterns, ", ")?;
                f.write_str("]")
            }
            PatternKind::OneOf(alternatives) => list(f, alternatives, " or "),
        }
    }
}
