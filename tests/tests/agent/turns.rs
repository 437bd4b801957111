//! Tools under the rules of the run: the policy that a check goes by, results that a power failure left, and who works beside
//! an evaluation.

use super::endpoint::{Endpoint, Reply};
use super::{agent, below_checks, course, kill_when, of_kind, processes, runs, script, trajectories, wait_for_end};
use passhost_tests::{directory, sample_with};
use serde_json::json;
use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest wait for an evaluation to begin.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn a_check_goes_by_the_policy_of_the_run() {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let endpoint = Endpoint::start(|_| Reply::call(&[script::inserts(), ("check", json!({}))]));
    for (policy, expected) in [("open", "check: every graph may run"), ("strict", "check: refused")] {
        let out = kept.path().join(policy);
        let run = agent(&endpoint, &[sample.path()], &out).with(&["--max-steps", "2", "--policy", policy]).run();
        run.expect_end(0, &["out of steps"]);
        let lines = &trajectories(&out)[0];
        let (call, is_strict) = (of_kind(lines, "call")[1], policy == "strict");
        let told = call["text"].as_str().unwrap_or_default();
        run.expect(told.starts_with("changed 1 of 1 graphs\n") && told.contains(expected), told);
        run.expect(told.contains("the policy `strict` does not allow this: ") == is_strict, told);
        run.expect(call["effect"]["passes"] == !is_strict, &call["effect"].to_string());
    }
}

#[test]
fn a_check_opens_no_device_that_would_be_timed() {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|_| Reply::call(&[script::right(), ("check", json!({}))]));
    let command = agent(&endpoint, &[sample.path()], &out).with(&["--max-steps", "2"]);
    let started = command.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    assert!(started.is_ok(), "{started:?}");
    let Ok(mut process) = started else { unreachable!("it was checked") };
    let seen = below_checks(process.id(), || !matches!(process.try_wait(), Ok(None)));
    assert_eq!(course(&trajectories(&out)[0]), ["write_pass wrote", "check checked"]);
    assert!(seen.contains("passhost-guest") && !seen.contains("passhost-device"), "{seen:?}");
}

#[test]
fn a_result_that_a_power_failure_left_empty_is_measured_again() {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|_| Reply::call(&[script::right(), ("submit", json!({}))]));
    let run = || agent(&endpoint, &[sample.path()], &out);
    // The evaluation before the first request is over where an answer is on the disk.
    let is_answered = || trajectories(&out).first().is_some_and(|lines| !of_kind(lines, "answer").is_empty());
    kill_when(&run(), |process| is_answered() && runs(process, "eval"));
    wait_for_end(&out);
    let folders = |path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let sources: Vec<_> = folders(out.join("work")).flat_map(folders).collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert!(sources[0].join("pass.wasm").is_file());
    let written = std::fs::write(sources[0].join("pass.json"), "");
    assert!(written.is_ok(), "{written:?}");
    run().with(&["--resume"]).run().expect_end(0, &["best of 1"]);
    let lines = &trajectories(&out)[0];
    assert_eq!(course(lines), ["write_pass wrote", "submit submitted"]);
    let end = of_kind(lines, "end")[0];
    assert!(end["verdict"]["right"] == true && end["why"] == "submitted", "{end}");
}

/// Processes of a command of passhost below another.
fn of(parent: u32, word: &str) -> BTreeSet<u32> {
    processes().filter(|found| found.parent == parent && found.is(word)).map(|found| found.id).collect()
}

#[test]
fn nothing_is_built_beside_an_evaluation_that_is_timed_on_the_processor() {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let evaluates = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&evaluates);
    // One attempt evaluates; the other hears what to build when it does.
    let endpoint = Endpoint::start(move |asked| {
        if asked.number == 0 {
            return Reply::call(&[script::right(), ("eval", json!({}))]);
        }
        let waits = Instant::now();
        while !seen.load(Ordering::Relaxed) {
            if waits.elapsed() > PATIENCE {
                return Reply::fail("nothing was evaluated".to_owned());
            }
            std::thread::yield_now();
        }
        Reply::call(&[script::wrong(), ("build", json!({}))])
    });
    let words = ["--max-steps", "2", "--attempts", "2", "--parallel", "2"];
    let command = agent(&endpoint, &[sample.path()], &out).with(&words);
    let started = command.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    assert!(started.is_ok(), "{started:?}");
    let Ok(mut process) = started else { unreachable!("it was checked") };
    let mut before = BTreeSet::new();
    while matches!(process.try_wait(), Ok(None)) {
        let built = of(process.id(), "build");
        let evaluations = of(process.id(), "eval");
        // One that ran before and after something was built ran beside it.
        let beside: Vec<_> = before.intersection(&evaluations).collect();
        let is_apart = built.is_empty() || beside.is_empty();
        evaluates.fetch_or(!evaluations.is_empty(), Ordering::Relaxed);
        before = evaluations;
        if !is_apart {
            let _ = process.kill().and_then(|()| process.wait());
        }
        assert!(is_apart, "{built:?} is built beside {before:?}");
    }
    let mut courses: Vec<_> = trajectories(&out).iter().map(|lines| course(lines)).collect();
    courses.sort();
    assert_eq!(courses, [["write_pass wrote", "build built"], ["write_pass wrote", "eval judged"]]);
}
