//! The terms of `docs/terms.md`: that page is what `passhost explain` prints.

/// The page. A heading of the third level has the names of a term, those of the second divide them.
const PAGE: &str = include_str!("../../../../docs/terms.md");

/// What is said of a score, a verdict, a note or an exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The heading above it.
    pub section: &'static str,
    /// Its names, the first one for lists.
    pub names: Vec<&'static str>,
    /// Its paragraphs.
    pub text: Vec<&'static str>,
}

/// All terms, in the order of the page.
pub fn all() -> Vec<Term> {
    let mut terms: Vec<Term> = vec![];
    let mut section = "";
    for line in PAGE.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if let Some(names) = line.strip_prefix("### ") {
            terms.push(Term { section, names: names.split(", ").collect(), text: vec![] });
        } else if let Some(term) = terms.last_mut().filter(|term| term.section == section && !line.is_empty()) {
            term.text.push(line);
        }
    }
    terms
}

/// The term of a name as somebody types it: `pass-miss`, `S(-5)`, `3`.
pub fn find<'t>(terms: &'t [Term], name: &str) -> Option<&'t Term> {
    let name = folded(name);
    terms.iter().find(|term| term.names.iter().any(|known| folded(known) == name))
}

/// A name without what spellings differ by. A bare number is an exit code.
pub fn folded(name: &str) -> String {
    let lower = name.to_lowercase().replace(['_', '-'], " ");
    let words: Vec<&str> = lower.split_whitespace().collect();
    let name = words.join(" ");
    let number = name.strip_prefix("exit code").or(name.strip_prefix("exit")).unwrap_or(&name).trim();
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("exit code {number}");
    }
    match name.split_once('(') {
        Some((score @ ("s" | "es"), _)) => format!("{score}(t)"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use crate::summary::class_words;
    use passhost_result::{NoteKind, Progress};
    use passhost_score::{FailureClass, Verdict};
    use std::collections::BTreeSet;

    #[test]
    fn every_verdict_note_and_exit_code_is_explained() {
        let exits = [Exit::Success, Exit::Plugin, Exit::Usage, Exit::Host, Exit::Differs];
        let signals = [libc::SIGINT, libc::SIGTERM].map(|signal| Exit::Interrupted(u8::try_from(signal).unwrap_or(0)));
        let progress = [
            Progress::Written,
            Progress::Builds,
            Progress::Loads,
            Progress::Verifies,
            Progress::Runs,
            Progress::RightAtMinus2,
            Progress::RightAtMinus5,
            Progress::Faster,
        ];
        let names = Verdict::ALL
            .map(|verdict| verdict.to_string())
            .into_iter()
            .chain(FailureClass::ALL.into_iter().flat_map(|class| [class.to_string(), class_words(Some(class))]))
            .chain([class_words(None)])
            .chain(["variant", "eager", "nodes", "kernels", "control run", "scaled inputs"].map(str::to_owned))
            .chain(["edge-case inputs", "false-positive rate", "policy", "open", "miss"].map(str::to_owned))
            .chain(NoteKind::ALL.iter().map(|kind| kind.term().to_owned()))
            .chain(progress.map(|progress| progress.to_string()))
            .chain(exits.into_iter().chain(signals).map(|exit| exit.code().to_string()));
        let terms = all();
        let missing: Vec<String> = names.filter(|name| find(&terms, name).is_none()).collect();
        assert!(missing.is_empty(), "docs/terms.md has no entry for {missing:?}");
    }

    #[test]
    fn every_term_says_something_and_has_names_of_its_own() {
        let terms = all();
        let mut seen = BTreeSet::new();
        for Term { section, names, text } in &terms {
            assert!(!section.is_empty() && !text.is_empty(), "{names:?}");
            for name in names {
                assert!(seen.insert(folded(name)), "{name} stands twice");
            }
        }
    }

    #[test]
    fn spellings_do_not_matter() {
        let terms = all();
        for (typed, name) in [
            ("as STRICT", "AS strict"),
            ("pass-miss", "unchanged"),
            ("S(-5)", "S(t)"),
            ("es(0)", "ES(t)"),
            ("3", "exit code 3"),
            ("exit 130", "exit code 130"),
            ("t", "tolerance"),
            ("MISS", "unchanged"),
            ("edge case inputs", "edge-case inputs"),
        ] {
            assert_eq!(find(&terms, typed).map(|term| term.names[0]), Some(name), "{typed}");
        }
        assert_eq!(find(&terms, "exit"), None);
    }
}
