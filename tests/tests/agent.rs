//! `passhost agent` with a scripted endpoint in place of a model: tasks solved from end to end, interrupted and resumed;
//! endpoints that are busy, broken or talkative.

mod budgets;
mod compared;
pub mod endpoint;
mod first;
mod script;
mod spelled;
mod turns;

use endpoint::{Endpoint, Reply};
use passhost_tests::{Passhost, Run, directory, sample_with};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Stdio};

/// `passhost agent` on samples, small, without patience.
fn agent(endpoint: &Endpoint, samples: &[&Path], out: &Path) -> Passhost {
    let words = ["agent", "--model", "scripted", "--base-url", &endpoint.url, "--out"].map(str::to_owned);
    let samples = samples.iter().map(|path| path.display().to_string());
    let words = words.into_iter().chain([out.display().to_string(), "--samples".to_owned()]).chain(samples);
    Passhost::new(words).with(&["--device", "cpu", "--threads", "1", "--quick", "--retry-delay", "1ms"])
}

/// The lines of the attempts of a run, by the names of their files.
fn trajectories(out: &Path) -> Vec<Vec<Value>> {
    let files = std::fs::read_dir(out.join("attempts")).into_iter().flatten().flatten();
    let mut files: Vec<_> = files.map(|file| file.path()).collect();
    files.sort();
    let read = |text: String| text.lines().map(|line| serde_json::from_str(line).unwrap_or_default()).collect();
    files.iter().map(|file| read(std::fs::read_to_string(file).unwrap_or_default())).collect()
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

/// Tools and what they changed, in order.
fn course(lines: &[Value]) -> Vec<String> {
    let course = of_kind(lines, "call").into_iter().map(|line| {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!("{} {}", word(&line["call"]["function"]["name"]), word(&line["effect"]["kind"]))
    });
    course.collect()
}

/// Lets a command run until something holds, and kills it then as `kill -9` does.
fn kill_when(command: &Passhost, mut holds: impl FnMut(u32) -> bool) {
    let started = command.command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    assert!(started.is_ok(), "passhost does not start: {started:?}");
    let Ok(mut process) = started else { unreachable!("it was checked") };
    while !holds(process.id()) {
        let ended = process.try_wait();
        assert!(matches!(ended, Ok(None)), "it ended before it could be killed: {ended:?}\n{}", said(process));
        std::thread::yield_now();
    }
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    assert!(pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok()));
    let ended = process.wait();
    assert!(ended.is_ok_and(|status| !status.success()));
}

fn said(process: Child) -> String {
    let output = process.wait_with_output();
    output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default()
}

/// Interrupts a command once something holds, as Ctrl-C does, and returns what it left.
fn interrupt_when(command: &Passhost, holds: impl Fn() -> bool) -> Run {
    let started = command.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    assert!(started.is_ok(), "passhost does not start: {started:?}");
    let Ok(mut process) = started else { unreachable!("it was checked") };
    while !holds() && matches!(process.try_wait(), Ok(None)) {
        std::thread::yield_now();
    }
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    assert!(pid.is_some_and(|pid| kill_process(pid, Signal::INT).is_ok()));
    let output = process.wait_with_output();
    assert!(output.is_ok(), "passhost is lost: {output:?}");
    command.ended(&output.unwrap_or_else(|_| unreachable!("it was checked")))
}

/// A process of this machine.
struct Found {
    id: u32,
    parent: u32,
    line: Vec<String>,
}

impl Found {
    /// Whether it runs this command of passhost.
    fn is(&self, word: &str) -> bool {
        self.line.get(1).is_some_and(|first| first == word)
    }
}

/// Whether a process has a child that runs this command of passhost.
fn runs(parent: u32, word: &str) -> bool {
    processes().any(|found| found.parent == parent && found.is(word))
}

/// All processes.
fn processes() -> impl Iterator<Item = Found> {
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        Some(Found { id, parent, line: line.split('\0').map(str::to_owned).collect() })
    })
}

