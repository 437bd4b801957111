//! Each process of an evaluation, killed at moments that nobody chose. What is asserted holds whenever the kill comes.

use crate::faults::group::{Group, LEADER};
use passhost_tests::{Passhost, Run, directory, plugin, sample_with};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Its rewrite is right, and one kernel.
const PLUGIN: &str = "fuse-pointwise";
/// Kills, unless `PASSHOST_KILLS` says how many.
const KILLS: u64 = 20;
/// Evaluations side by side.
const LANES: usize = 2;
/// Longest time from a line of progress to a kill, in microseconds: what lies between two lines.
const LONGEST_US: u64 = 200_000;
/// Between two looks for a process that has not started yet: looking takes time from those that run.
const POLL: Duration = Duration::from_millis(1);

/// The supervisor.
const SUPERVISOR: &str = LEADER;
/// Every process of an evaluation on a CPU. Those of a device are three.
const PROCESSES: [&str; 5] =
    [SUPERVISOR, "passhost-reader", "passhost-guest", "passhost-device types", "passhost-device"];

/// When a kill comes.
#[derive(Debug)]
enum Moment {
    /// So long after so many lines of progress, of those that an evaluation prints.
    After { line: usize, delay: Duration },
    /// As soon as an entry of the cache is being written.
    CacheWrite,
}

/// A kill: what its number makes of it.
#[derive(Debug)]
struct Kill {
    process: &'static str,
    /// Which of that name.
    which: usize,
    moment: Moment,
    /// Whether the evaluation begins without a cache, so that it writes one.
    empty_cache: bool,
}

impl Kill {
    fn new(number: u64, lines: usize) -> Kill {
        let mut random = SplitMix64::seed_from_u64(number);
        let mut below = |count: u64| random.next_u64() % count;
        let process = PROCESSES[(number % PROCESSES.len() as u64) as usize];
        let last = match process {
            // It ends once everything is read, and the plugin is loaded before anything else: half of their kills come
            // while they start.
            "passhost-reader" | "passhost-guest" if below(2) == 0 => 3,
            "passhost-reader" => 6,
            _ => lines as u64,
        };
        let writes = process == SUPERVISOR && below(2) == 0;
        let after = Moment::After { line: below(last) as usize, delay: Duration::from_micros(below(LONGEST_US)) };
        Kill {
            process,
            which: below(3) as usize,
            moment: if writes { Moment::CacheWrite } else { after },
            empty_cache: writes || below(4) == 0,
        }
    }
}

/// Evaluations of one plugin and one sample, one after the other, on one cache.
struct Lane {
    sample: TempDir,
    /// Of the user: the cache is in it.
    caches: TempDir,
}

impl Lane {
    fn new() -> Lane {
        Lane { sample: sample_with("pointwise-chain", &["float32/s0-1_"]), caches: directory() }
    }

    fn cache(&self) -> PathBuf {
        self.caches.path().join("passhost")
    }

    /// An evaluation of a plugin that puts temporary files into `temporary`.
    fn eval(&self, name: &str, temporary: &Path) -> Passhost {
        Passhost::eval_within("10ms", &plugin(name), self.sample.path())
            .with(&["--threads", "1"])
            .variable("XDG_CACHE_HOME", &self.caches.path().display().to_string())
            .variable("TMPDIR", &temporary.display().to_string())
    }

    /// The rewrite's hash of an evaluation that nothing happens to, and its lines of progress.
    fn undisturbed(&self) -> (String, usize) {
        let temporary = directory();
        let run = self.eval(PLUGIN, temporary.path()).run();
        run.expect_end(0, &[]);
        let hash = right(&run);
        run.expect(hash.is_some(), "an evaluation that nothing happens to is right");
        (hash.unwrap_or_default(), run.err.lines().count())
    }

