//! Result documents made by hand, for tests of what reads them: no evaluation runs, and every trial is known. All that follows
//! from the trials is computed from them.

use passhost_ir::{DeviceFacts, DeviceKind, Dtype, TensorType};
use passhost_policy::Policy;
use passhost_result::document::{
    Baseline, Blame, CHECK, ChildProfiles, Document, Failure, Job, Launch, Limits, Rewrite, SCHEMA, Status, Timing,
    Variant,
};
use passhost_result::verify::{Difference, recompute, recomputed};
use passhost_result::{
    Block, DeviceInfo, DeviceTimes, GuestLimits, InputMode, OutputReport, PassInfo, ProcessTimes, Settings, Spent,
    Witness,
};
use passhost_score::{Estimate, FailureClass, Interval, Options};

/// Nanoseconds that eager takes in every made document.
const EAGER_NS: u64 = 1_200_000;
/// What processes differ by.
const PROCESSES: [f64; 3] = [1.0 / 1.002, 1.0, 1.002];

/// The document of a plugin, named so, on a sample, with these variants, made on a CPU under the policy `open`.
pub fn document(plugin: &str, sample: &str, variants: Vec<Variant>) -> Document {
    let job = Job {
        plugin: format!("{plugin}.wasm"),
        plugin_sha256: format!("hash of {plugin}"),
        plugin_info: Some(PassInfo { name: plugin.into(), version: "0.1.0".into(), description: String::new() }),
        sample: sample.into(),
        sample_sha256: format!("hash of {sample}"),
        groups: vec![],
        host: "0.1.0".into(),
        check: CHECK,
        device: Some(device()),
        fixed_seed: false,
        inputs: Some(InputMode::Fresh),
        baseline: None,
        left_out: 0,
    };
    let document = Document {
        schema: SCHEMA.into(),
        job,
        status: Status::Scored,
        blame: None,
        failure: None,
        progress: None,
        policy: Policy::default(),
        limits: Limits { guest: GuestLimits::default(), measurement: Settings { trials: 24, ..Settings::default() } },
        variants,
        options: Options::default(),
        outcomes: vec![],
        scores: None,
        confidence: None,
        device_scores: None,
        confinement: ChildProfiles::default(),
    };
    recomputed(document).document
}

/// The same document, whose rewrites have the hashes of the graphs that stand beside them.
pub fn hashed(mut document: Document) -> Document {
    for Difference { item, found, .. } in recompute(&document) {
        let of = |variant: &&mut Variant| item == format!("{}: rewrite.graphs.after", variant.name);
        let rewrite = document.variants.iter_mut().find(of).and_then(|variant| variant.rewrite.as_mut());
        if let Some(rewrite) = rewrite {
            rewrite.sha256 = found.trim_matches('"').to_owned();
        }
    }
    document
}

/// The document of a baseline: as that of a plugin of this name, but that eager is called from Python and takes so many times
/// as long.
pub fn baseline(method: &str, launch: Launch, sample: &str, variants: Vec<Variant>, slower: f64) -> Document {
    let slow = |mut variant: Variant| {
        variant
            .timing
            .iter_mut()
            .flat_map(|timing| &mut timing.processes)
            .for_each(|process| slow_down(process, slower));
        variant
    };
    let mut document = document(method, sample, variants.into_iter().map(slow).collect());
    let (method, python, torch) = (method.to_owned(), "3.11.7".to_owned(), "2.11.0+cpu".to_owned());
    document.job.baseline = Some(Baseline { method, launch, python, torch });
    document
}

/// All of a process takes so many times as long.
fn slow_down(process: &mut ProcessTimes, slower: f64) {
    let blocks = process.control.iter_mut().chain(&mut process.pairs);
    let of_device = process.device.iter_mut().flat_map(|times| [&mut times.eager_ns, &mut times.rewritten_ns]);
    let times = blocks.flat_map(|block| [&mut block.eager_ns, &mut block.other_ns]).chain(of_device);
    times.flatten().for_each(|time| *time = (*time as f64 * slower).round() as u64);
}

fn device() -> DeviceInfo {
    let facts =
        DeviceFacts { kind: DeviceKind::Cpu, multiprocessors: 2, l2_bytes: 1 << 20, bandwidth: 1 << 33, launch_ns: 0 };
    DeviceInfo {
        device: "cpu".into(),
        name: "a processor".into(),
        id: "cpu".into(),
        facts,
        threads: 2,
        torch: "2.11.0".into(),
        settings: String::new(),
        note: String::new(),
    }
}

/// A variant of 1 MiB of float32 that is right at every t and so many times as fast as eager, by wall clock; half of that
/// by the device's time.
pub fn right(name: &str, speedup: f64) -> Variant {
    compared(name, speedup, Some(-10))
}

/// A variant that ran, is right from this t on, and so many times as fast as eager.
pub fn compared(name: &str, speedup: f64, passes_at: Option<i8>) -> Variant {
    let class = if passes_at.is_some_and(|t| t <= -5) { None } else { Some(FailureClass::Accuracy) };
    Variant {
        class,
        rewrite: Some(rewrite(false)),
        outputs: vec![output(passes_at)],
        passes_at,
        seed: Some(1),
        timing: Some(timing(speedup)),
        ..empty(name)
    }
}

