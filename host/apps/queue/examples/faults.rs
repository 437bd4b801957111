//! Workers and a database to which everything happens at once: each second a worker is killed, the database is restarted, half of
//! the workers and of those who submit lose the network. Each job must have one result in the end.
//!
//! `cargo run -p passhost-queue --example faults -- large`: 100,000 jobs, 8 workers, two restarts, a minute without network, in about
//! two minutes. Without `large`: 2,000 jobs, one restart, 6 seconds without network, in about 20 seconds. The network is one of a
//! namespace, which needs root, `ip` and `nft`; otherwise it is left out, by name.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../tests/engines/mod.rs"]
mod engines;

use engines::{Database, Server};
use passhost_queue::{JobState, Postgres, Queue, QueueError, QueueLimits, Ticket, Worker};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

const WORKERS: usize = 8;
const SUBMITTERS: usize = 4;
const LEASE: Duration = Duration::from_secs(5);

/// What happens, in seconds since the start.
struct Setting {
    jobs: usize,
    /// How long a worker has a job, in milliseconds.
    work: u64,
    /// How long jobs come, at least. Workers are killed until the last one has its result.
    submitting: u64,
    restarts: &'static [u64],
    partition: Range<u64>,
}

const SMALL: Setting = Setting { jobs: 2_000, work: 30, submitting: 8, restarts: &[4], partition: 7..13 };
const LARGE: Setting = Setting { jobs: 100_000, work: 3, submitting: 50, restarts: &[10, 90], partition: 20..80 };

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if matches!(arguments.first().map(String::as_str), Some("work" | "submit")) {
        // None outlives the one that started it.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    }
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["work", address, log, name, ms] => {
            work(address, Path::new(log), name, Duration::from_millis(ms.parse().unwrap()));
        }
        ["submit", address, log, number, jobs, seconds] => {
            let [number, jobs, seconds] = [number, jobs, seconds].map(|text| text.parse().unwrap());
            submit(address, Path::new(log), number, jobs, seconds);
        }
        ["large"] => run(&LARGE),
        [] => run(&SMALL),
        _ => panic!("expected nothing, or `large`"),
    }
}

fn limits() -> QueueLimits {
    let most = u64::MAX;
    QueueLimits { waiting: most, waiting_of_client: most, bytes_of_client: most, ..QueueLimits::default() }
}

/// Asks until the database answers.
fn answered<T>(mut ask: impl FnMut() -> Result<T, QueueError>) -> Result<T, QueueError> {
    loop {
        match ask() {
            Err(error) if error.is_passing() => sleep(Duration::from_millis(100)),
            answer => return answer,
        }
    }
}

fn open(address: &str) -> Postgres {
    answered(|| Postgres::open(address, limits())).unwrap()
}

/// Lines that are there when their writer is killed.
fn log(path: &Path) -> impl FnMut(String) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    move |line| file.write_all(format!("{line}\n").as_bytes()).unwrap()
}

/// Takes jobs and ends them, until it is killed. It keeps results until the database answers.
fn work(address: &str, path: &Path, name: &str, takes: Duration) {
    let (queue, mut say) = (open(address), log(path));
    let worker = Worker { name: name.to_owned(), host: name.to_owned(), ..Worker::default() };
    loop {
        let batch = answered(|| queue.take_batch(&worker, 16, LEASE)).unwrap();
        for job in &batch.jobs {
            let begun = queue.begin(&job.lease);
            assert!(begun.as_ref().err().is_none_or(|error| error.is_passing() || is_stale(error)), "{begun:?}");
            sleep(takes);
            let outcome = format!("{} {} {name}", job.lease.ticket, job.lease.attempt);
            match answered(|| queue.finish(&job.lease, outcome.as_bytes())) {
                Ok(()) => say(format!("finished {outcome}")),
                Err(error) if is_stale(&error) => say(format!("refused {outcome}")),
                Err(error) => panic!("{error}"),
            }
        }
        if batch.jobs.is_empty() {
            sleep(Duration::from_millis(20));
        }
    }
}

fn is_stale(error: &QueueError) -> bool {
    matches!(error, QueueError::Stale(_))
}

/// Puts in every fourth job in its time, and asks again under the same key where nobody knows the answer.
fn submit(address: &str, path: &Path, number: usize, jobs: usize, seconds: usize) {
    let (queue, mut say, begun) = (open(address), log(path), Instant::now());
    for job in (number..jobs).step_by(SUBMITTERS) {
        sleep((Duration::from_secs(seconds as u64).mul_f64(job as f64 / jobs as f64)).saturating_sub(begun.elapsed()));
        let (client, key) = (format!("client {}", job % 10), format!("job {job}"));
        let ticket = answered(|| queue.submit(&client, Some(&key), key.as_bytes())).unwrap();
        say(format!("submitted {ticket} {client}"));
    }
}

