//! Requests to the children of a device, and where their time went.

use super::request::fits;
use super::{Device, DeviceChildError, DeviceProcess, LOADS, LoadRequest, OUT_OF_TURN};
use crate::schedules;
use passhost_ir::{Graph, InputSpec};
use passhost_protocol::device::{
    DeviceStage, EvaluationReport, ExternalRun, FromDevice, LoadReport, ProcessTiming, ReferenceError, RewriteError,
    RewriteJob, RewriteTask, SingleRun, SingleRunError, TimingError, ToDevice,
};
use passhost_result::{DivergentNode, ShownBy, Spent, TunedKernel, Work};
use std::time::{Duration, Instant};

/// What a reply of this kind holds; none if it is of another.
macro_rules! held_by {
    ($kind:ident) => {
        |reply| match reply {
            FromDevice::$kind(held) => Some(held),
            _ => None,
        }
    };
}

/// Requests of one who works with a device, whose time is theirs.
pub struct DeviceSession<'d> {
    pub(super) device: &'d mut Device,
    pub(super) spent: Spent,
}

impl DeviceSession<'_> {
    /// The device.
    pub fn device(&self) -> &Device {
        self.device
    }

    /// Where the time of all requests went.
    pub fn end(self) -> Spent {
        self.spent
    }

    /// Starts the children that only time, which get ready while something else happens. What does not start now is
    /// started when it is needed, and says then why.
    pub fn start_others(&mut self) {
        for process in &mut self.device.processes[1..] {
            if process.child.is_none() {
                let _ = process.begin(&self.device.setup);
            }
        }
    }

    /// Asks the children that only time to load a program, which they do while something else happens. Those that are not
    /// ready load it when it is needed, as does one whose load fails.
    pub fn begin_loads(&mut self, request: LoadRequest<'_>) {
        for process in &mut self.device.processes[1..] {
            if process.is_idle() && !process.holds(request) && process.loads < LOADS {
                process.begin_load(request);
            }
        }
    }

    /// Runs a reference program in a child and keeps it there; one that holds it already does not run it again. `watch` hears
    /// of each stage that the child reaches.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn load(
        &mut self,
        process: usize,
        request: LoadRequest<'_>,
        limit: Duration,
        watch: &mut dyn FnMut(DeviceStage),
    ) -> Result<Result<LoadReport, ReferenceError>, DeviceChildError> {
        self.finish_load(process, limit);
        let own = &mut self.device.processes[process];
        if let Some((_, loaded)) = own.held.as_ref().filter(|_| own.holds(request)) {
            return Ok(Ok(loaded.clone()));
        }
        own.loads += 1;
        if own.loads > LOADS {
            *own = DeviceProcess::default();
        }
        own.held = None;
        match self.ask(process, &request.message(), limit, watch)? {
            FromDevice::Loaded(loaded) if loaded.as_ref().is_ok_and(|loaded| !fits(request.program, loaded)) => {
                Err(self.unexpected(process))
            }
            FromDevice::Loaded(loaded) => {
                let held = loaded.as_ref().ok().map(|loaded| (request.owned(), loaded.clone()));
                self.device.processes[process].held = held;
                Ok(loaded)
            }
            _ => Err(self.unexpected(process)),
        }
    }

    /// Waits until nothing is loaded ahead any more: what is timed runs alone.
    pub fn finish_loads(&mut self, limit: Duration) {
        (0..self.device.processes.len()).for_each(|process| self.finish_load(process, limit));
    }

    /// Waits for what a child was asked to load ahead. Whatever becomes of it, it is loaded again where it is missing.
    fn finish_load(&mut self, process: usize, limit: Duration) {
        let started = Instant::now();
        let Device { processes, machine_code, .. } = &mut *self.device;
        let own = &mut processes[process];
        let Some(program) = own.loading.take() else { return };
        // What the child did meanwhile took nobody's time.
        let reply = own.reply(machine_code, limit, &mut |_| {}, &mut Spent::default());
        match reply {
            Ok(FromDevice::Loaded(Ok(loaded))) if fits(&program.0, &loaded) => own.held = Some((program, loaded)),
            Ok(FromDevice::Loaded(Err(_))) => {}
            _ => own.child = None,
        }
        self.spent.add(Work::Messages, started.elapsed());
    }

    /// Checks a rewrite of the program that the first child has loaded. `watch` hears of each stage that the child reaches.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn evaluate(
        &mut self,
        job: &RewriteJob,
        limit: Duration,
        watch: &mut dyn FnMut(DeviceStage),
    ) -> Result<EvaluationReport, DeviceChildError> {
        let message = ToDevice::Rewrite(RewriteTask::Evaluate, Box::new(job.clone()));
        Ok(*self.answer(0, &message, limit, watch, held_by!(Evaluated))?)
    }

    /// Times a rewrite of the program that the child has loaded, of whose outputs `passes_at` is known.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn time(
        &mut self,
        process: usize,
        job: &RewriteJob,
        passes_at: Vec<Option<i8>>,
        limit: Duration,
        watch: &mut dyn FnMut(DeviceStage),
    ) -> Result<Result<ProcessTiming, TimingError>, DeviceChildError> {
        let cores = if job.settings.accept_noise { vec![] } else { self.device.cores() };
        let message = ToDevice::Rewrite(RewriteTask::Time { passes_at, cores }, Box::new(job.clone()));
        Ok(self.answer(process, &message, limit, watch, held_by!(Timed))?.map(|timed| *timed))
    }

    /// Has the first child measure the kernels of a verified rewrite of the program that it has loaded, in the schedules
    /// that they may have; what is known from before is not measured again.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn tune(
        &mut self,
        job: &RewriteJob,
        limit: Duration,
        watch: &mut dyn FnMut(DeviceStage),
    ) -> Result<Result<Vec<TunedKernel>, RewriteError>, DeviceChildError> {
        let cache = self.device.setup.machine_code.clone();
        let known = cache.as_ref().map(|cache| schedules::known(cache, &job.rewrite, &self.device.info));
        let message = ToDevice::Rewrite(RewriteTask::Tune(known.unwrap_or_default()), Box::new(job.clone()));
        let tuned = self.answer(0, &message, limit, watch, held_by!(Tuned))?;
        let tuned = tuned.map(|tuned| schedules::sound(&job.rewrite, tuned));
        if let (Some(cache), Ok(tuned)) = (&cache, &tuned) {
            schedules::keep(cache, &job.rewrite, &self.device.info, tuned);
        }
        Ok(tuned)
    }

    /// Looks for the node that makes a rewrite wrong, of the program that the first child has loaded, on the inputs that
    /// showed it. `None` where no node can be named.
    ///
    /// # Errors
    ///
    /// If the child is lost, which says nothing of the rewrite: it ran before.
    pub fn trace(
        &mut self,
        job: RewriteJob,
        shown_by: ShownBy,
        limit: Duration,
    ) -> Result<Option<DivergentNode>, DeviceChildError> {
        let message = ToDevice::Rewrite(RewriteTask::Trace(shown_by), Box::new(job));
        self.answer(0, &message, limit, &mut |_| {}, held_by!(Traced))
    }

    /// Runs a reference program once, and writes its inputs and outputs where [`DeviceSetup::files`] says.
    ///
    /// [`DeviceSetup::files`]: super::DeviceSetup::files
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn run(
        &mut self,
        program: &Graph,
        inputs: &[InputSpec],
        seed: u64,
        limit: Duration,
    ) -> Result<Result<SingleRun, SingleRunError>, DeviceChildError> {
        let message = ToDevice::Run { program: program.clone(), inputs: inputs.to_vec(), seed };
        self.answer(0, &message, limit, &mut |_| {}, held_by!(Ran))
    }

    /// Writes the inputs of so many rounds of the program that the first child has loaded, where
    /// [`DeviceSetup::files`](super::DeviceSetup::files) says.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn draw(
        &mut self,
        seed: u64,
        rounds: u32,
        limit: Duration,
    ) -> Result<Result<(), SingleRunError>, DeviceChildError> {
        self.answer(0, &ToDevice::Draw { seed, rounds }, limit, &mut |_| {}, held_by!(Drawn))
    }

    /// Compares what someone else made of these inputs with the program that the first child has loaded.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn judge(&mut self, run: ExternalRun, limit: Duration) -> Result<EvaluationReport, DeviceChildError> {
        Ok(*self.answer(0, &ToDevice::Judge(run), limit, &mut |_| {}, held_by!(Evaluated))?)
    }

    /// What the reply to a request has that is among those it may have.
    fn answer<T>(
        &mut self,
        process: usize,
        message: &ToDevice,
        limit: Duration,
        watch: &mut dyn FnMut(DeviceStage),
        expected: impl FnOnce(FromDevice) -> Option<T>,
    ) -> Result<T, DeviceChildError> {
        expected(self.ask(process, message, limit, watch)?).ok_or_else(|| self.unexpected(process))
    }

    /// Sends a request, in a fresh child if the last one died, and waits for the reply.
    fn ask(
        &mut self,
        process: usize,
        message: &ToDevice,
        limit: Duration,
        watch: &mut dyn FnMut(DeviceStage),
    ) -> Result<FromDevice, DeviceChildError> {
        self.finish_load(process, limit);
        let started = Instant::now();
        let Device { setup, machine_code, info, profile, gpu, processes, .. } = &mut *self.device;
        let own = &mut processes[process];
        own.stage = None;
        if own.child.is_none() {
            own.begin(setup)?;
        }
        if own.opening {
            let opened = own.ready(setup, machine_code)?;
            if process == 0 {
                (*info, *profile, *gpu) = (opened.info, opened.profile, opened.gpu);
            }
        }
        let mut spent = Spent::default();
        let reply = own.ask(message, machine_code, limit, watch, &mut spent);
        // What a child does not account for is its start, or its end.
        spent.add(Work::Messages, started.elapsed().saturating_sub(spent.total()));
        self.spent.join(&spent);
        reply
    }

    fn unexpected(&mut self, process: usize) -> DeviceChildError {
        self.device.processes[process].child = None;
        OUT_OF_TURN
    }
}
