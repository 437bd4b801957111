//! Runs the real programs the way a user does, for the end-to-end tests.

mod browser;
mod documented;
mod passes;
mod server;

pub use browser::{Browser, Look};
pub use documented::{Documented, command, documented};
pub use passes::{BROKEN, INSERTS, RIGHT, WRONG};
pub use server::Server;

use passhost_sample::Packed;
use rustix::process::{Pid, Resource, Rlimit, Signal, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// The repository, above the directory of the package that runs. It is found when a test runs: a target directory may
/// serve several clones.
pub fn repository() -> PathBuf {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| ".".into()));
    let root = package.ancestors().find(|directory| directory.join("Cargo.lock").exists());
    root.map_or_else(|| package.join(".."), Path::to_path_buf)
}

/// A shipped sample.
pub fn sample(name: &str) -> PathBuf {
    repository().join("samples").join(name)
}

/// The variants of the shipped samples whose tensors are smallest, in each type: evaluating one takes a fraction of a second.
pub const SMALL: &[&str] = &["/s0-1_", "/shape-0/"];

/// A shipped sample with those of its variants whose names contain one of these, in a directory that is removed again.
///
/// # Panics
///
/// If it cannot be written, or would have no variant.
pub fn sample_with(name: &str, variants: &[&str]) -> TempDir {
    let (packed, to) = (Packed::open(&sample(name)), directory());
    assert!(packed.is_ok(), "{name}: {packed:?}");
    let packed = packed.unwrap_or_else(|_| unreachable!("it was checked"));
    let list = packed.text("graph_list.txt").unwrap_or_default();
    let kept: Vec<&str> = list.lines().filter(|graph| variants.iter().any(|part| graph.contains(part))).collect();
    assert!(!kept.is_empty(), "{name} has no variant {variants:?}");
    let written = packed.files().filter(|(path, _)| kept.iter().any(|graph| Path::new(path).starts_with(graph)));
    let mut written = written.map(|(path, text)| {
        let path = to.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(to.path())).and_then(|()| std::fs::write(path, text))
    });
    let written = written.try_for_each(|written| written);
    let written = written.and_then(|()| std::fs::write(to.path().join("graph_list.txt"), kept.join("\n")));
    assert!(written.is_ok(), "{written:?}");
    to
}

/// A new directory, which is removed again.
///
/// # Panics
///
/// If there can be none.
pub fn directory() -> TempDir {
    let made = tempfile::tempdir();
    assert!(made.is_ok(), "{made:?}");
    made.unwrap_or_else(|_| unreachable!("it was checked"))
}

/// A directory and the files below it that others than their user may read, write or enter, with their modes.
pub fn open_to_others(path: &Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(found) = std::fs::symlink_metadata(path) else { return vec![] };
    let mode = found.permissions().mode() & 0o7777;
    let is_open = mode & 0o077 != 0 && !found.is_symlink();
    let itself = is_open.then(|| format!("{} {mode:o}", path.display()));
    let below = std::fs::read_dir(path).into_iter().flatten().flatten();
    itself.into_iter().chain(below.flat_map(|entry| open_to_others(&entry.path()))).collect()
}

/// The directory of this build's programs: tests run from `<target>/debug/deps`.
fn programs() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    test.parent().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default()
}

/// A plugin that `make plugins` built.
///
/// # Panics
///
/// If it has not been built.
pub fn plugin(name: &str) -> PathBuf {
    let base = std::env::var_os("PASSHOST_PLUGINS").map(PathBuf::from);
    let base = base.unwrap_or_else(|| programs().join("../wasm32-wasip2/plugin"));
    let file = format!("{}.wasm", name.replace('-', "_"));
    let candidates = [base.join(&file), base.join("examples").join(&file)];
    let found = candidates.iter().find(|path| path.exists());
    assert!(found.is_some(), "no {} nor {}: run `make plugins`", candidates[0].display(), candidates[1].display());
    found.cloned().unwrap_or_default()
}

