//! Many attempts: some side by side, each with a trajectory of its own, in a directory that a later run goes on with.

use crate::attempt::{AttemptError, AttemptLoop, Budget};
use crate::endpoint::Endpoint;
use crate::trajectory::{Trajectory, TrajectoryError, TrajectoryLine, read_file};
use passhost_agent_tools::{AgentTools, AgentToolsError, CliRunner, Objects, TaskFacts, sha256};
use passhost_child::LockedFile;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Names the form of the settings.
pub const SCHEMA: &str = "passhost.agent/1";

/// What a run was begun with. Who goes on with it must want the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSettings {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of passhost.
    pub host: String,
    /// The model that is asked.
    pub model: String,
    /// Whether it is told of tools in the format for them.
    pub has_tools: bool,
    /// How freely it picks its words.
    pub temperature: Option<f64>,
    /// Directories of the samples.
    pub samples: Vec<PathBuf>,
    /// Attempts on each.
    pub attempts: u32,
    /// What each attempt may take.
    pub budget: Budget,
    /// Options of evaluations.
    pub options: Vec<String>,
}

impl AgentSettings {
    /// The policy that evaluations go by, as it was named.
    pub fn policy(&self) -> &str {
        let named = self.options.iter().skip_while(|word| *word != "--policy").nth(1);
        named.map_or("open", String::as_str)
    }
}

/// Why a directory is none that a run can be in.
#[derive(Debug, thiserror::Error)]
pub enum AgentRunError {
    /// A file cannot be used.
    #[error("cannot use `{path}`: {1}", path = .0.display())]
    File(PathBuf, io::Error),
    /// The directory cannot be made.
    #[error("cannot make `{path}`: {1}; name another directory by --out DIR", path = .0.display())]
    Directory(PathBuf, io::Error),
    /// Something is there, and nobody asked to go on with it.
    #[error("`{}` holds a run; --resume goes on with it, --out DIR begins another one", .0.display())]
    NotEmpty(PathBuf),
    /// There is no run in it.
    #[error("`{}` holds no run; `passhost agent --out DIR` makes them", .0.display())]
    NoRun(PathBuf),
    /// Another process is at work in it.
    #[error("`{}` is in use by another run; wait for its end, or write to another directory (--out DIR)", .0.display())]
    InUse(PathBuf),
    /// The run was begun with something else.
    #[error("`{}` cannot be resumed: {item} was {recorded} and is {now}; go on with what it was begun with, or begin another run (--out DIR)", path.display())]
    Differs {
        /// The directory.
        path: PathBuf,
        /// What differs.
        item: String,
        /// As it was.
        recorded: String,
        /// As it is asked for.
        now: String,
    },
    /// A trajectory cannot be read.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
}

pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> AgentRunError {
    |source| AgentRunError::File(path.into(), source)
}

/// A directory with a run in it, which nobody else works on meanwhile.
#[derive(Debug)]
pub struct AgentRun {
    directory: PathBuf,
    settings: AgentSettings,
    /// What is known of samples, or nothing of one that cannot be scored, which was said.
    known: Mutex<BTreeMap<PathBuf, Option<TaskFacts>>>,
    _lock: LockedFile,
}

/// Who works on a run.
#[derive(Debug, Clone, Copy)]
pub struct RunWorkers<'a> {
    /// Who is asked.
    pub endpoint: &'a Endpoint,
    /// Who executes tools.
    pub runner: &'a CliRunner,
    /// How passes are written.
    pub guide: &'static str,
    /// The component of the built-in fusion, if it is there.
    pub fusion: Option<&'a Path>,
    /// Attempts side by side.
    pub parallel: usize,
}

/// An attempt that others read.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAttempt {
    /// Name of its file, without the ending.
    pub name: String,
    /// All that happened, the beginning included.
    pub lines: Vec<TrajectoryLine>,
}

/// What happens in a run, while it happens.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// A line of an attempt is on the disk.
    Line(&'a AttemptJob, &'a TrajectoryLine),
    /// An attempt did not come to its end.
    Failed(&'a AttemptJob, &'a AttemptError),
}

/// One attempt of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptJob {
    /// Directory of the sample.
    pub sample: PathBuf,
    /// Which attempt on it, from 1.
    pub attempt: u32,
}

impl AttemptJob {
    /// Name of the sample.
    pub fn sample_name(&self) -> String {
        let name = self.sample.file_name().unwrap_or_default().to_string_lossy();
        passhost_result::untrusted::one_line(&name, 120)
    }

    /// A name for files, which no other job of the run has.
    pub fn name(&self) -> String {
        format!("{}-{}", self.task_name(), self.attempt)
    }

