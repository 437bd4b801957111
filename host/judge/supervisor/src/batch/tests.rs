//! Batch files: what is in them after they were cut, damaged, resumed and fought over, and the documents that they give.

use super::read::parse_bounded;
use super::work::Checking;
use super::work::SampleQueue;
use super::*;
use crate::supervisor::Config;
use passhost_ir::{DeviceFacts, DeviceKind, Dtype, TensorType};
use passhost_result::document::{Blame, CHECK, ChildProfiles, Document, Job, Limits, Variant, failure};
use passhost_result::scoring::{Frame, assemble};
use passhost_result::timing::{Rules, measured};
use passhost_result::verdict::{Judged, conclude, empty, failed};
use passhost_result::{Block, DeviceInfo, DeviceTimes, OutputReport, ProcessTimes, SandboxProfile, Settings, Witness};
use passhost_score::FailureClass;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

fn config() -> Config {
    Config { settings: Settings { accept_noise: true, ..Settings::default() }, submissions: 2, ..Config::default() }
}

/// Two plugins on the samples `s/one` and `s/two`.
fn header() -> Header {
    let plugin = |name: &str| PluginEntry {
        path: format!("p/{name}.wasm"),
        sha256: name.repeat(8),
        info: None,
        failure: None,
        baseline: None,
    };
    let sample = |name: &str| SampleEntry { path: format!("s/{name}"), groups: vec!["all".into()], place: None };
    Header {
        plugins: vec![plugin("a"), plugin("b")],
        samples: vec![sample("one"), sample("two")],
        ..Header::new(&config())
    }
}

fn name(sample: &str) -> SampleName {
    SampleName { name: sample.into(), path: format!("s/{sample}"), sha256: "5a".into(), groups: vec!["all".into()] }
}

fn line(plugin: &str, sample: &str, position: usize, judged: Judged) -> BatchLine {
    let Judged { variant, outcome, .. } = judged;
    BatchLine::Variant(Box::new(VariantLine {
        plugin: plugin.repeat(8),
        sample: name(sample),
        position,
        of: 2,
        device: None,
        confinement: ChildProfiles {
            guest: Some(SandboxProfile { seccomp: true, landlock: Some(5) }),
            ..ChildProfiles::default()
        },
        outcome,
        variant,
    }))
}

fn refused(variant: &str) -> Judged {
    failed(empty(variant), FailureClass::Compile, failure(Blame::Plugin, "rewrite", "it says no", "ask again"))
}

fn not_measured(variant: &str) -> Judged {
    failed(empty(variant), FailureClass::Runtime, failure(Blame::Host, "timing", "the machine is busy", "wait"))
}

/// One that was timed, with numbers that have many digits.
fn timed(variant: &str) -> Judged {
    let witness = Witness { elapsed_ns: 1_000_003, waited_ns: Some(17), probes: 11, ..Witness::default() };
    let block = |seed: u64| Block {
        eager_ns: (0..9).map(|run| 100_003 + seed * 7919 % 977 + run * 37).collect(),
        other_ns: (0..9).map(|run| 61_007 + seed * 104_729 % 463 + run * 29).collect(),
        witness: witness.clone(),
    };
    let process = |seed: u64| ProcessTimes {
        control: vec![block(seed), block(seed + 1)],
        pairs: (2..6).map(|more| block(seed + more)).collect(),
        device: Some(DeviceTimes {
            eager_ns: vec![90_001 + seed, 90_011],
            rewritten_ns: vec![44_987, 45_013 + seed],
            ..DeviceTimes::default()
        }),
        device_note: String::new(),
        eager_cold_ns: vec![200_017],
        rewritten_cold_ns: vec![160_001],
        method: "by hand".into(),
        floor_ns: 1,
    };
    let found = measured((0..3).map(|seed| process(seed * 10)).collect(), Rules::of("cpu"), 3, true);
    let Ok(found) = found else { unreachable!("the times give a speedup") };
    let output = OutputReport {
        ty: TensorType::contiguous(Dtype::F32, [9]),
        passes_at: Some(-7),
        elements: 27,
        different: 3,
        wrong: 0,
        non_finite: 0,
        max_abs: 1.0 / 3.0 * 1e-7,
        max_rel: 0.1 + 0.2,
        first_wrong: None,
        first_wrong_value: None,
        first_wrong_reference: None,
        truth: None,
        decided: None,
        moved_by: None,
    };
    let variant = Variant {
        outputs: vec![output],
        passes_at: Some(-7),
        timing: Some(found.timing),
        seed: Some(3),
        ..empty(variant)
    };
    conclude(variant, Some(found.speedups))
}