/// A variant that the rewrite left as it was.
pub fn missed(name: &str) -> Variant {
    let failure = fault(Blame::Plugin, "correctness", "nothing that counts was changed");
    let (class, rewrite) = (Some(FailureClass::PassMiss), Some(rewrite(true)));
    let (outputs, passes_at) = (vec![output(Some(-10))], Some(-10));
    Variant { class, failure, rewrite, outputs, passes_at, seed: Some(1), ..empty(name) }
}

/// A variant that gave nothing to compare, by the doing of the plugin, or of the sample where the reference fails.
pub fn failed(name: &str, class: FailureClass) -> Variant {
    let blame = if class == FailureClass::Reference { Blame::Sample } else { Blame::Plugin };
    Variant { class: Some(class), failure: fault(blame, "rewrite", "something failed"), ..empty(name) }
}

/// A variant that a busy machine let nobody measure.
pub fn unmeasured(name: &str, why: &str) -> Variant {
    let failure = fault(Blame::Host, "timing", &format!("not measured: {why}"));
    Variant { class: None, failure, timing: None, ..right(name, 1.0) }
}

/// A variant that is right and could not be captured in a CUDA graph, by whose doing.
pub fn uncaptured(name: &str, blame: Blame) -> Variant {
    Variant { timing: None, failure: fault(blame, "timing", "not measured: it cannot be captured"), ..right(name, 1.0) }
}

fn empty(name: &str) -> Variant {
    Variant {
        name: name.into(),
        element_type: Some("float32".into()),
        bytes: Some(1 << 20),
        class: None,
        failure: None,
        progress: None,
        rewrite: None,
        usage: None,
        outputs: vec![],
        findings: vec![],
        edge_cases: vec![],
        first_divergent_node: None,
        excerpt: vec![],
        hidden: None,
        notes: vec![],
        trivial: None,
        passes_at: None,
        decided: None,
        seed: None,
        strength: None,
        other_rounds: None,
        tuned: vec![],
        timing: None,
        spent_us: Spent::default(),
    }
}

fn fault(blame: Blame, stage: &str, message: &str) -> Option<Failure> {
    Some(Failure { blame, stage: stage.into(), message: message.into(), hint: "do something else".into() })
}

fn rewrite(pass_miss: bool) -> Rewrite {
    let (nodes_before, nodes_after, kernels) = if pass_miss { (4, 4, 0) } else { (4, 1, 1) };
    Rewrite { sha256: "a hash".into(), nodes_before, nodes_after, kernels, pass_miss, refusals: vec![], graphs: None }
}

fn output(passes_at: Option<i8>) -> OutputReport {
    OutputReport {
        ty: TensorType::contiguous(Dtype::F32, [1 << 17]),
        passes_at,
        elements: 1 << 17,
        different: 0,
        wrong: 0,
        non_finite: 0,
        max_abs: 0.0,
        max_rel: 0.0,
        first_wrong: None,
        first_wrong_value: None,
        first_wrong_reference: None,
        truth: None,
        decided: None,
        moved_by: None,
    }
}

fn timing(speedup: f64) -> Timing {
    let interval = Interval { low: speedup / 1.04, high: speedup * 1.04 };
    let control = Estimate { speedup: 1.0, interval: Interval { low: 1.0 / 1.04, high: 1.04 } };
    let micros = |factor: f64| EAGER_NS as f64 / factor / 1e3;
    Timing {
        processes: PROCESSES.iter().map(|factor| process(speedup * factor)).collect(),
        rules: Timing::RULES,
        attempts: 1,
        ops: 4,
        trouble: None,
        disturbed: vec![],
        eager_us: micros(1.0),
        eager_drift: 1.0,
        rewritten_us: micros(speedup),
        eager_iqr_us: 0.0,
        rewritten_iqr_us: 0.0,
        speedup,
        interval,
        control,
        host_spread: None,
        eager_device_us: Some(micros(1.0)),
        rewritten_device_us: Some(micros(speedup / 2.0)),
        speedup_device: Some(speedup / 2.0),
        speedup_cold: None,
    }
}

fn process(speedup: f64) -> ProcessTimes {
    let block = |speedup: f64| Block {
        eager_ns: vec![EAGER_NS; 2],
        other_ns: vec![(EAGER_NS as f64 / speedup).round() as u64; 2],
        witness: Witness { elapsed_ns: 1 << 22, ..Witness::default() },
    };
    ProcessTimes {
        control: vec![block(1.0); 2],
        pairs: vec![block(speedup / 1.001), block(speedup * 1.001)],
        device: Some(DeviceTimes {
            eager_ns: vec![EAGER_NS],
            rewritten_ns: vec![(2.0 * EAGER_NS as f64 / speedup).round() as u64],
            ..DeviceTimes::default()
        }),
        device_note: String::new(),
        eager_cold_ns: vec![],
        rewritten_cold_ns: vec![],
        method: "made by hand".into(),
        floor_ns: 1,
    }
}
