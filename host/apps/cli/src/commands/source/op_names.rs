//! Names of ops in a source that no graph has: a pattern with one matches nothing, and the compiler takes it for any text.

use crate::commands::ops::no_such_op;
use passhost_builder::{Diagnostic, Excerpt, Level, PassSource};
use passhost_result::untrusted::indented;

/// Names that are shown of a source.
const SHOWN: usize = 20;
/// Characters of a line.
const LINE: usize = 160;

/// A warning for each name in the text of a source, as ``no such op: `aten::ad`, did you mean `aten::add`?``.
pub fn unknown_ops(source: &PassSource) -> Vec<Diagnostic> {
    let files = source.files().map(|(path, bytes)| (path.display().to_string(), String::from_utf8_lossy(bytes)));
    let found = files.flat_map(|(file, text)| {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        let named = lines.flat_map(|(number, line)| names(line).map(move |(at, name)| (number, line, at, name)));
        let unknown = named.filter_map(|(number, line, at, name)| {
            let place = Excerpt {
                file: file.clone(),
                line: number + 1,
                column: line[..at].chars().count() + 1,
                text: indented(line, LINE),
                length: name.len() + 2,
                label: String::new(),
            };
            let message = no_such_op(name)?;
            Some(Diagnostic {
                level: Level::Warning,
                code: None,
                message,
                place: Some(place),
                related: vec![],
                notes: vec![],
            })
        });
        unknown.collect::<Vec<Diagnostic>>()
    });
    found.take(SHOWN).collect()
}

/// The literals of a line that are names of ops, by a namespace or as what `op` is given, and where each begins.
fn names(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.:".contains(c));
    let literals = line.match_indices('"').filter_map(move |(at, _)| Some((at, line[at + 1..].split_once('"')?.0)));
    literals.filter(move |&(at, text)| {
        let is_op = text.starts_with("aten::") || (!text.contains(':') && line[..at].ends_with("op("));
        is_op && is_name(text)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_name_is_shown_where_it_stands() {
        let text = r#"
// op("aten::no_comment", [])
fn run() {
    let gate = op("aten::ad", [op("silu", [any("x")]), any("aten")]);
    let é = (op("aten::mul", []), op("aten::relu_.default", []));
    log!("aten::what is logged", "x");
}"#;
        let found = unknown_ops(&PassSource::of_text(text).unwrap());
        let lines: Vec<String> = found.iter().flat_map(Diagnostic::lines).collect();
        expect![[r#"
            warning: no such op: `aten::ad`, did you mean `aten::add`?
             --> pass.rs:4:19
            4 |     let gate = op("aten::ad", [op("silu", [any("x")]), any("aten")]);
              |                   ^^^^^^^^^^
            warning: no such op: `silu`, did you mean `aten::silu`?
             --> pass.rs:4:35
            4 |     let gate = op("aten::ad", [op("silu", [any("x")]), any("aten")]);
              |                                   ^^^^^^
            warning: no such op: `aten::relu_.default`, did you mean `aten::relu`?
             --> pass.rs:5:38
            5 |     let é = (op("aten::mul", []), op("aten::relu_.default", []));
              |                                      ^^^^^^^^^^^^^^^^^^^^^
        "#]]
        .assert_eq(&(lines.join("\n") + "\n"));
    }
}
