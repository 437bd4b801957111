//! A pass from its source: what is written for a new one, what the compiler's words become, what is trusted and what not.

use passhost_child::beside_this_executable;
use passhost_tests::{Passhost, Run, SMALL, directory, repository, sample_with};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// `passhost new`, in a directory that is removed again.
fn new_pass(name: &str) -> (TempDir, PathBuf) {
    let directory = directory();
    let path = directory.path().join(name);
    let source = repository().display().to_string();
    Passhost::new([Path::new("new"), &path]).with(&["--source", &source]).run().expect_end(0, &["passhost eval"]);
    (directory, path)
}

fn replace(file: &Path, old: &str, new: &str) {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    assert!(text.contains(old), "{}: no {old}", file.display());
    let written = std::fs::write(file, text.replace(old, new));
    assert!(written.is_ok(), "{written:?}");
}

#[test]
fn a_new_pass_makes_one_kernel_of_the_sample_that_comes_with_it() {
    let (_directory, pass) = new_pass("own-pass");
    let run = Passhost::eval(&pass, &pass.join("sample")).run();
    run.expect_end(0, &["own-pass 0.1.0 on sample", "6 to 1", "AS "]);
    let shown = Passhost::new([Path::new("show"), &pass.join("sample"), Path::new("--after"), &pass]);
    shown.with(&["--device", "cpu"]).run().expect_end(0, &["kernel"]);
    Passhost::new([Path::new("new"), &pass]).run().expect_end(2, &["is there already"]);
    Passhost::new(["new", "Own Pass"]).run().expect_end(2, &["is no name of a crate"]);
}

#[test]
fn the_tutorial_matches_its_own_sample() {
    let sample = sample_with("masked-mean-pool", SMALL);
    let run = Passhost::eval(&repository().join("plugins/masked-mean-pool"), sample.path()).run();
    run.expect_end(0, &["masked-mean-pool 0.0.0 on", "8 to 1", "right", "AS "]);
}

#[test]
fn a_source_with_a_mistake_is_told_where_and_costs_its_author_the_score() {
    let (_directory, pass) = new_pass("own-pass");
    replace(&pass.join("src/lib.rs"), "&found.nodes", "found.knots");
    let place = ["error[E0609]: no field `knots`", "--> src/lib.rs:21:57", "found.knots", "^^^^^"];
    let build = Passhost::new([Path::new("build"), &pass]).with_json().run();
    build.expect_end(1, &place).expect_end(1, &["plugin (build)", "does not compile"]);
    let diagnostic = &build.json()["diagnostics"][0];
    build.expect(diagnostic["place"]["line"] == 21 && diagnostic["code"] == "E0609", "the report says it as well");
    Passhost::new([Path::new("check"), &pass]).run().expect_end(1, &["plugin (build)"]);
    let run = Passhost::eval(&pass, &pass.join("sample")).run();
    run.expect_end(1, &place);
    for variant in run.variants() {
        run.expect(variant["class"] == "compile" && variant["failure"]["blame"] == "plugin", "the plugin is blamed");
        run.expect(variant["failure"]["stage"] == "build", "for what was built");
        run.expect(variant["progress"] == "written", "nothing was built");
    }
    let hash = |run: &Run| run.document.as_ref().map(|document| document["job"]["plugin_sha256"].clone());
    replace(&pass.join("src/lib.rs"), "found.knots", "found.ropes");
    let other = Passhost::eval(&pass, &pass.join("sample")).run();
    other.expect(hash(&other).is_some() && hash(&other) != hash(&run), "another source has another hash");
}

#[test]
fn an_op_that_does_not_exist_is_named_when_a_pass_is_built() {
    let (_directory, pass) = new_pass("own-pass");
    replace(&pass.join("src/lib.rs"), "aten::rsqrt", "aten::rsqqrt");
    let said = ["no such op: `aten::rsqqrt`, did you mean `aten::rsqrt`?", "--> src/lib.rs:"];
    let out = pass.join("own-pass.wasm");
    let build = Passhost::new([Path::new("build"), &pass, Path::new("--out"), &out]).with_json().run();
    build
        .expect_end(0, &said)
        .expect(build.json()["diagnostics"][0]["level"] == "warning", "the report says it as well");
    Passhost::new([Path::new("check"), &pass]).run().expect_end(0, &said);
}

