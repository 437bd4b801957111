//! `passhost samples` on shipped samples, on sets with broken ones among them, and on sets made for one question.

use passhost_sample::SampleText;
use passhost_tests::{Passhost, Run, directory, sample};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder for samples and lists.
struct Set {
    directory: TempDir,
}

impl Set {
    fn new() -> Set {
        Set { directory: directory() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        let parent = path.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, content));
        assert!(written.is_ok(), "{written:?}");
        path
    }

    /// A graph with one input `in_0` of `rows` times 8 elements.
    fn graph(&self, name: &str, rows: u32, body: &[&str]) -> PathBuf {
        let mut model =
            "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0):\n".to_owned();
        for line in body {
            model.push_str(&format!("        {line}\n"));
        }
        self.write(&format!("{name}/model.py"), &model);
        let weights = format!(
            "class Program_weight_tensor_meta_in_0:\n    name = \"in_0\"\n    shape = [{rows}, 8]\n    dtype = \"torch.float32\"\n    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n    data = None\n"
        );
        self.write(&format!("{name}/weight_meta.py"), &weights);
        self.path(name)
    }

    /// A task of graphs that are written by [`Set::graph`] below it.
    fn task(&self, name: &str, graphs: &[&str]) -> PathBuf {
        self.write(&format!("{name}/graph_list.txt"), &format!("{}\n", graphs.join("\n")));
        self.path(name)
    }
}

const RELU: [&str; 2] = ["tmp_0 = torch.nn.functional.relu(in_0)", "return (tmp_0,)"];
const RELU_EXP: [&str; 3] = ["tmp_0 = torch.nn.functional.relu(in_0)", "tmp_1 = torch.exp(tmp_0)", "return (tmp_1,)"];
const UNKNOWN: [&str; 2] = ["tmp_0 = torch.frobnicate(in_0)", "return (tmp_0,)"];

fn samples(command: &str, path: &Path, options: &[&str]) -> Passhost {
    Passhost::new(["samples", command, &path.display().to_string()]).with(options)
}

/// The paths of the samples of a document and how their graphs ended.
fn outcomes(run: &Run) -> Vec<(String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let samples = run.json()["samples"].as_array().cloned().unwrap_or_default();
    let ends = |sample: &Value| {
        let graphs = sample["graphs"].as_array().cloned().unwrap_or_default();
        graphs.iter().map(|graph| text(&graph["outcome"])).collect()
    };
    samples.iter().map(|sample| (text(&sample["sample"]), ends(sample))).collect()
}

/// The entries of a list of shipped samples.
fn entries(list: &str) -> Vec<String> {
    let text = std::fs::read_to_string(sample(list)).unwrap_or_default();
    let entries = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    entries.map(str::to_owned).collect()
}

#[test]
fn check_runs_every_shipped_sample() {
    let run = samples("check", &sample("all.txt"), &["--run"]).with_json().run();
    run.expect_end(0, &["ok", "100.0%"]);
    run.expect(outcomes(&run).len() == entries("all.txt").len(), "every entry is in the document");
    run.expect(run.json()["outcomes"]["ok"] == run.json()["graphs"], "all graphs pass");
    run.expect(!run.out.contains("not finite"), "and have outputs that can be compared");
}

#[test]
fn the_lists_of_shipped_samples_fit_each_other() {
    let set = |lists: &[&str]| lists.iter().flat_map(|list| entries(list)).collect::<BTreeSet<String>>();
    let kinds = ["fusible_subgraphs.txt", "typical_subgraphs.txt", "sole_op_subgraphs.txt"];
    assert_eq!(kinds.map(|list| entries(list).len()), [72, 20, 14]);
    let all = set(&["all.txt"]);
    assert_eq!(all, set(&["reference.txt", kinds[0], kinds[1], kinds[2]]));
    assert_eq!(all, set(&["train.txt", "eval.txt"]));
    assert_eq!(entries("train.txt").len() + entries("eval.txt").len(), all.len(), "no sample is in both");
    let has_contraction = |entry: &String| {
        let opened = SampleText::open(&sample(entry));
        let variants = opened.iter().flat_map(|sample| (0..sample.variants().len()).map(move |index| (sample, index)));
        let text: String = variants.filter_map(|(sample, index)| sample.text(index, "model.py")).collect();
        assert!(!text.is_empty(), "{entry}: {opened:?}");
        [
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_transpose",
            "linear(",
            "matmul",
            " @ ",
            "einsum",
            "bmm",
            "scaled_dot_product",
        ]
        .iter()
        .any(|call| text.contains(call))
    };
    let without: BTreeSet<String> = set(&[kinds[0]]).into_iter().filter(|entry| !has_contraction(entry)).collect();
    assert_eq!(set(&["fusible_without_contraction.txt"]), without);
    let models: BTreeSet<&str> = all.iter().filter_map(|entry| entry.split('/').nth(1)).collect();
    assert!(models.len() >= 40, "{} models", models.len());
}