    /// A name for files, which all attempts on the sample have and no others.
    fn task_name(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name: String = self.sample_name().chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let hash = sha256(self.sample.as_os_str().as_encoded_bytes());
        format!("{name}-{}", &hash[..8])
    }
}

/// Folders and files of a run.
const ATTEMPTS: &str = "attempts";
const OBJECTS: &str = "objects";
const WORK: &str = "work";
const SAMPLES: &str = "samples";
/// The file of what a run was asked for, by which its directory is known.
pub const SETTINGS: &str = "run.json";
const LOCK: &str = ".lock";

/// Where a run in a directory is recorded: a file, and directories of which all belongs to it.
pub fn files(directory: &Path) -> [PathBuf; 3] {
    [SETTINGS, ATTEMPTS, OBJECTS].map(|name| directory.join(name))
}

impl AgentRun {
    /// Begins a run in a directory, or goes on with the one in it.
    ///
    /// # Errors
    ///
    /// If that cannot be.
    pub fn open(directory: &Path, settings: AgentSettings, resume: bool) -> Result<AgentRun, AgentRunError> {
        for folder in [ATTEMPTS, OBJECTS, WORK, SAMPLES] {
            let path = directory.join(folder);
            std::fs::create_dir_all(&path).map_err(|source| AgentRunError::Directory(path.clone(), source))?;
        }
        let path = directory.join(LOCK);
        let lock = File::create(&path).map_err(file(&path))?;
        let lock = LockedFile::try_new(lock).map_err(|_| AgentRunError::InUse(directory.into()))?;
        let path = directory.join(SETTINGS);
        match std::fs::read_to_string(&path) {
            Ok(_) if !resume => return Err(AgentRunError::NotEmpty(directory.into())),
            Ok(recorded) => same(directory, &recorded, &settings)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                write(&path, &settings).map_err(file(&path))?;
            }
            Err(error) => return Err(file(&path)(error)),
        }
        Ok(AgentRun { directory: directory.into(), settings, known: Mutex::default(), _lock: lock })
    }

    /// Makes every attempt that has not ended, some of them side by side. Whether all came to their end.
    pub fn work(&self, workers: &RunWorkers<'_>, hear: &(dyn Fn(&RunEvent<'_>) + Sync)) -> bool {
        let jobs = self.jobs();
        let (next, whole) = (AtomicUsize::new(0), AtomicBool::new(true));
        std::thread::scope(|scope| {
            for _ in 0..workers.parallel.clamp(1, jobs.len().max(1)) {
                scope.spawn(|| {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let Err(error) = self.attempt(job, workers, hear) else { continue };
                        whole.store(false, Ordering::Relaxed);
                        hear(&RunEvent::Failed(job, &error));
                        if error.is_stop() {
                            break;
                        }
                        if error.is_denied() {
                            next.store(jobs.len(), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        whole.into_inner()
    }

    /// Every sample's first attempt comes before any second one.
    fn jobs(&self) -> Vec<AttemptJob> {
        let AgentSettings { samples, attempts, .. } = &self.settings;
        let of_round = |attempt| samples.iter().map(move |sample| AttemptJob { sample: sample.clone(), attempt });
        (1..=*attempts).flat_map(of_round).collect()
    }

    fn attempt(
        &self,
        job: &AttemptJob,
        workers: &RunWorkers<'_>,
        hear: &(dyn Fn(&RunEvent<'_>) + Sync),
    ) -> Result<(), AttemptError> {
        let path = self.directory.join(ATTEMPTS).join(format!("{}.jsonl", job.name()));
        let (trajectory, before) = Trajectory::open(&path)?;
        if matches!(before.last(), Some(TrajectoryLine::End { .. })) {
            return Ok(());
        }
        let facts = if before.is_empty() { self.facts(job, workers)? } else { Some(TaskFacts::default()) };
        let Some(facts) = facts else { return Ok(()) };
        let work = self.directory.join(WORK).join(job.name());
        let attempt = AttemptLoop {
            endpoint: workers.endpoint,
            tools: self.tools(job, workers, &work)?,
            budget: self.settings.budget,
            sample: job.sample_name(),
            number: job.attempt,
            guide: workers.guide,
            facts,
            stop: &*workers.runner.stop,
            watch: &|line| hear(&RunEvent::Line(job, line)),
        };
        attempt.run(trajectory, &before)?;
        // Sources and results are among the objects; components are made anew of the sources.
        Ok(std::fs::remove_dir_all(&work).map_err(AgentToolsError::file(work))?)
    }

    /// What is known of a sample, by an evaluation before anything is asked. Of one that cannot be scored that is said once,
    /// and there is nothing.
    fn facts(&self, job: &AttemptJob, workers: &RunWorkers<'_>) -> Result<Option<TaskFacts>, AttemptError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = known.get(&job.sample) {
            return Ok(facts.clone());
        }
        // The result stays there, so that a run that goes on has it.
        let files = self.directory.join(SAMPLES).join(job.task_name());
        let facts = self.tools(job, workers, &files)?.facts(workers.fusion);
        if matches!(facts, Ok(_) | Err(AgentToolsError::Sample(_))) {
            known.insert(job.sample.clone(), facts.as_ref().ok().cloned());
        }
        Ok(Some(facts?))
    }

    fn tools(&self, job: &AttemptJob, workers: &RunWorkers<'_>, files: &Path) -> Result<AgentTools, AgentToolsError> {
        let objects = self.directory.join(OBJECTS);
        let mut objects = Objects::open(&objects).map_err(AgentToolsError::file(&objects))?;
        if let Some(key) = workers.endpoint.key().cloned() {
            objects = objects.cleaned(Arc::new(move |text| key.removed_from(text)));
        }
        AgentTools::open(Arc::new(workers.runner.clone()), objects, &job.sample, files, workers.guide)
    }
}

/// The settings and the attempts of a run, by their names.
///
/// # Errors
///
/// If there is none, or it cannot be read.
pub fn read(directory: &Path) -> Result<(AgentSettings, Vec<RecordedAttempt>), AgentRunError> {
    let path = directory.join(SETTINGS);
    let text = std::fs::read_to_string(&path).map_err(|_| AgentRunError::NoRun(directory.into()))?;
    let settings: AgentSettings = serde_json::from_str(&text).map_err(|error| file(&path)(error.into()))?;
    let folder = directory.join(ATTEMPTS);
    let mut recorded = vec![];
    for entry in std::fs::read_dir(&folder).map_err(file(&folder))? {
        let path = entry.map_err(file(&folder))?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        recorded.push(RecordedAttempt { name, lines: read_file(&path)? });
    }
    recorded.retain(|recorded| !recorded.lines.is_empty());
    recorded.sort_by(|one, other| one.name.cmp(&other.name));
    Ok((settings, recorded))
}

/// A source or a result document of a run, by its hash.
///
/// # Errors
///
/// If it is not there, or is another one.
pub fn text(directory: &Path, name: &str) -> Result<String, AgentRunError> {
    let folder = directory.join(OBJECTS);
    Objects::open(&folder).and_then(|objects| objects.get(name)).map_err(file(&folder.join(name)))
}

/// Names the first setting that differs.
fn same(directory: &Path, recorded: &str, now: &AgentSettings) -> Result<(), AgentRunError> {
    let recorded: Value = serde_json::from_str(recorded).unwrap_or_default();
    let now = serde_json::to_value(now).unwrap_or_default();
    let differs = now.as_object().into_iter().flatten().find(|(item, value)| recorded[item.as_str()] != **value);
    let Some((item, value)) = differs else { return Ok(()) };
    let (recorded, now) = (recorded[item.as_str()].to_string(), value.to_string());
    Err(AgentRunError::Differs { path: directory.into(), item: item.clone(), recorded, now })
}

/// Beside the file and renamed onto it, so that it is whole or not there.
fn write(path: &Path, settings: &AgentSettings) -> io::Result<()> {
    let partial = path.with_extension("partial");
    let mut file = File::create(&partial)?;
    file.write_all(serde_json::to_string_pretty(settings)?.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&partial, path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn settings(model: &str) -> AgentSettings {
        AgentSettings {
            schema: SCHEMA.into(),
            host: "0".into(),
            model: model.into(),
            has_tools: true,
            temperature: Some(0.7),
            samples: vec!["a/one".into(), "b/one".into()],
            attempts: 2,
            budget: Budget { steps: 3, tokens: None, seconds: Some(0.1), device_seconds: None },
            options: vec![],
        }
    }

    #[test]
    fn a_run_goes_on_with_what_it_was_begun_with_and_nobody_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let open = |model: &str, resume| AgentRun::open(directory.path(), settings(model), resume);
        assert!(matches!(read(directory.path()), Err(AgentRunError::NoRun(_))));
        let run = open("m", false).unwrap();
        assert!(matches!(open("m", true), Err(AgentRunError::InUse(_))));
        let names: Vec<String> = run.jobs().iter().map(AttemptJob::name).collect();
        assert!(names[0].starts_with("one-") && names[0].ends_with("-1") && names[0] != names[1], "{names:?}");
        assert!(names[3].ends_with("-2"), "{names:?}");
        drop(run);
        assert!(matches!(open("m", false), Err(AgentRunError::NotEmpty(_))));
        let error = open("other", true).unwrap_err().to_string();
        assert!(error.contains("model was \"m\" and is \"other\""), "{error}");
        open("m", true).unwrap();
        assert_eq!(read(directory.path()).unwrap(), (settings("m"), vec![]));
    }
}
