//! Why an endpoint gave no answer.

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The address is none that is asked.
    #[error("`{address}` cannot be asked: {reason}")]
    Address {
        /// As it was given.
        address: String,
        /// What is wrong, and what to write.
        reason: &'static str,
    },
    /// The key is none.
    #[error("the key is empty, or has characters that no header may have; look into its file or variable")]
    Key,
    /// The endpoint does not take the request, and would not take it again.
    #[error("the endpoint answers {status}: {said}")]
    Refused {
        /// Status of HTTP.
        status: u16,
        /// What it said.
        said: String,
    },
    /// It was tried as often as it is tried.
    #[error("no answer after {tries} tries; the last: {last}")]
    Exhausted {
        /// How often.
        tries: u32,
        /// Why the last gave none.
        last: String,
    },
    /// Somebody asked to stop.
    #[error("stopped")]
    Stopped,
}
