//! Grading without a server: what other processes put into the queue.

use crate::error::ServerError;
use crate::grading::{Grader, Grading, GradingEvent, GradingSettings, LOOK, ShutdownMode};
use passhost_queue::{Queue, Worker};
use std::sync::Arc;
use tokio::runtime::Builder;

/// Grades what waits in a queue until somebody wishes otherwise. What a worker of this name held before waits again. After
/// [`ShutdownMode::EndNow`] graders may be at work still when this returns: what they find nobody takes, and the process should
/// end.
///
/// # Errors
///
/// If the queue cannot be written.
pub fn work_alone(
    queue: Arc<dyn Queue>,
    worker: Worker,
    settings: GradingSettings,
    graders: Vec<Box<dyn Grader>>,
    mode: impl Fn() -> ShutdownMode,
    hear: impl Fn(GradingEvent<'_>) + Send + Sync + 'static,
) -> Result<(), ServerError> {
    // For leases alone.
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    queue.recover(&worker.name)?;
    let grading = Arc::new(Grading::new(queue, worker, settings, hear));
    let graders = grading.begin(graders, runtime.handle(), Arc::new(|grade: &mut dyn FnMut()| grade()));
    while mode() == ShutdownMode::GoOn && !graders.are_gone() {
        std::thread::sleep(LOOK);
    }
    let ended = graders.end(&grading, mode);
    // A call of the queue may wait for a database that is away.
    runtime.shutdown_background();
    ended
}