#[test]
fn every_graph_that_was_cut_has_the_hash_that_is_recorded() {
    let run = samples("hash", &sample("all.txt"), &[]).with_json().run();
    run.expect_end(0, &[]);
    let mut seen = BTreeSet::new();
    for task in run.json()["samples"].as_array().into_iter().flatten() {
        let path = task["sample"].as_str().unwrap_or_default();
        let opened = SampleText::open(Path::new(path));
        run.expect(opened.is_ok(), path);
        for (index, graph) in task["graphs"].as_array().into_iter().flatten().enumerate() {
            let recorded = opened.as_ref().ok().and_then(|sample| sample.text(index, "graph_net.json"));
            let recorded: Value = serde_json::from_str(&recorded.unwrap_or_default()).unwrap_or_default();
            if recorded["kind"].is_string() {
                run.expect(recorded["canonical_hash"] == graph["found"]["hash"], &format!("{path} {graph}"));
                seen.insert(graph["found"]["hash"].to_string());
            }
        }
    }
    run.expect(seen.len() > 275, "most graphs of 106 tasks are different");
}

#[test]
fn a_broken_entry_of_a_list_costs_only_itself() {
    let set = Set::new();
    set.graph("good", 4, &RELU);
    set.graph("unknown", 4, &UNKNOWN);
    set.graph("text", 4, &["this is no Python"]);
    set.graph("shapes", 4, &["tmp_0 = in_0.view(3)", "return (tmp_0,)"]);
    set.graph("cut", 4, &RELU);
    set.write("cut/weight_meta.py", "class Program_weight_tensor_meta_in_0:\n    name = \"in");
    set.task("task", &["graphs/one", "graphs/two"]);
    set.graph("task/graphs/one", 4, &RELU);
    set.graph("task/graphs/two", 4, &UNKNOWN);
    let list = set.write(
        "list.csv",
        "# by hand\r\nid,sample_path\r\n1,good\r\n2,\"unknown\"\r\n3,text\r\n4,missing\r\n5,./good/\r\n6,task\r\n7,shapes\r\n8,cut\r\n",
    );
    let run = samples("check", &list, &["--jobs", "2"]).with_json().run();
    run.expect_end(2, &["torch.frobnicate", "model.py:6", "missing", "malformed", "unsupported", "refused types"]);
    let expected: [(&str, &[&str]); 7] = [
        ("good", &["ok"]),
        ("unknown", &["unsupported"]),
        ("text", &["malformed"]),
        ("missing", &["malformed"]),
        ("task", &["ok", "unsupported"]),
        ("shapes", &["refused_types"]),
        ("cut", &["malformed"]),
    ];
    let expected: Vec<(String, Vec<String>)> = expected
        .iter()
        .map(|(name, ends)| (set.path(name).display().to_string(), ends.iter().map(|&end| end.to_owned()).collect()))
        .collect();
    run.expect(outcomes(&run) == expected, &format!("{:?}", outcomes(&run)));
}

#[test]
fn a_tree_is_walked_and_links_in_it_are_not() {
    let set = Set::new();
    set.graph("tree/b/one", 4, &RELU);
    set.graph("tree/a/deep/two", 4, &RELU);
    set.write("tree/readme.txt", "nothing here");
    let linked = std::os::unix::fs::symlink(set.path("tree"), set.path("tree/a/loop"));
    assert!(linked.is_ok(), "{linked:?}");
    let run = samples("check", &set.path("tree"), &[]).with_json().run();
    run.expect_end(0, &["2 graphs of 2 samples"]);
    let names: Vec<String> = outcomes(&run).into_iter().map(|(name, _)| name).collect();
    run.expect(names == ["tree/a/deep/two", "tree/b/one"].map(|name| set.path(name).display().to_string()), "sorted");
    let empty = set.write("empty/readme.txt", "nothing here either");
    let folder = empty.parent().unwrap_or(Path::new("."));
    samples("check", folder, &[]).run().expect_end(2, &["is no sample"]);
}

