//! A batch: workers, one for each device, and one who hears of all that they do.

use super::report::Reporter;
use super::work::{BatchEvent, BatchWork, SampleQueue};
use super::worker::DeviceWorker;
use crate::supervisor::Supervisor;
use passhost_child::cores;
use passhost_child::device::Device;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// How often whoever hears of a batch hears that nothing happened.
const TICK: Duration = Duration::from_millis(100);

impl Supervisor {
    /// Evaluates every plugin on every sample, on several devices side by side. A variant is read once, and measured under
    /// one plugin after the other. `hear` is called on this thread, and often.
    ///
    /// # Errors
    ///
    /// What `hear` says; then no variant is begun any more.
    pub fn bench<E>(
        &self,
        bench: &BatchWork<'_>,
        devices: &mut [Device],
        mut hear: impl FnMut(BatchEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let timing: Vec<u32> = devices.iter().flat_map(Device::cores).collect();
        let cores = cores::for_checking(&timing);
        let queue = SampleQueue::new(bench);
        hear_of(bench, &mut hear, |events| {
            std::thread::scope(|scope| {
                for (number, device) in devices.iter_mut().enumerate() {
                    let reporter = Reporter { work: bench, events: events.clone() };
                    let worker = DeviceWorker { supervisor: self, queue: &queue, number, reporter };
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
    bench: &BatchWork<'_>,
    hear: &mut impl FnMut(BatchEvent) -> Result<(), E>,
    work: impl FnOnce(Sender<BatchEvent>) + Send,
) -> Result<(), E> {
    let (tell, heard) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || work(tell));
        let mut end = Ok(());
        loop {
            let next = match heard.recv_timeout(TICK) {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout) => BatchEvent::Nothing,
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
