//! What a file says of figures that follow from its trials is never shown: the trials are.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use passhost_made_documents::{document, failed, missed, right, unmeasured};
use passhost_report::{Apart, Filter, Sourced, compare, entries, summarise};
use passhost_result::document::{Blame, Document, Status, Timing};
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
        document.variants[1].right_from = Some(4);
        document.variants[1].class = Some(FailureClass::Accuracy);
    };
    let failing = |document: &mut Document| (document.status, document.blame) = (Status::Failed, Some(Blame::Host));
    let changes: [Case<'_>; 5] = [
        (&faster, "a: timing.speedup: recorded 99, its trials give 2"),
        (&better, "scores.aggregate_score: recorded 99, its trials give 0."),
        (&shorter, "b: timing.rewritten_us: recorded 1, its trials give 400."),
        (&righter, "b: progress: recorded Some(Faster), its trials give Some(Runs) (and 2 more figures)"),
        (&failing, "status: recorded Failed, its trials give Scored"),
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
        let entries = entries(std::slice::from_ref(&found), Apart::Plugins, &Filter::default());
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
    assert!(found.remark().unwrap().contains("a: findings: recorded nothing about the floor"), "{:?}", found.remark());
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
    let entries = entries(&all, Apart::Files, &Filter::default());
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
