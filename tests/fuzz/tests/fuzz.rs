//! Seeded runs of each target. Nothing may show something wrong, and what comes of the cases must be of many kinds: a run
//! in which all are refused at the first check shows nothing.

use passhost_fuzz::{Campaign, Name, Report};
use passhost_tests::directory;

/// A run of so many cases.
fn run(target: Name, count: u64) -> Report {
    let failures = directory();
    let campaign = Campaign { target, seed: 2, first: 0, count, until: None, failures: failures.path().into() };
    let report = campaign.run();
    assert!(report.is_ok(), "{report:?}");
    let report = report.unwrap_or_default();
    println!("{target}: {:?}", report.outcomes);
    assert!(
        report.failures.is_empty(),
        "{:#?}\nagain: passhost-fuzz {target} --seed 2 --first N --count 1",
        report.failures
    );
    assert_eq!(report.cases, count);
    report
}

/// Fails unless at least so many cases came out as a kind that begins with these words.
fn expect(report: &Report, kinds: &str, least: u64) {
    assert!(report.count(kinds) >= least, "{least} of {kinds:?} are expected: {:#?}", report.outcomes);
}

#[test]
fn plugin_files_against_the_static_checks() {
    let report = run(Name::Validate, 3000);
    expect(&report, "passes", 400);
    expect(&report, "refused: NotComponent", 200);
    expect(&report, "refused: MissingExport", 100);
    expect(&report, "refused: ForbiddenImport", 10);
}

#[test]
fn plugin_files_against_the_compiler() {
    let report = run(Name::Compile, 15);
    expect(&report, "compiles", 5);
}

#[test]
fn plugin_files_against_the_runtime() {
    let report = run(Name::Run, 15);
    expect(&report, "run", 5);
}

#[test]
fn returned_graphs_against_the_verifier() {
    let report = run(Name::Rewrites, 300_000);
    expect(&report, "accepted", 300);
    expect(&report, "refused: Kernel", 300);
    expect(&report, "message, ", 100);
    assert!(report.outcomes.len() > 40, "{:#?}", report.outcomes);
}

#[test]
fn kernels_on_the_cpu_against_the_interpreter() {
    let report = run(Name::Kernels, 2000);
    expect(&report, "as interpreted", 1000);
}

#[test]
fn what_the_cuda_generator_takes_for_granted() {
    let report = run(Name::Claims, 5000);
    expect(&report, "lanes: neighbours", 600);
    expect(&report, "lanes: neighbours, one element", 200);
}

#[test]
fn files_of_samples_against_the_reader() {
    let report = run(Name::Samples, 4000);
    expect(&report, "read", 200);
    expect(&report, "refused: Call", 50);
    expect(&report, "refused: Weight", 20);
    expect(&report, "varied", 1);
}

#[test]
fn directories_of_samples_against_reader_children() {
    let report = run(Name::Reader, 500);
    expect(&report, "read", 50);
    expect(&report, "not opened", 50);
}

#[test]
fn lying_children_against_the_supervisor() {
    let report = run(Name::Frames, 200);
    expect(&report, "scored", 10);
    expect(&report, "failed: host in reference, checked again with other types", 1);
    for blamed in ["plugin", "sample", "host"] {
        assert!(
            report.outcomes.keys().any(|kind| kind.contains(&format!("{blamed} in "))),
            "nobody blames a {blamed}: {:#?}",
            report.outcomes
        );
    }
}
