//! Many samples and several plugins: what is kept, what is shown, and what wrong lists get.

use passhost_result::document::Blame;
use passhost_supervisor::batch::{self, Batch};
use passhost_tests::{Passhost, Run, SMALL, directory, plugin, sample_with};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A plugin that does not load: the smallest core module.
const CORE_MODULE: &[u8] = b"\0asm\x01\0\0\0";

/// A directory with two samples, lists and what is written.
struct Place {
    folder: TempDir,
    samples: [TempDir; 2],
}

impl Place {
    fn new() -> Place {
        let samples = ["se-gate-add-relu", "single-gelu"].map(|name| sample_with(name, SMALL));
        Place { folder: directory(), samples }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        let written = std::fs::write(&path, content);
        assert!(written.is_ok(), "{written:?}");
        path
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("bench.jsonl")
    }

    fn path(&self, sample: usize) -> String {
        self.samples[sample].path().display().to_string()
    }
}

fn read(path: &Path) -> Batch {
    let read = batch::read(path);
    assert!(read.is_ok(), "{:?}", read.err());
    let Ok(read) = read else { unreachable!("it was checked") };
    read
}

#[test]
fn several_plugins_share_a_batch_and_one_that_does_not_load_or_a_missing_sample_is_not_the_end() {
    let place = Place::new();
    let [one, two] = [0, 1].map(|sample| place.path(sample));
    let list =
        place.write("pair.txt", format!("{one}\nuid-7\t{two}\n\n{one}\n{}/nowhere\n", place.folder.path().display()));
    let broken = place.write("core.wasm", CORE_MODULE);
    let [noop, fuse] = ["noop", "fuse-pointwise"].map(plugin);
    let paths = [&noop, &fuse, &broken, &list];
    let bench = Passhost::bench(paths, &place.out()).with(&["--variant", "float32"]);
    let run = bench.run();
    run.expect_end(
        2,
        &[
            "named more than once: 1, the first `",
            "core does not load",
            "nowhere",
            "3 of 3 samples have ended",
            "noop 0.1.0: 2 graphs of 2 samples, cpu",
            "2 unchanged",
            "core.wasm: 2 graphs of 2 samples",
            "2 compile",
        ],
    );
    run.expect(!run.err.contains(": timing"), "steps are not said unless that is asked for");
    let kept = read(&place.out());
    run.expect(kept.documents.len() == 9 && !kept.is_cut, "a document for each plugin and sample");
    run.expect(kept.header.submissions == 3, "the plugins share the error of a verdict");
    for document in &kept.documents {
        run.expect(document.job.groups == ["pair"], "the list is its group");
        let expected = if document.job.sample == "nowhere" { Some(Blame::Sample) } else { document.blame };
        run.expect(document.blame == expected, "the sample that is not there is blamed");
    }
    let hint = kept.documents[2].failure.as_ref().map(|failure| failure.hint.clone()).unwrap_or_default();
    run.expect(hint.contains("pair.txt:5"), "its line is named");

    let seeds = |plugin: &str| -> Vec<Option<u64>> {
        let documents = kept.documents.iter().filter(|document| document.job.plugin.contains(plugin));
        documents.flat_map(|document| &document.variants).map(|variant| variant.seed).collect()
    };
    let [one, other] = [seeds("noop"), seeds("fuse_pointwise")];
    run.expect(one == other && one.iter().flatten().count() == 2, "they are tried on the same inputs");

    // What reads results reads those of a batch, and says where there are none yet.
    for (command, text) in [("report", "2 graphs of 2 samples"), ("verify", "agrees"), ("score", "AS strict")] {
        let read = |file: &Path| {
            let options: &[&str] = if command == "verify" { &["--offline"] } else { &[] };
            Passhost::new([Path::new(command), file]).with(options).run()
        };
        read(&place.out()).expect_end(0, &[text]);
        let header = std::fs::read_to_string(place.out()).unwrap_or_default();
        let begun = place.write("begun.jsonl", header.lines().next().unwrap_or_default().to_owned() + "\n");
        read(&begun).expect_end(2, &["begun.jsonl", "no result is in it yet", "--resume"]);
    }

    // All is there: nothing is done again, and a second batch is refused its file.
    let again = Passhost::bench(paths, &place.out()).with(&["--variant", "float32", "--resume"]).run();
    again.expect_end(2, &["6 results in", "are kept, and not measured again", "3 of 3 samples"]);
    again.expect(read(&place.out()) == kept, "nothing was added");
    bench.run().expect_end(2, &["is not empty; --resume goes on"]);
    let other = Passhost::bench([&noop, &list], &place.out()).with(&["--variant", "float32", "--resume"]);
    other.run().expect_end(2, &["cannot be resumed: the number of plugins was 3 and is 1", "--out FILE"]);
}

