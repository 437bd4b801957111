//! Requests to the children of a device, and where their time went.

use super::request::fits;
use super::{Device, DeviceError, LOADS, LoadRequest, Process, RewriteRequest};
use passhost_ir::{Graph, InputSpec};
use passhost_protocol::device::{
    Evaluation, FromDevice, Loaded, Ran, ReferenceError, RunError, Stage, Timed, TimingError, ToDevice,
};
use passhost_result::{Spent, Work};
use std::time::{Duration, Instant};

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
        watch: &mut dyn FnMut(Stage),
    ) -> Result<Result<Loaded, ReferenceError>, DeviceError> {
        self.finish_load(process, limit);
        let own = &mut self.device.processes[process];
        if let Some((_, loaded)) = own.held.as_ref().filter(|_| own.holds(request)) {
            return Ok(Ok(loaded.clone()));
        }
        own.loads += 1;
        if own.loads > LOADS {
            *own = Process::default();
        }
        own.held = None;
        match self.ask(process, &request.message(), limit, watch)? {
            FromDevice::Loaded(loaded) if loaded.as_ref().is_ok_and(|loaded| !fits(request.program, loaded)) => {
                Err(self.out_of_turn(process))
            }
            FromDevice::Loaded(loaded) => {
                let held = loaded.as_ref().ok().map(|loaded| (request.owned(), loaded.clone()));
                self.device.processes[process].held = held;
                Ok(loaded)
            }
            _ => Err(self.out_of_turn(process)),
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
        request: RewriteRequest<'_>,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
    ) -> Result<Evaluation, DeviceError> {
        match self.ask(0, &request.to_evaluate(), limit, watch)? {
            FromDevice::Evaluated(evaluation) => Ok(*evaluation),
            _ => Err(self.out_of_turn(0)),
        }
    }

    /// Times a rewrite of the program that the child has loaded, of whose outputs `right_from` is known.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn time(
        &mut self,
        process: usize,
        request: RewriteRequest<'_>,
        right_from: Vec<Option<i8>>,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
    ) -> Result<Result<Timed, TimingError>, DeviceError> {
        let cores = if request.settings.accept_noise { vec![] } else { self.device.cores() };
        match self.ask(process, &request.to_time(right_from, cores), limit, watch)? {
            FromDevice::Timed(timed) => Ok(timed.map(|timed| *timed)),
            _ => Err(self.out_of_turn(process)),
        }
    }

    /// Runs a reference program once, and writes its inputs and outputs where [`DeviceSetup::files`] says.
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
    ) -> Result<Result<Ran, RunError>, DeviceError> {
        let message = ToDevice::Run { program: program.clone(), inputs: inputs.to_vec(), seed };
        match self.ask(0, &message, limit, &mut |_| {})? {
            FromDevice::Ran(ran) => Ok(ran),
            _ => Err(self.out_of_turn(0)),
        }
    }

    /// Sends a request, in a fresh child if the last one died, and waits for the reply.
    pub(super) fn ask(
        &mut self,
        process: usize,
        message: &ToDevice,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
    ) -> Result<FromDevice, DeviceError> {
        self.finish_load(process, limit);
        let started = Instant::now();
        let Device { setup, machine_code, info, walls, gpu, processes } = &mut *self.device;
        let own = &mut processes[process];
        own.stage = None;
        if own.child.is_none() {
            own.begin(setup)?;
        }
        if own.opening {
            let opened = own.ready(setup, machine_code)?;
            if process == 0 {
                (*info, *walls, *gpu) = (opened.info, opened.walls, opened.gpu);
            }
        }
        let mut spent = Spent::default();
        let reply = own.ask(message, machine_code, limit, watch, &mut spent);
        // What a child does not account for is its start, or its end.
        spent.add(Work::Messages, started.elapsed().saturating_sub(spent.total()));
        self.spent.join(&spent);
        reply
    }

    pub(super) fn out_of_turn(&mut self, process: usize) -> DeviceError {
        self.device.processes[process].child = None;
        DeviceError::OutOfTurn
    }
}
