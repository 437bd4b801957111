//! One client's episodes, one after the other: what is asked, what is answered, and what goes on meanwhile. Knows no socket.

use super::episode::{Episode, ObservationText, nothing};
use super::episode_tools::{EpisodeTools, Workplace};
use super::wire::{EpisodeAnswer, EpisodeCall, EpisodeFault, EpisodeRequest, Reset, WAIT};
use crate::limits::EpisodeLimits;
use passhost_agent_tools::{AgentToolsError, ToolOutcome};
use passhost_queue::random_hexadecimal;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

/// What a call left: the tools for the next one, and what came of it.
type CallResult = (Option<Box<dyn EpisodeTools>>, Result<ToolOutcome, AgentToolsError>);

/// One client's episodes.
pub struct SessionTable {
    workplace: Arc<dyn Workplace>,
    limits: EpisodeLimits,
    episode: Option<Episode>,
    work: SessionWork,
    /// Ends what goes on.
    stop: watch::Sender<bool>,
}

enum SessionWork {
    Empty,
    Free(Box<dyn EpisodeTools>),
    Busy(PendingCall),
}

/// What goes on.
struct PendingCall {
    /// The call; none is the reading of the graphs, with which an episode begins.
    call: Option<EpisodeCall>,
    task: JoinHandle<CallResult>,
}

impl PendingCall {
    fn tool(&self) -> Option<&str> {
        self.call.as_ref().map(name)
    }
}

fn name(call: &EpisodeCall) -> &str {
    match call {
        EpisodeCall::Wait => WAIT,
        EpisodeCall::Tool(name, _) => name,
    }
}

impl SessionTable {
    pub fn new(workplace: Arc<dyn Workplace>, limits: EpisodeLimits) -> SessionTable {
        SessionTable { workplace, limits, episode: None, work: SessionWork::Empty, stop: watch::Sender::new(false) }
    }

    /// Answers, in the time that an answer has. Whoever drops this before its end can go on.
    pub async fn answer(&mut self, request: EpisodeRequest) -> EpisodeAnswer {
        let answered = match request {
            EpisodeRequest::Reset(reset) => self.reset(reset).await,
            EpisodeRequest::Step(action) => self.step(action).await,
            EpisodeRequest::State | EpisodeRequest::Close => Ok(self.state()),
        };
        answered.unwrap_or_else(EpisodeAnswer::Fault)
    }

    /// Ends the episode and what goes on of it, and waits until nothing is left of it.
    pub async fn clear(&mut self) {
        self.stop.send_replace(true);
        self.episode = None;
        let tools = match std::mem::replace(&mut self.work, SessionWork::Empty) {
            SessionWork::Busy(work) => work.task.await.ok().and_then(|(tools, _)| tools),
            SessionWork::Free(tools) => Some(tools),
            SessionWork::Empty => None,
        };
        removed(tools).await;
        self.stop = watch::Sender::new(false);
    }

    fn state(&self) -> EpisodeAnswer {
        EpisodeAnswer::State(self.episode.as_ref().map_or_else(nothing, Episode::state))
    }

    async fn reset(&mut self, reset: Reset) -> Result<EpisodeAnswer, EpisodeFault> {
        let sample = self.chosen(&reset)?;
        let id = reset.episode_id.map_or_else(random_hexadecimal::<16>, Ok);
        let id = id.map_err(|_| EpisodeFault::execution("the system gives no random bytes"))?;
        self.clear().await;
        self.episode = Some(Episode::new(id, sample.clone(), self.limits.steps));
        let (workplace, stop) = (Arc::clone(&self.workplace), self.stop.subscribe());
        let task = spawn_blocking(move || match workplace.tools(&sample, stop) {
            Ok(mut tools) => {
                let task = tools.task();
                (Some(tools), task.map(ToolOutcome::said))
            }
            Err(error) => (None, Err(error)),
        });
        self.work = SessionWork::Busy(PendingCall { call: None, task });
        self.wait(None).await
    }

    /// The sample that is named, or that a seed chooses.
    fn chosen(&self, reset: &Reset) -> Result<String, EpisodeFault> {
        let samples = self.workplace.samples();
        match &reset.sample {
            Some(sample) if samples.contains(sample) => Ok(sample.clone()),
            Some(_) => {
                Err(EpisodeFault::invalid("there is no such sample here; `GET /v1/samples` lists those that there are"))
            }
            None => {
                let count = u64::try_from(samples.len()).unwrap_or(u64::MAX).max(1);
                let index = usize::try_from(reset.seed.unwrap_or(0) % count).unwrap_or(0);
                samples.get(index).cloned().ok_or_else(|| EpisodeFault::execution("the server has no samples"))
            }
        }
    }

