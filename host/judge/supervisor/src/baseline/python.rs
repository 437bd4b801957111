//! A Python that runs one graph: a process of its own, asked in lines of JSON, with a deadline for each answer.

use super::method::{InductorMode, Method};
use super::print::{PythonProgram, Spec};
use passhost_child::cores::keep_process_to;
use passhost_child::process::ENVIRONMENT;
use passhost_child::{Child, ChildError};
use passhost_protocol::FrameError;
use passhost_result::ProcessTimes;
use passhost_result::untrusted::one_line;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What Python runs, the first of these with the others as modules. It gets a program as data.
pub(super) const SCRIPTS: [(&str, &str); 3] = [
    ("passhost_baseline.py", include_str!("child/child.py")),
    ("program.py", include_str!("child/program.py")),
    ("timing.py", include_str!("child/timing.py")),
];

/// Bytes of an answer, at most: a few thousand times.
const ANSWER: u64 = 64 << 20;
/// Where it finds modules, besides its own: a libtorch that was unpacked, say.
const MODULES: &str = "PYTHONPATH";

/// Which Python, where it works, and for whom.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    /// The program.
    pub python: PathBuf,
    /// `cpu` or `cuda:0`.
    pub device: String,
    /// Of PyTorch.
    pub threads: u32,
    /// Wall clock for its start.
    pub start: Duration,
    /// What Inductor compiled, for the next Python that compiles the same. Nobody else writes there.
    pub compiled: Arc<tempfile::TempDir>,
}

/// What a Python says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Hello {
    pub python: String,
    pub torch: String,
    /// The device's own name; `cpu`.
    pub device: String,
}

/// Why it gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum PythonError {
    /// It does not start.
    #[error("cannot start `{}`: {source}", python.display())]
    Start { python: PathBuf, source: io::Error },
    /// It ended, or took too long and was killed.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// What came back is something else than was asked for.
    #[error("Python gave an answer that is none: {0}")]
    Answer(String),
    /// What was asked cannot be done, in its own words.
    #[error("{0}")]
    Refused(String),
    /// Outputs cannot be written, in its own words.
    #[error("{0}")]
    Unwritable(String),
}

impl PythonError {
    /// Whether the process is still there and can be asked for more.
    pub fn is_refusal(&self) -> bool {
        matches!(self, PythonError::Refused(_) | PythonError::Unwritable(_))
    }
}

/// A running Python. Dropping it kills it and whatever it started.
pub(super) struct Python {
    /// Its answers are lines.
    child: Child<String>,
    /// What it writes: modules, and what it compiles.
    _scratch: tempfile::TempDir,
}

/// How times are taken, in the words of the script.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct TimeSettings {
    pub process_ns: u64,
    pub warmups: u32,
    pub blocks: u32,
    pub control_blocks: u32,
    pub pairs: u32,
    pub cores: Vec<u32>,
}

#[derive(Serialize)]
struct MethodRequest {
    compile: Option<InductorMode>,
    capture: bool,
}

impl From<Method> for MethodRequest {
    fn from(method: Method) -> MethodRequest {
        MethodRequest { compile: method.compile(), capture: method.is_captured() }
    }
}

#[derive(Serialize)]
#[serde(tag = "ask", rename_all = "lowercase")]
enum PythonRequest<'a> {
    Hello { device: &'a str, threads: u32 },
    Load { device: &'a str, program: &'a PythonProgram, inputs: &'a [Spec], folders: [&'a Path; 2] },
    Run { method: MethodRequest, rounds: Vec<u32>, name: &'a str },
    Time { method: MethodRequest, settings: &'a TimeSettings, seed: u64, round: u32, name: Option<&'a str> },
}

/// What a run gave: the outputs are in files, and of these types.
#[derive(Debug, Deserialize)]
pub(super) struct PythonRun {
    pub outputs: Vec<Spec>,
}

/// Times, and the types of what one of the timed runs gave.
#[derive(Debug, Deserialize)]
pub(super) struct PythonTimes {
    pub times: ProcessTimes,
    pub outputs: Vec<Spec>,
}

/// A request was done and there is nothing to say.
#[derive(Debug, Deserialize)]
struct PythonDone {}