/// A namespace with a network of its own, which this process can reach and cut off.
struct Network {
    name: String,
    here: String,
}

impl Network {
    fn new() -> Result<Network, String> {
        let id = std::process::id();
        let (name, here, there) =
            (format!("faults-{id}"), format!("10.213.{}.1", id % 256), format!("10.213.{}.2", id % 256));
        let [outside, inside] = ["a", "b"].map(|end| format!("fault{id}{end}"));
        command("ip", &["netns", "add", &name])?;
        let network = Network { name: name.clone(), here: here.clone() };
        command("ip", &["link", "add", &outside, "type", "veth", "peer", "name", &inside, "netns", &name])?;
        command("ip", &["addr", "add", &format!("{here}/30"), "dev", &outside])?;
        command("ip", &["link", "set", &outside, "up"])?;
        command("ip", &["-n", &name, "addr", "add", &format!("{there}/30"), "dev", &inside])?;
        command("ip", &["-n", &name, "link", "set", &inside, "up"])?;
        network.nft("add table inet faults").map(|()| network)
    }

    fn nft(&self, rule: &str) -> Result<(), String> {
        command("ip", &["netns", "exec", &self.name, "nft", rule])
    }

    /// Drops all packets, those on the way included.
    fn cut(&self) {
        for hook in ["input", "output"] {
            self.nft(&format!("add chain inet faults {hook} {{ type filter hook {hook} priority 0; policy drop; }}"))
                .unwrap();
        }
    }

    fn mend(&self) {
        self.nft("flush ruleset").unwrap();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = command("ip", &["netns", "del", &self.name]);
    }
}

fn command(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

/// The processes, every second one in the network.
struct Fleet<'a> {
    network: Option<&'a Network>,
    addresses: [String; 2],
    logs: &'a Path,
    setting: &'a Setting,
}

impl Fleet<'_> {
    fn start(&self, role: &str, number: usize, arguments: &[String]) -> Child {
        let network = self.network.filter(|_| number % 2 == 1);
        let program = std::env::current_exe().unwrap();
        let mut command = match network {
            None => Command::new(program),
            Some(network) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", &network.name]).arg(program);
                command
            }
        };
        let address = &self.addresses[usize::from(network.is_some())];
        command.args([role, address]).arg(self.logs.join(format!("{role} {number}"))).args(arguments).spawn().unwrap()
    }

    fn worker(&self, number: usize) -> Child {
        self.start("work", number, &[format!("host {number}"), self.setting.work.to_string()])
    }
}