#[test]
fn what_is_no_source_is_a_result_where_its_author_is_to_blame() -> std::io::Result<()> {
    let (folder, sample) = (directory(), sample_with("pointwise-chain", SMALL));
    let at = |name: &str| folder.path().join(name);
    mknodat(CWD, at("pipe.rs"), FileType::Fifo, Mode::RWXU, 0)?;
    std::fs::write(at("bytes.rs"), b"\xff\xfe")?;
    std::fs::write(at("large.rs"), vec![b' '; (2 << 20) + 1])?;
    std::fs::create_dir_all(at("linked/src"))?;
    symlink("/etc/passwd", at("linked/src/lib.rs"))?;
    let mut hashes = BTreeSet::new();
    for (name, said) in [
        ("pipe.rs", "is no regular file"),
        ("bytes.rs", "is no UTF-8"),
        ("large.rs", "more than 2097152 bytes"),
        ("linked", "without links"),
    ] {
        let run = Passhost::eval(&at(name), sample.path()).run();
        run.expect_end(1, &["plugin (source)", said, "THREAT_MODEL.md"]);
        for variant in run.variants() {
            let Value::Object(failure) = &variant["failure"] else { unreachable!("{variant}") };
            run.expect(failure["blame"] == "plugin" && failure["stage"] == "source", "the author is blamed");
            run.expect(variant["class"] == "compile" && variant["progress"] == "written", "nothing was built");
        }
        run.expect(run.json()["scores"]["aggregate_score"].is_f64(), "it has the score of what fails");
        hashes.insert(run.json()["job"]["plugin_sha256"].to_string());
        Passhost::new([Path::new("check"), &at(name)]).run().expect_end(1, &["plugin (source)", said]);
    }
    assert_eq!(hashes.len(), 4, "each is a plugin of its own");
    // Who named what is not there has no result, as of a component that is not there.
    std::fs::create_dir_all(at("empty/src"))?;
    for (name, said) in [("none.rs", "no file or directory"), ("empty", "has no src/lib.rs"), ("none.wasm", "no file")]
    {
        let run = Passhost::eval(&at(name), sample.path()).run();
        run.expect_end(2, &[said]).expect(run.document.is_none(), "there is nothing to judge");
    }
    Ok(())
}

#[test]
fn a_result_of_a_source_is_judged_again_with_its_component_alone() {
    let (_directory, pass) = new_pass("own-pass");
    let sample = pass.join("sample");
    let eval = Passhost::eval(&pass, &sample);
    eval.run().expect_end(0, &["AS "]);
    let verify = Passhost::new([Path::new("verify"), &eval.json_path(), Path::new("--sample"), &sample]);
    verify.run().expect_end(0, &["is a source", "--plugin"]);
}

#[test]
fn an_sdk_takes_the_place_of_no_other_directory() {
    let directory = directory();
    let kept = directory.path().join("kept");
    assert!(std::fs::write(&kept, "").is_ok());
    let source = repository();
    let words = [Path::new("setup-sdk"), Path::new("--source"), &source, Path::new("--out"), directory.path()];
    Passhost::new(words).run().expect_end(2, &["something else in it", "--out"]);
    assert!(kept.is_file());
}

#[test]
fn a_component_lies_where_it_is_wanted() {
    let (directory, pass) = new_pass("own-pass");
    let out = directory.path().join("made.wasm");
    let words = [Path::new("build"), &pass, Path::new("--out"), &out];
    Passhost::new(words).run().expect_end(0, &["made.wasm", "compiled in"]);
    Passhost::new([Path::new("check"), &out]).run().expect_end(0, &["own-pass 0.1.0"]);
    Passhost::new([Path::new("build"), &directory.path().join("none.rs")])
        .run()
        .expect_end(2, &["no file or directory"]);
    Passhost::new([Path::new("build"), directory.path()]).run().expect_end(2, &["has no src/lib.rs", "passhost new"]);
}

