//! Does one thing to every graph of many samples, several samples at a time.

use crate::CorpusError;
use crate::outcome::{Failure, GraphReport, Outcome, SampleReport};
use crate::worker::{Worker, Workplace};
use passhost_child::Memo;
use passhost_sample::SampleText;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Bytes of a worker's stack. The parser recurses as deep as the reader's own limit on nesting lets it; memory is taken
/// only where it is used.
const STACK: usize = 64 << 20;
/// How often the progress line is looked at while no sample finishes.
const TICK: Duration = Duration::from_millis(200);

/// What is done to each graph.
pub trait Task: Sync {
    /// What is found out about a graph.
    type Found: Send;

    /// Looks at variant `index` of a sample.
    fn look(&self, worker: &mut Worker, sample: &SampleText, index: usize) -> GraphReport<Self::Found>;

    /// What is known of a sample already, so that nothing needs to be done.
    fn known(&self, _sample: &SampleText) -> Option<Vec<GraphReport<Self::Found>>> {
        None
    }
}

/// A task that asks one thing of each graph and needs nothing of those that fail.
pub struct Each<F>(pub F);

impl<T: Send, F: Fn(&mut Worker, &SampleText, usize) -> Result<T, Failure> + Sync> Task for Each<F> {
    type Found = T;

    fn look(&self, worker: &mut Worker, sample: &SampleText, index: usize) -> GraphReport<T> {
        GraphReport::new(&sample.variants()[index].name, (self.0)(worker, sample, index))
    }
}

/// Who does it.
pub struct Crew<'a> {
    /// Samples that are worked on at once.
    pub jobs: usize,
    /// Where each worker works.
    pub place: Workplace,
    /// What all of them know.
    pub memo: &'a Arc<Memo>,
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// What a survey says while it runs.
#[derive(Debug)]
pub enum Heard<'a, Found> {
    /// Nothing has finished for a while.
    Nothing,
    /// A sample is finished.
    Finished(&'a SampleReport<Found>),
}

