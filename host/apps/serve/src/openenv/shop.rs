//! Where episodes are worked on in earnest: a workshop for each, with commands of passhost that are kept apart, and the queue
//! for evaluations.

use super::bench::{Bench, Workplace};
use super::paths::Roots;
use crate::api::Evaluation;
use crate::job::{self, Kind};
use crate::state::State;
use passhost_queue::{State as JobState, Status, Ticket};
use passhost_workshop::{
    Effect, Evaluated, Hands, Machinery, Objects, Outcome, Pass, Ran, Tool, Workshop, WorkshopError, introduction, task,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{RwLock, RwLockWriteGuard, Semaphore, watch};

/// How the keys of evaluations begin that episodes ask for; nobody else's do.
pub const KEYS: &str = "episode ";

/// How the workshop begins to say why there is no graph to show.
const NOTHING: &str = "nothing to show";
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
pub struct Shop {
    machinery: Machinery,
    guide: &'static str,
    samples: BTreeMap<String, PathBuf>,
    directory: PathBuf,
    /// Of which no client hears.
    roots: Roots,
    /// Room for commands.
    room: Semaphore,
    /// How many each client may have in line for it, by name: so many as there is room for, so that nobody waits for all that
    /// another one asked for.
    lines: Mutex<BTreeMap<Arc<str>, Arc<Semaphore>>>,
    commands: usize,
    /// Held by who has a component in memory that is not in the queue yet.
    handing_in: Mutex<()>,
    /// Whether a command beside an evaluation would disturb its times: it has no cores to keep to.
    is_shared: bool,
    /// Held by each command, and by an evaluation alone. It is given in the order in which it is asked for, so that whoever
    /// waits does so for what was there before: neither keeps the other out.
    calm: RwLock<()>,
    /// What is said of each sample at first: the same each time.
    tasks: Mutex<BTreeMap<String, String>>,
}

impl Shop {
    /// One whose commands are those of `machinery`, so many at once, whatever the episode. Files of episodes go to
    /// `directory`, of which nothing is kept. Where the commands have no cores to keep to, none runs beside an evaluation.
    /// Of paths into `hidden`, the samples and that directory, texts have the last part alone.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made anew, or holds what no server made.
    pub fn open(
        machinery: Machinery,
        guide: &'static str,
        samples: BTreeMap<String, PathBuf>,
        directory: &Path,
        hidden: Vec<PathBuf>,
        commands: usize,
    ) -> io::Result<Shop> {
        let is_shared = machinery.cores.is_empty();
        anew(directory)?;
        let commands = commands.max(1);
        let own = samples.values().cloned().chain([directory.to_path_buf()]);
        let roots = Roots::new(own.chain(hidden));
        Ok(Shop {
            machinery,
            guide,
            samples,
            directory: directory.to_path_buf(),
            roots,
            room: Semaphore::new(commands),
            lines: Mutex::default(),
            commands,
            handing_in: Mutex::default(),
            is_shared,
            calm: RwLock::new(()),
            tasks: Mutex::default(),
        })
    }

    /// The line of a client for room.
    fn line(&self, client: &Arc<str>) -> Arc<Semaphore> {
        // Whoever panicked left it whole.
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.entry(Arc::clone(client)).or_insert_with(|| Arc::new(Semaphore::new(self.commands)));
        Arc::clone(line)
    }

    /// What an evaluation holds: while it does, no command runs that would disturb it.
    pub(crate) async fn alone(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        if self.is_shared { Some(self.calm.write().await) } else { None }
    }
}

/// The shop, for the episodes of one client.
pub struct Floor {
    state: State,
    client: Arc<str>,
    handle: Handle,
}

impl Floor {
    /// In a runtime.
    pub fn new(state: State, client: Arc<str>) -> Floor {
        Floor { state, client, handle: Handle::current() }
    }
}

impl Workplace for Floor {
    fn samples(&self) -> Vec<String> {
        self.state.episodes.shop.samples.keys().cloned().collect()
    }

    fn bench(&self, sample: &str, stop: watch::Receiver<bool>) -> Result<Box<dyn Bench>, WorkshopError> {
        let shop = &self.state.episodes.shop;
        let file = |path: &Path| {
            let path = path.to_path_buf();
            move |source| WorkshopError::File { path, source }
        };
        let gone = || WorkshopError::Sample { said: "it is not served any more".to_owned() };
        let path = shop.samples.get(sample).ok_or_else(gone)?;
        let key = random_key().map_err(file(&shop.directory))?;
        let directory = shop.directory.join(&key);
        let stopped = stop.clone();
        // Whoever could say so is gone where the server ends.
        let stop_asked = move || *stopped.borrow() || stopped.has_changed().is_err();
        let machinery = Machinery { stop: Arc::new(stop_asked), ..shop.machinery.clone() };
        let hands = Queued {
            machinery,
            state: self.state.clone(),
            client: Arc::clone(&self.client),
            sample: sample.to_owned(),
            key,
            handle: self.handle.clone(),
            stop,
        };
        let objects = Objects::open(&directory.join("objects")).map_err(file(&directory))?;
        let work = directory.join("work");
        let workshop = Workshop::open(Arc::new(hands), objects, path, &work, shop.guide)?;
        Ok(Box::new(Place { workshop, directory, work, state: self.state.clone(), sample: sample.to_owned() }))
    }
}

fn random_key() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(base16ct::lower::encode_string(&bytes))
}

/// Where one episode is worked on.
struct Place {
    workshop: Workshop,
    directory: PathBuf,
    work: PathBuf,
    state: State,
    sample: String,
}

