//! How strong checks are, as `passhost samples strength` finds it and evaluations say it.

use passhost_tests::{Passhost, directory, plugin, repository, sample};
use serde_json::Value;
use std::path::Path;

fn strength(path: &Path, options: &[&str]) -> Passhost {
    Passhost::new([Path::new("samples"), Path::new("strength"), path]).with(options)
}

#[test]
fn strength_counts_the_cheats_that_a_check_refuses() {
    let path = repository().join("tests/adversarial/samples/from-a-quarter");
    let directory = directory();
    let list = directory.path().join("strong.txt");
    let options = ["--device", "cpu", "--threads", "1", "--policy", "strict", "--seed", "1"];
    let run = strength(&path, &options).with_json();
    let run = run.with(&["--without-survivors", &list.display().to_string()]).run();
    run.expect_end(0, &[]);
    let found = run.json();
    let mutants = found["variants"][0]["mutants"].as_array().cloned().unwrap_or_default();
    let of = |class: &str| mutants.iter().filter(|mutant| mutant["class"] == class).cloned().collect::<Vec<Value>>();
    run.expect(mutants.len() > 12, "classes and compositions were tried");
    run.expect(found["killed"].as_u64().is_some_and(|killed| killed + 1 >= mutants.len() as u64), "nearly all die");
    for class in ["comparison", "branch", "precision", "tail"] {
        let all = of(class);
        run.expect(!all.is_empty() && all.iter().all(|mutant| mutant["fate"] == "killed"), class);
    }
    let chosen = mutants.iter().filter(|mutant| mutant["chooses"] == true).count() as u64;
    let of = &found["strength"]["mutants"];
    run.expect(of.as_u64().is_some_and(|of| of + chosen <= mutants.len() as u64), "who chooses does not count");
    let named = std::fs::read_to_string(&list).unwrap_or_default().contains("from-a-quarter");
    run.expect(named == (found["survived"] == 0), "a list has the samples without survivors");
}

#[test]
fn a_cheat_that_is_wrong_without_a_finding_is_refused_too() {
    // Bools are right or wrong, and nothing else is found of them.
    let path = repository().join("samples/sole_op_subgraphs/AlbertModel/AlbertModel_start24_end25_23");
    let options = ["--device", "cpu", "--threads", "1", "--policy", "strict", "--seed", "1", "--variant", "shape-1"];
    let run = strength(&path, &options).with_json().run();
    run.expect_end(0, &[]);
    let found = run.json();
    run.expect(found["killed"].as_u64() > Some(4) && found["survived"] == 0, "all are killed");
}

#[test]
fn an_evaluation_tries_first_what_kills_mutants_and_says_how_strong_the_check_is() {
    let path = repository().join("tests/adversarial/samples/from-a-quarter");
    let cache = directory();
    let home = cache.path().display().to_string();
    let options = ["--device", "cpu", "--threads", "1", "--seed", "1"];
    let strength = strength(&path, &options).variable("XDG_CACHE_HOME", &home).with_json().run();
    strength.expect_end(0, &[]);
    let killers = |mutant: &Value| mutant["rounds"].as_array().is_some_and(|rounds| !rounds.is_empty());
    let mutants = strength.json()["variants"][0]["mutants"].as_array().cloned().unwrap_or_default();
    strength.expect(mutants.iter().any(|mutant| mutant["chooses"] == true && killers(mutant)), "rounds were chosen");
    let eval = |options: &[&str]| {
        Passhost::eval(&plugin("autofuse"), &path).variable("XDG_CACHE_HOME", &home).with(options).run()
    };
    let run = eval(&[]);
    run.expect_end(0, &["strength of the check: "]);
    let variant = &run.variants()[0];
    let said = &strength.json()["variants"][0]["strength"];
    run.expect(variant["strength"] == *said, &format!("{} and {said}", variant["strength"]));
    let first = variant["other_rounds"]["first"].as_array().map_or(0, Vec::len);
    run.expect(first > 0, "chosen rounds are named");
    let document = cache.path().join("result.json");
    assert!(std::fs::write(&document, run.json().to_string()).is_ok());
    let again =
        [Path::new("verify"), &document, Path::new("--plugin"), &plugin("autofuse"), Path::new("--sample"), &path];
    Passhost::new(again).with(&["--device", "cpu", "--threads", "1"]).run().expect_end(0, &["agrees"]);
    let quick = eval(&["--quick"]);
    quick.expect(quick.variants()[0]["strength"].is_null(), "nothing of it holds for a quick evaluation");
}

#[test]
fn a_graph_beyond_the_limits_of_mutants_is_not_determined() {
    let run = strength(&sample("single-gelu"), &["--device", "cpu", "--variant", "s0-64", "--mutants", "2"]).run();
    run.expect_end(0, &["not determined: its graph is beyond the limits of mutants", "strength: not determined"]);
}
