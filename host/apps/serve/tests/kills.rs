//! A server that is killed at any moment under load: with a client that floods it, on a full disk, on a queue that somebody
//! damaged, and on one that somebody removed. Every accepted submission has one result that is its own, or a loss that is
//! named.
//!
//! `PASSHOST_KILLS=50` kills so often; without it, each kind of moment comes once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod server;

use passhost_queue::Embedded;
use passhost_serve::{Clients, Graded, Grader, JobsOfSample, ServerLimits, ShutdownMode, serve};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use server::{Asker, Tokens, site};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::TcpListener;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where the server that is killed keeps its data.
const PLACE: &str = "PASSHOST_SERVER_TO_KILL";
/// Where the test finds the small disk that it is run on.
const DISK: &str = "PASSHOST_SMALL_DISK";
/// How often the server is killed.
const KILLS: &str = "PASSHOST_KILLS";

/// Grades in no time worth the name: what it says is what was submitted.
struct Echo;

impl Grader for Echo {
    fn grade(&mut self, jobs: &mut dyn JobsOfSample) {
        while let Some(job) = jobs.next() {
            std::thread::sleep(Duration::from_millis(2));
            let said = serde_json::json!({ "said": String::from_utf8_lossy(&job.bytes) });
            jobs.ended(Graded::Document(said.to_string()));
        }
    }
}

/// What the killed process does. Does nothing where nobody asked for it.
#[test]
fn the_server_that_is_killed() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    // More than anybody asks here.
    let limits = ServerLimits { rate: NonZeroU32::new(20_000).unwrap(), ..ServerLimits::default() };
    let clients = Clients::read(&place.join("clients"), &limits).unwrap();
    let queue = Embedded::open(&place.join("queue"), passhost_queue::QueueLimits::default()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    println!("\nanew {}\nlistening {address}", queue.is_begun_anew());
    let graders: Vec<Box<dyn Grader>> = vec![Box::new(Echo), Box::new(Echo)];
    serve(listener, site(&place, clients, limits), Arc::new(queue), graders, || ShutdownMode::GoOn).unwrap();
}

/// A server in a process of its own.
struct Process {
    child: Child,
    asker: Asker,
    /// Whether it says that the queue of before is gone.
    is_begun_anew: bool,
}

impl Process {
    fn start(place: &Path, tokens: &Tokens) -> Process {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_server_that_is_killed", "--nocapture"]).env(PLACE, place);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut word = |name: &str| lines.find_map(|line| line.strip_prefix(name).map(str::to_owned));
        let is_begun_anew = word("anew ").is_some_and(|word| word == "true");
        let Some(address) = word("listening ") else { panic!("it does not start: {:?}", child.wait()) };
        Process { child, asker: Asker { address: address.parse().unwrap(), tokens: tokens.clone() }, is_begun_anew }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// What a moment has besides load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Load,
    Flood,
    FullDisk,
    Damage,
    Removal,
}

const MOMENTS: [Moment; 5] = [Moment::Load, Moment::Flood, Moment::Removal, Moment::FullDisk, Moment::Damage];

/// A submission that was answered with a name.
#[derive(Debug, Clone)]
struct Accepted {
    client: &'static str,
    bytes: String,
}

/// What was promised to clients, and what they were told.
#[derive(Default)]
struct Promised {
    accepted: Mutex<BTreeMap<String, Accepted>>,
    /// What was told of those that have ended.
    told: Mutex<BTreeMap<String, String>>,
    /// Those whose bytes on the disk somebody changed.
    damaged: BTreeSet<String>,
    /// Those that were in a queue that somebody removed.
    removed: BTreeSet<String>,
}

impl Promised {
    fn all(&self) -> BTreeMap<String, Accepted> {
        self.accepted.lock().unwrap().clone()
    }

    fn count(&self) -> usize {
        self.accepted.lock().unwrap().len()
    }

    /// Submits something that nobody else does; the status, if there was an answer.
    fn submit(&self, asker: &Asker, client: &'static str, number: usize) -> Option<u16> {
        let bytes = format!("submission {number} of {client}, and what it says {}", "is long ".repeat(30));
        let request = asker.submission(client, &[("Idempotency-Key", &number.to_string())], bytes.as_bytes());
        let answer = asker.raw(&request)?;
        let id = answer.json()["id"].as_str().unwrap_or_default().to_owned();
        if answer.status == 202 && id.len() == 32 {
            let before = self.accepted.lock().unwrap().insert(id, Accepted { client, bytes });
            assert!(before.is_none(), "a name stands for two submissions: {before:?}");
        }
        Some(answer.status)
    }