    async fn step(&mut self, action: Map<String, Value>) -> Result<EpisodeAnswer, EpisodeFault> {
        let call = EpisodeCall::read(action);
        let Some(episode) = &mut self.episode else {
            return Err(EpisodeFault::execution("there is no episode; send `reset` first"));
        };
        if episode.is_done() {
            return Err(EpisodeFault::execution("the episode is over; send `reset` for another one"));
        }
        match std::mem::replace(&mut self.work, SessionWork::Empty) {
            SessionWork::Empty => {
                Err(EpisodeFault::execution("the episode could not go on; send `reset` for another one"))
            }
            SessionWork::Busy(work) => {
                let goes_on =
                    call.as_ref().is_ok_and(|call| *call == EpisodeCall::Wait || work.call.as_ref() == Some(call));
                let tool = work.tool().map(str::to_owned);
                self.work = SessionWork::Busy(work);
                if goes_on {
                    return self.wait(Some(0.0)).await;
                }
                Ok(self.pending("nothing was done, as", tool.as_deref(), Some(0.0)))
            }
            SessionWork::Free(mut tools) => match call {
                Ok(EpisodeCall::Tool(name, tool)) => {
                    let run = tool.clone();
                    let task = spawn_blocking(move || {
                        let result = tools.execute(&run);
                        (Some(tools), result)
                    });
                    self.work = SessionWork::Busy(PendingCall { call: Some(EpisodeCall::Tool(name, tool)), task });
                    self.wait(Some(0.0)).await
                }
                Ok(EpisodeCall::Wait) => {
                    self.work = SessionWork::Free(tools);
                    Ok(self.misled("there is nothing to wait for; call another tool").await)
                }
                Err(reason) => {
                    self.work = SessionWork::Free(tools);
                    Ok(self.misled(&format!("error: {reason}")).await)
                }
            },
        }
    }

    async fn misled(&mut self, text: &str) -> EpisodeAnswer {
        let Some(episode) = &mut self.episode else { return self.state() };
        let answer = episode.misled(text);
        self.tidied(answer).await
    }

    /// Waits for what goes on, so long as an answer may take.
    async fn wait(&mut self, reward: Option<f64>) -> Result<EpisodeAnswer, EpisodeFault> {
        let SessionWork::Busy(work) = &mut self.work else { return Ok(self.state()) };
        let tool = work.tool().map(str::to_owned);
        let Ok(ended) = timeout(self.limits.answer, &mut work.task).await else {
            return Ok(self.pending("so far there is no result:", tool.as_deref(), reward));
        };
        self.work = SessionWork::Empty;
        let Ok((tools, result)) = ended else {
            return Err(EpisodeFault::session("a tool failed in a way that it must not; tell the operator"));
        };
        self.work = tools.map_or(SessionWork::Empty, SessionWork::Free);
        let outcome = result.map_err(|error| trouble(&error))?;
        let Some(episode) = &mut self.episode else { return Ok(self.state()) };
        let answer = match &tool {
            Some(tool) => episode.took(Some(tool), outcome),
            None => episode.told(&ObservationText { text: &outcome.text, ..ObservationText::default() }, reward),
        };
        Ok(self.tidied(answer).await)
    }

    fn pending(&self, what: &str, tool: Option<&str>, reward: Option<f64>) -> EpisodeAnswer {
        let goes_on = tool.map_or("the graphs are being read".to_owned(), |tool| format!("`{tool}` goes on"));
        let text = format!("{what} {goes_on}; call `{WAIT}` to wait for its result");
        let said = ObservationText { text: &text, tool, is_pending: true, verdict: None };
        self.episode.as_ref().map_or_else(|| self.state(), |episode| episode.told(&said, reward))
    }

    /// Removes what an episode made as soon as it is over.
    async fn tidied(&mut self, answer: EpisodeAnswer) -> EpisodeAnswer {
        if self.episode.as_ref().is_some_and(Episode::is_done)
            && let SessionWork::Free(tools) = std::mem::replace(&mut self.work, SessionWork::Empty)
        {
            removed(Some(tools)).await;
        }
        answer
    }
}

