//! A batch: workers, one for each device, and one who hears of all that they do.

use super::finished::Finished;
use super::header::Header;
use super::line::Line;
use super::work::Queue;
use super::worker::Worker;
use crate::evaluate::Checking;
use crate::supervisor::Supervisor;
use passhost_child::device::Device;
use passhost_child::{Plugin, cores};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// How often whoever hears of a batch hears that nothing happened.
const TICK: Duration = Duration::from_millis(100);

/// What a batch is to do.
pub struct Bench<'a> {
    /// With its devices, plugins and samples.
    pub header: &'a Header,
    /// The plugins of the header.
    pub plugins: &'a [Plugin],
    /// What is not done again.
    pub finished: &'a Finished,
    /// Who checks for each device.
    pub checking: Checking,
    /// Once it is set, no variant is begun.
    pub stop: &'a AtomicBool,
}

impl Bench<'_> {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What happens in a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// Nothing for a while.
    Nothing,
    /// A sample was opened, of which so many lines are to come.
    Begun {
        /// Position in the header.
        sample: usize,
        /// Variants, each plugin counted, that are not finished.
        left: usize,
    },
    /// Something has ended.
    Line {
        /// Position of the sample in the header.
        sample: usize,
        /// To be kept.
        line: Line,
    },
    /// Nothing more comes of a sample.
    Ended {
        /// Position in the header.
        sample: usize,
    },
}

impl Supervisor {
    /// Evaluates every plugin on every sample, on several devices side by side. A variant is read once, and measured under
    /// one plugin after the other. `hear` is called on this thread, and often.
    ///
    /// # Errors
    ///
    /// What `hear` says; then no variant is begun any more.
    pub fn bench<E>(
        &self,
        bench: &Bench<'_>,
        devices: &mut [Device],
        mut hear: impl FnMut(Heard) -> Result<(), E>,
    ) -> Result<(), E> {
        let timing: Vec<u32> = devices.iter().flat_map(Device::cores).collect();
        let cores = cores::for_checking(&timing);
        let queue = Queue::new(bench);
        hear_of(bench, &mut hear, |tell| {
            std::thread::scope(|scope| {
                for (number, device) in devices.iter_mut().enumerate() {
                    let worker = Worker { supervisor: self, bench, queue: &queue, number, tell: tell.clone() };
                    let cores = &cores;
                    scope.spawn(move || worker.run(device, cores));
                }
            });
        })
    }
}

/// Has `work` done on another thread, and `hear` called on this one with what it tells, and often. What `hear` says to end
/// the batch is returned once the work has ended.
pub(crate) fn hear_of<E>(
    bench: &Bench<'_>,
    hear: &mut impl FnMut(Heard) -> Result<(), E>,
    work: impl FnOnce(Sender<Heard>) + Send,
) -> Result<(), E> {
    let (tell, heard) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || work(tell));
        let mut end = Ok(());
        loop {
            let next = match heard.recv_timeout(TICK) {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout) => Heard::Nothing,
                Err(RecvTimeoutError::Disconnected) => return end,
            };
            if end.is_ok() {
                end = hear(next);
            }
            if end.is_err() {
                bench.stop.store(true, Ordering::Relaxed);
            }
        }
    })
}
