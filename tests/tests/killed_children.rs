//! A child that is killed or hangs in the middle of an evaluation: a result with the right blame, and the next sample is
//! evaluated.

use passhost_tests::{Passhost, Run, plugin, sample};
use rustix::process::Signal;

fn two_samples(plugin_name: &str) -> Passhost {
    Passhost::eval_within("400ms", &plugin(plugin_name), &sample("se-gate-add-relu")).with(&[&sample(
        "pointwise-chain",
    )
    .display()
    .to_string()])
}

/// The second sample is whole whatever happened to the first.
fn expect_second_is_whole(run: &Run) {
    let second = &run.json()[1];
    for variant in run.variants_of(second) {
        run.expect(variant["failure"].is_null(), "the second sample is evaluated");
    }
    run.expect(second["scores"]["aggregate_score"].is_f64(), "the second sample is scored");
}

#[test]
fn a_device_child_killed_while_it_runs_a_rewrite_is_the_plugins_fault() {
    for (stage, signal) in [("correctness", Signal::KILL), ("timing", Signal::ABORT)] {
        let stage_line = format!(": {stage}");
        let run = two_samples("fuse-pointwise").run_and_signal(&stage_line, "passhost-device", signal);
        run.expect_end(0, &["was killed by signal"]);
        let first = &run.json()[0]["variants"][0];
        run.expect(first["failure"]["blame"] == "plugin", "the plugin is blamed");
        run.expect(first["class"] == "runtime", "it counts as a run-time failure");
        expect_second_is_whole(&run);
    }
}

#[test]
fn a_device_child_that_hangs_in_a_rewrite_is_killed_at_its_deadline() {
    let run = two_samples("fuse-pointwise").with(&["--timeout", "25s"]).run_and_signal(
        ": correctness",
        "passhost-device",
        Signal::STOP,
    );
    run.expect_end(0, &["gave no answer within"]);
    run.expect(run.json()[0]["variants"][0]["failure"]["blame"] == "plugin", "the plugin is blamed");
    expect_second_is_whole(&run);
}

#[test]
fn a_device_child_killed_while_it_runs_the_reference_is_replaced() {
    let run = two_samples("fuse-pointwise").run_and_signal(": reference", "passhost-device", Signal::KILL);
    run.expect_end(0, &[]);
    run.expect(
        run.json()[0]["variants"][0]["failure"].is_null(),
        "a reference that runs the second time is nobody's fault",
    );
    expect_second_is_whole(&run);
}

#[test]
fn a_guest_child_killed_between_two_variants_is_replaced() {
    let run = two_samples("fuse-pointwise").run_and_signal(": reference", "passhost-guest", Signal::KILL);
    run.expect_end(0, &["was run again in a fresh one"]);
    run.expect(run.json()[0]["variants"][0]["failure"].is_null(), "the pass ran the second time");
    expect_second_is_whole(&run);
}

#[test]
fn a_guest_child_killed_while_it_runs_the_pass_is_replaced_once() {
    // The loop ends at its fuel limit in the fresh child: the plugin is blamed for that, not for the kill.
    let run = Passhost::eval(&plugin("endless_loop"), &sample("pointwise-chain"))
        .with(&["--limit-fuel", "3000000000"])
        .run_and_signal(": reference timing", "passhost-guest", Signal::KILL);
    run.expect_end(1, &["fuel limit"]);
}
