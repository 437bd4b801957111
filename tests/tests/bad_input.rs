//! What bad input gets: one message that names the thing and what to do, the right exit code and blame, never a host
//! panic or a hang.

use passhost_tests::{Passhost, SMALL, directory, plugin, sample, sample_with};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::path::Path;
use tempfile::TempDir;

fn write(directory: &TempDir, name: &str, content: impl AsRef<[u8]>) -> std::path::PathBuf {
    let path = directory.path().join(name);
    let parent = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, content));
    assert!(written.is_ok(), "{written:?}");
    path
}

/// Evaluates a hostile plugin and checks exit code, class, blame and the texts of the message.
fn check_hostile(name: &str, options: &[&str], code: i32, class: &str, texts: &[&str]) {
    let sample = sample_with("se-gate-add-relu", SMALL);
    let run = Passhost::eval(&plugin(name), sample.path()).with(options).run();
    run.expect_end(code, texts);
    run.expect(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "escapes reach the terminal");
    let document = run.json();
    for variant in run.variants() {
        run.expect(variant["class"] == class, &format!("expected class {class}, found {}", variant["class"]));
        if class != "accuracy" {
            run.expect(variant["failure"]["blame"] == "plugin", "expected the plugin to be blamed");
        }
    }
    run.expect(document["scores"]["aggregate_score"].is_f64(), "the score is written");
}

#[test]
fn a_plugin_that_breaks_a_limit_is_named_with_the_limit() {
    let cases: [(&str, &[&str], &str); 8] = [
        ("endless_loop", &["--limit-fuel", "50000000"], "fuel limit"),
        ("endless_loop", &["--limit-fuel", "100000000000000", "--limit-deadline", "300ms"], "deadline limit"),
        ("memory_hog", &["--limit-memory", "32M"], "memory limit"),
        ("log_flood", &[], "log limit"),
        ("deep_recursion", &[], "stack limit"),
        ("huge_output", &["--limit-output", "1M"], "output limit"),
        ("infer_flood", &["--limit-infer-calls", "50"], "infer-calls limit"),
        ("panics", &["--limit-wasm", "1K"], ""),
    ];
    for (name, options, text) in &cases[..7] {
        check_hostile(name, options, 1, "compile", &["plugin (rewrite)", text, "--limit-"]);
    }
    let (name, options, _) = cases[7];
    Passhost::eval(&plugin(name), &sample("se-gate-add-relu")).with(options).run().expect_end(2, &["--limit-wasm"]);
}

#[test]
fn a_plugin_that_fails_is_quoted_without_its_escapes() {
    let place = ["no idea what to do with", "graphs/subgraphs/float32/s0-1_s1-7/seresnext26t_32x4d (3 variants)"];
    check_hostile("panics", &[], 1, "compile", &place);
    check_hostile("returns_error", &[], 1, "compile", &["this pass does not feel like it"]);
}

#[test]
fn a_rewrite_that_is_no_valid_graph_is_refused_with_the_reason() {
    check_hostile("rubbish", &[], 1, "compile", &["plugin ("]);
    check_hostile("forbidden_op", &[], 1, "compile", &["aten::empty_like"]);
    check_hostile("kernel_out_of_bounds", &[], 1, "compile", &["input"]);
    check_hostile("unknown_operation", &[], 1, "compile", &["node", "v1", "unary operation `frobnicate`"]);
    check_hostile("kernel_leaves_output_unwritten", &[], 1, "compile", &["plugin (verify)"]);
    check_hostile("drops_an_output", &[], 1, "compile", &["output"]);
}

/// What a rewrite costs is estimated before it runs; what crashes or hangs for all that is in `killed_children.rs`.
#[test]
fn a_rewrite_that_would_take_too_much_is_refused_before_it_runs() {
    check_hostile("huge_tensors", &[], 1, "compile", &["plugin (verify)", "bytes of intermediate tensors at once"]);
    check_hostile(
        "slow_ops",
        &[],
        1,
        "compile",
        &["plugin (verify)", "estimated operations in inserted nodes; at most"],
    );
}

