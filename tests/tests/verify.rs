//! `passhost verify`: a result document is held against itself, its plugin and its sample.

use passhost_tests::{Passhost, Run, SMALL, directory, plugin, sample_with};
use serde_json::{Value, json};
use std::path::Path;

/// Two variants in which nothing is wrong, judged with hidden sizes.
fn judged(sample: &Path) -> Value {
    let run = Passhost::eval(&plugin("fuse-pointwise"), sample).with(&["--policy", "strict"]).run();
    run.expect_end(0, &["policy strict", "AS "]);
    run.expect(run.json()["scores"]["aggregate_score_strict"].is_f64(), "AS strict is recorded, however noisy");
    run.json().clone()
}

fn verify(document: &Value, options: &[&str]) -> Run {
    let directory = directory();
    let path = directory.path().join("result.json");
    assert!(std::fs::write(&path, document.to_string()).is_ok());
    Passhost::new(["verify".as_ref(), path.as_os_str()]).with(options).run()
}

/// Sets what stands at a JSON pointer.
fn with(document: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = document.clone();
    let place = changed.pointer_mut(pointer);
    assert!(place.as_ref().is_some_and(|place| **place != value), "{pointer}: {place:?}");
    place.into_iter().for_each(|place| *place = value.clone());
    changed
}

/// Sets the runs of a program in all blocks of a process: any of them may have been disturbed, and not count.
fn with_runs(document: &Value, program: &str, runs: &Value) -> Value {
    let mut changed = document.clone();
    let blocks = changed.pointer_mut("/variants/0/timing/processes/0/pairs").and_then(Value::as_array_mut);
    assert!(blocks.as_ref().is_some_and(|blocks| !blocks.is_empty()), "{blocks:?}");
    blocks.into_iter().flatten().for_each(|block| block[program] = runs.clone());
    changed
}

/// Takes the first element of the list at a JSON pointer out.
fn without_first(document: &Value, pointer: &str) -> Value {
    let list = document.pointer(pointer).and_then(Value::as_array);
    assert!(list.is_some_and(|list| !list.is_empty()), "{pointer}: {list:?}");
    with(document, pointer, json!(list.map(|list| &list[1..])))
}

#[test]
fn a_result_agrees_with_itself_and_with_what_is_judged_again() {
    let sample = sample_with("se-gate-add-relu", &["32/s0-1_", "/float16/s0-1_"]);
    let document = judged(sample.path());
    let sample = sample.path().display().to_string();
    verify(&document, &[]).expect_end(0, &["agrees", "nothing was run", "--sample DIR"]);
    let again = verify(&document, &["--sample", &sample]);
    again.expect_end(0, &["agrees"]).expect(!again.out.contains("nothing was run"), "it was judged again");
    verify(&json!([document, document]), &["--offline"]).expect_end(0, &["agrees", "nothing was run: --offline"]);
    let elsewhere = with(&document, "/job/device/name", json!("Another Processor"));
    verify(&elsewhere, &["--sample", &sample]).expect_end(0, &["agrees", "made on cpu, Another Processor"]);
}