/// Programs that run below commands with which a process has passes checked, until it is over, but for the one that says what
/// ops return.
pub fn below_checks(process: u32, mut is_over: impl FnMut() -> bool) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    while !is_over() {
        let all: Vec<Found> = processes().collect();
        let is_check = |found: &&Found| found.parent == process && found.is("show");
        let checks: Vec<u32> = all.iter().filter(is_check).map(|found| found.id).collect();
        let below = all.iter().filter(|found| checks.contains(&found.parent) && !found.is("types"));
        seen.extend(below.filter_map(|found| Some(found.line.first()?.rsplit('/').next()?.to_owned())));
    }
    seen
}

/// Waits until nothing of a run is at work any more.
fn wait_for_end(out: &Path) {
    let out = out.display().to_string();
    while processes().any(|found| found.line.iter().any(|word| word.contains(&out))) {
        std::thread::yield_now();
    }
}

#[test]
fn three_tasks_are_solved_through_five_kills_and_nothing_is_asked_or_measured_twice() {
    let samples = [
        sample_with("pointwise-chain", &["float32/s0-1_"]),
        sample_with("single-gelu", &["float32/s0-1_"]),
        sample_with("masked-mean-pool", &["float32/shape-0/"]),
    ];
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|asked| match asked.number {
        // The first request of all, and one that tells of a verdict.
        0 | 5 => Reply::Hold,
        _ => script::next(asked),
    });
    let paths: Vec<&Path> = samples.iter().map(tempfile::TempDir::path).collect();
    let run = || agent(&endpoint, &paths, &out).with(&["--resume"]);
    kill_when(&run(), |_| endpoint.takes_hold());
    kill_when(&run(), |process| runs(process, "build"));
    wait_for_end(&out);
    kill_when(&run(), |_| endpoint.takes_hold());
    kill_when(&run(), |process| runs(process, "eval"));
    wait_for_end(&out);
    kill_when(&run(), |process| runs(process, "show"));
    wait_for_end(&out);
    let run = run().with(&["--parallel", "3"]).with_json().run();
    run.expect_end(0, &["best of 1", "geometric mean"]);

    assert!(endpoint.answered().iter().all(|times| *times == 1), "{:?}", endpoint.answered());
    let trajectories = trajectories(&out);
    assert_eq!(trajectories.len(), 3);
    for lines in &trajectories {
        assert_eq!(course(lines), script::COURSE, "{lines:?}");
        let measured = of_kind(lines, "call").into_iter().filter(|line| {
            line["effect"]["verdict"].is_object() && line["device_seconds"].as_f64().is_some_and(|time| time > 0.0)
        });
        assert_eq!(measured.count(), 2, "two sources were measured, once each: {lines:?}");
        let rewards = |kind| of_kind(lines, kind).into_iter().map(|line| line["reward"].clone());
        let paid: f64 = rewards("call").chain(rewards("end")).map(|reward| sum(&reward)).sum();
        let end = of_kind(lines, "end")[0];
        assert!(end["why"] == "submitted" && end["verdict"]["right"] == true, "{end}");
        assert!((paid - end["score"].as_f64().unwrap_or_default()).abs() < 1e-9, "{paid}, {end}");
    }
    let tasks = &run.json()["tasks"];
    run.expect(tasks.as_array().is_some_and(|tasks| tasks.iter().all(|task| task["right"] == 1)), "all are right");
    exports_are_reproducible(&out);
    a_page_shows_what_was_written(&out);
}

fn sum(reward: &Value) -> f64 {
    ["build", "check", "right", "score"].iter().filter_map(|part| reward[part].as_f64()).sum()
}

