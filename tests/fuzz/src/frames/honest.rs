//! Conversations as they should be: one graph, read, rewritten and measured.

use crate::graphs;
use crate::liar::{Act, Role};
use crate::random::Random;
use passhost_ir::{DeviceFacts, DeviceKind, Draw, Dtype, Graph, InputSpec, OpName, TensorType};
use passhost_protocol::device::{
    DeviceStage, Draws, EvaluationReport, FromDevice, LoadReport, ProcessTiming, RewriteJob, RewriteTask, ToDevice,
};
use passhost_protocol::guest::{FromGuest, GuestRewrite};
use passhost_protocol::reader::{FromReader, OpenedSample, SampleVariant};
use passhost_protocol::types::FromTypes;
use passhost_protocol::{encode, write_frame};
use passhost_result::{
    Block, DeviceInfo, DeviceTimes, GuestUsage, OtherRounds, OutputReport, PassInfo, ProcessTimes, SandboxProfile,
    Settings, Witness,
};
use serde::Serialize;

const PROFILE: SandboxProfile = SandboxProfile { seccomp: true, landlock: Some(6) };

/// What all children do in an evaluation in which nothing goes wrong.
pub(super) fn scripts(random: &mut Random) -> Vec<(Role, Vec<Act>)> {
    let all = graphs::rewrites();
    let (original, rewrites) = random.pick(&all);
    let rewrite = random.pick(rewrites);
    // Every run gives other types than those that were inferred.
    let is_retyped = random.chance(10);
    let of = |role| match role {
        Role::Guest => guest(rewrite),
        Role::Reader => reader(original),
        Role::Types => types(original),
        Role::Device => device(original, rewrite, is_retyped),
    };
    Role::ALL.map(|role| (role, of(role))).to_vec()
}

/// A message as it travels.
pub(super) fn say(message: &impl Serialize) -> Act {
    let mut bytes = vec![];
    // What is written to memory arrives, and these messages are short.
    let _ = write_frame(&mut bytes, message);
    Act::Say(bytes)
}

fn guest(rewrite: &Graph) -> Vec<Act> {
    let info = PassInfo { name: "liar".into(), version: "1".into(), description: "says so".into() };
    let usage = GuestUsage { fuel: 7, log: "one line\n".into(), ..GuestUsage::default() };
    let rewrite = GuestRewrite { graph: rewrite.clone(), refusals: vec![], refusals_left_out: 0 };
    let op = OpName::new("aten::relu", "");
    vec![
        say(&FromGuest::Hello { engine: "engine".into(), profile: PROFILE }),
        Act::Hear,
        say(&FromGuest::Loaded { artefact: Some(vec![1, 2, 3]), wall_us: 5 }),
        Act::Hear,
        say(&FromGuest::Described(Ok(info), usage.clone())),
        Act::Hear,
        say(&FromGuest::Infer { op, args: vec![] }),
        Act::Hear,
        say(&FromGuest::Ran(Ok(rewrite), usage)),
        Act::Again(5),
    ]
}

fn specs(graph: &Graph) -> Vec<InputSpec> {
    let spec = |&id| {
        let value = graph.value(id);
        let draw = Draw::Normal { mean: 0.0, std: 1.0 };
        InputSpec { name: value.name.clone(), ty: value.ty.clone(), draw, min: None, max: None }
    };
    graph.inputs.iter().map(spec).collect()
}

fn reader(original: &Graph) -> Vec<Act> {
    let opened = OpenedSample { name: "sample".into(), sha256: "0".into(), variants: vec!["only".into()] };
    let variant = SampleVariant { program: original.clone(), inputs: specs(original), notes: vec!["a note".into()] };
    vec![
        say(&FromReader::Ready(PROFILE)),
        Act::Hear,
        say(&FromReader::Opened(Ok(opened))),
        Act::Hear,
        say(&FromReader::Infer { op: OpName::new("aten::relu", ""), args: vec![] }),
        Act::Hear,
        // Then it ends: one that asks for ever is listened to for as long as a whole model may take.
        say(&FromReader::Variant(Ok(variant))),
    ]
}