/// What a run of `passhost` left behind.
#[derive(Debug)]
pub struct Run {
    /// The command, for messages.
    pub command: String,
    /// Exit code; -1 if a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The document that `--json` wrote, if any.
    pub document: Option<Value>,
}

impl Run {
    fn new(command: String, output: &Output, json: &Path) -> Run {
        let document = std::fs::read_to_string(json).ok().and_then(|text| serde_json::from_str(&text).ok());
        Run {
            command,
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            document,
        }
    }

    /// Fails with the whole run unless the condition holds.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn expect(&self, condition: bool, what: &str) -> &Run {
        assert!(condition, "{what}\n$ {}\nexit {}\n{}\n{}", self.command, self.code, self.out, self.err);
        self
    }

    /// Fails unless the run ended with `code` and every text occurs in its output, wherever lines are broken. No run may
    /// end in a host panic.
    ///
    /// # Panics
    ///
    /// If it did otherwise.
    pub fn expect_end(&self, code: i32, texts: &[&str]) -> &Run {
        self.expect(self.code == code, &format!("expected exit code {code}"));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let output = words(&format!("{} {}", self.out, self.err));
        for text in texts {
            self.expect(output.contains(text), &format!("expected `{text}` in the output"));
        }
        self.expect(!self.err.contains("panicked at"), "a host program panicked")
    }

    /// The document.
    ///
    /// # Panics
    ///
    /// If none was written.
    pub fn json(&self) -> &Value {
        self.expect(self.document.is_some(), "no result document was written");
        self.document.as_ref().unwrap_or(&Value::Null)
    }

    /// The variants of the only sample of the document.
    ///
    /// # Panics
    ///
    /// If there are none, so that a check of each of them checks something.
    pub fn variants(&self) -> &[Value] {
        self.variants_of(self.json())
    }

    /// The variants of one sample of the document.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn variants_of<'a>(&self, sample: &'a Value) -> &'a [Value] {
        let variants = sample["variants"].as_array().map_or(&[][..], Vec::as_slice);
        self.expect(!variants.is_empty(), "the document has variants");
        variants
    }
}

/// A `passhost` command line with a cache and a result file of its own.
#[derive(Debug)]
pub struct Passhost {
    arguments: Vec<String>,
    directory: TempDir,
    environment: Vec<(String, String)>,
    /// Answers system calls as if there were none, for it and all that it starts.
    filter: Option<BpfProgram>,
    /// Bytes of address space that it may have.
    memory: Option<u64>,
}

impl Passhost {
    /// Of these arguments.
    ///
    /// # Panics
    ///
    /// If there is no room for temporary files.
    pub fn new<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Passhost {
        let directory = tempfile::tempdir();
        assert!(directory.is_ok(), "no temporary directory: {directory:?}");
        let arguments = arguments.into_iter().map(|a| a.as_ref().to_string_lossy().into_owned()).collect();
        // A cache that all tests share compiles each plugin once.
        let environment = vec![];
        directory.map_or_else(
            |_| unreachable!("it was checked"),
            |directory| Passhost { arguments, directory, environment, filter: None, memory: None },
        )
    }

    /// `passhost eval PLUGIN SAMPLE --json FILE` with a short budget, on one thread: tests run side by side, and threads that
    /// wait for each other in turns would take most of the time.
    pub fn eval(plugin: &Path, sample: &Path) -> Passhost {
        Passhost::eval_within("50ms", plugin, sample).with(&["--threads", "1"])
    }

    /// The same with another budget, on as many threads as there are cores. Tests run side by side, so that their noise is
    /// accepted. Each step is said, which some of them wait for.
    pub fn eval_within(budget: &str, plugin: &Path, sample: &Path) -> Passhost {
        let mut run = Passhost::new([Path::new("eval"), plugin, sample]);
        let json = run.json_path().display().to_string();
        run.arguments.extend(
            ["--json", &json, "--budget", budget, "--device", "cpu", "--accept-noise", "--verbose"].map(str::to_owned),
        );
        run
    }

