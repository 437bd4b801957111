#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::blame::memory_of;
use passhost_ir::{Draw, Dtype, NodeId};
use passhost_protocol::device::{Draws, EvaluationReport, ExternalRun, NotCaptured, ProcessTiming, TimingError};
use passhost_result::{Finding, Launch, OtherRounds, Settings};
use passhost_runtime::{GUARD, Temporary};
use passhost_torch::Target;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Guards and peaks are counted for the whole process.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    passhost_torch::process::install_allocator();
    passhost_torch::process::set_threads(2);
    lock
}

/// What is to be done with a rewrite.
pub(crate) fn job(rewrite: &str, draws: Draws, settings: Settings) -> RewriteJob {
    RewriteJob { rewrite: Graph::parse(rewrite).unwrap(), in_place: vec![], schedules: vec![], draws, settings }
}

fn settings(rewrite_bytes: u64) -> Settings {
    Settings { warmups: 1, budget_ms: 10, rewrite_bytes, ..Settings::default() }
}

/// A graph of one input `%x`, whose elements are about 1.
pub(crate) fn reference(graph: &str) -> ReferenceSession {
    reference_on(BenchDevice::cpu(), graph)
}

fn reference_on(device: BenchDevice, graph: &str) -> ReferenceSession {
    let graph = Graph::parse(graph).unwrap();
    let ty = graph.ty(graph.inputs[0]).clone();
    let specs =
        vec![InputSpec { name: "x".to_owned(), ty, draw: Draw::Normal { mean: 0.0, std: 1.0 }, min: None, max: None }];
    let device = Rc::new(device);
    ReferenceSession::load(&device, graph, specs, 7, |_| {}).unwrap().0
}

pub(crate) fn evaluate(reference: &ReferenceSession, rewrite: &str, rewrite_bytes: u64) -> EvaluationReport {
    let draws = Draws::repeated(11, OtherRounds::ALL);
    evaluate_on(reference, rewrite, draws, rewrite_bytes)
}

pub(crate) fn evaluate_on(
    reference: &ReferenceSession,
    rewrite: &str,
    draws: Draws,
    rewrite_bytes: u64,
) -> EvaluationReport {
    reference.evaluate(&job(rewrite, draws, settings(rewrite_bytes)), |_| {})
}

fn time(reference: &ReferenceSession, rewrite: &str) -> ProcessTiming {
    let passes_at = evaluate(reference, rewrite, 1 << 30).outputs.iter().map(|output| output.passes_at).collect();
    // Two pairs a block, however busy the machine is.
    let settings = Settings { trials: 24, budget_ms: 600_000, warmups: 1, ..settings(1 << 30) };
    reference.time(&job(rewrite, Draws::of(11), settings), passes_at, |_| {}).unwrap()
}

#[test]
fn nothing_is_captured_on_the_cpu() {
    let _alone = alone();
    let reference = reference(SUM);
    let settings = Settings { launch: Launch::Graph, ..settings(1 << 30) };
    let job = job(SUM, Draws::of(11), settings);
    let timed = reference.time(&job, vec![Some(-10)], |_| {});
    let message = "a program on the CPU cannot be captured; it needs a GPU".to_owned();
    assert_eq!(timed.unwrap_err(), TimingError::NotCaptured(NotCaptured::Nothing(message)));
}

pub(crate) fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

const SUM: &str = "graph(%x: f32[64,4096]) {
  %a: f32[64] = aten::sum.dim_IntList(%x, [-1])
  %b: f32[64] = aten::relu(%a)
  return (%b)
}
";

#[test]
fn inputs_do_not_count_against_the_memory_of_a_rewrite() {
    let _alone = alone();
    let reference = reference(SUM);
    let limit = 1 << 16;
    let kept = evaluate(&reference, SUM, limit);
    assert_eq!(kept.error, None);
    assert!(kept.peak_bytes <= limit, "{} bytes", kept.peak_bytes);
    let copied = SUM.replace(
        "%a: f32[64] = aten::sum.dim_IntList(%x",
        "%e: f32[64,4096] = aten::exp(%x)\n  %a: f32[64] = aten::sum.dim_IntList(%e",
    );
    let error = evaluate(&reference, &copied, limit).error.unwrap().to_string();
    assert!(error.contains("out of memory"), "{error}");
}

