//! The programs of this installation.

use passhost_child::beside_this_executable;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io;

/// The programs that an evaluation consists of.
const PROGRAMS: [&str; 5] = ["passhost", "passhost-reader", "passhost-guest", "passhost-device", "passhost-compiler"];

/// The SHA-256 of this host's programs, by name.
pub fn programs() -> io::Result<BTreeMap<String, String>> {
    let hash = |name: &str| {
        let hash = Sha256::digest(std::fs::read(beside_this_executable(name))?);
        Ok((name.to_owned(), hash.iter().map(|byte| format!("{byte:02x}")).collect()))
    };
    PROGRAMS.into_iter().map(hash).collect()
}
