//! What summaries and comparisons say of documents that are made by hand.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_ir::NodeId;
use passhost_made_documents::{baseline, compared, document, failed, missed, right, uncaptured, unmeasured};
use passhost_policy::Policy;
use passhost_report::{
    Apart, Eager, EntrantComparison, EntrantResults, GraphFilter, PartScores, Slice, Sourced, Summary, by_launch,
    compare, entries, summarise,
};
use passhost_result::document::{Blame, CHECK, Document, Failure, Launch, Status, Variant};
use passhost_result::verify::recompute;
use passhost_result::{Candidate, OtherRounds, Share, TunedKernel};
use passhost_score::{FailureClass, Options, Verdict, score};

fn sourced(source: &str, documents: Vec<Document>) -> Vec<Sourced> {
    documents.into_iter().map(|document| Sourced::new(source, document)).collect()
}

fn summary_of(documents: Vec<Document>, filter: &GraphFilter) -> Summary {
    let documents = sourced("one.json", documents);
    let entries = entries(&documents, Apart::Plugins, filter);
    assert_eq!(entries.len(), 1);
    summarise(&entries[0])
}

/// AS.
fn score_of(part: &PartScores) -> Option<f64> {
    part.wall.as_ref().map(|wall| wall.aggregate_score)
}

/// As near as whole nanoseconds allow.
fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-5)
}

#[test]
fn as_is_the_geometric_mean_over_graphs_and_each_sample_counts_once_beside_it() {
    let first = document("a", "one", vec![right("x", 2.0), right("y", 2.0), right("z", 2.0)]);
    let second = document("a", "two", vec![right("x", 8.0)]);
    let all = summary_of(vec![first, second], &GraphFilter::default()).all;
    assert_eq!((all.samples, all.graphs, all.scored, all.right), (2, 4, 4, 4));
    assert!(near(score_of(&all), 8.0_f64.sqrt()), "{all:?}");
    assert!(near(all.over_samples.map(|over| over.mean), 4.0), "{all:?}");
    assert_eq!(all.over_samples.unwrap().interval, None, "two samples say nothing of others");
    let interval = all.wall.unwrap().confidence.unwrap().aggregate_score;
    assert!(interval.contains(8.0_f64.sqrt()) && interval.spread() < 1.05, "{interval:?}");
    let over_device_time = all.device.unwrap().aggregate_score;
    assert!((over_device_time / 2.0_f64.sqrt() - 1.0).abs() < 1e-3, "{over_device_time}");
}

#[test]
fn five_samples_say_something_of_others() {
    let sample = |at: u32| document("a", &format!("s{at}"), vec![right("x", f64::from(at))]);
    let over = summary_of((1..=5).map(sample).collect(), &GraphFilter::default()).all.over_samples.unwrap();
    let interval = over.interval.unwrap();
    assert!(near(Some(over.mean), 120.0_f64.powf(0.2)) && interval.contains(over.mean), "{over:?}");
    // By Student's t over logarithms of 1 to 5.
    assert!((interval.spread() - 2.207).abs() < 1e-2, "{over:?}");
}

#[test]
fn scores_are_those_of_the_score_crate() {
    let variants = vec![right("x", 3.0), compared("y", 2.0, Some(-3)), failed("z", FailureClass::Runtime), missed("m")];
    let one = document("a", "one", variants);
    let expected = score(&one.outcomes, &Options::default()).unwrap();
    let all = summary_of(vec![one], &GraphFilter::default()).all;
    let wall = all.wall.unwrap();
    assert_eq!(wall.aggregate_score, expected.aggregate_score);
    assert_eq!(wall.aggregate_score_strict, expected.aggregate_score_strict);
    assert_eq!((&wall.es, &wall.es_strict), (&expected.es, &expected.es_strict));
    assert!(wall.es_intervals.iter().all(|(t, interval)| interval.contains(wall.es[t])), "{:?}", wall.es_intervals);
    assert_eq!(wall.es_intervals.len(), wall.es.len());
    assert_eq!((all.right, all.scored), (1, 4));
}