#[test]
fn variants_are_named_by_their_folders_and_by_several_texts() {
    let sample = sample_with("se-gate-add-relu", SMALL);
    let paths = [plugin("noop"), sample.path().to_path_buf()];
    for (texts, types) in [
        (&["--variant", "float16"][..], &["float16"][..]),
        (&["--variant", "float16/s0-1"], &["float16"]),
        (&["--variant", "loat16/s0-1"], &[]),
        (&["--variant", "/bfloat16/", "--variant", "float32"], &["bfloat16", "float32"]),
    ] {
        let place = Place::new();
        let run = Passhost::bench(&paths, &place.out()).with(texts).run();
        run.expect_end(0, &["1 of 1 samples have ended"]);
        let found = batch::read(&place.out()).map_or(vec![], |kept| kept.documents);
        let names = found.iter().flat_map(|document| &document.variants).map(|variant| variant.name.as_str());
        let mut names: Vec<&str> = names.filter_map(|name| name.split('/').rev().nth(2)).collect();
        names.sort_unstable();
        run.expect(names == types, &format!("{names:?}"));
    }
}

#[test]
fn figures_that_somebody_wrote_into_a_batch_are_not_shown_scored_or_signed() {
    let (place, sample) = (Place::new(), sample_with("se-gate-add-relu", &["32/s0-1_"]));
    let paths = [plugin("fuse-pointwise"), sample.path().to_path_buf()];
    let bench = |options: &[&str]| Passhost::bench(&paths, &place.out()).with(options).run();
    bench(&[]).expect_end(0, &["1 of 1 samples have ended"]);
    let honest = std::fs::read_to_string(place.out()).unwrap_or_default();
    place.write("honest.jsonl", &honest);
    let forged = honest.lines().map(|line| {
        let mut value: Value = serde_json::from_str(line).unwrap_or_default();
        if value.get("variant").is_none_or(|variant| !variant.is_object()) {
            return format!("{line}\n");
        }
        for pointer in ["/variant/variant/timing/speedup", "/variant/outcome/compared/speedup"] {
            value.pointer_mut(pointer).into_iter().for_each(|speedup| *speedup = 99.into());
        }
        format!("{value}\n")
    });
    place.write("bench.jsonl", forged.collect::<String>());
    let said = "timing.speedup: recorded 99, its trials give";
    let key = place.folder.path().join("key").display().to_string();
    Passhost::new(["keygen", &key, "--name", "lab"]).run().expect_end(0, &[]);
    let resumed = bench(&["--resume", "--sign", &key]);
    resumed.expect_end(
        0,
        &["are kept, and not measured again", said, "is not signed: it does not follow from its own trials"],
    );
    let file = |name: &str| place.folder.path().join(name).display().to_string();
    let run = |words: &[&str]| Passhost::new(words).variable("COLUMNS", "400").run();
    let (honest, forged) = (file("honest.jsonl"), file("bench.jsonl"));
    for command in ["report", "score"] {
        let [honest, forged] = [&honest, &forged].map(|file| run(&[command, file]));
        forged.expect_end(0, &[said]);
        let figures = |run: &Run| -> Vec<String> {
            run.out.lines().filter(|line| !line.contains("recorded")).map(str::to_owned).collect()
        };
        forged.expect(figures(&forged) == figures(&honest), "the same figures");
    }
    run(&["compare", &honest, &forged]).expect_end(0, &[said, "AS 1.000 times as high"]);
}

