//! Conversations: whole, or step by step with rewards.

use super::ExportedAttempt;
use crate::trajectory::TrajectoryLine;
use crate::wire::{Message, tools};
use passhost_agent_tools::Reward;
use serde_json::{Value, json};

/// What the model was told before its first answer.
pub(super) fn prompt<'a>(chosen: &'a ExportedAttempt<'_>) -> &'a [Message] {
    match chosen.recorded.lines.first() {
        Some(TrajectoryLine::Begin { messages, .. }) => messages,
        _ => &[],
    }
}

/// What was said after the prompt, as it was sent.
pub(super) fn said(chosen: &ExportedAttempt<'_>) -> Vec<Message> {
    let mut is_text = false;
    let message = |(index, line): (usize, &TrajectoryLine)| match line {
        TrajectoryLine::Answer { answer, .. } => {
            is_text = answer.message.tool_calls.is_empty();
            Some(with_executed(&answer.message, &chosen.lines()[index + 1..]))
        }
        TrajectoryLine::Call { call, text, .. } => Some(crate::attempt::result(call, text, is_text)),
        TrajectoryLine::Message { text } => Some(Message::new("user", text)),
        TrajectoryLine::Begin { .. } | TrajectoryLine::End { .. } => None,
    };
    chosen.lines().iter().enumerate().filter_map(message).collect()
}

/// A message with the calls alone that were executed, by the lines after it: an attempt may end before the others, and chat
/// templates want an answer to every call.
fn with_executed(message: &Message, after: &[TrajectoryLine]) -> Message {
    let executed = after.iter().take_while(|line| matches!(line, TrajectoryLine::Call { .. })).count();
    let tool_calls = message.tool_calls.iter().take(executed).cloned().collect();
    Message { tool_calls, ..message.clone() }
}

/// `messages` and `tools`, as chat templates take them, and what the conversation came to.
pub(super) fn sft(chosen: &ExportedAttempt<'_>) -> Value {
    let messages: Vec<Message> = prompt(chosen).iter().cloned().chain(said(chosen)).collect();
    json!({
        "messages": messages,
        "tools": tools_of(chosen),
        "sample": chosen.ended.sample,
        "attempt": chosen.recorded.name,
        "score": chosen.ended.score,
        "right": chosen.ended.right,
        "run": chosen.run(),
    })
}

/// The tools that the endpoint was told of. What was told of them in the prompt stands there.
pub(super) fn tools_of(chosen: &ExportedAttempt<'_>) -> Value {
    match chosen.recorded.lines.first() {
        Some(TrajectoryLine::Begin { has_tools: true, .. }) => tools(),
        _ => json!([]),
    }
}

/// The prompt, and one entry for each answer: what the model said, what it was told, and the reward of what it called. What
/// the end is worth belongs to the last answer, so that the rewards add up to the final score.
pub(super) fn rl(chosen: &ExportedAttempt<'_>) -> Value {
    let mut steps: Vec<(Message, Vec<Message>, Reward)> = vec![];
    for (index, line) in chosen.lines().iter().enumerate() {
        match (line, steps.last_mut()) {
            (TrajectoryLine::Answer { answer, .. }, _) => {
                let action = with_executed(&answer.message, &chosen.lines()[index + 1..]);
                steps.push((action, vec![], Reward::default()));
            }
            (TrajectoryLine::Call { call, text, reward, .. }, Some((answer, told, sum))) => {
                told.push(crate::attempt::result(call, text, answer.tool_calls.is_empty()));
                add(sum, reward);
            }
            (TrajectoryLine::Message { text }, Some((_, told, _))) => told.push(Message::new("user", text)),
            (TrajectoryLine::End { reward, .. }, Some((_, _, sum))) => add(sum, reward),
            _ => {}
        }
    }
    let step = |(action, observation, reward): &(Message, Vec<Message>, Reward)| json!({"action": action, "observation": observation, "reward": reward.total(), "rewards": reward});
    json!({
        "prompt": prompt(chosen),
        "tools": tools_of(chosen),
        "steps": steps.iter().map(step).collect::<Vec<_>>(),
        "sample": chosen.ended.sample,
        "attempt": chosen.recorded.name,
        "reward": chosen.ended.score,
        "run": chosen.run(),
    })
}

fn add(sum: &mut Reward, reward: &Reward) {
    sum.build += reward.build;
    sum.check += reward.check;
    sum.right += reward.right;
    sum.score += reward.score;
}
