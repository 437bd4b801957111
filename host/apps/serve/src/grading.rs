//! Jobs, one after the other, on the thread of each grader: of a server, or of a process that does nothing else.

use crate::error::ServerError;
use crate::held_jobs::{Busy, HeldJobs};
use crate::job::SubmittedJob;
use crate::leases::HeldLeases;
use passhost_queue::{Canary, CheckIn, Judge, Judged, Queue, QueueError, Taken, Ticket, Worker};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long nobody looks for a job that nobody told of.
const IDLE: Duration = Duration::from_secs(5);
/// How often is tried again what a full disk refused.
const AGAIN: Duration = Duration::from_secs(1);
/// How often is looked whether a process is to end.
pub const LOOK: Duration = Duration::from_millis(100);
/// How often is looked for what other processes on the queue did.
const OTHERS: Duration = Duration::from_secs(1);
/// How often a process says that it is there.
const CHECK_IN: Duration = Duration::from_secs(5);
/// Between looks for what another process announced, and for results to judge.
const PAUSE: Duration = Duration::from_millis(50);

/// What is to become of a process that grades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShutdownMode {
    /// It goes on.
    GoOn,
    /// Jobs that are being graded are ended, no other is begun, and what waits goes on waiting in the queue.
    End,
    /// Nobody waits for jobs that are being graded: they are given back, and wait again.
    EndNow,
}

/// Has something graded while nothing of the process disturbs that.
pub type Alone = dyn Fn(&mut dyn FnMut()) + Send + Sync;

/// What grades submissions on one device.
pub trait Grader: Send {
    /// Grades jobs for one sample, one after the other, until there is none.
    fn grade(&mut self, jobs: &mut dyn JobsOfSample);

    /// Evaluates what it knows the result of, where a fleet asks for that. An error says why it could not be measured.
    fn canary(&mut self) -> Option<Result<Canary, String>> {
        None
    }

    /// What it offers beside what all graders of the process do.
    fn offers(&self) -> Vec<String> {
        vec![]
    }
}

/// Jobs for one sample.
pub trait JobsOfSample {
    /// The next one, which begins now.
    fn next(&mut self) -> Option<SubmittedJob>;

    /// What came of it.
    fn ended(&mut self, graded: Graded);
}

/// What comes of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Graded {
    /// The text of a result document, in JSON.
    Document(String),
    /// One that says what this host could not do, and why it could not.
    Fault(String, String),
    /// The host could not grade it: why, for the client.
    Trouble(String),
}

