//! The search behind [`Pattern::find`](super::Pattern::find).

use super::brief::Brief;
use super::{Match, NearMiss, Pattern, PatternKind};
use passhost_ir::namespace::is_mistyped;
use passhost_ir::ops::{commutes, has_alpha};
use passhost_ir::{Arg, Graph, Node, NodeId, NodeKind, OpName, ValueId};
use std::fmt::Display;

/// Captures and nodes of an attempt so far.
#[derive(Debug, Clone, Default)]
struct MatchAttempt {
    /// Positions, ascending.
    nodes: Vec<usize>,
    values: Vec<(String, ValueId)>,
    arguments: Vec<(String, Arg)>,
}

/// Tries patterns at the nodes of a graph and remembers the failed attempt that got furthest.
pub(super) struct Matcher<'a> {
    graph: &'a Graph,
    definitions: Vec<Option<usize>>,
    pub(super) furthest: Option<NearMiss>,
    /// How many nodes it had matched, and whether it stopped at another overload of the op that it wanted.
    reached: (usize, bool),
}

impl<'a> Matcher<'a> {
    pub(super) fn new(graph: &'a Graph) -> Matcher<'a> {
        Matcher { graph, definitions: graph.definitions(), furthest: None, reached: (0, false) }
    }

    /// The pattern with its outermost op at `node`.
    pub(super) fn at(&mut self, pattern: &Pattern, node: &Node) -> Option<Match> {
        let root = Arg::Value(*node.outputs.first()?);
        let found = self.extend(MatchAttempt::default(), pattern, &root, &"root").into_iter().next()?;
        Some(Match {
            root: node.id,
            nodes: found.nodes.iter().map(|&position| self.graph.nodes[position].id).collect(),
            values: found.values,
            arguments: found.arguments,
        })
    }

    /// Every way in which `pattern` matches `arg` on top of an attempt: commutative ops and alternatives give several,
    /// and captures that occur again decide between them.
    fn extend(&mut self, attempt: MatchAttempt, pattern: &Pattern, arg: &Arg, path: &dyn Display) -> Vec<MatchAttempt> {
        let attempts = match &pattern.kind {
            PatternKind::Anything => vec![attempt],
            PatternKind::Tensor if matches!(arg, Arg::Value(_)) => vec![attempt],
            PatternKind::Number(expected) if as_number(arg) == Some(*expected) => vec![attempt],
            PatternKind::Exactly(expected) if expected == arg => vec![attempt],
            PatternKind::OneOf(alternatives) => {
                let mut tried = vec![];
                for one in alternatives {
                    tried.append(&mut self.extend(attempt.clone(), one, arg, path));
                }
                tried
            }
            PatternKind::Op { name, args } => self.extend_op(attempt, pattern, (name, args), arg, path),
            PatternKind::List(patterns) => self.extend_list(attempt, patterns, arg, path),
            PatternKind::Tensor | PatternKind::Number(_) | PatternKind::Exactly(_) => {
                self.miss(&attempt, path, (false, &|| pattern.to_string()), arg);
                vec![]
            }
        };
        match &pattern.name {
            None => attempts,
            Some(name) => attempts.into_iter().filter_map(|one| self.capture(one, name, arg, path)).collect(),
        }
    }

    fn extend_op(
        &mut self,
        attempt: MatchAttempt,
        pattern: &Pattern,
        (name, patterns): (&str, &[Pattern]),
        arg: &Arg,
        path: &dyn Display,
    ) -> Vec<MatchAttempt> {
        let graph = self.graph;
        let defined = match arg {
            Arg::Value(value) => self.definitions[value.index()].map(|position| (position, &graph.nodes[position])),
            _ => None,
        };
        let (position, op, args) = match defined {
            Some((position, Node { kind: NodeKind::Aten { op, args }, .. })) if is_named(op, name) => {
                (position, op, args)
            }
            Some((_, Node { kind: NodeKind::Aten { op, .. }, .. })) if overload_of(op, name).is_some() => {
                let expected = || format!("{pattern} (`{}` matches any overload)", op.name);
                self.miss(&attempt, path, (true, &expected), arg);
                return vec![];
            }
            _ => {
                self.miss(&attempt, path, (false, &|| expected(graph, pattern, name)), arg);
                return vec![];
            }
        };
        let mut here = attempt;
        if let Err(place) = here.nodes.binary_search(&position) {
            here.nodes.insert(place, position);
        }
        if args.len() < patterns.len() {
            let expected = format!("{} arguments of {op}, or fewer in the pattern", patterns.len());
            self.record(&here, path, expected, format!("{}", args.len()), Some(position));
            return vec![];
        }
        let is_scaled = args.get(2).is_some_and(|alpha| as_number(alpha) != Some(1.0)) && has_alpha(&op.name).is_some();
        if patterns.len() <= 2 && is_scaled {
            let found = describe(&args[2]);
            self.record(&here, &format_args!("{op} argument 2"), "alpha = 1".to_owned(), found, Some(position));
            return vec![];
        }
        let mut attempts = self.extend_all(vec![here.clone()], op, patterns, &mut args.iter());
        if patterns.len() >= 2 && !is_scaled && commutes(&op.name).is_some() {
            let swapped = [&args[1], &args[0]].into_iter().chain(&args[2..]);
            attempts.extend(self.extend_all(vec![here], op, patterns, &mut { swapped }));
        }
        attempts
    }

    fn extend_list(
        &mut self,
        attempt: MatchAttempt,
        patterns: &[Pattern],
        arg: &Arg,
        path: &dyn Display,
    ) -> Vec<MatchAttempt> {
        let Arg::Values(found) = arg else {
            let expected = || format!("a list of {} tensors", patterns.len());
            self.miss(&attempt, path, (false, &expected), arg);
            return vec![];
        };
        if found.len() != patterns.len() {
            let expected = format!("a list of {} tensors", patterns.len());
            self.record(&attempt, path, expected, format!("one of {}", found.len()), None);
            return vec![];
        }
        let mut attempts = vec![attempt];
        for (place, (pattern, &value)) in patterns.iter().zip(found).enumerate() {
            let path = format_args!("{path}, tensor {place}");
            attempts = self.extend_each(attempts, pattern, &Arg::Value(value), &path);
        }
        attempts
    }

    /// [`extend`](Matcher::extend) on top of each of several attempts.
    fn extend_each(
        &mut self,
        attempts: Vec<MatchAttempt>,
        pattern: &Pattern,
        arg: &Arg,
        path: &dyn Display,
    ) -> Vec<MatchAttempt> {
        let mut extended = vec![];
        for one in attempts {
            extended.append(&mut self.extend(one, pattern, arg, path));
        }
        extended
    }

    fn extend_all(
        &mut self,
        mut attempts: Vec<MatchAttempt>,
        op: &OpName,
        patterns: &[Pattern],
        args: &mut dyn Iterator<Item = &Arg>,
    ) -> Vec<MatchAttempt> {
        for (place, (pattern, arg)) in patterns.iter().zip(args).enumerate() {
            let path = format_args!("{op} argument {place}");
            attempts = self.extend_each(attempts, pattern, arg, &path);
        }
        attempts
    }

    fn capture(
        &mut self,
        mut attempt: MatchAttempt,
        name: &str,
        arg: &Arg,
        path: &dyn Display,
    ) -> Option<MatchAttempt> {
        let known = match arg {
            Arg::Value(value) => {
                let known = known_as(&mut attempt.values, name, value);
                (known != *value).then(|| format!("%{}, captured as {name} before", self.graph.value(known).name))
            }
            _ => {
                let known = known_as(&mut attempt.arguments, name, arg);
                (known != *arg).then(|| format!("{}, captured as {name} before", describe(&known)))
            }
        };
        match known {
            None => Some(attempt),
            Some(expected) => {
                self.miss(&attempt, path, (false, &|| expected.clone()), arg);
                None
            }
        }
    }

    /// Whether an attempt that stops here got further than those before.
    fn is_furthest(&self, attempt: &MatchAttempt, is_close: bool) -> bool {
        self.furthest.is_none() || (attempt.nodes.len(), is_close) > self.reached
    }

    /// Notes what stopped an attempt: whether that is close, and what was expected.
    fn miss(
        &mut self,
        attempt: &MatchAttempt,
        path: &dyn Display,
        (is_close, expected): (bool, &dyn Fn() -> String),
        arg: &Arg,
    ) {
        if !self.is_furthest(attempt, is_close) {
            return;
        }
        let (found, node) = match arg {
            Arg::Value(value) => {
                let name = &self.graph.value(*value).name;
                match self.definitions[value.index()] {
                    None => (format!("%{name}, an input of the graph"), None),
                    Some(position) => {
                        let node = &self.graph.nodes[position];
                        let what = match &node.kind {
                            NodeKind::Aten { op, .. } => op.to_string(),
                            NodeKind::Kernel { .. } => "a kernel".to_owned(),
                        };
                        (format!("%{name} = {what} (node {})", node.id), Some(position))
                    }
                }
            }
            other => (describe(other), None),
        };
        self.record(attempt, path, expected(), found, node);
        self.reached.1 = is_close;
    }

    fn record(
        &mut self,
        attempt: &MatchAttempt,
        path: &dyn Display,
        expected: String,
        found: String,
        node: Option<usize>,
    ) {
        if !self.is_furthest(attempt, true) {
            return;
        }
        self.reached = (attempt.nodes.len(), true);
        let id = |position: usize| -> NodeId { self.graph.nodes[position].id };
        let matched = attempt.nodes.iter().map(|&position| id(position)).collect();
        self.furthest = Some(NearMiss { matched, node: node.map(id), path: path.to_string(), expected, found });
    }
}

/// What a pattern of an op expects, and which op of the graph may be meant if its name is mistyped.
fn expected(graph: &Graph, pattern: &Pattern, name: &str) -> String {
    let meant = graph.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Aten { op, .. } if is_mistyped(name, &op.name) => Some(format!(" (did you mean `{}`?)", op.name)),
        _ => None,
    });
    format!("{pattern}{}", meant.unwrap_or_default())
}

