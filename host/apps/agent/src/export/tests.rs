#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{ExportFilter, Format, why_empty};
use crate::attempt::Budget;
use crate::run::{AgentSettings, RecordedAttempt};
use crate::trajectory::TrajectoryLine;
use crate::trajectory::{SCHEMA, Why};
use crate::wire::{ChatAnswer, FunctionCall, Message, TokenUsage, ToolCall};
use passhost_agent_tools::{Effect, PassVerdict, Rewards};
use serde_json::{Value, json};

/// An attempt in which the model says something, calls a tool and hands in what scores so much.
fn attempt(name: &str, said: &str, score: f64, findings: usize) -> RecordedAttempt {
    let call = |id: &str, name: &str| ToolCall {
        id: id.into(),
        kind: "function".into(),
        function: FunctionCall { name: name.into(), arguments: "{}".into() },
    };
    let calls = vec![call("a", "build"), call("b", "submit")];
    let message = Message { tool_calls: calls.clone(), ..Message::new("assistant", said) };
    let usage = TokenUsage { prompt_tokens: 10, completion_tokens: 5 };
    let verdict = PassVerdict {
        score,
        aggregate_score: score,
        aggregate_score_strict: score,
        verifies: true,
        changes: true,
        right: score >= 1.0,
        findings,
        within: Some(1.2),
        document: "d".into(),
    };
    let effects = [
        Effect::Built { source: "s".into(), component: Some("c".into()) },
        Effect::Submitted { source: "s".into(), verdict: verdict.clone() },
    ];
    let mut rewards = Rewards::default();
    let mut lines = vec![
        TrajectoryLine::Begin {
            schema: SCHEMA.into(),
            sample: "rms-norm".into(),
            attempt: 1,
            model: "m".into(),
            device: "cpu".into(),
            has_tools: true,
            messages: vec![Message::new("system", "guide"), Message::new("user", "graph")],
        },
        TrajectoryLine::Answer {
            answer: ChatAnswer { message, finish: "tool_calls".into(), refusal: None, usage },
            seconds: 1.0,
        },
    ];
    for (call, effect) in calls.into_iter().zip(effects) {
        let reward = rewards.pay(&effect);
        lines.push(TrajectoryLine::Call {
            call,
            text: "done".into(),
            effect,
            reward,
            seconds: 1.0,
            device_seconds: 0.0,
        });
    }
    let verdict = Some(verdict);
    lines.push(TrajectoryLine::End { why: Why::Submitted, score, reward: rewards.settle(score), verdict });
    RecordedAttempt { name: name.into(), lines }
}

fn attempts() -> Vec<RecordedAttempt> {
    let mut unfinished = attempt("one-4", "d", 3.0, 0);
    unfinished.lines.pop();
    vec![
        attempt("one-1", "a", 0.1, 0),
        attempt("one-2", "b", 1.7, 0),
        attempt("one-3", "b", 1.7, 0),
        unfinished,
        attempt("one-5", "e", 1.65, 1),
        attempt("two-1", "a", 1.2, 0),
    ]
}

fn settings() -> AgentSettings {
    let budget = Budget { steps: 40, tokens: Some(9), seconds: None, device_seconds: None };
    AgentSettings {
        schema: crate::run::SCHEMA.into(),
        host: "0".into(),
        model: "m".into(),
        has_tools: true,
        temperature: None,
        samples: vec![],
        attempts: 5,
        budget,
        options: ["--device", "cpu", "--policy", "strict"].map(str::to_owned).to_vec(),
    }
}

fn export(recorded: &[RecordedAttempt], format: Format, filter: &ExportFilter) -> Vec<Value> {
    super::export(&settings(), recorded, format, filter)
}

