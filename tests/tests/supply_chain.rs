//! The versions that Cargo.lock names, held to the list of known escapes. Licences, duplicates and sources are looked at by
//! `scripts/supply-chain`.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use passhost_tests::repository;
use semver::{Version, VersionReq};
use serde_json::Value;
use std::process::Command;

/// An advisory: its names, the versions that do not have it, and what a guest could do.
struct Advisory {
    names: String,
    fixed: Vec<VersionReq>,
    what: String,
}

fn read(path: &str) -> String {
    let text = std::fs::read_to_string(repository().join(path));
    assert!(text.is_ok(), "{path}: {text:?}");
    text.unwrap_or_default()
}

fn advisories() -> Vec<Advisory> {
    let text = read("host/judge/sandbox/escapes.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            let [names, fixed @ .., what] = columns.as_slice() else { panic!("`{line}` has too few columns") };
            let fixed =
                fixed.iter().map(|range| VersionReq::parse(range).unwrap_or_else(|error| panic!("{line}: {error}")));
            Advisory { names: (*names).into(), fixed: fixed.collect(), what: (*what).into() }
        })
        .collect()
}

/// Advisories that are open in a version, with what a guest could do.
fn open_in(version: &Version) -> Vec<String> {
    let open = advisories().into_iter().filter(|advisory| !advisory.fixed.iter().any(|range| range.matches(version)));
    open.map(|advisory| format!("{}: {}", advisory.names, advisory.what)).collect()
}

/// The names and versions of all packages that Cargo.lock names.
fn locked() -> Vec<(String, Version)> {
    let text = read("Cargo.lock");
    let field = |package: &str, name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"")));
        line.and_then(|line| line.strip_suffix('"')).unwrap_or_default().to_owned()
    };
    let packages = text.split("[[package]]").skip(1);
    packages
        .map(|package| {
            let version = Version::parse(&field(package, "version"));
            (field(package, "name"), version.unwrap_or_else(|error| panic!("{package}: {error}")))
        })
        .collect()
}

fn versions_of<'a>(locked: &'a [(String, Version)], name: &str) -> Vec<&'a Version> {
    locked.iter().filter(|(package, _)| package == name).map(|(_, version)| version).collect()
}

#[test]
fn no_known_escape_is_open_in_the_wasmtime_that_is_locked() {
    let locked = locked();
    let [wasmtime] = versions_of(&locked, "wasmtime")[..] else { panic!("one wasmtime is expected") };
    let open = open_in(wasmtime);
    assert!(open.is_empty(), "wasmtime {wasmtime} lets a guest out; update it: {open:#?}");
    let cranelift = Version::new(0, 87 + wasmtime.major, wasmtime.patch);
    assert_eq!(versions_of(&locked, "cranelift-codegen"), [&cranelift], "Cranelift is not of the same release");
}

#[test]
fn a_version_is_affected_until_its_own_line_is_fixed() {
    for (version, expected) in [
        ("36.0.18", &["GHSA-897f", "GHSA-mghf", "GHSA-qw58"][..]),
        ("36.0.19", &["GHSA-qw58"]),
        ("48.0.6", &["GHSA-mghf", "GHSA-qw58"]),
        ("48.0.7", &["GHSA-qw58"]),
        ("48.0.8", &[]),
        ("50.0.0", &["GHSA-qw58"]),
        ("50.0.1", &[]),
    ] {
        let open = open_in(&Version::parse(version).expect("a version"));
        let found: Vec<&str> = open.iter().filter_map(|advisory| advisory.get(..9)).collect();
        assert_eq!(found, expected, "{version}");
    }
}

#[test]
fn winch_and_what_else_wasmtime_could_bring_is_not_compiled_in() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // For one system, so that crates of others need not be there.
    let system = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    command.args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", &system]);
    command.current_dir(repository());
    let output = command.output().expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let nodes = metadata["resolve"]["nodes"].as_array().expect("a resolved graph");
    let name = |node: &Value| node["id"].as_str().unwrap_or_default().to_owned();
    let winch: Vec<String> = nodes.iter().map(name).filter(|name| name.contains("winch")).collect();
    assert!(winch.is_empty(), "{winch:?}");
    let wasmtime = nodes.iter().find(|node| name(node).contains("#wasmtime@")).expect("wasmtime is resolved");
    let known = [
        "component-model",
        "cranelift",
        "once_cell",
        "parallel-compilation",
        "runtime",
        "std",
        "wasmtime-jit-icache-coherence",
    ];
    assert_eq!(wasmtime["features"], serde_json::json!(known), "each feature is code that a plugin can reach");
}