impl Bench for Place {
    fn task(&mut self) -> Result<String, WorkshopError> {
        let tasks = &self.state.episodes.shop.tasks;
        let known = tasks.lock().ok().and_then(|tasks| tasks.get(&self.sample).cloned());
        if let Some(text) = known {
            return Ok(text);
        }
        let graphs = self.workshop.graphs(None)?;
        let how = "`read_guide` says how passes are written: read it first.";
        let text = format!("{}\n{how}\n\n{}", introduction(), task(&self.sample, &graphs));
        if let Ok(mut tasks) = tasks.lock() {
            tasks.insert(self.sample.clone(), text.clone());
        }
        Ok(text)
    }

    fn execute(&mut self, tool: &Tool) -> Result<Outcome, WorkshopError> {
        let roots = &self.state.episodes.shop.roots;
        let mut outcome = self.workshop.execute(tool).map_err(|error| match error {
            WorkshopError::Evaluation { why } => WorkshopError::Evaluation { why: roots.without_paths(&why) },
            error => error,
        })?;
        // The guide has no paths of this machine, and what is shown of graphs is as the sample has it.
        let is_as_it_is = match tool {
            Tool::ReadGuide { .. } => true,
            Tool::ShowGraph { .. } => !outcome.text.starts_with(NOTHING),
            _ => false,
        };
        if !is_as_it_is {
            outcome.text = roots.without_paths(&outcome.text);
        }
        if let Effect::Wrote { source } = &outcome.effect {
            self.keep_alone(source);
        }
        Ok(outcome)
    }
}

impl Place {
    /// Removes the components of other sources: an episode has one at a time.
    fn keep_alone(&self, source: &str) {
        for folder in std::fs::read_dir(&self.work).into_iter().flatten().flatten() {
            if folder.file_name() != *source {
                let _ = std::fs::remove_dir_all(folder.path());
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Runs commands when there is room for them, and has evaluations queued as the client's own.
struct Queued {
    machinery: Machinery,
    state: State,
    client: Arc<str>,
    sample: String,
    /// Tells the episode from all others.
    key: String,
    handle: Handle,
    stop: watch::Receiver<bool>,
}

impl fmt::Debug for Queued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queued").field("client", &self.client).field("sample", &self.sample).finish_non_exhaustive()
    }
}

impl Hands for Queued {
    fn run(&self, words: Vec<OsString>, runs_pass: bool) -> Result<Ran, WorkshopError> {
        let shop = &self.state.episodes.shop;
        let mut stop = self.stop.clone();
        let line = shop.line(&self.client);
        let room = self.handle.block_on(async {
            let room = async { (line.acquire().await, shop.room.acquire().await, shop.calm.read().await) };
            tokio::select! { room = room => Some(room), _ = stop.wait_for(|stop| *stop) => None }
        });
        let Some(_room) = room else { return Err(WorkshopError::Stopped) };
        self.machinery.run(words, runs_pass)
    }

    fn evaluate(&self, pass: &Pass<'_>) -> Result<Evaluated, WorkshopError> {
        let file = |source| WorkshopError::File { path: pass.component.to_path_buf(), source };
        // One after the other: a component may be as large as a submission, and sessions are many.
        let handing_in = self.state.episodes.shop.handing_in.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = std::fs::read(pass.component).map_err(file)?;
        let payload = job::payload(&self.sample, Kind::Component, &bytes);
        drop(bytes);
        let key = format!("{KEYS}{} {}", self.key, pass.source);
        // What the queue does not take, and why, is for the client; what is wrong with its file is not.
        let queue = &self.state.queue;
        let refused = |error| WorkshopError::Evaluation { why: crate::problem::Problem::from(error).detail() };
        let ticket = queue.submit(&self.client, Some(&key), &payload).map_err(refused)?;
        drop((payload, handing_in));
        self.state.metrics.submitted.inc();
        self.state.changed();
        let ended = self.handle.block_on(self.ended(&ticket));
        // Nobody else knows its name: what came of it is the workshop's from here on, and nothing stays behind that would
        // count against the client. A source that came to nothing can be evaluated again.
        if !matches!(ended, Ok(Some(_))) {
            let _ = queue.cancel(&self.client, &ticket);
        }
        let _ = queue.remove(&self.client, &ticket);
        self.state.changed();
        let why = |why| WorkshopError::Evaluation { why };
        let status = ended.map_err(why)?.ok_or(WorkshopError::Stopped)?;
        let between = status.ended_ms.unwrap_or(0).saturating_sub(status.started_ms.unwrap_or(0));
        let Evaluation { outcome, .. } = Evaluation::new(ticket, status);
        let Some(document) = outcome.document else {
            return Err(why(outcome.trouble.unwrap_or_else(|| "it was cancelled".to_owned())));
        };
        Ok(Evaluated { document: document.get().to_owned(), device: Duration::from_millis(between) })
    }
}

impl Queued {
    /// What became of a job; nothing if somebody asked to stop before.
    async fn ended(&self, ticket: &Ticket) -> Result<Option<Status>, String> {
        let (mut changes, mut stop) = (self.state.changes.subscribe(), self.stop.clone());
        loop {
            // On this thread, which may wait for the disk: all others that may could be waiting here as well.
            let looked = self.state.queue.look(&self.client, ticket);
            let looked = looked.map_err(|error| crate::problem::Problem::from(error).detail())?;
            let status = looked.ok_or("it is not known any more")?;
            if status.state.is_end() {
                return Ok(Some(status).filter(|status| status.state != JobState::Cancelled || !*stop.borrow()));
            }
            tokio::select! { _ = changes.changed() => {}, _ = stop.wait_for(|stop| *stop) => return Ok(None) }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

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
