//! The loop: ask, execute what is called, tell what came of it, until the pass is handed in or a budget is spent.

use crate::endpoint::Endpoint;
use crate::error::EndpointError;
use crate::prompt;
use crate::text_calls;
use crate::trajectory::{SCHEMA, Spending, Trajectory, TrajectoryError, TrajectoryLine, Why};
use crate::wire::{ChatAnswer, Message, ToolCall};
use passhost_agent_tools::{
    AgentTools, AgentToolsError, Effect, PassVerdict, Rewards, TaskFacts, Tool, ToolOutcome, reward, steps_left, task,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::Instant;

/// What an attempt may take. What is absent is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Calls of tools.
    pub steps: u32,
    /// Tokens of all requests and answers.
    pub tokens: Option<u64>,
    /// Seconds, of answers and calls together.
    pub seconds: Option<f64>,
    /// Seconds with the device held.
    pub device_seconds: Option<f64>,
}

/// Why an attempt did not come to its end. It goes on from where it stands.
#[derive(Debug, thiserror::Error)]
pub enum AttemptError {
    /// No answer.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A tool could not do its work.
    #[error(transparent)]
    Tools(#[from] AgentToolsError),
    /// The trajectory cannot be read or written.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
    /// What happened has no form that could be kept.
    #[error("the next line of the trajectory cannot be written as JSON: {0}")]
    Line(#[from] serde_json::Error),
}

impl AttemptError {
    /// Whether somebody asked to stop.
    pub fn is_stop(&self) -> bool {
        matches!(self, AttemptError::Endpoint(EndpointError::Stopped) | AttemptError::Tools(AgentToolsError::Stopped))
    }

    /// Whether the endpoint lets nobody in with this key: no other attempt would get further.
    pub fn is_denied(&self) -> bool {
        matches!(self, AttemptError::Endpoint(EndpointError::Refused { status: 401 | 403, .. }))
    }

    /// Whether the sample, or how the endpoint was named, is to blame.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            AttemptError::Tools(AgentToolsError::Sample(_))
                | AttemptError::Endpoint(EndpointError::Address { .. } | EndpointError::Key)
        )
    }
}

/// Where an attempt stands, by its lines.
#[derive(Debug, Default)]
struct AttemptState {
    has_begun: bool,
    has_answers: bool,
    messages: Vec<Message>,
    /// Calls that are not executed yet.
    pending: VecDeque<ToolCall>,
    /// Whether these were read from text, which has no place for an answer to a call.
    is_text: bool,
    /// Whether the model called nothing and was not told so yet.
    is_silent: bool,
    steps: u32,
    spent: Spending,
    rewards: Rewards,
    verdict: Option<PassVerdict>,
    is_submitted: bool,
    has_ended: bool,
}

impl AttemptState {
    /// Takes in what happened.
    fn apply(&mut self, line: &TrajectoryLine) {
        self.spent.add(line);
        match line {
            TrajectoryLine::Begin { messages, .. } => {
                self.has_begun = true;
                self.messages.clone_from(messages);
            }
            TrajectoryLine::Answer { answer, .. } => self.answered(answer),
            TrajectoryLine::Call { call, text, effect, reward, .. } => {
                self.pending.pop_front();
                self.steps += 1;
                self.rewards.recall(effect, reward);
                self.verdict = effect.verdict().cloned().or(self.verdict.take());
                self.is_submitted |= matches!(effect, Effect::Submitted { .. });
                self.messages.push(result(call, text, self.is_text));
            }
            TrajectoryLine::Message { text } => {
                self.steps += 1;
                self.is_silent = false;
                self.messages.push(Message::new("user", text));
            }
            TrajectoryLine::End { .. } => self.has_ended = true,
        }
    }

    fn answered(&mut self, answer: &ChatAnswer) {
        self.has_answers = true;
        self.is_text = answer.message.tool_calls.is_empty();
        self.pending = match self.is_text {
            true => text_calls::read(&answer.message.content).into(),
            false => answer.message.tool_calls.clone().into(),
        };
        self.is_silent = self.pending.is_empty();
        self.messages.push(answer.message.clone());
    }

    /// Whether the conversation is what the endpoint refuses: it took the same with fewer messages.
    fn is_outgrown(&self, error: &EndpointError) -> bool {
        self.has_answers && matches!(error, EndpointError::Refused { status: 400 | 413 | 422, .. })
    }

    /// Why nothing more is done, if so.
    fn over(&self, budget: &Budget) -> Option<Why> {
        let spent = |seconds: f64, limit: Option<f64>| limit.is_some_and(|limit| seconds >= limit);
        match () {
            () if self.is_submitted => Some(Why::Submitted),
            () if self.steps >= budget.steps => Some(Why::Steps),
            () if budget.tokens.is_some_and(|limit| self.spent.all_tokens() >= limit) => Some(Why::Tokens),
            () if spent(self.spent.seconds, budget.seconds) => Some(Why::Time),
            () if spent(self.spent.device_seconds, budget.device_seconds) => Some(Why::Device),
            () => None,
        }
    }
}

