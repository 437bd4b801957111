//! The client of the device children: keeps them alive between evaluations and starts fresh ones when they die. The first
//! checks and times, the others only time.

mod request;
mod session;

pub use request::LoadRequest;
use request::LoadedProgram;
pub use session::DeviceSession;

use crate::ahead::ForGpu;
use crate::cores;
use crate::machine_code::{Allowance, MachineCode, processes};
use crate::process::{Child, ChildError, Confinement, ENVIRONMENT, OPEN};
use passhost_cache::Cache;
use passhost_protocol::compiler::CompilerSource;
use passhost_protocol::device::{DeviceChoice, DeviceStage, FromDevice, GpuProperties, LoadReport, ToDevice};
use passhost_result::{DeviceInfo, Launch, SandboxProfile, Settings, Spent};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Programs that a child loads before a fresh one takes its place, so that what a process gathers in its life is in no
/// score.
const LOADS: u32 = 200;

/// What a child that answers something else than it was asked is.
const OUT_OF_TURN: DeviceChildError = DeviceChildError::Child(ChildError::UnexpectedMessage("device"));

/// Why the device gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum DeviceChildError {
    /// The process is gone.
    #[error("{0}")]
    Child(#[from] ChildError),
    /// The device asked for cannot be used.
    #[error("{0}")]
    Unusable(String),
}

/// Which device, and what is asked of its children.
#[derive(Debug, Clone)]
pub struct DeviceSetup {
    /// The device.
    pub choice: DeviceChoice,
    /// Threads for CPU work; all cores if absent.
    pub threads: Option<u32>,
    /// How rewrites are launched where they are timed.
    pub launch: Launch,
    /// An existing directory for the inputs and outputs of [`Device::run`].
    pub files: Option<PathBuf>,
    /// How the child must be confined, and those that compile for it.
    pub confinement: Confinement,
    /// Where machine code for a GPU is kept; compiled each time if absent. The child never opens it.
    pub machine_code: Option<Arc<Cache>>,
    /// Files and directories that the child must not read, besides those of that cache: other caches and their keys.
    pub hidden: Vec<PathBuf>,
    /// Whether the CPU draws and compares what a GPU would by itself. The results are the same, later.
    pub check_on_cpu: bool,
}

impl DeviceSetup {
    /// A device with so many threads that launches by stream and writes no files, confined as well as the kernel can, without
    /// a cache.
    pub fn new(choice: DeviceChoice, threads: Option<u32>) -> DeviceSetup {
        let (launch, confinement) = (Launch::Stream, Confinement::default());
        let (files, machine_code, hidden) = Default::default();
        DeviceSetup { choice, threads, launch, files, confinement, machine_code, hidden, check_on_cpu: false }
    }

    /// The first request to a child.
    fn open(&self) -> ToDevice {
        let mut hidden = self.hidden.clone();
        hidden.extend(self.machine_code.iter().flat_map(|cache| cache.paths()));
        let DeviceSetup { choice: device, threads, launch, check_on_cpu, .. } = *self;
        ToDevice::Open { device, threads, launch, files: self.files.clone(), hidden, check_on_cpu }
    }
}

/// A device, with its children.
pub struct Device {
    setup: DeviceSetup,
    machine_code: MachineCode,
    info: DeviceInfo,
    profile: SandboxProfile,
    gpu: Option<GpuProperties>,
    /// The number by which a GPU gets its cores.
    number: Option<u32>,
    processes: [DeviceProcess; Settings::PROCESSES as usize],
}

/// A device child, if it runs.
#[derive(Default)]
struct DeviceProcess {
    child: Option<Child<FromDevice>>,
    /// Whether it was started, and has not said yet that it is ready.
    opening: bool,
    stage: Option<DeviceStage>,
    /// Programs loaded so far.
    loads: u32,
    /// What it was asked to load last and has not been heard of.
    loading: Option<LoadedProgram>,
    /// What it holds, and what loading that showed.
    held: Option<(LoadedProgram, LoadReport)>,
}

/// What a child says of itself once its device is open.
struct OpenedDevice {
    info: DeviceInfo,
    profile: SandboxProfile,
    gpu: Option<GpuProperties>,
}

