//! What must hold for the repository, and nothing else would notice.

use passhost_tests::repository;
use std::path::{Path, PathBuf};

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
