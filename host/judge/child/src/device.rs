//! The client of the device children: keeps them alive between evaluations and starts fresh ones when they die. The first
//! checks and times, the others only time.

mod elsewhere;
mod request;
mod tracing;
mod tuning;

pub use request::{LoadRequest, RewriteRequest};
use request::{Program, fits};

use crate::ahead::ForGpu;
use crate::cores;
use crate::machine_code::{Allowance, MachineCode, Processes};
use crate::process::{Child, ChildError, Confinement, ENVIRONMENT, OPEN};
use passhost_cache::Cache;
use passhost_ir::{Graph, InputSpec};
use passhost_protocol::compiler::Source;
use passhost_protocol::device::{
    DeviceChoice, Evaluation, FromDevice, GpuProperties, Loaded, Ran, ReferenceError, RunError, Stage, Timed,
    TimingError, ToDevice,
};
use passhost_result::{DeviceInfo, Settings, Spent, Walls, Work};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Programs that a child loads before a fresh one takes its place, so that what a process gathers in its life is in no
/// score.
const LOADS: u32 = 200;

/// Why the device gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The process is gone.
    #[error("{0}")]
    Child(#[from] ChildError),
    /// The device asked for cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// The child answered something else than what it was asked.
    #[error("the device process answered out of turn; this is a bug of passhost")]
    OutOfTurn,
}

/// Which device, and what is asked of its children.
#[derive(Debug, Clone)]
pub struct DeviceSetup {
    /// The device.
    pub choice: DeviceChoice,
    /// Threads for CPU work; all cores if absent.
    pub threads: Option<u32>,
    /// An existing directory for the inputs and outputs of [`Device::run`].
    pub files: Option<PathBuf>,
    /// Which walls must stand around the child, and those that compile for it.
    pub confinement: Confinement,
    /// Where machine code for a GPU is kept; compiled each time if absent. The child never opens it.
    pub machine_code: Option<Arc<Cache>>,
    /// Files and directories that the child must not read, besides those of that cache: other caches and their keys.
    pub hidden: Vec<PathBuf>,
    /// Devices that time at the same time and come before this one: it leaves their cores to them.
    pub before: u32,
    /// Whether the CPU draws and compares what a GPU would by itself. The results are the same, later.
    pub check_on_cpu: bool,
}

impl DeviceSetup {
    /// A device with so many threads that writes no files, behind those walls that the kernel has, without a cache.
    pub fn new(choice: DeviceChoice, threads: Option<u32>) -> DeviceSetup {
        let confinement = Confinement::default();
        let (machine_code, hidden) = Default::default();
        DeviceSetup { choice, threads, files: None, confinement, machine_code, hidden, before: 0, check_on_cpu: false }
    }

    /// The first request to a child.
    fn open(&self) -> ToDevice {
        let mut hidden = self.hidden.clone();
        hidden.extend(self.machine_code.iter().flat_map(|cache| cache.paths()));
        let (files, check_on_cpu) = (self.files.clone(), self.check_on_cpu);
        ToDevice::Open { device: self.choice, threads: self.threads, files, hidden, check_on_cpu }
    }
}

/// A device, with its children.
pub struct Device {
    setup: DeviceSetup,
    machine_code: MachineCode,
    info: DeviceInfo,
    walls: Walls,
    gpu: Option<GpuProperties>,
    processes: [Process; Settings::PROCESSES as usize],
    spent: Spent,
}

/// A device child, if it runs.
#[derive(Default)]
struct Process {
    child: Option<Child<FromDevice>>,
    /// Whether it was started, and has not said yet that it is ready.
    opening: bool,
    stage: Option<Stage>,
    /// Programs loaded so far.
    loads: u32,
    /// What it was asked to load last and has not been heard of.
    loading: Option<Program>,
    /// What it holds, and what loading that showed.
    held: Option<(Program, Loaded)>,
}

/// What a child says of itself once its device is open.
struct Opened {
    info: DeviceInfo,
    walls: Walls,
    gpu: Option<GpuProperties>,
}

