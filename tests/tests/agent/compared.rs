//! What comes of a run elsewhere: its scores beside those of a plugin, and its samples as tasks of Harbor.

use super::endpoint::{Endpoint, Reply};
use super::{agent, script};
use passhost_tests::{Passhost, Run, directory, plugin, sample_with};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a script of a task as Harbor does, with other places for its directories.
fn script_of(task: &Path, name: &str, place: &Path) -> Option<i32> {
    let program = Passhost::new(["--version"]).command().get_program().to_owned();
    let programs = Path::new(&program).parent().map(Path::to_path_buf).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path)));
    let mut command = Command::new("sh");
    command.arg(task.join(name)).env("PATH", path.unwrap_or_default());
    command.env("APP", place).env("LOGS", place.join("logs"));
    command.env("TESTS", task.join("tests")).env("SOLUTION", task.join("solution"));
    command.status().ok().and_then(|status| status.code())
}

fn reward(place: &Path) -> f64 {
    let text = std::fs::read_to_string(place.join("logs/reward.txt")).unwrap_or_default();
    text.trim().parse().unwrap_or(f64::NAN)
}

/// The score in the result that a script wrote.
fn scored(place: &Path) -> f64 {
    let result = std::fs::read_to_string(place.join("logs/result.json")).unwrap_or_default();
    let result: Value = serde_json::from_str(&result).unwrap_or_default();
    result["scores"]["aggregate_score"].as_f64().unwrap_or(f64::NAN)
}

fn harbor_gives_the_score_as_reward(out: &Path, sample: &Path) {
    let kept = directory();
    let tasks = kept.path().join("tasks");
    let words = [Path::new("agent"), Path::new("export"), out, Path::new("--format"), Path::new("harbor")];
    Passhost::new(words).run().expect_end(2, &["name a directory for them with --out DIR"]);
    let run = Passhost::new(words).with(&["--out", &tasks.display().to_string()]).run();
    run.expect_end(0, &["1 tasks in"]);
    let found: Vec<PathBuf> = std::fs::read_dir(&tasks).into_iter().flatten().flatten().map(|one| one.path()).collect();
    run.expect(found.len() == 1, &format!("{found:?}"));
    let task = &found[0];
    let read = |name: &str| std::fs::read_to_string(task.join(name)).unwrap_or_default();
    let name = task.file_name().unwrap_or_default().to_string_lossy();
    run.expect(read("task.toml").contains(&format!("name = \"passhost/{name}\"")), &read("task.toml"));
    run.expect(read("instruction.md").contains("--device cpu"), &read("instruction.md"));
    run.expect(read("environment/Dockerfile").contains("COPY sample /app/sample"), &read("environment/Dockerfile"));
    for place in ["environment/sample", "tests/sample"] {
        let list = std::fs::read_to_string(sample.join("graph_list.txt")).unwrap_or_default();
        let copied = read(&format!("{place}/graph_list.txt"));
        run.expect(!list.is_empty() && copied.lines().eq(list.lines()), place);
        run.expect(task.join(place).join(list.trim()).join("model.py").is_file(), place);
    }
    // No pass is worth nothing, and any other what it scores.
    run.expect(script_of(task, "tests/test.sh", kept.path()) == Some(0) && reward(kept.path()) == 0.0, "no pass");
    run.expect(script_of(task, "solution/solve.sh", kept.path()) == Some(0), "it is copied");
    run.expect(script_of(task, "tests/test.sh", kept.path()) == Some(0), "the solution is evaluated");
    run.expect(scored(kept.path()) == reward(kept.path()) && reward(kept.path()) > 0.2, "the score is the reward");
    run.expect(std::fs::write(kept.path().join("pass.rs"), "fn wrong( {}").is_ok(), "written");
    run.expect(script_of(task, "tests/test.sh", kept.path()) == Some(0), "what does not compile is evaluated");
    run.expect(scored(kept.path()) == reward(kept.path()) && reward(kept.path()) < 0.2, "it scores next to nothing");
}

#[test]
fn a_run_is_compared_with_a_plugin_and_its_sample_is_a_task_for_others() {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|asked| match asked.number {
        0 => Reply::call(&[script::right(), ("submit", json!({}))]),
        _ => Reply::call(&[script::wrong(), ("submit", json!({}))]),
    });
    let scores = kept.path().join("scores.json").display().to_string();
    let run = agent(&endpoint, &[sample.path()], &out).with(&["--attempts", "2", "--json", &scores]).run();
    run.expect_end(0, &["best of 1", "best of 2"]);
    let text = std::fs::read_to_string(&scores).unwrap_or_default();
    let written: Value = serde_json::from_str(&text).unwrap_or_default();
    let (task, best_of) = (&written["tasks"][0], &written["tasks"][0]["best_of"]);
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    for (k, score) in [("1", number(&best_of["1"])), ("2", number(&best_of["2"]))] {
        let (task, mean) = (&task["intervals"][k], &written["intervals"]["geometric_mean"][k]);
        run.expect(number(&task["low"]) <= score && score <= number(&task["high"]), &format!("best of {k}: {task}"));
        run.expect(task == mean, &format!("of one task the mean is the task: {mean}"));
    }
    run.expect(number(&best_of["1"]) < number(&best_of["2"]), &task.to_string());

    let result = kept.path().join("plugin.json").display().to_string();
    let words = ["--quick", "--device", "cpu", "--threads", "1", "--json", &result];
    let eval = Passhost::new([Path::new("eval"), &plugin("fuse-pointwise"), sample.path()]).with(&words).run();
    eval.expect_end(0, &[]);
    let compared: Run = Passhost::new(["compare", &result, &scores]).with_json().run();
    compared.expect_end(0, &["agent scripted best of 2", "fuse-pointwise"]);
    let standing = &compared.json()["standings"][1];
    compared.expect(standing["against_first"]["scores"]["aggregate_score"]["ratio"].is_number(), &standing.to_string());
    Passhost::new(["compare", &scores, &scores]).run().expect_end(2, &["a comparison needs two"]);
    Passhost::new(["report", &scores]).run().expect_end(0, &["agent scripted best of 2"]);

    harbor_gives_the_score_as_reward(&out, sample.path());
}
