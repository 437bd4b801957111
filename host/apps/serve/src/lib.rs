//! Evaluations over HTTP. A client hands in a component or a source for a sample by its name, and asks later what came of it;
//! meanwhile it waits in a durable queue ([`passhost_queue`]) until a [`Grader`] has time for it.
//!
//! Nothing is evaluated here, and nothing of a submission is looked into: a grader makes of a [`SubmittedJob`] the text of a result,
//! which is what the client gets. Each device has one grader, which does one job at a time.
//!
//! `openenv` has episodes besides, for training loops: a client writes a pass step by step over a WebSocket.
//!
//! What a client may cost is bounded before it is known to mean well: connections, the time in which a request must be there
//! and an answer be taken, bytes that are held for its requests, requests a second, jobs that wait, bytes on the disk. Each
//! has limits of its own, so that none can take what is another's.
//!
//! **Invariant**: what is said of a job is said to the client that handed it in, and to nobody else.
//! **Invariant**: a submission is answered with a name when it is on the disk, and not before.

mod access;
mod admission;
mod api;
mod connection;
mod error;
mod evaluation;
mod grading;
mod held_jobs;
mod job;
mod leases;
mod limits;
mod listen;
mod metrics;
mod openenv;
mod problem;
mod state;
mod stream;
mod worker;

pub use access::{Client, ClientRole, Clients, ClientsError, Token};
pub use api::paths;
pub use error::ServerError;
pub use evaluation::outcome;
pub use grading::{Graded, Grader, GradingEvent, GradingSettings, JobsOfSample, ShutdownMode, Sign};
pub use job::{EvaluationOutcome, SubmissionKind, SubmittedJob, head};
pub use limits::{EpisodeLimits, ServerLimits};
pub use listen::serve;
pub use openenv::SessionStore;
pub use state::{ServedSite, ServerInfo};
pub use worker::work_alone;

/// The description of the interface, as OpenAPI 3.1 has it.
pub const OPENAPI: &str = include_str!("openapi.json");