#[derive(Deserialize)]
#[serde(untagged)]
enum PythonAnswer<T> {
    Error {
        error: String,
        #[serde(default)]
        files: bool,
    },
    Done(T),
}

impl Python {
    /// Starts one, which then imports PyTorch. It has no environment but what a device process has and where its modules are.
    pub fn start(setup: &Setup) -> Result<Python, PythonError> {
        let failed = |source| PythonError::Start { python: setup.python.clone(), source };
        let scratch = tempfile::Builder::new().prefix("passhost-baseline-").tempdir().map_err(failed)?;
        for (name, text) in SCRIPTS {
            std::fs::write(scratch.path().join(name), text).map_err(failed)?;
        }
        let script = scratch.path().join(SCRIPTS[0].0);
        let mut command = Command::new(&setup.python);
        command.arg("-s").arg(&script).arg(scratch.path()).env_clear().current_dir(scratch.path());
        for name in ENVIRONMENT.iter().chain(&[MODULES]) {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.env("TMPDIR", scratch.path());
        for name in ["TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"] {
            command.env(name, setup.compiled.path());
        }
        // No processes beside it: what is compiled is little.
        command.env("TORCHINDUCTOR_COMPILE_THREADS", "1");
        let child = Child::spawn("Python", &mut command, true, read_answer).map_err(failed)?;
        Ok(Python { child, _scratch: scratch })
    }

    /// Waits until it is ready, and has it open its device.
    pub fn hello(&mut self, setup: &Setup) -> Result<Hello, PythonError> {
        self.ask(&PythonRequest::Hello { device: &setup.device, threads: setup.threads }, setup.start)
    }

    /// Keeps it to these cores, and what it starts from now on; false where that is not allowed.
    pub fn keep_to(&self, cores: &[u32]) -> bool {
        keep_process_to(self.child.id(), cores)
    }

    /// Gives it a program, and the folders of its inputs and of what comes of them.
    pub fn load(
        &mut self,
        device: &str,
        program: &PythonProgram,
        inputs: &[Spec],
        folders: [&Path; 2],
        limit: Duration,
    ) -> Result<(), PythonError> {
        self.ask(&PythonRequest::Load { device, program, inputs, folders }, limit).map(|PythonDone {}| ())
    }

    /// Runs the program on the inputs of so many rounds and writes the outputs to files of this name.
    pub fn run(&mut self, method: Method, rounds: u32, name: &str, limit: Duration) -> Result<PythonRun, PythonError> {
        self.ask(&PythonRequest::Run { method: method.into(), rounds: (0..rounds).collect(), name }, limit)
    }

    /// Times the program against eager on the inputs of a round, and if there is a name writes what one of the timed runs gave.
    pub fn time(
        &mut self,
        method: Method,
        settings: &TimeSettings,
        seed: u64,
        (round, name): (u32, Option<&str>),
        limit: Duration,
    ) -> Result<PythonTimes, PythonError> {
        self.ask(&PythonRequest::Time { method: method.into(), settings, seed, round, name }, limit)
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &PythonRequest<'_>, limit: Duration) -> Result<T, PythonError> {
        let form = |error: serde_json::Error| PythonError::Answer(error.to_string());
        let mut line = serde_json::to_vec(request).map_err(form)?;
        line.push(b'\n');
        self.child.send_bytes(&line)?;
        let answer = self.child.receive(Instant::now() + limit)?;
        match serde_json::from_str(&answer) {
            Ok(PythonAnswer::Done(answer)) => Ok(answer),
            Ok(PythonAnswer::Error { error, files: true }) => Err(PythonError::Unwritable(one_line(&error, 400))),
            Ok(PythonAnswer::Error { error, .. }) => Err(PythonError::Refused(one_line(&error, 400))),
            Err(_) => Err(PythonError::Answer(one_line(&answer, 200))),
        }
    }
}

/// The next line of its standard output.
fn read_answer(stdout: &mut BufReader<ChildStdout>) -> Result<String, FrameError> {
    let mut line = String::new();
    match stdout.take(ANSWER).read_line(&mut line)? {
        0 => Err(FrameError::Closed),
        _ => Ok(line),
    }
}
