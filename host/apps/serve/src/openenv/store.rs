//! What episodes are worked on with: samples, commands of passhost that are kept apart, and a directory of files.

use super::paths::Roots;
use passhost_agent_tools::CliRunner;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{RwLock, RwLockWriteGuard, Semaphore};

/// The file that says that a directory of episodes is one of ours, to be removed with all that is in it.
const MARK: &str = ".passhost-episodes";

/// Makes the directory of episodes anew. What is in it is removed if a server made it, and is in the way otherwise.
fn anew(directory: &Path) -> io::Result<()> {
    let made = match std::fs::symlink_metadata(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::create_dir_all(directory),
        Err(error) => Err(error),
        // Whoever was killed left what nobody goes on with.
        Ok(found) if found.is_dir() && directory.join(MARK).is_file() => emptied(directory),
        Ok(found) if found.is_dir() && std::fs::read_dir(directory)?.next().is_none() => Ok(()),
        Ok(_) => {
            Err(io::Error::other("no server made what is there; move it away, or name another directory by --data"))
        }
    };
    made.and_then(|()| std::fs::write(directory.join(MARK), "passhost serve removes this directory\n"))
}

/// Removes all but the mark, which says for as long as there is anything that it may be removed.
fn emptied(directory: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else if entry.file_name() != MARK {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// What episodes are worked on with.
pub struct SessionStore {
    pub(super) runner: CliRunner,
    pub(super) guide: &'static str,
    /// The component of the built-in fusion, if it is there.
    pub(super) fusion: Option<PathBuf>,
    pub(super) samples: BTreeMap<String, PathBuf>,
    pub(super) directory: PathBuf,
    /// Of which no client hears.
    pub(super) roots: Roots,
    /// Room for commands.
    pub(super) room: Semaphore,
    /// How many each client may have in line for it, by name: so many as there is room for, so that nobody waits for all that
    /// another one asked for.
    lines: Mutex<BTreeMap<Arc<str>, Arc<Semaphore>>>,
    commands: usize,
    /// Held by who has a component in memory that is not in the queue yet.
    pub(super) handing_in: Mutex<()>,
    /// Whether a command beside an evaluation would disturb its times: it has no cores to keep to.
    is_shared: bool,
    /// Held by each command, and by an evaluation alone, which drains them. It is given in the order in which it is asked
    /// for, so that whoever waits does so for what was there before: neither keeps the other out.
    pub(super) drain: RwLock<()>,
    /// What is said of each sample at first, once it is known: the same each time.
    tasks: Mutex<BTreeMap<String, Arc<Mutex<Option<String>>>>>,
}

impl SessionStore {
    /// One whose commands are those of `runner`, so many at once, whatever the episode. Files of episodes go to
    /// `directory`, of which nothing is kept. Where the commands have no cores to keep to, none runs beside an evaluation.
    /// Of paths into `hidden`, the samples and that directory, texts have the last part alone.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made anew, or holds what no server made.
    pub fn open(
        runner: CliRunner,
        guide: &'static str,
        fusion: Option<PathBuf>,
        samples: BTreeMap<String, PathBuf>,
        directory: &Path,
        hidden: Vec<PathBuf>,
        commands: usize,
    ) -> io::Result<SessionStore> {
        let is_shared = runner.cores.is_empty();
        anew(directory)?;
        let commands = commands.max(1);
        let own = samples.values().cloned().chain([directory.to_path_buf()]);
        let roots = Roots::new(own.chain(hidden));
        Ok(SessionStore {
            runner,
            guide,
            fusion,
            samples,
            directory: directory.to_path_buf(),
            roots,
            room: Semaphore::new(commands),
            lines: Mutex::default(),
            commands,
            handing_in: Mutex::default(),
            is_shared,
            drain: RwLock::new(()),
            tasks: Mutex::default(),
        })
    }

    /// The line of a client for room.
    pub(super) fn line(&self, client: &Arc<str>) -> Arc<Semaphore> {
        // Whoever panicked left it whole.
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.entry(Arc::clone(client)).or_insert_with(|| Arc::new(Semaphore::new(self.commands)));
        Arc::clone(line)
    }

    /// What is said of a sample at first. Whoever asks first finds it out, while the others wait.
    pub(super) fn task(&self, sample: &str) -> Arc<Mutex<Option<String>>> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tasks.entry(sample.to_owned()).or_default())
    }

    /// What an evaluation holds: while it does, no command runs that would disturb it.
    pub(crate) async fn undisturbed(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        if self.is_shared { Some(self.drain.write().await) } else { None }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn a_directory_of_episodes_is_removed_if_a_server_made_it_and_left_as_it_is_otherwise() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("episodes");
        anew(&directory).unwrap();
        std::fs::create_dir_all(directory.join("left/deep")).unwrap();
        std::fs::write(directory.join("file"), "left").unwrap();
        std::os::unix::fs::symlink(place.path(), directory.join("link")).unwrap();
        // Whoever is killed after this finds the mark still.
        emptied(&directory).unwrap();
        let names = |directory: &Path| -> Vec<OsString> {
            std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
        };
        assert_eq!((names(&directory), names(place.path())), (vec![MARK.into()], vec!["episodes".into()]));
        std::fs::create_dir(directory.join("left")).unwrap();
        anew(&directory).unwrap();
        assert_eq!(names(&directory), [MARK]);
        // An empty one is as good as none.
        std::fs::remove_dir_all(&directory).unwrap();
        std::fs::create_dir(&directory).unwrap();
        anew(&directory).unwrap();

        let others = place.path().join("others");
        std::fs::create_dir(&others).unwrap();
        std::fs::write(others.join("diary"), "mine").unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&directory, &link).unwrap();
        for taken in [&others, &others.join("diary"), &link] {
            let error = anew(taken).unwrap_err().to_string();
            assert!(error.contains("no server made"), "{}: {error}", taken.display());
        }
        assert_eq!(std::fs::read_to_string(others.join("diary")).unwrap(), "mine");
        assert!(directory.join(MARK).is_file());
    }
}
