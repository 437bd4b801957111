//! A child process that speaks frames over its pipes, with a deadline for every answer.

use passhost_protocol::{FrameError, Most, Reply, read_reply, write_frame};
use passhost_result::SandboxProfile;
use passhost_result::untrusted::one_line;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use std::ffi::OsStr;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of a child's standard error that are kept, the last ones.
const STDERR_TAIL: usize = 8 << 10;

/// Messages of a child that wait to be received. One that sends more waits itself: what it sends unasked is held in its
/// pipe and not in memory.
const WAITING: usize = 1;

/// Wall clock for a child to take a message. It does nothing else meanwhile.
const TAKING: Duration = Duration::from_secs(10);

/// Starting libtorch takes 0.3 s; a cold disk may take a hundred times that.
pub const OPEN: Duration = Duration::from_secs(120);

/// Environment that libtorch, OpenMP and CUDA read, and where their libraries are.
pub const ENVIRONMENT: [&str; 7] =
    ["LD_LIBRARY_PATH", "PATH", "HOME", "XDG_CACHE_HOME", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS"];

/// Why a child gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The program is not where it should be, or does not start.
    #[error("cannot start {program}: {reason}; build it with `make build`, it belongs beside the passhost program")]
    Start {
        /// Path of the program.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// The process ended.
    #[error("the {name} process {how}{stderr}")]
    Died {
        /// Which child.
        name: &'static str,
        /// `was killed by signal 9`, `exited with status 1`.
        how: String,
        /// The end of its standard error after `: `, or nothing.
        stderr: String,
    },
    /// No answer in time. The process has been killed.
    #[error("the {name} process gave no answer within {:.0} ms", .limit.as_secs_f64() * 1e3)]
    Deadline {
        /// Which child.
        name: &'static str,
        /// The deadline.
        limit: Duration,
    },
    /// What came back is no message.
    #[error("the {name} process broke the protocol: {source}")]
    Protocol {
        /// Which child.
        name: &'static str,
        /// What is wrong.
        source: FrameError,
    },
    /// A message that has no place where it came.
    #[error("the {0} process answered out of turn; this is a bug of passhost")]
    UnexpectedMessage(&'static str),
    /// What it answers cannot be.
    #[error("the {name} process says that {what}")]
    Impossible {
        /// Which child.
        name: &'static str,
        /// What it says, and what was expected.
        what: String,
    },
    /// The process is not confined as it must be. Nothing untrusted has reached the process.
    #[error(
        "the {name} process is not confined as --require-confinement asks: this kernel has no {missing} ({profile})"
    )]
    Unconfined {
        /// Which child.
        name: &'static str,
        /// What is missing, in words.
        missing: &'static str,
        /// What there is.
        profile: SandboxProfile,
    },
}

impl ChildError {
    /// Whether no child of this kind can be had on this machine, whoever asks for one, or it is of another version.
    pub fn is_hosts(&self) -> bool {
        matches!(self, ChildError::Start { .. } | ChildError::UnexpectedMessage(_) | ChildError::Unconfined { .. })
    }
}

/// How a child must be confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confinement {
    /// By what the kernel has; the result says what that is.
    #[default]
    WherePossible,
    /// By seccomp and Landlock, or the child is not used.
    Required,
}