#[test]
fn a_run_is_repeatable_and_says_what_tells_little() {
    let set = Set::new();
    set.graph("set/random", 4, &RELU_EXP);
    set.graph("set/in_place", 4, &["in_0 += 1", "tmp_0 = in_0.mul_(2)", "return (tmp_0, in_0)"]);
    set.graph("set/constant", 4, &["tmp_0 = in_0 - in_0", "return (tmp_0,)"]);
    let digests = |seed: &str| {
        let run = samples("check", &set.path("set"), &["--run", "--device", "cpu", "--seed", seed]).with_json().run();
        run.expect_end(0, &["note: 1 graphs have an output that is constant or not finite"]);
        run.json()["samples"].as_array().cloned().unwrap_or_default().iter().map(digest).collect::<Vec<_>>()
    };
    fn digest(sample: &Value) -> String {
        sample["graphs"][0]["found"]["run"]["outputs"][0]["sha256"].as_str().unwrap_or_default().to_owned()
    }
    let first = digests("1");
    assert!(first.iter().all(|digest| digest.len() == 64), "{first:?}");
    assert_eq!(first, digests("1"));
    let other = digests("2");
    // Sorted by path: the constant one stays.
    assert_eq!(first[0], other[0]);
    assert_ne!(first[2], other[2]);
}

#[test]
fn what_gives_nothing_to_score_is_counted_apart() {
    let set = Set::new();
    let view = set.graph("view", 4, &["tmp_0 = in_0.reshape(16, 2)", "return (tmp_0,)"]);
    let run = samples("check", &view, &["--run", "--device", "cpu"]).with_json().run();
    run.expect_end(0, &["nothing to score", "every output that counts is a view of an input"]);
    run.expect(outcomes(&run)[0].1 == ["unscorable"], "no pass can be judged by it");
    run.expect(run.json()["samples"][0]["graphs"][0]["found"]["run"].is_object(), "it ran all the same");
}

#[test]
fn what_is_too_large_or_too_slow_is_not_run() {
    let set = Set::new();
    let small = set.graph("small", 4, &RELU);
    let run = samples("check", &small, &["--run", "--device", "cpu", "--memory", "200"]).with_json().run();
    run.expect_end(0, &["too large to run", "--memory is 200 B"]);
    run.expect(outcomes(&run)[0].1 == ["too_large"], "it is too large");
    // 512 MB that are drawn, multiplied many times over.
    let slow = set.graph("slow", 1 << 24, &["tmp_0 = torch.exp(torch.exp(torch.exp(in_0)))", "return (tmp_0,)"]);
    let run =
        samples("check", &slow, &["--run", "--device", "cpu", "--memory", "8G", "--timeout", "50ms"]).with_json().run();
    run.expect_end(2, &["timed out"]);
    run.expect(outcomes(&run)[0].1 == ["timed_out"], "it is too slow");
}

#[test]
fn a_types_process_that_dies_is_replaced_and_costs_one_graph() {
    let set = Set::new();
    let names = ["one", "two", "three"];
    set.task("task", &names);
    for name in names {
        set.graph(&format!("task/{name}"), 4, &RELU);
    }
    let check = samples("check", &set.path("task"), &["--jobs", "1"]).with_json();
    let run = check.run_and_signal_at_start("passhost-device types", Signal::KILL);
    run.expect_end(2, &["crashed", "was killed by signal 9"]);
    run.expect(outcomes(&run)[0].1 == ["crashed", "ok", "ok"], "the others pass");
}

#[test]
fn a_check_goes_on_from_its_journal_where_files_are_the_same() {
    let set = Set::new();
    for name in ["one", "two", "three"] {
        set.graph(&format!("set/{name}"), 4, &RELU);
    }
    set.graph("set/unknown", 4, &UNKNOWN);
    // Samples of the same content are one to the journal, so that they must differ.
    set.graph("set/two", 5, &RELU);
    set.graph("set/three", 6, &RELU);
    let journal = set.path("journal");
    let options = ["--resume", &journal.display().to_string()];
    let check = || samples("check", &set.path("set"), &options).with_json().run();
    let from_journal = |run: &Run, expected: u64| {
        run.expect(run.json()["samples_from_journal"] == expected, &format!("{expected} from the journal"));
    };
    let first = check();
    first.expect_end(2, &["unsupported"]);
    from_journal(&first, 0);
    let second = check();
    second.expect_end(2, &["unsupported", "torch.frobnicate", "4 from the journal"]);
    from_journal(&second, 4);
    second.expect(outcomes(&second) == outcomes(&first), "the results are the same");

    set.graph("set/two", 7, &RELU);
    from_journal(&check(), 3);
    // As an interrupted check leaves it.
    let text = std::fs::read_to_string(&journal).unwrap_or_default();
    let cut = std::fs::write(&journal, &text[..text.len() - 20]);
    assert!(cut.is_ok(), "{cut:?}");
    from_journal(&check(), 3);
    from_journal(&check(), 4);
    // What was not asked for then is not known.
    let run = samples("check", &set.path("set"), &options).with(&["--run", "--device", "cpu"]).with_json().run();
    from_journal(&run, 0);
}

