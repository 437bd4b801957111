//! A child process that speaks frames over its pipes, with a deadline for every answer.

use passhost_protocol::{FrameError, Most, Reply, read_reply, write_frame};
use passhost_result::Walls;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde::Serialize;
use std::ffi::OsStr;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
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
    #[error("the {name} process gave no answer within {} ms", .limit.as_millis())]
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
    /// A wall is missing that must stand. Nothing untrusted has reached the process.
    #[error("the {name} process is not confined as --require-confinement asks: this kernel has no {missing} ({walls})")]
    Unconfined {
        /// Which child.
        name: &'static str,
        /// Which walls, in words.
        missing: &'static str,
        /// What stands.
        walls: Walls,
    },
}

impl ChildError {
    /// Whether no child of this kind can be had on this machine, whoever asks for one.
    pub fn is_hosts(&self) -> bool {
        matches!(self, ChildError::Start { .. } | ChildError::Unconfined { .. })
    }
}

/// Which walls of the kernel must stand around a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confinement {
    /// Those that the kernel has; the result says which these are.
    #[default]
    WherePossible,
    /// All of them, or the child is not used.
    Required,
}

/// A running child. Dropping it kills the process.
pub struct Child<R> {
    name: &'static str,
    process: std::process::Child,
    stdin: Patient,
    replies: Receiver<Result<R, FrameError>>,
    /// What the last request allows the answer besides what a message of its kind may have.
    allowed: Arc<Mutex<Most>>,
    stderr: Arc<Mutex<Vec<u8>>>,
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
        let failed = |reason: String| ChildError::Start { program: path.display().to_string(), reason };
        let mut command = Command::new(&path);
        command.args(argument).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in keep {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let mut process = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(stdin), Some(stdout), Some(mut stderr)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(failed("it has no pipes".into()));
        };
        let stdin = Patient::new(stdin).map_err(|error| failed(error.to_string()))?;
        let (sender, replies) = mpsc::sync_channel(WAITING);
        let allowed = Arc::new(Mutex::new(Most::default()));
        let more = Arc::clone(&allowed);
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            loop {
                let reply = read_reply(&mut stdout, || *more.lock().unwrap_or_else(PoisonError::into_inner));
                let last = reply.is_err();
                if sender.send(reply).is_err() || last {
                    return;
                }
            }
        });
        let tail = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&tail);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut chunk) {
                let Ok(mut kept) = kept.lock() else { return };
                kept.extend_from_slice(&chunk[..count]);
                let excess = kept.len().saturating_sub(STDERR_TAIL);
                kept.drain(..excess);
            }
        });
        Ok(Child { name, process, stdin, replies, allowed, stderr: tail })
    }

    /// Holds what the child says of its walls to what is asked.
    ///
    /// # Errors
    ///
    /// If one is missing that must stand.
    pub fn hold_to(&self, confinement: Confinement, walls: Walls) -> Result<(), ChildError> {
        match (confinement, walls.missing()) {
            (Confinement::Required, Some(missing)) => Err(ChildError::Unconfined { name: self.name, missing, walls }),
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
        self.stdin.give_up = Instant::now() + TAKING;
        match write_frame(&mut self.stdin, message) {
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

    fn kill(&mut self) {
        // It may have ended by itself in between; then there is nothing to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// The pipe is closed: waits for the end of the process, which is near, and says how it ended.
    fn died(&mut self) -> ChildError {
        let give_up = Instant::now() + Duration::from_secs(2);
        let status = loop {
            match self.process.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < give_up => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => {
                    self.kill();
                    break None;
                }
            }
        };
        let stderr = self.stderr.lock().map(|tail| String::from_utf8_lossy(&tail).into_owned()).unwrap_or_default();
        let stderr = passhost_result::untrusted::one_line(&stderr, 400);
        ChildError::Died {
            name: self.name,
            how: status.map_or_else(|| "closed its pipes".into(), how_it_ended),
            stderr: if stderr.is_empty() { String::new() } else { format!(": {stderr}") },
        }
    }
}

impl<R> Drop for Child<R> {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
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

/// The path of a program that is installed with this one.
pub fn beside_this_executable(program: &str) -> PathBuf {
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

/// A child for tests that says these bytes once it has heard something, and then listens. Its script is in the directory.
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
pub fn scripted<R: Reply + Send + 'static>(says: &[u8]) -> (tempfile::TempDir, Child<R>) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("says"), says).unwrap();
    let text = format!("head -c 1 >/dev/null; cat '{}'; cat >/dev/null\n", path("says").display());
    std::fs::write(path("script"), text).unwrap();
    let child = Child::start("scripted", "/bin/sh", Some(path("script").as_os_str()), &["PATH"]).unwrap();
    (directory, child)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_protocol::Room;
    use serde::{Deserialize, Deserializer};
    use std::sync::atomic::{AtomicU64, Ordering};

    static READ: AtomicU64 = AtomicU64::new(0);

    /// A message without contents, which is counted when it is read.
    struct Counted;

    impl<'de> Deserialize<'de> for Counted {
        fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Counted, D::Error> {
            READ.fetch_add(1, Ordering::SeqCst);
            Ok(Counted)
        }
    }

    impl Reply for Counted {
        const KINDS: &'static [Room] = &[];
    }

    #[derive(Debug, Deserialize)]
    struct Empty;

    impl Reply for Empty {
        const KINDS: &'static [Room] = &[];
    }

    #[test]
    fn messages_that_nobody_asked_for_wait_in_the_pipe() {
        // Zeros are messages of no length, without end.
        let mut child: Child<Counted> =
            Child::start("zeros", "/bin/cat", Some(OsStr::new("/dev/zero")), &["PATH"]).unwrap();
        let soon = Instant::now() + Duration::from_secs(600);
        for received in 1..20_000 {
            child.receive(soon).unwrap();
            // Those that wait, the one that is on its way there, and one that was read since.
            let ahead = READ.load(Ordering::SeqCst) - received;
            assert!(ahead <= WAITING as u64 + 2, "{ahead} messages are held after {received}");
        }
    }

    #[test]
    fn a_child_that_takes_nothing_is_given_up() {
        let mut child: Child<Counted> = Child::start("deaf", "/bin/sleep", Some(OsStr::new("600")), &["PATH"]).unwrap();
        child.stdin.give_up = Instant::now();
        let error = write_frame(&mut child.stdin, &vec![0u8; 1 << 20]).unwrap_err();
        assert!(matches!(&error, FrameError::Io(error) if error.kind() == io::ErrorKind::TimedOut), "{error}");
    }

    #[test]
    fn a_child_that_never_stops_talking_has_no_more_time_than_a_silent_one() {
        // Zeros are frames without a byte.
        let mut child: Child<Empty> = Child::start("test", "/bin/cat", Some(OsStr::new("/dev/zero")), &[]).unwrap();
        assert!(child.receive(Instant::now() + Duration::from_secs(60)).is_ok());
        assert!(matches!(child.receive(Instant::now()), Err(ChildError::Deadline { .. })));
    }

    #[test]
    fn what_a_message_of_its_kind_may_not_have_is_refused_and_the_child_ended() {
        #[derive(Debug, Deserialize)]
        enum Letter {
            A(Vec<String>),
        }
        impl Reply for Letter {
            const KINDS: &'static [Room] = &[Room::Growing(Most { bytes: 8, items: 2 })];
        }
        let more = Most { bytes: 1, items: 1 };
        for (bytes, allowed, refused) in [
            (&[4, 0, 0, 0, 0, 2, 0, 0][..], Most::default(), None),
            (&[5, 0, 0, 0, 0, 3, 0, 0, 0], Most::default(), Some("more than the 2 elements allowed")),
            (&[5, 0, 0, 0, 0, 3, 0, 0, 0], more, None),
            (&[9, 0, 0, 0, 0], Most::default(), Some("9 bytes is longer than the 8 allowed")),
            (&[9, 0, 0, 0, 0, 1, 6, 1, 1, 1, 1, 1, 1], more, None),
            (&[1, 0, 0, 0, 7], more, Some("of no kind that this process sends")),
        ] {
            let (_directory, mut child) = scripted::<Letter>(bytes);
            child.allow(allowed);
            child.send(&()).unwrap();
            let reply = child.receive(Instant::now() + Duration::from_secs(60));
            match (refused, reply) {
                (None, Ok(Letter::A(words))) => assert!(!words.is_empty()),
                (Some(why), Err(error @ ChildError::Protocol { .. })) => {
                    assert!(error.to_string().contains(why), "{error}");
                    assert!(child.process.try_wait().unwrap().is_some());
                }
                (_, reply) => panic!("{bytes:?}: {reply:?}"),
            }
        }
    }
}
