//! What the episodes of each client may cost.

use std::time::Duration;

/// What the episodes of each client may cost: none can take what is another's.
#[derive(Debug, Clone, Copy)]
pub struct EpisodeLimits {
    /// Connections of a client.
    pub sessions: usize,
    /// Calls of tools in an episode.
    pub steps: u32,
    /// The longest time that an answer takes.
    pub answer: Duration,
    /// How long a connection may say nothing.
    pub idle: Duration,
    /// Bytes of a message.
    pub message: usize,
}

impl Default for EpisodeLimits {
    fn default() -> EpisodeLimits {
        EpisodeLimits {
            sessions: 128,
            steps: 40,
            // OpenEnv's client waits for a minute.
            answer: Duration::from_secs(50),
            idle: Duration::from_secs(30 * 60),
            message: 1 << 20,
        }
    }
}
