//! The programs of this installation.

use passhost_agent_tools::sha256;
use passhost_child::beside_this_executable;
use std::collections::BTreeMap;
use std::io;

/// The programs that an evaluation consists of.
const PROGRAMS: [&str; 5] = ["passhost", "passhost-reader", "passhost-guest", "passhost-device", "passhost-compiler"];

/// The SHA-256 of this host's programs, by name.
pub fn programs() -> io::Result<BTreeMap<String, String>> {
    let hash = |name: &str| Ok((name.to_owned(), sha256(&std::fs::read(beside_this_executable(name))?)));
    PROGRAMS.into_iter().map(hash).collect()
}
