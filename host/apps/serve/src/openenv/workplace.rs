//! Where episodes are worked on in earnest: tools for each, commands of passhost when there is room for them, and the queue
//! for evaluations.

use super::episode_tools::{EpisodeTools, Workplace};
use crate::evaluation::EvaluationStatus;
use crate::job::{self, SubmissionKind};
use crate::problem::Problem;
use crate::state::ServerState;
use passhost_agent_tools::{
    AgentTools, AgentToolsError, BuiltPass, CliRunner, CommandOutput, Effect, Evaluated, Objects, TaskFacts, Tool,
    ToolExecutor, ToolOutcome, introduction, task,
};
use passhost_queue::{JobState, JobStatus, NewJob, Ticket, random_hexadecimal};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// How the keys of evaluations begin that episodes ask for; nobody else's do.
pub const KEYS: &str = "episode ";

/// How those of a server begin.
pub fn keys(server: &str) -> String {
    format!("{KEYS}{server} ")
}

/// How the tools begin to say why there is no graph to show.
const NOTHING: &str = "nothing to show";

/// What episodes are worked on with, for those of one client.
pub struct ClientWorkplace {
    state: ServerState,
    client: Arc<str>,
    handle: Handle,
}

impl ClientWorkplace {
    /// In a runtime.
    pub fn new(state: ServerState, client: Arc<str>) -> ClientWorkplace {
        ClientWorkplace { state, client, handle: Handle::current() }
    }
}

impl Workplace for ClientWorkplace {
    fn samples(&self) -> Vec<String> {
        self.state.sessions.samples.keys().cloned().collect()
    }

    fn tools(&self, sample: &str, stop: watch::Receiver<bool>) -> Result<Box<dyn EpisodeTools>, AgentToolsError> {
        let store = &self.state.sessions;
        let gone = || AgentToolsError::Sample("it is not served any more".to_owned());
        let path = store.samples.get(sample).ok_or_else(gone)?;
        let key =
            random_hexadecimal::<16>().map_err(io::Error::other).map_err(AgentToolsError::file(&store.directory))?;
        let directory = store.directory.join(&key);
        let stopped = stop.clone();
        // Whoever could say so is gone where the server ends.
        let stop_asked = move || *stopped.borrow() || stopped.has_changed().is_err();
        let runner = CliRunner { stop: Arc::new(stop_asked), ..store.runner.clone() };
        let executor = QueuedExecutor {
            runner,
            state: self.state.clone(),
            client: Arc::clone(&self.client),
            sample: sample.to_owned(),
            key,
            handle: self.handle.clone(),
            stop,
        };
        let objects = Objects::open(&directory.join("objects")).map_err(AgentToolsError::file(&directory))?;
        let work = directory.join("work");
        let tools = AgentTools::open(Arc::new(executor), objects, path, &work, store.guide)?;
        Ok(Box::new(EpisodeWorkspace { tools, directory, work, state: self.state.clone(), sample: sample.to_owned() }))
    }
}

/// Where one episode is worked on.
struct EpisodeWorkspace {
    tools: AgentTools,
    directory: PathBuf,
    work: PathBuf,
    state: ServerState,
    sample: String,
}

impl EpisodeTools for EpisodeWorkspace {
    fn task(&mut self) -> Result<String, AgentToolsError> {
        let task_of_sample = self.state.sessions.task(&self.sample);
        let mut known = task_of_sample.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = &*known {
            return Ok(text.clone());
        }
        let graphs = self.tools.graphs(None)?;
        let facts = match self.tools.facts(self.state.sessions.fusion.as_deref()) {
            // What could not be evaluated now is found out for a later episode.
            Err(AgentToolsError::Evaluation(_)) => None,
            facts => Some(facts?),
        };
        let how = "`read_guide` says how passes are written: read it first.";
        let text = format!(
            "{}\n{how}\n\n{}",
            introduction(),
            task(&self.sample, &graphs, facts.as_ref().unwrap_or(&TaskFacts::default()))
        );
        if facts.is_some() {
            *known = Some(text.clone());
        }
        Ok(text)
    }

    fn execute(&mut self, tool: &Tool) -> Result<ToolOutcome, AgentToolsError> {
        let roots = &self.state.sessions.roots;
        let mut outcome = self.tools.execute(tool).map_err(|error| match error {
            AgentToolsError::Evaluation(why) => AgentToolsError::Evaluation(roots.without_paths(&why)),
            error => error,
        })?;
        // The guide has no paths of this machine, and what is shown of graphs is as the sample has it.
        let is_as_it_is = match tool {
            Tool::ReadGuide { .. } => true,
            Tool::ShowGraph { .. } => !outcome.text.starts_with(NOTHING),
            _ => false,
        };
        if !is_as_it_is {
            outcome.text = roots.without_paths(&outcome.text);
        }
        if let Effect::Wrote { source } = &outcome.effect {
            self.keep_alone(source);
        }
        Ok(outcome)
    }
}

