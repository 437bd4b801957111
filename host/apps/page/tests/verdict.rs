//! What stands at the top of the page of a batch, word by word.

use expect_test::{Expect, expect};
use passhost_made_documents::{baseline, compared, document, failed, missed, right};
use passhost_page::report::{Origin, report};
use passhost_report::{Apart, GraphFilter, Sourced, contests, entries};
use passhost_result::document::{Document, Launch};
use passhost_score::FailureClass;

/// The words of the lead, a line for each paragraph and item.
fn lead_of(documents: Vec<Document>) -> String {
    let documents: Vec<Sourced> = documents.into_iter().map(|document| Sourced::new("one.json", document)).collect();
    let entries = entries(&documents, Apart::Plugins, &GraphFilter::default());
    let lead = report(&contests(&entries), &Origin { version: "0".into(), files: vec![] }).lead.into_string();
    let mut text = String::new();
    for part in lead.replace("</p>", "\n").replace("</li>", "\n").split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, words)| words));
    }
    text
}

fn check(documents: Vec<Document>, expected: &Expect) {
    expected.assert_eq(&lead_of(documents));
}

#[test]
fn the_best_by_how_much_and_why_the_others_fall_behind() {
    let graphs = |speedup: f64| vec![right("x", speedup), right("y", speedup), right("z", speedup)];
    let worse = vec![right("x", 2.0), missed("y"), compared("z", 4.0, Some(-2))];
    let broken = vec![failed("x", FailureClass::Compile), failed("y", FailureClass::Compile), right("z", 4.0)];
    check(
        vec![document("slow", "s", worse), document("fast", "s", graphs(4.0)), document("broken", "s", broken)],
        &expect![[r#"
            fast 0.1.0 is the best plugin: AS 4.00 [3.85–4.16] over 3 graphs of 1 sample that all were tried on. It is ahead of 2 slow 0.1.0, and that is decided: its score is 8.01 times as high [7.58–8.47]. Where it ran it is 4.00 [3.85–4.16] times as fast as eager in libtorch, which is decided.
            2 slow 0.1.0: AS 0.50 [0.48–0.52], 0.12 times the first's (decided): wrong values on 1 of 3, changes nothing on 1 of 3, where both are right it is slower, 0.50 times as fast [0.47–0.53]. Graph by graph, by 95% intervals: better on 0, worse on 3, undecided on 0.
            3 broken 0.1.0: AS 0.37 [0.35–0.38], 0.091 times the first's (decided): no valid rewrite of 2 of 3, where both are right times do not tell them apart, 1.00 times as fast [0.95–1.06]. Graph by graph, by 95% intervals: better on 0, worse on 2, undecided on 1.
            AS is the geometric mean over graphs of the speedup over eager PyTorch; a graph that is not right counts as 0.1. Brackets hold 95% intervals. How to read this page explains the other words.
        "#]],
    );
}

#[test]
fn what_times_do_not_tell_is_not_decided() {
    check(
        vec![document("one", "s", vec![right("x", 1.001)]), document("two", "s", vec![right("x", 1.002)])],
        &expect![[r#"
            two 0.1.0 scores highest of the plugins: AS 1.00 [0.96–1.04] over 1 graph of 1 sample that all were tried on. Whether it is ahead of 2 one 0.1.0 is not decided: its score is 1.00 times as high [0.95–1.06], too uncertain for a verdict. Whether it is faster than eager in libtorch is not decided: 1.00 [0.96–1.04] times as fast where it ran.
            2 one 0.1.0: AS 1.00 [0.96–1.04], 1.00 times the first's (not decided): where both are right times do not tell them apart, 1.00 times as fast [0.95–1.06]. Graph by graph, by 95% intervals: better on 0, worse on 0, undecided on 1.
            AS is the geometric mean over graphs of the speedup over eager PyTorch; a graph that is not right counts as 0.1. Brackets hold 95% intervals. How to read this page explains the other words.
        "#]],
    );
}

#[test]
fn a_baseline_may_be_ahead_of_the_best_plugin() {
    let method = baseline("inductor", Launch::Stream, "s", vec![right("x", 3.0)], 1.0);
    check(
        vec![document("one", "s", vec![right("x", 2.0)]), method],
        &expect![[r#"
            one 0.1.0 is the only plugin here: AS 2.00 [1.92–2.08] over 1 graph of 1 sample that all were tried on. 2 inductor 0.1.0 (baseline) is ahead of it, and that is decided: the score is 1.50 times as high [1.42–1.59]. Where it ran it is 2.00 [1.92–2.08] times as fast as eager called from Python, which is decided.
            2 inductor 0.1.0 (baseline): AS 3.00 [2.88–3.12], 1.50 times the first's (decided): where both are right it is faster, 1.50 times as fast [1.42–1.59]. Graph by graph, by 95% intervals: better on 1, worse on 0, undecided on 0.
            AS is the geometric mean over graphs of the speedup over eager PyTorch; a graph that is not right counts as 0.1. Brackets hold 95% intervals. How to read this page explains the other words.
        "#]],
    );
}

#[test]
fn a_lead_says_of_how_many_of_its_graphs_it_speaks() {
    let two = document("two", "s", vec![right("x", 1.0), right("y", 1.0)]);
    let lead = lead_of(vec![document("one", "s", ["x", "y", "z"].map(|name| right(name, 2.0)).to_vec()), two]);
    assert!(lead.contains(" over 2 of its 3 graphs, those measured for all, of 1 sample. It is"), "{lead}");
}

#[test]
fn who_is_alone_has_a_score_and_who_was_not_measured_has_none() {
    check(
        vec![document("one", "s", vec![right("x", 2.0)])],
        &expect![[r#"
            one 0.1.0 has AS 2.00 [1.92–2.08] over 1 graph of 1 sample. Where it ran it is 2.00 [1.92–2.08] times as fast as eager in libtorch, which is decided.
            AS is the geometric mean over graphs of the speedup over eager PyTorch; a graph that is not right counts as 0.1. Brackets hold 95% intervals. How to read this page explains the other words.
        "#]],
    );
    let mut quick = document("one", "s", vec![]);
    quick.limits.measurement.accept_noise = true;
    check(
        vec![quick],
        &expect![[r#"
            1 of 1 evaluations accepted noise: not a result to rank.
            Nothing was measured for one 0.1.0: there is no score.
            AS is the geometric mean over graphs of the speedup over eager PyTorch; a graph that is not right counts as 0.1. Brackets hold 95% intervals. How to read this page explains the other words.
        "#]],
    );
}
