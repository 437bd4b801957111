//! What a user of PyTorch could pick in place of a pass, measured as a pass is: eager called from Python, Inductor, and both
//! captured in a CUDA graph.
//!
//! A variant is read and its reference runs in a device child, as in an evaluation. The verified program is [printed](print)
//! as calls with names of our own; a Python of its own for each graph makes a function of it, runs it on inputs
//! that the device child wrote to files, and writes what comes of it to others, which the device child compares with
//! eager and with the run in double precision. No text of a sample reaches Python. What becomes of a method on a variant
//! is a line of a [batch](crate::batch), as that of a plugin is.

mod files;
mod measure;
mod method;
mod print;
mod python;
mod run;

pub use method::Method;

use crate::batch::PluginEntry;
use passhost_child::cores::allowed;
use passhost_child::device::Device;
use passhost_result::document::Baseline;
use passhost_result::{DeviceInfo, PassInfo};
use python::{Hello, Python, PythonError, SCRIPTS, Setup};
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// The version of PyTorch that libtorch has: another one would be another eager.
pub const TORCH: &str = "2.11.0";

/// Importing torch from a cold disk takes a minute.
const START: Duration = Duration::from_secs(180);

/// Why there are no baselines.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// There is no Python, or it has no torch.
    #[error("`{}` cannot run PyTorch: {reason}; name a Python with torch {TORCH} by --python, or where its modules are in PYTHONPATH", python.display())]
    Python {
        /// The program.
        python: PathBuf,
        /// What happened.
        reason: String,
    },
    /// It has another torch.
    #[error("`{}` has torch {found}, libtorch here is {TORCH}: another eager would be measured; install torch=={TORCH}", python.display())]
    Version {
        /// The program.
        python: PathBuf,
        /// Its version.
        found: String,
    },
    /// No directory for files can be had.
    #[error("no directory for temporary files can be made: {0}; set TMPDIR to one with room")]
    Files(std::io::Error),
    /// A method that this device cannot run.
    #[error(
        "`{method}` launches CUDA graphs and needs a GPU, the device is {device}; leave it out of --with, or use --device cuda"
    )]
    NeedsGpu {
        /// The method.
        method: &'static str,
        /// The device.
        device: String,
    },
}

/// A directory that is removed again. One that a command left which was killed has a name that says so.
///
/// # Errors
///
/// If there can be none.
pub fn temporary() -> Result<TempDir, BaselineError> {
    tempfile::Builder::new().prefix("passhost-baseline-").tempdir().map_err(BaselineError::Files)
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// A Python with torch [`TORCH`].
    pub python: PathBuf,
    /// What is measured, in this order.
    pub methods: Vec<Method>,
    /// Processes of Python that times of a graph are taken in, at least one. Each prepares the method once more.
    pub processes: usize,
    /// The directory that the children of the device may write to, for inputs of the graph that is measured.
    pub inputs: PathBuf,
    /// One for what comes of it, where Python alone writes. It was there before the device was opened, whose sandbox
    /// may hide what is made later.
    pub outputs: PathBuf,
    /// A graph whose inputs and outputs have more bytes is compared in one round, on the inputs that are timed.
    pub one_round_above: u64,
    /// Wall clock for a Python to start, if it is not its own.
    pub timeout: Option<Duration>,
}

/// Methods, and the Python that runs them.
pub struct Baselines {
    setup: Setup,
    wanted: Wanted,
    hello: Hello,
    /// For the next graph.
    spare: Mutex<Option<Python>>,
}

impl Baselines {
    /// Starts a Python once to see that it can do what is asked on this device.
    ///
    /// # Errors
    ///
    /// If there is no such Python, it has no torch or another one, or a method needs a GPU.
    pub fn new(wanted: Wanted, device: &Device) -> Result<Baselines, BaselineError> {
        let DeviceInfo { device, threads, .. } = device.info();
        if let Some(method) = wanted.methods.iter().find(|method| method.needs_gpu() && device == "cpu") {
            return Err(BaselineError::NeedsGpu { method: method.name(), device: device.clone() });
        }
        let python = wanted.python.clone();
        let start = wanted.timeout.unwrap_or(START);
        let compiled = Arc::new(temporary()?);
        let setup = Setup { python, device: device.clone(), threads: *threads, start, compiled };
        let hello = Python::start(&setup)
            .and_then(|mut python| python.hello(&setup))
            .map_err(|error| BaselineError::Python { python: setup.python.clone(), reason: error.to_string() })?;
        if hello.torch.split('+').next() != Some(TORCH) {
            return Err(BaselineError::Version { python: setup.python, found: hello.torch });
        }
        Ok(Baselines { setup, wanted, hello, spare: Mutex::default() })
    }

    /// A Python that is ready to load a graph, and one started for the next graph on these cores, if there are any: importing
    /// PyTorch takes seconds, touches no GPU, and can go on while something is timed elsewhere.
    fn python(&self, beside: &[u32]) -> Result<Python, PythonError> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let greeted = |mut python: Python| python.hello(&self.setup).map(|_| python);
        let ready = spare.take().filter(|python| python.keep_to(&allowed())).and_then(|python| greeted(python).ok());
        let python = ready.map_or_else(|| Python::start(&self.setup).and_then(greeted), Ok)?;
        if !beside.is_empty() {
            // Without one, the next graph waits for its own.
            *spare = Python::start(&self.setup).ok().filter(|python| python.keep_to(beside));
        }
        Ok(python)
    }

    /// What a batch says of them, in the place of plugins. Their hash covers all that their code depends on.
    pub fn entries(&self) -> Vec<PluginEntry> {
        self.wanted.methods.iter().map(|method| self.entry(*method)).collect()
    }

    /// `Python 3.11.7, torch 2.11.0+cu130, NVIDIA H200`.
    pub fn description(&self) -> String {
        let Hello { python, torch, device } = &self.hello;
        format!("Python {python}, torch {torch}, {device}")
    }

    fn entry(&self, method: Method) -> PluginEntry {
        let Hello { python, torch, .. } = &self.hello;
        let (name, processes) = (method.name(), self.wanted.processes);
        let hash = Sha256::new()
            .chain_update(SCRIPTS.map(|(_, text)| text).concat())
            .chain_update(format!("\0{name}\0{python}\0{torch}\0{processes}"))
            .finalize();
        PluginEntry {
            path: name.into(),
            sha256: base16ct::lower::encode_string(&hash),
            info: Some(PassInfo {
                name: name.into(),
                version: format!("torch {torch}"),
                description: format!("{name} of PyTorch, called from Python {python}"),
            }),
            failure: None,
            baseline: Some(Baseline {
                method: name.into(),
                launch: method.launch(),
                python: python.clone(),
                torch: torch.clone(),
            }),
        }
    }
}