#[test]
fn what_the_machine_did_not_measure_is_counted_and_not_scored() {
    let busy = |blocks: u32| format!("the machine was busy during {blocks} of 18 blocks");
    let variants =
        vec![right("x", 4.0), unmeasured("u", &busy(3)), unmeasured("v", &busy(12)), unmeasured("w", "another reason")];
    let summary = summary_of(vec![document("a", "one", variants)], &GraphFilter::default());
    assert_eq!((summary.all.graphs, summary.all.scored), (4, 1));
    assert!(near(score_of(&summary.all), 4.0));
    let reasons: Vec<(usize, &str)> =
        summary.unmeasured.iter().map(|reason| (reason.graphs, reason.message.as_str())).collect();
    let first = "not measured: the machine was busy during 3 of 18 blocks";
    assert_eq!(reasons, [(2, first), (1, "not measured: another reason")]);
    assert_eq!(summary.ends.get("not measured"), Some(&3));
}

#[test]
fn what_samples_fail_by_is_scored_and_left_out_beside_it() {
    let of = |variants: Vec<Variant>| summary_of(vec![document("a", "one", variants)], &GraphFilter::default());
    let lost = || failed("w", FailureClass::Reference);
    let summary = of(vec![right("x", 2.0), missed("y"), lost(), unmeasured("z", "busy")]);
    let winnable = summary.winnable.unwrap();
    assert_eq!((summary.all.scored, winnable.scored, winnable.graphs), (3, 2, 3));
    let alone = of(vec![right("x", 2.0), missed("y")]).all;
    assert!(near(score_of(&winnable), score_of(&alone).unwrap()), "{winnable:?}");
    assert!(score_of(&summary.all) < score_of(&winnable));
    assert_eq!(of(vec![right("x", 2.0)]).winnable, None);
    assert_eq!(of(vec![lost()]).winnable, None, "nothing is left");
}

#[test]
fn graphs_are_divided_by_list_type_and_size() {
    let half = Variant { element_type: Some("float16".into()), bytes: Some(1 << 10), ..right("h", 2.0) };
    let old = Variant { element_type: None, bytes: None, ..right("o", 2.0) };
    let mut first = document("a", "one", vec![half, right("f", 3.0)]);
    first.job.groups = vec!["fusible_subgraphs".into(), "typical_subgraphs".into()];
    let mut second = document("a", "two", vec![old]);
    second.job.groups = vec!["typical_subgraphs".into()];
    let found = summary_of(vec![first, second], &GraphFilter::default());
    let counts = |slices: &[Slice]| -> Vec<(String, usize)> {
        slices.iter().map(|slice| (slice.name.clone(), slice.part.graphs)).collect()
    };
    let named =
        |names: &[(&str, usize)]| names.iter().map(|(name, count)| ((*name).into(), *count)).collect::<Vec<_>>();
    assert_eq!(counts(&found.groups), named(&[("fusible_subgraphs", 2), ("typical_subgraphs", 3)]));
    assert_eq!(counts(&found.element_types), named(&[("float16", 1), ("float32", 1), ("unknown", 1)]));
    assert_eq!(counts(&found.sizes), named(&[("below 64 KiB", 1), ("1 to 16 MiB", 1), ("unknown", 1)]));
}

#[test]
fn the_best_are_right_and_no_graph_is_at_both_ends() {
    let mut variants: Vec<Variant> = (1..=7).map(|at| right(&format!("r{at}"), f64::from(at))).collect();
    variants.push(compared("fast and wrong", 100.0, None));
    variants.push(missed("missed"));
    let found = summary_of(vec![document("a", "one", variants)], &GraphFilter::default());
    let names = |extremes: &[passhost_report::Extreme]| {
        extremes.iter().map(|e| e.place.variant.clone()).collect::<Vec<String>>()
    };
    assert_eq!(names(&found.best), ["r7", "r6", "r5", "r4", "r3"]);
    assert_eq!(names(&found.worst), ["missed", "fast and wrong", "r1", "r2"]);
    assert_eq!(found.pass_misses.len(), 1);
}