/// Looks at every graph of the samples at `paths`; returns a report for each, in their order. `hear` hears of each sample
/// as soon as it is finished, and now and then if none is.
///
/// A sample that cannot be opened, and one that crashes a process, costs only itself.
///
/// # Errors
///
/// If processes cannot be had, so that there is nothing to find out, or what `hear` says. Then the whole survey stops.
pub fn survey<T: Task, E: From<CorpusError>>(
    paths: &[PathBuf],
    crew: &Crew<'_>,
    task: &T,
    mut hear: impl FnMut(Heard<'_, T::Found>) -> Result<(), E>,
) -> Result<Vec<SampleReport<T::Found>>, E> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let mut reports: Vec<Option<SampleReport<T::Found>>> = paths.iter().map(|_| None).collect();
    let end = std::thread::scope(|scope| {
        for number in 0..crew.jobs.min(paths.len()) {
            let sender = sender.clone();
            let (next, stopped) = (&next, &stopped);
            let work = move || {
                let mut worker = Worker::new(crew.place.clone(), crew.memo);
                while !stopped.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(index) else { return };
                    let report = report(path, &mut worker, task);
                    let report = match worker.take_trouble() {
                        Some(trouble) => Err(CorpusError::Host(trouble)),
                        None => Ok(report),
                    };
                    if sender.send((index, report)).is_err() {
                        return;
                    }
                }
            };
            let builder = std::thread::Builder::new().name(format!("worker {number}")).stack_size(STACK);
            if let Err(error) = builder.spawn_scoped(scope, work) {
                stopped.store(true, Ordering::Relaxed);
                return Err(CorpusError::Host(error.to_string()).into());
            }
        }
        drop(sender);
        loop {
            let (index, report) = match receiver.recv_timeout(TICK) {
                Ok(finished) => finished,
                Err(RecvTimeoutError::Timeout) => {
                    hear(Heard::Nothing)?;
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let heard = report.map_err(E::from).and_then(|report| hear(Heard::Finished(&report)).map(|()| report));
            match heard {
                Ok(report) => reports[index] = Some(report),
                Err(stop) => {
                    stopped.store(true, Ordering::Relaxed);
                    return Err(stop);
                }
            }
        }
    });
    end?;
    Ok(reports.into_iter().flatten().collect())
}

/// Opens one sample and looks at its graphs.
fn report<T: Task>(path: &Path, worker: &mut Worker, task: &T) -> SampleReport<T::Found> {
    let shown = path.display().to_string();
    let sample = match SampleText::open(path) {
        Ok(sample) => sample,
        Err(error) => {
            let graphs = vec![GraphReport::new("", Err(Failure::of(error, false)))];
            return SampleReport { sample: shown, sha256: None, graphs, known: false };
        }
    };
    let sha256 = Some(sample.sha256().to_owned());
    if let Some(graphs) = task.known(&sample) {
        return SampleReport { sample: shown, sha256, graphs, known: true };
    }
    let graphs = (0..sample.variants().len()).map(|index| {
        // A bug that shows on one sample must not cost the work on thousands.
        catch_unwind(AssertUnwindSafe(|| task.look(worker, &sample, index))).unwrap_or_else(|_| {
            worker.start_afresh();
            let failure = Failure::new(Outcome::Crashed, "passhost panicked on it; please report this sample");
            GraphReport::new(&sample.variants()[index].name, Err(failure))
        })
    });
    SampleReport { sample: shown, sha256, graphs: graphs.collect(), known: false }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking; one of them is about that")]
mod tests {
    use super::*;

    #[test]
    fn a_sample_that_cannot_be_opened_and_one_that_panics_cost_only_themselves() {
        let directory = tempfile::tempdir().unwrap();
        let mut paths = vec![];
        for name in ["good", "hidden_panic", "missing", "also_good"] {
            let path = directory.path().join(name);
            if name != "missing" {
                std::fs::create_dir(&path).unwrap();
                std::fs::write(path.join("model.py"), "").unwrap();
                std::fs::write(path.join("weight_meta.py"), "").unwrap();
            }
            paths.push(path);
        }
        let task = Each(|_: &mut Worker, sample: &SampleText, _| match sample.name() {
            "hidden_panic" => panic!("on purpose"),
            name => Ok(name.to_owned()),
        });
        let memo = Arc::new(Memo::default());
        let crew = Crew { jobs: 2, place: Workplace::for_types(Duration::from_secs(60)), memo: &memo };
        let mut heard = 0;
        let hear = |event: Heard<'_, String>| {
            heard += usize::from(matches!(event, Heard::Finished(_)));
            Ok::<(), CorpusError>(())
        };
        let reports = survey(&paths, &crew, &task, hear).unwrap();
        let outcomes: Vec<Outcome> = reports.iter().map(|report| report.graphs[0].outcome).collect();
        assert_eq!(outcomes, [Outcome::Ok, Outcome::Crashed, Outcome::Malformed, Outcome::Ok]);
        assert_eq!(reports[3].graphs[0].found.as_deref(), Some("also_good"));
        assert_eq!(heard, 4);
    }

    #[test]
    fn a_survey_stops_where_its_results_cannot_be_kept() {
        let paths = vec![PathBuf::from("/nowhere/at/all"); 8];
        let task = Each(|_: &mut Worker, _: &SampleText, _| Ok(()));
        let memo = Arc::new(Memo::default());
        let crew = Crew { jobs: 2, place: Workplace::for_types(Duration::from_secs(60)), memo: &memo };
        let hear = |event: Heard<'_, ()>| match event {
            Heard::Nothing => Ok(()),
            Heard::Finished(_) => Err(CorpusError::JournalLine(std::io::ErrorKind::StorageFull.into())),
        };
        assert!(matches!(survey(&paths, &crew, &task, hear), Err(CorpusError::JournalLine(_))));
    }
}