    /// Asks what became of a submission, and holds it against what was told before. Whether it has ended, if there was an
    /// answer.
    fn look(&self, asker: &Asker, id: &str, accepted: &Accepted) -> Option<bool> {
        let line = format!("GET /v1/evaluations/{id}");
        let answer = asker.raw(&asker.request(accepted.client, &line, &[], b""))?;
        let evaluation = answer.json();
        if answer.status != 200 || evaluation.is_null() {
            // It was killed in the middle of an answer, or asked for while its file was gone.
            return None;
        }
        let trouble = evaluation["trouble"].as_str().unwrap_or_default().to_owned();
        let told = match evaluation["state"].as_str().unwrap_or_default() {
            "waiting" | "running" => return Some(false),
            "finished" => {
                assert_eq!(evaluation["document"]["said"], accepted.bytes, "{id} has the result of another");
                "a result".to_owned()
            }
            "lost" => {
                let (is_damaged, is_removed) = (self.damaged.contains(id), self.removed.contains(id));
                let is_named = match trouble.as_str() {
                    text if text.contains("is damaged on the server's disk") => is_damaged,
                    text if text.contains("is gone from the server's disk") => is_removed,
                    text => text.contains("ended three times"),
                };
                assert!(is_named, "{id} is lost, and nobody harmed it: {trouble}");
                trouble
            }
            other => panic!("{id} is {other}"),
        };
        let before = self.told.lock().unwrap().insert(id.to_owned(), told.clone());
        let may_change = self.damaged.contains(id) || self.removed.contains(id);
        assert!(before.as_ref().is_none_or(|before| *before == told || may_change), "{id}: {before:?}, then {told}");
        Some(true)
    }
}

/// Fills the disk to its last byte.
fn fill(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    for size in [1 << 20, 4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

/// Pings that nobody reads the answers of, until the server is gone or the test goes on.
fn flood(asker: &Asker, stop: &AtomicBool) {
    let Some(mut stream) = asker.session("operator") else { return };
    let ping = [&[0x89, 0x80 | 125, 0, 0, 0, 0][..], &[7; 125]].concat();
    let pings = ping.repeat(500);
    let _ = stream.set_write_timeout(Some(Duration::from_millis(50)));
    let mut sent = 0;
    while !stop.load(Ordering::Relaxed) {
        match stream.write(&pings[sent % pings.len()..]) {
            Ok(count) => sent += count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
    }
}

/// Changes a byte of what is on the disk of some submissions; those that it is of.
fn damage(queue: &Path, promised: &Promised, random: &mut SplitMix64) -> BTreeSet<String> {
    let mut bytes = std::fs::read(queue).unwrap();
    let mut all = promised.all();
    all.retain(|id, _| !promised.removed.contains(id));
    let mut damaged = BTreeSet::new();
    for _ in 0..3 {
        let Some((id, accepted)) = all.iter().nth(random.next_u64() as usize % all.len()) else { continue };
        let text = accepted.bytes.as_bytes();
        let places: Vec<usize> = (0..bytes.len() - text.len()).filter(|&at| bytes[at..].starts_with(text)).collect();
        places.iter().for_each(|at| bytes[at + text.len() / 2] ^= 1);
        damaged.extend((!places.is_empty()).then(|| id.clone()));
    }
    std::fs::write(queue, bytes).unwrap();
    damaged
}

/// Has the threads of a moment end, however it ends.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One start of the server, to the moment in which it is killed.
fn killed(
    process: &mut Process,
    moment: Moment,
    place: &Path,
    promised: &Promised,
    numbers: &AtomicUsize,
    after: usize,
) {
    let (stop, before) = (AtomicBool::new(false), promised.count());
    let Process { asker, child, .. } = process;
    let (asker, child) = (&*asker, RefCell::new(child));
    let lives = || assert!(child.borrow_mut().try_wait().unwrap().is_none(), "the server ended by itself");
    let number = || numbers.fetch_add(1, Ordering::Relaxed);
    std::thread::scope(|scope| {
        let stop = &stop;
        let _ended = Ended(stop);
        for client in ["alice", "bob"] {
            // Until the server is gone.
            scope.spawn(
                move || {
                    while !stop.load(Ordering::Relaxed) && promised.submit(asker, client, number()).is_some() {}
                },
            );
        }
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                for (id, accepted) in promised.all() {
                    if promised.look(asker, &id, &accepted).is_none() || stop.load(Ordering::Relaxed) {
                        break;
                    }
                }
            }
        });
        if moment == Moment::Flood {
            scope.spawn(move || flood(asker, stop));
        }
        let wait_for = |count: usize| {
            while promised.count() < count {
                lives();
                std::thread::yield_now();
            }
        };
        wait_for(before + after);
        match moment {
            Moment::Load | Moment::Flood | Moment::Damage => {}
            Moment::FullDisk => {
                let ballast = place.join("ballast");
                fill(&ballast);
                while promised.submit(asker, "alice", number()) != Some(503) {
                    lives();
                }
                // What is known is told on a full disk, too.
                let (id, accepted) = promised.all().pop_first().unwrap();
                assert!(promised.look(asker, &id, &accepted).is_some(), "{id} cannot be asked for on a full disk");
                // Every second time it is killed while the disk is full.
                if after.is_multiple_of(2) {
                    std::fs::remove_file(&ballast).unwrap();
                    wait_for(promised.count() + 3);
                }
            }
            Moment::Removal => {
                std::fs::remove_file(place.join("queue")).unwrap();
                let answered = promised.submit(asker, "alice", number());
                assert_ne!(answered, Some(202), "it is accepted, and on no disk");
            }
        }
        // Whatever it does at the moment.
        child.borrow_mut().kill().unwrap();
    });
    process.child.wait().unwrap();
    let _ = std::fs::remove_file(place.join("ballast"));
}

fn kills() -> usize {
    std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(MOMENTS.len())
}

fn all_moments(place: &Path, has_small_disk: bool) {
    let tokens = Tokens::new(place);
    let queue = place.join("queue");
    let (mut promised, numbers) = (Promised::default(), AtomicUsize::new(0));
    let mut random = SplitMix64::seed_from_u64(29);
    let mut seen = BTreeMap::<String, usize>::new();
    let mut is_removed = false;
    for kill in 0..kills() {
        let mut moment = MOMENTS[kill % MOMENTS.len()];
        // A queue is removed in every fifth round: what is accepted between comes through many kills.
        let is_rare = moment == Moment::Removal && !(kill / MOMENTS.len()).is_multiple_of(5);
        if is_rare || (moment == Moment::FullDisk && !has_small_disk) {
            moment = Moment::Load;
        }
        let mut process = Process::start(place, &tokens);
        assert_eq!(process.is_begun_anew, is_removed, "moment {kill}");
        let after = 1 + random.next_u64() as usize % 40;
        killed(&mut process, moment, place, &promised, &numbers, after);
        is_removed = moment == Moment::Removal;
        match moment {
            Moment::Damage => {
                let damaged = damage(&queue, &promised, &mut random);
                promised.damaged.extend(damaged);
            }
            Moment::Removal => promised.removed.extend(promised.all().into_keys()),
            Moment::Load | Moment::Flood | Moment::FullDisk => {}
        }
        *seen.entry(format!("{moment:?}")).or_default() += 1;
        println!("kill {kill}: {moment:?}, {} accepted so far", promised.count());
    }
    let mut process = Process::start(place, &tokens);
    let all = promised.all();
    for (id, accepted) in &all {
        while promised.look(&process.asker, id, accepted) != Some(true) {
            assert!(process.child.try_wait().unwrap().is_none(), "the server ended by itself");
        }
    }
    let mut came = BTreeMap::<String, usize>::new();
    promised.told.lock().unwrap().values().for_each(|told| *came.entry(told.clone()).or_default() += 1);
    println!("{} kills: {seen:?}\n{} accepted: {came:?}", kills(), all.len());
    println!("{} damaged, {} in a queue that was removed", promised.damaged.len(), promised.removed.len());
    assert_eq!(came.values().sum::<usize>(), all.len(), "each has one end");
    assert!(came.contains_key("a result") && all.len() > kills(), "{came:?}");
    if seen.contains_key("Damage") {
        assert!(!promised.damaged.is_empty(), "something was damaged");
    }
    if seen.contains_key("Removal") {
        let gone = |told: &&String| told.contains("is gone from the server's disk");
        assert_eq!(came.keys().filter(gone).count(), 1, "{came:?}");
    }
    process.kill();
}

/// The test, on its small disk. Does nothing where there is none.
#[test]
fn on_the_small_disk() {
    if let Some(disk) = std::env::var_os(DISK) {
        all_moments(Path::new(&disk), true);
    }
}

#[test]
fn every_accepted_submission_has_one_result_or_a_named_loss_however_often_the_server_is_killed() {
    let disk = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=64m none \"$0\" && echo mounted && exec \"$@\"";
    let mut inside = Command::new("unshare");
    inside.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(disk.path());
    inside.arg(std::env::current_exe().unwrap()).args(["--exact", "on_the_small_disk", "--nocapture"]);
    let run = inside.env(DISK, disk.path()).stdin(Stdio::null()).output();
    match run {
        Ok(run) if run.stdout.starts_with(b"mounted") => {
            let [out, err] = [&run.stdout, &run.stderr].map(|bytes| String::from_utf8_lossy(bytes));
            println!("{out}");
            assert!(run.status.success(), "{out}\n{err}");
        }
        run => {
            eprintln!("no small disk for this user, so the moments of a full disk are not tried: {run:?}");
            all_moments(disk.path(), false);
        }
    }
}