impl Device {
    /// Starts the first child and opens a device.
    ///
    /// # Errors
    ///
    /// If the child does not start, or the device cannot be used.
    pub fn open(setup: DeviceSetup) -> Result<Device, DeviceError> {
        let mut machine_code = MachineCode::new(Processes::new(setup.confinement), setup.machine_code.clone());
        let mut first = Process::default();
        first.begin(&setup)?;
        let Opened { info, walls, gpu } = first.ready(&setup, &mut machine_code)?;
        let processes = [first, Process::default(), Process::default()];
        Ok(Device { setup, machine_code, info, walls, gpu, processes, spent: Spent::default() })
    }

    /// Starts the children that only time, which get ready while something else happens. What does not start now is
    /// started when it is needed, and says then why.
    pub fn start_others(&mut self) {
        for process in &mut self.processes[1..] {
            if process.child.is_none() {
                let _ = process.begin(&self.setup);
            }
        }
    }

    /// What keeps the first child in; the others stand behind the same.
    pub fn walls(&self) -> Walls {
        self.walls
    }

    /// What keeps the compilers in, if one was needed.
    pub fn compiler_walls(&self) -> Option<Walls> {
        self.machine_code.start().walls()
    }

    /// What the first child found.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// What texts of kernels for it depend on, of a GPU.
    pub fn gpu(&self) -> Option<GpuProperties> {
        self.gpu
    }

    /// The last stage that a child reported, for the message when it dies.
    pub fn stage(&self, process: usize) -> Option<Stage> {
        self.processes[process].stage
    }

    /// What kernels for it can be compiled by before they are needed. `None` where they are not compiled, or not kept.
    pub fn for_gpu(&self) -> Option<ForGpu> {
        let (cache, confinement) = (self.setup.machine_code.clone()?, self.setup.confinement);
        Some(ForGpu { gpu: self.gpu?, cache, confinement })
    }

    /// Where the time of all requests went since this was asked last.
    pub fn take_spent(&mut self) -> Spent {
        std::mem::take(&mut self.spent)
    }

    /// Accounts for time that no request takes.
    pub fn account(&mut self, work: Work, time: Duration) {
        self.spent.add(work, time);
    }

    /// Cores that nothing else may use while something is timed; none where all are needed.
    pub fn cores(&self) -> Vec<u32> {
        cores::for_timing(self.info.device != "cpu", self.info.threads, self.setup.before)
    }

    /// Asks the children that only time to load a program, which they do while something else happens. Those that are not
    /// ready load it when it is needed, as does one whose load fails.
    pub fn begin_loads(&mut self, request: LoadRequest<'_>) {
        for process in &mut self.processes[1..] {
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
        let own = &mut self.processes[process];
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
                self.processes[process].held = held;
                Ok(loaded)
            }
            _ => Err(self.out_of_turn(process)),
        }
    }

    /// Waits until nothing is loaded ahead any more: what is timed runs alone.
    pub fn finish_loads(&mut self, limit: Duration) {
        (0..self.processes.len()).for_each(|process| self.finish_load(process, limit));
    }

    /// Waits for what a child was asked to load ahead. Whatever becomes of it, it is loaded again where it is missing.
    fn finish_load(&mut self, process: usize, limit: Duration) {
        let started = Instant::now();
        let own = &mut self.processes[process];
        let Some(program) = own.loading.take() else { return };
        // What the child did meanwhile took nobody's time.
        let reply = own.reply(&mut self.machine_code, limit, &mut |_| {}, &mut Spent::default());
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
        let cores = if request.settings.accept_noise { vec![] } else { self.cores() };
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
    fn ask(
        &mut self,
        process: usize,
        message: &ToDevice,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
    ) -> Result<FromDevice, DeviceError> {
        self.finish_load(process, limit);
        let started = Instant::now();
        let first = process == 0;
        let process = &mut self.processes[process];
        process.stage = None;
        if process.child.is_none() {
            process.begin(&self.setup)?;
        }
        if process.opening {
            let opened = process.ready(&self.setup, &mut self.machine_code)?;
            if first {
                Opened { info: self.info, walls: self.walls, gpu: self.gpu } = opened;
            }
        }
        let mut spent = Spent::default();
        let reply = process.ask(message, &mut self.machine_code, limit, watch, &mut spent);
        // What a child does not account for is its start, or its end.
        spent.add(Work::Messages, started.elapsed().saturating_sub(spent.total()));
        self.spent.join(&spent);
        reply
    }

    fn out_of_turn(&mut self, process: usize) -> DeviceError {
        self.processes[process].child = None;
        DeviceError::OutOfTurn
    }
}

