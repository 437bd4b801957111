//! Performs the worked examples of CONTRIBUTING.md in a copy of the sources, counts the files that they touch, and runs
//! what shows that they work. The copy stays in the target directory: only what changed is compiled again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const GUIDE: &str = include_str!("../../../../CONTRIBUTING.md");
const PROOF: &str = include_str!("contributing/proof.rs");
const OP: &str = include_str!("contributing/op.rs");

/// The heading of an example, the most files that it may touch, and the most columns of executors besides.
const EXAMPLES: [(&str, usize, usize); 3] = [
    ("## Worked example: a pointwise operation", 3, 2),
    ("## Worked example: a reduction", 3, 2),
    ("## Worked example: an ATen op", 3, 0),
];

/// What the copy consists of: a part of the workspace that compiles by itself.
const SOURCES: [&str; 12] = [
    "guest-sdk/Cargo.toml",
    "guest-sdk/src",
    "host/core/ir/Cargo.toml",
    "host/core/ir/src",
    "host/core/ir/ops",
    "host/run/kernels/Cargo.toml",
    "host/run/kernels/src",
    "host/judge/cache/Cargo.toml",
    "host/judge/cache/src",
    "tests/random-kernels/Cargo.toml",
    "tests/random-kernels/src",
    "tests/random-kernels/tests",
];

/// A change of a file: where these lines are, those come.
struct Hunk {
    path: String,
    before: Vec<String>,
    after: Vec<String>,
}

/// The changes of an example, in order.
fn hunks(heading: &str) -> Vec<Hunk> {
    let (_, section) = GUIDE.split_once(heading).unwrap_or_else(|| panic!("no `{heading}` in CONTRIBUTING.md"));
    let section = section.split("\n## ").next().unwrap();
    let mut hunks: Vec<Hunk> = Vec::new();
    for block in section.split("```diff\n").skip(1) {
        let mut path = String::new();
        for line in block.split("```").next().unwrap().lines() {
            if line.starts_with("--- a/") {
                continue;
            } else if let Some(found) = line.strip_prefix("+++ b/") {
                path = found.to_owned();
            } else if line == "@@" {
                hunks.push(Hunk { path: path.clone(), before: Vec::new(), after: Vec::new() });
            } else {
                let hunk = hunks.last_mut().unwrap();
                let (mark, text) = line.split_at_checked(1).unwrap_or((" ", ""));
                if mark != "+" {
                    hunk.before.push(text.to_owned());
                }
                if mark != "-" {
                    hunk.after.push(text.to_owned());
                }
            }
        }
    }
    hunks
}

/// Performs a change. The lines before it must be there, once.
fn apply(text: &str, hunk: &Hunk) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let places: Vec<usize> =
        lines.windows(hunk.before.len()).enumerate().filter(|(_, w)| *w == hunk.before).map(|(at, _)| at).collect();
    let [at] = places[..] else {
        panic!("{}: found at lines {places:?}, expected once:\n{}", hunk.path, hunk.before.join("\n"))
    };
    let after = hunk.after.iter().map(String::as_str);
    let changed = lines[..at].iter().copied().chain(after).chain(lines[at + hunk.before.len()..].iter().copied());
    changed.flat_map(|line| [line, "\n"]).collect()
}

/// Files below a path, relative to `root`, with their texts.
fn read(root: &Path, path: &str, files: &mut BTreeMap<String, String>) {
    let full = root.join(path);
    if full.is_file() {
        files.insert(path.to_owned(), fs::read_to_string(&full).unwrap());
        return;
    }
    for entry in fs::read_dir(&full).unwrap_or_else(|error| panic!("{path}: {error}")) {
        let name = entry.unwrap().file_name();
        read(root, &format!("{path}/{}", name.to_str().unwrap()), files);
    }
}

/// The workspace's manifest with fewer members, and without anything that costs compile time.
fn manifest(text: &str) -> String {
    let section = |name: &str| {
        let (_, rest) = text.split_once(&format!("[{name}]")).unwrap_or_else(|| panic!("no [{name}]"));
        format!("[{name}]{}", rest.split("\n[").next().unwrap())
    };
    let kept = ["workspace.package", "workspace.dependencies", "workspace.lints.rust", "workspace.lints.clippy"];
    format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"guest-sdk\", \"host/core/ir\", \"host/run/kernels\", \"host/judge/cache\", \"tests/random-kernels\"]\n\n{}\n\n\
         [profile.dev]\ndebug = false\ndebug-assertions = false\noverflow-checks = false\n",
        kept.map(section).join("\n")
    )
}

/// Makes a directory hold these files and no others but for build output, and touches none that holds its text already.
fn write(root: &Path, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let full = root.join(path);
        if fs::read_to_string(&full).is_ok_and(|found| found == *text) {
            continue;
        }
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }
    let mut found = BTreeMap::new();
    for folder in ["guest-sdk", "host", "tests"] {
        read(root, folder, &mut found);
    }
    for path in found.keys().filter(|path| !files.contains_key(*path)) {
        fs::remove_file(root.join(path)).unwrap();
    }
}

#[test]
fn examples_touch_no_more_files_than_promised() {
    for (heading, files, columns) in EXAMPLES {
        let hunks = hunks(heading);
        let touched: BTreeSet<&str> = hunks.iter().map(|hunk| hunk.path.as_str()).collect();
        let (in_columns, others): (Vec<&str>, Vec<&str>) =
            touched.into_iter().partition(|path| path.ends_with("/column.rs"));
        assert!(!others.is_empty() && others.len() <= files, "{heading}: {others:?}");
        assert!(in_columns.len() == columns, "{heading}: {in_columns:?}");
    }
}

#[test]
fn examples_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut files = BTreeMap::new();
    for path in SOURCES {
        read(&root, path, &mut files);
    }
    for hunk in EXAMPLES.iter().flat_map(|(heading, ..)| hunks(heading)) {
        let text = files.get_mut(&hunk.path).unwrap_or_else(|| panic!("{} is not part of the copy", hunk.path));
        *text = apply(text, &hunk);
    }
    files.insert("host/run/kernels/tests/proof.rs".to_owned(), PROOF.to_owned());
    files.insert("guest-sdk/tests/op.rs".to_owned(), OP.to_owned());
    files.insert("Cargo.toml".to_owned(), manifest(&fs::read_to_string(root.join("Cargo.toml")).unwrap()));
    let copy = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    write(&copy, &files);
    // Cargo leaves out of it what the copy does not need.
    if !copy.join("Cargo.lock").exists() {
        fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.args(["test", "--quiet", "--offline", "--target-dir"]).arg(copy.join("target")).args(arguments);
        let output = command.current_dir(&copy).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}:\n{text}");
        text
    };
    let listed = run(&["-p", "passhost-ir", "--lib", "--", "kernel::operations", "ops::tests"]);
    assert!(!listed.contains("running 0 tests"), "{listed}");
    let covered = run(&["-p", "passhost-random-kernels", "--test", "coverage"]);
    assert!(!covered.contains("running 0 tests"), "{covered}");
    let proven = run(&["-p", "passhost-kernels", "--test", "proof"]);
    assert!(proven.contains("2 passed"), "{proven}");
    let lowered = run(&["-p", "passhost-guest-sdk", "--test", "op"]);
    assert!(lowered.contains("2 passed"), "{lowered}");
}