fn types(original: &Graph) -> Vec<Act> {
    let first = original.inputs.iter().map(|&id| original.ty(id).clone()).take(1).collect();
    vec![say(&FromTypes::Ready(PROFILE)), Act::Hear, say(&FromTypes::Typed(Ok(first))), Act::Again(1)]
}

fn device(original: &Graph, rewrite: &Graph, is_retyped: bool) -> Vec<Act> {
    let facts = DeviceFacts {
        kind: DeviceKind::Cpu,
        multiprocessors: 2,
        l2_bytes: 1 << 20,
        bandwidth: 1 << 34,
        launch_ns: 1_000,
    };
    let info = DeviceInfo {
        device: "cpu".into(),
        name: "none".into(),
        id: "cpu".into(),
        facts,
        threads: 1,
        torch: "2".into(),
        settings: String::new(),
        note: String::new(),
    };
    let mut types: Vec<TensorType> = original.values.iter().map(|value| value.ty.clone()).collect();
    if is_retyped {
        types.iter_mut().for_each(|ty| ty.dtype = if ty.dtype == Dtype::F32 { Dtype::F64 } else { ty.dtype });
    }
    let loaded = LoadReport { types, peak_bytes: 1 << 20, first_ns: 2_000 };
    vec![
        Act::Hear,
        say(&FromDevice::Opened { device: info, profile: PROFILE, gpu: None }),
        Act::Hear,
        say(&FromDevice::Stage(DeviceStage::Reference)),
        say(&FromDevice::Loaded(Ok(loaded))),
        // The first child is asked to check before it times, the others time at once.
        Act::HearElse(beginning_of_evaluate(), 9),
        say(&FromDevice::Stage(DeviceStage::Correctness)),
        say(&FromDevice::Evaluated(Box::new(evaluation(rewrite)))),
        Act::Hear,
        say(&FromDevice::Timed(Ok(Box::new(timed(rewrite))))),
        Act::Again(2),
    ]
}

fn evaluation(rewrite: &Graph) -> EvaluationReport {
    let output = |&id| OutputReport {
        ty: rewrite.ty(id).clone(),
        passes_at: Some(-5),
        elements: 100,
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
    };
    EvaluationReport {
        error: None,
        outputs: rewrite.outputs.iter().map(output).collect(),
        findings: vec![],
        edge_cases: vec![],
        notes: vec![],
        trivial: None,
        peak_bytes: 1 << 20,
        others: OtherRounds::default(),
    }
}

/// How a request to check begins: what is asked, and of what.
fn beginning_of_evaluate() -> Vec<u8> {
    let (settings, draws) = (Settings::default(), Draws::of(0));
    let (rewrite, in_place, schedules) = Default::default();
    let job = RewriteJob { rewrite, in_place, schedules, draws, settings };
    let mut bytes = encode(&ToDevice::Rewrite(RewriteTask::Evaluate, Box::new(job))).unwrap_or_default();
    bytes.truncate(2);
    bytes
}

fn timed(rewrite: &Graph) -> ProcessTiming {
    let block = || Block {
        eager_ns: vec![2_000; 2],
        other_ns: vec![1_000; 2],
        witness: Witness { elapsed_ns: 6_000, ..Witness::default() },
    };
    let control = || Block { other_ns: vec![2_000; 2], ..block() };
    let times = ProcessTimes {
        control: vec![control(), control()],
        pairs: vec![block(), block(), block(), block()],
        device: Some(DeviceTimes { eager_ns: vec![2_000], rewritten_ns: vec![1_000], ..DeviceTimes::default() }),
        device_note: String::new(),
        eager_cold_ns: vec![],
        rewritten_cold_ns: vec![],
        method: "none".into(),
        floor_ns: 1,
    };
    ProcessTiming { times, findings: vec![], passes_at: vec![Some(-5); rewrite.outputs.len()] }
}
