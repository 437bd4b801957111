//! A Python that runs one graph: a process of its own, asked in lines of JSON, with a deadline for each answer.

use super::method::{InductorMode, Method};
use super::print::{PythonProgram, Spec};
use passhost_child::cores::keep_process_to;
use passhost_child::process::ENVIRONMENT;
use passhost_result::ProcessTimes;
use passhost_result::untrusted::one_line;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What Python runs, the first of these with the others as modules. It gets a program as data.
pub(super) const SCRIPTS: [(&str, &str); 3] = [
    ("passhost_baseline.py", include_str!("child/child.py")),
    ("program.py", include_str!("child/program.py")),
    ("timing.py", include_str!("child/timing.py")),
];

/// Bytes of its standard error that are kept, the last ones.
const STDERR_TAIL: usize = 8 << 10;
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
    /// It ended.
    #[error("Python {how}{stderr}")]
    Died {
        /// `exited with status 1`.
        how: String,
        /// The end of its standard error after `: `, or nothing.
        stderr: String,
    },
    /// It took too long, and was killed.
    #[error("Python gave no answer within {} s", .0.as_secs())]
    Deadline(Duration),
    /// What came back is something else than was asked for.
    #[error("Python gave an answer that is none: {0}")]
    Answer(String),
    /// What was asked cannot be done, in its own words.
    #[error("{0}")]
    Refused(String),
}

impl PythonError {
    /// Whether the process is still there and can be asked for more.
    pub fn is_refusal(&self) -> bool {
        matches!(self, PythonError::Refused(_))
    }
}

/// A running Python. Dropping it kills it and whatever it started.
pub(super) struct Python {
    process: std::process::Child,
    /// Its own, with whatever it starts.
    group: Option<Pid>,
    answers: Receiver<io::Result<String>>,
    /// Gives the end of what it wrote to standard error.
    stderr: Option<JoinHandle<Vec<u8>>>,
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
    Convolutions { round: u32 },
    Time { method: MethodRequest, settings: &'a TimeSettings, seed: u64, round: u32, name: &'a str },
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

/// What the device takes for the convolutions of a program, and for everything else, nanoseconds.
#[derive(Debug, Deserialize)]
pub(super) struct ConvolutionSplit {
    pub convolutions: Vec<ConvolutionTimes>,
    pub rest_ns: u64,
}

/// What the device takes for a convolution, nanoseconds.
#[derive(Debug, Deserialize)]
pub(super) struct ConvolutionTimes {
    pub op: String,
    /// In the layout of the program.
    pub as_it_is_ns: u64,
    /// With operands in channels-last.
    pub compute_ns: u64,
    /// Of the input to channels-last, and of the result back.
    pub conversions_ns: u64,
}

impl ConvolutionSplit {
    /// One line a convolution, and one for the rest.
    pub fn notes(&self) -> Vec<String> {
        let us = |ns: u64| ns as f64 / 1e3;
        let convolutions = self.convolutions.iter().enumerate().map(|(at, found)| {
            format!(
                "convolution {} of {} ({}): {:.1} us of its device as it is; in channels-last {:.1} us, and {:.1} us to convert its input and its result",
                at + 1,
                self.convolutions.len(),
                one_line(&found.op, 40),
                us(found.as_it_is_ns),
                us(found.compute_ns),
                us(found.conversions_ns)
            )
        });
        let rest =
            (!self.convolutions.is_empty()).then(|| format!("what is no convolution: {:.1} us", us(self.rest_ns)));
        convolutions.chain(rest).collect()
    }
}

/// A request was done and there is nothing to say.
#[derive(Debug, Deserialize)]
struct PythonDone {}

#[derive(Deserialize)]
#[serde(untagged)]
enum PythonAnswer<T> {
    Error { error: String },
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
        command.env("TORCHINDUCTOR_COMPILE_THREADS", "1").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(failed)?;
        let (stdout, stderr) = (process.stdout.take(), process.stderr.take().map(tail));
        let answers = stdout.map(answers).ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        let group = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        Ok(Python { process, group, answers, stderr, _scratch: scratch })
    }