    /// `passhost bench PATHS... --out FILE`, as short as [`Passhost::eval`] is.
    pub fn bench<A: AsRef<std::ffi::OsStr>>(paths: impl IntoIterator<Item = A>, out: &Path) -> Passhost {
        let run = Passhost::new(paths);
        let mut arguments = vec!["bench".to_owned()];
        arguments.extend(run.arguments);
        let out = out.display().to_string();
        let options = ["--out", &out, "--budget", "5ms", "--device", "cpu", "--threads", "1", "--accept-noise"];
        Passhost { arguments, ..run }.with(&options)
    }

    /// `passhost baseline SAMPLE --out FILE`, as short as [`Passhost::eval`] is, in one process of this Python.
    pub fn baseline(sample: &Path, python: &Path, out: &Path) -> Passhost {
        let run =
            Passhost::new([Path::new("baseline"), sample, Path::new("--python"), python, Path::new("--out"), out]);
        let options = ["--budget", "5ms", "--device", "cpu", "--threads", "1", "--accept-noise", "--processes", "1"];
        run.with(&options)
    }

    /// As users run it: on a machine that does something else, nothing is measured.
    #[must_use]
    pub fn in_earnest(mut self) -> Passhost {
        self.arguments.retain(|argument| argument != "--accept-noise");
        self
    }