/// What happens while jobs are graded.
#[derive(Debug)]
pub enum GradingEvent<'a> {
    /// A job was graded.
    Graded {
        /// Which.
        ticket: &'a Ticket,
        /// How long it took.
        time: Duration,
        /// Whether there is a document.
        has_document: bool,
        /// What the host could not do: another host tries the job.
        trouble: Option<&'a str>,
    },
    /// What came of a job is not taken: it was cancelled, or given to another worker since.
    Refused(&'a Ticket),
    /// The queue cannot be used now, and is asked again.
    Away(&'a QueueError),
    /// What came of a canary.
    Canary(&'a Canary),
    /// Why one was not measured: it is tried again, and nothing is taken before.
    NoCanary(&'a str),
    /// What the process learnt when it said that it is there.
    CheckedIn(&'a CheckIn),
}

/// Signs the document of a job; why it cannot, where that is so.
pub type Sign = dyn Fn(&Ticket, &str) -> Result<String, String> + Send + Sync;

/// How jobs are taken, and what is done with results.
#[derive(Clone)]
pub struct GradingSettings {
    /// How long a job is held without a word of its worker.
    pub lease: Duration,
    /// Jobs for one sample that are taken at once.
    pub batch: usize,
    /// Whether what was graded is held after the end began, for as long as the queue cannot be written.
    pub holds_results: bool,
    /// What signs results.
    pub sign: Option<Arc<Sign>>,
    /// How often graders evaluate their canaries, the first time before they take anything.
    pub canary: Duration,
}

/// What the graders of a process share.
pub struct Grading {
    pub queue: Arc<dyn Queue>,
    pub worker: Worker,
    pub settings: GradingSettings,
    /// Of the jobs that graders have.
    pub leases: HeldLeases,
    /// Changes whenever a job changes its state.
    pub changes: watch::Sender<u64>,
    /// Whether the process is about to end.
    pub ending: watch::Sender<bool>,
    /// The thread that judges, if one does.
    judging: OnceLock<Thread>,
    /// Whether nobody waits for what is graded.
    is_abandoned: AtomicBool,
    is_drained: AtomicBool,
    /// Graders that have jobs.
    pub busy: AtomicUsize,
    pub hear: Box<dyn Fn(GradingEvent<'_>) + Send + Sync>,
}

impl Grading {
    pub fn new(
        queue: Arc<dyn Queue>,
        worker: Worker,
        settings: GradingSettings,
        hear: impl Fn(GradingEvent<'_>) + Send + Sync + 'static,
    ) -> Grading {
        Grading {
            queue,
            worker,
            settings,
            leases: HeldLeases::default(),
            changes: watch::Sender::new(0),
            ending: watch::Sender::new(false),
            judging: OnceLock::new(),
            is_abandoned: AtomicBool::new(false),
            is_drained: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            hear: Box::new(hear),
        }
    }

    /// Tells everybody who waits that some job is in another state.
    pub fn changed(&self) {
        self.changes.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    /// Tells that a job is another host's now: its bytes did not arrive here as they were submitted.
    fn left(&self, ticket: &Ticket, why: &str) {
        (self.hear)(GradingEvent::Graded { ticket, time: Duration::ZERO, has_document: false, trouble: Some(why) });
        self.changed();
    }

    /// Whether the process is about to end.
    pub fn is_ending(&self) -> bool {
        *self.ending.borrow()
    }

    /// Begins to work, on a thread for each grader.
    pub fn begin(
        self: &Arc<Grading>,
        graders: Vec<Box<dyn Grader>>,
        handle: &Handle,
        alone: Arc<Alone>,
    ) -> WorkingGraders {
        let mut all = self.worker.clone();
        all.offers.extend(graders.iter().flat_map(|grader| grader.offers()));
        all.offers.sort();
        all.offers.dedup();
        let watched = Arc::clone(self);
        let watch = std::thread::spawn(move || watched.watch(&all));
        let work = |mut grader: Box<dyn Grader>| {
            let (grading, handle, alone) = (Arc::clone(self), handle.clone(), Arc::clone(&alone));
            std::thread::spawn(move || work(&grading, &*alone, &mut *grader, &handle))
        };
        WorkingGraders { graders: graders.into_iter().map(work).collect(), watch }
    }

    /// Judges results of other processes until the process ends, and says how many were refused.
    pub fn judge(&self, judge: &dyn Judge, refused: impl Fn(usize)) {
        let _end = EndOnPanic(self);
        let _ = self.judging.set(std::thread::current());
        while !self.is_ending() {
            match self.queue.judge(judge) {
                // They wait.
                Err(error) => {
                    (self.hear)(GradingEvent::Away(&error));
                    std::thread::sleep(OTHERS);
                }
                // While many wait, nobody is told of results.
                Ok(Judged { accepted: 0, refused: 0 }) => std::thread::park_timeout(PAUSE),
                Ok(judged) => {
                    refused(judged.refused);
                    self.changed();
                }
            }
        }
    }

    /// Tells those who wait of what other processes do with the queue, and these that this one is there.
    fn watch(&self, worker: &Worker) {
        let _end = EndOnPanic(self);
        let mut said: Option<Instant> = None;
        while !self.is_ending() {
            if said.is_none_or(|said| said.elapsed() >= CHECK_IN) {
                said = Some(Instant::now());
                if let Ok(check_in) = self.queue.check_in(worker) {
                    let takes_nothing = check_in.is_drained || check_in.quarantine.is_some();
                    self.is_drained.store(takes_nothing, Ordering::Relaxed);
                    (self.hear)(GradingEvent::CheckedIn(&check_in));
                }
            }
            let announced = self.queue.wait(OTHERS);
            self.judging.get().into_iter().for_each(Thread::unpark);
            self.changed();
            match announced {
                Ok(None) => return,
                Ok(Some(_)) => std::thread::sleep(PAUSE),
                Err(_) => std::thread::sleep(OTHERS),
            }
        }
    }

    /// Writes to the queue, and waits where it cannot be written: what was graded is held meanwhile. Whether it was written: when
    /// the process ends before, the job is to be given back.
    pub fn kept(
        &self,
        handle: &Handle,
        is_held: bool,
        mut write: impl FnMut() -> Result<(), QueueError>,
    ) -> Result<bool, QueueError> {
        loop {
            match write() {
                Err(error) if error.is_passing() => {
                    let is_over = !is_held || self.is_abandoned.load(Ordering::Relaxed);
                    if self.is_ending() && is_over {
                        return Ok(false);
                    }
                    (self.hear)(GradingEvent::Away(&error));
                    handle.block_on(self.pause());
                }
                done => return done.map(|()| true),
            }
        }
    }

    /// Waits for a while, or for the beginning of the end.
    async fn pause(&self) {
        let mut ending = self.ending.subscribe();
        let is_ending = *ending.borrow_and_update();
        let _ = timeout(AGAIN, ending.wait_for(|ending| *ending != is_ending)).await;
    }
}

/// Threads that grade, and the one that watches the queue.
pub struct WorkingGraders {
    graders: Vec<JoinHandle<Result<(), QueueError>>>,
    watch: JoinHandle<()>,
}

impl WorkingGraders {
    /// Whether none is left.
    pub fn are_gone(&self) -> bool {
        self.graders.iter().all(JoinHandle::is_finished)
    }

    /// Has them end what they grade, and begin nothing. When nobody waits any more, what is being graded is given back.
    pub fn end(self, grading: &Grading, mode: impl Fn() -> ShutdownMode) -> Result<(), ServerError> {
        let _ = grading.ending.send_replace(true);
        let waits_for = || match mode() {
            ShutdownMode::EndNow => {
                grading.is_abandoned.store(true, Ordering::Relaxed);
                grading.busy.load(Ordering::Relaxed)
            }
            _ => 0,
        };
        while self.graders.iter().filter(|grader| !grader.is_finished()).count() > waits_for() {
            std::thread::sleep(LOOK);
        }
        grading.leases.give_back(&*grading.queue)?;
        for grader in self.graders.into_iter().filter(JoinHandle::is_finished) {
            grader.join().map_err(|_| ServerError::Grader)??;
        }
        not_panicked(self.watch)
    }
}

/// Says so if a thread is over because of a panic.
pub fn not_panicked(thread: JoinHandle<()>) -> Result<(), ServerError> {
    if thread.is_finished() { thread.join().map_err(|_| ServerError::Grader) } else { Ok(()) }
}

/// Ends the process if its thread panics.
struct EndOnPanic<'a>(&'a Grading);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.ending.send_replace(true);
        }
    }
}

/// Ends the process when it is dropped.
struct EndOnDrop<'a>(&'a Grading);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.ending.send_replace(true);
    }
}

