//! The names of jobs.

use crate::QueueError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// So many random bytes as hexadecimal digits.
///
/// # Errors
///
/// If the system gives none.
pub fn random_hexadecimal<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(base16ct::lower::encode_string(&bytes))
}

/// The name of a job: 32 hexadecimal digits, of which nobody can guess the last 24.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(pub(crate) String);

impl Ticket {
    /// A new one of the queue of this name, with which it begins.
    pub(crate) fn random(queue: &str) -> Result<Ticket, QueueError> {
        Ok(Ticket(format!("{queue}{}", random_hexadecimal::<12>()?)))
    }

    /// One that a client says. Whether there is such a job is another question.
    pub fn named(text: impl Into<String>) -> Ticket {
        Ticket(text.into())
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