    /// With more arguments.
    #[must_use]
    pub fn with(mut self, arguments: &[&str]) -> Passhost {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    /// Without an option and its value.
    #[must_use]
    pub fn without(mut self, option: &str) -> Passhost {
        if let Some(at) = self.arguments.iter().position(|argument| argument == option) {
            self.arguments.drain(at..(at + 2).min(self.arguments.len()));
        }
        self
    }

    /// With a variable in its environment.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Passhost {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// As on a kernel that does not have these system calls.
    ///
    /// # Panics
    ///
    /// If this one cannot play it.
    #[must_use]
    pub fn on_a_kernel_without(mut self, calls: &[i64]) -> Passhost {
        let rules = calls.iter().map(|&call| (call, vec![])).collect();
        let architecture = TargetArch::try_from(std::env::consts::ARCH);
        let none = SeccompAction::Errno(38);
        let filter = architecture
            .and_then(|architecture| SeccompFilter::new(rules, SeccompAction::Allow, none, architecture))
            .and_then(BpfProgram::try_from);
        assert!(filter.is_ok(), "{filter:?}");
        self.filter = filter.ok();
        self
    }

    /// With no more than so many bytes of address space.
    #[must_use]
    pub fn within_memory(self, bytes: u64) -> Passhost {
        Passhost { memory: Some(bytes), ..self }
    }

    /// With `--json` to a file that is read afterwards.
    #[must_use]
    pub fn with_json(self) -> Passhost {
        let json = self.json_path().display().to_string();
        self.with(&["--json", &json])
    }

    /// The file that `--json` names.
    pub fn json_path(&self) -> PathBuf {
        self.directory.path().join("result.json")
    }

    /// The command, for those who start it themselves and give what it printed to [`Passhost::ended`].
    ///
    /// # Panics
    ///
    /// If the program was not built.
    pub fn command(&self) -> Command {
        let program = programs().join("passhost");
        assert!(program.exists(), "no {}: run `make build`", program.display());
        let mut command = Command::new(program);
        command.args(&self.arguments).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(filter) = self.filter.clone() {
            let install = move || seccompiler::apply_filter(&filter).map_err(std::io::Error::other);
            // SAFETY: between fork and exec it makes two system calls and allocates nothing unless they fail.
            unsafe { command.pre_exec(install) };
        }
        if let Some(bytes) = self.memory {
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            let bound = move || Ok(setrlimit(Resource::As, limit)?);
            // SAFETY: between fork and exec it makes one system call and allocates nothing.
            unsafe { command.pre_exec(bound) };
        }
        command
    }

    /// What a run of [`Passhost::command`] left.
    pub fn ended(&self, output: &Output) -> Run {
        Run::new(self.shown(), output, &self.json_path())
    }

    fn shown(&self) -> String {
        format!("passhost {}", self.arguments.join(" "))
    }

    /// Runs it to its end.
    ///
    /// # Panics
    ///
    /// If the program does not start.
    pub fn run(&self) -> Run {
        let output = self.command().output();
        assert!(output.is_ok(), "passhost does not start: {output:?}");
        output.map_or_else(
            |_| unreachable!("it was checked"),
            |output| Run::new(self.shown(), &output, &self.json_path()),
        )
    }

    /// Runs it and sends `signal` to its child process `child` as soon as there is one.
    ///
    /// # Panics
    ///
    /// If the program does not start, or ends before it starts the child.
    pub fn run_and_signal_at_start(&self, child: &str, signal: Signal) -> Run {
        self.run_beside(|process| {
            let mut sent = false;
            while !sent && process.try_wait().is_ok_and(|ended| ended.is_none()) {
                sent = signal_child(process.id(), child, signal);
                std::thread::yield_now();
            }
            sent
        })
    }

    /// Runs it and does something beside it, which says whether it succeeded.
    fn run_beside(&self, beside: impl FnOnce(&mut Child) -> bool) -> Run {
        let started = self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        assert!(started.is_ok(), "passhost does not start: {started:?}");
        let Ok(mut process) = started else { unreachable!("it was checked") };
        let sent = beside(&mut process);
        let output = process.wait_with_output();
        assert!(output.is_ok(), "passhost is lost: {output:?}");
        let Ok(output) = output else { unreachable!("it was checked") };
        let run = Run::new(self.shown(), &output, &self.json_path());
        run.expect(sent, "the child never ran");
        run
    }

    /// Runs it and kills its child process `child` whenever there is one.
    ///
    /// # Panics
    ///
    /// If the program does not start, or never starts the child.
    pub fn run_and_kill_always(&self, child: &str) -> Run {
        self.run_beside(|process| {
            let mut any = false;
            while process.try_wait().is_ok_and(|ended| ended.is_none()) {
                any |= signal_child(process.id(), child, Signal::KILL);
                std::thread::yield_now();
            }
            any
        })
    }

    /// Runs it and sends `signal` to its child process `child` as soon as a progress line contains `stage`.
    ///
    /// # Panics
    ///
    /// If the program does not start, or never reaches the stage.
    pub fn run_and_signal(&self, stage: &str, child: &str, signal: Signal) -> Run {
        let started = self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        assert!(started.is_ok(), "passhost does not start: {started:?}");
        let Ok(mut process) = started else { unreachable!("it was checked") };
        let (mut err, mut sent) = (String::new(), false);
        if let Some(stderr) = process.stderr.take() {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if !sent && line.contains(stage) {
                    sent = signal_child(process.id(), child, signal);
                }
                err.push_str(&line);
                err.push('\n');
            }
        }
        let mut out = Vec::new();
        if let Some(mut stdout) = process.stdout.take() {
            let _ = stdout.read_to_end(&mut out);
        }
        let status = process.wait();
        assert!(status.is_ok(), "passhost is lost: {status:?}");
        let Ok(status) = status else { unreachable!("it was checked") };
        let output = Output { status, stdout: out, stderr: err.into_bytes() };
        let run = Run::new(self.shown(), &output, &self.json_path());
        run.expect(sent, &format!("no progress line with `{stage}` while `{child}` ran"));
        run
    }
}

/// Sends a signal to the children of `parent` whose command line is these words, the program without its folder;
/// false if there is none.
pub fn signal_child(parent: u32, words: &str, signal: Signal) -> bool {
    let children = std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let its_parent: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        if its_parent != parent {
            return None;
        }
        let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let (program, arguments) =
            line.trim_end_matches('\0').split_once('\0').unwrap_or((line.trim_end_matches('\0'), ""));
        let program = Path::new(program).file_name()?.to_str()?;
        (format!("{program} {arguments}").trim_end() == words).then_some(pid)
    });
    let mut any = false;
    for pid in children.filter_map(Pid::from_raw) {
        any |= rustix::process::kill_process(pid, signal).is_ok();
    }
    any
}