#[test]
fn a_sample_that_returns_views_alone_is_refused_whatever_the_plugin() {
    let directory = directory();
    let model = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0):\n        tmp_0 = in_0.reshape(2, 2)\n        return (tmp_0,)\n";
    let record = "class Program_weight_tensor_meta_in_0:\n    name = \"in_0\"\n    shape = [4]\n    dtype = \"torch.float32\"\n    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n    data = None\n";
    write(&directory, "views/model.py", model);
    write(&directory, "views/weight_meta.py", record);
    let sample = directory.path().join("views");
    for name in ["noop", "autofuse"] {
        let run = Passhost::eval(&plugin(name), &sample).run();
        run.expect_end(2, &["sample (sample): every output that counts is a view of an input"]);
        for variant in run.variants() {
            run.expect(
                variant["class"] == "reference" && variant["failure"]["blame"] == "sample",
                "the sample's doing",
            );
        }
    }
}

#[test]
fn a_valid_rewrite_with_a_wrong_answer_runs_and_is_wrong() {
    let sample = sample_with("se-gate-add-relu", SMALL);
    for name in ["copies_an_input", "wild_gather"] {
        let run = Passhost::eval(&plugin(name), sample.path()).run();
        run.expect_end(0, &["AS "]);
        let strict = run.json()["scores"]["aggregate_score_strict"].as_f64();
        run.expect(strict.is_some_and(|strict| (strict - 0.1).abs() < 1e-6), "a wrong answer scores b");
    }
}

#[test]
fn a_file_that_is_no_plugin_is_named_with_what_to_do() {
    let directory = directory();
    // The smallest core module: magic number and version 1.
    let core = write(&directory, "core.wasm", b"\0asm\x01\0\0\0");
    let garbage = write(&directory, "garbage.wasm", b"not wasm at all");
    let empty = write(&directory, "empty.wasm", b"");
    let whole = std::fs::read(plugin("noop")).unwrap_or_default();
    let cut = write(&directory, "cut.wasm", &whole[..whole.len() / 2]);
    let missing = directory.path().join("missing.wasm");
    let cases: [(&Path, i32, &[&str]); 6] = [
        (&core, 1, &["core.wasm", "component", "wasm32-wasip2"]),
        (&garbage, 1, &["garbage.wasm", "component"]),
        (&empty, 1, &["empty.wasm"]),
        (&cut, 1, &["cut.wasm"]),
        (&missing, 2, &["no file", "missing.wasm", "make plugins"]),
        (directory.path(), 2, &["is a directory"]),
    ];
    for (path, code, texts) in cases {
        Passhost::new(["check".as_ref(), path.as_os_str()]).run().expect_end(code, texts);
    }
}

#[test]
fn a_plugin_of_another_interface_version_is_told_both_versions() {
    let directory = directory();
    let mut bytes = std::fs::read(plugin("noop")).unwrap_or_default();
    let (old, new) = (b"@0.2.1", b"@7.3.0");
    let mut found = 0;
    for start in 0..bytes.len().saturating_sub(old.len()) {
        // Only names of this project's package: those of WASI carry versions as well.
        let named = bytes[..start].ends_with(b"passhost:pass/types")
            || bytes[..start].ends_with(b"passhost:pass/host")
            || bytes[..start].ends_with(b"passhost:pass/pass");
        if named && bytes[start..].starts_with(old) {
            bytes[start..start + new.len()].copy_from_slice(new);
            found += 1;
        }
    }
    assert!(found > 0, "the plugin names the interface");
    let path = write(&directory, "old.wasm", bytes);
    Passhost::new(["check".as_ref(), path.as_os_str()]).run().expect_end(1, &["7.3.0", "0.2.1", "rebuild"]);
}