impl Device {
    /// Starts the first child and opens a device.
    ///
    /// # Errors
    ///
    /// If the child does not start, or the device cannot be used.
    pub fn open(setup: DeviceSetup) -> Result<Device, DeviceChildError> {
        let mut machine_code = MachineCode::new(processes(setup.confinement), setup.machine_code.clone());
        let mut first = DeviceProcess::default();
        first.begin(&setup)?;
        let OpenedDevice { info, profile, gpu } = first.ready(&setup, &mut machine_code)?;
        let shown = info.device.strip_prefix("cuda:").map(|number| number.parse().unwrap_or(0));
        let number = shown.map(|shown| cores::gpu_number(&info.id, shown));
        let processes = [first, DeviceProcess::default(), DeviceProcess::default()];
        Ok(Device { setup, machine_code, info, profile, gpu, number, processes })
    }

    /// What keeps the first child in; the others stand behind the same.
    pub fn profile(&self) -> SandboxProfile {
        self.profile
    }

    /// What keeps the compilers in, if one was needed.
    pub fn compiler_profile(&self) -> Option<SandboxProfile> {
        self.machine_code.profile()
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
    pub fn stage(&self, process: usize) -> Option<DeviceStage> {
        self.processes[process].stage
    }

    /// What kernels for it can be compiled by before they are needed. `None` where they are not compiled, or not kept.
    pub fn for_gpu(&self) -> Option<ForGpu> {
        let (cache, confinement) = (self.setup.machine_code.clone()?, self.setup.confinement);
        Some(ForGpu { gpu: self.gpu?, cache, confinement })
    }

    /// Begins a series of requests.
    pub fn session(&mut self) -> DeviceSession<'_> {
        DeviceSession { device: self, spent: Spent::default() }
    }

    /// Cores that nothing else may use while something is timed; none where all are needed.
    pub fn cores(&self) -> Vec<u32> {
        cores::for_timing(self.number, self.info.threads)
    }
}

impl DeviceProcess {
    /// Starts a child and asks it to open the device.
    fn begin(&mut self, setup: &DeviceSetup) -> Result<(), DeviceChildError> {
        let mut child: Child<FromDevice> = Child::start("device", "passhost-device", None, &ENVIRONMENT)?;
        child.send(&setup.open())?;
        *self =
            DeviceProcess { child: Some(child), opening: true, loads: self.loads.min(1), ..DeviceProcess::default() };
        Ok(())
    }

    /// Whether it could be asked for something now.
    fn is_idle(&self) -> bool {
        self.child.is_some() && !self.opening && self.loading.is_none()
    }

    fn holds(&self, request: LoadRequest<'_>) -> bool {
        let LoadRequest { program, inputs, .. } = request;
        let is_it = |((held, specs), _): &(LoadedProgram, LoadReport)| held == program && specs == inputs;
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
    fn ready(&mut self, setup: &DeviceSetup, machine_code: &mut MachineCode) -> Result<OpenedDevice, DeviceChildError> {
        self.opening = false;
        let Some(mut child) = self.child.take() else { return Err(OUT_OF_TURN) };
        let deadline = Instant::now() + OPEN;
        let mut allowance = Allowance::default();
        loop {
            match child.receive(deadline)? {
                FromDevice::Compile(source) => compile(&mut child, machine_code, &source, &mut allowance, deadline)?,
                FromDevice::Opened { device, profile, gpu } => {
                    child.hold_to(setup.confinement, profile)?;
                    self.child = Some(child);
                    return Ok(OpenedDevice { info: device, profile, gpu });
                }
                FromDevice::Unusable(reason) => return Err(DeviceChildError::Unusable(reason)),
                _ => return Err(OUT_OF_TURN),
            }
        }
    }

    fn ask(
        &mut self,
        message: &ToDevice,
        machine_code: &mut MachineCode,
        limit: Duration,
        watch: &mut dyn FnMut(DeviceStage),
        spent: &mut Spent,
    ) -> Result<FromDevice, DeviceChildError> {
        let Some(child) = &mut self.child else { return Err(OUT_OF_TURN) };
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
        watch: &mut dyn FnMut(DeviceStage),
        spent: &mut Spent,
    ) -> Result<FromDevice, DeviceChildError> {
        let Some(child) = &mut self.child else { return Err(OUT_OF_TURN) };
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
    source: &CompilerSource,
    allowance: &mut Allowance,
    deadline: Instant,
) -> Result<(), ChildError> {
    let made = machine_code.of(source, allowance, deadline);
    child.send(&ToDevice::Compiled(made.map_err(|error| error.to_string())))
}