    /// Makes the kill in an evaluation; false if that ended before. What must hold of it whatever happened is asserted.
    fn disturbed(&self, kill: &Kill, hash: &str) -> bool {
        if kill.empty_cache {
            let _ = std::fs::remove_dir_all(self.cache());
        }
        self.sweep();
        let temporary = directory();
        let eval = self.eval(PLUGIN, temporary.path());
        let (group, leader) = Group::start(eval.command());
        let (killed, output) = end_of(leader, |leader, lines| self.strike(kill, &group, leader, lines));
        let run = eval.ended(&output);
        let left = group.left();
        run.expect(left.is_empty(), &format!("{left:?} are left after {kill:?}"));
        let dead = killed && kill.process == SUPERVISOR && run.code == -1;
        self.check_files(&run, dead, temporary.path(), &eval.json_path());
        check_blame(&run, kill, dead);
        // Who got over it is right; after everything else the next evaluation is.
        let found = right(&run).unwrap_or_else(|| self.undisturbed().0);
        run.expect(found == hash, &format!("another rewrite after {kill:?}"));
        killed
    }

    /// Removes what earlier kills left among the entries, which has been looked at. The cache does so after an hour.
    fn sweep(&self) {
        let artefacts = self.cache().join("artefacts");
        for name in names(&artefacts).iter().filter(|name| name.starts_with(".new-")) {
            let _ = std::fs::remove_file(artefacts.join(name));
        }
    }

    /// Waits for the moment and kills. What was read of the lines of progress is added to `lines`.
    fn strike(&self, kill: &Kill, group: &Group, leader: &mut Child, lines: &mut Lines) -> bool {
        match kill.moment {
            Moment::After { line, delay } => {
                lines.read(line);
                std::thread::sleep(delay);
            }
            Moment::CacheWrite => {
                while leader.try_wait().is_ok_and(|ended| ended.is_none()) && !self.is_written() {
                    std::thread::yield_now();
                }
            }
        }
        // Where it has not started yet, or ended already, the next one of its name is as good.
        let mut killed = false;
        while !killed && leader.try_wait().is_ok_and(|ended| ended.is_none()) {
            killed = group.kill(kill.process, kill.which);
            std::thread::sleep(POLL);
        }
        killed
    }

    /// Whether an entry is being written, or was. The key, which comes first, is made in the same place.
    fn is_written(&self) -> bool {
        self.cache().join("artefacts.key").exists() && names(&self.cache().join("artefacts")).len() == 1
    }

    /// Nothing lies about, and what is written is whole: a supervisor that is killed leaves at most the file that it was
    /// writing.
    fn check_files(&self, run: &Run, dead: bool, temporary: &Path, json: &Path) {
        run.expect(run.document.is_some() == json.exists(), "the result is whole or not there");
        let unexpected = |directory: &Path, expected: &dyn Fn(&str) -> bool| {
            names(directory).into_iter().filter(|name| !expected(name)).collect::<Vec<_>>()
        };
        let is_entry = |name: &str| name.len() == 64 || (dead && name.starts_with(".new-"));
        for left in [
            unexpected(temporary, &|_| false),
            unexpected(&self.cache(), &|name| matches!(name, "artefacts" | "artefacts.key")),
            unexpected(&self.cache().join("artefacts"), &is_entry),
            unexpected(json.parent().unwrap_or(json), &|name| {
                name == "result.json" || (dead && name.starts_with(".result.json."))
            }),
        ] {
            run.expect(left.is_empty(), &format!("{left:?} are left"));
        }
    }
}

/// The names in a directory; none if it is not there.
fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The rewrite's hash, if the evaluation's only variant is right.
fn right(run: &Run) -> Option<String> {
    let variant = &run.document.as_ref()?["variants"][0];
    let is_right = run.code == 0 && variant["class"].is_null() && variant["passes_at"].as_i64()? <= -5;
    is_right.then(|| variant["rewrite"]["sha256"].as_str().map(str::to_owned)).flatten()
}

