//! One at a time: who times on a device has it for itself, among all evaluations of this machine that see the same
//! temporary directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::ops::Deref;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// A file that is locked for as long as this lives. The system unlocks it when the process ends, however that comes.
///
/// Closing alone would leave it locked for as long as a child that is being started has a copy of it.
#[derive(Debug)]
pub struct LockedFile(File);

impl LockedFile {
    /// Locks a file that nobody else has locked.
    ///
    /// # Errors
    ///
    /// If somebody has, or it cannot be locked.
    pub fn try_new(file: File) -> Result<LockedFile, TryLockError> {
        file.try_lock()?;
        Ok(LockedFile(file))
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

/// Work on a device, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Turn(#[allow(dead_code, reason = "held, not used")] Option<LockedFile>);

/// Whether others may work on the device at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// They may, as long as nobody times.
    Shared,
    /// It is timed.
    Alone,
}

impl Turn {
    /// Waits for a turn on the device of this name. `waiting` is called first where others have it.
    ///
    /// Where there is no file to lock, there is no waiting either: what then disturbs a measurement is seen in it.
    pub fn take(id: &str, how: Use, waiting: impl FnOnce()) -> Turn {
        Turn::take_at(&path(&std::env::temp_dir(), id), how, waiting)
    }

    fn take_at(path: &Path, how: Use, waiting: impl FnOnce()) -> Turn {
        let Some(file) = open(path) else { return Turn(None) };
        let tried = match how {
            Use::Shared => file.try_lock_shared(),
            Use::Alone => file.try_lock(),
        };
        if let Err(TryLockError::WouldBlock) = tried {
            waiting();
            let waited = match how {
                Use::Shared => file.lock_shared(),
                Use::Alone => file.lock(),
            };
            return Turn(waited.is_ok().then(|| LockedFile(file)));
        }
        Turn(tried.is_ok().then(|| LockedFile(file)))
    }
}

/// Makes the file, or opens that of another user, which cannot be written and need not be.
fn open(path: &Path) -> Option<File> {
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32;
    let made = OpenOptions::new().write(true).create(true).truncate(false).mode(0o644).custom_flags(flags).open(path);
    let file = made.or_else(|_| OpenOptions::new().read(true).custom_flags(flags).open(path)).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

fn path(directory: &Path, id: &str) -> PathBuf {
    let id: String = id.chars().filter(|char| char.is_ascii_alphanumeric() || *char == '-').take(64).collect();
    directory.join(format!("passhost-{id}.lock"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn whoever_times_waits_for_the_others_and_they_for_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = path(directory.path(), "GPU-1/2");
        assert!(path.ends_with("passhost-GPU-12.lock"));
        let nobody = || unreachable!("nobody has it");
        let shared = [Turn::take_at(&path, Use::Shared, nobody), Turn::take_at(&path, Use::Shared, nobody)];
        let (waits, waiting) = channel();
        let (has, got) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let turn = Turn::take_at(&path, Use::Alone, || waits.send(()).unwrap());
                has.send(()).unwrap();
                drop(turn);
            });
            waiting.recv().unwrap();
            assert!(got.try_recv().is_err());
            drop(shared);
            got.recv().unwrap();
        });
    }

    #[test]
    fn a_lock_ends_with_its_owner_though_a_copy_of_the_file_is_open() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let locked = LockedFile::try_new(file.reopen().unwrap()).unwrap();
        assert!(matches!(LockedFile::try_new(file.reopen().unwrap()), Err(TryLockError::WouldBlock)));
        let _copy = locked.try_clone().unwrap();
        drop(locked);
        assert!(LockedFile::try_new(file.reopen().unwrap()).is_ok());
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let turn = Turn::take_at(directory.path(), Use::Alone, || unreachable!("a directory has no turns"));
        assert!(turn.0.is_none());
    }
}
