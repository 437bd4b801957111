//! What a file says of figures that follow from its trials is never shown: the trials are.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_made_documents::{compared, document, failed, missed, right, unmeasured};
use passhost_policy::Policy;
use passhost_report::{Apart, GraphFilter, Sourced, compare, entries, summarise};
use passhost_result::document::{Blame, Document, HiddenShape, HiddenShapes, Status, Timing};
use passhost_result::verify::{recompute, recomputed};
use passhost_score::{FailureClass, VariantOutcome};

fn honest() -> Document {
    let variants = vec![right("a", 2.0), right("b", 3.0), missed("c"), failed("d", FailureClass::Compile)];
    document("fuse", "sample", variants)
}

/// A document in which something was changed by hand, as it is read.
fn read(change: impl FnOnce(&mut Document)) -> Sourced {
    let mut document = honest();
    change(&mut document);
    Sourced::new("night.jsonl", document)
}

/// Something that is done to a document, and what is said then.
type Case<'c> = (&'c dyn Fn(&mut Document), &'c str);

/// Times of a variant.
fn timing(document: &mut Document, variant: usize) -> &mut Timing {
    document.variants[variant].timing.as_mut().unwrap()
}

#[test]
fn figures_that_were_changed_are_those_of_the_trials_again() {
    let faster = |document: &mut Document| {
        timing(document, 0).speedup = 99.0;
        if let VariantOutcome::Compared { speedup, .. } = &mut document.outcomes[0] {
            *speedup = 99.0;
        }
    };
    let better = |document: &mut Document| {
        document.scores.as_mut().unwrap().aggregate_score = 99.0;
        document.confidence.as_mut().unwrap().aggregate_score.low = 99.0;
        document.device_scores.as_mut().unwrap().aggregate_score = 99.0;
    };
    let shorter = |document: &mut Document| {
        timing(document, 1).rewritten_us = 1.0;
        timing(document, 1).rewritten_device_us = Some(1.0);
        timing(document, 1).interval.high = 99.0;
    };
    let righter = |document: &mut Document| {
        document.variants[1].passes_at = Some(4);
        document.variants[1].class = Some(FailureClass::Accuracy);
    };
    let failing = |document: &mut Document| (document.status, document.blame) = (Status::Failed, Some(Blame::Host));
    let changes: [Case<'_>; 5] = [
        (&faster, "a: timing.speedup: recorded 99, its trials give 2"),
        (&better, "confidence.aggregate_score.low: recorded 99, its trials give 0."),
        (&shorter, "b: timing.interval.high: recorded 99, its trials give 3.1"),
        (&righter, "b: class: recorded `accuracy`, its trials give not given"),
        (&failing, "blame: recorded `host`, its trials give not given"),
    ];
    for (change, said) in changes {
        let found = read(change);
        assert_eq!(found.document, honest(), "{said}");
        let remark = found.remark().unwrap();
        assert!(remark.starts_with("night.jsonl: fuse.wasm on sample: ") && remark.contains(said), "{remark}");
    }
}

#[test]
fn a_document_that_follows_from_its_trials_stays_as_it_is() {
    assert_eq!((read(|_| ()).document, read(|_| ()).remark()), (honest(), None));
    // What was added to the form since, and why something was not measured, is not made up.
    let mut older = document("fuse", "sample", vec![right("a", 2.0), unmeasured("b", "a busy machine")]);
    older.progress = None;
    older.variants.iter_mut().for_each(|variant| variant.progress = None);
    let found = Sourced::new("night.jsonl", older.clone());
    assert_eq!((found.remark(), found.document), (None, older));
}

#[test]
fn times_that_are_no_measurement_give_no_speedup_whatever_is_said_of_them() {
    let disturbed = |document: &mut Document| {
        for block in timing(document, 0).processes.iter_mut().flat_map(|process| &mut process.pairs) {
            block.witness.waited_ns = Some(block.witness.elapsed_ns);
        }
    };
    let of_later_rules = |document: &mut Document| timing(document, 0).rules = Timing::RULES + 1;
    let empty = |document: &mut Document| timing(document, 0).processes.clear();
    let changes: [Case<'_>; 3] = [
        (&disturbed, "the machine was busy during"),
        (&of_later_rules, "and this passhost knows"),
        (&empty, "not measured: "),
    ];
    for (change, said) in changes {
        let found = read(change);
        let variant = &found.document.variants[0];
        let failure = variant.failure.as_ref().unwrap();
        assert!(failure.blame == Blame::Host && failure.message.contains(said), "{failure:?}");
        assert!(found.remark().is_some() && found.document.scores.is_none(), "{said}: {:?}", found.remark());
        let entries = entries(std::slice::from_ref(&found), Apart::Plugins, &GraphFilter::default());
        let summary = summarise(&entries[0]);
        assert_eq!((summary.all.graphs, summary.all.scored), (4, 3), "{said}");
    }
}