impl Process {
    /// Starts a child and asks it to open the device.
    fn begin(&mut self, setup: &DeviceSetup) -> Result<(), DeviceError> {
        let mut child: Child<FromDevice> = Child::start("device", "passhost-device", None, &ENVIRONMENT)?;
        child.send(&setup.open())?;
        *self = Process { child: Some(child), opening: true, loads: self.loads.min(1), ..Process::default() };
        Ok(())
    }

    /// Whether it could be asked for something now.
    fn is_idle(&self) -> bool {
        self.child.is_some() && !self.opening && self.loading.is_none()
    }

    fn holds(&self, request: LoadRequest<'_>) -> bool {
        let LoadRequest { program, inputs, .. } = request;
        let is_it = |((held, specs), _): &(Program, Loaded)| held == program && specs == inputs;
        self.child.is_some() && self.held.as_ref().is_some_and(is_it)
    }

    fn begin_load(&mut self, request: LoadRequest<'_>) {
        let Some(child) = &mut self.child else { return };
        self.held = None;
        self.loads += 1;
        match child.send(&request.message()) {
            Ok(()) => self.loading = Some(request.owned()),
            Err(_) => self.child = None,
        }
    }

    /// Waits until the device is open.
    fn ready(&mut self, setup: &DeviceSetup, machine_code: &mut MachineCode) -> Result<Opened, DeviceError> {
        self.opening = false;
        let Some(mut child) = self.child.take() else { return Err(DeviceError::OutOfTurn) };
        let deadline = Instant::now() + OPEN;
        let mut allowance = Allowance::default();
        loop {
            match child.receive(deadline)? {
                FromDevice::Compile(source) => compile(&mut child, machine_code, &source, &mut allowance, deadline)?,
                FromDevice::Opened { device, walls, gpu } => {
                    child.hold_to(setup.confinement, walls)?;
                    self.child = Some(child);
                    return Ok(Opened { info: device, walls, gpu });
                }
                FromDevice::Unusable(reason) => return Err(DeviceError::Unusable(reason)),
                _ => return Err(DeviceError::OutOfTurn),
            }
        }
    }

    fn ask(
        &mut self,
        message: &ToDevice,
        machine_code: &mut MachineCode,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
        spent: &mut Spent,
    ) -> Result<FromDevice, DeviceError> {
        let Some(child) = &mut self.child else { return Err(DeviceError::OutOfTurn) };
        if let Err(error) = child.send(message) {
            self.child = None;
            return Err(error.into());
        }
        self.reply(machine_code, limit, watch, spent)
    }

    /// Waits for the reply to the last request.
    fn reply(
        &mut self,
        machine_code: &mut MachineCode,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
        spent: &mut Spent,
    ) -> Result<FromDevice, DeviceError> {
        let Some(child) = &mut self.child else { return Err(DeviceError::OutOfTurn) };
        let deadline = Instant::now() + limit;
        let mut reply = child.receive(deadline);
        let mut lost = false;
        let mut allowance = Allowance::default();
        loop {
            match reply {
                Ok(FromDevice::Compile(source)) => {
                    if let Err(error) = compile(child, machine_code, &source, &mut allowance, deadline) {
                        reply = Err(error);
                        break;
                    }
                }
                Ok(FromDevice::Stage(stage)) => {
                    self.stage = Some(stage);
                    watch(stage);
                }
                Ok(FromDevice::Spent(of_child)) => *spent = of_child,
                Ok(FromDevice::Lost) => lost = true,
                _ => break,
            }
            reply = child.receive(deadline);
        }
        if lost || reply.is_err() {
            self.child = None;
        }
        if let Err(ChildError::Deadline { limit: left, .. }) = &mut reply {
            // What was left of it after the last message tells nobody anything.
            *left = limit;
        }
        Ok(reply?)
    }
}

/// Answers a child that asks for machine code.
fn compile(
    child: &mut Child<FromDevice>,
    machine_code: &mut MachineCode,
    source: &Source,
    allowance: &mut Allowance,
    deadline: Instant,
) -> Result<(), ChildError> {
    let made = machine_code.of(source, allowance, deadline);
    child.send(&ToDevice::Compiled(made.map_err(|error| error.to_string())))
}
