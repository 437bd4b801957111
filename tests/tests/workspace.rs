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

/// What stands under a heading of a manifest.
fn section<'a>(manifest: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = manifest.split_once(&format!("\n[{heading}]\n"))?;
    rest.split("\n[").next()
}

#[test]
fn our_own_crates_are_checked_in_every_build() {
    let manifest = read(&repository().join("Cargo.toml"));
    let (_, members) = manifest.split_once("members = [").expect("the workspace names its members");
    let members: Vec<&str> = members.split(']').next().unwrap_or_default().split('"').skip(1).step_by(2).collect();
    assert!(members.contains(&"host/ir"), "{members:?}");
    for member in members.iter().filter(|member| !member.starts_with("stand-ins/")) {
        let text = read(&repository().join(member).join("Cargo.toml"));
        let name = text.split_once("name = \"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default();
        let profile = section(&manifest, &format!("profile.dev.package.{name}")).unwrap_or_default();
        // Numerical code that is timed against PyTorch in every build: see there.
        let checks = if name == "passhost-kernels" { &[][..] } else { &["debug-assertions", "overflow-checks"] };
        for setting in checks {
            assert!(profile.contains(&format!("{setting} = true")), "the root manifest leaves out {setting} of {name}");
        }
        assert!(profile.contains("debug = \"line-tables-only\""), "{name} has no lines in its backtraces");
    }
}