fn exports_are_reproducible(out: &Path) {
    for format in ["sft", "rl", "preference", "atif"] {
        let export = || -> Run {
            let run = Passhost::new([Path::new("agent"), Path::new("export"), out]).with(&["--format", format]).run();
            run.expect_end(0, &[]);
            run
        };
        let (first, second) = (export(), export());
        first.expect(first.out == second.out, "the same bytes twice");
        let lines = if format == "preference" { 0 } else { 3 };
        first.expect(first.out.lines().count() == lines, "a line for each attempt, and no pair of one");
        first.expect(first.err.contains("nothing is exported: of the 3 attempts") == (lines == 0), "it says why");
        let line: Value = first.out.lines().next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        let run = if format == "atif" { &line["extra"]["run"] } else { &line["run"] };
        let is_known = run["policy"] == "open" && run["budget"]["steps"] == 40 && run["noise"].as_f64() >= Some(1.0);
        first.expect(lines == 0 || is_known && run["seconds"].as_f64() > Some(0.0), &run.to_string());
    }
}

fn a_page_shows_what_was_written(out: &Path) {
    let show = |words: &[&str]| Passhost::new([Path::new("agent"), Path::new("show"), out]).with(words).run();
    show(&[]).expect_end(0, &["best of 1", "geometric mean"]);
    let run = show(&["--html", "-"]);
    run.expect_end(
        0,
        &["3 of 3 attempts have ended", "rewriter.remove_dead_code();", "submitted, score ", ">right</span>"],
    );
    run.expect(
        run.out.starts_with("<!DOCTYPE html>") && run.out.matches("<details class=\"attempt\"").count() == 3,
        "a page",
    );
    let inside = out.join("run.json").display().to_string();
    show(&["--html", &inside]).expect_end(2, &["--html"]);
}

/// A sample in whose graph a name is an instruction.
fn injected() -> tempfile::TempDir {
    let sample = sample_with("pointwise-chain", &["float32/s0-1_"]);
    let list = std::fs::read_to_string(sample.path().join("graph_list.txt")).unwrap_or_default();
    for file in std::fs::read_dir(sample.path().join(list.trim())).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap_or_default();
        let written = std::fs::write(file.path(), text.replace("in_0", script::INJECTED));
        assert!(written.is_ok(), "{written:?}");
    }
    sample
}

#[test]
fn an_endpoint_that_is_busy_or_broken_is_asked_again_and_what_is_no_call_is_a_step() {
    const KEY: &str = "sk-secret-of-this-test";
    let sample = injected();
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|asked| {
        if asked.authorization.as_deref() != Some(&format!("Bearer {KEY}")) {
            return Reply::fail("no key".into());
        }
        script::troubled(asked, KEY)
    });
    let run = agent(&endpoint, &[sample.path()], &out)
        .with(&["--stream", "--max-steps", "7", "--api-key-variable", "KEY_OF_A_TEST"])
        .variable("KEY_OF_A_TEST", KEY)
        .run();
    run.expect_end(0, &["out of steps"]);
    let lines = &trajectories(&out)[0];
    let told: Vec<&str> = lines.iter().filter_map(|line| line["text"].as_str()).collect();
    let expected = [
        "there is no tool `compile`; call one of show_graph",
        "the arguments of build are no JSON object",
        "Your message called no tool",
        "no pass is written; call `write_pass` first",
        "graph(%ignore_previous",
        "nothing was handed in",
        "no section has `nowhere` in its title",
    ];
    run.expect(told.len() == expected.len(), &format!("{told:?}"));
    for (told, expected) in told.iter().zip(expected) {
        run.expect(told.contains(expected), &format!("`{expected}` in `{told}`"));
    }
    let all: String = lines.iter().map(Value::to_string).collect::<String>() + &run.out + &run.err;
    run.expect(!all.contains(KEY) && all.contains("<key>"), "the key is nowhere, also where the endpoint says it");
}

#[test]
fn what_an_endpoint_asks_to_wait_is_what_is_waited() {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|asked| match asked.number {
        0 => Reply::Raw(429, "retry-after: 0\r\n", String::new()),
        _ => script::in_plain_text(asked),
    });
    // Who waited for a minute instead would not end in the time that tests have.
    let words = ["--retry-delay", "20h", "--plain-text", "--max-steps", "2"];
    let run = agent(&endpoint, &[sample.path()], &out);
    let run = run.without("--retry-delay").with(&words).run();
    run.expect_end(0, &["out of steps"]);
    let lines = &trajectories(&out)[0];
    assert_eq!(course(lines), ["write_pass wrote", "read_guide nothing"]);
}

