//! The names of an evaluation, by which its result counts once, and of a batch, of which all is one submission.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

const BYTES: usize = 16;
/// Separates names of jobs from other hashes.
const DOMAIN: &[u8] = b"passhost job of a batch 1\0";
/// Separates names of batches from other hashes.
const BATCH_DOMAIN: &[u8] = b"passhost name of a batch 1\0";

/// A name of 16 random bytes, in hexadecimal.
macro_rules! random_name {
    ($(#[$attribute:meta])* $name:ident, $whose:literal) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// A fresh one.
            ///
            /// # Errors
            ///
            /// If the system gives no random bytes.
            pub fn random() -> Result<$name, getrandom::Error> {
                let mut bytes = [0; BYTES];
                getrandom::fill(&mut bytes)?;
                Ok($name(base16ct::lower::encode_string(&bytes)))
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<$name, String> {
                let is_hexadecimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                if text.len() == 2 * BYTES && is_hexadecimal {
                    Ok($name(text))
                } else {
                    Err(concat!("the id of a ", $whose, " has 32 hexadecimal digits").into())
                }
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

random_name! {
    /// The name of an evaluation: 16 random bytes in hexadecimal.
    JobId, "job"
}

random_name! {
    /// The name of a batch, drawn when it begins: 16 random bytes in hexadecimal.
    BatchId, "batch"
}

impl JobId {
    /// That of a plugin on a sample in the batch with this id: however often the batch is gone on with, it stays the same
    /// evaluation. `parts` are what tells it from the others of the batch.
    pub fn within(batch: &str, parts: &[&str]) -> JobId {
        let mut hash = Sha256::new_with_prefix(DOMAIN);
        for part in std::iter::once(&batch).chain(parts) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        JobId(base16ct::lower::encode_string(&hash.finalize()[..BYTES]))
    }
}

impl BatchId {
    /// The name that results of the batch with this id are signed under. It does not tell the id, from which the names of
    /// jobs follow: nobody can sign a job of a batch that goes on before the batch does.
    pub fn of(batch: &str) -> BatchId {
        let hash = Sha256::new_with_prefix(BATCH_DOMAIN).chain_update(batch);
        BatchId(base16ct::lower::encode_string(&hash.finalize()[..BYTES]))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn each_job_has_a_name_of_its_own_and_no_other_text_is_one() {
        assert_ne!(JobId::random().unwrap(), JobId::random().unwrap());
        let id = JobId::within("batch", &["plugin", "sample"]);
        assert_eq!(id, JobId::within("batch", &["plugin", "sample"]));
        assert_ne!(id, JobId::within("batch", &["plugins", "ample"]));
        assert_ne!(id, JobId::within("another", &["plugin", "sample"]));
        let batch = BatchId::random().unwrap().to_string();
        assert_eq!(BatchId::of(&batch), BatchId::of(&batch));
        assert!(BatchId::of(&batch).to_string() != batch && BatchId::of(&batch) != BatchId::of("another"));
        assert_eq!(JobId::try_from(id.to_string()), Ok(id.clone()));
        for bad in
            ["", "00", &id.to_string().to_uppercase().replace(|c: char| c.is_ascii_digit(), "A"), &format!("{id}0")]
        {
            assert!(JobId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
