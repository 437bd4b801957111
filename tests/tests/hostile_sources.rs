//! What sources get that are written to do something else than to become a pass: the blame, and nothing of what they want.
//! The texts are in `tests/hostile-sources`.

use passhost_cache::Cache;
use passhost_tests::{Passhost, Run, directory, repository};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process_group};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What no output of a build may show.
const CANARY: &str = "canary-that-nobody-may-read";
/// Wall clock of a source that would be compiled for ever, and of one that is not.
const SHORT: &str = "2s";
const LONG: &str = "5m";
/// Far above what it takes to end a compiler that nobody waits for any more, and to remove its files.
const GIVE_UP: Duration = Duration::from_secs(60);
/// A whole pass, which calls `effect`.
const PASS: &str = "use passhost_guest_sdk::{DeviceFacts, Infer, Pass, PassError, PassInfo, Rewriter, log, register};

struct Hostile;

impl Pass for Hostile {
    fn info(&self) -> PassInfo {
        PassInfo { name: \"hostile\".into(), version: \"0\".into(), description: \"misbehaves\".into() }
    }

    fn run(&self, _: &mut Rewriter, _: &DeviceFacts, _: &mut dyn Infer) -> Result<(), PassError> {
        log!(\"{}\", effect());
        Ok(())
    }
}

register!(Hostile);
";

/// A machine as a source finds it: what it wants, and where it is compiled.
struct Surroundings {
    directory: TempDir,
    cache: Cache,
    listener: TcpListener,
}

impl Surroundings {
    fn new() -> std::io::Result<Surroundings> {
        let directory = directory();
        for name in ["outside", "scratch"] {
            std::fs::create_dir(directory.path().join(name))?;
        }
        for name in ["secret", "submission.rs"] {
            std::fs::write(directory.path().join(name), CANARY)?;
        }
        let cache = Cache::open(&directory.path().join("cache")).map_err(std::io::Error::other)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        Ok(Surroundings { directory, cache, listener })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A text with what it names in place of the words for it.
    fn fill(&self, text: &str) -> std::io::Result<String> {
        let [_, key] = self.cache.paths();
        let places = [
            ("@SECRET@", self.at("secret")),
            ("@KEY@", key.clone()),
            ("@SUBMISSION@", self.at("submission.rs")),
            ("@OUTSIDE@", self.at("outside")),
        ];
        let text = text.replace("@PASS@", PASS).replace("@ADDRESS@", &self.listener.local_addr()?.to_string());
        Ok(places.iter().fold(text, |text, (word, path)| text.replace(word, &path.display().to_string())))
    }

    /// `passhost build SOURCE`, which compiles in a directory of its own.
    fn command(&self, source: &Path) -> Passhost {
        let out = self.at("pass.wasm").display().to_string();
        let build = Passhost::new([Path::new("build"), source]).with(&["--out", &out]).with_json();
        let scratch = self.at("scratch").display().to_string();
        build.variable("TMPDIR", &scratch).variable("PASSHOST_SECRET", CANARY)
    }

    /// Builds a source within a limit, and says what is wrong with how it ended: a text that is missing, or what it left
    /// behind.
    fn build(&self, source: &Path, limit: &str, expected: &str) -> Vec<String> {
        let run = self.command(source).with(&["--limit-build", limit]).run();
        let mut wrong = self.left_behind(&run);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !words(&run.err).contains(expected) {
            wrong.push(format!("does not say `{expected}`"));
        }
        let blame = run.document.as_ref().map(|report| report["failure"]["blame"].clone());
        if run.code != 1 || blame.is_none_or(|blame| blame != "plugin") {
            wrong.push(format!("exit code {} and blame of another than the plugin", run.code));
        }
        if self.at("pass.wasm").exists() {
            wrong.push("a component was written".to_owned());
        }
        let shown = wrong.iter().map(|wrong| format!("{}: {wrong}\n{}{}", source.display(), run.out, run.err));
        shown.collect()
    }

    /// What a build read, wrote, sent or left running, and what of its output nobody should see.
    fn left_behind(&self, run: &Run) -> Vec<String> {
        let mut wrong = vec![];
        let output = format!("{}{}{:?}", run.out, run.err, run.document);
        for (what, text) in [("a secret", CANARY), ("an escape", "\u{1b}"), ("a direction mark", "\u{202e}")] {
            if output.contains(text) {
                wrong.push(format!("shows {what}"));
            }
        }
        if output.contains(&self.at("scratch").display().to_string()) {
            wrong.push("shows where it was compiled".to_owned());
        }
        for place in ["outside", "scratch"] {
            let left = std::fs::read_dir(self.at(place)).into_iter().flatten().flatten();
            wrong.extend(left.map(|entry| format!("left {}", entry.path().display())));
        }
        if self.listener.accept().is_ok() {
            wrong.push("something connected".to_owned());
        }
        wrong.extend(self.processes().iter().map(|process| format!("left {process} running")));
        wrong
    }

    /// Processes that work in these surroundings.
    fn processes(&self) -> Vec<String> {
        let place = self.directory.path().display().to_string();
        let here = |path: &Path| {
            let directory = std::fs::read_link(path.join("cwd")).unwrap_or_default();
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (directory.display().to_string().starts_with(&place) || line.contains(&place)).then_some(line)
        };
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.filter_map(|entry| here(&entry.path())).collect()
    }
}

/// Does something with each of many on as many threads as there are cores, and collects what is wrong.
fn all_of<T: Sync>(list: &[T], check: impl Fn(&T) -> std::io::Result<Vec<String>> + Sync) -> Vec<String> {
    let (next, wrong) = (Mutex::new(list.iter()), Mutex::new(vec![]));
    let work = || {
        while let Some(one) = next.lock().ok().and_then(|mut next| next.next()) {
            let found = check(one).unwrap_or_else(|error| vec![error.to_string()]);
            if let Ok(mut wrong) = wrong.lock() {
                wrong.extend(found);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    wrong.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[test]
fn each_source_is_blamed_and_nothing_comes_of_it() {
    let texts = std::fs::read_dir(repository().join("tests/hostile-sources")).into_iter().flatten().flatten();
    let texts: Vec<PathBuf> =
        texts.map(|entry| entry.path()).filter(|path| path.extension() == Some("rs".as_ref())).collect();
    assert!(texts.len() >= 40, "{}", texts.len());
    let wrong = all_of(&texts, |path| {
        let text = std::fs::read_to_string(path)?;
        let header = |name: &str| text.lines().find_map(|line| line.strip_prefix("//! ")?.strip_prefix(name));
        let limit = header("Limit: ").unwrap_or(LONG);
        let expected = header("Expected: ").unwrap_or("a line that says so");
        let surroundings = Surroundings::new()?;
        let source = surroundings.at(&path.file_name().unwrap_or_default().to_string_lossy());
        std::fs::write(&source, surroundings.fill(&text)?)?;
        Ok(surroundings.build(&source, limit, expected))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn each_text_that_is_too_much_is_refused() {
    let blocks = ["const X: u8 = ", &"{".repeat(300_000), "0", &"}".repeat(300_000), ";"].concat();
    let texts: [(&str, Vec<u8>, &str, &str); 6] = [
        ("nesting", [vec![b'('; 300_000], vec![b')'; 300_000]].concat(), SHORT, "plugin (build)"),
        ("blocks", blocks.into(), SHORT, "plugin (build)"),
        ("sum", format!("const X: u64 = 0{};", "+1".repeat(600_000)).into(), SHORT, "plugin (build)"),
        ("name", format!("const X: u8 = {};", "x".repeat(1_500_000)).into(), LONG, "print more than 4194304 bytes"),
        ("bytes", b"const X: &str = \"\xff\xfe\";".to_vec(), LONG, "is no UTF-8"),
        ("size", vec![b' '; (2 << 20) + 1], LONG, "more than 2097152 bytes"),
    ];
    let wrong = all_of(&texts, |(name, text, limit, expected)| {
        let surroundings = Surroundings::new()?;
        let source = surroundings.at(&format!("{name}.rs"));
        std::fs::write(&source, text)?;
        Ok(surroundings.build(&source, limit, expected))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn directories_without_files_are_too_many_as_well() -> std::io::Result<()> {
    let surroundings = Surroundings::new()?;
    let source = surroundings.at("crate");
    for number in 0..250 {
        std::fs::create_dir_all(source.join(format!("src/empty-{number}")))?;
    }
    std::fs::write(source.join("src/lib.rs"), surroundings.fill("@PASS@\nfn effect() -> String { String::new() }\n")?)?;
    let wrong = surroundings.build(&source, LONG, "more than 200 files and directories");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}

#[test]
fn what_is_no_regular_file_is_not_read() -> std::io::Result<()> {
    let surroundings = Surroundings::new()?;
    let pipe = surroundings.at("pipe.rs");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0)?;
    let link = surroundings.at("link.rs");
    symlink(surroundings.at("secret"), &link)?;
    let crate_ = |name: &str| {
        let path = surroundings.at(name);
        std::fs::create_dir_all(path.join("src")).and_then(|()| std::fs::write(path.join("src/lib.rs"), "mod one;"))?;
        std::io::Result::Ok(path)
    };
    let (file, whole, root) = (crate_("file")?, crate_("whole")?, crate_("root")?);
    symlink(surroundings.at("secret"), file.join("src/one.rs"))?;
    symlink("/etc", whole.join("src/one"))?;
    std::fs::rename(root.join("src"), root.join("elsewhere"))?;
    symlink("elsewhere", root.join("src"))?;
    let painted = crate_("painted")?;
    symlink(surroundings.at("secret"), painted.join("src/one\u{1b}[2J\u{1b}[31mok.rs"))?;
    for source in [&pipe, &link, &file, &whole, &root, &painted] {
        let wrong = surroundings.build(source, LONG, "no regular file");
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
    let said = surroundings.command(&painted).run();
    assert!(!said.err.contains('\u{1b}') && said.err.contains("one\u{fffd}[2J"), "{}", said.err);
    Ok(())
}

#[test]
fn no_descriptor_of_the_compiler_is_read() -> std::io::Result<()> {
    let surroundings = Surroundings::new()?;
    let source = surroundings.at("pass.rs");
    let places = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];
    let include = |place: &str, number: u32| format!("include_bytes!(\"{place}/{number}\")");
    // Standard error and the tokens of threads are pipes, whose end nobody would come to; others there are none.
    let all =
        places.iter().flat_map(|place| (2..64).map(|number| format!("const _: &[u8] = {};\n", include(place, number))));
    let all: Vec<String> = all.collect();
    std::fs::write(&source, all.concat())?;
    let (shown, limit) = (20, "30s");
    let left_out = format!("... and {} more", all.len() - shown);
    let wrong = surroundings.build(&source, limit, &left_out);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let run = surroundings.command(&source).with(&["--limit-build", limit]).run();
    let refused = run.json()["diagnostics"].as_array().into_iter().flatten();
    let refused =
        refused.filter(|found| found["message"].as_str().is_some_and(|text| text.starts_with("couldn't read")));
    run.expect(refused.count() == shown, "each of them is refused");
    run.expect(run.err.contains("`/dev/fd/2`: Permission denied"), "a pipe that is there is closed");
    // Standard input and output are nothing.
    let nothing = places.iter().flat_map(|place| [0, 1].map(|number| format!("{}.is_empty()", include(place, number))));
    let nothing = nothing.collect::<Vec<_>>().join(" && ");
    let text = format!("@PASS@\nconst _: () = assert!({nothing});\nfn effect() -> String {{ String::new() }}\n");
    std::fs::write(&source, surroundings.fill(&text)?)?;
    surroundings.command(&source).run().expect_end(0, &["pass.wasm"]);
    Ok(())
}

#[test]
fn nothing_beside_the_source_of_a_crate_counts() -> std::io::Result<()> {
    let surroundings = Surroundings::new()?;
    let effect = "fn effect() -> String { String::new() }";
    let made = "fn main() { std::fs::write(\"@OUTSIDE@/made\", \"\").unwrap(); }";
    for (file, text) in [
        ("crate/src/lib.rs", format!("@PASS@\n{effect}")),
        ("crate/build.rs", made.to_owned()),
        (
            "crate/Cargo.toml",
            "[package]\nname = \"x\"\nbuild = \"build.rs\"\n[dependencies]\nserde_derive = \"*\"\n".to_owned(),
        ),
        (
            "crate/.cargo/config.toml",
            "[build]\nrustc = \"@OUTSIDE@/made\"\nrustflags = [\"-Clinker=/bin/sh\"]\n".to_owned(),
        ),
        ("crate/rust-toolchain.toml", "[toolchain]\npath = \"@OUTSIDE@\"\n".to_owned()),
    ] {
        let path = surroundings.at(file);
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        std::fs::write(path, surroundings.fill(&text)?)?;
    }
    let run = surroundings.command(&surroundings.at("crate")).run();
    run.expect_end(0, &["pass.wasm"]);
    let wrong = surroundings.left_behind(&run);
    run.expect(wrong.is_empty(), &wrong.join("\n"));
    Ok(())
}

#[test]
fn nothing_runs_on_where_the_command_is_killed() -> std::io::Result<()> {
    let surroundings = Surroundings::new()?;
    let source = surroundings.at("pass.rs");
    std::fs::copy(repository().join("tests/hostile-sources/loop-in-a-constant.rs"), &source)?;
    for whom in [Killed::Alone, Killed::WithItsGroup] {
        nothing_is_left_of(&surroundings, &source, whom)?;
    }
    Ok(())
}

/// Whom a signal reaches while something compiles.
#[derive(PartialEq)]
enum Killed {
    Alone,
    WithItsGroup,
}

fn nothing_is_left_of(surroundings: &Surroundings, source: &Path, whom: Killed) -> std::io::Result<()> {
    // Its directory is there as long as it is: `--json` goes there.
    let build = surroundings.command(source);
    let mut process = build.command().process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let compilers = || surroundings.processes().iter().filter(|line| line.contains("--crate-name")).count();
    while compilers() == 0 {
        assert!(process.try_wait()?.is_none(), "the command ended by itself");
        std::thread::yield_now();
    }
    match whom {
        Killed::Alone => process.kill()?,
        Killed::WithItsGroup => kill_process_group(Pid::from_child(&process), Signal::TERM)?,
    }
    process.wait()?;
    // What is left sees that nobody waits for it, and tidies up.
    let give_up = Instant::now() + GIVE_UP;
    let left = || {
        let files = std::fs::read_dir(surroundings.at("scratch")).into_iter().flatten().flatten();
        let files = files.map(|entry| entry.path().display().to_string());
        surroundings.processes().into_iter().chain(files).collect::<Vec<_>>()
    };
    while !left().is_empty() && Instant::now() < give_up {
        std::thread::yield_now();
    }
    assert!(left().is_empty(), "left: {:?}", left());
    Ok(())
}
