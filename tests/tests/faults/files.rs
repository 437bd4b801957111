//! Files that cannot be written: results and tables say so and which, caches are gone without, and nothing half-written
//! stays.

use passhost_tests::{Passhost, Run, directory, plugin, sample_with};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A plugin, a sample and a cache.
struct Setup {
    sample: TempDir,
    /// Of the user: the cache is in it.
    caches: TempDir,
}

impl Setup {
    fn new() -> Setup {
        Setup { sample: sample_with("pointwise-chain", &["float32/s0-1_"]), caches: directory() }
    }

    fn cache(&self) -> PathBuf {
        self.caches.path().join("passhost")
    }

    /// An evaluation of a pass that changes nothing, so that it is not timed.
    fn eval(&self) -> Passhost {
        let caches = self.caches.path().display().to_string();
        Passhost::eval(&plugin("noop"), self.sample.path()).variable("XDG_CACHE_HOME", &caches)
    }

    /// The next evaluation is as if nothing had happened.
    fn expect_next_is_whole(&self) {
        let run = self.eval().run();
        run.expect_end(0, &["AS "]);
        run.expect(!run.err.contains("no plugin cache"), "there is a cache");
        run.expect(run.variants()[0]["class"] == "pass_miss", "the plugin ran");
        run.expect(self.entries().len() == 1, &format!("the plugin is kept, and nothing else: {:?}", self.entries()));
    }

    fn entries(&self) -> Vec<PathBuf> {
        files_in(&self.cache().join("artefacts"))
    }
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn run(eval: &Passhost, mut command: Command) -> Run {
    let output = command.output();
    assert!(output.is_ok(), "passhost does not start: {output:?}");
    output.map_or_else(|_| unreachable!("it was checked"), |output| eval.ended(&output))
}

/// With no room for files of more than so many bytes.
fn with_room_for(mut command: Command, bytes: u64) -> Command {
    let limit = move || {
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        setrlimit(Resource::Fsize, limit).map_err(std::io::Error::from)
    };
    // SAFETY: between fork and exec it makes one system call and allocates nothing.
    unsafe { command.pre_exec(limit) };
    command
}

/// As a user for whom the modes of files hold, which they do not for root.
fn without_the_powers_of_root(mut command: Command) -> Command {
    let renounce = || {
        // Who has no such powers may not renounce them, and need not.
        let _ = remove_capability_from_bounding_set(CapabilitySet::DAC_OVERRIDE);
        Ok(())
    };
    // SAFETY: between fork and exec it makes one system call and allocates nothing.
    unsafe { command.pre_exec(renounce) };
    command
}

#[test]
fn a_full_disk_costs_the_cache_and_the_result_file_and_says_so() {
    // Room for nothing, and for the cache's key alone.
    for (bytes, cache) in [(0, "no plugin cache: cannot use"), (64, "")] {
        let setup = Setup::new();
        let eval = setup.eval();
        let written = std::fs::write(eval.json_path(), "{}");
        assert!(written.is_ok(), "{written:?}");
        let run = run(&eval, with_room_for(eval.command(), bytes));
        run.expect_end(3, &["AS ", cache, "cannot write `", "result.json`: File too large", "has room"]);
        run.expect(run.json().as_object().is_some_and(serde_json::Map::is_empty), "the old file is there");
        let beside = files_in(eval.json_path().parent().unwrap_or(Path::new("/")));
        run.expect(beside.len() == 1, &format!("nothing half-written lies beside it: {beside:?}"));
        run.expect(setup.entries().is_empty(), &format!("nothing half-written is in the cache: {:?}", setup.entries()));
        setup.expect_next_is_whole();
    }
}

/// The command with a disk of so many bytes to compile on, which a namespace of its own has. `None` where the system has
/// none for this user.
fn on_a_disk_of(bytes: u64, disk: &Path, command: &Command) -> Option<Command> {
    let inside = |script: &str| {
        let mut inside = Command::new("unshare");
        inside.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(disk).stdin(Stdio::null());
        inside
    };
    let mount = format!("mount -t tmpfs -o size={bytes} none \"$0\"");
    if !inside(&mount).stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return None;
    }
    let mut whole = inside(&format!("{mount} && TMPDIR=\"$0\" exec \"$@\""));
    whole.arg(command.get_program()).args(command.get_args());
    whole.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(whole)
}

#[test]
fn a_source_is_not_blamed_for_a_disk_without_room() {
    let (scratch, disk) = (directory(), directory());
    let source = scratch.path().join("pass.rs");
    let text = include_str!("../../../host/apps/cli/src/templates/new/src/lib.rs");
    assert!(std::fs::write(&source, text).is_ok(), "the source is written");
    let out = scratch.path().join("pass.wasm").display().to_string();
    for (bytes, code, said) in
        [(64 << 20, 0, "pass.wasm: "), (128 << 10, 3, "the files of the build: no storage space")]
    {
        let build = Passhost::new([Path::new("build"), &source]).with(&["--out", &out]);
        let Some(command) = on_a_disk_of(bytes, disk.path(), &build.command()) else {
            return eprintln!("a_source_is_not_blamed_for_a_disk_without_room: no namespaces for this user, not tried");
        };
        run(&build, command).expect_end(code, &[said]);
    }
}

