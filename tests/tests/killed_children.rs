//! A child that is killed or hangs in the middle of an evaluation: a result with the right blame, and the next sample is
//! evaluated.

use passhost_child::{Confinement, TypesClient};
use passhost_ir::{Arg, Infer, InferError, OpName, TensorType};
use passhost_result::InputMode;
use passhost_supervisor::{ReadError, Sample};
use passhost_tests::{Passhost, Run, SMALL, directory, plugin, sample, sample_with, signal_child};
use rustix::process::Signal;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Two samples to be evaluated. The first variant of the first is so large that a signal comes while it is in the stage
/// that the signal is for.
struct TwoSamples(TempDir, TempDir);

impl TwoSamples {
    fn new() -> TwoSamples {
        let large_first = ["float32/s0-4_", "float16/s0-1_"];
        TwoSamples(sample_with("se-gate-add-relu", &large_first), sample_with("pointwise-chain", SMALL))
    }

    fn eval(&self) -> Passhost {
        let second = self.1.path().display().to_string();
        Passhost::eval_within("400ms", &plugin("fuse-pointwise"), self.0.path()).with(&[&second, "--threads", "1"])
    }
}

/// The second sample is whole whatever happened to the first.
fn expect_second_is_whole(run: &Run) {
    let second = &run.json()[1];
    for variant in run.variants_of(second) {
        run.expect(variant["failure"].is_null(), "the second sample is evaluated");
    }
    run.expect(second["scores"]["aggregate_score"].is_f64(), "the second sample is scored");
}

#[test]
fn a_device_child_killed_once_while_it_runs_a_rewrite_is_replaced() {
    for (stage, signal) in [("correctness", Signal::KILL), ("timing", Signal::ABORT)] {
        let stage_line = format!(": {stage}");
        let run = TwoSamples::new().eval().run_and_signal(&stage_line, "passhost-device", signal);
        run.expect_end(0, &[]);
        let first = &run.json()[0]["variants"][0];
        run.expect(first["failure"].is_null(), "a rewrite that runs the second time is nobody's fault");
        run.expect(first["passes_at"].is_i64() && first["timing"].is_object(), "it was checked and timed");
        expect_second_is_whole(&run);
    }
}

#[test]
fn a_device_child_that_hangs_in_a_rewrite_is_killed_at_its_deadline() {
    let run = TwoSamples::new().eval().with(&["--timeout", "15s"]).run_and_signal(
        ": correctness",
        "passhost-device",
        Signal::STOP,
    );
    run.expect_end(0, &["gave no answer within"]);
    run.expect(run.json()[0]["variants"][0]["failure"]["blame"] == "plugin", "the plugin is blamed");
    expect_second_is_whole(&run);
}

#[test]
fn a_device_child_killed_while_it_runs_the_reference_is_replaced() {
    let run = TwoSamples::new().eval().run_and_signal(": reference", "passhost-device", Signal::KILL);
    run.expect_end(0, &[]);
    run.expect(
        run.json()[0]["variants"][0]["failure"].is_null(),
        "a reference that runs the second time is nobody's fault",
    );
    expect_second_is_whole(&run);
}

#[test]
fn a_guest_child_killed_between_two_variants_is_replaced() {
    let run = TwoSamples::new().eval().run_and_signal(": reference", "passhost-guest", Signal::KILL);
    run.expect_end(0, &["the pass ran again in a fresh one"]);
    run.expect(run.json()[0]["variants"][0]["failure"].is_null(), "the pass ran the second time");
    expect_second_is_whole(&run);
}

#[test]
fn a_guest_child_killed_while_it_runs_the_pass_is_replaced_once() {
    // The loop ends at its fuel limit in the fresh child: the plugin is blamed for that, not for the kill.
    let sample = sample_with("pointwise-chain", &["float32/s0-1_"]);
    let run = Passhost::eval(&plugin("endless_loop"), sample.path())
        .with(&["--limit-fuel", "3000000000", "--limit-deadline", "5m"])
        .run_and_signal(": rewriting", "passhost-guest", Signal::KILL);
    run.expect_end(1, &["fuel limit", "the pass ran again in a fresh one"]);
}

#[test]
fn a_types_child_killed_between_two_questions_is_replaced() {
    let run = TwoSamples::new().eval().run_and_signal(": reference", "passhost-device types", Signal::KILL);
    run.expect_end(0, &[]);
    for document in run.json().as_array().into_iter().flatten() {
        for variant in document["variants"].as_array().into_iter().flatten() {
            run.expect(variant["failure"].is_null(), "it is nobody's fault");
        }
    }
}

