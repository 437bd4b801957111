//! What native code can do that has taken a child process over: nothing. Each attempt of a list is made in the real
//! programs, confined as they serve.

use passhost_cache::{Cache, CacheKey};
use passhost_child::{Confinement, beside_this_executable};
use passhost_confine::attempt::{ATTEMPTS, AttemptOutcome, EscapeAttempt, HARMLESS, UNCONFINED, WRITING, of_program};
use passhost_supervisor::Sample;
use passhost_tests::{Passhost, SMALL, directory, plugin, sample, sample_with};
use std::ffi::{OsStr, OsString};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use tempfile::TempDir;

/// Where attempts are made: a program, what stands before the attempt on its command line, and a stage.
pub struct Place {
    pub program: &'static str,
    pub arguments: Vec<OsString>,
    pub stage: &'static str,
}

pub fn place(program: &'static str, stage: &'static str) -> Place {
    Place { program, arguments: vec![], stage }
}

/// A directory, a cache and sockets outside of every child, which any process can use.
struct Outside {
    directory: TempDir,
    cache: Cache,
    tcp: TcpListener,
    abstract_name: String,
    _sockets: [UnixListener; 2],
}

/// What the file that is attacked holds.
const KEY: &str = "a key";

impl Outside {
    fn new(name: &str) -> std::io::Result<Outside> {
        let directory = directory();
        let cache = Cache::open(&directory.path().join("cache")).map_err(std::io::Error::other)?;
        cache.put(&CacheKey::of(&[]), b"machine code");
        let abstract_name = format!("passhost-{name}-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&abstract_name)?;
        let sockets = [UnixListener::bind(directory.path().join("socket"))?, UnixListener::bind_addr(&address)?];
        Ok(Outside { directory, cache, tcp: TcpListener::bind("127.0.0.1:0")?, abstract_name, _sockets: sockets })
    }

    fn key(&self) -> PathBuf {
        self.directory.path().join("key")
    }

    fn made(&self) -> PathBuf {
        self.directory.path().join("made")
    }

    fn cache_entry(&self) -> std::io::Result<PathBuf> {
        let [directory, _] = self.cache.paths();
        let entry = std::fs::read_dir(directory)?.next().ok_or(std::io::ErrorKind::NotFound)?;
        Ok(entry?.path())
    }

    /// What an attempt is aimed at.
    fn target(&self, attempt: &EscapeAttempt) -> std::io::Result<OsString> {
        Ok(match attempt.name {
            "create-file" | "make-directory" => self.made().into(),
            "list-cache" => self.cache.paths()[0].clone().into(),
            "open-cache-entry" => self.cache_entry()?.into(),
            "open-key" => self.cache.paths()[1].clone().into(),
            "connect-tcp" => self.tcp.local_addr()?.to_string().into(),
            "connect-unix" => self.directory.path().join("socket").into(),
            "connect-abstract" => self.abstract_name.clone().into(),
            _ => self.key().into(),
        })
    }

    /// Makes an attempt in fresh surroundings. Returns what came of it, and whether the surroundings are as they were.
    fn make(&self, attempt: &EscapeAttempt, place: &Place) -> std::io::Result<(AttemptOutcome, bool)> {
        // The attempt before may have made or removed them.
        let _ = std::fs::remove_file(self.made());
        let _ = std::fs::remove_dir(self.made());
        std::fs::write(self.key(), KEY)?;
        std::fs::set_permissions(self.key(), std::fs::Permissions::from_mode(0o644))?;
        let arguments: Vec<&OsStr> = place.arguments.iter().map(OsString::as_os_str).collect();
        let program = beside_this_executable(place.program);
        let outcome = of_program(&program, &arguments, place.stage, attempt.name, &self.target(attempt)?)?;
        let mode = std::fs::metadata(self.key()).map(|metadata| metadata.permissions().mode() & 0o777);
        let untouched = std::fs::read_to_string(self.key()).is_ok_and(|text| text == KEY)
            && mode.is_ok_and(|mode| mode == 0o644)
            && !self.made().exists();
        Ok((outcome, untouched))
    }

    /// Makes all attempts, and names those that came to something else than they should.
    fn holes(&self, place: &Place, may: impl Fn(&EscapeAttempt) -> bool) -> std::io::Result<Vec<String>> {
        let mut holes = vec![];
        for attempt in ATTEMPTS.iter().chain([&HARMLESS]) {
            let (outcome, untouched) = self.make(attempt, place)?;
            let may = attempt.name == HARMLESS.name || may(attempt);
            if outcome.held() == may || outcome == AttemptOutcome::NotMade || !untouched {
                holes.push(format!("{} {} in {}: {outcome}", place.program, place.stage, attempt.name));
            }
        }
        Ok(holes)
    }
}

/// Whether this kernel has Landlock, by which files are told apart.
pub fn landlock() -> bool {
    let opened = Sample::open(&sample("single-gelu"), Confinement::default());
    opened.is_ok_and(|sample| sample.profile().is_some_and(|profile| profile.landlock.is_some()))
}

#[test]
fn every_attempt_works_for_an_unconfined_process() -> std::io::Result<()> {
    let outside = Outside::new("none")?;
    let mut failed = vec![];
    for attempt in ATTEMPTS.iter().filter(|attempt| attempt.ordinary) {
        let (outcome, _) = outside.make(attempt, &place("passhost-guest", UNCONFINED))?;
        if outcome != AttemptOutcome::Worked {
            failed.push(format!("{}: {outcome}", attempt.name));
        }
    }
    assert!(failed.is_empty(), "{failed:?}: what fails anyway tells nothing of confinement");
    Ok(())
}

#[test]
fn native_code_in_a_guest_gets_nowhere() -> std::io::Result<()> {
    let outside = Outside::new("guest")?;
    let mut holes = outside.holes(&place("passhost-guest", "running"), |_| false)?;
    // The compiler works on threads.
    holes.extend(outside.holes(&place("passhost-guest", "loading"), |attempt| attempt.name == "start-thread")?);
    assert!(holes.is_empty(), "{holes:#?}");
    Ok(())
}

#[test]
fn native_code_in_a_reader_gets_nowhere_but_to_its_sample() -> std::io::Result<()> {
    if !landlock() {
        return Ok(());
    }
    let (outside, sample) = (Outside::new("reader")?, sample("single-gelu"));
    let reader = |sample: &std::path::Path| Place {
        arguments: vec![sample.as_os_str().to_owned()],
        ..place("passhost-reader", passhost_sample::READING)
    };
    let holes = outside.holes(&reader(&sample), |_| false)?;
    assert!(holes.is_empty(), "{holes:#?}");
    // A sample's own files can be read, and nothing more.
    let own = ["open-target", "open-key", "open-cache-entry", "list-cache"];
    let holes = outside.holes(&reader(outside.directory.path()), |attempt| own.contains(&attempt.name))?;
    assert!(holes.is_empty(), "{holes:#?}");
    Ok(())
}

#[test]
fn native_code_in_libtorch_gets_nowhere_but_to_files_that_are_not_hidden_for_reading() -> std::io::Result<()> {
    let outside = Outside::new("torch")?;
    let mut holes = outside.holes(&place("passhost-device", "answering"), |_| false)?;
    if landlock() {
        let hidden = outside.cache.paths().map(OsString::from).into();
        let measuring = Place { arguments: hidden, ..place("passhost-device", "measuring") };
        holes.extend(outside.holes(&measuring, |attempt| attempt.device_may)?);
    }
    assert!(holes.is_empty(), "{holes:#?}");
    Ok(())
}

#[test]
fn native_code_in_a_compiler_gets_nowhere() -> std::io::Result<()> {
    let holes = Outside::new("compiler")?.holes(&place("passhost-compiler", "compiling"), |_| false)?;
    assert!(holes.is_empty(), "{holes:#?}");
    Ok(())
}

#[test]
fn native_code_in_a_compiler_of_sources_gets_nowhere() -> std::io::Result<()> {
    if !landlock() {
        return Ok(());
    }
    // The compiler works on threads, and is told that what it removes is gone.
    let may = ["start-thread", "remove"];
    let holes = Outside::new("builder")?
        .holes(&place("passhost-builder", "compiling"), |attempt| may.contains(&attempt.name))?;
    assert!(holes.is_empty(), "{holes:#?}");
    Ok(())
}

/// A file without a name takes room that nobody sees: in its own directory a compiler makes none.
#[test]
fn what_a_compiler_of_sources_writes_keeps_its_name() -> std::io::Result<()> {
    if !landlock() {
        return Ok(());
    }
    let (outside, own) = (Outside::new("names")?, place("passhost-builder", WRITING));
    for (name, expected) in [
        ("open-for-writing", AttemptOutcome::Worked),
        ("remove", AttemptOutcome::Worked),
        ("move", AttemptOutcome::Refused),
        ("link", AttemptOutcome::Refused),
        ("nameless-file", AttemptOutcome::Refused),
    ] {
        let attempt = ATTEMPTS.iter().find(|attempt| attempt.name == name).ok_or(std::io::ErrorKind::NotFound)?;
        let (outcome, untouched) = outside.make(attempt, &own)?;
        assert!(outcome == expected && untouched, "{name}: {outcome}, untouched: {untouched}");
    }
    Ok(())
}

#[test]
fn the_result_says_how_children_are_confined() {
    let folder = sample_with("single-gelu", SMALL);
    let run = Passhost::eval(&plugin("noop"), folder.path()).run();
    let confinement = &run.json()["confinement"];
    for child in ["guest", "reader", "device"] {
        run.expect(confinement[child]["seccomp"] == true, child);
        run.expect(confinement[child]["landlock"].is_u64() == landlock(), child);
    }
}

#[test]
fn a_kernel_that_cannot_confine_fully_is_a_note_or_a_refusal() {
    let folder = sample_with("single-gelu", SMALL);
    let plugin = plugin("noop");
    let facts = folder.path().join("facts.json").display().to_string();
    let cpu = r#"{"kind":"cpu","multiprocessors":1,"l2_bytes":1,"bandwidth":1,"launch_ns":1}"#;
    assert!(std::fs::write(&facts, cpu).is_ok());
    for (lacking, name) in [(&[libc::SYS_landlock_create_ruleset][..], "Landlock"), (&[libc::SYS_seccomp], "seccomp")] {
        let run = Passhost::eval(&plugin, folder.path()).on_a_kernel_without(lacking).run();
        run.expect_end(run.code, &["this kernel cannot confine child processes fully", &format!("guest (no {name})")]);
        run.expect(run.json()["failure"]["blame"] != "host", "the evaluation goes on");
        let refused = format!("is not confined as --require-confinement asks: this kernel has no {name}");
        let required = ["--require-confinement"];
        let run = Passhost::eval(&plugin, folder.path()).with(&required).on_a_kernel_without(lacking).run();
        run.expect_end(3, &[&refused]);
        let check = Passhost::new([OsStr::new("check"), plugin.as_os_str()]).with(&required);
        check.run().expect_end(0, &["seccomp, Landlock ABI"]);
        check.on_a_kernel_without(lacking).run().expect_end(3, &[&refused]);
        let show =
            Passhost::new([OsStr::new("show"), folder.path().as_os_str(), OsStr::new("--after"), plugin.as_os_str()]);
        let show = show.with(&["--device-facts", &facts]).with(&required);
        show.run().expect_end(0, &["# verified"]);
        show.on_a_kernel_without(lacking).run().expect_end(3, &[&refused]);
        let doctor = Passhost::new(["doctor", "--device", "cpu"]).on_a_kernel_without(lacking).run();
        doctor.expect_end(0, &[&format!("warn guest confinement this kernel has no {name}"), "ok device device:"]);
    }
}