#[test]
fn a_broken_sample_is_the_samples_fault() {
    let directory = directory();
    write(&directory, "empty/readme.txt", "nothing here");
    write(&directory, "list/graph_list.txt", "../../etc\n");
    write(&directory, "python/model.py", "import os\nos.system('touch /tmp/owned')\n");
    write(&directory, "python/weight_meta.py", "");
    write(
        &directory,
        "unknown/model.py",
        "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0):\n        tmp_0 = torch.frobnicate(in_0)\n        return (tmp_0,)\n",
    );
    write(
        &directory,
        "unknown/weight_meta.py",
        "class Program_weight_tensor_meta_in_0:\n    name = \"in_0\"\n    shape = [4]\n    dtype = \"torch.float32\"\n    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n    data = None\n",
    );
    let noop = plugin("noop");
    let cases: [(&str, &[&str]); 5] = [
        ("missing", &["missing"]),
        ("empty", &["empty"]),
        ("list", &["graph_list.txt"]),
        ("python", &["model.py"]),
        ("unknown", &["torch.frobnicate", "model.py"]),
    ];
    for (name, texts) in cases {
        let run = Passhost::eval(&noop, &directory.path().join(name)).run();
        run.expect_end(2, texts);
    }
}

#[test]
fn a_sample_that_no_memory_has_room_for_is_not_run() {
    let directory = directory();
    write(
        &directory,
        "large/model.py",
        "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0):\n        tmp_0 = in_0.expand(68719476736, 4)\n        tmp_1 = torch.nn.functional.relu(tmp_0)\n        return (tmp_1,)\n",
    );
    write(
        &directory,
        "large/weight_meta.py",
        "class Program_weight_tensor_meta_in_0:\n    name = \"in_0\"\n    shape = [4]\n    dtype = \"torch.float32\"\n    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n    data = None\n",
    );
    let run = Passhost::eval(&plugin("noop"), &directory.path().join("large")).run();
    // A tensor of one TiB, which is the largest that there may be, and more than once.
    run.expect_end(3, &["host (reference): the sample's tensors take about ", "left: it is not run", "--variant"]);
    run.expect(run.json()["scores"].is_null(), "nothing is scored");
    run.expect(run.variants()[0]["failure"]["blame"] == "host", "nobody is accused");
}

#[test]
fn wrong_usage_is_exit_code_two() {
    let noop = plugin("noop").display().to_string();
    let sample = sample("pointwise-chain").display().to_string();
    let cases: [&[&str]; 6] = [
        &["eval"],
        &["eval", &noop],
        &["eval", &noop, &sample, "--budget", "soon"],
        &["eval", &noop, &sample, "--device", "abacus"],
        &["eval", &noop, &sample, "--b", "0"],
        &["frobnicate"],
    ];
    for arguments in cases {
        Passhost::new(arguments).run().expect_end(2, &["error"]);
    }
}

#[test]
fn what_was_meant_is_in_the_message() {
    let directory = directory();
    let noop = plugin("noop").display().to_string();
    let shipped = |name: &str| sample(name).display().to_string();
    let (rms_norm, nearly_noop) = (shipped("rms-norm"), noop.replace("noop", "nopo"));
    let python = write(&directory, "make.py", "import torch\n").display().to_string();
    let model = write(&directory, "graph/model.py", "import torch\n").display().to_string();
    let results = write(&directory, "results/night.jsonl", "").with_file_name("").display().to_string();
    let endpoint = "http://127.0.0.1:9/v1/chat/completions";
    let meant = |path: &str| format!("did you mean `{path}`");
    let source = write(&directory, "pass.rs", "").display().to_string();
    let cases: [(&[&str], &[&str]); 19] = [
        (&["eval", &python, &source], &["stands where the plugin belongs, and is Python", "passhost_extract"]),
        (&["eval", &rms_norm], &["stands where the plugin belongs", &format!("`passhost eval PLUGIN {rms_norm}`")]),
        (&["eval", &noop, "GatedBlock"], &["no file or directory `GatedBlock`; expected a sample", "FILE.py:MODEL"]),
        (&["samples", "list", "GatedBlock"], &["no file or directory `GatedBlock`; expected a sample"]),
        (&["bench", &source, &rms_norm], &[&format!("`passhost build {source}` makes one")]),
        (
            &["eval", &rms_norm, &noop],
            &["stands where the plugin belongs", &format!("passhost eval {noop} {rms_norm}")],
        ),
        (&["eval", &nearly_noop, &rms_norm], &["no file or directory", &meant(&noop)]),
        (&["check", &nearly_noop], &[&meant(&noop)]),
        (&["eval", &noop, &shipped("rms-nrom")], &["no file or directory", &meant(&rms_norm)]),
        (&["eval", &noop, &shipped("referense.txt")], &[&meant(&shipped("reference.txt"))]),
        (&["show", &shipped("rms-nrom")], &[&meant(&rms_norm)]),
        (&["samples", "list", &shipped("rms-nrom")], &[&meant(&rms_norm)]),
        (
            &["eval", &noop, &python],
            &["it is Python", "`pip install ./samples/extract`", &format!("`python {python}`")],
        ),
        (&["eval", &noop, &model], &["it is a file of a sample; give the directory"]),
        (&["report", &results], &["it is a directory", "night.jsonl`?"]),
        (&["ops", "layernorm"], &[&meant("aten::layer_norm")]),
        (&["explain", "undecidd"], &[&meant("undecided")]),
        (&["bnech"], &["a similar subcommand exists: 'bench'"]),
        (
            &["agent", "--model", "m", "--base-url", endpoint, "--samples", &rms_norm],
            &["/chat/completions itself; write http://127.0.0.1:9/v1"],
        ),
    ];
    for (words, texts) in cases {
        Passhost::new(words).run().expect_end(2, texts);
    }
}