fn named(filter: ExportFilter) -> Vec<String> {
    let lines = export(&attempts(), Format::Sft, &filter);
    lines.iter().map(|line| line["attempt"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn filters_and_duplicates_leave_out_what_they_say() {
    assert_eq!(named(ExportFilter::default()), ["one-2", "one-5", "one-1", "two-1"]);
    assert_eq!(named(ExportFilter { best: Some(1), ..ExportFilter::default() }), ["one-2", "two-1"]);
    assert_eq!(named(ExportFilter { only_right: true, ..ExportFilter::default() }), ["one-2", "one-5", "two-1"]);
    assert_eq!(named(ExportFilter { no_findings: true, ..ExportFilter::default() }), ["one-2", "one-1", "two-1"]);
}

#[test]
fn a_conversation_is_whole_and_every_call_in_it_answered() {
    let line = export(&attempts(), Format::Sft, &ExportFilter::default()).remove(0);
    let roles: Vec<&str> = line["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!(line["messages"][4]["tool_call_id"], line["messages"][2]["tool_calls"][1]["id"]);
    assert_eq!(line["tools"].as_array().unwrap().len(), 9);
}

#[test]
fn rewards_of_steps_add_up() {
    for line in export(&attempts(), Format::Rl, &ExportFilter::default()) {
        let steps = line["steps"].as_array().unwrap();
        let sum: f64 = steps.iter().map(|step| step["reward"].as_f64().unwrap()).sum();
        assert!((sum - line["reward"].as_f64().unwrap()).abs() < 1e-12, "{line}");
        assert_eq!(steps[0]["observation"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn pairs_differ_beyond_noise() {
    let lines = export(&attempts(), Format::Preference, &ExportFilter::default());
    let scores: Vec<(f64, f64)> = lines
        .iter()
        .map(|line| (line["chosen_score"].as_f64().unwrap(), line["rejected_score"].as_f64().unwrap()))
        .collect();
    assert_eq!(scores, [(1.7, 0.1)]);
    assert_eq!(lines[0]["chosen"][0]["content"], "b");
    assert_eq!(lines[0]["rejected"][0]["content"], "a");
}

#[test]
fn steps_of_the_interchange_format_are_numbered_and_name_their_own_calls() {
    let line = export(&attempts(), Format::Atif, &ExportFilter::default()).remove(0);
    let steps = line["steps"].as_array().unwrap();
    assert!(steps.iter().enumerate().all(|(index, step)| step["step_id"] == index + 1));
    let sources: Vec<&str> = steps.iter().map(|step| step["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["system", "user", "agent"]);
    let agent = &steps[2];
    assert_eq!(agent["tool_calls"][1]["tool_call_id"], agent["observation"]["results"][1]["source_call_id"]);
    assert_eq!(line["final_metrics"]["total_completion_tokens"], 5);
}

#[test]
fn an_export_is_the_same_whatever_the_order_in_which_attempts_ended() {
    for format in [Format::Sft, Format::Rl, Format::Preference, Format::Atif] {
        let expected = export(&attempts(), format, &ExportFilter::default());
        let mut shuffled = attempts();
        shuffled.reverse();
        for _ in 0..shuffled.len() {
            shuffled.rotate_left(1);
            assert_eq!(export(&shuffled, format, &ExportFilter::default()), expected, "{format:?}");
        }
    }
}

#[test]
fn calls_that_the_end_came_before_are_left_out() {
    let mut cut = attempt("one-1", "a", 1.7, 0);
    cut.lines.remove(3);
    let recorded = [cut, attempt("one-2", "b", 1.0, 0)];
    let first = |format| export(&recorded, format, &ExportFilter::default()).remove(0);
    for (format, message) in
        [(Format::Sft, "/messages/2"), (Format::Rl, "/steps/0/action"), (Format::Preference, "/chosen/0")]
    {
        let line = first(format);
        let calls = line.pointer(message).unwrap()["tool_calls"].as_array().unwrap();
        assert_eq!(calls.len(), 1, "{line}");
        assert_eq!(calls[0]["function"]["name"], "build", "{line}");
    }
}

#[test]
fn each_line_says_what_it_was_made_under_and_what_it_took() {
    let expected = json!({
        "device": "cpu", "policy": "strict",
        "budget": {"steps": 40, "tokens": 9, "seconds": null, "device_seconds": null},
        "noise": 1.2, "tokens": {"prompt_tokens": 10, "completion_tokens": 5}, "seconds": 3.0, "device_seconds": 0.0,
    });
    for (format, places) in [
        (Format::Sft, &["/run"][..]),
        (Format::Rl, &["/run"]),
        (Format::Atif, &["/extra/run"]),
        (Format::Preference, &["/chosen_run", "/rejected_run"]),
    ] {
        let lines = export(&attempts(), format, &ExportFilter::default());
        for place in places {
            assert_eq!(lines[0].pointer(place), Some(&expected), "{format:?}");
        }
    }
    // What older trajectories do not say is nothing.
    let mut older = attempt("one-1", "a", 1.7, 0);
    let TrajectoryLine::Begin { device, .. } = &mut older.lines[0] else { unreachable!("it is the beginning") };
    device.clear();
    assert_eq!(export(&[older], Format::Sft, &ExportFilter::default())[0]["run"]["device"], Value::Null);
}

#[test]
fn an_empty_export_says_why() {
    let mut unfinished = attempt("one-1", "a", 1.0, 0);
    unfinished.lines.pop();
    let all = [unfinished, attempt("one-2", "b", 0.1, 0), attempt("one-3", "c", 1.5, 2)];
    let strict = ExportFilter { only_right: true, no_findings: true, best: None };
    assert!(export(&all, Format::Sft, &strict).is_empty());
    assert_eq!(
        why_empty(&all, &strict),
        "nothing is exported: of the 3 attempts of the run 1 not ended (`passhost agent --resume` goes on with them), \
         1 not right on every variant (--only-right), 1 with findings (--no-findings)"
    );
    assert!(why_empty(&[], &ExportFilter::default()).ends_with("of the 0 attempts of the run none to take"));
    let why = why_empty(&all[1..2], &ExportFilter::default());
    assert!(why.ends_with("no two on one sample whose scores differ by a factor of 1.1"), "{why}");
}
