//! `passhost ops [NAME]`: what becomes of ops.

mod page;
mod rows;

use crate::exit::{Exit, Stop};
use crate::output::{print, print_text};
use crate::suggest;
use crate::terminal::{Terminal, Tone};
use clap::Args;
use passhost_corpus::lowerings::Calls;
use passhost_corpus::quantities::count;
use passhost_guest_sdk::lower::{Group, LoweringCoverage, coverage};
use passhost_ir::namespace::completed;
use passhost_ir::{OpName, OpTable, Schema};
use passhost_result::untrusted::one_line;
use rows::{graphnet, rows};

#[derive(Debug, Args)]
pub struct OpsArguments {
    /// An op, as `gelu`, `aten::add` or `aten::add.Tensor`: its schemas and where it may occur; a page of all ops if
    /// absent, which is docs/results/lowerings.md
    pub name: Option<String>,
}

/// Names that are suggested for one that is not there.
const SUGGESTIONS: usize = 5;

pub fn run(arguments: &OpsArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    match &arguments.name {
        Some(name) => print(one(name, terminal)?),
        None => print_text(&page::render(&rows()?)),
    }
    Ok(Exit::Success)
}

/// The overloads of one op.
fn one(name: &str, terminal: &Terminal) -> Result<Vec<String>, Stop> {
    let full = completed(name);
    let is_meant = |schema: &&Schema| schema.op.name == full || schema.op.to_string() == full;
    let found: Vec<&Schema> = OpTable::all().iter().filter(is_meant).collect();
    if found.is_empty() {
        return Err(Stop::usage(unknown(name, &full)));
    }
    let counts = graphnet()?;
    let mut lines = vec![];
    for schema in found {
        let title = terminal.wrap(&schema.to_string(), "");
        lines.extend(title.iter().map(|line| terminal.paint(Tone::Strong, line)));
        let mut say = |text: String| lines.extend(terminal.wrap(&text, "  "));
        say(where_it_occurs(schema));
        if schema.is_in_place() {
            continue;
        }
        say(what_becomes_of(schema));
        if let Some(calls) = counts.get(&schema.op.to_string()) {
            say(in_graphnet(calls));
        }
    }
    Ok(lines)
}

fn where_it_occurs(schema: &Schema) -> String {
    if schema.is_in_place() {
        return "occurs in samples; a pass sees the op without `_` in its place".to_owned();
    }
    if OpTable::sample().get(&schema.op).is_none() {
        return "occurs in training steps of `torch.compile` alone; a pass may keep it, and not insert it".to_owned();
    }
    match OpTable::insert().get(&schema.op) {
        Some(_) => "occurs in samples; a pass may insert it".to_owned(),
        None => "occurs in samples; a pass may keep it, and not insert it".to_owned(),
    }
}

fn what_becomes_of(schema: &Schema) -> String {
    let group = Group::name_of(&schema.op).map(|name| format!(" (Group::{name})")).unwrap_or_default();
    match coverage(&schema.op) {
        Some(LoweringCoverage::Kernel { condition: None }) => format!("becomes part of a kernel{group}"),
        Some(LoweringCoverage::Kernel { condition: Some(condition) }) => {
            format!("becomes part of a kernel{group}: {condition}")
        }
        Some(LoweringCoverage::View) => "is a view: kernels read through it".to_owned(),
        Some(LoweringCoverage::Library(reason)) => format!("stays a call: {reason}"),
        None => "is not known to the SDK".to_owned(),
    }
}

fn in_graphnet(calls: &Calls) -> String {
    let stay: u64 = calls.refused.values().sum();
    format!(
        "GraphNet: {} calls in {} graphs; {} kernels, {} views, {} stay",
        count(calls.calls),
        count(calls.graphs),
        count(calls.kernels),
        count(calls.views),
        count(stay)
    )
}

/// The names of ops that are like one, the likest first.
fn like(full: &str) -> Vec<String> {
    let short = full.trim_start_matches("aten::");
    let known = OpTable::sample().iter().map(|schema| schema.op.name.trim_start_matches("aten::"));
    suggest::like(short, known, SUGGESTIONS).into_iter().map(|name| format!("aten::{name}")).collect()
}

