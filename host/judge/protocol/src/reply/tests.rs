#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::device::{
    DeviceStage, EvaluationReport, LoadReport, ProcessTiming, RewriteError, SingleRun, SingleRunError,
};
use crate::guest::{GuestFailure, GuestRewrite};
use crate::reader::{OpenedSample, SampleVariant};
use passhost_ir::{
    Arg, DeviceFacts, DeviceKind, Dtype, Graph, Node, NodeId, NodeKind, OpName, TensorType, Value, ValueId,
};
use passhost_result::{DeviceInfo, GuestUsage, PassInfo, ProcessTimes, Refusal, SandboxProfile, Spent, Symbols};
use std::fmt::Debug;

const PROFILE: SandboxProfile = SandboxProfile { seccomp: true, landlock: Some(6) };
const GRAPH: Most = Most { bytes: 1 << 20, items: 1 << 16 };

/// A graph whose every id is as large as can be.
fn largest_ids() -> Graph {
    let id = ValueId(u32::MAX);
    let args =
        vec![Arg::Value(id), Arg::Values(vec![id]), Arg::OptionalValues(vec![Some(id), None]), Arg::Ints(vec![])];
    let kind = NodeKind::Aten { op: OpName::parse("aten::relu"), args };
    let value = Value { name: "x".into(), ty: TensorType::contiguous(Dtype::F32, [i64::MAX]) };
    let node = Node { id: NodeId(u32::MAX), kind, outputs: vec![id] };
    Graph { values: vec![value], inputs: vec![id], nodes: vec![node], outputs: vec![id] }
}

fn guest() -> Vec<FromGuest> {
    let usage = GuestUsage { log: "a line\n".into(), ..GuestUsage::default() };
    let refusal = Refusal { nodes: vec![NodeId(u32::MAX)], reason: "no".into() };
    let rewrite = GuestRewrite { graph: largest_ids(), refusals: vec![refusal], refusals_left_out: u64::MAX };
    vec![
        FromGuest::Hello { engine: "engine".into(), profile: PROFILE },
        FromGuest::Loaded { artefact: Some(vec![1; 9]), wall_us: 5 },
        FromGuest::Described(Ok(PassInfo::default()), usage.clone()),
        FromGuest::Infer { op: OpName::parse("aten::relu"), args: vec![Arg::None, Arg::Ints(vec![1, 2])] },
        FromGuest::Ran(Ok(rewrite), usage),
        FromGuest::Failed(GuestFailure::Host("gone".into())),
    ]
}

fn reader() -> Vec<FromReader> {
    let opened = OpenedSample { name: "sample".into(), sha256: "0".into(), variants: vec!["only".into()] };
    let variant = SampleVariant { program: largest_ids(), inputs: vec![], notes: vec!["a note".into()] };
    vec![
        FromReader::Ready(PROFILE),
        FromReader::Opened(Ok(opened)),
        FromReader::Infer { op: OpName::parse("aten::relu"), args: vec![Arg::Floats(vec![0.5])] },
        FromReader::Variant(Ok(variant)),
        FromReader::Symbols(vec![Symbols::from([("S0".to_owned(), i64::MIN)])]),
        FromReader::Changed(Err("no".into())),
        FromReader::Whole(vec![1, 2, 3]),
    ]
}

fn types() -> Vec<FromTypes> {
    let ty = TensorType::contiguous(Dtype::I8, [1, 2]);
    vec![FromTypes::Ready(PROFILE), FromTypes::Typed(Ok(vec![ty])), FromTypes::Sources(vec!["text".into()])]
}

fn compiler() -> Vec<FromCompiler> {
    vec![
        FromCompiler::Ready { identity: "12".into(), profile: PROFILE },
        FromCompiler::Unusable("none".into()),
        FromCompiler::Made(Ok(vec![1; 9])),
    ]
}

fn builder() -> Vec<FromBuilder> {
    let end = builder::CompilerEnd::Exited(0);
    vec![FromBuilder::Ready(PROFILE), FromBuilder::Unusable("none".into()), FromBuilder::Ended(end)]
}

fn device() -> Vec<FromDevice> {
    let facts = DeviceFacts { kind: DeviceKind::Cpu, multiprocessors: 2, l2_bytes: 1, bandwidth: 1, launch_ns: 1 };
    let text = String::new;
    let (device, name, id, torch, settings, note) = (text(), text(), text(), text(), text(), text());
    let device = DeviceInfo { device, name, id, facts, threads: 1, torch, settings, note };
    let (control, pairs, device_times, device_note) = Default::default();
    let times = ProcessTimes {
        control,
        pairs,
        device: device_times,
        device_note,
        eager_cold_ns: vec![u64::MAX; 3],
        rewritten_cold_ns: vec![],
        method: "none".into(),
        floor_ns: 0,
    };
    let loaded = LoadReport { types: vec![TensorType::contiguous(Dtype::F32, [3])], peak_bytes: 1, first_ns: 2 };
    let error = RewriteError::Op { node: NodeId(u32::MAX), op: "kernel".into(), message: "no".into() };
    vec![
        FromDevice::Opened { device, profile: PROFILE, gpu: None },
        FromDevice::Unusable("none".into()),
        FromDevice::Stage(DeviceStage::Plan),
        FromDevice::Compile(compiler::CompilerSource { text: "text".into(), capability: (9, 0) }),
        FromDevice::Spent(Spent::default()),
        FromDevice::Lost,
        FromDevice::Loaded(Ok(loaded)),
        FromDevice::Drawn(Err(SingleRunError::Write { file: "f".into(), message: "full".into() })),
        FromDevice::Evaluated(Box::new(EvaluationReport::failed(error))),
        FromDevice::Tuned(Ok(vec![])),
        FromDevice::Timed(Ok(Box::new(ProcessTiming { times, findings: vec![], passes_at: vec![None; 2] }))),
        FromDevice::Traced(None),
        FromDevice::Ran(Ok(SingleRun { outputs: vec![], differences: vec![], peak_bytes: 0, micros: 0 })),
    ]
}

