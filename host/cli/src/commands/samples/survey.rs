//! Does one thing to every graph of many samples, several samples at a time.

use super::memo::Memo;
use super::outcome::{Failure, GraphReport, Outcome, SampleReport};
use super::progress::Progress;
use super::worker::{Worker, Workplace};
use crate::arguments::SurveyArguments;
use crate::{Exit, Stop};
use passhost_sample::Sample;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
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
    fn look(&self, worker: &mut Worker<'_>, sample: &Sample, index: usize) -> GraphReport<Self::Found>;

    /// What is known of a sample already, so that nothing needs to be done.
    fn known(&self, _sample: &Sample) -> Option<Vec<GraphReport<Self::Found>>> {
        None
    }
}

/// A task that asks one thing of each graph and needs nothing of those that fail.
pub struct Each<F>(pub F);

impl<T: Send, F: Fn(&mut Worker<'_>, &Sample, usize) -> Result<T, Failure> + Sync> Task for Each<F> {
    type Found = T;

    fn look(&self, worker: &mut Worker<'_>, sample: &Sample, index: usize) -> GraphReport<T> {
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
    pub memo: &'a Memo,
}

impl<'a> Crew<'a> {
    /// As many as the user wants, or as there are cores.
    pub fn new(arguments: &SurveyArguments, place: Workplace, memo: &'a Memo) -> Crew<'a> {
        Crew { jobs: arguments.jobs.map_or_else(cores, |jobs| jobs as usize), place, memo }
    }
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Looks at every graph of the samples at `paths`; returns a report for each, in their order. `done` hears of each
/// sample as soon as it is finished.
///
/// A sample that cannot be opened, and one that crashes a device process, costs only itself. Without a device there is
/// nothing to be had and the whole survey stops.
pub fn survey<T: Task>(
    paths: &[PathBuf],
    crew: &Crew<'_>,
    task: &T,
    progress: &mut Progress,
    mut done: impl FnMut(&SampleReport<T::Found>) -> Result<(), Stop>,
) -> Result<Vec<SampleReport<T::Found>>, Stop> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let mut reports: Vec<Option<SampleReport<T::Found>>> = paths.iter().map(|_| None).collect();
    let end = std::thread::scope(|scope| {
        for number in 0..crew.jobs.min(paths.len()) {
            let sender = sender.clone();
            let (next, stopped) = (&next, &stopped);
            let work = move || {
                let mut worker = Worker::new(crew.place, crew.memo);
                while !stopped.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(index) else { return };
                    let report = report(path, &mut worker, task);
                    let report = match worker.take_trouble() {
                        Some(trouble) => Err(Stop::new(Exit::Host, trouble)),
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
                return Err(Stop::new(Exit::Host, error));
            }
        }
        drop(sender);
        loop {
            let (index, report) = match receiver.recv_timeout(TICK) {
                Ok(finished) => finished,
                Err(RecvTimeoutError::Timeout) => {
                    progress.show();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let heard = report.and_then(|report| {
                progress.advance(&report);
                done(&report).map(|()| report)
            });
            match heard {
                Ok(report) => reports[index] = Some(report),
                Err(stop) => {
                    stopped.store(true, Ordering::Relaxed);
                    return Err(stop);
                }
            }
        }
    });
    progress.clear();
    end?;
    Ok(reports.into_iter().flatten().collect())
}

/// Opens one sample and looks at its graphs.
fn report<T: Task>(path: &Path, worker: &mut Worker<'_>, task: &T) -> SampleReport<T::Found> {
    let shown = path.display().to_string();
    let sample = match Sample::open(path) {
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
            worker.forget_device();
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
    use crate::terminal::Terminal;

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
        let task = Each(|_: &mut Worker<'_>, sample: &Sample, _| match sample.name() {
            "hidden_panic" => panic!("on purpose"),
            name => Ok(name.to_owned()),
        });
        let memo = Memo::new();
        let crew = Crew { jobs: 2, place: Workplace::for_types(Duration::from_secs(60)), memo: &memo };
        let mut progress = Progress::new(&Terminal::detect(), true, paths.len());
        let mut heard = 0;
        let done = |_: &SampleReport<String>| {
            heard += 1;
            Ok(())
        };
        let reports = survey(&paths, &crew, &task, &mut progress, done).map_err(|stop| stop.error).unwrap();
        let outcomes: Vec<Outcome> = reports.iter().map(|report| report.graphs[0].outcome).collect();
        assert_eq!(outcomes, [Outcome::Ok, Outcome::Crashed, Outcome::Malformed, Outcome::Ok]);
        assert_eq!(reports[3].graphs[0].found.as_deref(), Some("also_good"));
        assert_eq!(heard, 4);
    }

    #[test]
    fn a_survey_stops_where_its_results_cannot_be_kept() {
        let paths = vec![PathBuf::from("/nowhere/at/all"); 8];
        let task = Each(|_: &mut Worker<'_>, _: &Sample, _| Ok(()));
        let memo = Memo::new();
        let crew = Crew { jobs: 2, place: Workplace::for_types(Duration::from_secs(60)), memo: &memo };
        let mut progress = Progress::new(&Terminal::detect(), true, paths.len());
        let end = survey(&paths, &crew, &task, &mut progress, |_| Err(Stop::usage("the disk is full")));
        assert!(end.is_err_and(|stop| stop.error.to_string().contains("disk")));
    }
}
