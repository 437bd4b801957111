//! The commands of passhost, as child processes: they keep their limits, and end with whoever started them.

use crate::command_output::CommandOutput;
use crate::error::AgentToolsError;
use crate::executor::{BuiltPass, Evaluated, ToolExecutor};
use crate::gate::DeviceGate;
use passhost_child::cores::keep_to;
use passhost_confine::process::die_with_parent;
use passhost_result::document::Document;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it is looked whether a child has ended, or should.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes that are kept of what a child prints on each of its outputs.
const KEPT: u64 = 4 << 20;

/// The commands, and with which options they are called.
#[derive(Clone)]
pub struct CliRunner {
    /// The program `passhost`.
    pub program: PathBuf,
    /// The policy that rewrites are held against, such as `--policy strict`.
    pub policy: Vec<String>,
    /// Other options of `passhost eval`, such as `--device cpu --budget 1s`.
    pub eval: Vec<String>,
    /// Other options of `passhost show` where it runs a pass: those that it shares with evaluations, and the device that the
    /// pass is told of. None is opened, as that would take time of one that is timed.
    pub check: Vec<String>,
    /// Variables that no child may see, such as that of the endpoint's key.
    pub withheld: Vec<String>,
    /// The cores that commands keep to that are not timed; all where there are none.
    pub cores: Vec<u32>,
    /// Who may work beside whom: measurements would be disturbed.
    pub gate: Arc<DeviceGate>,
    /// Whether somebody asked to stop.
    pub stop: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl fmt::Debug for CliRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CliRunner { program, policy, eval, check, .. } = self;
        let mut fields = f.debug_struct("CliRunner");
        fields.field("program", program).field("policy", policy).field("eval", eval).field("check", check).finish()
    }
}

impl CliRunner {
    /// Runs a command to its end, on these cores, or on all where there are none.
    fn child(&self, arguments: &[OsString], cores: &[u32]) -> Result<CommandOutput, AgentToolsError> {
        let started = Instant::now();
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in &self.withheld {
            command.env_remove(name);
        }
        let cores = cores.to_vec();
        let prepare = move || {
            if !cores.is_empty() {
                keep_to(&cores);
            }
            die_with_parent().map_err(io::Error::other)
        };
        // SAFETY: between fork and exec it chooses cores, sets the disposition of a signal and asks for one by `prctl`; all
        // are allowed there, and only an error allocates.
        unsafe { command.pre_exec(prepare) };
        let start = |source| AgentToolsError::Start(self.program.clone(), source);
        let mut child = command.spawn().map_err(start)?;
        let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
        let status = loop {
            if let Some(status) = child.try_wait().map_err(start)? {
                break status;
            }
            if (self.stop)() {
                let _ = child.kill();
                let _ = child.wait();
                return Err(AgentToolsError::Stopped);
            }
            std::thread::sleep(LOOK);
        };
        let command = arguments.first().map_or_else(String::new, |word| word.to_string_lossy().into_owned());
        Ok(CommandOutput { command, status, out: text(out), err: text(err), took: started.elapsed() })
    }
}

impl CliRunner {
    /// Evaluates a pass, and leaves the result in a file.
    fn measure(&self, pass: &BuiltPass<'_>, result: &Path) -> Result<Duration, AgentToolsError> {
        let words = ["eval".as_ref(), pass.component.as_os_str(), pass.sample.as_os_str()];
        let json = ["--json".as_ref(), result.as_os_str(), "--quiet".as_ref()];
        let options = self.eval.iter().chain(&self.policy).map(AsRef::as_ref);
        let words: Vec<OsString> = words.into_iter().chain(json).chain(options).map(ToOwned::to_owned).collect();
        // One that was there says nothing of what comes now.
        let _ = std::fs::remove_file(result);
        let _timed = self.gate.timed();
        let ran = self.child(&words, &[])?;
        if matches!(ran.code(), Some(0 | 1)) && result.is_file() {
            return Ok(ran.took);
        }
        let document = std::fs::read_to_string(result).ok().and_then(|text| serde_json::from_str(&text).ok());
        // What the host did wrong is not kept: it is measured again.
        let _ = std::fs::remove_file(result);
        Err(document.as_ref().and_then(AgentToolsError::of_result).unwrap_or_else(|| ran.trouble()))
    }
}

impl ToolExecutor for CliRunner {
    fn run(&self, mut words: Vec<OsString>, runs_pass: bool) -> Result<CommandOutput, AgentToolsError> {
        if runs_pass {
            words.extend(self.check.iter().chain(&self.policy).map(OsString::from));
        }
        let _untimed = self.gate.untimed();
        self.child(&words, &self.cores)
    }

    /// By `passhost eval`, whose result stays beside the component.
    fn evaluate(&self, pass: &BuiltPass<'_>) -> Result<Evaluated, AgentToolsError> {
        let result = pass.component.with_extension("json");
        // A result that is there was measured before somebody stopped this program, and not written down. One that cannot be
        // read, as a power failure may leave it, was not.
        let before = std::fs::read_to_string(&result).ok();
        if let Some(document) = before.filter(|text| serde_json::from_str::<Document>(text).is_ok()) {
            return Ok(Evaluated { document, device: Duration::ZERO });
        }
        let device = self.measure(pass, &result)?;
        let document = std::fs::read_to_string(&result).map_err(AgentToolsError::file(&result))?;
        Ok(Evaluated { document, device })
    }
}

/// Reads all that comes, and keeps the beginning.
fn collect(from: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut kept = vec![];
        let Some(mut from) = from else { return kept };
        let _ = from.by_ref().take(KEPT).read_to_end(&mut kept);
        let _ = io::copy(&mut from, &mut io::sink());
        kept
    })
}

fn text(reader: JoinHandle<Vec<u8>>) -> String {
    reader.join().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// The words that a command gets, and the cores that it may use, from a program that tells both.
    fn told(cores: Vec<u32>, runs_pass: bool) -> (String, Vec<String>) {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("program");
        std::fs::write(&program, "#!/bin/sh\necho \"$@\"\ngrep Cpus_allowed_list /proc/self/status\n").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        let runner = CliRunner {
            program,
            policy: words("--policy strict"),
            eval: words("--device cpu"),
            check: words("--limit-fuel 7"),
            withheld: vec![],
            cores,
            gate: Arc::new(DeviceGate::new(false)),
            stop: Arc::new(|| false),
        };
        let ran = runner.run(vec!["show".into()], runs_pass).unwrap();
        let mut lines = ran.out.lines();
        let words = lines.next().unwrap().split(' ').map(str::to_owned).collect();
        (lines.next().unwrap().split_whitespace().nth(1).unwrap().to_owned(), words)
    }

    #[test]
    fn a_command_that_is_not_timed_keeps_to_its_cores_and_one_that_runs_a_pass_has_the_options_of_evaluations() {
        let (all, words) = told(vec![], true);
        assert_eq!(words, ["show", "--limit-fuel", "7", "--policy", "strict"]);
        assert_eq!(told(vec![], false).1, ["show"]);
        let first = all.split([',', '-']).next().unwrap().parse().unwrap();
        assert_eq!(told(vec![first], false).0, first.to_string());
        // It is the command that keeps to them, and nothing else of this process.
        assert_eq!(told(vec![], true).0, all);
    }
}