/// Removes files where that holds nobody up.
async fn removed(tools: Option<Box<dyn EpisodeTools>>) {
    let _ = spawn_blocking(move || drop(tools)).await;
}

/// What a client hears of the host's trouble: nothing of its files.
fn trouble(error: &AgentToolsError) -> EpisodeFault {
    let again = "this was no step, and can be tried again";
    EpisodeFault::execution(match error {
        AgentToolsError::Stopped => "it was stopped before its end".to_owned(),
        AgentToolsError::Evaluation(why) => format!("no evaluation: {why}; {again}"),
        AgentToolsError::Sample(_) => "the sample cannot be used here; tell the operator".to_owned(),
        _ => format!("the host could not do it; {again}, or tell the operator"),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_agent_tools::{Effect, Tool};
    use serde_json::json;
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    /// Holds every call until it is let go, or stopped.
    struct Slow {
        /// What lets calls go.
        go: Arc<Mutex<Receiver<()>>>,
        /// One for each tools that there is.
        benches: Arc<()>,
    }

    struct SlowBench {
        go: Arc<Mutex<Receiver<()>>>,
        _bench: Arc<()>,
        stop: watch::Receiver<bool>,
    }

    impl SlowBench {
        fn held(&self) -> Result<ToolOutcome, AgentToolsError> {
            let go = self.go.lock().unwrap();
            while go.recv_timeout(Duration::from_millis(1)).is_err() {
                if *self.stop.borrow() {
                    return Err(AgentToolsError::Stopped);
                }
            }
            Ok(ToolOutcome { text: "done".into(), effect: Effect::Nothing, device: Duration::ZERO })
        }
    }

    impl EpisodeTools for SlowBench {
        fn task(&mut self) -> Result<String, AgentToolsError> {
            self.held().map(|_| "the task".to_owned())
        }

        fn execute(&mut self, tool: &Tool) -> Result<ToolOutcome, AgentToolsError> {
            match tool {
                Tool::Check {} => Err(AgentToolsError::Evaluation("no room at `room`".into())),
                _ => self.held(),
            }
        }
    }

    impl Workplace for Slow {
        fn samples(&self) -> Vec<String> {
            ["a", "b", "c"].map(str::to_owned).to_vec()
        }

        fn tools(&self, _: &str, stop: watch::Receiver<bool>) -> Result<Box<dyn EpisodeTools>, AgentToolsError> {
            Ok(Box::new(SlowBench { go: Arc::clone(&self.go), _bench: Arc::clone(&self.benches), stop }))
        }
    }

    const AT_ONCE: Duration = Duration::ZERO;
    const PATIENT: Duration = Duration::from_secs(600);

    /// A table whose answers come at once; what lets calls go; and what counts benches.
    fn table() -> (SessionTable, Sender<()>, Arc<()>) {
        let (sender, receiver) = channel();
        let benches = Arc::new(());
        let slow = Slow { go: Arc::new(Mutex::new(receiver)), benches: Arc::clone(&benches) };
        let limits = EpisodeLimits { answer: AT_ONCE, steps: 3, ..EpisodeLimits::default() };
        (SessionTable::new(Arc::new(slow), limits), sender, benches)
    }

    async fn step(table: &mut SessionTable, action: Value) -> EpisodeAnswer {
        table.answer(EpisodeRequest::Step(action.as_object().cloned().unwrap_or_default())).await
    }

    /// Text, tool, whether it is pending, reward, and steps so far.
    fn said(answer: &EpisodeAnswer) -> (String, Option<String>, bool, Option<f64>, u64) {
        let EpisodeAnswer::Observation { observation, reward, .. } = answer else { unreachable!("{answer:?}") };
        let word = |key: &str| observation[key].as_str().map(str::to_owned);
        let (pending, steps) = (observation["pending"] == true, observation["steps"].as_u64().unwrap_or(99));
        (word("text").unwrap_or_default(), word("tool"), pending, *reward, steps)
    }

    fn fault(answer: &EpisodeAnswer) -> (&'static str, String) {
        let EpisodeAnswer::Fault(fault) = answer else { unreachable!("{answer:?}") };
        (fault.code, fault.message.clone())
    }

    #[tokio::test]
    async fn what_takes_longer_than_an_answer_is_pending_until_it_is_waited_for() {
        let (mut table, go, _benches) = table();
        let first = table.answer(EpisodeRequest::Reset(Reset::default())).await;
        let (text, tool, pending, reward, _) = said(&first);
        assert!(text.contains("the graphs are being read; call `wait`"), "{text}");
        assert_eq!((tool, pending, reward), (None, true, None));
        go.send(()).unwrap();
        table.limits.answer = PATIENT;
        let task = step(&mut table, json!({"tool": "wait"})).await;
        assert_eq!(said(&task), ("the task".to_owned(), None, false, Some(0.0), 0));

        table.limits.answer = AT_ONCE;
        let eval = || json!({"tool": "eval"});
        for action in [eval(), eval(), json!({"tool": "wait"})] {
            let (text, tool, pending, reward, steps) = said(&step(&mut table, action).await);
            assert!(text.contains("`eval` goes on"), "{text}");
            assert_eq!((tool.as_deref(), pending, reward, steps), (Some("eval"), true, Some(0.0), 0));
        }
        for action in [json!({"tool": "build"}), json!({"tool": "nonsense"}), json!({})] {
            let (text, _, pending, ..) = said(&step(&mut table, action).await);
            assert!(text.contains("nothing was done, as `eval` goes on") && pending, "{text}");
        }
        go.send(()).unwrap();
        table.limits.answer = PATIENT;
        let done = step(&mut table, json!({"tool": "wait"})).await;
        let told = "done\nsteps left: 2 of 3".to_owned();
        assert_eq!(said(&done), (told, Some("eval".to_owned()), false, Some(0.0), 1));
        let (text, ..) = said(&step(&mut table, json!({"tool": "wait"})).await);
        assert!(text.contains("nothing to wait for"), "{text}");
    }

    #[tokio::test]
    async fn an_end_stops_what_goes_on_and_removes_what_was_made() {
        let (mut table, go, benches) = table();
        table.limits.answer = PATIENT;
        go.send(()).unwrap();
        assert!(!said(&table.answer(EpisodeRequest::Reset(Reset::default())).await).2);
        assert_eq!(Arc::strong_count(&benches), 3, "the workplace, this test, and the tools");
        table.limits.answer = AT_ONCE;
        assert!(said(&step(&mut table, json!({"tool": "eval"})).await).2);
        table.clear().await;
        assert_eq!(Arc::strong_count(&benches), 2);

        table.limits.answer = PATIENT;
        go.send(()).unwrap();
        assert!(!said(&table.answer(EpisodeRequest::Reset(Reset::default())).await).2);
        for _ in 0..3 {
            go.send(()).unwrap();
            step(&mut table, json!({"tool": "build"})).await;
        }
        assert_eq!(Arc::strong_count(&benches), 2, "an episode that is over has nothing left");
        assert_eq!(
            fault(&step(&mut table, json!({"tool": "build"})).await),
            ("EXECUTION_ERROR", "the episode is over; send `reset` for another one".to_owned())
        );
    }

    #[tokio::test]
    async fn episodes_begin_with_a_sample_that_there_is() {
        let (mut table, go, _benches) = table();
        table.limits.answer = PATIENT;
        let before = step(&mut table, json!({"tool": "build"})).await;
        assert_eq!(fault(&before), ("EXECUTION_ERROR", "there is no episode; send `reset` first".to_owned()));
        assert_eq!(table.answer(EpisodeRequest::State).await, EpisodeAnswer::State(nothing()));
        let (code, message) = fault(
            &table.answer(EpisodeRequest::Reset(Reset { sample: Some("../a".into()), ..Reset::default() })).await,
        );
        assert!(code == "VALIDATION_ERROR" && message.contains("no such sample"), "{message}");
        for (sample, seed, expected) in [(None, None, "a"), (None, Some(5), "c"), (Some("b"), Some(5), "b")] {
            go.send(()).unwrap();
            let reset = Reset { sample: sample.map(str::to_owned), seed, episode_id: Some("e".into()) };
            table.answer(EpisodeRequest::Reset(reset)).await;
            let EpisodeAnswer::State(state) = table.answer(EpisodeRequest::State).await else {
                unreachable!("a state was asked for")
            };
            assert_eq!((&state["sample"], &state["episode_id"]), (&json!(expected), &json!("e")), "{seed:?}");
        }
        let trouble = step(&mut table, json!({"tool": "check"})).await;
        let expected = "no evaluation: no room at `room`; this was no step, and can be tried again";
        assert_eq!(fault(&trouble), ("EXECUTION_ERROR", expected.to_owned()));
        go.send(()).unwrap();
        assert_eq!(said(&step(&mut table, json!({"tool": "build"})).await).4, 1, "the trouble was no step");
    }
}
