//! Who executes the calls of an episode.

use passhost_agent_tools::{AgentToolsError, Tool, ToolOutcome};
use tokio::sync::watch;

/// Executes the calls of one episode. What it made is removed when it is dropped.
pub trait EpisodeTools: Send {
    /// What is to be done, with the graphs.
    fn task(&mut self) -> Result<String, AgentToolsError>;

    /// What comes of a call.
    fn execute(&mut self, tool: &Tool) -> Result<ToolOutcome, AgentToolsError>;
}

/// Where episodes are worked on.
pub trait Workplace: Send + Sync {
    /// The names of the samples, in order.
    fn samples(&self) -> Vec<String>;

    /// Room for an episode on one of them. Once `stop` is true, calls come to an end soon.
    fn tools(&self, sample: &str, stop: watch::Receiver<bool>) -> Result<Box<dyn EpisodeTools>, AgentToolsError>;
}
