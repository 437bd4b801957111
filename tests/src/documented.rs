//! The commands that the documents and the helps show.

use crate::repository;
use std::path::PathBuf;

/// A command as it is written, without what a reader knows not to type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Documented {
    /// Where it stands.
    pub file: String,
    /// The words after `passhost`.
    pub words: Vec<String>,
    /// Whether it is a line of its own, and not a few words of a sentence.
    pub is_line: bool,
}

/// Every `passhost` command of the documents.
///
/// # Panics
///
/// If a document cannot be read.
pub fn documented() -> Vec<Documented> {
    let root = repository();
    let mut files: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "THREAT_MODEL.md"]
        .into_iter()
        .chain(["samples/README.md", "samples/extract/README.md", "tests/adversarial/README.md", "AUTHORING.md"])
        .map(|file| root.join(file))
        .filter(|file| file.exists())
        .collect();
    let listed = ["docs", "docs/results"].into_iter().flat_map(|pages| std::fs::read_dir(root.join(pages)));
    let pages = listed.flatten().flatten().map(|entry| entry.path());
    files.extend(pages.filter(|page| page.extension().is_some_and(|ending| ending == "md")));
    files.sort();
    let commands = files.iter().flat_map(|file| {
        let text = std::fs::read_to_string(file);
        assert!(text.is_ok(), "{}: {text:?}", file.display());
        let name = file.strip_prefix(&root).unwrap_or(file).display().to_string();
        of_page(&name, &text.unwrap_or_default())
    });
    commands.collect()
}

/// Those of one page.
fn of_page(file: &str, text: &str) -> Vec<Documented> {
    let mut found = vec![];
    let mut in_block = false;
    let text = text.replace("\\\n", " ");
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let line = line.trim_start().trim_start_matches("$ ");
            found.extend(command(file, line, true));
        } else {
            let spans = line.split('`').skip(1).step_by(2);
            found.extend(spans.filter_map(|span| command(file, span, false)));
        }
    }
    found
}

/// A line that begins with the program, up to what explains it or what it is piped to.
pub fn command(file: &str, line: &str, is_line: bool) -> Option<Documented> {
    let (program, rest) = line.split_once(' ')?;
    if !(program == "passhost" || program.ends_with("/passhost")) {
        return None;
    }
    let ends = ["  ", " | ", " > ", " >> ", " && ", " #"];
    let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    let words = rest[..end].split_whitespace().map(|word| word.trim_matches(['[', ']']).trim_end_matches("..."));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    Some(Documented { file: file.to_owned(), words, is_line })
}