impl EpisodeWorkspace {
    /// Removes the components of other sources: an episode has one at a time.
    fn keep_alone(&self, source: &str) {
        for folder in std::fs::read_dir(&self.work).into_iter().flatten().flatten() {
            if folder.file_name() != *source {
                let _ = std::fs::remove_dir_all(folder.path());
            }
        }
    }
}

impl Drop for EpisodeWorkspace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Runs commands when there is room for them, and has evaluations queued as the client's own.
struct QueuedExecutor {
    runner: CliRunner,
    state: ServerState,
    client: Arc<str>,
    sample: String,
    /// Tells the episode from all others.
    key: String,
    handle: Handle,
    stop: watch::Receiver<bool>,
}

impl fmt::Debug for QueuedExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queued").field("client", &self.client).field("sample", &self.sample).finish_non_exhaustive()
    }
}

impl ToolExecutor for QueuedExecutor {
    fn run(&self, words: Vec<OsString>, runs_pass: bool) -> Result<CommandOutput, AgentToolsError> {
        let store = &self.state.sessions;
        let mut stop = self.stop.clone();
        let line = store.line(&self.client);
        let room = self.handle.block_on(async {
            let room = async { (line.acquire().await, store.room.acquire().await, store.drain.read().await) };
            tokio::select! { room = room => Some(room), _ = stop.wait_for(|stop| *stop) => None }
        });
        let Some(_room) = room else { return Err(AgentToolsError::Stopped) };
        self.runner.run(words, runs_pass)
    }

    fn evaluate(&self, pass: &BuiltPass<'_>) -> Result<Evaluated, AgentToolsError> {
        // One after the other: a component may be as large as a submission, and sessions are many.
        let handing_in = self.state.sessions.handing_in.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = std::fs::read(pass.component).map_err(AgentToolsError::file(pass.component))?;
        let (head, needs) = (job::head(&self.sample, SubmissionKind::Component), &self.state.worker.offers);
        let key = format!("{}{} {}", keys(&self.state.worker.name), self.key, pass.source);
        // What the queue does not take, and why, is for the client; what is wrong with its file is not.
        let queue = &self.state.grading.queue;
        let refused = |error| AgentToolsError::Evaluation(Problem::from(error).detail());
        let ticket = queue.submit_job(&self.client, Some(&key), &NewJob { head: &head, bytes: &bytes, needs });
        let ticket = ticket.map_err(refused)?;
        drop((bytes, handing_in));
        self.state.metrics.submitted.inc();
        self.state.changed();
        let ended = self.ended(&ticket);
        // Nobody else knows its name: what came of it is the tools' from here on, and nothing stays behind that would
        // count against the client. A source that came to nothing can be evaluated again.
        if !matches!(ended, Ok(Some(_))) {
            let _ = queue.cancel(&self.client, &ticket);
        }
        let _ = queue.remove(&self.client, &ticket);
        self.state.changed();
        let why = |why| AgentToolsError::Evaluation(why);
        let status = ended.map_err(why)?.ok_or(AgentToolsError::Stopped)?;
        let between = status.ended_ms.unwrap_or(0).saturating_sub(status.started_ms.unwrap_or(0));
        let EvaluationStatus { outcome, .. } = EvaluationStatus::new(ticket, status);
        let Some(document) = outcome.document else {
            return Err(why(outcome.trouble.unwrap_or_else(|| "it was cancelled".to_owned())));
        };
        Ok(Evaluated { document: document.get().to_owned(), device: Duration::from_millis(between) })
    }
}

impl QueuedExecutor {
    /// What became of a job; nothing if somebody asked to stop before.
    fn ended(&self, ticket: &Ticket) -> Result<Option<JobStatus>, String> {
        let (mut changes, mut stop) = (self.state.grading.changes.subscribe(), self.stop.clone());
        loop {
            match self.state.grading.queue.look(&self.client, ticket) {
                Ok(Some(status)) if status.state.is_end() => {
                    return Ok(Some(status).filter(|status| status.state != JobState::Cancelled || !*stop.borrow()));
                }
                Ok(None) => return Err("it is not known any more".to_owned()),
                Err(error) if !error.is_passing() => return Err(Problem::from(error).detail()),
                Ok(Some(_)) | Err(_) => {}
            }
            let is_stopped = self.handle.block_on(async {
                tokio::select! { _ = changes.changed() => false, _ = stop.wait_for(|stop| *stop) => true }
            });
            if is_stopped {
                return Ok(None);
            }
        }
    }
}