#[test]
fn an_evaluation_of_several_samples_goes_on_past_one_that_is_not_there() {
    let place = Place::new();
    let list =
        place.write("list.csv", format!("uid,sample_path\n1,missing\n2,{}\n3,{}\n", place.path(0), place.path(1)));
    let words = [Path::new("eval"), &plugin("noop"), &list].map(|word| word.display().to_string());
    let run = Passhost::new(words).with(&["--device", "cpu", "--threads", "1", "--accept-noise"]).with_json().run();
    run.expect_end(2, &["sample (sample): cannot open", "list.csv:2", "6 graphs of 3 samples: 6 unchanged"]);
    run.expect(run.json()[0]["blame"] == "sample" && run.json()[1]["job"]["groups"][0] == "list", "a document each");
    let lines = run.err.lines().count();
    run.expect(lines <= 3, "at most one plain line of progress a sample");
}

#[test]
fn every_wrong_list_or_plugin_has_its_sentence() {
    let place = Place::new();
    let noop = plugin("noop");
    let empty = place.write("empty.txt", "# nothing yet\n");
    let latin = place.write("latin.txt", b"one\ncaf\xe9\n");
    let json = place.write("result.json", "{\"schema\": \"passhost.result/3\"}");
    let prose = place.write("notes.txt", "these are\nsome notes\n");
    let list = place.write("list.txt", format!("{}\n", place.path(0)));
    let named = place.write("text.wasm", "no module");
    let cases: [(&[&Path], &[&str]); 9] = [
        (&[&noop, &empty], &["empty.txt", "it names no sample; a list has one path a line"]),
        (&[&noop, &latin], &["latin.txt", "line 2 is not UTF-8"]),
        (&[&noop, &json], &["result.json", "it is JSON, and a list of samples belongs here"]),
        (&[&noop, &prose], &["notes.txt", "none of the 2 paths that it names is there, `these are` on line 1"]),
        (&[&list, &list], &["no plugin is given: `", "list.txt` is no .wasm component"]),
        (&[&noop], &["no samples are given; name some, or lists of them"]),
        (&[&noop, Path::new("/nowhere/list.txt")], &["no file or directory `/nowhere/list.txt`; expected a sample"]),
        (&[&noop, place.folder.path()], &["is no sample", "give a sample or a list"]),
        (&[Path::new("/nowhere/p.wasm"), &list], &["no file `/nowhere/p.wasm`", "make plugins"]),
    ];
    for (paths, texts) in cases {
        Passhost::bench(paths, &place.out()).run().expect_end(2, texts);
        assert!(!place.out().exists(), "nothing was begun: {paths:?}");
    }
    let eval = |plugin: &Path, sample: &Path| -> Run { Passhost::new([Path::new("eval"), plugin, sample]).run() };
    eval(&list, &list).expect_end(2, &["list.txt` is no WebAssembly; the plugin comes first"]);
    eval(&noop, &noop).expect_end(2, &["noop.wasm", "it is a plugin, and a list of samples belongs here"]);
    eval(&noop, &prose).expect_end(2, &["none of the 2 paths"]);
    // What is called a plugin is one, broken or not.
    let run = Passhost::bench([&named, &list], &place.out()).with(&["--variant", "float32"]).run();
    run.expect_end(1, &["text does not load", "1 graph of 1 sample", "1 compile"]);
    let classes: BTreeSet<String> =
        read(&place.out()).documents.iter().map(|found| format!("{:?}", found.blame)).collect();
    run.expect(classes == BTreeSet::from(["Some(Plugin)".to_owned()]), "the plugin is blamed");
}