#[test]
fn an_interrupted_run_ends_at_once_and_goes_on_where_it_was() {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|asked| match asked.number {
        0 => Reply::call(&[("read_guide", json!({"section": "Limits"}))]),
        1 => Reply::Hold,
        _ => Reply::call(&[("submit", json!({}))]),
    });
    let run = || agent(&endpoint, &[sample.path()], &out).with(&["--max-steps", "2"]);
    let interrupted = interrupt_when(&run(), || endpoint.takes_hold());
    interrupted.expect_end(130, &["attempts that have not ended: 1", "--resume"]);
    run().with(&["--resume"]).run().expect_end(0, &["out of steps", "best of 1"]);
    assert_eq!(course(&trajectories(&out)[0]), ["read_guide nothing", "submit nothing"]);
    assert_eq!(endpoint.answered(), [1, 1]);
}

#[test]
fn what_an_endpoint_refuses_ends_the_run_and_resuming_goes_on() {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|asked| match asked.number {
        0 => Reply::Raw(401, "", json!({"error": {"message": "who are you"}}).to_string()),
        _ => Reply::call(&[("read_guide", json!({"section": "Errors"}))]),
    });
    let run = || agent(&endpoint, &[sample.path()], &out).with(&["--max-steps", "1"]);
    run().run().expect_end(3, &["the endpoint answers 401", "who are you", "attempts that have not ended: 1"]);
    run().run().expect_end(2, &["holds a run", "--resume"]);
    let other = agent(&endpoint, &[sample.path()], &out).with(&["--max-steps", "2", "--resume"]);
    other.run().expect_end(2, &["cannot be resumed: budget was"]);
    run().with(&["--resume"]).run().expect_end(0, &["read_guide: ## Errors and what to do"]);
    run().with(&["--resume"]).run().expect_end(0, &["best of 1"]);
    assert_eq!(passhost_tests::open_to_others(&out), Vec::<String>::new(), "what a model said is its user's alone");
    assert_eq!(endpoint.answered(), [1]);
    let plain = agent(&endpoint, &[sample.path()], &kept.path().join("other"));
    let file = kept.path().join("key");
    assert!(std::fs::write(&file, "sk-1\n").is_ok());
    let far = ["--base-url", "http://192.0.2.1/v1", "--api-key-file", &file.display().to_string()].map(str::to_owned);
    let far: Vec<&str> = far.iter().map(String::as_str).collect();
    plain.without("--base-url").with(&far).run().expect_end(2, &["in the clear", "https://"]);
}

#[test]
fn of_hidden_sizes_a_model_hears_pass_or_fail() {
    let (_directory, _, sample) = crate::hidden_sizes::written();
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|_| {
        let source = json!({"source": crate::hidden_sizes::source()});
        let tools = ["eval", "show_refusals", "submit"].map(|name| (name, json!({})));
        Reply::call(&[&[("write_pass", source)], &tools[..]].concat())
    });
    let words = ["--policy", "strict", "--accept-noise"];
    agent(&endpoint, &[&sample], &out).with(&words).run().expect_end(0, &["submitted"]);
    let lines = &trajectories(&out)[0];
    let calls = of_kind(lines, "call");
    let told: Vec<&str> = calls.iter().filter_map(|line| line["text"].as_str()).collect();
    let told = told.join("\n");
    assert!(told.contains("shape overfit") && told.contains("in hidden sizes: fail"), "{told}");
    for secret in ["seed", " = 2", "--set", "samples vary", "at no tolerance", "with E"] {
        assert!(!told.contains(secret), "`{secret}` in {told}");
    }
    let seen: Vec<&str> = told.lines().filter(|line| line.contains("seen: ")).collect();
    let recorded = |line: &&str| line.contains("[2, 64, 256]") || line.contains("[8, 256, 1024]");
    assert!(seen.iter().all(recorded), "{seen:?}");
}