#[test]
fn baselines_say_how_much_room_the_files_of_a_graph_need() {
    let (scratch, disk) = (directory(), directory());
    let sample = sample_with("pointwise-chain", &["float32/s0-2_"]);
    let (python, out) = (scratch.path().join("python"), scratch.path().join("baseline.jsonl"));
    let hello = r#"echo '{"python": "3.11.7", "torch": "2.11.0+cpu", "device": "cpu"}'"#;
    let written = std::fs::write(&python, format!("#!/bin/sh\nread hello; {hello}; read load\n"))
        .and_then(|()| std::fs::set_permissions(&python, Permissions::from_mode(0o755)));
    assert!(written.is_ok(), "{written:?}");
    let baseline = Passhost::baseline(sample.path(), &python, &out).with(&["--with", "eager"]);
    let place = std::env::temp_dir().display().to_string();
    let on_disk = on_a_disk_of(1 << 20, disk.path(), &baseline.command());
    let on_disk = on_disk.map(|command| (command, "only ", disk.path().display().to_string()));
    // A quota is met when something is written.
    let limited = (with_room_for(baseline.command(), 1 << 17), "File too large", place);
    for (command, reason, place) in on_disk.into_iter().chain([limited]) {
        let _ = std::fs::remove_file(&out);
        let run = run(&baseline, command);
        let needed = format!("this graph need 50331648 bytes in `{place}`: set TMPDIR to a directory");
        run.expect_end(3, &[reason, &needed]);
        let left = files_in(disk.path());
        run.expect(left.is_empty(), &format!("nothing is left: {left:?}"));
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_gone_without() {
    let setup = Setup::new();
    setup.expect_next_is_whole();
    let artefacts = setup.cache().join("artefacts");
    let set_mode = |mode| std::fs::set_permissions(&artefacts, Permissions::from_mode(mode));
    assert!(set_mode(0o500).is_ok(), "its mode is set");
    let eval = setup.eval();
    let run = run(&eval, without_the_powers_of_root(eval.command()));
    assert!(set_mode(0o700).is_ok(), "its mode is set again");
    run.expect_end(0, &["AS ", "no plugin cache: cannot use", "artefacts", "make it writable", "XDG_CACHE_HOME"]);
    setup.expect_next_is_whole();
}

/// A copy of the key that outlived its making would be one that device children may read.
#[test]
fn what_is_left_of_making_a_cache_is_hidden_like_the_cache() {
    let setup = Setup::new();
    let remove = [libc::SYS_unlink, libc::SYS_unlinkat];
    setup.eval().on_a_kernel_without(&remove).run().expect_end(0, &["AS "]);
    let mut left = files_in(&setup.cache());
    left.sort();
    assert_eq!(left, [setup.cache().join("artefacts"), setup.cache().join("artefacts.key")]);
}

#[test]
fn a_result_that_cannot_be_written_is_named_before_the_work_where_that_can_be_known() {
    let (setup, elsewhere) = (Setup::new(), directory());
    let folder = elsewhere.path().display().to_string();
    let missing = format!("{folder}/missing/result.json");
    let cases = [
        (missing.as_str(), 2, "No such file or directory", false),
        (&folder, 2, "is a directory", false),
        ("/dev/full", 3, "No space left on device", true),
    ];
    for (path, code, reason, works) in cases {
        let words = [Path::new("eval"), &plugin("noop"), setup.sample.path(), Path::new("--json"), Path::new(path)];
        let eval = Passhost::new(words).with(&["--device", "cpu", "--threads", "1", "--accept-noise"]);
        let run = eval.run();
        run.expect_end(code, &[&format!("cannot write `{path}`: {reason}"), "has room"]);
        run.expect(run.out.contains("AS ") == works, "the plugin is evaluated only where its result may find room");
        run.expect(files_in(elsewhere.path()).is_empty(), "nothing half-written is left");
    }
}

#[test]
fn no_command_works_for_a_file_that_cannot_be_written() {
    let (setup, elsewhere) = (Setup::new(), directory());
    let [missing, other] = ["missing/one", "missing/two"].map(|name| elsewhere.path().join(name).display().to_string());
    let (sample, noop) = (setup.sample.path().display().to_string(), plugin("noop").display().to_string());
    let cases: [&[&str]; 6] = [
        &["bench", &noop, &sample, "--out", &missing],
        &["baseline", &sample, "--out", &missing],
        &["report", "no-results.json", "--json", &missing],
        &["compare", "no-results.json", "--json", &missing],
        &["samples", "stats", &sample, "--json", &missing],
        &["samples", "split", &sample, "--eval", "0.5", "--train-out", &missing, "--eval-out", &other],
    ];
    for words in cases {
        Passhost::new(words).run().expect_end(2, &[&format!("cannot write `{missing}`: No such file or directory")]);
    }
    assert!(files_in(elsewhere.path()).is_empty(), "nothing is left");
}

#[test]
fn a_table_that_cannot_be_printed_is_no_success() {
    let setup = Setup::new();
    let full = || OpenOptions::new().write(true).open("/dev/full").map_or_else(|_| Stdio::null(), Stdio::from);
    let eval = setup.eval();
    let mut command = eval.command();
    command.stdout(full());
    let lost = run(&eval, command);
    lost.expect_end(3, &["cannot write to standard output: No space left on device"]);
    lost.expect(lost.document.is_some(), "the result file is written all the same");
    // Where there is no room for messages either, the exit code is left.
    let policies = Passhost::new(["policies"]);
    let mut command = policies.command();
    command.stdout(full()).stderr(full());
    run(&policies, command).expect_end(3, &[]);
    // Whoever could not be given the line of a token is not shown the token.
    let token = Passhost::new(["token", "alice"]);
    let mut command = token.command();
    command.stdout(full());
    let lost = run(&token, command);
    lost.expect_end(3, &["cannot write to standard output"]);
    lost.expect(!lost.err.contains("passhost_"), "the token is not printed");
    let missing = Passhost::new(["check", "/nowhere.wasm"]);
    let mut command = missing.command();
    command.stderr(full());
    run(&missing, command).expect_end(2, &[]);
}
