//! A lower layer knows none above it: `host/core`, `host/run`, `host/judge`, `host/apps`, and the SDK on core alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_tests::repository;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// From below. What the SDK is built on is core's; nothing of a layer but tests is built on the SDK below apps.
const LAYERS: [&str; 4] = ["core", "run", "judge", "apps"];

/// What code without I/O and without other languages does not name.
const IMPURE: [&str; 13] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::io",
    "std::thread",
    "Instant",
    "SystemTime",
    "extern \"C\"",
    "unsafe {",
    "libc::",
    "rustix::",
    "println!",
];

/// Where the logic of single ops is: how they lower, what they return where PyTorch does not say, how Python calls them.
const LOGIC: [&str; 5] = [
    "guest-sdk/src/lower/contraction/",
    "guest-sdk/src/lower/moves/",
    "guest-sdk/src/lower/rules/",
    "host/core/ir/src/typing/",
    "host/judge/sample/src/translate/",
];

/// Other files that name ops: they make calls of them, but for `space.rs`, where rolls and flips stay in place.
const CALLERS: [&str; 11] = [
    "guest-sdk/src/lower/space.rs",
    "guest-sdk/src/rewriter/layout.rs",
    "guest-sdk/src/rewriter/together.rs",
    "host/core/ir/src/double.rs",
    "host/core/ir/src/functional/draft.rs",
    "host/core/ir/src/functional/follow.rs",
    "host/core/ir/src/functional/memory.rs",
    "host/core/ir/src/functional/overwrite.rs",
    "host/core/ir/src/ops/row.rs",
    "host/judge/bench/src/types.rs",
    "host/run/runtime/src/write_back.rs",
];

/// A package of this workspace.
struct Package {
    /// From the root.
    directory: PathBuf,
    /// Packages of this workspace that its programs and libraries are built on, and those of its tests besides.
    needs: BTreeSet<String>,
    tests_need: BTreeSet<String>,
}

fn packages() -> BTreeMap<String, Package> {
    let root = repository().canonicalize().unwrap();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let metadata = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let package = |value: &Value| {
        let needs = |is_wanted: fn(&Value) -> bool| {
            let all = value["dependencies"].as_array().into_iter().flatten();
            all.filter(|one| one["path"].is_string() && is_wanted(&one["kind"])).map(|one| text(&one["name"])).collect()
        };
        let manifest = PathBuf::from(text(&value["manifest_path"]));
        let directory = manifest.parent().and_then(|path| path.strip_prefix(&root).ok()).unwrap().to_owned();
        let package = Package { directory, needs: needs(|kind| kind != "dev"), tests_need: needs(|_| true) };
        (text(&value["name"]), package)
    };
    metadata["packages"].as_array().into_iter().flatten().map(package).collect()
}

/// The layer of a path from the root, by its place in [`LAYERS`].
fn layer(path: &Path) -> Option<usize> {
    let below = path.strip_prefix("host").ok()?;
    LAYERS.iter().position(|layer| below.starts_with(layer))
}

/// All that a package, with its tests, is built on. Of other packages the tests do not count.
fn all_needed(packages: &BTreeMap<String, Package>, name: &str) -> BTreeSet<String> {
    let (mut found, mut next) = (BTreeSet::new(), packages[name].tests_need.clone());
    while let Some(name) = next.pop_first() {
        next.extend(packages[&name].needs.iter().filter(|other| !found.contains(*other)).cloned());
        found.insert(name);
    }
    found
}

/// The sources of a package that are not tests.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

#[test]
fn a_lower_layer_is_built_and_tested_without_those_above() {
    let packages = packages();
    let mut counts = [0; LAYERS.len()];
    for (name, package) in &packages {
        let Some(own) = layer(&package.directory) else { continue };
        counts[own] += 1;
        for other in all_needed(&packages, name) {
            let directory = &packages[&other].directory;
            let is_above = layer(directory).is_some_and(|other| other > own);
            assert!(!is_above, "{} is built on {}", package.directory.display(), directory.display());
        }
    }
    assert!(counts.iter().all(|count| *count >= 3), "{counts:?}: some layer was not looked at");
    let sdk = packages["passhost-guest-sdk"].needs.iter().map(|name| layer(&packages[name].directory));
    assert!(sdk.clone().count() > 0 && sdk.clone().all(|layer| layer == Some(0)), "the SDK is built on core alone");
    let without = ["passhost-kernels", "passhost-runtime"].map(|name| all_needed(&packages, name));
    assert!(without.iter().all(|all| !all.contains("passhost-torch")), "kernels and the runtime need no libtorch");
    let judge = all_needed(&packages, "passhost-supervisor");
    assert!(!judge.contains("passhost-guest-sdk"), "what judges a pass has nothing of what it is made with");
}

#[test]
fn no_file_of_a_lower_layer_is_compiled_from_one_above() {
    let root = repository().canonicalize().unwrap();
    let mut found = 0;
    for file in sources(&root.join("host")) {
        let own = layer(file.strip_prefix(&root).unwrap());
        let text = std::fs::read_to_string(&file).unwrap();
        let named = text.split("#[path = \"").skip(1).chain(text.split("include_str!(\"").skip(1));
        for path in named.filter_map(|rest| rest.split('"').next()) {
            let Ok(path) = file.parent().unwrap().join(path).canonicalize() else { continue };
            found += 1;
            let is_above = layer(path.strip_prefix(&root).unwrap()) > own;
            assert!(!is_above, "{} is compiled with {}", file.display(), path.display());
        }
    }
    assert!(found > 20, "only {found} paths were found");
}

/// The sources below a directory with their texts, without tests.
fn code(directory: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    let of_code = |path: &PathBuf| {
        let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        parts.contains(&"src") && !parts.iter().any(|part| part.contains("tests"))
    };
    sources(directory).into_iter().filter(of_code).map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        // Tests stand at the end of a file.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
        (path, text)
    })
}

#[test]
fn an_op_is_known_by_the_table_and_by_its_logic_alone() {
    let root = repository();
    let mut callers = BTreeSet::new();
    let parts = ["host/core", "host/run", "host/judge", "guest-sdk"].map(|part| root.join(part));
    for (path, text) in parts.iter().flat_map(|part| code(part)) {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let names = |line: &str| {
            line.split("\"aten::").skip(1).any(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        };
        let path = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        if lines.filter(|line| names(line)).count() > 0 && !LOGIC.iter().any(|logic| path.starts_with(logic)) {
            callers.insert(path);
        }
    }
    let expected: BTreeSet<String> = CALLERS.iter().map(|path| (*path).to_owned()).collect();
    assert_eq!(callers, expected, "what is particular about an op is a row of host/core/ir/ops/table.txt");
}

#[test]
fn core_does_no_io_and_calls_no_other_language() {
    let mut count = 0;
    for (path, text) in code(&repository().join("host/core")) {
        let found = IMPURE.iter().find(|word| text.contains(**word));
        assert!(found.is_none(), "{} names {found:?}", path.display());
        count += 1;
    }
    assert!(count > 50, "only {count} files were found");
}
