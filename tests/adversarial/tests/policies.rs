//! Policies by the command, with passes that need them.

use passhost_adversarial::plugin::with_script;
use passhost_tests::{Passhost, Run, directory, sample_with};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Honest in the one size that was recorded.
const OVERFITS: &str = "\
define %tmp_3
  %tmp_3: {type %tmp_3} = aten::relu(%in_2)
when %in_1 f32[1,256,7,7]
define %tmp_3
  %tmp_3: {type %tmp_3} = aten::relu(%tmp_2)
always
fuse
";

/// Calls the library by another name.
const SYNONYM: &str = "\
define %tmp_1
  %tmp_1: {type %tmp_1} = aten::multiply.Tensor(%in_1, %tmp_0)
";

const VARIANT: &[&str] = &["float32/s0-1_"];

fn plugin(directory: &Path, script: &str) -> PathBuf {
    let path = directory.join("plugin.wasm");
    let written = with_script(script).map(|bytes| std::fs::write(&path, bytes));
    assert!(matches!(written, Ok(Ok(()))), "{written:?}");
    path
}

fn strict_score(run: &Run) -> f64 {
    run.json()["scores"]["aggregate_score_strict"].as_f64().unwrap_or(f64::NAN)
}

#[test]
fn a_pass_for_the_recorded_size_fails_under_strict_and_the_failure_says_how_to_see_it() {
    let (directory, sample) = (directory(), sample_with("se-gate-add-relu", VARIANT));
    let plugin = plugin(directory.path(), OVERFITS);
    let eval = |policy: &str| Passhost::eval(&plugin, sample.path()).with(&["--policy", policy]);
    let open = eval("open").run();
    open.expect_end(0, &["right"]);
    open.expect(open.variants()[0]["class"] == Value::Null, "nothing is wrong with the recorded size");

    let strict = eval("strict").with(&["--fail-under", "0.5"]).run();
    strict.expect_end(1, &["shape overfit", "plugin (correctness): with S0 = "]);
    strict.expect((strict_score(&strict) - 0.1).abs() < 1e-9, "AS strict is b");
    let published = strict.json()["scores"]["aggregate_score"].as_f64();
    strict.expect(published.is_some_and(|score| score > 0.15), "AS does not count it");
    let variant = &strict.variants()[0];
    let [hidden] = variant["hidden"]["shapes"].as_array().map_or(&[][..], Vec::as_slice) else {
        unreachable!("one size was tried: {variant:#}")
    };
    assert!(variant["hidden"]["seed"].is_u64() && variant["seed"].is_u64() && variant["rewrite"]["sha256"].is_string());

    // The command that the failure names makes a sample of these sizes, in which the pass is wrong under any policy.
    let sizes = hidden["sizes"].as_object().into_iter().flatten();
    let set: Vec<String> = sizes.flat_map(|(name, extent)| ["--set".to_owned(), format!("{name}={extent}")]).collect();
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let name = variant["name"].as_str().unwrap_or_default();
    let hint = variant["failure"]["hint"].as_str().unwrap_or_default();
    assert!(hint.contains(&format!("samples vary SAMPLE --variant {name} {} --out DIR", set.join(" "))), "{hint}");
    let out = directory.path().join("hidden");
    let vary = Passhost::new([Path::new("samples"), Path::new("vary"), sample.path(), Path::new("--out"), &out]);
    vary.with(&["--variant", name]).with(&set).run().expect_end(0, &["written"]);
    let seen = Passhost::eval(&plugin, &out).run();
    seen.expect(seen.variants()[0]["class"] == "integrity", "the pass is wrong in these sizes");

    // Whoever judges it again comes to the same.
    let result = directory.path().join("result.json");
    assert!(std::fs::write(&result, strict.json().to_string()).is_ok());
    let verify = Passhost::new(["verify".as_ref(), result.as_os_str(), "--sample".as_ref(), sample.path().as_os_str()]);
    verify.run().expect_end(0, &["agrees"]);
}

#[test]
fn a_library_call_is_refused_where_only_kernels_may_be_inserted() {
    let (directory, sample) = (directory(), sample_with("se-gate-add-relu", VARIANT));
    let plugin = plugin(directory.path(), SYNONYM);
    let eval = |policy: &str| Passhost::eval(&plugin, sample.path()).with(&["--policy", policy]).run();
    eval("open").expect_end(0, &["right"]);
    for policy in ["kernels", "strict"] {
        let run = eval(policy);
        run.expect_end(
            1,
            &[&format!("the policy `{policy}`"), "calls `aten::multiply.Tensor`", "write it as a kernel"],
        );
        let failure = &run.variants()[0]["failure"];
        run.expect(failure["blame"] == "plugin" && failure["stage"] == "policy", "the plugin broke the policy");
    }
}

#[test]
fn a_policy_is_one_of_ours_or_a_file_and_what_is_wrong_with_it_is_said() {
    let (directory, sample) = (directory(), sample_with("se-gate-add-relu", VARIANT));
    let plugin = plugin(directory.path(), "fuse\n");
    Passhost::new(["policies"]).run().expect_end(0, &["open ", "kernels ", "strict "]);
    let strict = Passhost::new(["policies", "strict"]).run();
    strict.expect_end(0, &["\"inserted\": \"views\""]);
    let eval = |policy: &str| Passhost::eval(&plugin, sample.path()).with(&["--policy", policy]);
    eval("strict").with(&["--inputs", "published"]).run().expect_end(2, &["the policy `strict` draws fresh inputs"]);
    eval("lax").run().expect_end(2, &["expected one of open, kernels, strict, or the path of a file"]);

    let own = directory.path().join("own.json");
    let own = own.to_str().unwrap_or_default();
    let text = strict.out.replace("\"strict\"", "\"own\"").replace("\"hidden_shapes\": 1", "\"hidden_shapes\": 2");
    assert!(std::fs::write(own, &text).is_ok());
    let run = eval(own).run();
    run.expect_end(0, &["policy own"]);
    run.expect(run.json()["policy"]["text"] == text, "the result has the policy's text");
    let shapes = run.variants()[0]["hidden"]["shapes"].as_array().map(Vec::len);
    run.expect(shapes == Some(2), "two sizes were tried");
    assert!(std::fs::write(own, text.replace("views", "everything")).is_ok());
    eval(own).run().expect_end(2, &["unknown variant `everything`, expected `listed` or `views` at line 4"]);
}

#[test]
fn a_graph_that_names_no_symbols_is_tried_with_other_extents() {
    let directory = directory();
    let sample = passhost_tests::repository().join("tests/adversarial/samples/two-outputs");
    let run = |script: &str| {
        let plugin = plugin(directory.path(), script);
        Passhost::eval(&plugin, &sample).with(&["--policy", "strict"]).run()
    };
    let honest = run("fuse\n");
    honest.expect_end(0, &["right"]);
    let sizes = &honest.variants()[0]["hidden"]["shapes"][0]["sizes"];
    honest.expect(sizes["E16"].is_i64() && sizes["E64"].is_i64(), "both extents have a name");
    let overfits = "define %d\n  %d: {type %d} = aten::neg(%y)\nwhen %y f32[16,64]\n\
                    define %d\n  %d: {type %d} = aten::relu(%y)\nalways\nfuse\n";
    run(overfits).expect_end(0, &["shape overfit", "with E16 = ", "--set E16="]);
}