#[test]
fn filters_leave_graphs_out_before_anything_is_counted() {
    let mut one = document("a", "one", vec![right("x", 2.0), right("y", 4.0)]);
    one.job.groups = vec!["fusible".into()];
    let documents = vec![one, document("a", "two", vec![right("x", 8.0)])];
    for (variant, group, expected) in
        [(Some("one/x"), None, 2.0), (Some("/y"), None, 4.0), (None, Some("fusible"), 8.0_f64.sqrt())]
    {
        let filter =
            GraphFilter { variants: variant.map(str::to_owned).into_iter().collect(), group: group.map(str::to_owned) };
        let found = score_of(&summary_of(documents.clone(), &filter).all);
        assert!(near(found, expected), "{filter:?}: {found:?}");
    }
}

#[test]
fn results_of_other_conditions_are_kept_apart_and_of_repeats_the_last_counts() {
    let strict =
        Document { policy: Policy::built_in("strict").unwrap(), ..document("a", "one", vec![right("x", 9.0)]) };
    let documents = sourced(
        "one.json",
        vec![document("a", "one", vec![right("x", 2.0)]), strict, document("a", "one", vec![right("x", 3.0)])],
    );
    let entries = entries(&documents, Apart::Plugins, &GraphFilter::default());
    let found: Vec<(String, usize, Option<f64>)> = entries
        .iter()
        .map(|entry| (entry.conditions.policy.clone(), entry.repeated, score_of(&summarise(entry).all)))
        .collect();
    assert_eq!(found.len(), 2);
    assert!(found[0].0 == "open" && found[0].1 == 1 && near(found[0].2, 3.0), "{found:?}");
    assert!(found[1].0 == "strict" && found[1].1 == 0 && near(found[1].2, 9.0), "{found:?}");
}

#[test]
fn a_result_for_which_no_device_was_needed_goes_with_the_others() {
    let mut missing = document("a", "gone", vec![]);
    missing.job.device = None;
    let there = document("a", "one", vec![right("x", 2.0)]);
    for documents in [vec![missing.clone(), there.clone()], vec![there, missing]] {
        let documents = sourced("one.json", documents);
        let entries = entries(&documents, Apart::Plugins, &GraphFilter::default());
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].conditions.device.as_deref(), Some("cpu"));
    }
}

