//! What an object store does, and why not.

use std::time::Instant;

/// Why bytes do not come from a store, or do not get there.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// It names none.
    #[error("`{address}` is no object store: {why}; expected a directory, or s3://BUCKET/PREFIX")]
    Address {
        /// What was given.
        address: String,
        /// Why not.
        why: String,
    },
    /// It does not answer.
    #[error("the store of the object {object} does not answer: {why}; start it, or check its address")]
    Away {
        /// Which, and where.
        object: String,
        /// Why not.
        why: String,
    },
    /// It does not do what was asked.
    #[error("the store refuses the object {object}: {why}; check the address and the rights of this user")]
    Refused {
        /// Which, and where.
        object: String,
        /// What it says.
        why: String,
    },
    /// It has not got it.
    #[error("the object {0} is missing in the store")]
    Missing(String),
    /// It has something else under this name.
    #[error(
        "the object {0} has other bytes than those that were stored: they do not have its SHA-256, and are not used"
    )]
    Changed(String),
    /// No store is named.
    #[error("the object {0} is in an object store, and this process has none; name it by --objects")]
    NoStore(String),
}

impl ObjectError {
    /// Whether the same may be done later, when somebody has done something about the store.
    pub fn is_passing(&self) -> bool {
        matches!(self, ObjectError::Away { .. } | ObjectError::Refused { .. })
    }
}

/// Where bytes are kept. Names are hashes. What fails for a moment is tried again until the time that is given.
pub trait ObjectStore: Send + Sync {
    /// Keeps bytes: all of them under this name, or nothing new.
    fn put(&self, name: &str, bytes: &[u8], until: Instant) -> Result<(), ObjectError>;

    /// Those of a name, or so many and one more of them. `None` if there are none.
    fn get(&self, name: &str, limit: u64, until: Instant) -> Result<Option<Vec<u8>>, ObjectError>;

    /// Removes those of a name, if there are any.
    fn remove(&self, name: &str, until: Instant) -> Result<(), ObjectError>;

    /// A name with the address.
    fn described(&self, name: &str) -> String;
}