fn run(setting: &Setting) {
    let network = Network::new().inspect_err(|why| eprintln!("skipped: the partition: {why}")).ok();
    let listen = network.as_ref().map_or(String::new(), |network| {
        format!(
            r#"echo "listen_addresses = '{}'" >> "$directory/data/postgresql.conf"
            echo "host all all 10.213.0.0/16 trust" >> "$directory/data/pg_hba.conf""#,
            network.here
        )
    });
    let server = match Server::start_with(&listen) {
        Ok(server) => server,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let logs = tempfile::tempdir().unwrap();
    let address = server.schema("faults");
    let queue = Postgres::open(&address, limits()).unwrap();
    let far = network.as_ref().map_or(String::new(), |network| address.replace(&server.directory, &network.here));
    let fleet = Fleet { network: network.as_ref(), addresses: [address.clone(), far], logs: logs.path(), setting };
    let begun = Instant::now();
    let mut workers: Vec<Child> = (0..WORKERS).map(|number| fleet.worker(number)).collect();
    let submitters: Vec<Child> = (0..SUBMITTERS)
        .map(|number| {
            fleet.start(
                "submit",
                number,
                &[number as u64, setting.jobs as u64, setting.submitting].map(|n| n.to_string()),
            )
        })
        .collect();
    let killed = faults(&fleet, &server, &queue, &mut workers, begun);
    for mut submitter in submitters {
        assert!(submitter.wait().unwrap().success());
    }
    let took = begun.elapsed().as_secs_f64();
    // Whoever has an old result yet.
    sleep(Duration::from_secs(2));
    workers.iter_mut().for_each(|worker| worker.kill().and_then(|()| worker.wait().map(drop)).unwrap());
    println!(
        "{} jobs, {WORKERS} workers, {took:.0} s: {killed} workers killed, database restarted {} times, {} workers without network for {} s",
        setting.jobs,
        setting.restarts.len(),
        if network.is_some() { WORKERS / 2 } else { 0 },
        if network.is_some() { setting.partition.end - setting.partition.start } else { 0 },
    );
    verify(setting, &queue, &address, logs.path());
}

/// Everything that goes wrong, in its time, until all jobs have ended. Returns how many workers were killed.
fn faults(fleet: &Fleet<'_>, server: &Server, queue: &Postgres, workers: &mut [Child], begun: Instant) -> usize {
    let setting = fleet.setting;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(36);
    let mut killed = 0;
    for second in 1.. {
        let counts = answered(|| queue.counts()).unwrap();
        if counts.ended == setting.jobs as u64
            && second > setting.restarts.iter().fold(setting.partition.end, |last, at| last.max(*at))
        {
            break;
        }
        assert!(second < 600, "{counts:?} after ten minutes");
        sleep(Duration::from_secs(second).saturating_sub(begun.elapsed()));
        if setting.restarts.contains(&second) {
            server.restart();
        }
        if let Some(network) = fleet.network {
            match second {
                second if second == setting.partition.start => network.cut(),
                second if second == setting.partition.end => network.mend(),
                _ => {}
            }
        }
        let number = (random.next_u64() % WORKERS as u64) as usize;
        // Some live to bring their old results when the network is back.
        if number % 2 == 1 && number > WORKERS / 2 && setting.partition.contains(&second) {
            continue;
        }
        workers[number].kill().unwrap();
        workers[number].wait().unwrap();
        workers[number] = fleet.worker(number);
        killed += 1;
    }
    killed
}

/// Holds what the database has against the answers that workers and clients got.
fn verify(setting: &Setting, queue: &Postgres, address: &str, logs: &Path) {
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in std::fs::read_dir(logs).unwrap() {
        for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let (what, of) = line.split_once(' ').unwrap();
            lines.entry(what.to_owned()).or_default().push(of.to_owned());
        }
    }
    let mut of = |what| lines.remove(what).unwrap_or_default();
    let (submitted, finished, refused) = (of("submitted"), of("finished"), of("refused"));
    let told: BTreeMap<&str, &String> =
        finished.iter().map(|outcome| (outcome.split(' ').next().unwrap(), outcome)).collect();
    let jobs: BTreeMap<&str, &str> = submitted.iter().map(|line| line.split_once(' ').unwrap()).collect();
    let jobs: Vec<(&str, &str)> = jobs.into_iter().collect();
    let check = &|jobs: &[(&str, &str)]| {
        let (mut without, mut differ, mut again) = (0, 0, 0);
        for (ticket, client) in jobs {
            let status = queue.look(client, &Ticket::named(*ticket)).unwrap().unwrap();
            let outcome = status.outcome.map(|outcome| String::from_utf8(outcome).unwrap());
            let is_own =
                outcome.as_ref().is_some_and(|outcome| outcome.starts_with(&format!("{ticket} {} ", status.attempts)));
            without += usize::from(status.state != JobState::Finished || !is_own);
            differ += usize::from(told.get(ticket).is_some_and(|told| Some(*told) != outcome.as_ref()));
            again += usize::from(status.attempts > 1);
        }
        [without, differ, again]
    };
    let parts = scope(|scope| {
        let parts: Vec<_> =
            jobs.chunks(jobs.len().div_ceil(4).max(1)).map(|part| scope.spawn(move || check(part))).collect();
        parts.into_iter().map(|part| part.join().unwrap()).collect::<Vec<_>>()
    });
    let [without, differ, again] = [0, 1, 2].map(|column| parts.iter().map(|part| part[column]).sum::<usize>());
    let twice = finished.len() - told.len();
    println!(
        "submitted: {} tickets for {} jobs, {} jobs in the database",
        submitted.len(),
        jobs.len(),
        queue.counts().unwrap().ended
    );
    println!(
        "without their own result: {without}; with another one than their worker sent: {differ}; sent twice: {twice}"
    );
    println!(
        "taken more than once: {again}; ended by a worker that did not live to hear it: {}",
        jobs.len() - told.len()
    );
    println!("results refused, as their lease had run out: {}", refused.len());
    Database { address: address.to_owned() }.execute("DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM payloads); END $$");
    assert_eq!((jobs.len(), queue.counts().unwrap().ended), (setting.jobs, setting.jobs as u64));
    assert_eq!((without, differ, twice), (0, 0, 0));
}
