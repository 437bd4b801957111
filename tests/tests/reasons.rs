//! Why a pass is wrong, or misses, as its author reads it.

use passhost_tests::{Passhost, SMALL, directory, plugin, sample, sample_with};
use serde_json::Value;

const FLOAT: &[&str] = &["float32/s0-1_"];

#[test]
fn a_wrong_variant_names_element_share_and_node_and_replays() {
    let sample = sample_with("se-gate-add-relu", FLOAT);
    let wrong = plugin("subtracts_instead");
    let run = Passhost::eval(&wrong, sample.path()).with(&["--seed", "7"]).run();
    let made = "node #4 (aten::sub.Tensor) makes it: what it reads is right, its %tmp_2 at [0, 0, 0, 0] is";
    let says = ["output 0 at [0, 0, 0, 0] is ", "wrong at t = -5", made, "where %tmp_2 of the graph is"];
    run.expect_end(0, &says);
    run.expect(run.out.contains("progress: 4 of 7, runs (1)"), "how far it came is said");
    let document = run.json();
    run.expect(document["progress"] == "runs", "and written down");
    let first_divergent_node = &run.variants()[0]["first_divergent_node"];
    run.expect(
        first_divergent_node["node"] == 4 && first_divergent_node["elements"] == 12_544,
        &format!("{first_divergent_node:#}"),
    );
    let result = run_file(document);
    let (path, plugin, sample) = (result.1, wrong.display().to_string(), sample.path().display().to_string());
    let again = ["verify", &path, "--plugin", &plugin, "--sample", &sample, "--device", "cpu", "--threads", "1"];
    Passhost::new(again).run().expect_end(0, &["agrees"]);
}

/// A document in a file.
fn run_file(document: &Value) -> (tempfile::TempDir, String) {
    let directory = passhost_tests::directory();
    let path = directory.path().join("result.json");
    let written = std::fs::write(&path, document.to_string());
    assert!(written.is_ok(), "{written:?}");
    let path = path.display().to_string();
    (directory, path)
}

#[test]
fn a_refused_kernel_is_shown_with_carets_under_the_instruction() {
    let sample = sample_with("se-gate-add-relu", FLOAT);
    let run = Passhost::eval(&plugin("kernel_out_of_bounds"), sample.path()).run();
    run.expect_end(1, &["v0 loads input x7, but the kernel has 1 inputs", "progress: 2 of 7, loads (1)"]);
    let lines: Vec<&str> = run.out.lines().map(str::trim_end).collect();
    let blamed = lines.iter().position(|line| line.ends_with("v0: f32 = load x7[i0, i1, i2, i3] clamp"));
    let carets = blamed.and_then(|at| lines.get(at + 1)).map_or("", |line| line.trim_start());
    run.expect(!carets.is_empty() && carets.bytes().all(|byte| byte == b'^'), "carets stand under it");
    run.expect(run.variants()[0]["excerpt"].as_array().is_some_and(|lines| lines.len() > 3), "JSON has them too");
}

#[test]
fn a_pass_that_misses_says_what_came_nearest() {
    let sample = sample_with("rms-norm", &["float32/s0-1_"]);
    let run = Passhost::eval(&plugin("masked-mean-pool"), sample.path()).with(&["--explain"]).run();
    run.expect_end(0, &["unchanged", "`passhost eval --explain`", "what the pass said of each variant:", "log: "]);
    run.expect_end(0, &["no match; no node matches the outermost op: expected", "aten::pow.Tensor_Scalar (node #1)"]);
    let run = Passhost::eval(&plugin("noop"), sample.path()).with(&["--explain"]).run();
    run.expect_end(0, &["nothing: it logged nothing and gave no reason for what it left alone"]);
}