/// A batch file of its own, whose directory lives as long.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("bench.jsonl")
    }

    fn open(&self, header: &Header, resume: bool) -> Result<(BatchFile, Finished), BatchError> {
        BatchFile::open(&self.path(), header, resume)
    }

    /// With these lines after the header.
    fn with(lines: &[BatchLine]) -> Place {
        let place = Place::new();
        let (mut file, _) = place.open(&header(), false).unwrap();
        lines.iter().for_each(|line| file.add(line).unwrap());
        place
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    /// Why it is not resumed.
    fn refusal(&self, header: &Header, resume: bool) -> String {
        self.open(header, resume).unwrap_err().to_string()
    }
}

fn finished(lines: &[BatchLine]) -> Finished {
    let mut finished = Finished::default();
    lines.iter().for_each(|line| finished.add(line));
    finished
}

#[test]
fn a_last_line_that_was_cut_at_any_byte_is_removed_and_the_others_are_kept() {
    let lines = [line("a", "one", 0, refused("x")), line("b", "one", 0, refused("x"))];
    let whole = Place::with(&lines).bytes();
    let last = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    let place = Place::new();
    for length in last..whole.len() {
        fs::write(place.path(), &whole[..length]).unwrap();
        let read = read(&place.path()).unwrap();
        assert_eq!((read.is_cut, read.documents.len()), (length > last, 1), "{length}");
        let (mut file, found) = place.open(&header(), true).unwrap();
        assert_eq!(found, finished(&lines[..1]), "{length}");
        assert_eq!(place.bytes(), &whole[..last], "{length}");
        if length % 100 == 0 {
            file.add(&lines[1]).unwrap();
            assert_eq!(place.bytes(), whole, "{length}");
        }
    }
}

#[test]
fn a_batch_whose_header_was_cut_begins_anew() {
    let whole = Place::with(&[]).bytes();
    let place = Place::new();
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(place.path(), &whole[..length]).unwrap();
        let (_, found) = place.open(&header(), true).unwrap();
        assert!(found.is_empty());
        assert_eq!(place.bytes(), whole, "{length}");
    }
}

#[test]
fn a_file_that_holds_something_or_is_written_is_refused_with_a_way_out() {
    let place = Place::with(&[]);
    assert!(place.refusal(&header(), false).contains("is not empty; --resume goes on"));
    let held = place.open(&header(), true).unwrap();
    for resume in [false, true] {
        assert!(place.refusal(&header(), resume).contains("is being written by another batch"));
    }
    drop(held);
    assert!(place.open(&header(), true).is_ok());
    let directory = BatchFile::open(place.0.path(), &header(), true).unwrap_err().to_string();
    assert!(directory.contains("is no regular file"), "{directory}");
}

/// Something that was asked for otherwise.
type Change = fn(&mut Header);

#[test]
fn a_batch_goes_on_only_with_what_it_was_begun_with() {
    let place = Place::with(&[]);
    let changes: [(Change, &str); 9] = [
        (|header| header.host = "9.9.9".into(), "host was `"),
        (|header| header.plugins[1].sha256 = "c".into(), "plugins[1].sha256 was `bbbbbbbb` and is `c`"),
        (|header| drop(header.plugins.pop()), "the number of plugins was 2 and is 1"),
        (|header| header.limits.measurement.budget_ms = 1, "limits.measurement.budget_ms was 10000 and is 1"),
        (|header| header.policy = passhost_policy::Policy::built_in("strict").unwrap(), "policy.name was `open`"),
        (|header| header.seed = Some(3), "seed was not given and is 3"),
        (|header| header.samples[0].path = "s/three".into(), "samples[0].path was `s/one`"),
        (|header| header.variants = vec!["float16".into()], "variant was not given and is `float16`"),
        (|header| drop(header.programs.insert("passhost".into(), "f".into())), "programs.passhost was not given"),
    ];
    for (change, expected) in changes {
        let mut other = header();
        change(&mut other);
        let refusal = place.refusal(&other, true);
        assert!(refusal.contains(expected) && refusal.contains("--out FILE"), "{refusal}");
    }
    // What a sample is called in which line of a list, and what a plugin says of itself, is no matter.
    let mut same = header();
    same.samples[0].place = Some("all.txt:1".into());
    same.plugins[0].path = "elsewhere/a.wasm".into();
    assert!(place.open(&same, true).is_ok());
}