#[test]
fn pipes_and_devices_are_refused_at_once() {
    let directory = directory();
    let pipe = directory.path().join("pipe");
    let made = mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0);
    assert!(made.is_ok(), "{made:?}");
    let (noop, sample) = (plugin("noop"), sample("single-gelu"));
    for endless in [&pipe, Path::new("/dev/zero")] {
        for words in [
            [Path::new("eval"), endless, &sample],
            [Path::new("eval"), &noop, endless],
            [Path::new("samples"), Path::new("check"), endless],
        ] {
            Passhost::new(words).run().expect_end(2, &["no regular file"]);
        }
        for words in ["check", "score"] {
            Passhost::new([Path::new(words), endless]).run().expect_end(2, &["no regular file"]);
        }
    }
}

#[test]
fn nothing_is_captured_without_a_gpu() {
    let directory = directory();
    let (noop, sample) = (plugin("noop"), sample("pointwise-chain"));
    let out = directory.path().join("bench.jsonl");
    let says =
        ["`--launch graph` captures programs in CUDA graphs and needs a GPU", "leave it out, or use --device cuda"];
    for run in [Passhost::eval(&noop, &sample), Passhost::bench([&noop, &sample], &out)] {
        run.with(&["--launch", "graph"]).run().expect_end(2, &says);
    }
    assert!(!out.exists(), "nothing was begun");
    Passhost::eval(&noop, &sample).with(&["--launch", "both"]).run().expect_end(2, &["possible values: stream, graph"]);
}

#[test]
fn a_device_that_is_not_there_is_the_hosts_trouble() {
    let noop = plugin("noop").display().to_string();
    let sample = sample("pointwise-chain").display().to_string();
    Passhost::new(["eval", &noop, &sample, "--device", "cuda:99"]).run().expect_end(3, &["cuda:99", "--device cpu"]);
}

#[test]
fn a_file_that_cannot_be_scored_is_named() {
    let directory = directory();
    let cases = [
        ("text.json", "hello", "no JSON"),
        ("other.json", "{\"schema\": \"other/1\"}", "other/1"),
        ("vectors.json", "{\"cases\": [{\"graphs\": 3}]}", "cases"),
    ];
    for (name, content, text) in cases {
        let path = write(&directory, name, content);
        Passhost::new(["score".as_ref(), path.as_os_str()]).run().expect_end(2, &[name, text]);
    }
}

#[test]
fn no_schedule_is_chosen_without_a_gpu() {
    let sample = sample_with("pointwise-chain", SMALL);
    let run = Passhost::eval(&plugin("fuse-pointwise"), sample.path()).with(&["--tune"]).run();
    run.expect_end(0, &["--tune has nothing to choose on the cpu, where kernels have one schedule each", "AS "]);
    run.expect(run.variants().iter().all(|variant| variant.get("tuned").is_none()), "nothing was measured");
    run.expect(!run.out.contains("schedules: "), "and nothing is said of it");
}

