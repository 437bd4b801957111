//! What an attempt may take: tokens, wall clock, time on the device.

use super::endpoint::{Endpoint, Reply};
use super::{agent, course, of_kind, script, trajectories};
use passhost_tests::{directory, sample_with};
use serde_json::{Value, json};

/// The lines of one attempt under a budget, and that it is over: resumed, nothing is asked.
fn attempt(words: &[&str], why: &str, reply: fn(usize) -> Reply) -> Vec<Value> {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(move |asked| reply(asked.number));
    let run = || agent(&endpoint, &[sample.path()], &out).with(words);
    run().run().expect_end(0, &[why, "best of 1"]);
    let asked = endpoint.answered().len();
    run().with(&["--resume"]).run().expect_end(0, &["best of 1"]);
    assert_eq!(endpoint.answered().len(), asked);
    trajectories(&out).remove(0)
}

fn reads(_: usize) -> Reply {
    Reply::call(&[("read_guide", json!({"section": "Limits"}))])
}

#[test]
fn an_attempt_ends_when_its_tokens_are_spent() {
    // Each answer takes 110: after the third there are none left, and what it calls is not done any more.
    let lines = attempt(&["--budget-tokens", "300"], "out of tokens", reads);
    assert_eq!((of_kind(&lines, "answer").len(), of_kind(&lines, "call").len()), (3, 2), "{lines:?}");
    let end = of_kind(&lines, "end")[0];
    assert_eq!((&end["why"], &end["score"], &end["verdict"]), (&json!("tokens"), &json!(0.1), &Value::Null));
}

#[test]
fn an_attempt_ends_when_its_time_is_spent() {
    let lines = attempt(&["--budget-time", "1ms", "--max-steps", "100000"], "out of time", reads);
    let seconds: Vec<f64> = lines.iter().filter_map(|line| line["seconds"].as_f64()).collect();
    let spent = |seconds: &[f64]| seconds.iter().sum::<f64>() >= 0.001;
    // With the last answer or call, and not before.
    assert!(spent(&seconds) && !spent(&seconds[..seconds.len() - 1]), "{seconds:?}");
    assert_eq!(of_kind(&lines, "end")[0]["why"], "time");
}

#[test]
fn an_attempt_that_is_out_of_time_on_the_device_has_the_score_of_its_last_evaluation() {
    let lines = attempt(&["--budget-device", "1ms"], "out of device time", |_| {
        let [write, eval, submit] = [script::right(), ("eval", json!({})), ("submit", json!({}))];
        Reply::call(&[write, ("build", json!({})), eval, submit])
    });
    // A build holds no device.
    assert_eq!(course(&lines), ["write_pass wrote", "build built", "eval judged"]);
    let (end, verdict) = (of_kind(&lines, "end")[0], &of_kind(&lines, "call")[2]["effect"]["verdict"]);
    assert_eq!((&end["why"], &end["verdict"], &end["score"]), (&json!("device"), verdict, &verdict["score"]));
    assert_eq!(verdict["right"], true);
}