/// What a model is told of a call: in the place that the format has for it, or as text.
pub(crate) fn result(call: &ToolCall, text: &str, is_text: bool) -> Message {
    if is_text {
        return Message::new("user", format!("Result of `{}`:\n{text}", call.function.name));
    }
    Message { tool_call_id: Some(call.id.clone()), ..Message::new("tool", text) }
}

/// Who makes an attempt: an endpoint that is asked, agent tools for this attempt alone, and how long.
pub struct AttemptLoop<'a> {
    /// Who is asked.
    pub endpoint: &'a Endpoint,
    /// Where tools are executed.
    pub tools: AgentTools,
    /// What it may take.
    pub budget: Budget,
    /// Name of the sample.
    pub sample: String,
    /// Which attempt on it.
    pub number: u32,
    /// How passes are written.
    pub guide: &'static str,
    /// What is known of the sample, which an attempt is told that begins.
    pub facts: TaskFacts,
    /// Whether somebody asked to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Told of each line once it is on the disk.
    pub watch: &'a dyn Fn(&TrajectoryLine),
}

impl AttemptLoop<'_> {
    /// Goes on from where the lines of a trajectory end, to the end of the attempt.
    ///
    /// # Errors
    ///
    /// If it does not come there.
    pub fn run(mut self, mut trajectory: Trajectory, before: &[TrajectoryLine]) -> Result<(), AttemptError> {
        let mut state = AttemptState::default();
        for line in before {
            if let TrajectoryLine::Call { effect, .. } = line {
                self.tools.recall(effect);
            }
            state.apply(line);
        }
        while !state.has_ended {
            if (self.stop)() {
                return Err(EndpointError::Stopped.into());
            }
            let line = self.next(&state)?;
            let line = self.without_key(line)?;
            trajectory.add(&line)?;
            state.apply(&line);
            (self.watch)(&line);
        }
        Ok(())
    }

    /// What is written down, said and sent: whatever a tool made of a text, the key is not in it.
    fn without_key(&self, line: TrajectoryLine) -> Result<TrajectoryLine, AttemptError> {
        let Some(key) = self.endpoint.key() else { return Ok(line) };
        Ok(key.removed_from_all(&line)?)
    }

    fn next(&mut self, state: &AttemptState) -> Result<TrajectoryLine, AttemptError> {
        if !state.has_begun {
            return self.begin();
        }
        if let Some(why) = state.over(&self.budget) {
            return Ok(end(state, why));
        }
        if let Some(call) = state.pending.front() {
            return self.call(state, call);
        }
        if state.is_silent {
            let left = steps_left(state.steps + 1, self.budget.steps);
            return Ok(TrajectoryLine::Message { text: prompt::without_call(self.endpoint.style().has_tools) + &left });
        }
        let started = Instant::now();
        let answer = match self.endpoint.ask(&state.messages, self.stop) {
            Err(error) if state.is_outgrown(&error) => return Ok(end(state, Why::Outgrown)),
            answer => answer?,
        };
        Ok(TrajectoryLine::Answer { answer, seconds: started.elapsed().as_secs_f64() })
    }

    fn begin(&self) -> Result<TrajectoryLine, AttemptError> {
        let style = self.endpoint.style();
        let graphs = self.tools.graphs(None)?;
        let task = task(&self.sample, &graphs, &self.facts);
        Ok(TrajectoryLine::Begin {
            schema: SCHEMA.to_owned(),
            sample: self.sample.clone(),
            attempt: self.number,
            model: style.model.clone(),
            device: self.facts.device.clone(),
            has_tools: style.has_tools,
            messages: prompt::messages(self.guide, &task, self.budget.steps, style.has_tools),
        })
    }

    /// Executes a call. One that is none is told so, and is a step as well.
    fn call(&mut self, state: &AttemptState, call: &ToolCall) -> Result<TrajectoryLine, AttemptError> {
        let started = Instant::now();
        let outcome = match Tool::parse(&call.function.name, &call.function.arguments) {
            Ok(tool) => self.tools.execute(&tool)?,
            Err(error) => ToolOutcome::said(format!("error: {error}")),
        };
        let mut rewards = state.rewards;
        Ok(TrajectoryLine::Call {
            call: call.clone(),
            text: outcome.text.trim_end().to_owned() + &steps_left(state.steps + 1, self.budget.steps),
            reward: rewards.pay(&outcome.effect),
            effect: outcome.effect,
            seconds: started.elapsed().as_secs_f64(),
            device_seconds: outcome.device.as_secs_f64(),
        })
    }
}