#[test]
fn what_does_not_follow_from_the_rest_is_found_without_a_run() {
    let sample = sample_with("se-gate-add-relu", &["32/s0-1_", "/float16/s0-1_"]);
    let document = judged(sample.path());
    let d = &document;
    let text = d["policy"]["text"].as_str().unwrap_or_default();
    let lax = text.replace("\"hidden_shapes\": 1", "\"hidden_shapes\": 0");
    for (tampered, item) in [
        (with(d, "/scores/aggregate_score", json!(9.0)), "scores.aggregate_score:"),
        (with(d, "/scores/aggregate_score_strict", json!(9.0)), "scores.aggregate_score_strict"),
        (with(d, "/scores/es/-5", json!(9.0)), "scores.es.-5"),
        (with(d, "/confidence/aggregate_score/low", json!(9.0)), "confidence.aggregate_score.low"),
        (with(d, "/options/b", json!(0.9)), "aggregates.gamma"),
        (without_first(d, "/variants/0/timing/processes"), "timing."),
        (with_runs(d, "other_ns", &json!([1])), "timing."),
        (with_runs(d, "eager_ns", &json!([9_000_000_000_u64])), "timing."),
        (with(d, "/variants/0/timing", Value::Null), "no times were measured"),
        (with(d, "/variants/0/timing/trouble", json!("a busy machine")), "timing.trouble"),
        (with(d, "/variants/0/timing/rules", json!(9)), "timing.rules: recorded 9, found rules up to 2"),
        (with(d, "/variants/0/timing/host_spread", json!(1.5)), "timing.host_spread"),
        (with(d, "/device_scores/aggregate_score", json!(9.0)), "device_scores.aggregate_score"),
        (with(d, "/variants/0/timing/speedup", json!(9.0)), "timing.speedup"),
        (with(d, "/outcomes/0/compared/speedup", json!(9.0)), "outcomes[0].compared.speedup"),
        (with(d, "/outcomes/0/compared/wrong_on_edge_cases", json!(true)), "outcomes[0].compared.wrong_on_edge_cases"),
        (without_first(d, "/outcomes"), "the number of outcomes"),
        (without_first(d, "/variants"), "the number of outcomes"),
        (with(d, "/variants/0/class", json!("integrity")), "class: recorded"),
        (with(d, "/variants/0/rewrite/graphs/after", json!("graph() {}")), "rewrite.graphs.after"),
        (with(d, "/variants/0/passes_at", json!(-3)), "passes_at"),
        (with(d, "/variants/0/outputs/0/passes_at", json!(3)), "passes_at"),
        (with(d, "/variants/0/findings", json!(["something"])), "class: recorded"),
        (with(d, "/variants/0/seed", Value::Null), "seed is there"),
        (with(d, "/variants/0/timing/processes/0/floor_ns", json!(u64::MAX)), "is below the floor of"),
        (with(d, "/variants/0/hidden", Value::Null), "hidden: recorded no hidden sizes"),
        (without_first(d, "/variants/0/hidden/shapes"), "hidden.shapes"),
        (with(d, "/variants/0/hidden/shapes/0/finding", json!("S0 = 2: wrong")), "class: recorded"),
        (with(d, "/variants/0/hidden/shapes/0/outputs", json!([])), "hidden.shapes[0].passes_at"),
        (with(d, "/policy/sha256", json!("00")), "policy: recorded strict"),
        (with(d, "/policy/text", json!(lax)), "another text"),
        (with(d, "/limits/measurement/edge_case_rounds", json!(false)), "edge_case_rounds"),
        (with(d, "/limits/measurement/launch", json!("graph")), "limits.measurement.launch"),
        (with(d, "/job/inputs", json!("Published")), "job.inputs"),
        (with(d, "/status", json!("failed")), "status"),
        (with(d, "/blame", json!("plugin")), "blame"),
    ] {
        verify(&tampered, &["--offline"]).expect_end(4, &["differs", item]);
    }
}

#[test]
fn what_follows_from_plugin_sample_and_seeds_is_found_when_they_are_judged_again() {
    let small = sample_with("se-gate-add-relu", &["32/s0-1_"]);
    let document = judged(small.path());
    let path = small.path().display().to_string();
    let d = &document;
    let domain =
        json!([{ "output": 0, "input": "in_0", "draw": "is zero", "element": [0], "rewritten": "1", "eager": "2" }]);
    for (tampered, item) in [
        (with(d, "/variants/0/rewrite/sha256", json!("00")), "rewrite: recorded"),
        (with(d, "/variants/0/rewrite/graphs/before", json!("graph() {}")), "rewrite.graphs.before"),
        (with(d, "/variants/0/bytes", json!(7)), "element_type, bytes: recorded"),
        (with(d, "/variants/0/hidden/shapes/0/sizes", json!({ "S0": 99 })), "hidden.sizes"),
        (with(d, "/variants/0/hidden/shapes/0/rewrite_sha256", json!("00")), "hidden.rewrite_sha256"),
        (with(d, "/variants/0/outputs/0/elements", json!(1)), "outputs[0].elements"),
        (with(d, "/variants/0/outputs/0/truth/eager_rms", json!(7.0)), "outputs[0].values"),
        (with(d, "/variants/0/trivial", json!("zeros")), "trivial"),
        (with(d, "/variants/0/edge_cases", domain), "edge_cases: recorded"),
        (with(d, "/variants/0/name", json!("another")), "variants: recorded"),
    ] {
        verify(&tampered, &["--sample", &path]).expect_end(4, &["differs", item]);
    }
    // With another seed the inputs are others, which shows in how far off eager is.
    let seed = with(d, "/variants/0/seed", json!(7));
    verify(&seed, &["--sample", &path]).expect_end(4, &["outputs[0].values"]);

    let noop = plugin("noop").display().to_string();
    let run = verify(d, &["--sample", &path, "--plugin", &noop]);
    run.expect_end(4, &["job.plugin_sha256"]);
    let other = sample_with("pointwise-chain", SMALL);
    verify(d, &["--sample", &other.path().display().to_string()]).expect_end(4, &["job.sample_sha256"]);
}