#[test]
fn a_rewrite_is_to_blame_for_want_of_memory_if_it_takes_more_than_eager() {
    let _alone = alone();
    let reference = reference(SUM);
    let larger = SUM.replace(
        "%a: f32[64] = aten::sum.dim_IntList(%x",
        "%e: f32[64,4096] = aten::exp(%x)\n  %a: f32[64] = aten::sum.dim_IntList(%e",
    );
    for (rewrite, is_to_blame) in [(SUM, false), (&larger, true)] {
        let error = RewriteError::Memory { node: NodeId(0), op: "aten::exp".into(), message: "6 GiB".into() };
        let blamed = memory_of(error, || reference.takes_less_than(&Graph::parse(rewrite).unwrap()));
        assert_eq!(matches!(blamed, RewriteError::Op { .. }), is_to_blame, "{blamed}");
    }
}

#[test]
fn a_temporary_is_poisoned_and_what_overruns_it_is_found() {
    let _alone = alone();
    let device = BenchDevice::cpu();
    let mut guard = device.guard(1 << 20);
    let bytes = 40;
    let ty = |bytes: u64| TensorType::contiguous(Dtype::U8, [bytes as i64]);
    let memory = Tensor::empty(device.target(), &ty(GUARD + bytes + GUARD)).unwrap();
    let temporary = || Temporary { memory: memory.clone(), bytes };
    guard.begin(temporary()).unwrap();
    assert_eq!(memory.reinterpret(GUARD, &ty(bytes)).unwrap().to_bytes(), [allocator::POISON; 40]);
    guard.end(temporary()).unwrap();
    assert_eq!(guard.overwritten(), Ok(0));
    for (overrun, count) in [(GUARD - 1, 1), (GUARD + bytes, 3)] {
        memory.reinterpret(overrun, &ty(1)).unwrap().fill(0);
        guard.end(temporary()).unwrap();
        assert_eq!(guard.overwritten(), Ok(count), "a byte at {overrun}");
    }
}

#[test]
fn an_output_that_has_its_elements_elsewhere_says_where() {
    let _alone = alone();
    let rolled = |by: &str| {
        format!(
            "graph(%x: f32[2,14,14,3]) {{
  %a: f32[2,14,14,3] = aten::roll(%x, [{by}], [1, 2])
  return (%a)
}}
"
        )
    };
    let reference = reference(&rolled("-3, -3"));
    let moved = |by: &str| evaluate(&reference, &rolled(by), 1 << 30).outputs[0].moved();
    assert_eq!(moved("3, 3").as_deref(), Some("expected values are yours moved by (0, -6, -6, 0)"));
    assert_eq!(moved("-3, -3"), None);
}

#[test]
fn a_rewrite_that_ignores_what_only_large_inputs_show_is_found() {
    let _alone = alone();
    let plain = "graph(%x: f32[256,1024]) {
  %a: f32[256,1024] = aten::relu(%x)
  return (%a)
}
";
    let reference = reference(plain);
    assert_eq!(evaluate(&reference, plain, 1 << 30).findings, []);
    // What is above 40, as nothing is in an ordinary round, is mirrored.
    let mirrored = "graph(%x: f32[256,1024]) {
  %r: f32[256,1024] = aten::relu(%x)
  %s: f32[256,1024] = aten::sub.Scalar(%r, 40.0)
  %t: f32[256,1024] = aten::relu(%s)
  %a: f32[256,1024] = aten::sub.Tensor(%r, %t, alpha=2.0)
  return (%a)
}
";
    let findings = evaluate(&reference, mirrored, 1 << 30).findings;
    assert!(matches!(findings[..], [Finding::Insensitive { output: 0, .. }]), "{findings:?}");
}

