//! Calls of ops as the tables of cases write them.
//!
//! ```text
//! # A line is a call, and `%` stands before the type of a tensor.
//! aten::mean.dim(%f32[2,4,6,5]{120,1,20,4}, [2, 3], keepdim=true)
//! # Alternatives multiply: four calls.
//! aten::<exp|sin>(%<f32[2,3]|bf16[3,2]{1,3}>)
//! # A name for a piece of text that later lines repeat.
//! let images = <f32[2,4,6,5]|f32[2,4,6,5]{120,1,20,4}>
//! aten::relu(%$images)
//! # The CPU and the inference both refuse; the latter with these words.
//! refused "must match the size": aten::add.Tensor(%f32[2], %f32[3])
//! # Only the inference refuses, because the types depend on the elements.
//! unknown "depends on": aten::index.Tensor(%f32[2], [%bool[2]])
//! ```

use passhost_ir::{Arg, Graph, NodeKind, OpName, TensorType};

/// What a case says about its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation<'a> {
    /// The inferred types are those of the results on the CPU, or both refuse; at least one call of the line runs.
    Agreement,
    /// The CPU refuses it, and so does the inference, with these words.
    Refused(&'a str),
    /// The CPU runs it, and the inference refuses with these words.
    Unknown(&'a str),
}

/// A call.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// The line it came from.
    pub line: &'a str,
    /// The call without alternatives.
    pub text: String,
    /// What it says.
    pub expectation: Expectation<'a>,
    /// The op.
    pub op: OpName,
    /// Its arguments, in schema order, with types for tensors.
    pub args: Vec<Arg<TensorType>>,
}

/// All cases of a table.
pub fn cases(table: &str) -> Vec<Case<'_>> {
    let mut names: Vec<(&str, String)> = vec![];
    let mut found = vec![];
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, text)) = line.strip_prefix("let ").and_then(|rest| rest.split_once('=')) {
            names.push((name.trim(), substituted(text.trim(), &names)));
            continue;
        }
        let (expectation, call) = expectation(line);
        for text in alternatives(&substituted(call, &names)) {
            let (op, args) = call_of(&text);
            found.push(Case { line, text, expectation, op, args });
        }
    }
    found
}

fn expectation(line: &str) -> (Expectation<'_>, &str) {
    type Make = fn(&str) -> Expectation<'_>;
    let words: [(&str, Make); 2] = [
        ("refused \"", |message| Expectation::Refused(message)),
        ("unknown \"", |message| Expectation::Unknown(message)),
    ];
    words
        .into_iter()
        .find_map(|(word, make)| {
            let (message, call) = line.strip_prefix(word)?.split_once("\":")?;
            Some((make(message), call.trim()))
        })
        .unwrap_or((Expectation::Agreement, line))
}

/// `$name` replaced by what it stands for, longer names first.
fn substituted(text: &str, names: &[(&str, String)]) -> String {
    let mut sorted: Vec<_> = names.iter().collect();
    sorted.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    sorted.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
}

/// Every choice of one text from each `<a|b>`; they may be nested. The arrow of an einsum is no bracket.
fn alternatives(text: &str) -> Vec<String> {
    let Some(open) = text.find('<') else { return vec![text.to_owned()] };
    let (mut depth, mut start, mut choices) = (0, open + 1, vec![]);
    for (at, bracket) in text.match_indices(['<', '|', '>']).filter(|&(at, _)| !text[..at].ends_with('-')) {
        match (bracket, depth) {
            ("<", _) => depth += 1,
            (">", 1) => {
                choices.push(text[start..at].trim());
                let rest = alternatives(&text[at + 1..]);
                let heads = choices.into_iter().flat_map(alternatives);
                let whole = |head: String| rest.iter().map(move |rest| format!("{}{head}{rest}", &text[..open]));
                return heads.flat_map(whole).collect();
            }
            (">", _) => depth -= 1,
            ("|", 1) => {
                choices.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    panic!("`<` without `>` in {text}")
}

/// Reads a call through the text form of graphs, in which tensors have names.
fn call_of(text: &str) -> (OpName, Vec<Arg<TensorType>>) {
    let (mut call, mut inputs) = (String::new(), vec![]);
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, ty) = rest.split_at(at);
        let mut end = ty.find(']').unwrap_or_else(|| panic!("no type behind % in {text}")) + 1;
        if ty[end..].starts_with('{') {
            end += ty[end..].find('}').unwrap_or_else(|| panic!("no `}}` in {text}")) + 1;
        }
        call += &format!("{before}%v{}", inputs.len());
        inputs.push(format!("%v{}: {}", inputs.len(), &ty[1..end]));
        rest = &ty[end..];
    }
    let graph = format!("graph({}) {{ {call}{rest} return () }}", inputs.join(", "));
    let graph = Graph::parse(&graph).unwrap_or_else(|error| panic!("{text}: {error}\n{graph}"));
    let NodeKind::Aten { op, args } = &graph.nodes[0].kind else { panic!("{text} is no call of an op") };
    (op.clone(), args.iter().map(|arg| arg.map(|value| graph.values[value.index()].ty.clone())).collect())
}
