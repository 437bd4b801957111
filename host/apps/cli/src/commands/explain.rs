//! `passhost explain [TERM]`

use crate::exit::{Exit, Stop};
use crate::output::print;
use crate::suggest;
use crate::terminal::{Terminal, Tone};
use crate::terms::{Term, all, find, folded};
use clap::Args;
use passhost_result::untrusted::one_line;

#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// A score, a verdict, the term of a note or an exit code; lists all if absent
    pub term: Vec<String>,
}

/// Names that are suggested for one that is not there.
const SUGGESTIONS: usize = 3;

pub fn run(arguments: &ExplainArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let terms = all();
    if arguments.term.is_empty() {
        print(list(&terms, terminal));
        return Ok(Exit::Success);
    }
    let name = arguments.term.join(" ");
    match find(&terms, &name) {
        Some(term) => print(entry(term, terminal)),
        None => return Err(Stop::usage(unknown(&terms, &name))),
    }
    Ok(Exit::Success)
}

fn entry(Term { names, text, .. }: &Term, terminal: &Terminal) -> Vec<String> {
    let mut lines = terminal.painted(Tone::Strong, &names.join(", "), "");
    lines.extend(text.iter().flat_map(|paragraph| terminal.wrap(paragraph, "  ")));
    lines
}

/// The names of all terms below the titles of their sections.
fn list(terms: &[Term], terminal: &Terminal) -> Vec<String> {
    let sections = terms.chunk_by(|one, other| one.section == other.section);
    let mut lines: Vec<String> = sections
        .flat_map(|terms| {
            let names: Vec<&str> = terms.iter().map(|term| term.names[0]).collect();
            let title = terminal.painted(Tone::Strong, terms[0].section, "");
            title.into_iter().chain(terminal.wrap(&names.join(", "), "  "))
        })
        .collect();
    lines.extend(terminal.wrap("`passhost explain TERM` explains one of them", ""));
    lines
}

/// The message for a name that no term has, with those that are like it.
fn unknown(terms: &[Term], name: &str) -> String {
    let known = || terms.iter().flat_map(|term| term.names.iter().copied());
    let folds: Vec<(String, &str)> = known().map(|name| (folded(name), name)).collect();
    let like = suggest::like(&folded(name), folds.iter().map(|(fold, _)| fold.as_str()), SUGGESTIONS);
    let like: Vec<&str> = like
        .into_iter()
        .filter_map(|like| folds.iter().find(|(fold, _)| fold == like))
        .map(|(_, name)| *name)
        .collect();
    let hint = suggest::did_you_mean(&like, "`passhost explain` lists all terms");
    format!("no term is called `{}`; {hint}", one_line(name, 80))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_term_has_is_met_with_those_that_are_like_it() {
        for (name, says) in [
            ("undecidd", "no term is called `undecidd`; did you mean `undecided`?"),
            ("strict", "no term is called `strict`; did you mean `AS strict`?"),
            ("qqq", "no term is called `qqq`; `passhost explain` lists all terms"),
        ] {
            assert_eq!(unknown(&all(), name), says);
        }
    }
}
