//! Who measured a result. A [`Statement`] is a result document with what an evaluation knows besides: which programs made
//! it, when, for whom, and a [`JobId`] that no other evaluation has. [`Statement::sign`] makes one line of it under an
//! ed25519 key, [`read`] takes such a line apart again and refuses whatever was changed in it. [`TrustedKeys`] says whose
//! lines count, and [`Met`] that each counts once.
//!
//! A signature proves who measured, and not that it is true: whoever holds a key can sign what they like. What follows
//! from a document is [`recompute`](passhost_result::verify::recompute)d by whoever reads it.
//!
//! # What is signed
//!
//! The line is the value `{"payload": statement, "schema": ..., "signature": ..., "signer": ...}` in [canonical
//! form](canonical()), and the signature is over [`DOMAIN`] and the payload in that form. A line in any other form is
//! refused, although it may mean the same: so every byte counts, and no two lines say the same. A reader verifies the bytes
//! of the payload as they stand in the line and parses them after that: what nobody signed is not parsed.

mod canonical;
mod error;
mod job;
mod key;
mod key_file;
mod line;
mod met;
mod statement;
mod time;
mod trusted;

pub use canonical::canonical;
pub use error::{KeyError, LineError, SignError, TrustError, TrustedKeysError};
pub use job::{BatchId, JobId};
pub use key::{PublicKey, SecretKey};
pub use line::{BEGINNING, DOMAIN, SCHEMA};
pub use met::{Met, Repetition};
pub use statement::{Signed, Statement, read, read_all};
pub use time::time_text;
pub use trusted::{TrustedKey, TrustedKeys, is_name};