#[test]
fn named_variants_are_evaluated_and_the_others_counted() {
    let eval = |texts: &[&str]| {
        let words: Vec<&str> = texts.iter().flat_map(|text| ["--variant", text]).collect();
        Passhost::eval(&plugin("fuse-pointwise"), &sample("pointwise-chain")).with(&words).with(&["--quick"]).run()
    };
    let run = eval(&["/float16/"]);
    run.expect_end(0, &["variants were named: the others are left out"]);
    let document = run.json();
    let names: Vec<&str> = run.variants().iter().filter_map(|variant| variant["name"].as_str()).collect();
    run.expect(names.len() == 1 && names[0].contains("/float16/"), &format!("{names:?}"));
    run.expect(document["job"]["left_out"].as_u64() > Some(0), &format!("{document:#}"));
    eval(&["/float16/", "flaot32"])
        .expect_end(2, &["no variant of pointwise-chain has `flaot32` in its name; did you mean `float32`"]);
}

#[test]
fn a_quick_evaluation_says_that_it_is_no_result_to_rank() {
    let run = Passhost::eval(&plugin("fuse-pointwise"), &sample("pointwise-chain")).with(&["--quick"]).run();
    run.expect_end(0, &["quick: the smallest variants, one round of inputs", "not a result to rank", "AS "]);
    let document = run.json();
    let settings = &document["limits"]["measurement"];
    run.expect(settings["quick"] == true && settings["rounds"] == 1, &format!("{settings:#}"));
    let names: Vec<&str> = run.variants().iter().filter_map(|variant| variant["name"].as_str()).collect();
    run.expect(
        names.len() == 3 && names.iter().all(|name| SMALL.iter().any(|small| name.contains(small))),
        "the smallest",
    );
    let (_directory, path) = run_file(document);
    Passhost::new(["verify", &path, "--offline"]).run().expect_end(0, &["agrees"]);
}

#[test]
fn parts_of_a_rewrite_are_shown_alone() {
    let sample = sample_with("pointwise-chain", FLOAT).keep().display().to_string();
    let fuse = plugin("fuse-pointwise").display().to_string();
    let show = |option: &str| {
        let words = ["show", &sample, "--after", &fuse, "--device", "cpu", option];
        Passhost::new(words).run()
    };
    let diff = show("--diff");
    diff.expect_end(0, &["# changes", "- #7 %tmp_7", "+ #8 ", "return (", "# verified"]);
    diff.expect(!diff.out.contains("graph("), "the graphs are left out");
    let kernels = show("--kernels");
    kernels.expect_end(0, &["# kernels", "kernel(%in_0) {", "# reads 84.0 KiB, writes 84.0 KiB", "bounds it"]);
    let cuda = show("--cuda");
    cuda.expect_end(0, &["# CUDA C++ 1 of 1, for an H100, as no GPU was opened", "extern \"C\" __global__ void"]);
    // What it takes at least is that of the device that is described, whatever there is here.
    let facts = directory();
    let facts = facts.path().join("facts.json").display().to_string();
    let described = |text: &str, more: &[&str]| {
        assert!(std::fs::write(&facts, text).is_ok());
        Passhost::new(["show", &sample, "--after", &fuse, "--kernels", "--device-facts", &facts]).with(more).run()
    };
    let slow = r#"{"kind":"cuda","multiprocessors":1,"l2_bytes":1,"bandwidth":172032,"launch_ns":5000}"#;
    described(slow, &[]).expect_end(0, &["on this cuda about 1000000.00 us for", "memory bounds it"]);
    described("{}", &[]).expect_end(2, &["has no facts of a device", "expected `job.device.facts` of a result"]);
    described(slow, &["--device", "cpu"]).expect_end(2, &["cannot be used with"]);
    Passhost::new(["show", &sample, "--kernels"]).run().expect_end(2, &["--after <PLUGIN>"]);
    let removed = std::fs::remove_dir_all(&sample);
    assert!(removed.is_ok(), "{removed:?}");
}

