//! The files in which inputs of a graph go to Python and outputs come back: of how many rounds, and whether there is room.

use super::Wanted;
use passhost_result::document::{Blame, Failure, failure};
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes a second that any disk reads or writes.
const DISK: u64 = 50 << 20;

/// Where files of a graph lie. They are removed with it.
pub(super) struct GraphFiles {
    inputs: PathBuf,
    outputs: PathBuf,
    /// Bytes on the disk at most.
    needed: u64,
    /// Rounds that are compared before anything is timed.
    pub compared: u32,
    /// The round that is timed, the last one.
    pub timed: u32,
}

impl GraphFiles {
    /// Those of a graph that is compared in so many rounds, or in one if its inputs and outputs have many bytes.
    pub fn of(wanted: &Wanted, bytes: u64, rounds: u32) -> GraphFiles {
        let (compared, timed) = if bytes > wanted.one_round_above { (1, 0) } else { (rounds, rounds) };
        let needed = bytes.saturating_mul(u64::from(timed) + 1);
        GraphFiles { inputs: wanted.inputs.clone(), outputs: wanted.outputs.clone(), needed, compared, timed }
    }

    /// What a method is not tried on.
    pub fn note(&self) -> &'static str {
        match self.timed {
            0 => "no scaled and no edge-case inputs, and as the graph is large, one round, which is timed as well",
            _ => "no scaled and no edge-case inputs",
        }
    }

    /// Makes empty directories, if there is room for what comes into them.
    pub fn make(&self) -> Result<(), Failure> {
        self.folders().try_for_each(std::fs::create_dir).map_err(|error| self.no_room(error))?;
        let system = rustix::fs::statvfs(&self.inputs).map_err(|error| self.no_room(io::Error::from(error)))?;
        let left = system.f_bavail.saturating_mul(system.f_frsize);
        // A file system that counts nothing has no blocks.
        if system.f_blocks > 0 && left < self.needed {
            return Err(self.no_room(format!("only {left} bytes are left")));
        }
        Ok(())
    }

    /// Removes the outputs of a method: they were compared, or never will be.
    pub fn forget_outputs(&self) {
        // What stays is overwritten by the next method, which also says where it cannot be written.
        for folder in self.folders().filter(|folder| folder.starts_with(&self.outputs)) {
            let _ = std::fs::remove_dir_all(&folder).and_then(|()| std::fs::create_dir(&folder));
        }
    }

    /// What writing and reading all of them takes at most.
    pub fn transfer_time(&self) -> Duration {
        Duration::from_secs(self.needed / DISK)
    }

    /// A file could not be written.
    pub fn no_room(&self, error: impl Display) -> Failure {
        let place = self.inputs.parent().unwrap_or(&self.inputs).display();
        let room = format!("need {} bytes in `{place}`: set TMPDIR to a directory that has them", self.needed);
        let message = format!("{error}; inputs and outputs of this graph {room}");
        failure(Blame::Host, "files", message, "make room, or set TMPDIR to a directory with more")
    }

    /// A directory for the inputs and one for the outputs of each round.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let rounds = 0..=self.timed;
        rounds.flat_map(|round| [&self.inputs, &self.outputs].map(|place| place.join(format!("round_{round}"))))
    }
}

impl Drop for GraphFiles {
    fn drop(&mut self) {
        // What cannot be removed is removed with the directories above.
        self.folders().for_each(|folder| drop(std::fs::remove_dir_all(folder)));
    }
}
