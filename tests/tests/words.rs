//! README is short, and what a user reads has the field's words.

use crate::documented::COMMANDS;
use passhost_tests::{Passhost, repository};
use std::path::{Path, PathBuf};

/// Words that README may have.
const WORDS: usize = 900;

/// Phrases that are not to be read, each with what is said in their place.
const REFUSED: &[(&str, &str)] = &[
    ("wrong in at most 1 of", "false-positive rate at most"),
    ("right from", "passes at"),
    ("beside itself and beside", "control run differs from eager"),
    ("needs to trust", "untrusted"),
    ("behind walls", "sandboxed"),
    ("left whole", "unchanged"),
    ("put back", "write back"),
    ("unusual input", "edge-case input"),
    ("unusual round", "edge-case round"),
    ("stressed", "scaled"),
    ("one launch after the other", "stream launch"),
    ("samples' sake", "because the sample cannot be judged"),
    ("hardly knows", "barely distinguishes"),
];

/// Lines that may have a refused phrase all the same, by a part of them: what old documents call a thing, and what it is now.
const ALLOWED: &[&str] = &["stressed scaled"];

/// The refused phrases of a text.
fn refused(place: &str, text: &str) -> Vec<String> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !ALLOWED.iter().any(|part| line.contains(part)));
    let found = lines.flat_map(|(line, number)| {
        let of_line = REFUSED.iter().filter(|(phrase, _)| line.to_lowercase().contains(phrase));
        of_line.map(move |(phrase, better)| format!("{place}:{number} has \"{phrase}\", say \"{better}\""))
    });
    found.collect()
}

/// The strings of a source without its tests and attributes, a line each: what is between quotes on one line.
fn messages(source: &str) -> String {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines =
        code.lines().map(|line| match line.trim_start().starts_with("//") || line.trim_start().starts_with("#[") {
            true => String::new(),
            false => line.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" "),
        });
    lines.collect::<Vec<_>>().join("\n")
}

fn read(path: &Path) -> String {
    let text = std::fs::read_to_string(path);
    assert!(text.is_ok(), "{}: {text:?}", path.display());
    text.unwrap_or_default()
}

/// Sources below a directory whose strings a user may read.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let is_test = ["tests", "tests.rs", "benches", "examples", "fuzz", "target"].iter().any(|test| name == *test);
        match path.is_dir() {
            _ if is_test => {}
            true => found.extend(sources(&path)),
            false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
            false => {}
        }
    }
    found
}

#[test]
fn readme_is_read_in_five_minutes() {
    let words = read(&repository().join("README.md")).split_whitespace().count();
    assert!(words <= WORDS, "README.md has {words} words of {WORDS}: move what a newcomer does not need to its page");
}

#[test]
fn what_a_user_reads_has_the_fields_words() {
    let mut found = vec![];
    let pages = ["", "docs"].into_iter().flat_map(|root| std::fs::read_dir(repository().join(root)));
    let pages = pages.flatten().flatten().map(|entry| entry.path());
    let pages: Vec<PathBuf> = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    assert!(pages.len() > 12, "{} pages", pages.len());
    for page in pages {
        found.extend(refused(&page.display().to_string(), &read(&page)));
    }
    for words in COMMANDS {
        let help = Passhost::new(words.iter().chain(&["--help"])).run();
        found.extend(refused(&format!("passhost {} --help", words.join(" ")), &help.out));
    }
    let all: Vec<PathBuf> =
        ["host", "guest-sdk", "plugins"].iter().flat_map(|root| sources(&repository().join(root))).collect();
    assert!(all.len() > 400, "{} sources", all.len());
    for source in all {
        found.extend(refused(&source.display().to_string(), &messages(&read(&source))));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_refused_phrase_is_found_in_pages_and_messages_alone() {
    let said = "outputs are right from t = {t} on";
    assert_eq!(refused("page", said), ["page:1 has \"right from\", say \"passes at\""]);
    assert_eq!(refused("page", "Right from the start"), ["page:1 has \"right from\", say \"passes at\""]);
    let source = format!("// right from here\nlet x = \"{said}\"; // put back\n#[cfg(test)]\nlet y = \"stressed\";");
    assert_eq!(refused("source", &messages(&source)), ["source:2 has \"right from\", say \"passes at\""]);
}
