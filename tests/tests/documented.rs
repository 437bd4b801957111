//! Every command that the documents and the helps show is one that the program takes, and those that need no GPU, no network
//! and no other program run.

use crate::signing::Lab;
use passhost_tests::{Documented, Passhost, command, directory, documented, plugin, repository, sample_with};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a pass is told of a device.
const FACTS: &str = "facts.json";
/// Results, and the same of another day.
const RESULT: &str = "result.json";
const OTHER: &str = "other.json";
/// The list that the results are of.
const GROUP: &str = "list";
/// How long each variant is measured.
const BUDGET: &str = "5ms";

/// What stands for a file or a choice in the documents.
struct Stage {
    directory: tempfile::TempDir,
    sample: tempfile::TempDir,
    plugin: PathBuf,
    /// Where the crate of a new pass lies.
    crates: tempfile::TempDir,
    /// A key, a signed result, and a board that it is on.
    lab: Lab,
}

/// A key, a signed result, and a board that it is on.
fn lab(plugin: &Path, sample: &Path) -> Lab {
    let lab = Lab::new();
    lab.signed(plugin, sample, "signed.jsonl");
    let (result, keys) = (lab.text("signed.jsonl"), lab.text("trusted.keys"));
    let board = Passhost::new(["leaderboard".to_owned(), lab.text("board")]);
    board.with(&["--new", &result, "--trusted-keys", &keys]).run().expect_end(0, &["board.json"]);
    let moved = std::fs::rename(lab.path("signed.jsonl"), lab.path("board/signed.jsonl"));
    assert!(moved.is_ok(), "{moved:?}");
    lab
}

