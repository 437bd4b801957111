//! What happens before the first request, and what a model is told first: samples that nobody can score, what evaluations are
//! like, ops, and passes that change nothing.

use super::endpoint::{Endpoint, Reply};
use super::{agent, course, of_kind, trajectories};
use passhost_tests::{directory, sample_with};
use serde_json::json;
use std::path::Path;

/// A pass that changes nothing, and says why.
const REFUSES: &str = "use passhost_guest_sdk::prelude::*;
pub struct Scripted;
impl Pass for Scripted {
    fn info(&self) -> PassInfo { PassInfo::new(\"scripted\", \"0.1.0\", \"Written by a script\") }
    fn run(&self, rewriter: &mut Rewriter, _: &DeviceFacts, _: &mut dyn Infer) -> Result<(), PassError> {
        log!(\"there are {} nodes\", rewriter.graph().nodes.len());
        Ok(())
    }
}
register!(Scripted);
";

/// A sample whose only output is a view of its input.
fn views(place: &Path) {
    let model = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0):\n        tmp_0 = in_0.reshape(2, 2)\n        return (tmp_0,)\n";
    let record = "class Program_weight_tensor_meta_in_0:\n    name = \"in_0\"\n    shape = [4]\n    dtype = \"torch.float32\"\n    device = \"cpu\"\n    mean = 0.0\n    std = 1.0\n    data = None\n";
    let written = std::fs::create_dir_all(place)
        .and_then(|()| std::fs::write(place.join("model.py"), model))
        .and_then(|()| std::fs::write(place.join("weight_meta.py"), record));
    assert!(written.is_ok(), "{written:?}");
}

#[test]
fn a_sample_that_nobody_can_score_is_named_before_anything_is_asked_and_others_are_tried() {
    let kept = directory();
    let (bad, out) = (kept.path().join("views"), kept.path().join("run"));
    views(&bad);
    let good = sample_with("single-gelu", &["float32/s0-1_"]);
    let endpoint = Endpoint::start(|asked| match asked.last_text().contains("The sample is `views`") {
        true => Reply::fail("nothing is to be asked of it".into()),
        false => Reply::call(&[("submit", json!({}))]),
    });
    let run = || agent(&endpoint, &[&bad, good.path()], &out).with(&["--attempts", "2", "--max-steps", "1"]);
    let reason = "views, attempt 1: the sample cannot be used: every output that counts is a view of an input";
    let first = run().run();
    first.expect_end(2, &[reason, "attempts that have not ended: 2"]);
    first.expect(first.err.matches("the sample cannot be used").count() == 1, "it is said once");
    first.expect(!first.err.contains("it said nothing"), "the reason is that of the result");
    let asked = || endpoint.answered().iter().sum::<usize>();
    first.expect(asked() == 2, "each attempt on the other sample asks once");
    let resumed = run().with(&["--resume"]).run();
    resumed.expect_end(2, &[reason]);
    resumed.expect(asked() == 2, "nothing more is asked");
}

#[test]
fn a_model_is_told_what_evaluations_are_like_and_of_ops() {
    let sample = sample_with("single-gelu", &["float32/s0-1_", "float16/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|asked| {
        let system = asked.body["messages"][0]["content"].as_str().unwrap_or_default();
        let words = [
            "\nvariant graphs/subgraphs/float16/s0-1_",
            "Evaluations run on cpu, ",
            " and measure every variant.",
            "The built-in fusion scores ",
        ];
        match words.into_iter().find(|words| !asked.last_text().contains(words)) {
            Some(words) => Reply::fail(format!("no `{words}` in {}", asked.last_text())),
            None if !system.contains("There are 3 steps;") => Reply::fail(format!("no steps in {system}")),
            None => Reply::call(&[
                ("ops", json!({"name": "gelu"})),
                ("ops", json!({"name": "--help"})),
                ("eval", json!({})),
            ]),
        }
    });
    let run = agent(&endpoint, &[sample.path()], &out).with(&["--max-steps", "3"]).run();
    run.expect_end(0, &["out of steps"]);
    let lines = &trajectories(&out)[0];
    let told: Vec<&str> = lines.iter().filter_map(|line| line["text"].as_str()).collect();
    let expected = [
        ("aten::gelu(Tensor self", "becomes part of a kernel (Group::POINTWISE)", "\nsteps left: 2 of 3"),
        ("no op of the list is called `--help`", "", "\nsteps left: 1 of 3"),
        ("no pass is written", "", "\nsteps left: 0 of 3"),
    ];
    for (told, (begin, inside, end)) in told.iter().zip(expected) {
        run.expect(told.contains(begin) && told.contains(inside) && told.ends_with(end), told);
    }
    run.expect(
        lines[0]["device"].as_str().is_some_and(|device| device.starts_with("cpu, ")),
        &lines[0]["device"].to_string(),
    );
}

#[test]
fn a_pass_that_changes_nothing_is_told_so_with_what_it_said_and_is_paid_for_its_build_alone() {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join("run");
    let endpoint = Endpoint::start(|_| {
        let [check, eval] = ["check", "eval"].map(|name| (name, json!({})));
        Reply::call(&[("write_pass", json!({"source": REFUSES})), check, eval])
    });
    let run = agent(&endpoint, &[sample.path()], &out).with(&["--max-steps", "3"]).run();
    run.expect_end(0, &["out of steps"]);
    let lines = &trajectories(&out)[0];
    run.expect(course(lines) == ["write_pass wrote", "check checked", "eval judged"], &format!("{lines:?}"));
    let calls = of_kind(lines, "call");
    let told = calls[1]["text"].as_str().unwrap_or_default();
    run.expect(told.starts_with("changed 0 of 1 graphs\n") && told.contains("# log: there are 1 nodes"), told);
    let told = calls[2]["text"].as_str().unwrap_or_default();
    run.expect(told.contains(": pass miss") && told.contains("  log: there are 1 nodes"), told);
    let paid = |at: usize| calls[at]["reward"].clone();
    run.expect(paid(1) == json!({"build": 0.02, "check": 0.0, "right": 0.0, "score": 0.0}), &paid(1).to_string());
    run.expect(paid(2) == json!({"build": 0.0, "check": 0.0, "right": 0.0, "score": 0.0}), &paid(2).to_string());
}
