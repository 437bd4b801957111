//! What keeps a child in, as the child tells it in its first message.

use serde::{Deserialize, Serialize};

/// The sandbox profile of a child: what of the kernel confines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxProfile {
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// The version of Landlock's interface that files, sockets and signals are refused with; `None` where the kernel
    /// has no Landlock.
    pub landlock: Option<u32>,
}

impl SandboxProfile {
    /// What the kernel lacks, in words; `None` where it confines the child fully.
    pub fn missing(&self) -> Option<&'static str> {
        match (self.seccomp, self.landlock) {
            (true, Some(_)) => None,
            (true, None) => Some("Landlock"),
            (false, Some(_)) => Some("seccomp"),
            (false, None) => Some("seccomp and Landlock"),
        }
    }
}

impl std::fmt::Display for SandboxProfile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.seccomp { "seccomp, " } else { "no seccomp, " })?;
        match self.landlock {
            Some(version) => write!(f, "Landlock ABI {version}"),
            None => f.write_str("no Landlock"),
        }
    }
}
