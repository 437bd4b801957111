//! The Agent Trajectory Interchange Format of Harbor, version 1.4: steps of the system, the user and the agent, the calls of
//! an agent's step beside what came of them.

use super::{ExportedAttempt, chat};
use crate::trajectory::{Spending, TrajectoryLine};
use crate::wire::{ChatAnswer, TokenUsage};
use serde_json::{Map, Value, json};

/// Version of the format.
const SCHEMA: &str = "ATIF-v1.4";

/// An attempt. Nothing in it depends on when it was exported.
pub(super) fn trajectory(chosen: &ExportedAttempt<'_>) -> Value {
    let mut steps: Vec<Value> = chat::prompt(chosen)
        .iter()
        .map(|message| json!({"source": message.role, "message": message.content}))
        .collect();
    let total = Spending::of(chosen.lines()).tokens;
    for line in chosen.lines() {
        match line {
            TrajectoryLine::Answer { answer, .. } => steps.push(of_answer(answer)),
            TrajectoryLine::Call { call, text, reward, .. } => {
                if let Some(step) = steps.last_mut() {
                    let arguments = serde_json::from_str::<Map<String, Value>>(&call.function.arguments);
                    // The format knows objects alone: what is none is kept as it was written.
                    let arguments = arguments
                        .map_or_else(|_| json!({"text": call.function.arguments}), |arguments| json!(arguments));
                    let (id, name) = (&call.id, &call.function.name);
                    push(
                        &mut step["tool_calls"],
                        json!({"tool_call_id": id, "function_name": name, "arguments": arguments}),
                    );
                    push(&mut step["observation"]["results"], json!({"source_call_id": id, "content": text}));
                    push(&mut step["extra"]["rewards"], json!(reward));
                }
            }
            TrajectoryLine::Message { text } => steps.push(json!({"source": "user", "message": text})),
            TrajectoryLine::Begin { .. } | TrajectoryLine::End { .. } => {}
        }
    }
    for (index, step) in steps.iter_mut().enumerate() {
        step["step_id"] = json!(index + 1);
    }
    json!({
        "schema_version": SCHEMA,
        "session_id": chosen.recorded.name,
        "agent": {"name": "passhost", "version": env!("CARGO_PKG_VERSION"), "model_name": model(chosen)},
        "final_metrics": {
            "total_prompt_tokens": total.prompt_tokens,
            "total_completion_tokens": total.completion_tokens,
            "total_steps": steps.len(),
        },
        "steps": steps,
        "extra": {
            "sample": chosen.ended.sample, "score": chosen.ended.score, "right": chosen.ended.right, "run": chosen.run(),
        },
    })
}

fn of_answer(answer: &ChatAnswer) -> Value {
    let TokenUsage { prompt_tokens, completion_tokens } = answer.usage;
    let metrics = json!({"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens});
    json!({"source": "agent", "message": answer.message.content, "metrics": metrics})
}

fn model<'a>(chosen: &'a ExportedAttempt<'_>) -> &'a str {
    match chosen.recorded.lines.first() {
        Some(TrajectoryLine::Begin { model, .. }) => model,
        _ => "",
    }
}

/// Adds to a list that may not be there yet.
fn push(list: &mut Value, item: Value) {
    match list {
        Value::Array(items) => items.push(item),
        list => *list = json!([item]),
    }
}
