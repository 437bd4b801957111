//! Evaluations of the reference plugins on the shipped samples.

use passhost_tests::{Passhost, Run, SMALL, plugin, repository, sample, sample_with};
use serde_json::Value;

/// Fails unless every output of a variant is right at the default tolerances of torch and nothing was found against it.
/// Half types may differ where eager itself is far from the truth; returns how many outputs were held to it.
fn expect_right(run: &Run, name: &str, variant: &Value) -> usize {
    let outputs = variant["outputs"].as_array().map_or(&[][..], Vec::as_slice);
    run.expect(!outputs.is_empty(), &format!("{name}: outputs were compared"));
    let judged = outputs.iter().filter(|output| output["truth"]["eager_passes"] != Value::Bool(false));
    let right = |output: &Value| output["passes_at"].as_i64().is_some_and(|t| t <= -5);
    run.expect(judged.clone().all(right), &format!("{name}: {variant:#}"));
    run.expect(variant["findings"] == Value::Array(vec![]), &format!("{name}: nothing is found"));
    judged.count()
}

#[test]
fn fuse_pointwise_is_right_at_the_torch_defaults_wherever_it_fuses() {
    // What precedes the norm is a single op, which is left to ATen. One sample shows what large tensors change.
    let samples: [(&str, &[&str], usize, i32); 4] = [
        ("se-gate-add-relu", &["/"], 6, 1),
        ("residual-add-layer-norm", SMALL, 3, 0),
        ("attention-bias-softmax", SMALL, 3, 1),
        ("pointwise-chain", SMALL, 3, 1),
    ];
    let mut judged = 0;
    for (name, variants, count, kernels) in samples {
        let sample = sample_with(name, variants);
        // Large tensors are shared out among threads.
        let run = match variants == SMALL {
            true => Passhost::eval(&plugin("fuse-pointwise"), sample.path()),
            false => Passhost::eval_within("50ms", &plugin("fuse-pointwise"), sample.path()),
        };
        let run = run.run();
        run.expect_end(0, &["AS "]);
        assert_eq!(run.variants().len(), count, "{name}");
        for variant in run.variants() {
            run.expect(variant["rewrite"]["kernels"] == kernels, &format!("{name}: {kernels} kernels, {variant:#}"));
            if kernels > 0 {
                judged += expect_right(&run, name, variant);
            }
        }
    }
    // Those in float32. In half types eager itself is often as far from the truth.
    assert!(judged >= 4, "only {judged} outputs of 12 variants were held to the tolerances");
}

#[test]
fn fuse_norms_makes_one_kernel_of_a_norm_and_what_surrounds_it() {
    for (name, variants) in [("residual-add-layer-norm", &["/"][..]), ("attention-bias-softmax", SMALL)] {
        let run = Passhost::eval(&plugin("fuse-norms"), sample_with(name, variants).path()).run();
        run.expect_end(0, &["AS "]);
        for variant in run.variants() {
            assert_eq!(variant["rewrite"]["kernels"], 1, "{name}: {variant:#}");
            assert_eq!(variant["findings"], Value::Array(vec![]), "{name}");
            let outputs = variant["outputs"].as_array().map_or(&[][..], Vec::as_slice);
            run.expect(!outputs.is_empty(), "outputs were compared");
            for output in outputs {
                assert!(output["passes_at"].as_i64().is_some_and(|t| t <= -5), "{name}: {variant:#}");
            }
        }
    }
}

#[test]
fn autofuse_is_right_at_the_torch_defaults_on_chains_and_on_norms() {
    for (name, variants) in [("residual-add-layer-norm", &["/"][..]), ("pointwise-chain", SMALL)] {
        let run = Passhost::eval(&plugin("autofuse"), sample_with(name, variants).path()).run();
        run.expect_end(0, &["AS "]);
        for variant in run.variants() {
            run.expect(variant["rewrite"]["kernels"] == 1, &format!("{name}: one kernel, {variant:#}"));
            expect_right(&run, name, variant);
        }
    }
}

#[test]
fn masked_mean_pool_finds_its_ops() {
    let run = Passhost::eval(&plugin("masked-mean-pool"), sample_with("masked-mean-pool", SMALL).path()).run();
    run.expect_end(0, &["AS "]);
    for variant in run.variants() {
        assert_eq!(variant["rewrite"]["kernels"], 1, "{variant:#}");
        assert!(variant["outputs"][0]["passes_at"].as_i64().is_some_and(|t| t <= -5), "{variant:#}");
    }
}

#[test]
fn noop_is_a_pass_miss_on_every_variant_and_scores_b() {
    let run = Passhost::eval(&plugin("noop"), sample_with("se-gate-add-relu", SMALL).path()).run();
    run.expect_end(0, &["unchanged"]);
    let document = run.json();
    for variant in run.variants() {
        assert_eq!(variant["class"], "pass_miss");
    }
    let score = document["scores"]["aggregate_score"].as_f64().unwrap_or_default();
    assert!((score - 0.1).abs() < 1e-9, "{score}");
    // The document alone gives the same score again.
    let path = tempfile::NamedTempFile::new().map(tempfile::NamedTempFile::into_temp_path);
    assert!(path.is_ok(), "{path:?}");
    let Ok(path) = path else { return };
    assert!(std::fs::write(&path, document.to_string()).is_ok());
    Passhost::new(["score".as_ref(), path.as_os_str()]).run().expect_end(0, &["AS 0.100000"]);
}