#[test]
fn a_division_is_deterministic_and_no_op_sequence_is_on_both_sides() {
    let set = Set::new();
    let body = |ops: &[&str]| -> Vec<String> {
        let mut lines = vec!["x = in_0".to_owned()];
        lines.extend(ops.iter().map(|op| format!("x = torch.{op}(x)")));
        lines.push("return (x,)".into());
        lines
    };
    let ops = ["exp", "sin", "cos", "tanh", "sqrt", "log", "neg", "erf", "sigmoid", "relu"];
    for (i, one) in ops.iter().enumerate() {
        // Three samples of the same sequence in other shapes, and a task that joins it to the next but one.
        for rows in [2, 3, 4] {
            let lines = body(&[one, "exp"]);
            set.graph(&format!("set/{one}_{rows}"), rows, &lines.iter().map(String::as_str).collect::<Vec<_>>());
        }
        if i % 4 == 0 {
            let task = format!("set/joined_{one}");
            set.task(&task, &["a", "b"]);
            for (graph, op) in [("a", one), ("b", &ops[i + 1])] {
                let lines = body(&[op, "exp"]);
                let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
                set.graph(&format!("{task}/{graph}"), 5, &lines);
            }
        }
    }
    let divide = |seed: &str| {
        let (train, eval) = (set.path("train.txt").display().to_string(), set.path("eval.txt").display().to_string());
        let options = ["--eval", "0.4", "--seed", seed, "--train-out", &train, "--eval-out", &eval];
        samples("split", &set.path("set"), &options).run().expect_end(0, &["to train on", "to evaluate on"]);
        [train, eval].map(|list| {
            let text = std::fs::read_to_string(list).unwrap_or_default();
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<BTreeSet<String>>()
        })
    };
    let [train, eval] = divide("5");
    assert_eq!(train.len() + eval.len(), 33);
    assert!(train.is_disjoint(&eval) && !train.is_empty() && !eval.is_empty(), "{train:?} {eval:?}");
    assert!(train.iter().all(|entry| entry.starts_with("set/")), "entries are relative to the list");
    // Samples with the same ops, and those of the two ops that a task joins, go together.
    for (i, one) in ops.iter().enumerate() {
        let mut together: Vec<String> = [2, 3, 4].map(|rows| format!("set/{one}_{rows}")).into();
        if i % 4 == 0 {
            together.extend([format!("set/joined_{one}"), format!("set/{}_2", ops[i + 1])]);
        }
        let on_eval: BTreeSet<bool> = together.iter().map(|entry| eval.contains(entry)).collect();
        assert_eq!(on_eval.len(), 1, "{together:?} are on both sides");
    }
    assert_eq!(divide("5"), [train.clone(), eval.clone()]);
    assert!((0..8).any(|seed| divide(&seed.to_string()) != [train.clone(), eval.clone()]), "the seed decides");
    // The lists are lists of samples.
    let check = samples("check", &set.path("eval.txt"), &[]).run();
    check.expect_end(2 * i32::from(eval.is_empty()), &["100.0%"]);
}

#[test]
fn equal_graphs_have_equal_hashes_whatever_their_names() {
    let set = Set::new();
    set.graph("set/one", 4, &RELU_EXP);
    set.graph(
        "set/renamed",
        4,
        &["a = torch.nn.functional.relu(in_0)", "dead = torch.cos(a)", "b = a.exp()", "return (b,)"],
    );
    set.graph("set/larger", 5, &RELU_EXP);
    let run = samples("hash", &set.path("set"), &[]).run();
    run.expect_end(0, &[]);
    let hashes: Vec<(&str, &str)> = run.out.lines().filter_map(|line| line.split_once("  ")).collect();
    let hash_of = |name: &str| hashes.iter().find(|(_, path)| path.ends_with(name)).map(|(hash, _)| *hash);
    run.expect(hashes.len() == 3 && hashes.iter().all(|(hash, _)| hash.len() == 64), "three hashes");
    run.expect(hash_of("one") == hash_of("renamed"), "names and dead code do not count");
    run.expect(hash_of("one") != hash_of("larger"), "shapes do");
    let run = samples("hash", &set.path("set"), &["--duplicates"]).run();
    run.expect_end(0, &["2 graphs", "set/one", "set/renamed", "3 graphs, 2 different, 1 of them more than once"]);
    run.expect(!run.out.contains("larger"), "only duplicates are listed");
}

