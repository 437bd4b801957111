use super::super::rules::{CPU, GPU};
use super::super::tests::{FIRST, QUIET, block, process};
use super::*;

/// A launch and a wait that take 8 us at best, and so many for more than a quarter of the probes.
fn probed(upper_us: u64) -> Witness {
    let probe = ProbeTimes { fastest_ns: 8000, median_ns: 8200, upper_ns: upper_us * 1000 };
    Witness { slow_probes: if upper_us > 16 { 3 } else { 0 }, probe: Some(probe), ..QUIET }
}

/// Microseconds of the host and the device for a run of eager, then of the rewrite.
fn device([eager, rewritten]: [[u64; 2]; 2]) -> DeviceTimes {
    let times = |us: u64| vec![us * 1000; 3];
    DeviceTimes {
        eager_host_ns: times(eager[0]),
        eager_ns: times(eager[1]),
        rewritten_host_ns: times(rewritten[0]),
        rewritten_ns: times(rewritten[1]),
    }
}

fn found(witness: Witness, device: Option<&DeviceTimes>, rules: Rules) -> Option<String> {
    let like = Like { clock: 1980.0, loads: &loads(device), ops: 9 };
    why_disturbed(&Block { witness, ..block(5000, 4000) }, &like, rules)
}

#[test]
fn every_witness_is_heard() {
    for (witness, why) in [
        (Witness { waited_ns: Some(200_000), ..QUIET }, "threads waited for a core 20% of the time"),
        (Witness { waited_ns: None, preempted: Some(9), ..QUIET }, "other programs took the cores away"),
        (Witness { slow_probes: 3, ..QUIET }, "3 of 11 probes took twice as long as they should"),
        (Witness { clock_mhz: Some(1200), ..QUIET }, "the GPU ran at 1200 MHz in place of 1980"),
        (Witness { throttled: vec!["hw slowdown".into()], ..QUIET }, "the GPU was held back: hw slowdown"),
    ] {
        assert_eq!(found(witness, None, GPU), Some(why.to_owned()));
    }
    let unwatched = Witness { waited_ns: None, preempted: None, probes: 0, ..QUIET };
    assert_eq!(found(unwatched, None, GPU), None);
}

#[test]
fn a_slow_launch_counts_by_what_it_adds_to_a_run() {
    let (milliseconds, small) = ([[60, 5000], [40, 4000]], [[45, 20], [5, 3]]);
    for (us, loads, longer) in [
        // A few microseconds beside milliseconds are nothing, and beside a run that waits for the host they are half of it.
        (17, Some(milliseconds), None),
        (40, Some(milliseconds), None),
        (17, Some(small), Some("112%")),
        (15, Some(small), None),
        // Where the host falls behind the device it is no longer hidden.
        (400, Some([[200, 5000], [40, 4000]]), Some("108%")),
        // A rewrite that is short beside eager is disturbed alone.
        (17, Some([[60, 5000], [5, 3]]), Some("112%")),
        // As long as a slice of the scheduler is much anywhere.
        (3000, Some(milliseconds), Some("409%")),
        // Where nothing is known of the programs, each of nine ops may wait: of blocks of 50 ms with eight runs, and of 1 ms.
        (17, None, None),
    ] {
        let device = loads.map(device);
        let witness = Witness { elapsed_ns: 50_000_000, ..probed(us) };
        let why = longer.map(|share| {
            format!("3 of 11 probes took twice as long as they should, by which a run becomes {share} longer")
        });
        assert_eq!(found(witness, device.as_ref(), GPU), why, "{us} us, {loads:?}");
    }
    assert!(found(probed(17), None, GPU).is_some_and(|why| why.ends_with("72% longer")));
}

#[test]
fn on_a_cpu_what_slows_the_piece_of_work_slows_the_programs_alike() {
    let loads = device([[60, 5000], [40, 4000]]);
    let why = "3 of 11 probes took twice as long as they should, by which a run becomes 112% longer";
    assert_eq!(found(probed(17), Some(&loads), CPU), Some(why.to_owned()));
}

#[test]
fn preemptions_count_by_the_share_of_a_block_that_they_take() {
    for (preempted, elapsed_ms, is_disturbed) in
        [(9, 1, true), (9, 200, true), (9, 1000, false), (8, 1, false), (100, 1000, true)]
    {
        let witness =
            Witness { waited_ns: None, preempted: Some(preempted), elapsed_ns: elapsed_ms * 1_000_000, ..QUIET };
        assert_eq!(found(witness, None, CPU).is_some(), is_disturbed, "{preempted} in {elapsed_ms} ms");
    }
}

#[test]
fn clocks_are_held_against_those_of_the_same_place() {
    let clocks = |of_processes: [[u32; 6]; 3], power: bool| -> Vec<[usize; 2]> {
        let processes: Vec<ProcessTimes> = of_processes
            .iter()
            .map(|clocks| {
                let mut times = process();
                let blocks = times.control.iter_mut().chain(&mut times.pairs);
                blocks.zip(clocks).for_each(|(block, &mhz)| {
                    block.witness.clock_mhz = Some(mhz);
                    block.witness.is_power_bound = power;
                });
                times
            })
            .collect();
        disturbed(&processes, 3, GPU).iter().map(|found| [found.process, found.block]).collect()
    };
    // Two control blocks, the first before anything drew power and the second after all that did, then the pairs.
    let bound = [1980, 1700, 1900, 1800, 1750, 1700];
    assert_eq!(clocks([bound; 3], false), [[0; 2]; 0]);
    let mut dropped = [bound; 3];
    dropped[1][3] = 1700;
    assert_eq!(clocks(dropped, false), [[1, 3]]);
    assert_eq!(clocks(dropped, true), [[0; 2]; 0], "a clock that power holds back is the programs' doing");
}

#[test]
fn documents_that_do_not_say_are_judged_by_the_first_rules() {
    let preempted = Witness { waited_ns: None, preempted: Some(9), elapsed_ns: 1_000_000_000, ..QUIET };
    assert!(found(preempted.clone(), None, FIRST).is_some() && found(preempted, None, GPU).is_none());
    let mut processes = vec![process(), process(), process()];
    for times in &mut processes {
        times.control.iter_mut().for_each(|block| block.witness.clock_mhz = Some(1900));
        times.pairs.iter_mut().for_each(|block| block.witness.clock_mhz = Some(1980));
    }
    assert_eq!((disturbed(&processes, 3, FIRST).len(), disturbed(&processes, 3, GPU).len()), (6, 0));
}
