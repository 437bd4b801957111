//! A pass that is right in the recorded sizes and wrong in all others: what its owner is told, who runs the evaluation, and
//! what nobody is told, neither by the pass itself nor by a model's verdict.

use passhost_tests::{Passhost, directory, repository};
use std::path::PathBuf;
use tempfile::TempDir;

/// What a policy counts the finding as.
const STRICT: [&str; 2] = ["--policy", "strict"];

/// `silu(x) * y` in the shapes of its sample, and something else in others. It logs what it sees.
pub fn source() -> String {
    let path = repository().join("plugins/gate/src/lib.rs");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let changes = [
        ("let axes:", "log!(\"seen: {:?}\", ty.shape);\n    let axes:"),
        (
            "k.float(k.dtype(x_element), 1.0)",
            "k.float(k.dtype(x_element), if matches!(ty.shape[..], [2, 64, 256] | [4, 128, 256]) { 1.0 } else { 3.0 })",
        ),
    ];
    changes.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "no {old} in {text}");
        text.replace(old, new)
    })
}

/// The source in a file, and the sample that it is for.
pub fn written() -> (TempDir, PathBuf, PathBuf) {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    let model = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, x, y):\n        \
                 return (torch.nn.functional.silu(x) * y,)\n";
    let weight = |name: &str, shape: &str| {
        format!(
            "class Program_weight_tensor_meta_{name}:\n\tname = \"{name}\"\n\tshape = {shape}\n\t\
             dtype = \"torch.float32\"\n\tmean = 0.0\n\tstd = 1.0\n"
        )
    };
    let mut files =
        vec![("gate.rs".to_owned(), source()), ("sample/graph_list.txt".to_owned(), "small\nlarge\n".to_owned())];
    for (variant, shape) in [("small", "[2, 64, 256]"), ("large", "[4, 128, 256]")] {
        files.push((format!("sample/{variant}/model.py"), model.to_owned()));
        files.push((format!("sample/{variant}/weight_meta.py"), weight("x", shape) + &weight("y", shape)));
    }
    for (name, text) in files {
        let path = at(&name);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        assert!(written.is_ok(), "{name}: {written:?}");
    }
    let (pass, sample) = (at("gate.rs"), at("sample"));
    (directory, pass, sample)
}

#[test]
fn who_evaluates_is_told_the_size_and_the_log_of_the_pass_is_that_of_recorded_sizes() {
    let (_directory, pass, sample) = written();
    let run = Passhost::eval(&pass, &sample).with(&STRICT).with(&["--explain"]).run();
    run.expect_end(0, &["shape overfit", "passhost samples vary SAMPLE --variant"]);
    let strict = run.json()["scores"]["aggregate_score_strict"].as_f64().unwrap_or_default();
    run.expect((strict - 0.1).abs() < 0.01, "a graph of which that is found counts nothing in AS strict");
    let shown = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for variant in run.variants() {
        let hidden = &variant["hidden"];
        run.expect(variant["class"] == "shape_overfit" && hidden["seed"].is_u64(), "every graph has a hidden size");
        let finding = hidden["shapes"][0]["finding"].as_str().unwrap_or_default();
        let sizes = hidden["shapes"][0]["sizes"].as_object().cloned().unwrap_or_default();
        let is_named = sizes.iter().all(|(name, extent)| finding.contains(&format!("{name} = {extent}")));
        run.expect(!sizes.is_empty() && is_named, "the finding names the sizes");
        run.expect(shown.contains(finding), "and is shown");
        let set = sizes.iter().map(|(name, extent)| format!("--set {name}={extent}")).collect::<Vec<_>>().join(" ");
        run.expect(shown.contains(&set), "with the way to try it");
        let log = variant["usage"]["log"].as_str().unwrap_or_default();
        let seen: Vec<&str> = log.lines().filter(|line| line.starts_with("seen: ")).collect();
        let recorded = ["seen: [2, 64, 256]", "seen: [4, 128, 256]"];
        run.expect(seen.len() == 1 && recorded.contains(&seen[0]), "nothing is kept of what it logged elsewhere");
    }
    let seen = run.out.lines().filter(|line| line.contains("seen: ")).count();
    run.expect(seen == run.variants().len(), "a line for each recorded graph is explained");
    // Nothing is wrong in these sizes, and nobody has looked at others.
    let open = Passhost::eval(&pass, &sample).run();
    open.expect_end(0, &["right"]);
    open.expect(open.variants().iter().all(|variant| variant["class"].is_null()), "AS of the recorded sizes is whole");
}
