#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::rules::{CPU, GPU};
use super::*;
use crate::{Block, ProbeTimes, Witness};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

pub(super) const QUIET: Witness = Witness {
    elapsed_ns: 1_000_000,
    waited_ns: Some(1000),
    preempted: Some(0),
    probes: 11,
    slow_probes: 0,
    probe: None,
    clock_mhz: None,
    throttled: vec![],
    is_power_bound: false,
};

pub(super) fn block(eager_us: u64, other_us: u64) -> Block {
    let times = |us: u64| vec![us * 1000, us * 1010, us * 990, us * 1000];
    Block { eager_ns: times(eager_us), other_ns: times(other_us), witness: QUIET }
}

/// Eager takes 100 us and the rewrite 50, and devices a tenth less.
pub(super) fn process() -> ProcessTimes {
    ProcessTimes {
        control: vec![block(100, 100), block(100, 101)],
        pairs: vec![block(100, 50), block(101, 50), block(100, 51), block(100, 50)],
        device: Some(DeviceTimes {
            eager_ns: vec![90_000; 3],
            rewritten_ns: vec![45_000; 3],
            ..DeviceTimes::default()
        }),
        device_note: String::new(),
        eager_cold_ns: vec![200_000],
        rewritten_cold_ns: vec![160_000],
        method: "by hand".into(),
        floor_ns: 1,
    }
}

fn three(change: impl Fn(usize, &mut ProcessTimes)) -> Result<Measured, ScoreError> {
    let processes = (0..3).map(|at| {
        let mut times = process();
        change(at, &mut times);
        times
    });
    measured(processes.collect(), GPU, 3, false)
}

fn trouble_of(change: impl Fn(usize, &mut ProcessTimes)) -> String {
    three(change).unwrap().timing.trouble.unwrap_or("none".into())
}

#[test]
fn a_quiet_machine_gives_a_speedup_and_an_interval() {
    let measured = three(|_, _| ()).unwrap();
    let timing = measured.timing;
    assert_eq!(timing.trouble, None);
    assert!((timing.speedup - 2.0).abs() < 0.02 && timing.interval.contains(2.0), "{timing:?}");
    assert!(timing.control.interval.contains(1.0));
    let near = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9);
    assert!(near(timing.eager_device_us, 90.0) && near(timing.rewritten_device_us, 45.0), "{timing:?}");
    assert_eq!((timing.speedup_device, timing.speedup_cold), (Some(2.0), Some(1.25)));
    assert_eq!((timing.processes.len(), timing.disturbed.len()), (3, 0));
}

#[test]
fn a_disturbed_block_does_not_count_and_too_many_are_no_measurement() {
    let one = three(|at, times| {
        if at == 1 {
            times.pairs[2] = Block { witness: Witness { waited_ns: Some(500_000), ..QUIET }, ..block(100, 500) };
        }
    });
    let timing = one.unwrap().timing;
    assert!((timing.speedup - 2.0).abs() < 0.02, "{timing:?}");
    assert_eq!(timing.disturbed, ["process 2, block 5: threads waited for a core 50% of the time"]);
    let busy = trouble_of(|at, times| {
        if at == 2 {
            times.pairs.iter_mut().take(3).for_each(|block| block.witness.waited_ns = Some(500_000));
        }
    });
    assert_eq!(busy, "the machine was busy during 3 of 18 blocks of trials: threads waited for a core 50% of the time");
}

#[test]
fn eager_must_be_as_fast_as_itself() {
    let faster = trouble_of(|_, times| times.control = vec![block(100, 80), block(100, 81)]);
    assert!(faster.starts_with("eager timed against itself is 1.242 times as fast, ["), "{faster}");
    let wide = trouble_of(|at, times| times.control = vec![block(100, 80 + 20 * at as u64)]);
    assert!(wide.starts_with("eager timed against itself varies by a factor of"), "{wide}");
}