/// What is otherwise with a document, and what is said of it.
type Remarked = (fn(&mut Document), &'static str);

#[test]
fn what_may_have_moved_numbers_is_said() {
    let plain = || document("a", "one", vec![right("x", 2.0)]);
    assert_eq!(summary_of(vec![plain()], &GraphFilter::default()).remarks, Vec::<String>::new());
    let changed: [Remarked; 5] = [
        (|document| document.limits.measurement.accept_noise = true, "1 of 2 evaluations accepted noise"),
        (|document| document.job.fixed_seed = true, "1 of 2 evaluations had a fixed seed"),
        (|document| document.job.host = "0.0.9".into(), "different versions of passhost: 0.0.9, 0.1.0"),
        (|document| document.job.device.as_mut().unwrap().threads = 7, "different machines: a processor, 2 threads"),
        (|document| document.limits.measurement.budget_ms = 5, "different settings: budget 10000 ms"),
    ];
    for (change, text) in changed {
        let mut other = document("a", "two", vec![right("x", 2.0)]);
        change(&mut other);
        let remarks = summary_of(vec![plain(), other], &GraphFilter::default()).remarks;
        assert!(remarks.len() == 1 && remarks[0].contains(text), "{remarks:?}");
    }
    let twice = summary_of(vec![plain(), plain()], &GraphFilter::default()).remarks;
    assert!(twice.len() == 1 && twice[0].starts_with("1 results"), "{twice:?}");
}

#[test]
fn a_sample_that_could_not_be_opened_is_named_and_not_scored() {
    let mut lost = document("a", "lost", vec![]);
    lost.failure = Some(Failure {
        blame: Blame::Sample,
        stage: "sample".into(),
        message: "the reader died".into(),
        hint: "leave it out".into(),
    });
    let found = summary_of(vec![document("a", "one", vec![right("x", 2.0)]), lost], &GraphFilter::default());
    assert_eq!((found.all.graphs, found.all.samples), (1, 1));
    assert_eq!(
        (found.lost.len(), found.lost[0].0.as_str(), found.lost[0].1.message.as_str()),
        (1, "lost", "the reader died")
    );
}

fn comparison(first: Vec<Document>, other: Vec<Document>) -> Result<EntrantComparison, String> {
    let documents = [sourced("one.json", first), sourced("two.json", other)].concat();
    compare(&entries(&documents, Apart::Files, &GraphFilter::default())).map_err(|error| error.to_string())
}

#[test]
fn entrants_are_compared_graph_by_graph() {
    let first = vec![right("same", 2.0), right("faster", 2.0), right("lost", 2.0), compared("won", 2.0, None)];
    let other = vec![right("same", 2.0), right("faster", 4.0), compared("lost", 2.0, Some(3)), right("won", 2.0)];
    let one = |plugin: &str, variants: Vec<Variant>| vec![document(plugin, "sample", variants)];
    let found = comparison(one("a", first), one("b", other)).unwrap();
    assert_eq!((found.graphs, found.samples), (4, 1));
    let against = found.standings[1].against_first.clone().unwrap();
    let places = |changes: &[passhost_report::ScoreChange]| -> Vec<String> {
        changes.iter().map(|change| change.place.variant.clone()).collect()
    };
    assert_eq!(places(&against.turned_right), ["won"]);
    assert_eq!(places(&against.turned_wrong), ["lost"]);
    assert_eq!(places(&against.moved), ["faster"]);
    assert_eq!((against.better, against.worse), (2, 1));
    // Of the two that both have right, one is twice as fast.
    let speed = against.speed.unwrap();
    assert!((speed.ratio - 2.0_f64.sqrt()).abs() < 1e-3 && speed.verdict == Verdict::Faster, "{speed:?}");
    let part = |at: usize| -> &PartScores { &found.standings[at].part };
    let ratio = score_of(part(1)).unwrap() / score_of(part(0)).unwrap();
    assert!((against.scores.aggregate_score.ratio / ratio - 1.0).abs() < 1e-12);
}

#[test]
fn what_is_left_unchanged_is_neither_right_nor_wrong() {
    let names = ["kept", "dropped", "gained", "spoilt", "mended", "neither"];
    let [kept, dropped, gained, spoilt, mended, neither] = names;
    let first = vec![
        right(kept, 2.0),
        right(dropped, 2.0),
        missed(gained),
        missed(spoilt),
        compared(mended, 2.0, None),
        missed(neither),
    ];
    let other = vec![
        right(kept, 2.0),
        missed(dropped),
        right(gained, 2.0),
        compared(spoilt, 2.0, None),
        missed(mended),
        missed(neither),
    ];
    let found = comparison(vec![document("a", "s", first)], vec![document("b", "s", other)]).unwrap();
    let against = found.standings[1].against_first.as_ref().unwrap();
    let sorted = |changes: &[passhost_report::ScoreChange]| -> Vec<String> {
        let mut names: Vec<String> = changes.iter().map(|change| change.place.variant.clone()).collect();
        names.sort();
        names
    };
    assert_eq!((sorted(&against.turned_right), sorted(&against.turned_wrong)), (vec![], vec![]));
    assert_eq!(sorted(&against.turned_unchanged), [dropped, mended]);
    assert_eq!(sorted(&against.turned_changed), [gained, spoilt]);
}

#[test]
fn what_not_all_have_is_named_and_left_out() {
    let first = vec![right("both", 2.0), right("first alone", 9.0), right("busy", 9.0)];
    let other = vec![right("both", 2.0), right("other alone", 9.0), unmeasured("busy", "a busy machine")];
    let found = comparison(vec![document("a", "s", first)], vec![document("b", "s", other)]).unwrap();
    assert_eq!(found.graphs, 1);
    let left: Vec<(&str, &[usize])> =
        found.missing.iter().map(|missing| (missing.place.variant.as_str(), missing.lacking.as_slice())).collect();
    assert_eq!(left, [("first alone", &[1][..]), ("other alone", &[0][..])]);
    assert_eq!((found.unmeasured.len(), found.unmeasured[0].lacking.as_slice()), (1, &[1][..]));
    assert_eq!(found.standings[1].against_first.as_ref().unwrap().scores.aggregate_score.verdict, Verdict::Undecided);
}

#[test]
fn a_result_of_some_variants_takes_the_place_of_no_other() {
    let whole = document("a", "s", vec![right("x", 2.0), right("y", 2.0)]);
    let [mut quick, mut named] = [(); 2].map(|()| document("a", "s", vec![right("x", 9.0)]));
    quick.limits.measurement.quick = true;
    named.job.left_out = 1;
    assert!(quick.is_partial() && named.is_partial() && !whole.is_partial());
    for partial in [quick, named] {
        let documents = sourced("one.json", vec![whole.clone(), partial]);
        let found = entries(&documents, Apart::Plugins, &GraphFilter::default());
        let graphs: Vec<usize> = found.iter().map(|entry| summarise(entry).all.graphs).collect();
        assert_eq!(graphs, [2, 1]);
    }
}

#[test]
fn what_no_entrant_can_win_is_named_and_left_out() {
    let views = || failed("views", FailureClass::Reference);
    let first = vec![right("both", 2.0), views(), failed("wrong", FailureClass::Compile)];
    let other = vec![right("both", 2.0), views(), right("wrong", 2.0)];
    let found = comparison(vec![document("a", "s", first)], vec![document("b", "s", other)]).unwrap();
    let names: Vec<&str> = found.unwinnable.iter().map(|place| place.variant.as_str()).collect();
    assert_eq!((found.graphs, names), (2, vec!["views"]));
}

#[test]
fn times_of_the_device_are_held_against_those_of_the_first() {
    let first = vec![right("x", 4.0), right("y", 4.0), right("z", 4.0)];
    let other = vec![right("x", 1.0), right("y", 4.2), right("z", 16.0)];
    let found = comparison(vec![document("a", "s", first)], vec![document("b", "s", other)]).unwrap();
    let device = found.standings[1].against_first.as_ref().unwrap().device.unwrap();
    assert_eq!((device.graphs, device.nearly), (3, 2), "{device:?}");
    // 4, 1 / 1.05 and a quarter of the time.
    assert!((device.ratio - 1.05_f64.cbrt().recip()).abs() < 1e-3, "{device:?}");
}

#[test]
fn what_is_not_comparable_is_refused_with_what_differs() {
    let one = |plugin: &str| document(plugin, "s", vec![right("x", 2.0)]);
    let strict = Document { policy: Policy::built_in("strict").unwrap(), ..one("b") };
    let other_constants = Document { options: Options { b: 0.001, ..Options::default() }, ..one("b") };
    let mut published = one("b");
    published.job.inputs = Some(passhost_result::InputMode::Published);
    let mut older = one("b");
    older.job.check -= 1;
    let versions = format!("check {CHECK} and {}", CHECK - 1);
    let elsewhere =
        Document { job: passhost_result::document::Job { sample_sha256: "x".into(), ..one("b").job }, ..one("b") };
    for (other, texts) in [
        (strict, ["policy `open` and `strict`", "`a 0.1.0` (one.json)"]),
        (other_constants, ["b = 0.1", "b = 0.001"]),
        (older, [versions.as_str(), "evaluate one of them again"]),
        (published, ["inputs fresh and published", "evaluate one of them again"]),
        (elsewhere, ["no graph was measured for all 2 entrants", "the same samples"]),
    ] {
        let error = comparison(vec![one("a")], vec![other]).unwrap_err();
        assert!(texts.iter().all(|text| error.contains(text)), "{error}");
    }
    let alone = comparison(vec![one("a")], vec![]).unwrap_err();
    assert!(alone.contains("1 entrant in these files"), "{alone}");
}

#[test]
fn what_the_budget_had_no_room_for_is_said() {
    let mut cut = right("x", 2.0);
    let share = |count| Share { count, of: 3 };
    cut.other_rounds = Some(OtherRounds { scaled: share(3), edge_cases: share(1), first: vec![] });
    let mut documents = vec![document("a", "one", vec![cut, right("y", 2.0)])];
    let said = |documents: &[Document]| summary_of(documents.to_vec(), &GraphFilter::default()).remarks;
    let edge_cases = "a budget of 10 s has no room for all rounds with edge-case inputs (in 1 of 2 variants)";
    assert_eq!(said(&documents), [edge_cases]);
    documents[0].limits.measurement.trials = 100;
    assert_eq!(said(&documents), [format!("{edge_cases}, timed pairs (in 2 of 2 variants)")]);
}

#[test]
fn plugins_are_put_against_eager_from_python_where_baselines_are() {
    let plugin = document("fuse", "one", vec![right("x", 2.0), right("y", 8.0), compared("z", 2.0, None)]);
    let eager = vec![right("x", 1.0), right("y", 1.0), right("z", 1.0)];
    let eager = baseline("eager", Launch::Stream, "one", eager, 1.5);
    let inductor = vec![right("x", 0.5), right("y", 0.5), compared("z", 1.0, Some(2))];
    let inductor = baseline("inductor", Launch::Stream, "one", inductor, 1.5);
    let documents = sourced("one.json", vec![plugin.clone(), eager.clone(), inductor]);
    let found = compare(&entries(&documents, Apart::Files, &GraphFilter::default())).unwrap();
    assert_eq!((found.graphs, found.conditions.eager), (3, Eager::Python));
    assert!(found.remarks[0].contains("1.50 times as long, over 3 graphs"), "{:?}", found.remarks);
    let scores: Vec<Option<f64>> = found.standings.iter().map(|standing| score_of(&standing.part)).collect();
    // 2 and 8 times as fast as an eager that takes two thirds of Python's; what is wrong stays b.
    let right_ones = (1.5 * 2.0) * (1.5 * 8.0);
    assert!(scores[0].is_some_and(|score| score < f64::cbrt(right_ones)), "{scores:?}");
    assert!(near(scores[1], 1.0), "{scores:?}");
    let speed = found.standings[1].against_first.as_ref().unwrap().speed.unwrap();
    assert!((speed.ratio * right_ones.sqrt() - 1.0).abs() < 1e-3, "{speed:?}");

    // By itself a plugin is against libtorch's eager still, and what no baseline has times of is not compared.
    assert_eq!(summary_of(vec![plugin.clone()], &GraphFilter::default()).conditions.eager, Eager::Libtorch);
    let fewer = baseline("eager", Launch::Stream, "one", vec![right("x", 1.0), unmeasured("y", "busy")], 1.5);
    let documents = sourced("one.json", vec![plugin, fewer]);
    let found = compare(&entries(&documents, Apart::Files, &GraphFilter::default())).unwrap();
    assert_eq!((found.graphs, found.missing.len(), found.unmeasured.len()), (1, 1, 1));
    assert!(near(score_of(&found.standings[0].part), 3.0), "{found:?}");
}

#[test]
fn captured_ones_are_compared_with_captured_ones() {
    let of = |method: &str, launch| baseline(method, launch, "one", vec![right("x", 1.0)], 1.5);
    let plugin = document("fuse", "one", vec![right("x", 2.0)]);
    let captured = ["eager-graph", "inductor-graph"].map(|method| of(method, Launch::Graph));
    let [first, second] = captured;
    let documents = sourced("one.json", vec![first, plugin, of("eager", Launch::Stream), second]);
    let all = entries(&documents, Apart::Files, &GraphFilter::default());
    let error = compare(&all).unwrap_err().to_string();
    assert!(error.contains("launched as CUDA graphs and stream launch"), "{error}");
    let groups = by_launch(all);
    let names = |group: &Vec<EntrantResults<'_>>| {
        group.iter().map(|entry| entry.entrant.name.replace(" 0.1.0", "")).collect::<Vec<_>>()
    };
    assert_eq!(groups.iter().map(names).collect::<Vec<_>>(), [["eager-graph", "inductor-graph"], ["fuse", "eager"]]);
    assert!(groups.iter().all(|group| compare(group).is_ok()));
}

