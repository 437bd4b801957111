//! What must hold for the repository, and nothing else would notice.

use passhost_tests::repository;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn read(path: &Path) -> String {
    let text = std::fs::read_to_string(path);
    assert!(text.is_ok(), "{}: {text:?}", path.display());
    text.unwrap_or_default()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory);
    assert!(entries.is_ok(), "{}: {entries:?}", directory.display());
    entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[test]
fn every_file_of_these_tests_is_a_module() {
    let tests = repository().join("tests/tests");
    let main = read(&tests.join("main.rs"));
    let modules = main.lines().filter(|line| line.starts_with("mod ")).count();
    let files = entries(&tests).iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs")).count();
    assert_eq!(modules + 1, files, "a file that main.rs does not name is never run");
}

/// The files of Rust below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    let files = entries(directory).into_iter().flat_map(below);
    files.filter(|path| path.extension().is_some_and(|kind| kind == "rs")).collect()
}

#[test]
fn one_file_of_the_command_writes_to_the_terminal() {
    let host = repository().join("host");
    let writes = ["println!", "eprintln!", "print!(", "io::stdout()", "io::stderr()", "Stdio::inherit"];
    // Looks whether the streams are a terminal.
    let known = ["apps/cli/src/output.rs", "apps/cli/src/terminal.rs"].map(|file| host.join(file));
    let others: Vec<PathBuf> =
        sources(&host.join("apps/cli/src")).into_iter().filter(|path| !known.contains(path)).collect();
    assert!(others.len() > 60, "{}", others.len());
    for path in others {
        let found = writes.iter().find(|call| read(&path).contains(**call));
        assert_eq!(found, None, "{}: text reaches the terminal by `output` alone", path.display());
    }
    for path in sources(&host).iter().filter(|path| path.components().any(|part| part.as_os_str() == "src")) {
        assert!(!read(path).contains("Stdio::inherit"), "{}: another program would write to it", path.display());
    }
}

#[test]
fn our_own_crates_are_checked_in_every_build() {
    let manifest = read(&repository().join("Cargo.toml"));
    let stanzas = manifest.split("\n[").filter_map(|stanza| stanza.split_once("]\n"));
    let mut unchecked = vec![];
    for (heading, text) in stanzas.filter(|(heading, _)| heading.starts_with("profile.dev")) {
        let takes_away = text.contains("debug-assertions = false") || text.contains("overflow-checks = false");
        unchecked.extend(takes_away.then_some(heading));
    }
    // Dependencies, and numerical code that is timed against PyTorch in every build.
    assert_eq!(unchecked, ["profile.dev.package.\"*\"", "profile.dev.package.passhost-kernels"]);
}

/// The files of the repository with such names, one a line.
fn tracked(pattern: &str) -> std::io::Result<String> {
    let tracked = Command::new("git").args(["ls-files", pattern]).current_dir(repository()).output()?;
    assert!(tracked.status.success(), "{tracked:?}");
    Ok(String::from_utf8_lossy(&tracked.stdout).into_owned())
}

#[test]
fn samples_are_few_files_and_no_path_is_long() -> std::io::Result<()> {
    let tracked = tracked("*")?;
    let samples = tracked.lines().filter(|path| path.starts_with("samples/")).count();
    assert!((134..=220).contains(&samples), "{samples} files in samples/: `passhost samples pack` makes one of a task");
    let longest = tracked.lines().max_by_key(|path| path.chars().count()).unwrap_or_default();
    assert!(longest.chars().count() <= 120, "{} characters: {longest}", longest.chars().count());
    Ok(())
}

/// The links of a page to files of this repository, without places in them.
fn links(text: &str) -> Vec<&str> {
    let outside_code = text.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2));
    let links = outside_code.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split([')', '#']).next());
    links.filter(|link| !link.is_empty() && !link.contains("://")).collect()
}

#[test]
fn every_page_is_listed_and_every_link_leads_somewhere() -> std::io::Result<()> {
    let root = repository().canonicalize()?;
    let tracked = tracked("*.md")?;
    let (contents, mut listed, mut wrong) = ("docs/SUMMARY.md", BTreeSet::new(), vec![]);
    for page in tracked.lines() {
        let path = root.join(page);
        let directory = path.parent().unwrap_or(&root);
        for link in links(&read(&path)) {
            match directory.join(link).canonicalize() {
                Ok(to) if page == contents => drop(listed.insert(to)),
                Ok(_) => {}
                Err(error) => wrong.push(format!("{page} links to {link}: {error}")),
            }
        }
    }
    let left_out = tracked.lines().filter(|page| *page != contents && !listed.contains(&root.join(page)));
    wrong.extend(left_out.map(|page| format!("{contents} leaves out {page}")));
    assert!(wrong.is_empty() && listed.len() > 20, "{}", wrong.join("\n"));
    Ok(())
}