/// A running child. Dropping it kills the process.
pub struct Child<R> {
    name: &'static str,
    process: std::process::Child,
    /// Who started it. To a fork of that process it is nobody's.
    parent: u32,
    /// Whether the processes that it starts are killed with it.
    is_group: bool,
    stdin: Patient,
    replies: Receiver<Result<R, FrameError>>,
    /// What the last request allows the answer besides what a message of its kind may have.
    allowed: Arc<Mutex<Most>>,
    /// Gives the end of what it wrote to standard error.
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl<R: Reply + Send + 'static> Child<R> {
    /// Starts `program`, which lies beside this executable, with one argument or none. It inherits no environment but
    /// what `keep` names.
    ///
    /// # Errors
    ///
    /// If it is not there, or does not start.
    pub fn start(
        name: &'static str,
        program: &str,
        argument: Option<&OsStr>,
        keep: &[&str],
    ) -> Result<Child<R>, ChildError> {
        let path = beside_this_executable(program);
        let mut command = Command::new(&path);
        command.args(argument).env_clear();
        for name in keep {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        let allowed = Arc::new(Mutex::new(Most::default()));
        let more = Arc::clone(&allowed);
        let read = move |stdout: &mut BufReader<ChildStdout>| {
            read_reply(stdout, || *more.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let mut child = Child::spawn(name, &mut command, false, read)
            .map_err(|error| ChildError::Start { program: path.display().to_string(), reason: error.to_string() })?;
        child.allowed = allowed;
        Ok(child)
    }
}

impl<R: Send + 'static> Child<R> {
    /// Starts a command, whose messages `read` takes from its standard output. With `is_group` it leads a group of
    /// processes, which is killed with it.
    ///
    /// # Errors
    ///
    /// If it does not start.
    pub fn spawn(
        name: &'static str,
        command: &mut Command,
        is_group: bool,
        mut read: impl FnMut(&mut BufReader<ChildStdout>) -> Result<R, FrameError> + Send + 'static,
    ) -> io::Result<Child<R>> {
        if is_group {
            command.process_group(0);
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(io::Error::other("it has no pipes"));
        };
        let stdin = Patient::new(stdin)?;
        let (sender, replies) = mpsc::sync_channel(WAITING);
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            loop {
                let reply = read(&mut stdout);
                let last = reply.is_err();
                if sender.send(reply).is_err() || last {
                    return;
                }
            }
        });
        let stderr = Some(std::thread::spawn(move || tail(stderr)));
        let parent = std::process::id();
        Ok(Child { name, process, parent, is_group, stdin, replies, allowed: Arc::default(), stderr })
    }

    /// Holds what the child says of its sandbox profile to what is asked.
    ///
    /// # Errors
    ///
    /// If one is missing that must stand.
    pub fn hold_to(&self, confinement: Confinement, profile: SandboxProfile) -> Result<(), ChildError> {
        match (confinement, profile.missing()) {
            (Confinement::Required, Some(missing)) => Err(ChildError::Unconfined { name: self.name, missing, profile }),
            _ => Ok(()),
        }
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Lets the answer to the next request have so much more than a message of its kind has by itself.
    pub fn allow(&self, more: Most) {
        *self.allowed.lock().unwrap_or_else(PoisonError::into_inner) = more;
    }

    /// Sends a message.
    ///
    /// # Errors
    ///
    /// If the child is gone, does not take it, or the message is too long. A process that does not take it is gone then.
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), ChildError> {
        self.write(|stdin| write_frame(stdin, message))
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    ///
    /// If the child is gone, or does not take them. A process that does not take them is gone then.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), ChildError> {
        self.write(|stdin| Ok(stdin.write_all(bytes)?))
    }

    fn write(&mut self, write: impl FnOnce(&mut Patient) -> Result<(), FrameError>) -> Result<(), ChildError> {
        self.stdin.give_up = Instant::now() + TAKING;
        match write(&mut self.stdin) {
            Ok(()) => Ok(()),
            Err(FrameError::Io(error)) if error.kind() == io::ErrorKind::TimedOut => {
                self.kill();
                Err(ChildError::Deadline { name: self.name, limit: TAKING })
            }
            Err(FrameError::Io(_)) => Err(self.died()),
            Err(source) => Err(ChildError::Protocol { name: self.name, source }),
        }
    }

