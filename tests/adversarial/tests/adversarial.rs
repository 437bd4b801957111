//! Plays every case of the corpus on the CPU. `ADVERSARIAL=WORD` plays those whose name contains the word.

use passhost_adversarial::machine_code::MachineCode;
use passhost_adversarial::plugin::with_script;
use passhost_adversarial::side_by_side::{Plan, play};
use passhost_adversarial::{Case, cases};
use passhost_protocol::device::DeviceChoice;
use passhost_tests::{Passhost, SMALL, sample_with};
use std::collections::BTreeSet;
use std::time::Duration;

fn all() -> Vec<Case> {
    let words: Vec<String> = std::env::var("ADVERSARIAL").into_iter().collect();
    let cases = cases(&words);
    assert!(cases.as_ref().is_ok_and(|cases| !cases.is_empty()), "{cases:?}");
    cases.unwrap_or_default()
}

#[test]
fn every_case_ends_as_it_must() {
    let workers = std::thread::available_parallelism().map_or(2, |count| count.get().clamp(2, 8));
    let plan = Plan { device: DeviceChoice::Cpu, workers, budget: Duration::from_millis(1), attempts: 1 };
    let rows = play(&all(), plan);
    assert!(rows.is_ok(), "{rows:?}");
    let rows = rows.unwrap_or_default();
    println!("{} cases, {} of them open", rows.len(), rows.iter().filter(|row| row.open.is_some()).count());
    let complaints: Vec<String> =
        rows.iter().filter_map(|row| Some(format!("{}: {}", row.case, row.complaint.as_ref()?))).collect();
    assert!(complaints.is_empty(), "{} cases:\n{}", complaints.len(), complaints.join("\n\n"));
}

#[test]
fn every_class_that_a_case_can_have_has_one() {
    let cases = cases(&[]).unwrap_or_default();
    let classes: BTreeSet<u32> = cases.iter().filter_map(|case| case.expect.class).collect();
    assert_eq!(classes, (1..=42).collect());
    let honest = cases.iter().filter(|case| case.expect.honest).count();
    assert!(honest >= 20 && cases.len() - honest >= 80, "{honest} honest passes of {} cases", cases.len());
    for case in &cases {
        let class = case.expect.class.map(|class| format!("{class:02}-"));
        let fits = class.map_or(case.expect.honest, |class| case.name.starts_with(&class));
        assert!(fits, "{} has another class than its directory", case.name);
    }
}

#[test]
fn a_pass_whose_answers_take_too_long_is_refused_whatever_it_returns() {
    let directory = passhost_tests::directory();
    let path = directory.path().join("asks.wasm");
    let written = with_script("ask 3 9000\n").map(|bytes| std::fs::write(&path, bytes));
    assert!(matches!(written, Ok(Ok(()))), "{written:?}");
    let sample = sample_with("se-gate-add-relu", SMALL);
    let eval = || Passhost::eval(&path, sample.path());
    eval().run().expect_end(0, &["nothing that counts"]);
    let run = eval().with(&["--limit-answers", "1ms"]).run();
    run.expect_end(1, &["exceeded the answers limit of 1 ms", "--limit-answers"]);
    run.expect(run.variants()[0]["failure"]["blame"] == "plugin", "the plugin is blamed");
}

#[test]
fn a_script_is_written_into_machine_code_as_the_compiler_would_have_it() {
    let code = MachineCode::new();
    assert!(code.is_ok(), "{:?}", code.err());
    let Ok(code) = code else { return };
    let same = code.is_what_the_compiler_makes("drop aten::relu\nfuse\n");
    assert!(matches!(same, Ok(true)), "{same:?}");
}