fn read<T: Reply>(frame: &[u8]) -> Result<T, FrameError> {
    read_reply(&mut &*frame, || GRAPH)
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&u32::try_from(message.len()).unwrap().to_le_bytes(), message].concat()
}

/// Holds the messages of a child, one of each kind, against what it may send.
fn check<T: Reply + Serialize + Debug + PartialEq>(messages: &[T]) {
    assert_eq!(messages.len(), T::KINDS.len(), "a message of each kind");
    for (kind, (message, room)) in messages.iter().zip(T::KINDS).enumerate() {
        let bytes = encode(message).unwrap();
        assert_eq!(usize::from(bytes[0]), kind, "{message:?} is in another place of its table");
        let mut frame = vec![];
        write_reply(&mut frame, message, GRAPH).unwrap();
        assert_eq!(read::<T>(&frame).unwrap(), *message);

        // By its header and its kind, before the rest is there.
        let most = room.most(GRAPH);
        let length = u32::try_from(most.bytes + 1).unwrap().to_le_bytes();
        let error = read::<T>(&[&length[..], &bytes[..1]].concat()).unwrap_err();
        assert!(matches!(error, FrameError::TooLong { limit, .. } if limit == most.bytes), "{message:?}: {error}");

        // Cut, with something else behind its kind, and with numbers that are far too large in the place of each of its own.
        for end in 0..bytes.len() {
            assert!(read::<T>(&framed(&bytes[..end])).is_err(), "{message:?} cut at {end}");
        }
        for at in 1..bytes.len() {
            for number in [[0xff, 0xff, 0xff, 0xff, 0x0f], [0x80, 0x80, 0x80, 0x80, 0x01], [0xff; 5]] {
                // Whatever comes of it, it comes back.
                let _ = read::<T>(&framed(&[&bytes[..at], &number, &bytes[at + 1..]].concat()));
            }
        }
    }
    let none = u8::try_from(T::KINDS.len()).unwrap();
    for message in [&[none][..], &[0xff, 0x01], &[]] {
        assert!(matches!(read::<T>(&framed(message)), Err(FrameError::Kind)), "{message:?}");
    }
}

#[test]
fn each_kind_of_message_has_limits_of_its_own() {
    check(&guest());
    check(&reader());
    check(&types());
    check(&compiler());
    check(&builder());
    check(&device());
}

/// A message that says it has a list of `count` elements, which it has as the bytes `element` each.
fn with_list(before: &[u8], count: u32, element: &[u8]) -> Vec<u8> {
    let mut message = before.to_vec();
    message.extend(encode(&count).unwrap());
    message.extend(element.repeat(usize::try_from(count).unwrap()));
    message
}

#[test]
fn elements_are_counted_before_they_are_decoded() {
    // Values of a graph, of four bytes each as a message and of many more in memory.
    let value = [0, 0, 0, 0];
    let ran = read::<FromGuest>(&framed(&with_list(&[4, 0], 1 << 16, &value)));
    assert!(matches!(ran, Err(FrameError::Malformed { .. })), "as many as it may have, and then it ends: {ran:?}");
    let many = u32::try_from(REFUSALS.items + GRAPH.items + 1).unwrap();
    let ran = read::<FromGuest>(&framed(&with_list(&[4, 0], many, &value)));
    assert!(matches!(ran, Err(FrameError::TooMany(_))), "{ran:?}");
    let read_variant = read::<FromReader>(&framed(&with_list(&[3, 0], (8 << 20) + 1, &value)));
    assert!(matches!(read_variant, Err(FrameError::TooMany(_))), "{read_variant:?}");
    let described = read::<FromGuest>(&framed(&with_list(&[2, 1, 0], 4, b"x")));
    assert!(matches!(described, Err(FrameError::Malformed { .. })), "{described:?}");
}

#[test]
fn a_message_that_would_be_refused_is_not_sent() {
    let args = vec![Arg::Ints(vec![i64::MAX; 200_000])];
    let question = FromGuest::Infer { op: OpName::parse("aten::relu"), args };
    let mut sent = vec![];
    assert!(matches!(write_reply(&mut sent, &question, Most::default()), Err(FrameError::TooLong { .. })));
    assert!(sent.is_empty());
}