    /// The next message.
    ///
    /// # Errors
    ///
    /// If the child is gone, sent no message, or sent nothing until `deadline`. After an error the process is gone.
    pub fn receive(&mut self, deadline: Instant) -> Result<R, ChildError> {
        let left = deadline.saturating_duration_since(Instant::now());
        // A child that never stops talking gets no more time than one that is silent.
        let reply = if left.is_zero() { Err(RecvTimeoutError::Timeout) } else { self.replies.recv_timeout(left) };
        match reply {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(FrameError::Closed | FrameError::Io(_))) | Err(RecvTimeoutError::Disconnected) => Err(self.died()),
            Ok(Err(source)) => {
                self.kill();
                Err(ChildError::Protocol { name: self.name, source })
            }
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(ChildError::Deadline { name: self.name, limit: left })
            }
        }
    }

    /// The pipe is closed: waits for the end of the process, which is near, and says how it ended.
    fn died(&mut self) -> ChildError {
        let give_up = Instant::now() + Duration::from_secs(2);
        let wait = || {
            let goes_on = Instant::now() < give_up;
            if goes_on {
                std::thread::sleep(Duration::from_millis(2));
            }
            goes_on
        };
        let mut status = self.process.try_wait().ok().flatten();
        while status.is_none() && wait() {
            status = self.process.try_wait().ok().flatten();
        }
        self.kill();
        // All that could write there is gone: the end of the pipe is near.
        while self.stderr.as_ref().is_some_and(|stderr| !stderr.is_finished()) && wait() {}
        let stderr = self.stderr.take().filter(JoinHandle::is_finished).and_then(|stderr| stderr.join().ok());
        let stderr = one_line(&String::from_utf8_lossy(&stderr.unwrap_or_default()), 400);
        ChildError::Died {
            name: self.name,
            how: status.map_or_else(|| "closed its pipes".into(), how_it_ended),
            stderr: if stderr.is_empty() { String::new() } else { format!(": {stderr}") },
        }
    }
}

impl<R> Child<R> {
    fn kill(&mut self) {
        if std::process::id() != self.parent {
            return;
        }
        // It may have ended by itself in between; then there is nothing to do.
        let group = Pid::from_child(&self.process);
        if std::mem::take(&mut self.is_group) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl<R> Drop for Child<R> {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The end of what a child writes to standard error, until there is no more.
fn tail(mut stderr: impl Read) -> Vec<u8> {
    let (mut kept, mut chunk) = (vec![], [0; 4096]);
    while let Ok(count @ 1..) = stderr.read(&mut chunk) {
        kept.extend_from_slice(&chunk[..count]);
        let excess = kept.len().saturating_sub(STDERR_TAIL);
        kept.drain(..excess);
    }
    kept
}

/// The standard input of a child, which is written to until a moment and not for ever: a child need not read.
struct Patient {
    stdin: ChildStdin,
    give_up: Instant,
}

impl Patient {
    fn new(stdin: ChildStdin) -> io::Result<Patient> {
        let flags = fcntl_getfl(&stdin)?;
        fcntl_setfl(&stdin, flags | OFlags::NONBLOCK)?;
        Ok(Patient { stdin, give_up: Instant::now() })
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.stdin.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return written,
            }
            let left = self.give_up.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            // A failure to wait shows in the next attempt to write.
            let left = Timespec::try_from(left).ok();
            let _ = poll(&mut [PollFd::new(&self.stdin, PollFlags::OUT)], left.as_ref());
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdin.flush()
    }
}

fn how_it_ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}{}", signal_name(signal)),
        (None, Some(code)) => format!("exited with status {code}"),
        (None, None) => "ended".into(),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (abort)",
        7 => " (bus error)",
        8 => " (arithmetic exception)",
        9 => " (kill)",
        11 => " (segmentation fault)",
        15 => " (termination)",
        24 => " (CPU time limit)",
        25 => " (file size limit)",
        31 => " (forbidden system call)",
        _ => "",
    }
}

/// Where the programs of children are, if not beside this executable.
static PROGRAMS: OnceLock<PathBuf> = OnceLock::new();

/// Says where the programs of children are, for a process whose executable is somebody else's, such as Python. The first
/// word counts.
pub fn set_programs(directory: PathBuf) {
    PROGRAMS.get_or_init(|| directory);
}

/// The path of a program that is installed with this one.
pub fn beside_this_executable(program: &str) -> PathBuf {
    if let Some(directory) = PROGRAMS.get() {
        return directory.join(program);
    }
    match std::env::current_exe() {
        // Tests run from target/<profile>/deps and examples from target/<profile>/examples, one level below the programs.
        Ok(path) => {
            let directory = path.parent().map(PathBuf::from).unwrap_or_default();
            let candidate = directory.join(program);
            match directory.parent() {
                Some(parent)
                    if !candidate.exists() && (directory.ends_with("deps") || directory.ends_with("examples")) =>
                {
                    parent.join(program)
                }
                _ => candidate,
            }
        }
        Err(_) => PathBuf::from(program),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
pub(crate) mod tests;
