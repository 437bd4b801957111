//! What each client may cost. No limit is one that clients share: what is one client's, no other can take.

use std::num::NonZeroU32;
use std::time::Duration;

/// What each client may cost, and whoever has not said yet which client it is.
#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    /// Connections of a client at once, those included on which it waits or hears events.
    pub connections: usize,
    /// Connections at once on which nobody has shown a token. For another one the oldest of them is closed.
    pub unauthenticated: usize,
    /// Time in which a connection must have shown a token.
    pub introduction: Duration,
    /// Bytes of a submission.
    pub body: usize,
    /// Bytes of submissions of a client that are being received, or are not on the disk yet.
    pub receiving: usize,
    /// Time in which the head of a request must be there, its body, and in which some of an answer must be taken.
    pub request: Duration,
    /// Requests of a client a second; ten times as many at once.
    pub rate: NonZeroU32,
    /// The longest time that an answer waits for a job to end.
    pub wait: Duration,
    /// How long a job is held without a word of whoever grades it, until another worker may have it: so long does it wait that
    /// a machine took along which is gone.
    pub lease: Duration,
    /// How long what came of a job is kept.
    pub keep: Duration,
    /// What its episodes may cost.
    pub episodes: EpisodeLimits,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            connections: 256,
            unauthenticated: 256,
            introduction: Duration::from_secs(10),
            body: 32 << 20,
            receiving: 64 << 20,
            request: Duration::from_secs(60),
            rate: NonZeroU32::MIN.saturating_add(49),
            wait: Duration::from_secs(50),
            lease: Duration::from_secs(180),
            keep: Duration::from_secs(7 * 24 * 3600),
            episodes: EpisodeLimits::default(),
        }
    }
}

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
