//! The child that has the compiler run, for whoever waits for it.

use crate::error::BuildError;
use passhost_child::ChildError;
use passhost_protocol::builder::{BuildOrder, CompilerEnd, FromBuilder};
use passhost_protocol::{FrameError, Most, read_reply, write_frame};
use passhost_result::SandboxProfile;
use passhost_result::untrusted::one_line;
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes that the compiler may print.
pub(crate) const PRINTED: usize = 4 << 20;
/// What messages call the child.
const NAME: &str = "builder";
/// Characters of what it says when it fails.
const WORDS: usize = 600;

/// How a compiler ran.
#[derive(Debug)]
pub(crate) struct CompilerRun {
    pub profile: SandboxProfile,
    pub end: CompilerEnd,
    pub printed: Vec<u8>,
}

/// The child. It ends everything when its standard input is closed.
pub(crate) struct Warden {
    process: Child,
}

impl Warden {
    pub(crate) fn start(program: &Path) -> Result<Warden, BuildError> {
        let mut command = Command::new(program);
        // A signal to the group of this process does not end it before it has ended the compiler.
        command.env_clear().process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = command
            .spawn()
            .map_err(|error| ChildError::Start { program: program.display().to_string(), reason: error.to_string() })?;
        Ok(Warden { process })
    }

    /// Has an order carried out. Who has said nothing so long after the compiler must have ended is killed.
    pub(crate) fn run(mut self, order: &BuildOrder, patience: Duration) -> Result<CompilerRun, BuildError> {
        let (Some(mut input), Some(mut output), Some(errors)) =
            (self.process.stdin.take(), self.process.stdout.take(), self.process.stderr.take())
        else {
            return Err(BuildError::Unusable("the builder process has no pipes".to_owned()));
        };
        let limit = Duration::from_millis(order.limits.wall_ms).saturating_add(patience);
        let watch = KillTimer::of(&self.process, limit);
        let written = write_frame(&mut input, order);
        let printed = read_printed(input, errors);
        let mut answer = || read_reply(&mut output, Most::default);
        let answers = written.and_then(|()| Ok([answer()?, answer()?]));
        let is_late = watch.stop();
        let answers: Result<[FromBuilder; 2], FrameError> = answers;
        match answers {
            Ok([FromBuilder::Unusable(reason), _] | [_, FromBuilder::Unusable(reason)]) => {
                Err(BuildError::Unusable(reason))
            }
            Ok([FromBuilder::Ready(profile), FromBuilder::Ended(end)]) => {
                match profile.missing().filter(|_| order.confinement_required) {
                    Some(missing) => Err(BuildError::Unconfined { missing, profile }),
                    None => Ok(CompilerRun { profile, end, printed: printed.join().unwrap_or_default() }),
                }
            }
            Ok(_) => Err(ChildError::UnexpectedMessage(NAME).into()),
            Err(_) if is_late => Err(ChildError::Deadline { name: NAME, limit }.into()),
            Err(source) => Err(self.lost(source, printed)),
        }
    }

    /// Why nothing came of it: what it said last, if it ended.
    fn lost(&mut self, source: FrameError, printed: JoinHandle<Vec<u8>>) -> BuildError {
        let words = printed.join().unwrap_or_default();
        let words = one_line(&String::from_utf8_lossy(&words), WORDS);
        match self.process.wait() {
            Ok(status) if !status.success() => {
                let stderr = if words.is_empty() { words } else { format!(": {words}") };
                ChildError::Died { name: NAME, how: format!("ended ({status})"), stderr }.into()
            }
            _ => ChildError::Protocol { name: NAME, source }.into(),
        }
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        // Its standard input is closed by now, so that it ends by itself when nothing of the compiler is left.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Reads what the compiler prints, and closes the child's standard input behind it, so that a flood ends the compiler.
fn read_printed(input: ChildStdin, errors: ChildStderr) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut printed = vec![];
        let _input = input;
        let _ = errors.take(PRINTED as u64 + 1).read_to_end(&mut printed);
        printed
    })
}

/// Kills a process that is not done in time.
struct KillTimer {
    done: Sender<()>,
    watcher: JoinHandle<bool>,
}

impl KillTimer {
    fn of(process: &Child, limit: Duration) -> KillTimer {
        let (done, wait) = channel();
        let process = Pid::from_child(process);
        let watcher = std::thread::spawn(move || {
            let is_late = wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if is_late {
                // Nobody has waited for it yet, so that the number is still its own.
                let _ = kill_process(process, Signal::KILL);
            }
            is_late
        });
        KillTimer { done, watcher }
    }

    /// Whether it was killed.
    fn stop(self) -> bool {
        drop(self.done);
        self.watcher.join().unwrap_or(false)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_protocol::builder::{BuildLimits, Reach};
    use std::os::unix::fs::PermissionsExt;

    /// What is said of a child that does this in place of its work.
    fn said(script: &str) -> String {
        let scratch = tempfile::tempdir().unwrap();
        let program = scratch.path().join("warden");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let order = BuildOrder {
            program: "rustc".into(),
            arguments: vec![],
            variables: vec![],
            directory: scratch.path().into(),
            whole: scratch.path().into(),
            reach: Reach::default(),
            limits: BuildLimits { wall_ms: 10, ..BuildLimits::default() },
            confinement_required: true,
        };
        Warden::start(&program).unwrap().run(&order, Duration::from_millis(500)).unwrap_err().to_string()
    }

    #[test]
    fn a_child_that_fails_is_asked_why() {
        let said = said("echo 'no room in /proc' >&2; exit 3");
        assert_eq!(said, "the builder process ended (exit status: 3): no room in /proc");
    }

    #[test]
    fn a_child_that_hangs_is_not_waited_for() {
        assert_eq!(said("exec sleep 600"), "the builder process gave no answer within 510 ms");
    }

    #[test]
    fn a_child_that_talks_of_something_else_broke_the_protocol() {
        let said = said("printf 'hello there, this is no frame'");
        assert!(said.starts_with("the builder process broke the protocol: "), "{said}");
    }
}