impl Stage {
    /// A sample, results of a plugin on it, and the source of a pass.
    fn new() -> Stage {
        let (directory, sample, plugin) =
            (directory(), sample_with("pointwise-chain", &["float32/s0-1_"]), plugin("fuse-pointwise"));
        let lab = lab(&plugin, sample.path());
        let stage = Stage { directory, sample, plugin, crates: passhost_tests::directory(), lab };
        let source = repository();
        Passhost::new([Path::new("new"), &stage.pass(), Path::new("--source"), &source])
            .run()
            .expect_end(0, &["a pass"]);
        let json = stage.path(RESULT);
        let quick = ["--quick", "--device", "cpu", "--threads", "1", "--json", &json];
        Passhost::new([Path::new("eval"), &stage.plugin, stage.sample.path()])
            .with(&quick)
            .run()
            .expect_end(0, &["quick: "]);
        let mut result: Value =
            std::fs::read_to_string(&json).map(|text| text.parse().unwrap_or_default()).unwrap_or_default();
        // As `bench` writes it of a list.
        result["job"]["groups"] = serde_json::json!([GROUP]);
        for name in [RESULT, OTHER] {
            let written = std::fs::write(stage.path(name), result.to_string());
            assert!(written.is_ok(), "{written:?}");
        }
        let written = std::fs::write(stage.path(FACTS), result["job"]["device"]["facts"].to_string());
        assert!(written.is_ok(), "{written:?}");
        stage
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    /// The crate of a pass.
    fn pass(&self) -> PathBuf {
        self.crates.path().join("my-pass")
    }

    /// The word that is typed for one in the documents, where both words of an option are known.
    fn word(&self, before: Option<&str>, word: &str) -> String {
        let sample = self.sample.path().display().to_string();
        let fresh = |name: &str| self.path(&format!("fresh-{name}"));
        match (before, word) {
            (
                Some(
                    "--json" | "--out" | "--train-out" | "--eval-out" | "--aggregated" | "--counts" | "--resume"
                    | "--html",
                ),
                "-",
            ) => word.to_owned(),
            (
                Some("--json" | "--out" | "--train-out" | "--eval-out" | "--aggregated" | "--counts" | "--html"),
                name,
            ) => fresh(&name.replace('/', "-")),
            (Some("--variant" | "--name"), _) => "float32".to_owned(),
            (Some("--device"), _) => "cpu".to_owned(),
            (Some("--device-facts"), _) => self.path(FACTS),
            (Some("--group"), _) => GROUP.to_owned(),
            (Some("--budget"), _) => BUDGET.to_owned(),
            (Some("--set"), _) => "S0=1".to_owned(),
            (Some("new"), _) => fresh("pass"),
            (Some("--sign"), _) => self.lab.text("lab.key"),
            (Some("--trusted-keys"), _) => self.lab.text("trusted.keys"),
            (Some("leaderboard"), _) => self.lab.text("board"),
            (Some("--new" | "--check"), _) => self.lab.text("board/signed.jsonl"),
            (_, word) if word.ends_with(".signed.jsonl") => self.lab.text("board/signed.jsonl"),
            (_, "my-pass" | "SOURCE") => self.pass().display().to_string(),
            (_, "my-pass/sample") => self.pass().join("sample").display().to_string(),
            (_, word) if word.ends_with(".rs") => self.pass().join("src/lib.rs").display().to_string(),
            (_, "PLUGIN") => self.plugin.display().to_string(),
            (_, word) if word.ends_with(".wasm") => self.plugin.display().to_string(),
            (_, "plugins.jsonl" | "after.jsonl") => self.path(OTHER),
            (_, "FILE" | "FILES" | "RESULT") => self.path(RESULT),
            (_, word) if [".json", ".jsonl"].iter().any(|ending| word.ends_with(ending)) => self.path(RESULT),
            (_, "SAMPLE" | "LIST" | "LIST|DIR" | "DIR" | "GraphNet" | "GraphNet/samples") => sample,
            (_, word) if word.starts_with("samples/") || word.starts_with("my-samples") => sample,
            (Some("policies"), "NAME") => "strict".to_owned(),
            (_, "NAME") => "gelu".to_owned(),
            (_, "SHELL") => "bash".to_owned(),
            (_, word) => word.to_owned(),
        }
    }

    /// What is typed for a documented command: in a size that a test has time for, and whole where only its beginning is
    /// shown. `None` for what needs more than this program.
    fn typed(&self, words: &[String]) -> Option<Vec<String>> {
        let mut typed: Vec<String> = vec![];
        let mut before = None;
        for word in words {
            typed.push(self.word(before, word));
            let is_of_two = matches!(word.as_str(), "night.jsonl" | "mine.jsonl") && words[0] == "compare";
            typed.extend((word == "FILES" || is_of_two).then(|| self.path(OTHER)));
            before = Some(word.as_str());
        }
        let has = |option: &str| words.iter().any(|word| word == option);
        let kind: Vec<&str> = words.iter().take(2).map(String::as_str).collect();
        let out = |name: &str| vec!["--out".to_owned(), self.path(name)];
        let on_cpu = || vec!["--device".to_owned(), "cpu".to_owned()];
        let budget = || if has("--budget") { vec![] } else { ["--budget", BUDGET].map(str::to_owned).to_vec() };
        match kind.as_slice() {
            ["keygen", ..] => {
                typed[1] = if has("--public") { self.lab.text("lab.key") } else { self.path("fresh.key") }
            }
            ["leaderboard", ..] if has("--new") => typed[1] = self.path("fresh-board"),
            _ => {}
        }
        let more = match kind.as_slice() {
            // Needs a Python with PyTorch.
            ["baseline", ..] => return None,
            // Compile crates for minutes; the tests of sources do.
            ["setup-sdk", ..] => return None,
            _ if has("--cargo") => return None,
            // Run until they are stopped, or need a database; tests of their own start them.
            ["serve" | "worker" | "fleet", ..] => return None,
            _ if has("--queue") => return None,
            // Need an endpoint, or what came of one; the tests of the agent bring it.
            ["agent", ..] => return None,
            // Needs a GPU.
            _ if has("--launch") => return None,
            ["eval", ..] if has("--sign") => {
                [budget(), ["--accept-noise", "--quiet", "--threads", "1"].map(str::to_owned).to_vec()].concat()
            }
            ["eval", ..] => ["--quick", "--quiet", "--threads", "1"].map(str::to_owned).to_vec(),
            ["bench", ..] => {
                let quick = [budget(), ["--accept-noise", "--threads", "1"].map(str::to_owned).to_vec()].concat();
                if has("--out") { quick } else { [quick, out("bench.jsonl")].concat() }
            }
            ["build", ..] if !has("--out") => out("pass.wasm"),
            ["new", ..] => vec!["--source".to_owned(), repository().display().to_string()],
            ["samples", "split"] if !has("--eval") => {
                let [train, eval] = [self.path("train.txt"), self.path("eval.txt")];
                ["--eval", "0.5", "--train-out", &train, "--eval-out", &eval].map(str::to_owned).to_vec()
            }
            ["samples", "run"] if !has("--out") => [out("run"), on_cpu()].concat(),
            ["samples", "vary"] if !has("--out") => out("varied"),
            ["samples", "pack" | "unpack"] if !has("--out") => out("converted"),
            ["decompose", ..] if !has("--out") => out("pieces"),
            _ => vec![],
        };
        let takes_device = matches!(kind.as_slice(), ["eval" | "bench", ..]) || has("--after");
        typed.extend(more.into_iter().filter(|word| word != "--quick" || !has("--quick")));
        if takes_device && !has("--device") && !has("--device-facts") {
            typed.extend(on_cpu());
        }
        Some(typed)
    }
}

/// The examples of a help.
fn examples(words: &[&str]) -> Vec<Documented> {
    let run = Passhost::new(words.iter().chain(&["--help"])).run();
    run.expect_end(0, &["Example"]);
    let at = format!("passhost {} --help", words.join(" "));
    run.out
        .lines()
        .filter_map(|line| command(&at, line.trim_start(), true))
        .filter(|found| !found.words.is_empty())
        .collect()
}

/// Every command, by its words.
pub(crate) const COMMANDS: &[&[&str]] = &[
    &["eval"],
    &["build"],
    &["new"],
    &["setup-sdk"],
    &["explain"],
    &["guide"],
    &["check"],
    &["show"],
    &["bench"],
    &["report"],
    &["compare"],
    &["score"],
    &["keygen"],
    &["verify"],
    &["leaderboard"],
    &["samples", "check"],
    &["samples", "list"],
    &["samples", "stats"],
    &["samples", "strength"],
    &["samples", "lowerings"],
    &["samples", "split"],
    &["samples", "hash"],
    &["samples", "run"],
    &["samples", "vary"],
    &["samples", "pack"],
    &["samples", "unpack"],
    &["decompose"],
    &["ops"],
    &["agent"],
    &["agent", "export"],
    &["agent", "show"],
    &["policies"],
    &["doctor"],
    &["serve"],
    &["token"],
    &["worker"],
    &["fleet", "status"],
    &["fleet", "retry"],
    &["fleet", "drain"],
    &["fleet", "require-canary"],
    &["fleet", "revoked"],
    &["completions"],
];

#[test]
fn what_the_documents_show_runs() {
    let shown: Vec<Documented> = documented().into_iter().filter(|command| command.is_line).collect();
    assert!(shown.len() > 30, "only {} commands were found", shown.len());
    run_all(shown);
}

#[test]
fn what_the_helps_show_runs() {
    let shown: Vec<Documented> = COMMANDS.iter().flat_map(|words| examples(words)).collect();
    assert!(shown.len() > 30, "only {} commands were found", shown.len());
    run_all(shown);
}

/// Runs each command once, and says at the end which failed.
fn run_all(shown: Vec<Documented>) {
    let stage = Stage::new();
    let mut done: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut failed = vec![];
    for Documented { file, words, .. } in shown {
        let Some(typed) = stage.typed(&words).filter(|typed| done.insert(typed.clone())) else { continue };
        clear(&stage);
        let run = Passhost::new(&typed).run();
        // A doctor may find something, a threshold may be missed; wrong usage is neither.
        let is_fine = run.code == 0 || (run.code == 1 && words.iter().any(|word| word == "--fail-under"));
        let is_fine = is_fine || (words[0] == "doctor" && run.code == 3);
        if !is_fine || run.err.contains("panicked at") {
            let shown = words.join(" ");
            failed
                .push(format!("{file} shows `passhost {shown}`, {} ends with {}:\n{}", run.command, run.code, run.err));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Takes away what a command before wrote.
fn clear(stage: &Stage) {
    for entry in std::fs::read_dir(stage.directory.path()).into_iter().flatten().flatten() {
        let path = entry.path();
        if [FACTS, RESULT, OTHER].iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let gone = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        assert!(gone.is_ok(), "{}: {gone:?}", path.display());
    }
}