/// What is wrong with the name of an op that no graph has: ``no such op: `aten::ad`, did you mean `aten::add`?``.
pub fn no_such_op(name: &str) -> Option<String> {
    let seen = || OpTable::sample().iter().filter(|schema| !schema.is_in_place());
    let OpName { name: base, overload } = OpName::parse(name);
    if seen().any(|schema| schema.op.name == base && (overload.is_empty() || schema.op.overload == overload)) {
        return None;
    }
    // An op that writes in place is in a graph by the name of the one that does not.
    let full = completed(base.strip_suffix('_').unwrap_or(&base));
    let overloads: Vec<String> =
        seen().filter(|schema| schema.op.name == full).map(|schema| format!("`{}`", schema.op)).collect();
    let meant = match like(&full).into_iter().find(|name| !name.ends_with('_')) {
        _ if !overloads.is_empty() && full == base => format!("there are {}", overloads.join(", ")),
        _ if !overloads.is_empty() => format!("did you mean `{full}`?"),
        Some(like) => format!("did you mean `{like}`?"),
        None => "`passhost ops` has all".to_owned(),
    };
    Some(format!("no such op: `{}`, {meant}", one_line(name, 80)))
}

/// The message for a name that is on no list, with those that are like it.
fn unknown(name: &str, full: &str) -> String {
    let hint = suggest::did_you_mean(&like(full), "`passhost ops` has all");
    format!("no op of the list is called `{}`; {hint}", one_line(name, 80))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use expect_test::{expect, expect_file};

    #[test]
    fn the_page_in_the_documents_is_what_the_command_prints() {
        expect_file!["../../../../../docs/results/lowerings.md"]
            .assert_eq(&format!("{}\n", page::render(&rows().unwrap())));
    }

    #[test]
    fn the_counts_are_those_of_the_rules_as_they_are() {
        for (op, calls) in graphnet().unwrap() {
            let op = OpTable::sample().iter().find(|schema| schema.op.to_string() == op).unwrap().op.clone();
            let is_lowered = matches!(coverage(&op), Some(LoweringCoverage::Kernel { .. }));
            let say = "run scripts/lowerings: its counts are of other rules";
            assert!(is_lowered || calls.kernels == 0, "{op} has no lowering, but {} kernels; {say}", calls.kernels);
            let none = calls.refused.contains_key(passhost_corpus::lowerings::NO_LOWERING);
            assert!(!(is_lowered && none), "{op} has a lowering; {say}");
        }
    }

    #[test]
    fn names_that_no_graph_has_are_told_from_those_that_one_has() {
        for (name, said) in [
            ("aten::add", None),
            ("aten::add.Tensor", None),
            ("aten::relu", None),
            ("aten::ad", Some("no such op: `aten::ad`, did you mean `aten::add`?")),
            ("aten::layernorm", Some("no such op: `aten::layernorm`, did you mean `aten::layer_norm`?")),
            ("add", Some("no such op: `add`, did you mean `aten::add`?")),
            ("aten::relu_", Some("no such op: `aten::relu_`, did you mean `aten::relu`?")),
            ("aten::add.Foo", Some("no such op: `aten::add.Foo`, there are `aten::add.Scalar`, `aten::add.Tensor`")),
            ("aten::qqqq", Some("no such op: `aten::qqqq`, `passhost ops` has all")),
        ] {
            assert_eq!(no_such_op(name).as_deref(), said, "{name}");
        }
    }

    #[test]
    fn a_name_that_is_not_there_has_others_like_it() {
        let expected = expect!["no op of the list is called `layernorm`; did you mean `aten::layer_norm`?"];
        expected.assert_eq(&unknown("layernorm", "aten::layernorm"));
        let expected = expect!["no op of the list is called `qqqq`; `passhost ops` has all"];
        expected.assert_eq(&unknown("qqqq", "aten::qqqq"));
    }
}