/// Works until the process ends. When this returns, or panics, the process ends, too: without a grader nothing is promised.
fn work(grading: &Arc<Grading>, alone: &Alone, grader: &mut dyn Grader, handle: &Handle) -> Result<(), QueueError> {
    let _end = EndOnDrop(grading);
    let (mut changes, mut ending) = (grading.changes.subscribe(), grading.ending.subscribe());
    let mut worker = grading.worker.clone();
    worker.offers.extend(grader.offers());
    let mut last_canary: Option<Instant> = None;
    while !grading.is_ending() {
        if last_canary.is_none_or(|last| last.elapsed() >= grading.settings.canary) {
            if !check_canary(grading, alone, grader, handle)? {
                handle.block_on(grading.pause());
                continue;
            }
            last_canary = Some(Instant::now());
        }
        let taken = match taken(grading, &worker) {
            // Its client is told, and others may wait.
            Err(QueueError::Lost(_)) => {
                grading.changed();
                continue;
            }
            Err(QueueError::Left(ticket, why)) => {
                grading.left(&ticket, &why);
                continue;
            }
            // Nothing is taken before there is room for what comes of it.
            Err(error) if error.is_passing() => {
                (grading.hear)(GradingEvent::Away(&error));
                handle.block_on(grading.pause());
                continue;
            }
            taken => taken?,
        };
        if taken.is_empty() {
            handle.block_on(async {
                let told = async {
                    tokio::select! { _ = changes.changed() => {}, _ = ending.changed() => {} }
                };
                // Whatever comes first, it is looked again.
                let _ = timeout(IDLE, told).await;
            });
            continue;
        }
        grading.changed();
        let mut jobs = HeldJobs::new(grading, taken, handle);
        alone(&mut || grader.grade(&mut jobs));
        jobs.end()?;
        grading.changed();
        changes.mark_unchanged();
    }
    Ok(())
}

/// Sees whether the host still measures as it should; false if that could not be measured now.
fn check_canary(
    grading: &Grading,
    alone: &Alone,
    grader: &mut dyn Grader,
    handle: &Handle,
) -> Result<bool, QueueError> {
    // Nobody waits for it, either, when the process ends at once.
    let _busy = Busy::new(grading);
    let mut canary = None;
    alone(&mut || canary = grader.canary());
    match canary {
        None => Ok(true),
        Some(Err(why)) => {
            (grading.hear)(GradingEvent::NoCanary(&why));
            Ok(false)
        }
        Some(Ok(canary)) => {
            if !canary.is_good {
                grading.is_drained.store(true, Ordering::Relaxed);
            }
            (grading.hear)(GradingEvent::Canary(&canary));
            grading.kept(handle, true, || grading.queue.report_canary(&grading.worker, &canary)).map(|_| true)
        }
    }
}

/// The next job, with others for the same sample.
fn taken(grading: &Grading, worker: &Worker) -> Result<Vec<Taken>, QueueError> {
    let GradingSettings { lease, batch, .. } = grading.settings;
    if grading.is_drained.load(Ordering::Relaxed) {
        return Ok(vec![]);
    }
    let Some(first) = grading.queue.take_as(worker, lease)? else { return Ok(vec![]) };
    let more = match batch {
        0 | 1 => Ok(Default::default()),
        _ => grading.queue.take_like(worker, &first.lease, batch - 1, lease),
    };
    // The first one is held whatever becomes of others.
    let more = more.unwrap_or_default();
    more.left.iter().for_each(|(ticket, why)| grading.left(ticket, why));
    Ok(std::iter::once(first).chain(more.jobs).collect())
}