#[test]
fn one_run_leaves_its_tensors_as_files() {
    let set = Set::new();
    let graph = set.graph("graph", 4, &["tmp_0 = in_0.t()", "tmp_1 = in_0 > 0", "return (tmp_0, tmp_1)"]);
    let out = set.path("out");
    let options = ["--device", "cpu", "--seed", "3", "--out", &out.display().to_string()];
    samples("run", &graph, &options).run().expect_end(0, &["1 inputs and 2 outputs"]);
    let read = |name: &str| std::fs::read(out.join(name)).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&read("manifest.json")).unwrap_or_default();
    assert_eq!(manifest["schema"], "passhost.samples.run/1");
    assert_eq!(manifest["inputs"][0]["name"], "in_0");
    assert_eq!(manifest["outputs"][0]["shape"], serde_json::json!([8, 4]));
    assert_eq!(manifest["outputs"][1]["dtype"], "bool");
    let floats = |name: &str| -> Vec<f32> {
        read(name).chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    };
    let (input, transposed) = (floats("input_0.bin"), floats("output_0.bin"));
    assert_eq!((input.len(), transposed.len()), (32, 32));
    // The file is row-major whatever the strides of the tensor.
    assert!((0..32).all(|i| transposed[i] == input[i % 4 * 8 + i / 4]));
    assert_eq!(read("output_1.bin"), input.iter().map(|&x| u8::from(x > 0.0)).collect::<Vec<_>>());
    samples("run", &graph, &options).with(&["--variant", "other"]).run().expect_end(2, &["no graph has `other`"]);
}

#[test]
fn a_narrow_terminal_is_not_overrun() {
    let set = Set::new();
    let long = "a_sample_with_a_name_that_is_longer_than_the_whole_line_of_the_terminal";
    set.graph(&format!("set/{long}"), 4, &RELU_EXP);
    set.graph("set/broken", 4, &UNKNOWN);
    let (train, eval) = (set.path("train.txt").display().to_string(), set.path("eval.txt").display().to_string());
    let cases: [(&str, &[&str]); 5] = [
        ("check", &[]),
        ("list", &[]),
        ("stats", &["--top", "3"]),
        ("lowerings", &[]),
        ("split", &["--eval", "0.5", "--train-out", &train, "--eval-out", &eval]),
    ];
    for (command, options) in cases {
        let run = samples(command, &set.path("set"), options).variable("COLUMNS", "50").run();
        run.expect_end(2, &["torch.frobnicate"]);
        for line in run.out.lines().filter(|line| !line.contains(char::is_whitespace) || !line.contains('/')) {
            run.expect(line.chars().count() <= 50, &format!("`{line}` is too long"));
        }
    }
}

#[test]
fn wrong_usage_is_exit_code_two() {
    let good = sample("single-gelu").display().to_string();
    let cases: [(&[&str], &str); 12] = [
        (&["samples"], "Usage"),
        (&["samples", "check"], "LIST|DIR"),
        (&["samples", "check", "/nowhere/at/all"], "/nowhere/at/all"),
        (&["samples", "check", &good, "--jobs", "0"], "--jobs"),
        (&["samples", "check", &good, "--memory", "1G"], "--run"),
        (&["samples", "check", &good, "--run", "--memory", "much"], "`much` is no size"),
        (&["samples", "check", &good, "--timeout", "soon"], "`soon` is no time"),
        (&["samples", "check", &good, "--resume", "/nowhere/at/all"], "journal"),
        (&["samples", "split", &good, "--eval", "0.2"], "--train-out"),
        (&["samples", "split", &good, "--eval", "1", "--train-out", "a", "--eval-out", "b"], "share"),
        (&["samples", "split", &good, "--eval", "0.5", "--train-out", "a", "--eval-out", "a"], "same file"),
        (&["samples", "run", &good], "--out"),
    ];
    for (arguments, text) in cases {
        Passhost::new(arguments).run().expect_end(2, &[text]);
    }
    let run = Passhost::new(["samples", "check", &good, "--run", "--device", "cuda:99", "--quiet"]).run();
    run.expect_end(3, &["cuda:99", "--device cpu"]);
    run.expect(run.out.is_empty(), "there is no table");
}
