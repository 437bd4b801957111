//! What PyTorch offers in place of a plugin: measured where there is a Python that has it, and what wrong ones get.

use passhost_result::document::{Blame, Document, Launch};
use passhost_supervisor::batch::{self, Batch};
use passhost_tests::{Passhost, directory, plugin, repository, sample_with};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The smallest graph of a sample, in one type.
fn sample(name: &str, dtype: &str) -> TempDir {
    sample_with(name, &[&format!("{dtype}/s0-1_")])
}

fn read(path: &Path) -> Batch {
    let read = batch::read(path);
    assert!(read.is_ok(), "{:?}", read.err());
    read.unwrap_or_else(|_| unreachable!("it was checked"))
}

/// A Python with torch: that of PASSHOST_PYTHON, or the system's with the modules that libtorch came with.
fn python() -> Option<(PathBuf, String)> {
    let named = std::env::var_os("PASSHOST_PYTHON").map(|python| (PathBuf::from(python), String::new()));
    let unpacked =
        std::env::var_os("LIBTORCH").and_then(|torch| Some(Path::new(&torch).parent()?.display().to_string()));
    let (python, modules) = named.or_else(|| Some(("python3".into(), unpacked?)))?;
    let torch = "import torch; assert torch.__version__.startswith('2.11.0')";
    let found = Command::new(&python).args(["-c", torch]).env("PYTHONPATH", &modules).output();
    found.is_ok_and(|found| found.status.success()).then_some((python, modules))
}

/// A program that is called as Python is.
fn stand_in(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("python");
    let written = std::fs::write(&path, format!("#!/bin/sh\n{text}\n"))
        .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)));
    assert!(written.is_ok(), "{written:?}");
    path
}

/// What a Python with the right torch says of itself.
const HELLO: &str = r#"read hello; echo '{"python": "3.11.7", "torch": "2.11.0+cpu", "device": "cpu"}'"#;

#[test]
fn eager_and_inductor_run_the_printed_program_and_stand_beside_a_plugin() {
    let Some((python, modules)) = python() else {
        println!("skipped: no Python with torch 2.11.0; PASSHOST_PYTHON names one");
        return;
    };
    let (folder, sample) = (directory(), sample("se-gate-add-relu", "float32"));
    let (out, plugins) = (folder.path().join("baseline.jsonl"), folder.path().join("bench.jsonl"));
    let run = Passhost::baseline(sample.path(), &python, &out).variable("PYTHONPATH", &modules);
    let run = run.with(&["--with", "eager,inductor"]);
    let ended = run.run();
    ended.expect_end(0, &["baselines: Python 3", "torch 2.11.0", "1 of 1 samples have ended"]);
    let kept = read(&out);
    let right = |document: &Document| document.variants.iter().all(|variant| variant.passes_at == Some(-10));
    ended.expect(
        kept.documents.len() == 2 && kept.documents.iter().all(right),
        "both give what eager does, in place too",
    );
    for document in &kept.documents {
        let (timing, notes) = (document.variants[0].timing.as_ref(), document.variants[0].notes.concat());
        ended.expect(!notes.contains("one round"), "a small graph has all rounds");
        ended.expect(
            timing.is_some_and(|timing| timing.processes.len() == 3 && timing.eager_us > 0.0),
            "both are timed",
        );
        ended.expect(document.launch() == Launch::Stream && document.scores.is_some(), "both are scored");
    }
    let in_one_round = folder.path().join("large.jsonl");
    let large = Passhost::baseline(sample.path(), &python, &in_one_round).variable("PYTHONPATH", &modules);
    large.with(&["--one-round-above", "0"]).run().expect_end(0, &["1 of 1 samples have ended"]);
    for document in &read(&in_one_round).documents {
        let variant = &document.variants[0];
        ended.expect(right(document) && variant.timing.is_some(), "it is right in one round, and timed");
        ended.expect(variant.notes.concat().contains("large, one round"), "and says so");
    }
    Passhost::new([Path::new("verify"), &in_one_round]).run().expect_end(0, &["agrees"]);
    run.with(&["--resume"]).run().expect_end(0, &["2 results in", "are kept, and not measured again"]);
    Passhost::new([Path::new("verify"), &out]).run().expect_end(0, &["agrees", "`passhost baseline --with eager`"]);

    Passhost::bench([&plugin("fuse-pointwise"), &sample.path().to_owned()], &plugins).run().expect_end(0, &[]);
    let compared = Passhost::new([Path::new("compare"), &plugins, &out]).run();
    compared.expect_end(
        0,
        &[
            "1 graph of 1 sample, cpu, policy open, against eager called from Python",
            "fuse-pointwise",
            "inductor torch",
        ],
    );
}