#[test]
fn what_is_no_batch_file_or_damaged_is_named_by_line() {
    let place = Place::new();
    for (text, expected) in [
        ("one/sample\n", "its first line is no JSON"),
        ("{\"schema\": \"passhost.result/3\"}\n", "its schema is `passhost.result/3`, expected `passhost.batch/2`"),
        ("[1, 2]\n", "its first line names no schema"),
        ("{\"schema\": \"passhost.batch/2\"}\n", "its first line is damaged: missing field"),
        ("{\"schema\"", "it has no whole line"),
    ] {
        fs::write(place.path(), text).unwrap();
        let error = read(&place.path()).unwrap_err().to_string();
        assert!(error.contains("is no batch file") && error.contains(expected), "{error}");
    }
    let whole = String::from_utf8(Place::with(&[line("a", "one", 0, refused("x"))]).bytes()).unwrap();
    let unknown = whole.replace("{\"variant\":{\"plugin\":\"aaaaaaaa\"", "{\"variant\":{\"plugin\":\"cccccccc\"");
    for (text, expected) in [
        (format!("{whole}{{\"variant\": 3}}\n{{}}\n"), "line 3: it is no line of a batch"),
        (unknown, "line 2: its plugin `cccccccc` is not in the header"),
    ] {
        fs::write(place.path(), text).unwrap();
        let error = read(&place.path()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("--resume"), "{error}");
    }
}