/// The score is that of what was handed in, else of what was evaluated last.
fn end(state: &AttemptState, why: Why) -> TrajectoryLine {
    let score = state.verdict.as_ref().map_or(reward::NOTHING, |verdict| verdict.score);
    let mut rewards = state.rewards;
    TrajectoryLine::End { why, score, reward: rewards.settle(score), verdict: state.verdict.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{FunctionCall, TokenUsage};

    fn answer(content: &str, calls: &[&str]) -> TrajectoryLine {
        let call = |name: &&str| ToolCall {
            id: format!("id-{name}"),
            kind: "function".into(),
            function: FunctionCall { name: (*name).into(), arguments: "{}".into() },
        };
        let message = Message { tool_calls: calls.iter().map(call).collect(), ..Message::new("assistant", content) };
        let usage = TokenUsage { prompt_tokens: 60, completion_tokens: 40 };
        TrajectoryLine::Answer {
            answer: ChatAnswer { message, finish: "stop".into(), refusal: None, usage },
            seconds: 2.0,
        }
    }

    fn called(state: &AttemptState) -> TrajectoryLine {
        let call = state.pending.front().cloned().unwrap_or_else(|| unreachable!("a call is pending"));
        TrajectoryLine::Call {
            call,
            text: "done".into(),
            effect: Effect::Nothing,
            reward: passhost_agent_tools::Reward::default(),
            seconds: 1.0,
            device_seconds: 0.5,
        }
    }

    #[test]
    fn each_call_is_answered_in_the_form_that_it_came_in() {
        let mut state = AttemptState::default();
        state.apply(&answer("", &["build", "eval"]));
        assert_eq!(state.pending.len(), 2);
        state.apply(&called(&state));
        state.apply(&called(&state));
        assert_eq!(state.messages[2].tool_call_id.as_deref(), Some("id-eval"));
        assert_eq!((state.steps, state.spent.seconds, state.spent.device_seconds), (2, 4.0, 1.0));
        state.apply(&answer("```tool\n{\"name\": \"build\"}\n```", &[]));
        state.apply(&called(&state));
        let last = state.messages.last().map(|message| (message.role.as_str(), message.content.as_str()));
        assert_eq!(last, Some(("user", "Result of `build`:\ndone")));
        state.apply(&answer("I cannot help with that", &[]));
        assert!(state.is_silent, "who calls nothing is told so");
    }

    #[test]
    fn a_conversation_that_was_taken_before_has_outgrown_the_model() {
        let refused = |status| EndpointError::Refused { status, said: String::new() };
        let mut state = AttemptState::default();
        assert!(!state.is_outgrown(&refused(400)), "the first request is wrong, not long");
        state.apply(&answer("", &["build"]));
        for (status, expected) in [(400, true), (413, true), (422, true), (401, false), (404, false)] {
            assert_eq!(state.is_outgrown(&refused(status)), expected, "{status}");
        }
        assert!(!state.is_outgrown(&EndpointError::Stopped));
    }

    #[test]
    fn tokens_beyond_all_numbers_are_the_largest_one() {
        let mut state = AttemptState::default();
        for tokens in [7, u64::MAX, u64::MAX] {
            let TrajectoryLine::Answer { answer: mut said, seconds } = answer("", &[]) else {
                unreachable!("it is an answer")
            };
            said.usage = TokenUsage { prompt_tokens: tokens, completion_tokens: tokens };
            state.apply(&TrajectoryLine::Answer { answer: said, seconds });
        }
        assert_eq!(state.spent.all_tokens(), u64::MAX);
    }

    #[test]
    fn what_is_spent_ends_an_attempt() {
        let mut state = AttemptState::default();
        state.apply(&answer("", &["build"]));
        state.apply(&called(&state));
        let none = Budget { steps: 9, tokens: None, seconds: None, device_seconds: None };
        assert_eq!(state.over(&none), None);
        assert_eq!(state.over(&Budget { steps: 1, ..none }), Some(Why::Steps));
        assert_eq!(state.over(&Budget { tokens: Some(100), ..none }), Some(Why::Tokens));
        assert_eq!(state.over(&Budget { tokens: Some(101), ..none }), None);
        assert_eq!(state.over(&Budget { seconds: Some(3.0), ..none }), Some(Why::Time));
        assert_eq!(state.over(&Budget { device_seconds: Some(0.5), ..none }), Some(Why::Device));
        let TrajectoryLine::End { score, reward, .. } = end(&state, Why::Steps) else { unreachable!("it is an end") };
        assert_eq!((score, reward.total()), (reward::NOTHING, reward::NOTHING));
    }
}