#[test]
fn a_rewrite_is_not_accused_where_eager_is_as_far_from_the_truth() {
    let _alone = alone();
    let tail = "%b: f32[4,512] = aten::mul.Tensor(%a, %a)
  %c: f32[4,512] = aten::mul.Scalar(%b, 10.0)
  %d: f32[4,512] = aten::sin(%c)
  %e: f32[4,512] = aten::add.Scalar(%d, 1.5)
  %f: f32[4,512] = aten::mul.Scalar(%e, 100.0)
  return (%f)
}
";
    let head = "graph(%x: f32[4,512,1024]) {\n  ";
    let whole = format!("{head}%a: f32[4,512] = aten::sum.dim_IntList(%x, [-1])\n  {tail}");
    // The same sums in another order: of eight times as large numbers nothing of the sine is left.
    let folded = format!(
        "{head}%v: f32[4,512,32,32] = aten::view(%x, [4, 512, 32, 32])
  %s: f32[4,512,32] = aten::sum.dim_IntList(%v, [3])
  %a: f32[4,512] = aten::sum.dim_IntList(%s, [-1])
  {tail}"
    );
    let evaluation = evaluate(&reference(&whole), &folded, 1 << 30);
    assert!(evaluation.notes.iter().any(|note| note.contains("this round does not count")), "{evaluation:?}");
    let accused = evaluation.findings.iter().any(|finding| matches!(finding, Finding::Insensitive { .. }));
    assert!(!accused, "{evaluation:?}");
}

#[test]
fn a_timed_run_is_another_answer_only_if_an_untimed_one_differs() {
    let _alone = alone();
    let relu = "graph(%x: f32[4]) {\n  %a: f32[4] = aten::relu(%x)\n  return (%a)\n}\n";
    let reference = reference(relu);
    let (eager, timed) = (bytes(&[1.0, 2.0, 3.0, 4.0]), bytes(&[1.0, 2.0, 3.0, 4.2]));
    let judged = |untimed: &[u8], exact: Option<&[u8]>| {
        let mut found = time(&reference, relu);
        let kept = [vec![Tensor::from_bytes(&Target::cpu(), &reference.output_types[0], &timed).unwrap()]];
        let held = |bytes: &[u8]| vec![HeldTensor::host(Dtype::F32, bytes.to_vec())];
        let exact = || exact.map(held);
        reference.check_timed_runs(&kept, &held(&eager), &|| Ok(held(untimed)), &exact, &mut found).unwrap();
        (found.passes_at[0], found.findings)
    };
    let (passes_at, findings) = judged(&timed, None);
    assert_eq!((findings, passes_at.is_some_and(|t| t > -5)), (vec![], true), "{passes_at:?}");
    assert_eq!(judged(&eager, None).1, [Finding::TimedRunDiffers { output: 0 }]);
    assert_eq!(judged(&eager, Some(&eager)).1, [Finding::TimedRunDiffers { output: 0 }]);
    let between = bytes(&[1.0, 2.0, 3.0, 4.1]);
    assert_eq!(judged(&eager, Some(&between)).1, [Finding::TimedRunDiffers { output: 0 }], "eager is as far from it");
    assert_eq!(judged(&eager, Some(&timed)).1, [], "it is the timed run that is right");
}

#[test]
fn eager_is_timed_against_itself_before_and_after_the_rewrite() {
    let _alone = alone();
    let times = time(&reference(SUM), SUM).times;
    assert_eq!((times.control.len(), times.pairs.len()), (2, 4));
    let blocks = || times.control.iter().chain(&times.pairs);
    assert!(blocks().all(|block| block.eager_ns.len() == block.other_ns.len() && !block.eager_ns.is_empty()));
    assert!(blocks().all(|block| block.witness.probes as usize == block.eager_ns.len() + 1), "{times:?}");
    let device = times.device.unwrap();
    let trials: usize = times.pairs.iter().map(|block| block.eager_ns.len()).sum();
    assert_eq!((device.eager_ns.len(), device.rewritten_ns.len()), (trials, trials));
    assert!(times.floor_ns > 0 && !times.eager_cold_ns.is_empty() && !times.rewritten_cold_ns.is_empty());
}

