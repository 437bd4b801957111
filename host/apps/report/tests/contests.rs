//! What the page of a batch shows, of documents that are made by hand.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_ir::{DeviceFacts, DeviceKind};
use passhost_made_documents::{baseline, compared, document, failed, missed, right, unmeasured};
use passhost_report::{Apart, Contest, GraphFilter, Sourced, contests, entries};
use passhost_result::document::{Document, Graphs, Launch, Variant};
use passhost_result::{ProbeTimes, Refusal};
use passhost_score::{Confidence, FailureClass, Verdict};

fn with_contests(documents: Vec<Document>, check: impl FnOnce(&[Contest<'_>])) {
    let source = || "one.json".to_owned();
    let documents: Vec<Sourced> = documents.into_iter().map(|document| Sourced::new(source(), document)).collect();
    check(&contests(&entries(&documents, Apart::Plugins, &GraphFilter::default())));
}

fn names<'c>(contest: &'c Contest<'_>) -> Vec<&'c str> {
    contest.contenders.iter().map(|one| one.summary.entrant.name.as_str()).collect()
}

/// As if it were measured on a GPU that moves a byte in a picosecond.
fn on_gpu(mut document: Document) -> Document {
    let facts = &mut document.job.device.as_mut().unwrap().facts;
    *facts = DeviceFacts { kind: DeviceKind::Cuda, bandwidth: 1_000_000_000_000, ..*facts };
    document
}

#[test]
fn the_best_plugin_is_first_and_the_others_are_held_against_it() {
    let slow = document("slow", "one", vec![right("x", 1.5), right("y", 1.5)]);
    let fast = document("fast", "one", vec![right("x", 3.0), right("y", 3.0)]);
    let method = baseline("inductor", Launch::Stream, "one", vec![right("x", 9.0), right("y", 9.0)], 1.0);
    with_contests(vec![slow, method, fast], |contests| {
        assert_eq!(contests.len(), 1);
        let contest = &contests[0];
        assert_eq!(names(contest), ["fast 0.1.0", "inductor 0.1.0", "slow 0.1.0"]);
        assert!(contest.contenders[1].is_baseline);
        let standings = &contest.comparison.as_ref().unwrap().standings;
        let verdicts: Vec<Verdict> = standings[1..]
            .iter()
            .map(|standing| standing.against_first.as_ref().unwrap().headline(contest.conditions.headline).verdict)
            .collect();
        assert_eq!(verdicts, [Verdict::Faster, Verdict::Slower]);
        assert_eq!(contest.rows.len(), 2);
        assert!((contest.rows[0].eager_us.unwrap() / 1200.0 - 1.0).abs() < 1e-6, "what speedups are against");
    });
}

/// As if it were measured on a GPU of a host whose typical launch takes so many times as long as its fastest; all of the wall
/// clock may be the host's.
fn on_host(mut document: Document, slower: f64) -> Document {
    document.job.device.as_mut().unwrap().device = "cuda:0".into();
    for process in document.variants.iter_mut().flat_map(|variant| &mut variant.timing.as_mut().unwrap().processes) {
        let probe = ProbeTimes { fastest_ns: 8000, median_ns: (8000.0 * slower) as u64, upper_ns: 12_000 };
        process.control.iter_mut().chain(&mut process.pairs).for_each(|block| block.witness.probe = Some(probe));
        process.device = None;
    }
    document
}

#[test]
fn what_a_noisy_host_may_differ_by_is_in_scores_and_comparisons() {
    let of = |name: &str, speedup, slower: [f64; 2]| {
        slower.map(|slower| on_host(document(name, &slower.to_string(), vec![right("x", speedup)]), slower))
    };
    let spreads = |slower: [f64; 2]| {
        let mut found = [0.0; 2];
        let documents = [of("one", 2.0, slower), of("two", 2.0, [1.0, slower[1]])].concat();
        let documents: Vec<Document> = documents
            .into_iter()
            .zip(["a", "b", "a", "b"])
            .map(|(mut document, sample)| {
                document.job.sample_sha256 = sample.into();
                document
            })
            .collect();
        with_contests(documents, |contests| {
            let standings = &contests[0].comparison.as_ref().unwrap().standings;
            let score = standings[0].part.wall.as_ref().unwrap().confidence.unwrap();
            let ratio = standings[1].against_first.as_ref().unwrap().scores.aggregate_score;
            found = [score.aggregate_score.spread(), ratio.interval.unwrap().spread()];
        });
        found
    };
    let near = |found: [f64; 2], expected: [f64; 2]| {
        assert!(
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-3),
            "{found:?} {expected:?}"
        );
    };
    near(spreads([1.0, 1.0]), [1.07, 1.07f64.powf(2f64.sqrt())]);
    // Of two samples one on a noisy host: the geometric mean of 1.3 and 1.07, beside 1.07 of the other entrant.
    let mean = (1.3f64 * 1.07).sqrt();
    near(spreads([1.3, 1.0]), [mean, (mean.ln().powi(2) + 1.07f64.ln().powi(2)).sqrt().exp()]);
}

#[test]
fn scores_are_of_shared_graphs_and_a_summary_of_all_as_they_were_measured() {
    let one = document("one", "s", vec![right("x", 2.0), right("only", 8.0), missed("y")]);
    let two = document("two", "s", vec![right("x", 1.0), unmeasured("y", "busy")]);
    let method = baseline("eager", Launch::Stream, "s", vec![right("x", 1.0), right("y", 1.0)], 2.0);
    with_contests(vec![one, two, method], |contests| {
        let first = &contests[0].contenders[0];
        assert_eq!((first.shared.graphs, first.summary.all.graphs), (1, 3));
        // Eager called from Python takes twice as long.
        let score = |part: &passhost_report::PartScores| part.wall.as_ref().unwrap().aggregate_score;
        assert!((score(&first.shared) - 4.0).abs() < 1e-3, "{}", score(&first.shared));
        assert!(
            (score(&first.summary.all) - (2.0 * 8.0 * 0.1_f64).cbrt()).abs() < 0.3,
            "{}",
            score(&first.summary.all)
        );
        let rows = &contests[0].rows;
        let shared: Vec<(&str, bool)> = rows.iter().map(|row| (row.place.variant.as_str(), row.is_shared)).collect();
        assert_eq!(shared, [("only", false), ("x", true), ("y", false)]);
        let end = |row: usize, entrant: usize| rows[row].cells[entrant].as_ref().map(|cell| cell.end.as_str());
        assert_eq!(end(0, 0), Some("no baseline to hold it against"));
        assert_eq!(end(2, 0), Some("pass miss"));
        assert!(rows[0].cells[1].is_none());
    });
}

#[test]
fn scores_over_device_time_are_of_the_graphs_that_have_one_with_all() {
    let mut unknown = right("y", 4.0);
    unknown.timing.as_mut().unwrap().processes.iter_mut().for_each(|process| process.device = None);
    let one = document("one", "s", vec![right("x", 4.0), unknown, right("z", 4.0)]);
    let two = document("two", "s", vec![right("x", 2.0), right("y", 2.0), missed("z")]);
    with_contests(vec![one, two], |contests| {
        let device: Vec<(usize, f64)> = contests[0]
            .contenders
            .iter()
            .map(|one| one.device.as_ref().unwrap())
            .map(|device| (device.graphs, device.scores.aggregate_score))
            .collect();
        assert_eq!(device.iter().map(|(graphs, _)| *graphs).collect::<Vec<_>>(), [2, 2]);
        assert!((device[0].1 - 2.0).abs() < 1e-2, "{device:?}");
        assert!((device[1].1 - 0.1_f64.sqrt()).abs() < 1e-1, "{device:?}");
    });
}

#[test]
fn who_shares_no_graph_or_was_made_otherwise_stands_alone_and_says_why() {
    let one = document("one", "s", vec![right("x", 2.0)]);
    let other = document("two", "another", vec![right("x", 2.0)]);
    with_contests(vec![one.clone(), other], |contests| {
        assert_eq!(contests.len(), 2);
        assert!(
            contests.iter().all(|contest| contest.apart.as_ref().unwrap().contains("no graph was measured for all"))
        );
    });
    let captured = baseline("inductor-graph", Launch::Graph, "s", vec![right("x", 2.0)], 1.0);
    with_contests(vec![one, captured], |contests| {
        assert_eq!(contests.len(), 2);
        assert!(contests.iter().all(|contest| contest.apart.is_none() && contest.comparison.is_none()));
    });
}

#[test]
fn the_speed_of_light_is_bytes_by_bandwidth_behind_a_launch() {
    let sized = |name: &str, speedup, bytes| Variant { bytes: Some(bytes), ..right(name, speedup) };
    // Eager takes 1,200 us by wall clock.
    let variants = vec![sized("x", 2.0, 291_500_000), sized("y", 2.0, 1), compared("wrong", 2.0, None)];
    with_contests(vec![on_gpu(document("one", "s", variants))], |contests| {
        let floors: Vec<f64> = contests[0].rows.iter().filter_map(|row| row.floor?.wall_us).collect();
        assert_eq!(floors.len(), 3);
        assert!((floors[1] - 300.0).abs() < 1e-9, "{floors:?}");
        let light = contests[0].contenders[0].light;
        let wall = light.wall.unwrap();
        assert_eq!((wall.graphs, wall.beyond), (2, 0));
        assert!((wall.mean - (300.0 / 600.0 * 8.500_001 / 600.0_f64).sqrt()).abs() < 1e-6, "{wall:?}");
        assert_eq!(light.device.unwrap().graphs, 2);
    });
    with_contests(vec![document("one", "s", vec![right("x", 2.0)])], |contests| {
        assert!(contests[0].rows[0].floor.is_none(), "nothing of the kind was measured on a CPU");
        assert_eq!(contests[0].contenders[0].light.wall, None);
    });
}

#[test]
fn captured_programs_have_a_floor_on_the_device_alone() {
    let variant = Variant { bytes: Some(1), ..right("x", 2.0) };
    let mut captured = on_gpu(document("one", "s", vec![variant]));
    captured.limits.measurement.launch = Launch::Graph;
    with_contests(vec![captured], |contests| {
        assert_eq!(contests[0].rows[0].floor.unwrap().wall_us, None);
        let light = contests[0].contenders[0].light;
        assert_eq!((light.wall, light.device.map(|share| share.graphs)), (None, Some(1)));
    });
}

#[test]
fn a_sample_under_two_names_is_one() {
    let renamed = |mut document: Document| {
        document.job.sample_sha256 = "5a".repeat(32);
        document
    };
    let one = renamed(document("one", "s", vec![right("x", 4.0), right("y", 4.0)]));
    let two = renamed(document("two", "renamed", vec![right("x", 2.0), right("y", 2.0)]));
    let method = renamed(baseline("eager", Launch::Stream, "elsewhere", vec![right("x", 1.0), right("y", 1.0)], 2.0));
    with_contests(vec![one, two, method], |contests| {
        assert_eq!(contests.len(), 1);
        assert_eq!(contests[0].comparison.as_ref().unwrap().graphs, 2);
        assert_eq!(contests[0].rows.iter().map(|row| row.place.sample.as_str()).collect::<Vec<_>>(), ["s", "s"]);
    });
}

#[test]
fn the_error_that_submissions_share_is_that_of_their_documents() {
    let of_first =
        |contests: &[Contest<'_>]| contests[0].contenders[0].shared.wall.as_ref().unwrap().confidence.unwrap();
    let made = |sample| document("one", sample, vec![right("x", 2.0)]);
    let mut known = None;
    with_contests(vec![made("s")], |contests| known = Some(of_first(contests)));
    let documents = [("s", 5), ("t", 2)].map(|(sample, submissions)| {
        let confidence = known.map(|known| Confidence { submissions, ..known });
        Document { confidence, ..made(sample) }
    });
    with_contests(documents.to_vec(), |contests| assert_eq!(of_first(contests).submissions, 5));
}

#[test]
fn graphs_are_divided_by_what_they_have_in_common_and_ops_are_read_from_their_text() {
    let text = |op: &str| format!("graph(%x: f32[8]) {{\n  #0 %y: f32[8] = aten::{op}(%x)\n  return (%y)\n}}");
    let with_text = |mut variant: Variant, op: &str| {
        let graphs = Graphs { before: text(op), after: text(op) };
        variant.rewrite.as_mut().unwrap().graphs = Some(graphs);
        variant
    };
    let variants =
        |speedup| vec![with_text(right("x", speedup), "exp"), with_text(right("y", 2.0), "relu"), right("z", 2.0)];
    let mut documents = vec![document("one", "s", variants(8.0)), document("two", "s", variants(2.0))];
    documents.iter_mut().for_each(|document| document.job.groups = vec!["list".into()]);
    with_contests(documents, |contests| {
        let found: Vec<(&str, Vec<(&str, usize)>)> = contests[0]
            .breakdowns
            .iter()
            .map(|one| (one.by, one.rows.iter().map(|row| (row.name.as_str(), row.graphs)).collect()))
            .collect();
        let expected = vec![
            ("sample", vec![("s", 3)]),
            ("list", vec![("list", 3)]),
            ("element type", vec![("float32", 3)]),
            ("size", vec![("1 to 16 MiB", 3)]),
            ("op", vec![("aten::exp", 1), ("aten::relu", 1)]),
        ];
        assert_eq!(found, expected);
        let exp = &contests[0].breakdowns[4].rows[0].parts;
        assert!((exp[0].wall.as_ref().unwrap().aggregate_score - 8.0).abs() < 1e-3);
    });
}

#[test]
fn what_is_said_of_many_graphs_in_other_numbers_is_said_once() {
    let refusing = |name: &str, reasons: &[&str]| {
        let mut variant = right(name, 2.0);
        let refusal = |reason: &&str| Refusal { nodes: vec![], reason: (*reason).to_owned() };
        variant.rewrite.as_mut().unwrap().refusals = reasons.iter().map(refusal).collect();
        variant
    };
    let variants = vec![
        refusing("x", &["takes 4.9 us", "takes 5 us", "too large"]),
        refusing("y", &["takes 12 us"]),
        failed("z", FailureClass::Compile),
    ];
    with_contests(vec![document("one", "s", variants)], |contests| {
        let one = &contests[0].contenders[0];
        let said: Vec<(&str, usize, usize)> =
            one.refusals.iter().map(|saying| (saying.text.as_str(), saying.graphs, saying.times)).collect();
        assert_eq!(said, [("takes 4.9 us", 2, 3), ("too large", 1, 1)]);
        assert_eq!(one.findings.len(), 1);
        assert_eq!(one.findings[0].text, "something failed");
    });
}