#[test]
fn nothing_is_built_without_an_sdk_or_unconfined() {
    let (directory, pass) = new_pass("own-pass");
    let out = directory.path().join("own-pass.wasm");
    let build = || Passhost::new([Path::new("build"), &pass, Path::new("--out"), &out]);
    let nowhere = ["setup-sdk", "--source", "/nowhere"];
    Passhost::new(nowhere).run().expect_end(2, &["no source of the SDK in `/nowhere`", "with a clone of passhost"]);
    build().variable("PASSHOST_SDK", "/nowhere").run().expect_end(3, &["no compiled SDK", "passhost setup-sdk"]);
    for (lacking, name) in [(libc::SYS_landlock_create_ruleset, "Landlock"), (libc::SYS_seccomp, "seccomp")] {
        let run = build().on_a_kernel_without(&[lacking]).run();
        run.expect_end(3, &[&format!("this kernel has no {name}"), "THREAT_MODEL.md"]);
        build().with(&["--inside-sandbox"]).on_a_kernel_without(&[lacking]).run().expect_end(0, &["own-pass.wasm"]);
    }
}

/// `make install`, and the way to a component in a directory that knows nothing of this clone.
#[test]
fn an_installation_works_without_its_clone() -> std::io::Result<()> {
    let directory = directory();
    let prefix = directory.path().join("prefix");
    let built = beside_this_executable("passhost").parent().map(Path::to_path_buf).unwrap_or_default();
    let run = |program: &Path, arguments: &[&Path]| {
        let output = Command::new(program).args(arguments).current_dir(directory.path()).output()?;
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        assert!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&said));
        std::io::Result::Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    run(&repository().join("scripts/install"), &[&prefix, &built])?;
    let passhost = prefix.join("bin/passhost");
    run(&passhost, &[Path::new("new"), Path::new("own-pass")])?;
    let manifest = std::fs::read_to_string(directory.path().join("own-pass/Cargo.toml"))?;
    let sdk = prefix.canonicalize()?.join("share/passhost/source/guest-sdk");
    assert!(manifest.contains(&sdk.display().to_string()), "{manifest}");
    // For what passes are compiled for alone: nothing else is sure to be here without a network.
    let target = ["--filter-platform", "wasm32-wasip2"];
    let metadata = ["metadata", "--offline", "--format-version", "1", target[0], target[1], "--manifest-path"];
    let metadata = metadata.map(Path::new);
    let manifest = Path::new("own-pass/Cargo.toml");
    assert!(run(Path::new("cargo"), &[&metadata[..], &[manifest]].concat())?.contains("passhost-guest-sdk"));
    let said = run(&passhost, &[Path::new("build"), Path::new("own-pass")])?;
    assert!(said.starts_with("ok  own-pass.wasm"), "{said}");
    Ok(())
}

#[test]
fn cargo_runs_what_a_crate_brings_and_says_so() {
    let directory = directory();
    let made = directory.path().join("made");
    let build = format!("fn main() {{ std::fs::write({:?}, \"\").unwrap(); }}", made.display().to_string());
    let manifest = "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n[profile.plugin]\ninherits = \"release\"\n";
    let written = std::fs::create_dir(directory.path().join("src"))
        .and_then(|()| {
            std::fs::write(directory.path().join("src/lib.rs"), "#[unsafe(no_mangle)]\npub fn nothing() {}\n")
        })
        .and_then(|()| std::fs::write(directory.path().join("build.rs"), build))
        .and_then(|()| std::fs::write(directory.path().join("Cargo.toml"), manifest));
    assert!(written.is_ok(), "{written:?}");
    let run = Passhost::new([Path::new("build"), directory.path()]).with(&["--cargo"]);
    let target = directory.path().join("target").display().to_string();
    let run = run.variable("CARGO_TARGET_DIR", &target).run();
    run.expect_end(1, &["--cargo trusts this crate", "does not export `passhost:pass/pass"]);
    run.expect(made.exists(), "its build script ran");
}