#[test]
fn a_rewrite_far_slower_than_eager_has_one_pair() {
    let _alone = alone();
    let relu = "graph(%x: f32[8]) {\n  %a: f32[8] = aten::relu(%x)\n  return (%a)\n}\n";
    let slow = "graph(%x: f32[8]) {\n  %e: f32[8,8] = aten::diag_embed(%x)\n  %r: f32[8,8,400000] = aten::repeat(%e, [1, 1, 400000])\n  %a: f32[8] = aten::relu(%x)\n  return (%a)\n}\n";
    let slow = slow
        .replace("aten::repeat(%e, [1, 1, 400000])", "aten::expand(%v, [8, 8, 400000])")
        .replace("  %r:", "  %v: f32[8,8,1] = aten::unsqueeze(%e, -1)\n  %r:");
    let slow = slow.replace("  %a:", "  %w: f32[8,8,400000] = aten::exp(%r)\n  %a:");
    let times = time(&reference(relu), &slow).times;
    assert_eq!(times.pairs.len(), 1, "{times:?}");
    assert_eq!(times.pairs[0].eager_ns.len(), 1);
}

#[test]
fn a_device_that_compares_by_itself_comes_to_the_same_verdicts() {
    let _alone = alone();
    let reference_graph = "graph(%x: f32[1100,1000]) {
  %a: f32[1100,1000] = aten::exp(%x)
  %b: f32[1100,1000] = aten::tanh(%a)
  return (%b)
}
";
    let close = reference_graph.replace(
        "  %b: f32[1100,1000] = aten::tanh(%a)",
        "  %s: f32[1100,1000] = aten::mul.Scalar(%a, 1.00002)\n  %b: f32[1100,1000] = aten::tanh(%s)",
    );
    let halved = close.replace("aten::tanh(%s)", "aten::relu(%s)");
    for rewrite in [reference_graph, &close, &halved] {
        let evaluations = [BenchDevice::cpu_like_a_gpu(), BenchDevice::cpu()].map(|device| {
            let mut evaluation = evaluate(&reference_on(device, reference_graph), rewrite, 1 << 30);
            // Sums of the same numbers, in another order.
            let reports = evaluation.outputs.iter_mut().filter_map(|output| output.truth.as_mut());
            reports.for_each(|truth| {
                for rms in [&mut truth.eager_rms, &mut truth.rewritten_rms] {
                    *rms = format!("{rms:.9e}").parse().unwrap();
                }
            });
            assert!(evaluation.outputs.len() == 1 && evaluation.outputs[0].truth.is_some(), "{evaluation:?}");
            format!("{evaluation:?}")
        });
        assert_eq!(evaluations[0], evaluations[1]);
    }
}

#[test]
fn a_rewrite_that_was_caught_and_fails_later_is_accused() {
    let _alone = alone();
    let plain = "graph(%x: f32[4096]) {\n  %y: f32[4096] = aten::mul.Scalar(%x, 2.0)\n  return (%y)\n}\n";
    let reference = reference(plain);
    // Some last places off, and with an index that is out of range once its input is redrawn at 8 times its scale.
    let rewrite = "graph(%x: f32[4096]) {
  %a: f32[4096] = aten::abs(%x)
  %i: i64[4096] = aten::to.dtype(%a, i64)
  %w: f32[16] = aten::zeros([16])
  %z: f32[4096] = aten::index_select(%w, 0, %i)
  %m: f32[4096] = aten::mul.Scalar(%x, 2.000002)
  %y: f32[4096] = aten::add.Tensor(%m, %z)
  return (%y)
}
";
    let evaluation = evaluate(&reference, rewrite, 1 << 30);
    assert!(matches!(&evaluation.error, Some(RewriteError::Op { op, .. }) if op.contains("index_select")));
    assert!(matches!(evaluation.findings[..], [Finding::Precision { .. }]), "{:?}", evaluation.findings);
    assert!(evaluation.outputs.is_empty());
}

