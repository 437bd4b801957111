//! The client of the device child: keeps one alive between evaluations and starts a fresh one when it dies.

use crate::child::{Child, ChildError, Confinement};
use crate::machine_code::{Allowance, MachineCode, Processes};
use passhost_cache::Cache;
use passhost_ir::{Graph, InputSpec, NodeId, OpName};
use passhost_protocol::Walls;
use passhost_protocol::compiler::Source;
use passhost_protocol::device::{
    DeviceChoice, DeviceInfo, Evaluation, FromDevice, Loaded, Ran, ReferenceError, RunError, Settings, Stage, ToDevice,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Starting libtorch takes 0.3 s; a cold disk may take a hundred times that.
pub(crate) const OPEN: Duration = Duration::from_secs(120);
/// Environment that libtorch, OpenMP and CUDA read, and where their libraries are.
pub(crate) const ENVIRONMENT: [&str; 7] =
    ["LD_LIBRARY_PATH", "PATH", "HOME", "XDG_CACHE_HOME", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS"];

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

/// Which device, and what is asked of its child.
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
}

impl DeviceSetup {
    /// A device with so many threads that writes no files, behind those walls that the kernel has, without a cache.
    pub fn new(choice: DeviceChoice, threads: Option<u32>) -> DeviceSetup {
        let confinement = Confinement::default();
        DeviceSetup { choice, threads, files: None, confinement, machine_code: None, hidden: vec![] }
    }

    /// The first request to a child.
    fn open(&self) -> ToDevice {
        let mut hidden = self.hidden.clone();
        hidden.extend(self.machine_code.iter().flat_map(|cache| cache.paths()));
        ToDevice::Open { device: self.choice, threads: self.threads, files: self.files.clone(), hidden }
    }
}

/// A device child.
pub struct Device {
    setup: DeviceSetup,
    machine_code: MachineCode,
    child: Option<Child<FromDevice>>,
    info: DeviceInfo,
    walls: Walls,
    stage: Option<Stage>,
}

impl Device {
    /// Starts a child and opens a device.
    ///
    /// # Errors
    ///
    /// If the child does not start, or the device cannot be used.
    pub fn open(setup: DeviceSetup) -> Result<Device, DeviceError> {
        let mut machine_code = MachineCode::new(Processes::new(setup.confinement), setup.machine_code.clone());
        let (child, info, walls) = start(&setup, &mut machine_code)?;
        Ok(Device { setup, machine_code, child: Some(child), info, walls, stage: None })
    }

    /// What keeps the child in.
    pub fn walls(&self) -> Walls {
        self.walls
    }

    /// What keeps the compilers in, if one was needed.
    pub fn compiler_walls(&self) -> Option<Walls> {
        self.machine_code.start().walls()
    }

    /// What the child found.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The last stage that the child reported, for the message when it dies.
    pub fn stage(&self) -> Option<Stage> {
        self.stage
    }

    /// Runs a reference program and times it alone. `watch` hears of each stage that the child reaches.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    pub fn load(
        &mut self,
        program: &Graph,
        inputs: &[InputSpec],
        seed: u64,
        settings: Settings,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
    ) -> Result<Result<Loaded, ReferenceError>, DeviceError> {
        let message = ToDevice::Load { program: program.clone(), inputs: inputs.to_vec(), seed, settings };
        match self.ask(&message, limit, watch)? {
            FromDevice::Loaded(loaded) => Ok(loaded),
            _ => Err(self.out_of_turn()),
        }
    }

    /// Checks and times a rewrite of the loaded program. `watch` hears of each stage that the child reaches.
    ///
    /// # Errors
    ///
    /// If the child is lost.
    #[allow(clippy::too_many_arguments, reason = "they are the fields of one message")]
    pub fn evaluate(
        &mut self,
        rewrite: &Graph,
        in_place: &[(NodeId, OpName)],
        seed: u64,
        settings: Settings,
        timed: bool,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
    ) -> Result<Evaluation, DeviceError> {
        let message =
            ToDevice::Evaluate { rewrite: rewrite.clone(), in_place: in_place.to_vec(), seed, settings, timed };
        match self.ask(&message, limit, watch)? {
            FromDevice::Evaluated(evaluation) => Ok(*evaluation),
            _ => Err(self.out_of_turn()),
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
        match self.ask(&message, limit, &mut |_| {})? {
            FromDevice::Ran(ran) => Ok(ran),
            _ => Err(self.out_of_turn()),
        }
    }

    /// Sends a request, in a fresh child if the last one died, and waits for the reply.
    fn ask(
        &mut self,
        message: &ToDevice,
        limit: Duration,
        watch: &mut dyn FnMut(Stage),
    ) -> Result<FromDevice, DeviceError> {
        self.stage = None;
        let child = match &mut self.child {
            Some(child) => child,
            empty => {
                let (child, info, walls) = start(&self.setup, &mut self.machine_code)?;
                (self.info, self.walls) = (info, walls);
                empty.insert(child)
            }
        };
        let deadline = Instant::now() + limit;
        let mut reply = child.send(message).and_then(|()| child.receive(deadline));
        let mut lost = false;
        let mut allowance = Allowance::default();
        loop {
            match reply {
                Ok(FromDevice::Compile(source)) => {
                    if let Err(error) = compile(child, &mut self.machine_code, &source, &mut allowance, deadline) {
                        reply = Err(error);
                        break;
                    }
                }
                Ok(FromDevice::Stage(stage)) => {
                    self.stage = Some(stage);
                    watch(stage);
                }
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

    fn out_of_turn(&mut self) -> DeviceError {
        self.child = None;
        DeviceError::OutOfTurn
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

fn start(
    setup: &DeviceSetup,
    machine_code: &mut MachineCode,
) -> Result<(Child<FromDevice>, DeviceInfo, Walls), DeviceError> {
    let mut child: Child<FromDevice> = Child::start("device", "passhost-device", None, &ENVIRONMENT)?;
    child.send(&setup.open())?;
    let deadline = Instant::now() + OPEN;
    let mut allowance = Allowance::default();
    loop {
        match child.receive(deadline)? {
            FromDevice::Compile(source) => compile(&mut child, machine_code, &source, &mut allowance, deadline)?,
            FromDevice::Opened { device, walls } => {
                child.hold_to(setup.confinement, walls)?;
                return Ok((child, device, walls));
            }
            FromDevice::Unusable(reason) => return Err(DeviceError::Unusable(reason)),
            _ => return Err(DeviceError::OutOfTurn),
        }
    }
}
