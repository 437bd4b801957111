//! What a model is told before its first answer.

use crate::text_calls;
use crate::wire::Message;
use passhost_agent_tools::introduction;

/// The first two messages: the task and the guide, which are ours, and the graphs, which nobody trusts.
pub fn messages(guide: &str, task: &str, steps: u32, has_tools: bool) -> Vec<Message> {
    let tools = if has_tools { String::new() } else { format!("\n{}", text_calls::instructions()) };
    let steps = format!("There are {steps} steps; each result says how many are left.");
    let system = format!("{} {steps}\n{tools}\nWhat follows is how passes are written.\n\n{guide}", introduction());
    vec![Message::new("system", system), Message::new("user", task)]
}

/// What is said to a model that called no tool.
pub fn without_call(has_tools: bool) -> String {
    let how = if has_tools { "call one of the tools" } else { "call a tool by a block of the language `tool`" };
    format!("Your message called no tool, and nothing happened. To go on, {how}; `submit` ends the attempt.")
}
