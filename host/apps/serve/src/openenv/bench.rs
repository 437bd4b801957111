//! Who executes the calls of an episode.

use passhost_workshop::{Outcome, Tool, WorkshopError};
use tokio::sync::watch;

/// Executes the calls of one episode. What it made is removed when it is dropped.
pub trait Bench: Send {
    /// What is to be done, with the graphs.
    fn task(&mut self) -> Result<String, WorkshopError>;

    /// What comes of a call.
    fn execute(&mut self, tool: &Tool) -> Result<Outcome, WorkshopError>;
}

/// Where episodes are worked on.
pub trait Workplace: Send + Sync {
    /// The names of the samples, in order.
    fn samples(&self) -> Vec<String>;

    /// Room for an episode on one of them. Once `stop` is true, calls come to an end soon.
    fn bench(&self, sample: &str, stop: watch::Receiver<bool>) -> Result<Box<dyn Bench>, WorkshopError>;
}
