//! What keeps a child in, as the child tells it in its first message.

use serde::{Deserialize, Serialize};

/// The walls of the kernel that stand around a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walls {
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// The version of Landlock's interface that files, sockets and signals are refused with; `None` where the kernel
    /// has no Landlock.
    pub landlock: Option<u32>,
}

impl Walls {
    /// Which walls the kernel lacks, in words; `None` where all of them stand.
    pub fn missing(&self) -> Option<&'static str> {
        match (self.seccomp, self.landlock) {
            (true, Some(_)) => None,
            (true, None) => Some("Landlock"),
            (false, Some(_)) => Some("seccomp"),
            (false, None) => Some("seccomp and Landlock"),
        }
    }
}

impl std::fmt::Display for Walls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.seccomp { "seccomp, " } else { "no seccomp, " })?;
        match self.landlock {
            Some(version) => write!(f, "Landlock ABI {version}"),
            None => f.write_str("no Landlock"),
        }
    }
}