/// A graph of so many calls that reading it takes a while.
fn long_graph(folder: &Path) -> std::io::Result<()> {
    let calls: String = (0..4000).map(|call| format!("        t_{} = torch.sin(t_{call})\n", call + 1)).collect();
    let model = format!(
        "import torch\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, in_0):\n        t_0 = torch.cos(in_0)\n{calls}        return (t_4000,)\n"
    );
    let record = "class Program_weight_tensor_meta_in_0:\n\tname = \"in_0\"\n\tshape = [8]\n\tdtype = \"torch.float32\"\n\tdevice = \"cpu\"\n\tmean = 0.0\n\tstd = 1.0\n\tdata = None\n";
    std::fs::write(folder.join("model.py"), model)?;
    std::fs::write(folder.join("weight_meta.py"), record)
}

#[test]
fn a_sample_that_kills_its_reader_costs_that_sample_alone() {
    let folder = directory();
    let written = long_graph(folder.path());
    assert!(written.is_ok(), "{written:?}");
    let long = folder.path().display().to_string();
    let [first, third] = ["se-gate-add-relu", "pointwise-chain"].map(|name| sample_with(name, SMALL));
    let run = Passhost::eval(&plugin("fuse-pointwise"), first.path())
        .with(&[&long, &third.path().display().to_string()])
        .run_and_kill_always(&format!("passhost-reader {long}"));
    run.expect_end(2, &["the reader process was killed by signal 9"]);
    let documents = run.json();
    run.expect(documents[1]["blame"] == "sample" && documents[1]["scores"].is_null(), "the sample is blamed");
    run.expect(documents[1]["failure"]["stage"] == "sample", "while it was read");
    for whole in [0, 2] {
        run.expect(documents[whole]["scores"]["aggregate_score"].is_f64(), "the others are scored");
        for variant in documents[whole]["variants"].as_array().into_iter().flatten() {
            run.expect(variant["failure"].is_null(), "the others are evaluated");
        }
    }
}

#[test]
fn a_model_that_kills_its_reader_is_not_cut_and_the_others_are() {
    let (long, out) = (directory(), directory());
    let written = long_graph(long.path());
    assert!(written.is_ok(), "{written:?}");
    let (long, list) = (long.path().display().to_string(), out.path().join("models.txt"));
    let written = std::fs::write(&list, format!("{long}\n{}\n", sample("pointwise-chain").display()));
    assert!(written.is_ok(), "{written:?}");
    let cut = Passhost::new([Path::new("decompose"), &list, Path::new("--out"), &out.path().join("pieces")]);
    let run = cut.with_json().run_and_kill_always(&format!("passhost-reader {long}"));
    run.expect_end(2, &["the reader process was killed by signal 9"]);
    let samples = &run.json()["samples"];
    run.expect(samples[0]["graphs"][0]["outcome"] == "crashed", "the model is lost");
    run.expect(samples[1]["graphs"][0]["outcome"] == "ok", "the other one is cut");
}

/// Answers questions about types, the first of them after whoever asks was killed.
struct Killer<'a> {
    types: TypesClient,
    reader: &'a str,
    kills: u32,
}

impl Infer for Killer<'_> {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        if self.kills > 0 {
            self.kills -= 1;
            assert!(signal_child(std::process::id(), self.reader, Signal::KILL), "it asks");
        }
        self.types.session().infer(op, args)
    }
}

#[test]
fn a_reader_killed_once_is_replaced_and_killed_twice_is_given_up() {
    let path = sample("single-gelu");
    let reader = format!("passhost-reader {}", path.display());
    let limit = Duration::from_secs(60);
    for (kills, expected) in [(0, None), (1, Some("a fresh reader read the sample")), (2, None)] {
        let opened = Sample::open(&path, Confinement::default());
        assert!(opened.is_ok(), "{:?}", opened.err());
        let Ok(mut opened) = opened else { return };
        let mut killer =
            Killer { types: TypesClient::new(Arc::default(), Confinement::default()), reader: &reader, kills };
        match opened.read(0, InputMode::Fresh, &mut killer, limit) {
            Ok(read) => {
                assert!(kills < 2, "it was killed twice");
                let notes = read.notes.join(" ");
                assert!(notes.contains(expected.unwrap_or("")) && notes.is_empty() == expected.is_none(), "{notes}");
            }
            Err(ReadError::Lost(error)) => {
                assert!(kills == 2 && error.to_string().contains("was killed by signal 9"), "{kills}: {error}");
            }
            Err(error) => assert!(kills > 2, "{error}"),
        }
        // What happened to one variant is nothing to the next.
        assert!(opened.read(1, InputMode::Fresh, &mut killer, limit).is_ok());
    }
}