#[test]
fn captured_plugins_stand_beside_captured_baselines_and_never_beside_themselves() {
    let captured = |variants| {
        let mut document = document("fuse", "one", variants);
        document.limits.measurement.launch = Launch::Graph;
        document
    };
    let eager = baseline("eager-graph", Launch::Graph, "one", vec![right("x", 3.0)], 1.5);
    let plugin = document("fuse", "one", vec![right("x", 2.0)]);
    let documents = sourced("one.json", vec![plugin, captured(vec![right("x", 4.0)]), eager]);
    let all = entries(&documents, Apart::Plugins, &GraphFilter::default());
    assert_eq!(all.len(), 3, "one plugin launched in two ways is two entries");
    let groups = by_launch(all);
    assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    let found = compare(&groups[1]).unwrap();
    // Four times as fast as a captured eager that takes two thirds of what eager takes in Python.
    let scores: Vec<Option<f64>> = found.standings.iter().map(|standing| score_of(&standing.part)).collect();
    assert!(near(scores[0], 6.0) && near(scores[1], 3.0), "{scores:?}");
    assert_eq!((found.conditions.launch, found.conditions.eager), (Launch::Graph, Eager::Python));
}

#[test]
fn what_cannot_be_captured_is_not_measured_whoever_is_to_blame() {
    for blame in [Blame::Sample, Blame::Plugin] {
        let mut document = document("fuse", "one", vec![right("x", 2.0), uncaptured("y", blame)]);
        document.limits.measurement.launch = Launch::Graph;
        let differences = |document: &Document| {
            let items = recompute(document).into_iter().map(|difference| difference.item);
            items.filter(|item| item == "status" || item == "blame").collect::<Vec<_>>()
        };
        assert_eq!(differences(&document), [""; 0]);
        assert_eq!((document.status, document.blame), (Status::Failed, Some(blame)), "it has no score");
        assert_eq!(document.failure, document.variants[1].failure);
        let summary = summary_of(vec![document], &GraphFilter::default());
        assert_eq!((summary.all.graphs, summary.all.scored, summary.unmeasured.len()), (2, 1, 1));
        assert_eq!(summary.unmeasured[0].message, "not measured: it cannot be captured");
    }
}