#[test]
fn a_result_cannot_take_more_of_the_verifier_than_its_options_allow() {
    let sample = sample_with("se-gate-add-relu", &["32/s0-1_"]);
    let document = judged(sample.path());
    let path = sample.path().display().to_string();
    let again = ["--sample", &path];
    for (pointer, value, said) in [
        ("fuel", json!(u64::MAX), "its limit of fuel is 18446744073709551615, at most 2000000000"),
        ("memory", json!(1_u64 << 40), "; --limit-memory 1099511627776 allows it"),
        ("deadline_ms", json!(10_001), "its limit of deadline is 10001ms, at most 10000ms"),
        ("compile_ms", json!(30_001), "; --limit-compile 30001ms allows it"),
        ("wasm", json!(u64::MAX), "its limit of wasm is"),
        ("tables", json!(20_001), "it has 3 rounds and 20001 table elements, at most 3 and 20000"),
    ] {
        let greedy = with(&document, &format!("/limits/guest/{pointer}"), value);
        verify(&greedy, &again).expect_end(0, &["agrees", "nothing was run: it", said]);
        verify(&greedy, &[&again[..], &["--replay"]].concat()).expect_end(2, &["cannot be replayed: it", said]);
    }
    let rounds = with(&document, "/limits/measurement/rounds", json!(u32::MAX));
    verify(&rounds, &again).expect_end(0, &["nothing was run: it has 4294967295 rounds"]);
    let more = with(&document, "/limits/guest/deadline_ms", json!(10_001));
    let allowed = verify(&more, &[&again[..], &["--replay", "--limit-deadline", "10001ms"]].concat());
    allowed.expect_end(0, &["agrees"]);
    let threads = with(&document, "/job/device/threads", json!(u32::MAX));
    verify(&threads, &again).expect_end(0, &["agrees", "4294967295 threads, torch"]);
}

#[test]
fn what_was_wrong_is_wrong_again() {
    let sample = sample_with("se-gate-add-relu", &["32/s0-1_"]);
    let path = sample.path().display().to_string();
    for (name, class) in [("copies_an_input", "integrity"), ("drops_an_output", "compile"), ("noop", "pass_miss")] {
        let run = Passhost::eval(&plugin(name), sample.path()).run();
        run.expect(run.variants()[0]["class"] == class, &format!("{name} ends in {class}"));
        verify(run.json(), &["--sample", &path]).expect_end(0, &["agrees"]);
        let forged = with(run.json(), "/variants/0/class", Value::Null);
        verify(&forged, &["--offline"]).expect_end(4, &["class: recorded"]);
    }
}

#[test]
fn what_is_no_result_is_a_usage_error() {
    verify(&json!({ "schema": "something/1" }), &[]).expect_end(2, &["its schema is `something/1`"]);
    let sample = sample_with("pointwise-chain", &["32/s0-1_"]);
    let run = Passhost::eval(&plugin("noop"), sample.path()).run();
    let missing = verify(run.json(), &["--sample", "/nowhere"]);
    missing.expect_end(2, &["/nowhere"]);
    verify(run.json(), &["--plugin", "/nowhere", "--sample", &sample.path().display().to_string()])
        .expect_end(2, &["/nowhere"]);
}
