#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use passhost_protocol::device::Witness;

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
    assert_eq!((timing.eager_device_us, timing.rewritten_device_us), (Some(90.0), Some(45.0)));
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
    let measured = measured(processes, GPU, 3, true).unwrap();
    assert_eq!((measured.timing.trouble, measured.timing.disturbed.len()), (None, 0));
    assert!(super::measured(vec![process()], GPU, 3, true).is_err());
}