/// A document of a GPU whose kernels were measured in several schedules, or not.
fn on_gpu(tune: bool, variants: Vec<Variant>) -> Document {
    let mut document = document("fuse", "one", variants);
    document.job.device.as_mut().unwrap().device = "cuda:0".into();
    document.limits.measurement.tune = tune;
    document
}

#[test]
fn kernels_in_measured_schedules_are_another_entry_that_is_held_against_the_default() {
    let both = vec![on_gpu(false, vec![right("x", 2.0)]), on_gpu(true, vec![right("x", 3.0)])];
    let documents = sourced("one.json", both);
    let all = entries(&documents, Apart::Plugins, &GraphFilter::default());
    let names: Vec<&str> = all.iter().map(|entry| entry.entrant.name.as_str()).collect();
    assert_eq!(names, ["fuse 0.1.0", "fuse 0.1.0, tuned"]);
    let differences = all[0].conditions.differences(&all[1].conditions);
    assert_eq!(differences, ["default and measured schedules"]);
    let found = compare(&all).unwrap();
    let scores: Vec<Option<f64>> = found.standings.iter().map(|standing| score_of(&standing.part)).collect();
    assert!(near(scores[0], 2.0) && near(scores[1], 3.0), "{scores:?}");
    // On the CPU there is nothing to choose.
    let mut on_cpu = on_gpu(true, vec![right("x", 2.0)]);
    on_cpu.job.device.as_mut().unwrap().device = "cpu".into();
    assert!(!on_cpu.is_tuned());
}

#[test]
fn a_schedule_is_the_fastest_of_those_that_were_asked_for() {
    let candidate = |schedule: &str, ns| Candidate { schedule: schedule.into(), ns };
    let candidates = vec![candidate("rows rows=1", 2000), candidate("rows rows=2", 1000)];
    let kernel = TunedKernel { node: NodeId(7), sources_sha256: "00".into(), candidates, chosen: 1, is_kept: false };
    let differences = |tune: bool, chosen: usize| -> Vec<String> {
        let mut variant = right("x", 2.0);
        variant.tuned = vec![TunedKernel { chosen, ..kernel.clone() }];
        let items = recompute(&on_gpu(tune, vec![variant])).into_iter().map(|difference| difference.item);
        items.filter(|item| item.contains("tuned")).collect()
    };
    assert_eq!(differences(true, 1), [""; 0]);
    assert_eq!(differences(true, 0), [format!("x: tuned, node {}", NodeId(7))]);
    assert_eq!(differences(false, 1), ["x: tuned"]);
}