#[test]
fn what_a_rewrite_inserts_that_no_input_reaches_is_judged_like_anything_else() {
    let _alone = alone();
    let plain = "graph(%x: f32[64,128]) {
  %a: f32[64,128] = aten::add.Scalar(%x, 1.0)
  return (%a)
}
";
    let reference = reference(plain);
    let evaluated = |name: &str| {
        let text = format!(
            "graph(%x: f32[64,128]) {{
  %o: f32[64,128] = aten::{name}([64, 128])
  %p: f32[64,128] = aten::exp(%o)
  %a: f32[64,128] = aten::add.Tensor(%x, %p)
  return (%a)
}}
"
        );
        let mut job = job(&text, Draws::repeated(11, OtherRounds::ALL), settings(1 << 30));
        for (node, id) in job.rewrite.nodes.iter_mut().zip([5, 6, 7]) {
            node.id = NodeId(id);
        }
        reference.evaluate(&job, |_| {})
    };
    let right = evaluated("zeros");
    assert_eq!((right.error, right.findings, right.outputs[0].different), (None, vec![], 0));
    // The constant and what is made of it count as memory of the rewrite.
    assert!(right.peak_bytes >= 3 * 64 * 128 * 4, "{} bytes", right.peak_bytes);
    assert!(evaluated("ones").outputs[0].wrong > 0);
}

/// Inputs are written, someone else makes outputs of them, and these are judged.
pub(crate) fn judged_externally(
    reference: &ReferenceSession,
    outputs: &[TensorType],
    answer: impl Fn(Vec<u8>) -> Vec<u8>,
) -> EvaluationReport {
    let directory = tempfile::tempdir().unwrap();
    let run = ExternalRun {
        directory: directory.path().into(),
        name: "other".into(),
        outputs: outputs.to_vec(),
        seed: 11,
        first: 0,
        rounds: 2,
        settings: settings(1 << 30),
    };
    for round in 0..run.rounds {
        std::fs::create_dir(directory.path().join(format!("round_{round}"))).unwrap();
    }
    reference.write_inputs(directory.path(), run.seed, run.rounds).unwrap();
    for round in 0..run.rounds {
        let folder = directory.path().join(format!("round_{round}"));
        let inputs = std::fs::read(folder.join("input_0.bin")).unwrap();
        std::fs::write(folder.join("other_0.bin"), answer(inputs)).unwrap();
    }
    reference.judge_external(&run)
}

#[test]
fn what_someone_else_made_of_the_inputs_is_judged_as_a_rewrite_is() {
    let _alone = alone();
    let reference = reference("graph(%x: f32[64]) {\n  %y: f32[64] = aten::mul.Scalar(%x, 2.0)\n  return (%y)\n}\n");
    let ty = TensorType::contiguous(Dtype::F32, [64]);
    let times = |factor: f32| {
        move |inputs: Vec<u8>| {
            let inputs = inputs.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
            bytes(&inputs.map(|value| value * factor).collect::<Vec<f32>>())
        }
    };
    let right = judged_externally(&reference, std::slice::from_ref(&ty), times(2.0));
    assert_eq!((right.error, right.outputs[0].passes_at, right.outputs[0].elements), (None, Some(-10), 128));
    assert!(right.outputs[0].truth.is_some(), "it is held against the run in double precision");
    let wrong = judged_externally(&reference, std::slice::from_ref(&ty), times(2.1));
    assert!(wrong.outputs[0].passes_at.is_some_and(|t| t > -5), "{wrong:?}");
    let error = |evaluation: EvaluationReport| evaluation.error.map(|error| error.to_string()).unwrap_or_default();
    let short = judged_externally(&reference, std::slice::from_ref(&ty), |_| vec![0; 8]);
    assert!(error(short).contains("a file of 8 bytes where the rewrite declares 256 bytes"));
    let other = judged_externally(&reference, &[TensorType::contiguous(Dtype::F16, [64])], |inputs| inputs);
    assert!(error(other).contains("output 0) gives f16[64] where the rewrite declares f32[64]"));
    assert!(error(judged_externally(&reference, &[], |inputs| inputs)).contains("0 outputs"));
}