#[test]
fn a_time_that_memory_does_not_allow_is_found_again() {
    let found = read(|document| {
        timing(document, 0).processes.iter_mut().for_each(|process| process.floor_ns = 1_000_000);
    });
    assert_eq!(found.document.variants[0].class, Some(FailureClass::Integrity));
    assert!(
        found.remark().unwrap().contains("a: class: recorded not given, its trials give `integrity`"),
        "{:?}",
        found.remark()
    );
}

/// A document under the policy `strict`, with a hidden size that is right or wrong.
fn strict(is_right: bool) -> Document {
    let mut document = document("fuse", "sample", vec![right("a", 2.0)]);
    document.policy = Policy::built_in("strict").unwrap();
    document.limits.measurement.edge_case_rounds = true;
    let passes_at = is_right.then_some(-10);
    let outputs = compared("a", 1.0, passes_at).outputs;
    let finding = (!is_right).then(|| "with S0 = 3: outputs are right at no tolerance".to_owned());
    let sizes = [("S0".to_owned(), 3)].into_iter().collect();
    let shape = HiddenShape { sizes, passes_at, outputs, finding, ..HiddenShape::default() };
    document.variants[0].hidden = Some(HiddenShapes { seed: 1, shapes: vec![shape], missing: None });
    let document = recomputed(document).document;
    assert_eq!(recompute(&document), []);
    document
}

#[test]
fn a_graph_that_was_not_measured_has_no_hidden_sizes_and_follows_from_its_trials() {
    let mut noisy = strict(true);
    noisy.variants[0].hidden = None;
    assert_eq!(recompute(&noisy).first().unwrap().item, "a: hidden");
    for block in timing(&mut noisy, 0).processes.iter_mut().flat_map(|process| &mut process.pairs) {
        block.witness.waited_ns = Some(block.witness.elapsed_ns);
    }
    let noisy = recomputed(noisy).document;
    assert!(noisy.variants[0].timing.as_ref().unwrap().trouble.is_some());
    assert_eq!(recompute(&noisy), []);
}

#[test]
fn what_is_wrong_at_a_hidden_size_is_found_again() {
    let honest = strict(false);
    assert_eq!(honest.variants[0].class, Some(FailureClass::ShapeOverfit));
    let mut tampered = honest.clone();
    let variant = &mut tampered.variants[0];
    (variant.class, variant.failure, variant.progress) = (None, None, None);
    let shape = &mut variant.hidden.as_mut().unwrap().shapes[0];
    // A note is for what was not run.
    (shape.finding, shape.note) = (None, Some("nothing can be said".to_owned()));
    if let VariantOutcome::Compared { wrong_on_edge_cases, .. } = &mut tampered.outcomes[0] {
        *wrong_on_edge_cases = false;
    }
    let found = Sourced::new("night.jsonl", tampered);
    let (variant, own) = (&found.document.variants[0], &honest.variants[0]);
    assert_eq!((variant.class, &variant.failure, &found.document.scores), (own.class, &own.failure, &honest.scores));
    let said = "a: class: recorded not given, its trials give `shape_overfit` (and 3 more figures)";
    assert!(found.remark().unwrap().contains(said), "{:?}", found.remark());
}

#[test]
fn what_a_file_contradicts_and_does_not_say_is_told() {
    let mut document = strict(true);
    document.variants[0].hidden = None;
    let found = Sourced::new("night.jsonl", document);
    let said = "a: hidden: recorded no hidden sizes, expected a policy that asks for 1; that cannot be computed from it: \
                evaluate again";
    assert!(found.remark().unwrap().ends_with(said), "{:?}", found.remark());
}

#[test]
fn summaries_and_comparisons_say_which_files_differ_from_their_trials() {
    let tampered = |sample: usize| {
        let mut document = document("fuse", &format!("sample {sample}"), vec![right("a", 2.0)]);
        document.variants[0].timing.as_mut().unwrap().speedup = 99.0;
        Sourced::new("night.jsonl", document)
    };
    let honest = |sample: usize| {
        Sourced::new("day.jsonl", document("blend", &format!("sample {sample}"), vec![right("a", 2.0)]))
    };
    let all: Vec<Sourced> = (0..5).map(tampered).chain((0..5).map(honest)).collect();
    let entries = entries(&all, Apart::Files, &GraphFilter::default());
    let of_trials = |remarks: &[String]| remarks.iter().filter(|remark| remark.contains("trials")).count();
    let summary = summarise(&entries[0]);
    assert_eq!(of_trials(&summary.remarks), 4, "{:?}", summary.remarks);
    assert!(summary.remarks.iter().any(|remark| remark.starts_with("2 more results")), "{:?}", summary.remarks);
    assert!(summary.best.iter().all(|best| best.speedup.unwrap().0 < 3.0), "{:?}", summary.best);
    assert_eq!(of_trials(&summarise(&entries[1]).remarks), 0);
    let comparison = compare(&entries).unwrap();
    assert_eq!(of_trials(&comparison.remarks), 4, "{:?}", comparison.remarks);
    let ratio = comparison.standings[1].against_first.as_ref().unwrap().scores.aggregate_score.ratio;
    assert!((ratio - 1.0).abs() < 1e-5, "{ratio}");
}