#[test]
fn a_python_that_cannot_run_the_program_has_its_sentence() {
    let (folder, sample) = (directory(), sample("single-gelu", "float32"));
    let out = folder.path().join("baseline.jsonl");
    let hello = |torch: &str| format!(r#"read hello; echo '{{"python": "3.9", "torch": "{torch}", "device": "cpu"}}'"#);
    let cases: [(&str, i32, &[&str]); 5] = [
        (
            "exit 3",
            3,
            &["cannot run PyTorch: the Python process exited with status 3", "--python, or where its modules are"],
        ),
        ("echo No module named torch >&2; exit 1", 3, &["No module named torch; name a Python with torch 2.11.0"]),
        ("read hello; echo nonsense", 3, &["gave an answer that is none: nonsense"]),
        (&hello("2.9.1"), 3, &["has torch 2.9.1, libtorch here is 2.11.0", "install torch==2.11.0"]),
        ("sleep 1000", 3, &["gave no answer within 2000 ms"]),
    ];
    for (text, code, texts) in cases {
        let python = stand_in(&folder, text);
        let run = Passhost::baseline(sample.path(), &python, &out).with(&["--timeout", "2s"]).run();
        run.expect_end(code, texts);
        assert!(!out.exists(), "nothing was begun: {text}");
    }
    let nowhere = Passhost::baseline(sample.path(), Path::new("/nowhere/python"), &out);
    nowhere.run().expect_end(3, &["cannot start `/nowhere/python`: No such file"]);
    let no_gpu = Passhost::baseline(sample.path(), Path::new("/nowhere/python"), &out).with(&["--with", "eager-graph"]);
    no_gpu.run().expect_end(2, &["`eager-graph` launches CUDA graphs and needs a GPU, the device is cpu"]);
    let unknown = Passhost::baseline(sample.path(), Path::new("python3"), &out).with(&["--with", "eager,tensorrt"]);
    unknown.run().expect_end(2, &["`tensorrt` is no baseline; there are eager, inductor,"]);
}

/// The only variant of the document that a stand-in for Python leaves.
fn with_stand_in(text: &str, code: i32) -> (Document, Option<Blame>) {
    let (folder, sample) = (directory(), sample("single-gelu", "float32"));
    let out = folder.path().join("baseline.jsonl");
    let python = stand_in(&folder, &format!("{HELLO}\n{text}"));
    Passhost::baseline(sample.path(), &python, &out).with(&["--with", "inductor"]).run().expect_end(code, &[]);
    let document = read(&out).documents.remove(0);
    let blame = document.variants[0].failure.as_ref().map(|failure| failure.blame);
    (document, blame)
}

#[test]
fn what_a_method_cannot_do_is_its_result_and_what_python_cannot_is_the_hosts() {
    let message =
        |document: &Document| document.variants[0].failure.as_ref().map_or("", |found| &found.message).to_owned();
    let refuses = r#"read load; echo '{"source": ""}'; read run; echo '{"error": "BackendCompilerFailed: no kernel"}'; read more"#;
    let (refused, blame) = with_stand_in(refuses, 0);
    assert_eq!((message(&refused).as_str(), blame), ("BackendCompilerFailed: no kernel", Some(Blame::Plugin)));
    assert_eq!(refused.outcomes.len(), 1, "it is scored as a plugin that does not compile");
    let (dies, blame) = with_stand_in("read load; echo '{}'; read run; exit 7", 0);
    assert_eq!((message(&dies).as_str(), blame), ("the Python process exited with status 7", Some(Blame::Plugin)));
    let outputs = r#"{"outputs": [{"dtype": "float16", "shape": [1], "strides": [1]}]}"#;
    let (other, blame) = with_stand_in(&format!("read load; echo '{{}}'; read run; echo '{outputs}'; read more"), 0);
    assert!(message(&other).contains("output 0) gives f16[1] where"), "{}", message(&other));
    assert_eq!(blame, Some(Blame::Plugin));
    let (unread, blame) = with_stand_in(r#"read load; echo '{"error": "SyntaxError: no"}'; read more"#, 3);
    assert_eq!((message(&unread).as_str(), blame, unread.scores), ("SyntaxError: no", Some(Blame::Host), None));
}

/// Files of `place` when a stand-in is given a graph: each method of each graph has a line. It leaves an output and refuses.
fn files_of_graphs(place: &Path) -> String {
    let place = place.display();
    format!(
        r#"{HELLO}; read load
cd {place}; find . -name '*.bin' | sed 's,.*/round,round,' | sort | tr '\n' ' ' >>{place}/../seen; echo >>{place}/../seen
echo '{{}}'; read run
for folder in {place}/*/round_0; do [ -e "$folder/input_0.bin" ] || echo x >"$folder/left_0.bin"; done
echo '{{"error": "no"}}'; read more"#
    )
}

#[test]
fn a_graph_above_the_bound_has_one_round_and_no_file_outlives_its_use() {
    // Graphs of two types, two methods each.
    let sample = sample_with("single-gelu", &["float32/s0-1_", "float16/s0-1_"]);
    let four = "round_0/input_0.bin round_1/input_0.bin round_2/input_0.bin round_3/input_0.bin";
    for (bound, files, has_one_round) in [("0", "round_0/input_0.bin", true), ("536870912", four, false)] {
        let folder = directory();
        let (out, place) = (folder.path().join("baseline.jsonl"), folder.path().join("files"));
        assert!(std::fs::create_dir(&place).is_ok(), "a directory for temporary files");
        let python = stand_in(&folder, &files_of_graphs(&place));
        let run = Passhost::baseline(sample.path(), &python, &out).variable("TMPDIR", &place.display().to_string());
        run.with(&["--one-round-above", bound]).run().expect_end(0, &[]);
        let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap_or_default();
        let left: Vec<_> = std::fs::read_dir(&place).into_iter().flatten().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        let notes = read(&out).documents.into_iter().flat_map(|document| document.variants).map(|it| it.notes.concat());
        let notes: Vec<String> = notes.collect();
        assert!(notes.len() >= 4, "two graphs at least: {notes:?}");
        assert_eq!(seen.lines().map(str::trim).collect::<Vec<_>>(), vec![files; notes.len()], "above {bound}");
        assert!(notes.iter().all(|note| note.contains("large, one round, which") == has_one_round), "{notes:?}");
    }
}

#[test]
fn the_anchor_samples_are_the_cases_that_the_list_names() {
    let list = repository().join("samples/anchor.txt");
    let run = Passhost::new([Path::new("samples"), Path::new("check"), &list]).run();
    run.expect_end(0, &["45"]);
}
