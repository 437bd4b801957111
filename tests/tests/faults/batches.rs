//! Batches that end early: killed, interrupted, cut. Each goes on to what an undisturbed one finds, with nothing lost and
//! nothing twice.

use crate::faults::group::Group;
use passhost_score::FailureClass;
use passhost_supervisor::batch::{self, BatchLine};
use passhost_tests::{Passhost, Run, directory, plugin, sample_with};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;
use tempfile::TempDir;

/// Kills, unless `PASSHOST_KILLS` says how many.
const KILLS: u64 = 3;
/// Longest time from a line of progress to a kill, in microseconds.
const LONGEST_US: u64 = 100_000;

/// Two plugins on two small variants.
struct Setup {
    sample: TempDir,
    folder: TempDir,
}

impl Setup {
    fn new() -> Setup {
        Setup { sample: sample_with("pointwise-chain", &["/float32/s0-1_", "/float16/s0-1_"]), folder: directory() }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("bench.jsonl")
    }

    fn bench(&self) -> Passhost {
        let plugins = ["noop", "fuse-pointwise"].map(plugin);
        Passhost::bench([plugins[0].as_path(), &plugins[1], self.sample.path()], &self.out())
            .with(&["--verbose", "--resume"])
    }

    /// Goes on to the end, and holds what is there to what must be.
    fn finish(&self) {
        let run = self.bench().run();
        run.expect_end(0, &["1 of 1 samples have ended", "noop 0.1.0: 2 graphs", "fuse-pointwise 0.1.0: 2 graphs"]);
        let text = std::fs::read_to_string(self.out()).unwrap_or_default();
        let lines: Vec<BatchLine> = text.lines().skip(1).filter_map(|line| serde_json::from_str(line).ok()).collect();
        let keys: BTreeSet<(String, String, bool)> = lines.iter().filter_map(key).collect();
        run.expect(lines.len() == 4 && keys.len() == 4, &format!("each once: {keys:?} of {} lines", lines.len()));
        let misses = keys.iter().filter(|(_, _, is_miss)| *is_miss).count();
        run.expect(misses == 2, &format!("one of the plugins changes nothing: {keys:?}"));
        let kept = batch::read(&self.out());
        run.expect(kept.is_ok_and(|kept| kept.documents.len() == 2 && !kept.is_cut), "the file is whole");
    }

    /// Starts it, waits for so many lines of progress and a while, and sends it signals.
    fn signalled(&self, lines: usize, delay: Duration, signals: &[Signal]) -> Run {
        let bench = self.bench();
        let (group, mut leader) = Group::start(bench.command());
        let Some(stderr) = leader.stderr.take() else { unreachable!("it has a pipe") };
        let mut stderr = BufReader::new(stderr);
        let mut err = String::new();
        for _ in 0..lines {
            assert!(stderr.read_line(&mut err).is_ok());
        }
        std::thread::sleep(delay);
        for signal in signals {
            // A terminal sends Ctrl-C to all processes.
            let send = if *signal == Signal::INT { kill_process_group } else { kill_process };
            let _ = send(Pid::from_child(&leader), *signal);
        }
        assert!(stderr.read_to_string(&mut err).is_ok());
        let ended = leader.wait_with_output();
        assert!(ended.is_ok(), "passhost is lost: {ended:?}");
        let Ok(ended) = ended else { unreachable!("it was checked") };
        let run = bench.ended(&Output { stderr: err.into_bytes(), ..ended });
        let left = group.left();
        run.expect(left.is_empty(), &format!("{left:?} are left"));
        run
    }
}

/// Plugin and variant of a line about a variant that ended well, and whether nothing was changed in it.
fn key(line: &BatchLine) -> Option<(String, String, bool)> {
    let BatchLine::Variant(line) = line else { return None };
    let is_miss = line.variant.class == Some(FailureClass::PassMiss);
    (is_miss || line.variant.timing.is_some()).then(|| (line.plugin.clone(), line.variant.name.clone(), is_miss))
}

#[test]
fn a_batch_that_is_killed_at_any_moment_goes_on_where_it_was() {
    let kills = std::env::var("PASSHOST_KILLS").ok().map_or(Ok(KILLS), |count| count.parse());
    assert!(kills.is_ok(), "PASSHOST_KILLS is no number: {kills:?}");
    let setup = Setup::new();
    for number in 0..kills.unwrap_or(KILLS) {
        let mut random = SplitMix64::seed_from_u64(number);
        let (lines, delay) = (random.next_u64() % 28, Duration::from_micros(random.next_u64() % LONGEST_US));
        let run = setup.signalled(lines as usize, delay, &[Signal::KILL]);
        run.expect(run.code == -1 || run.code == 0, "it was killed, or had ended");
        if run.code == 0 {
            // It had everything: the next kill comes while another is written.
            setup.finish();
            assert!(std::fs::remove_file(setup.out()).is_ok());
        }
    }
    setup.finish();
    let length = std::fs::metadata(setup.out()).map(|metadata| metadata.len()).unwrap_or_default();
    let cut = OpenOptions::new().write(true).open(setup.out()).and_then(|file| file.set_len(length - 7));
    assert!(cut.is_ok(), "{cut:?}");
    setup.finish();
    let held = File::open(setup.out()).and_then(|file| file.lock().map(|()| file));
    assert!(held.is_ok(), "{held:?}");
    setup.bench().run().expect_end(2, &["is being written by another batch", "--out FILE"]);
}

#[test]
fn an_interrupted_batch_keeps_what_has_ended_and_says_how_to_go_on() {
    // What is being measured ends first; a second signal does not wait for it.
    for (signals, code) in [(&[Signal::INT][..], 130), (&[Signal::TERM, Signal::TERM], 143)] {
        let setup = Setup::new();
        let run = setup.signalled(12, Duration::ZERO, signals);
        run.expect_end(code, &["passhost bench", "--resume"]);
        setup.finish();
    }
}