/// Every command, with what is wrong on its line and what it says of it.
const WRONG: &[(&str, &str)] = &[
    ("eval missing.wasm missing", "missing.wasm"),
    ("check missing.wasm", "missing.wasm"),
    ("check Cargo.toml --limit-memory lots", "`lots` is no size"),
    ("show missing", "missing"),
    ("bench missing", "missing"),
    ("bench missing --queue x --device cpu", "cannot be used with"),
    ("bench missing --queue x --variant float16", "cannot be used with"),
    ("bench missing --labels h200", "--queue <ADDRESS|FILE>"),
    ("baseline missing", "missing"),
    ("report missing.json", "missing.json"),
    ("compare missing.json", "missing.json"),
    ("score missing.json", "missing.json"),
    ("score missing.json --b -1", "missing.json"),
    ("verify missing.json", "missing.json"),
    ("samples check missing", "missing"),
    ("samples list missing", "missing"),
    ("samples stats missing", "missing"),
    ("samples strength missing", "missing"),
    ("samples strength samples --mutants 0", "0 is not in 1..=10000"),
    ("samples lowerings missing", "missing"),
    ("samples split missing --eval 2 --train-out a --eval-out b", "`2` is no share between 0 and 1"),
    ("samples split missing --eval -0.5 --train-out a --eval-out b", "`-0.5` is no share between 0 and 1"),
    ("samples hash missing", "missing"),
    ("samples run missing --out /dev/null/x", "missing"),
    ("samples vary missing --out x", "missing"),
    ("samples pack missing --out x", "missing"),
    ("samples unpack missing --out x", "missing"),
    ("decompose missing --out /dev/null/x", "missing"),
    ("ops frobnicate", "no op of the list is called `frobnicate`"),
    ("policies lax", "there is no policy `lax`"),
    ("doctor --device abacus", "`abacus` is no device"),
    ("worker missing --queue postgres://nobody@localhost/none", "missing"),
    ("worker ../samples/rms-norm --queue x --sign missing", "cannot read the key `missing`"),
    ("worker ../samples/rms-norm --queue x --host a/b", "`--host` takes letters, digits and `-_.@`"),
    ("serve ../samples/rms-norm --clients x --data x --queue x --hosts x", "add --device none"),
    ("serve ../samples/rms-norm --clients x --data x --device cpu --rerun 0.1", "the queue in --data has one host"),
    ("serve ../samples/rms-norm --clients x --data x --queue x --device none --rerun 0.1", "add --hosts FILE"),
    ("serve ../samples/rms-norm --clients x --data x --rerun 2", "`2` is no share between 0 and 1"),
    ("worker samples --queue x --labels a/b", "`a/b` is no label"),
    ("worker ../samples/rms-norm --queue x --objects ftp://x", "`ftp://x` is no object store"),
    ("fleet require-canary 3x --queue x", "`3x` is no time"),
    ("fleet require-canary --queue x", "<TIME>"),
    ("fleet status --queue frobnicate", "PostgreSQL: invalid connection string"),
    ("completions cmd", "invalid value 'cmd'"),
];

#[test]
fn what_lists_things_fits_sixty_columns_without_colours() {
    let sample = sample("rms-norm").display().to_string();
    let lists: [&[&str]; 5] = [
        &["policies"],
        &["doctor", "--device", "cpu"],
        &["ops", "gelu"],
        &["samples", "stats", &sample, "--quiet"],
        &["eval", "--help"],
    ];
    for words in lists {
        let run = Passhost::new(words).variable("COLUMNS", "60").variable("NO_COLOR", "1").run();
        run.expect_end(0, &[]);
        // A path is not broken.
        let is_long = |line: &&str| line.chars().count() > 60 && !line.contains('/');
        let long: Vec<&str> = run.out.lines().filter(is_long).collect();
        run.expect(!run.out.contains('\u{1b}') && long.is_empty(), &format!("lines are too long: {long:?}"));
    }
}

#[test]
fn wrong_input_is_told_in_sixty_columns_without_colours() {
    for (line, says) in WRONG {
        let run = Passhost::new(line.split(' ')).variable("COLUMNS", "60").variable("NO_COLOR", "1").run();
        run.expect_end(2, &["error: ", says]);
        run.expect(!run.err.contains('\u{1b}') && run.out.is_empty(), "nothing else, and no escapes");
        run.expect(!run.err.contains("Debug") && !run.err.contains("None"), "in words");
    }
}