    /// Waits until it is ready, and has it open its device.
    pub fn hello(&mut self, setup: &Setup) -> Result<Hello, PythonError> {
        self.ask(&PythonRequest::Hello { device: &setup.device, threads: setup.threads }, setup.start)
    }

    /// Keeps it to these cores, and what it starts from now on; false where that is not allowed.
    pub fn keep_to(&self, cores: &[u32]) -> bool {
        self.group.is_some_and(|process| keep_process_to(process, cores))
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

    /// Times the convolutions of the program one by one, on the inputs of a round.
    pub fn convolutions(&mut self, round: u32, limit: Duration) -> Result<ConvolutionSplit, PythonError> {
        self.ask(&PythonRequest::Convolutions { round }, limit)
    }

    /// Times the program against eager on the inputs of a round, and writes what one of the timed runs gave.
    pub fn time(
        &mut self,
        method: Method,
        settings: &TimeSettings,
        seed: u64,
        (round, name): (u32, &str),
        limit: Duration,
    ) -> Result<PythonTimes, PythonError> {
        self.ask(&PythonRequest::Time { method: method.into(), settings, seed, round, name }, limit)
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &PythonRequest<'_>, limit: Duration) -> Result<T, PythonError> {
        let form = |error: serde_json::Error| PythonError::Answer(error.to_string());
        let mut line = serde_json::to_vec(request).map_err(form)?;
        line.push(b'\n');
        let sent = self.process.stdin.as_mut().map(|stdin| stdin.write_all(&line).and_then(|()| stdin.flush()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.died());
        }
        match self.answers.recv_timeout(limit) {
            Ok(Ok(answer)) => match serde_json::from_str(&answer) {
                Ok(PythonAnswer::Done(answer)) => Ok(answer),
                Ok(PythonAnswer::Error { error }) => Err(PythonError::Refused(one_line(&error, 400))),
                Err(_) => Err(PythonError::Answer(one_line(&answer, 200))),
            },
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.died()),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(PythonError::Deadline(limit))
            }
        }
    }

    /// Its pipe is closed: waits for its end, which is near, and says how it ended.
    fn died(&mut self) -> PythonError {
        let give_up = Instant::now() + Duration::from_secs(2);
        let ended = loop {
            match self.process.try_wait() {
                Ok(None) if Instant::now() < give_up => std::thread::sleep(Duration::from_millis(2)),
                ended => break ended.ok().flatten(),
            }
        };
        self.kill();
        let how = ended.map_or_else(|| "closed its pipes".into(), |status| format!("ended ({status})"));
        // All that could write there is gone: the end of the pipe is near.
        while Instant::now() < give_up && self.stderr.as_ref().is_some_and(|stderr| !stderr.is_finished()) {
            std::thread::sleep(Duration::from_millis(2));
        }
        let stderr = self.stderr.take().filter(JoinHandle::is_finished).and_then(|stderr| stderr.join().ok());
        let stderr = String::from_utf8_lossy(&stderr.unwrap_or_default()).into_owned();
        // The last line of a traceback says what happened.
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).map(|line| one_line(line, 300));
        PythonError::Died { how, stderr: last.map(|last| format!(": {last}")).unwrap_or_default() }
    }

    /// Ends it and everything that it started, once.
    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            // A group that is gone needs no signal.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.process.wait();
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Lines of its standard output, read beside.
fn answers(stdout: std::process::ChildStdout) -> Receiver<io::Result<String>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        loop {
            let mut line = String::new();
            let read = (&mut stdout).take(ANSWER).read_line(&mut line);
            let next = match read {
                Ok(0) => return,
                read => read.map(|_| line),
            };
            let last = next.is_err();
            if sender.send(next).is_err() || last {
                return;
            }
        }
    });
    receiver
}

/// The end of its standard error, read beside until there is no more.
fn tail(mut stderr: std::process::ChildStderr) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let (mut kept, mut chunk) = (vec![], [0; 4096]);
        while let Ok(count @ 1..) = stderr.read(&mut chunk) {
            kept.extend_from_slice(&chunk[..count]);
            let excess = kept.len().saturating_sub(STDERR_TAIL);
            kept.drain(..excess);
        }
        kept
    })
}
