//! What is said of a command line that cannot be taken: clap's words, in which each text from the command line or from a file
//! is on one line.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error};
use passhost_result::untrusted::escaped;
use std::error::Error as _;

/// The lines of an error of clap's.
pub fn lines(error: &Error, command: &Command) -> Vec<String> {
    let mut clean: Error = Error::new(error.kind()).with_cmd(command);
    for (kind, value) in error.context() {
        clean.insert(kind, on_one_line(kind, value));
    }
    let text = if error.context().next().is_some() { clean.render() } else { error.render() };
    let mut lines: Vec<String> = text.to_string().trim_end().lines().map(str::to_owned).collect();
    // What a parser of values says stands behind clap's own words, which are one line.
    if let (Some(source), Some(first)) = (error.source(), lines.first_mut()) {
        first.push_str(&format!(": {}", escaped(&source.to_string())));
    }
    lines
}

fn on_one_line(kind: ContextKind, value: &ContextValue) -> ContextValue {
    let styled = |text: &StyledStr| StyledStr::from(escaped(&text.to_string()));
    match value {
        ContextValue::String(text) => ContextValue::String(escaped(text)),
        ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(|text| escaped(text)).collect()),
        // Made of the definition of the command line, it has lines of its own.
        ContextValue::StyledStr(text) if kind == ContextKind::Usage => ContextValue::StyledStr(text.clone()),
        ContextValue::StyledStr(text) => ContextValue::StyledStr(styled(text)),
        ContextValue::StyledStrs(texts) => ContextValue::StyledStrs(texts.iter().map(styled).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::arguments::after_help;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn refused(words: &[&str]) -> (Error, Vec<String>) {
        let mut command = after_help::finished(Cli::command());
        let words = ["passhost"].iter().chain(words);
        let error = command.try_get_matches_from_mut(words).unwrap_err();
        let lines = lines(&error, &command);
        (error, lines)
    }

    #[test]
    fn errors_say_what_clap_says() {
        for words in [
            &["frobnicate"][..],
            &["evl"],
            &["eval"],
            &["eval", "p.wasm", "s", "--budget", "soon"],
            &["eval", "p.wasm", "s", "--threads", "0"],
            &["eval", "p.wasm", "s", "--jsn", "x"],
            &["eval", "p.wasm", "s", "--json"],
            &["eval", "p.wasm", "s", "--json", "a", "--json", "b"],
            &["eval", "p.wasm", "s", "--launch", "none"],
            &["show", "s", "--diff"],
            &["completions", "bsh"],
            &["guide", "more"],
        ] {
            let (error, lines) = refused(words);
            assert_eq!(lines.join("\n"), error.render().to_string().trim_end(), "{words:?}");
        }
    }

    #[test]
    fn no_value_makes_a_line() {
        const HOSTILE: &str = "a\nok  b\u{1b}[2J";
        for words in [
            &[HOSTILE][..],
            &["eval", "p.wasm", "s", "--budget", HOSTILE],
            &["eval", "p.wasm", "s", "--device", HOSTILE],
            &["eval", "p.wasm", "s", "--launch", HOSTILE],
            &["eval", "p.wasm", "s", "--policy", HOSTILE],
            &["eval", "p.wasm", "s", &format!("--{HOSTILE}")],
            &["guide", HOSTILE],
        ] {
            let lines = refused(words).1;
            assert!(!lines.iter().any(|line| line.contains(['\n', '\u{1b}']) || line.starts_with("ok")), "{lines:?}");
            assert!(lines[0].contains("a\\nok  b"), "{lines:?}");
        }
    }
}
