//! No command writes one of its files over another, or over what it reads: it says so before it does anything.

use passhost_tests::{Passhost, SMALL, directory, plugin, sample_with};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The files below a directory and what they hold, links as what they lead to.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let below = |path: PathBuf| match path.is_dir() {
        true => contents(&path),
        false => BTreeMap::from([(path.clone(), std::fs::read(path).unwrap_or_default())]),
    };
    entries.flat_map(below).collect()
}

#[test]
fn nothing_is_written_over_what_is_read_or_written_as_well() -> std::io::Result<()> {
    let place = directory();
    let at = |name: &str| place.path().join(name).display().to_string();
    let sample = sample_with("single-gelu", &SMALL[..1]);
    for (name, text) in [
        ("pass.rs", "fn main() {}"),
        ("crate/src/lib.rs", "fn main() {}"),
        ("crate/Cargo.toml", "[package]"),
        ("result.json", "{}"),
        ("list.txt", "sample\n"),
        ("lab.key", "a key"),
        ("run/run.json", "{}"),
        ("run/attempts/one.jsonl", "{}"),
    ] {
        let path = place.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        std::fs::write(path, text)?;
    }
    std::fs::hard_link(at("pass.rs"), at("second.rs"))?;
    symlink("result.json", at("link.json"))?;
    symlink(".", at("here"))?;
    symlink(sample.path(), at("sample"))?;
    std::fs::copy(plugin("noop"), at("noop.wasm"))?;
    let graph = std::fs::read_to_string(sample.path().join("graph_list.txt"))?;
    let graph = at(&format!("sample/{}", graph.lines().next().unwrap_or_default()));
    let model = format!("{graph}/model.py");
    let before = contents(place.path());
    let (same, lost) = ("name the same file", "which is read as");
    let cases: [(&[&str], &str); 24] = [
        (&["build", &at("pass.rs"), "--out", &at("pass.rs")], lost),
        (&["build", &at("pass.rs"), "--out", &at("second.rs")], lost),
        (&["build", &at("pass.rs"), "--json", &at("here/pass.rs")], lost),
        (&["build", &at("crate"), "--out", &at("crate/src/lib.rs")], lost),
        (&["build", &at("crate"), "--json", &at("crate/Cargo.toml"), "--cargo"], lost),
        (&["build", &at("pass.rs"), "--out", &at("new"), "--json", &at("here/new")], same),
        (&["eval", &at("noop.wasm"), &at("sample"), "--json", &at("noop.wasm")], lost),
        (&["eval", &at("crate"), &at("sample"), "--json", &at("crate/src/lib.rs")], lost),
        (&["eval", &at("noop.wasm"), &at("list.txt"), "--json", &at("list.txt")], lost),
        (&["eval", &at("noop.wasm"), &at("list.txt"), "--json", &model], lost),
        (&["eval", &at("noop.wasm"), &at("sample"), "--sign", &at("lab.key"), "--json", &at("lab.key")], lost),
        (&["bench", &at("noop.wasm"), &at("sample"), "--out", &at("noop.wasm")], lost),
        (&["bench", &at("noop.wasm"), &at("list.txt"), "--out", &at("list.txt"), "--resume"], lost),
        (&["baseline", &at("list.txt"), "--out", &at("list.txt")], lost),
        (&["score", &at("result.json"), "--json", &at("link.json")], lost),
        (&["report", &at("result.json"), "--html", &at("result.json")], lost),
        (&["report", &at("result.json"), "--html", &at("new"), "--aggregated", &at("new")], same),
        (&["compare", &at("result.json"), "--json", &at("result.json")], lost),
        (&["samples", "list", &at("list.txt"), "--json", &at("list.txt")], lost),
        (&["samples", "lowerings", &at("sample"), "--json", &at("new"), "--counts", &at("here/new")], same),
        (&["samples", "check", &at("sample"), "--json", &at("new"), "--resume", &at("new")], same),
        (&["samples", "run", &graph, "--out", &graph], lost),
        (&["agent", "export", &at("run"), "--format", "sft", "--out", &at("run/attempts/one.jsonl")], lost),
        (
            &[
                "agent",
                "--model",
                "m",
                "--base-url",
                "http://127.0.0.1:9",
                "--samples",
                &at("sample"),
                "--out",
                &at("run"),
                "--json",
                &at("run/run.json"),
            ],
            lost,
        ),
    ];
    // A result beside the source of a crate is written anew as often as somebody wishes: only what comes next is wrong here.
    std::fs::create_dir_all(at("empty/src"))?;
    std::fs::write(at("empty/result.json"), "{}")?;
    let again = Passhost::new(["eval", &at("empty"), &at("sample"), "--json", &at("empty/result.json")]).run();
    again.expect(!again.err.contains(lost), "the result of before is replaced");
    std::fs::remove_dir_all(at("empty"))?;
    for (words, said) in cases {
        let run = Passhost::new(words).run();
        run.expect_end(2, &["error: --", said]);
        run.expect(contents(place.path()) == before, "nothing is written");
    }
    Ok(())
}