#[test]
fn eager_must_not_wait_for_the_host() {
    let trouble = trouble_of(|_, times| {
        times.control = vec![block(300, 300)];
        times.pairs = vec![block(300, 150); 4];
    });
    assert_eq!(
        trouble,
        "eager takes 300 us of which its device works 90; more than 106 us beside it are the machine's"
    );
    let unknown = trouble_of(|_, times| {
        times.control = vec![block(300, 300)];
        times.pairs = vec![block(300, 150); 4];
        times.device = None;
    });
    assert_eq!(unknown, "none");
}

#[test]
fn what_equal_measurements_differ_by_is_no_slow_host() {
    // 5 ms of which the device works 4.7: with three ops 100 us may be the host's, and of 7% of 4.7 ms nobody knows.
    let long = |device_ns: u64| {
        trouble_of(move |_, times| {
            times.control = vec![block(5000, 5000)];
            times.pairs = vec![block(5000, 4000); 4];
            times.device.as_mut().unwrap().eager_ns = vec![device_ns; 3];
        })
    };
    assert_eq!(long(4_700_000), "none");
    assert!(long(4_400_000).starts_with("eager takes 5000 us of which its device works 4400; more than 408 us"));
}

#[test]
fn a_rewrite_gains_nothing_by_slowing_eager_down() {
    let measured = three(|_, times| times.pairs = vec![block(200, 50); 4]).unwrap();
    assert!((measured.timing.speedup - 2.0).abs() < 0.02, "{:?}", measured.timing);
    assert!((measured.timing.eager_drift - 2.0).abs() < 0.02);
}

#[test]
fn noise_that_is_accepted_is_no_trouble() {
    let mut processes = vec![process(), process(), process()];
    for times in &mut processes {
        times.pairs.iter_mut().for_each(|block| block.witness.waited_ns = Some(900_000));
        times.control = vec![block(100, 50)];
    }
    let timing = |rules| measured(processes.clone(), rules, 3, true).unwrap().timing;
    assert_eq!((timing(GPU).trouble, timing(GPU).disturbed.len()), (None, 12));
    // By the first rules nothing was said to be disturbed.
    assert_eq!((timing(FIRST).trouble, timing(FIRST).disturbed.len()), (None, 0));
    assert!(super::measured(vec![process()], GPU, 3, true).is_err());
}

pub(super) const FIRST: Rules = Rules { version: 1, ..GPU };

/// With the times of a block that nothing disturbed, and of one that something did.
fn noisy(clean: [u64; 2], disturbed: [u64; 2]) -> ProcessTimes {
    let witness = Witness { waited_ns: Some(900_000), ..QUIET };
    let bad = Block { witness, ..block(disturbed[0], disturbed[1]) };
    let good = block(clean[0], clean[1]);
    ProcessTimes {
        control: vec![Block { witness: bad.witness.clone(), ..block(clean[0], clean[0]) }],
        pairs: vec![bad.clone(), good, bad.clone(), bad],
        ..process()
    }
}

#[test]
fn accepted_noise_counts_blocks_that_nothing_disturbed_where_each_process_has_one() {
    let times = || vec![noisy([41, 18], [45, 18]), noisy([42, 18], [5000, 18]), noisy([41, 18], [45, 900])];
    let timing = measured(times(), GPU, 3, true).unwrap().timing;
    let shown = timing.shown().unwrap();
    assert!((2.2..2.4).contains(&shown.speedup), "{shown:?}");
    assert!((41.0..42.0).contains(&shown.eager_us) && (shown.rewritten_us - 18.0).abs() < 1e-9, "{shown:?}");
    assert_eq!((timing.disturbed.len(), timing.trouble), (12, None));
    // By the first rules all blocks count, and what disturbed eager is taken for the rewrite's doing.
    let first = measured(times(), FIRST, 3, true).unwrap().timing;
    assert_eq!((first.eager_us, first.rewritten_us, first.shown()), (45.0, 18.0, None));
    assert!(first.speedup < 0.6, "{}", first.speedup);
    // Where a process has none, medians of all of its runs count.
    let mut busy = vec![noisy([41, 18], [45, 18]); 3];
    busy[1].pairs[1].witness.waited_ns = Some(900_000);
    let shown = measured(busy, GPU, 3, true).unwrap().timing.shown().unwrap();
    assert!((2.3..2.6).contains(&shown.speedup) && (44.0..46.0).contains(&shown.eager_us), "{shown:?}");
}