#[test]
fn a_line_that_is_too_long_is_named_and_no_more_of_it_is_read_than_a_line_may_have() {
    let place = Place::with(&[line("a", "one", 0, refused("x")), line("a", "one", 1, refused("y"))]);
    let bytes = place.bytes();
    let longest = bytes.split(|&byte| byte == b'\n').map(<[u8]>::len).max().unwrap();
    let read = |bytes: &[u8], limit| parse_bounded(&place.path(), bytes, limit).map(|contents| contents.lines.len());
    assert_eq!(read(&bytes, longest).unwrap(), 2);
    let header = bytes.iter().position(|&byte| byte == b'\n').unwrap();
    let error = read(&bytes, header - 1).unwrap_err().to_string();
    assert!(error.contains("line 1: it has more than the"), "{error}");
    // A source without an end, after the two results.
    let endless = std::io::BufReader::new(bytes.as_slice().chain(std::io::repeat(b'x')));
    let error = parse_bounded(&place.path(), endless, longest).err().unwrap().to_string();
    let expected =
        format!("line 4: it has more than the {longest} bytes that a line of a batch may have; take the line out");
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn the_later_line_holds_and_what_the_host_spoilt_is_done_again() {
    let lines = [line("a", "one", 0, not_measured("x")), line("a", "one", 1, refused("y"))];
    assert_eq!(finished(&lines).variants(), 1);
    let again = [lines[0].clone(), lines[1].clone(), line("a", "one", 0, refused("x"))];
    assert_eq!(finished(&again).variants(), 2);
    let place = Place::with(&again);
    let read = read(&place.path()).unwrap();
    let blames: Vec<_> =
        read.documents[0].variants.iter().map(|variant| variant.failure.as_ref().unwrap().blame).collect();
    assert_eq!(blames, [Blame::Plugin, Blame::Plugin]);
    assert_eq!(read.finished_samples, 0, "the other plugin has not ended");
}

#[test]
fn results_of_a_sample_that_was_changed_are_left_out() {
    let mut changed = line("a", "one", 0, refused("x"));
    if let BatchLine::Variant(line) = &mut changed {
        line.sample.sha256 = "6b".into();
    }
    let place = Place::with(&[line("a", "one", 0, refused("x")), line("a", "one", 1, refused("y")), changed]);
    let documents = read(&place.path()).unwrap().documents;
    assert_eq!(documents.len(), 1);
    assert_eq!((documents[0].job.sample_sha256.as_str(), documents[0].variants.len()), ("6b", 1));
}

#[test]
fn a_sample_that_cannot_be_used_has_a_document_for_each_plugin() {
    let failure = failure(Blame::Sample, "sample", "cannot open `s/two`", "correct all.txt:2");
    let lost = BatchLine::Sample(SampleLine { sample: name("two"), failure: Some(failure.clone()) });
    let place = Place::with(&[lost]);
    let read = read(&place.path()).unwrap();
    assert_eq!((read.documents.len(), read.finished_samples), (2, 1));
    for document in &read.documents {
        assert_eq!((document.failure.as_ref(), document.blame), (Some(&failure), Some(Blame::Sample)));
        assert!(document.scores.is_none() && document.variants.is_empty());
    }
}

/// As an evaluation of the sample by itself gives it.
fn evaluated(plugin: &PluginEntry, judged: Vec<Judged>) -> Document {
    let config = config();
    let job = Job {
        plugin: plugin.path.clone(),
        plugin_sha256: plugin.sha256.clone(),
        plugin_info: None,
        sample: "one".into(),
        sample_sha256: "5a".into(),
        groups: vec!["all".into()],
        host: env!("CARGO_PKG_VERSION").into(),
        check: CHECK,
        device: None,
        fixed_seed: false,
        inputs: Some(config.inputs),
        baseline: None,
        left_out: 0,
    };
    let frame = Frame {
        job,
        lost: None,
        policy: config.policy,
        limits: Limits { guest: config.limits, measurement: config.settings },
        options: config.options,
        submissions: config.submissions,
        confinement: ChildProfiles {
            guest: Some(SandboxProfile { seccomp: true, landlock: Some(5) }),
            ..ChildProfiles::default()
        },
    };
    assemble(frame, judged)
}

#[test]
fn documents_are_bit_for_bit_those_of_evaluations() {
    let cases: [fn() -> Vec<Judged>; 3] =
        [|| vec![timed("x"), timed("y")], || vec![timed("x"), refused("y")], || vec![not_measured("x"), timed("y")]];
    for case in cases {
        let lines: Vec<BatchLine> =
            case().into_iter().enumerate().map(|(position, judged)| line("b", "one", position, judged)).rev().collect();
        let place = Place::with(&lines);
        let expected = evaluated(&header().plugins[1], case());
        assert!(expected.outcomes.len() == 1 || expected.confidence.is_some());
        assert_eq!(read(&place.path()).unwrap().documents, [expected]);
    }
}

#[test]
fn devices_of_an_external_runner_come_with_lines_and_a_batch_goes_on_with_them() {
    let place = Place::new();
    let external = Header { external: true, ..header() };
    let facts = DeviceFacts { kind: DeviceKind::Cuda, multiprocessors: 132, l2_bytes: 1, bandwidth: 1, launch_ns: 1 };
    let device = |name: &str| {
        let [device, name, id, torch, settings, note] = ["cuda:0", name, "uuid", "2.11.0", "", ""].map(str::to_owned);
        DeviceInfo { device, name, id, facts, threads: 1, torch, settings, note }
    };
    let mut on_second = line("a", "one", 0, refused("x"));
    if let BatchLine::Variant(line) = &mut on_second {
        line.device = Some(1);
    }
    let (mut file, _) = place.open(&external, false).unwrap();
    let devices = [device("one"), device("two")].map(|device| BatchLine::Device(Box::new(device)));
    devices.iter().chain([&on_second]).for_each(|line| file.add(line).unwrap());
    drop(file);
    assert_eq!(read(&place.path()).unwrap().documents[0].job.device, Some(device("two")));
    let (file, found) = place.open(&external, true).unwrap();
    assert_eq!(
        (file.header().devices.as_slice(), found),
        (&[device("one"), device("two")][..], finished(&[on_second]))
    );
    drop(file);
    assert!(place.refusal(&header(), true).contains("external was true and is false"));
}

#[test]
fn a_batch_file_reads_as_it_was_written() {
    let place = Place::with(&[line("a", "one", 0, timed("x"))]);
    let text = String::from_utf8(place.bytes()).unwrap();
    let header_read: Header = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(header_read, header());
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn a_sample_that_one_device_has_begun_waits_for_that_device() {
    let mut begun = line("a", "one", 0, refused("x"));
    if let BatchLine::Variant(line) = &mut begun {
        line.device = Some(1);
    }
    let (header, finished, stop) = (header(), finished(&[begun]), AtomicBool::new(false));
    let checking = Checking::Between;
    let bench = BatchWork { header: &header, plugins: &[], finished: &finished, checking, stop: &stop };
    let queue = SampleQueue::new(&bench);
    assert_eq!([queue.next(0), queue.next(0), queue.next(1), queue.next(1)], [Some(1), None, Some(0), None]);
    let queue = SampleQueue::new(&bench);
    stop.store(true, Ordering::Relaxed);
    assert_eq!(queue.next(1), None, "nothing is begun once it is to stop");
}
