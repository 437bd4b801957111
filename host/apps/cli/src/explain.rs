//! What a pass said of the graphs that it was given: its log and its refusals. All of it is the plugin's text.

use crate::terminal::{Terminal, Tone, wrap};
use passhost_result::Refusal;
use passhost_result::document::{Document, Variant};
use passhost_result::untrusted::one_line;

/// Lines of a log, and refusals, that are shown of one variant.
const SHOWN: usize = 50;
/// Characters of a line of a log, and of a refusal.
const REASON: usize = 600;

/// What the pass said of each variant; where it said the same of several, once.
pub fn render(document: &Document, terminal: &Terminal) -> Vec<String> {
    let mut said: Vec<(Vec<String>, Vec<&str>)> = vec![];
    for variant in &document.variants {
        let lines = of_variant(variant, terminal);
        match said.iter_mut().find(|(known, _)| *known == lines) {
            Some((_, names)) => names.push(&variant.name),
            None => said.push((lines, vec![&variant.name])),
        }
    }
    let block = |(lines, names): (Vec<String>, Vec<&str>)| {
        let of = match names.as_slice() {
            _ if names.len() == document.variants.len() => "each variant".to_owned(),
            [only] => one_line(only, 120),
            [first, others @ ..] => format!("{} and {} others", one_line(first, 120), others.len()),
            [] => String::new(),
        };
        let title = terminal.paint(Tone::Strong, &format!("what the pass said of {of}:"));
        std::iter::once(title).chain(lines).collect::<Vec<_>>()
    };
    said.into_iter().flat_map(block).collect()
}

fn of_variant(variant: &Variant, terminal: &Terminal) -> Vec<String> {
    let log = variant.usage.as_ref().map_or("", |usage| usage.log.as_str());
    let mut lines = log_lines(log, terminal.width());
    let refusals = variant.rewrite.as_ref().map_or(&[][..], |rewrite| &rewrite.refusals);
    lines.extend(refusals.iter().take(SHOWN).flat_map(|refusal| terminal.wrap(&left_alone(refusal), "  ")));
    if refusals.len() > SHOWN {
        lines.push(format!("  and {} other reasons, see --json", refusals.len() - SHOWN));
    }
    if lines.is_empty() {
        let is_changed = variant.rewrite.as_ref().is_some_and(|rewrite| !rewrite.pass_miss);
        let text = match is_changed {
            true => "nothing: it changed the graph, logged nothing and gave no reason for what it left alone",
            false => {
                "nothing: it logged nothing and gave no reason for what it left alone; log!, Rewriter::refuse and \
                 Rewriter::for_each_match say something here"
            }
        };
        lines.extend(terminal.wrap(text, "  "));
    }
    lines
}

fn log_lines(log: &str, width: usize) -> Vec<String> {
    let lines = log.lines().map(|line| one_line(line, REASON)).filter(|line| !line.is_empty()).take(SHOWN);
    lines.flat_map(|line| wrap(&format!("log: {line}"), width, "  ")).collect()
}

/// `left alone #3 #4: why`.
fn left_alone(refusal: &Refusal) -> String {
    let nodes: Vec<String> = refusal.nodes.iter().map(ToString::to_string).collect();
    format!("left alone {}: {}", nodes.join(" "), one_line(&refusal.reason, REASON))
}