/// Times of three processes, of which some blocks are noted to be disturbed: the noise is up to a factor of e to the power of
/// `spread`, with runs between that take a thousand times as long.
fn drawn(random: &mut SplitMix64, spread: f64) -> Vec<ProcessTimes> {
    let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut block = || {
        let runs = 1 + (unit() * 10.0) as usize;
        let factor = (spread * (2.0 * unit() - 1.0)).exp();
        let mut times = |middle: f64| -> Vec<u64> {
            let mut run = || {
                let outlier = if unit() < 0.1 * spread { 1000.0 } else { 1.0 };
                (middle * factor * outlier * (spread * (2.0 * unit() - 1.0)).exp()) as u64 + 1
            };
            (0..runs).map(|_| run()).collect()
        };
        let (eager_ns, other_ns) = (times(45_000.0), times(18_000.0));
        let waited_ns = Some(if unit() < spread / 2.0 { 900_000 } else { 0 });
        Block { eager_ns, other_ns, witness: Witness { waited_ns, ..QUIET } }
    };
    (0..3)
        .map(|_| ProcessTimes {
            control: vec![block(), block()],
            pairs: (0..4).map(|_| block()).collect(),
            ..process()
        })
        .collect()
}

#[test]
fn times_that_are_shown_give_the_speedup_that_is_shown() {
    let mut random = SplitMix64::seed_from_u64(29);
    let (mut shown, mut too_noisy, mut contradictions) = (0, 0, 0);
    for draw in 0..3000 {
        let processes = drawn(&mut random, f64::from(draw) / 1000.0);
        for accept_noise in [true, false] {
            let timing = |rules| measured(processes.clone(), rules, 3, accept_noise).unwrap().timing;
            match timing(GPU).shown() {
                Some(times) => {
                    let factor = times.eager_us / times.rewritten_us / times.speedup;
                    assert!((factor - 1.0).abs() < 1e-9, "draw {draw}: {times:?}");
                    shown += 1;
                }
                None => too_noisy += 1,
            }
            let first = timing(FIRST);
            let factor = first.eager_us / first.rewritten_us / first.speedup;
            contradictions += usize::from(!(0.5..2.0).contains(&factor));
        }
    }
    assert!(shown > 1000 && too_noisy > 1000, "{shown} shown, {too_noisy} too noisy");
    assert!(contradictions > 1000, "by the first rules {contradictions} contradict themselves");
}

/// Three processes of a host whose typical launch takes so many times as long as its fastest. Device times as in
/// [`process`], of wall clock that is as long or so many times as long.
fn on_host(slower: f64, wall_us: [u64; 2]) -> Vec<ProcessTimes> {
    let mut times = process();
    let probe = ProbeTimes { fastest_ns: 8000, median_ns: (8000.0 * slower) as u64, upper_ns: 15_000 };
    times.control = vec![block(wall_us[0], wall_us[0]); 2];
    times.pairs = vec![block(wall_us[0], wall_us[1]); 4];
    times.control.iter_mut().chain(&mut times.pairs).for_each(|block| block.witness.probe = Some(probe));
    vec![times; 3]
}

#[test]
fn intervals_of_wall_clock_are_as_wide_as_the_host_may_differ() {
    // Devices take 90 us and 45.
    for (slower, wall_us, spread, resolution) in [
        (1.0, [120, 60], 1.0, 1.07),
        (1.08, [120, 60], 1.019, 1.07),
        (1.5, [100, 50], 1.034, 1.07),
        // Of the rewrite's 180 us three quarters are the host's.
        (1.5, [120, 180], 1.333, 1.333),
        (1.3, [150, 60], 1.102, 1.102),
    ] {
        let Measured { timing, speedups } = measured(on_host(slower, wall_us), GPU, 3, false).unwrap();
        let found = timing.host_spread.unwrap();
        assert!((found - spread).abs() < 1e-3, "{slower} {wall_us:?}: {found}");
        assert!((speedups.resolution - resolution).abs() < 1e-3, "{slower} {wall_us:?}: {speedups:?}");
        assert!((timing.interval.spread() - resolution).abs() < 1e-3, "{slower} {wall_us:?}: {:?}", timing.interval);
    }
    let of = |processes, rules| measured(processes, rules, 3, false).unwrap();
    let noisy = || on_host(1.5, [120, 180]);
    for (found, resolution) in
        [(of(noisy(), CPU), 1.04), (of(noisy(), FIRST), 1.07), (of(vec![process(); 3], GPU), 1.07)]
    {
        assert_eq!((found.timing.host_spread, found.speedups.resolution), (None, resolution));
    }
    let mut unknown = noisy();
    unknown.iter_mut().for_each(|times| times.device = None);
    assert!((of(unknown, GPU).speedups.resolution - 1.5).abs() < 1e-9, "all of it may be the host's");
}