#[test]
fn whoever_serves_signs_or_asks_a_model_is_told_what_to_do() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let made = mknodat(CWD, directory.path().join("pipe"), FileType::Fifo, Mode::RWXU, 0);
    assert!(made.is_ok(), "{made:?}");
    let (pipe, none, file) = (at("pipe"), at("none"), at("file"));
    write(&directory, "file", "three words and more\n");
    write(&directory, "queue/queue.redb", "no queue");
    let clients = Passhost::new(["token", "alice"]).run().out;
    write(&directory, "clients", clients);
    let (clients, data, queue) = (at("clients"), at("data"), at("queue"));
    let sample = sample("single-gelu").display().to_string();
    let serve = |clients: &str, more: &[&str]| {
        let words = ["serve", &sample, "--device", "cpu", "--disk", "64M", "--clients", clients];
        Passhost::new(words.iter().chain(more)).run()
    };
    serve(&none, &["--data", &data]).expect_end(2, &["cannot read the clients", "`passhost token NAME` prints a line"]);
    serve(&pipe, &["--data", &data]).expect_end(2, &["it is no regular file"]);
    serve("/dev/zero", &["--data", &data]).expect_end(2, &["it is no regular file"]);
    serve(&file, &["--data", &data]).expect_end(2, &["line 1: expected three words", "client NAME HASH"]);
    serve(&clients, &["--data", &file]).expect_end(2, &["cannot make the directory", "--data DIR"]);
    serve(&clients, &["--data", &queue]).expect_end(2, &["queue.redb", "name a directory of a server, or a new one"]);
    let elsewhere = ["--data", &data, "--listen", "192.0.2.1:80"];
    serve(&clients, &elsewhere)
        .expect_end(2, &["cannot listen at 192.0.2.1:80", "name a free address of this machine"]);
    // A file keeps the address, and what is in it, off the command line.
    write(&directory, "address", "postgres://grader:secret@127.0.0.1:1/passhost\n");
    for (exit, address, said) in [
        (2, "no-address", "PostgreSQL: invalid connection string"),
        (3, "postgres://127.0.0.1:1/passhost", "PostgreSQL does not answer"),
        (3, &at("address"), "start it, or check the address"),
    ] {
        let run = serve(&clients, &["--data", &at("fleet"), "--queue", address]);
        run.expect_end(exit, &[said]).expect(!run.err.contains("secret"), "the password is not shown");
    }
    for name in ["", "a b", "a\u{1b}[31mb"] {
        let run = Passhost::new(["token", name]).run();
        run.expect_end(2, &["is no name for a client"]).expect(!run.err.contains('\u{1b}'), "no escape is shown");
    }
    let agent = |out: &str| {
        let words = ["agent", "--model", "m", "--base-url", "http://127.0.0.1:9", "--samples", &sample, "--out", out];
        Passhost::new(words).run()
    };
    for out in [&file, &pipe, "/proc/none"] {
        agent(out).expect_end(2, &["cannot make", "name another one by --out DIR"]);
    }
    for run in [&none, &file, &pipe] {
        let export = Passhost::new(["agent", "export", run, "--format", "sft"]).run();
        export.expect_end(2, &["holds no run", "`passhost agent --out DIR`"]);
    }
    for board in [&none, &file, &pipe] {
        Passhost::new(["leaderboard", board]).run().expect_end(2, &["cannot read the board", "--new RESULTS"]);
    }
    let keygen = |key: &str, more: &[&str]| Passhost::new(["keygen", key, "--name", "lab"].iter().chain(more)).run();
    keygen(&pipe, &["--public"]).expect_end(2, &["is no file; expected a file of this user"]);
    keygen(&none, &["--public"]).expect_end(2, &["cannot read the key", "`passhost keygen FILE` makes one"]);
    keygen(&pipe, &[]).expect_end(2, &["a key is never overwritten"]);
}