#[test]
fn several_samples_share_one_call_and_one_device() {
    let [gate, gelu] = ["se-gate-add-relu", "single-gelu"].map(|name| sample_with(name, SMALL));
    let [first, second] = [&gate, &gelu].map(|folder| folder.path().display().to_string());
    let run = Passhost::eval(&plugin("fuse-pointwise"), gate.path()).with(&[&second]).run();
    let name = |path: &str| format!("on {}", path.rsplit('/').next().unwrap_or_default());
    run.expect_end(0, &[&name(&first), &name(&second), "6 graphs of 2 samples: 3 right, 3 unchanged"]);
    assert_eq!(run.out.matches("device: ").count(), 1);
    assert_eq!(run.json().as_array().map(Vec::len), Some(2));
}

#[test]
fn a_variant_is_measured_in_three_processes_or_not_at_all() {
    let sample = sample_with("se-gate-add-relu", &["/float32/s0-1_"]);
    let run = Passhost::eval(&plugin("fuse-pointwise"), sample.path()).in_earnest().with(&["--submissions", "5"]).run();
    let variant = &run.variants()[0];
    let timing = &variant["timing"];
    let document = run.document.clone().unwrap_or_default();
    run.expect(timing["processes"].as_array().is_some_and(|all| all.len() == 3), "three processes have timed");
    // Other tests run beside this one: both ends are possible, and each must be consistent.
    if timing["trouble"].is_null() {
        run.expect_end(0, &["AS ", "over device time: AS", "false-positive rate <= 0.1% over 5 submissions"]);
        run.expect(document["confidence"]["submissions"] == 5, "the submissions are recorded");
    } else {
        run.expect_end(3, &["not measured", "--wait 5m", "--quick", "no score"]);
        run.expect(document["scores"].is_null() && variant["failure"]["blame"] == "host", "nothing is scored");
    }
}

#[test]
fn a_list_of_samples_is_a_sample_argument() {
    let directory = tempfile::tempdir();
    assert!(directory.is_ok(), "{directory:?}");
    let Ok(directory) = directory else { return };
    let list = directory.path().join("two.txt");
    let samples = ["residual-add-layer-norm", "attention-bias-softmax"].map(|name| sample_with(name, SMALL));
    let paths = samples.each_ref().map(|folder| folder.path().display().to_string());
    assert!(std::fs::write(&list, format!("# two of them\n{}\n", paths.join("\n"))).is_ok());
    let run = Passhost::eval(&plugin("noop"), &list).run();
    let names = paths.each_ref().map(|path| format!("on {}", path.rsplit('/').next().unwrap_or_default()));
    run.expect_end(0, &names.each_ref().map(String::as_str));
}

#[test]
fn a_fixed_seed_marks_the_result() {
    let run =
        Passhost::eval(&plugin("noop"), sample_with("pointwise-chain", SMALL).path()).with(&["--seed", "1"]).run();
    run.expect_end(0, &["fixed seed"]);
    assert_eq!(run.json()["job"]["fixed_seed"], true);
}

#[test]
fn a_missed_threshold_is_exit_code_one() {
    let run = Passhost::eval(&plugin("noop"), sample_with("pointwise-chain", SMALL).path())
        .with(&["--fail-under", "0.5"])
        .run();
    run.expect_end(1, &["AS 0.10"]);
}

#[test]
fn output_has_no_colour_and_fits_a_narrow_terminal_when_asked() {
    // Of several types and shapes, so that the names of variants are long.
    let sample = sample_with("pointwise-chain", &["float32/", "/float16/s0-1_"]);
    let run = Passhost::eval(&plugin("fuse-pointwise"), sample.path())
        .variable("COLUMNS", "60")
        .variable("NO_COLOR", "1")
        .run();
    run.expect_end(0, &[]);
    run.expect(!run.out.contains('\u{1b}'), "no escapes");
    let table: Vec<&str> = run.out.lines().filter(|line| line.contains("float32/")).collect();
    run.expect(!table.is_empty(), "the table has lines");
    for line in table {
        assert!(line.chars().count() <= 60, "{line}");
    }
}

#[test]
fn the_score_vectors_give_one_entry_per_case_in_order() {
    let vectors = repository().join("tests/vectors/score-vectors.json");
    let run = Passhost::new(["score".as_ref(), vectors.as_os_str(), "--json".as_ref(), "-".as_ref()]).run();
    run.expect_end(0, &[]);
    let result: Value = serde_json::from_str(&run.out).unwrap_or_default();
    let given: Value =
        std::fs::read_to_string(&vectors).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let (cases, expected) = (result["cases"].as_array(), given["cases"].as_array());
    let (Some(cases), Some(expected)) = (cases, expected) else { unreachable!("both have cases: {}", run.out) };
    assert_eq!(cases.len(), expected.len());
    let scored = expected.iter().filter(|case| case["expected_AS"].is_f64()).count();
    assert!(scored > 0, "no case says what its score is");
    for (index, (case, expected)) in cases.iter().zip(expected).enumerate() {
        if let Some(score) = expected["expected_AS"].as_f64() {
            let found = case["AS"].as_f64().unwrap_or(f64::NAN);
            assert!((found - score).abs() < 1e-9, "case {index}: {found} instead of {score}");
        }
        assert!(case["S"]["-10"].is_f64() && case["ES"]["4"].is_f64(), "case {index}: {case}");
    }
}

#[test]
fn show_prints_the_graph_before_and_after_a_plugin() {
    let run = Passhost::new([
        "show".as_ref(),
        sample("se-gate-add-relu").as_os_str(),
        "--after".as_ref(),
        plugin("fuse-pointwise").as_os_str(),
        "--device".as_ref(),
        "cpu".as_ref(),
    ])
    .run();
    run.expect_end(0, &["aten::sigmoid(", "= kernel(", "# verified"]);
}

#[test]
fn doctor_reports_every_part() {
    Passhost::new(["doctor", "--device", "cpu"])
        .run()
        .expect_end(0, &["guest process", "reader process", "types process", "plugin cache", "torch 2.11"]);
}