/// Two equal programs, in runs that find the host at its best for one of them, or a third slower, or in between.
fn equal_programs(random: &mut SplitMix64) -> Vec<ProcessTimes> {
    const SLOWER: f64 = 1.3;
    let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let host_ns = [0; 2].map(|_| 30_000.0 * (1.0 + (SLOWER - 1.0) * unit()));
    let mut block = |[eager, other]: [f64; 2]| {
        let mut times = |host_ns: f64| -> Vec<u64> {
            (0..10).map(|_| ((5000.0 + host_ns) * (0.99 + 0.02 * unit())) as u64).collect()
        };
        let probe = ProbeTimes { fastest_ns: 8000, median_ns: (8000.0 * SLOWER) as u64, upper_ns: 12_000 };
        let (eager_ns, other_ns) = (times(eager), times(other));
        Block { eager_ns, other_ns, witness: Witness { probe: Some(probe), ..QUIET } }
    };
    let mut one = || ProcessTimes {
        control: vec![block([host_ns[0]; 2]), block([host_ns[0]; 2])],
        pairs: (0..4).map(|_| block(host_ns)).collect(),
        device: Some(DeviceTimes { eager_ns: vec![5000; 3], rewritten_ns: vec![5000; 3], ..DeviceTimes::default() }),
        ..process()
    };
    vec![one(), one(), one()]
}

#[test]
fn of_a_thousand_verdicts_on_equal_programs_on_a_noisy_host_none_is_faster() {
    let mut random = SplitMix64::seed_from_u64(1);
    let (mut by_the_device, mut covers) = (0, 0);
    for verdict in 0..1000 {
        let Measured { timing, speedups } = measured(equal_programs(&mut random), GPU, 3, false).unwrap();
        assert_eq!(timing.trouble, None);
        let found = speedups.wall.verdict(speedups.resolution, 1);
        assert_eq!(found, Verdict::Undecided, "verdict {verdict}: {:?} {speedups:?}", timing.host_spread);
        covers += usize::from(timing.interval.contains(1.0));
        by_the_device += usize::from(speedups.wall.verdict(GPU.resolution, 1) == Verdict::Faster);
    }
    assert_eq!(covers, 1000);
    assert!(by_the_device > 100, "by the resolution of the device alone {by_the_device} are faster");
}

#[test]
fn a_document_that_does_not_say_by_which_rules_is_recomputed_by_the_first() {
    let noisy = vec![noisy([41, 18], [45, 18]), noisy([42, 18], [5000, 18]), noisy([41, 18], [45, 900])];
    for (processes, accept_noise) in [(noisy, true), (on_host(1.5, [120, 180]), false), (vec![process(); 3], false)] {
        let then = measured(processes, FIRST, 3, accept_noise).unwrap().timing;
        let mut text = serde_json::to_value(&then).unwrap();
        let fields = text.as_object_mut().unwrap();
        assert!(fields.remove("rules").is_some() && fields.remove("host_spread").is_some());
        let known: Timing = serde_json::from_value(text).unwrap();
        let again = measured(known.processes.clone(), GPU.of_then(&known), known.ops, accept_noise).unwrap().timing;
        assert_eq!(again, then);
        let now = measured(known.processes, GPU, known.ops, accept_noise).unwrap().timing;
        assert_ne!(Timing { rules: 1, ..now }, then);
    }
}