/// What is captured under a name: what was before, or else this from now on.
fn known_as<T: Clone>(captures: &mut Vec<(String, T)>, name: &str, found: &T) -> T {
    match captures.iter().find(|(known, _)| known == name) {
        Some((_, known)) => known.clone(),
        None => {
            captures.push((name.to_owned(), found.clone()));
            found.clone()
        }
    }
}

/// Whether a pattern names an op, by itself or with its overload.
fn is_named(op: &OpName, name: &str) -> bool {
    op.name == name || overload_of(op, name) == Some(op.overload.as_str())
}

/// The overload of an op that a pattern names, if it names one.
fn overload_of<'n>(op: &OpName, name: &'n str) -> Option<&'n str> {
    name.strip_prefix(op.name.as_str())?.strip_prefix('.')
}

pub(super) fn as_number(arg: &Arg) -> Option<f64> {
    crate::Args::new(std::slice::from_ref(arg)).number(0)
}

/// An argument that is no tensor, as the text form has it.
pub(super) fn describe(arg: &Arg) -> String {
    match arg {
        Arg::None => "none".to_owned(),
        Arg::Bool(value) => value.to_string(),
        Arg::Int(value) => value.to_string(),
        Arg::Float(value) => Brief(*value).to_string(),
        Arg::Str(value) => format!("\"{value}\""),
        Arg::Dtype(value) => value.to_string(),
        Arg::Ints(values) => format!("[{}]", listed(values)),
        Arg::Floats(values) => format!("[{}]", listed(values.iter().map(|&value| Brief(value)))),
        Arg::Bools(values) => format!("[{}]", listed(values)),
        Arg::MemoryFormat(_) => "a memory format".to_owned(),
        Arg::Strided => "a layout".to_owned(),
        Arg::Device => "a device".to_owned(),
        Arg::Value(_) => "a tensor".to_owned(),
        Arg::Values(values) => format!("a list of {} tensors, which `list` matches", values.len()),
        Arg::OptionalValues(_) => {
            "a list of optional tensors, which `argument` captures as Arg::OptionalValues".to_owned()
        }
    }
}

/// With commas between.
pub(super) fn listed(items: impl IntoIterator<Item: ToString>) -> String {
    let mut text = String::new();
    for item in items {
        text.push_str(if text.is_empty() { "" } else { ", " });
        text.push_str(&item.to_string());
    }
    text
}