/// Whom an evaluation blames one of whose processes was killed from outside: nobody, or the host.
fn check_blame(run: &Run, kill: &Kill, dead: bool) {
    run.expect(!run.err.contains("panicked at"), "a host program panicked");
    if dead {
        return;
    }
    run.expect((0..=3).contains(&run.code), "an exit code that is documented");
    let Some(document) = &run.document else {
        // Only what nothing can be done without, the device, is the end of an evaluation.
        run.expect(kill.process == "passhost-device", "an evaluation without a result");
        run.expect_end(3, &["error:", "the device process was killed by signal 9"]);
        return;
    };
    let failure = &document["variants"][0]["failure"];
    let innocent = [&document["blame"], &failure["blame"]].into_iter().all(Value::is_null);
    run.expect(innocent && run.code == 0, &format!("somebody is blamed for {kill:?}"));
}

/// The lines of progress, as they come.
struct Lines {
    from: BufReader<std::process::ChildStderr>,
    text: String,
}

impl Lines {
    /// Reads so many, or all that there are.
    fn read(&mut self, count: usize) {
        for _ in 0..count {
            if self.from.read_line(&mut self.text).is_ok_and(|read| read == 0) {
                return;
            }
        }
    }
}

/// Does something beside a process, and reads what it printed to its end.
fn end_of<T>(mut leader: Child, beside: impl FnOnce(&mut Child, &mut Lines) -> T) -> (T, Output) {
    let Some(stderr) = leader.stderr.take() else { unreachable!("it has a pipe") };
    let mut lines = Lines { from: BufReader::new(stderr), text: String::new() };
    let done = beside(&mut leader, &mut lines);
    let read = lines.from.read_to_string(&mut lines.text);
    assert!(read.is_ok(), "{read:?}");
    let output = leader.wait_with_output();
    assert!(output.is_ok(), "passhost is lost: {output:?}");
    let Ok(output) = output else { unreachable!("it was checked") };
    (done, Output { stderr: lines.text.into_bytes(), ..output })
}

#[test]
fn a_guest_child_killed_before_it_says_who_the_plugin_is_is_replaced() {
    let (lane, temporary) = (Lane::new(), directory());
    // It ends at its fuel limit in the fresh child: the plugin is blamed for that, not for the kill.
    let eval = lane.eval("endless_describe", temporary.path()).with(&["--limit-fuel", "1000000000"]);
    let (group, leader) = Group::start(eval.command());
    let (killed, output) = end_of(leader, |leader, _| {
        // It is asked once what it was compiled to is in the cache.
        while leader.try_wait().is_ok_and(|ended| ended.is_none()) && !lane.is_written() {
            std::thread::yield_now();
        }
        group.kill("passhost-guest", 0)
    });
    let run = eval.ended(&output);
    run.expect(killed, "the guest was killed").expect_end(1, &["plugin (describe)", "fuel limit"]);
}

#[test]
fn whichever_process_is_killed_whenever_the_next_evaluation_is_right() {
    let kills = std::env::var("PASSHOST_KILLS").ok().map_or(Ok(KILLS), |count| count.parse());
    assert!(kills.is_ok(), "PASSHOST_KILLS is no number: {kills:?}");
    let kills = kills.unwrap_or(KILLS);
    let (next, made) = (AtomicU64::new(0), Mutex::new(BTreeMap::<&str, u32>::new()));
    let lane = || {
        let lane = Lane::new();
        let (hash, lines) = lane.undisturbed();
        while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < kills) {
            let kill = Kill::new(number, lines);
            if lane.disturbed(&kill, &hash)
                && let Ok(mut made) = made.lock()
            {
                *made.entry(kill.process).or_default() += 1;
            }
        }
    };
    std::thread::scope(|scope| (0..LANES).for_each(|_| drop(scope.spawn(lane))));
    let made = made.into_inner().unwrap_or_default();
    // Some evaluations end before their kill. One kind that is never killed would be no test of it.
    for process in PROCESSES.iter().take(kills as usize) {
        assert!(made.contains_key(process), "no {process} was killed: {made:?}");
    }
    eprintln!("killed: {made:?}");
}
