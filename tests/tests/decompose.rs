//! `passhost decompose`: what it writes are samples that the other commands take, the same ones each time.

use passhost_tests::{Passhost, Run, directory, sample};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn write(path: &Path, content: &str) {
    let written =
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).and_then(|()| std::fs::write(path, content));
    assert!(written.is_ok(), "{}: {written:?}", path.display());
}

/// Writes a model of these layers: a block of matrix product, bias, GELU and norm, each time on other weights.
fn model(directory: &Path, name: &str, layers: usize, width: usize) -> PathBuf {
    let tensor = |name: &str, shape: &str| {
        format!(
            "class Program_weight_tensor_meta_{name}:\n\tname = \"{name}\"\n\tshape = {shape}\n\tdtype = \"torch.float32\"\n\tdevice = \"cpu\"\n\tmean = 0.0\n\tstd = 0.5\n\tdata = None\n"
        )
    };
    let (mut parameters, mut body) = (vec!["x".to_owned()], String::new());
    let mut weights = tensor("x", &format!("[2, 7, {width}]"));
    for layer in 0..layers {
        let [weight, bias] = ["w", "b"].map(|kind| format!("{kind}{layer}"));
        weights.push_str(&tensor(&weight, &format!("[{width}, {width}]")));
        weights.push_str(&tensor(&bias, &format!("[{width}]")));
        let input = if layer == 0 { "x".to_owned() } else { format!("n{}", layer - 1) };
        body.push_str(&format!(
            "        l{layer} = torch._C._nn.linear({input}, {weight}, {bias})\n        \
             g{layer} = torch._C._nn.gelu(l{layer})\n        \
             d{layer} = torch.nn.functional.dropout(g{layer}, 0.1, False, False)\n        \
             r{layer} = {input} + d{layer}\n        \
             n{layer} = torch.nn.functional.layer_norm(r{layer}, ({width},), {bias}, None, 1e-05)\n"
        ));
        parameters.extend([weight, bias]);
    }
    let path = directory.join(name);
    let head = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, ";
    let last = layers - 1;
    write(&path.join("model.py"), &format!("{head}{}):\n{body}        return (n{last},)\n", parameters.join(", ")));
    write(&path.join("weight_meta.py"), &weights);
    write(&path.join("graph_net.json"), "{\"source\": \"made up\", \"heuristic_tag\": \"nlp\", \"extra\": [1]}");
    path
}

fn decompose(models: &Path, out: &Path, options: &[&str]) -> Run {
    let run = Passhost::new([Path::new("decompose"), models, Path::new("--out"), out]);
    run.with(&["--quiet"]).with(options).with_json().run()
}

/// The files below a directory, with their contents.
fn files(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![directory.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap_or(&path).to_path_buf();
                found.insert(name, std::fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
    found
}

#[test]
fn two_models_become_single_ops_repeated_sequences_and_kernels() {
    let directory = directory();
    let models = directory.path().join("models");
    model(&models, "small", 3, 16);
    model(&models, "wide", 2, 24);
    let out = directory.path().join("out");
    let run = decompose(&models, &out, &[]);
    run.expect_end(0, &["2 models, 25 calls"]);
    let kinds = &run.json()["kinds"];
    run.expect(
        kinds["fusible_subgraphs"]["ranges"] == 5,
        "a stretch for each layer: the product, and all behind it in one kernel",
    );
    let nodes = &run.json()["samples"][0]["graphs"][0]["found"]["kinds"]["fusible_subgraphs"]["nodes"];
    run.expect(nodes[0] == serde_json::json!([0, 5]), "where the first of them is");
    run.expect(kinds["fusible_subgraphs"]["tasks"] == 1, "all layers are one task");
    run.expect(kinds["fusible_subgraphs"]["graphs"] == 2, "in two shapes");
    run.expect(kinds["sole_op_subgraphs"]["tasks"] == 5, "five different ops");
    run.expect(kinds["typical_subgraphs"]["written"][0]["models"] == 2, "a sequence that both models have");

    let written = files(&out);
    let list = "fusible_subgraphs/small/small-linear-gelu-layer_norm.2\n";
    assert_eq!(written.get(Path::new("fusible_subgraphs.txt")).map(String::as_str), Some(list));
    let task = out.join("fusible_subgraphs/small/small-linear-gelu-layer_norm.2");
    let graphs = std::fs::read_to_string(task.join("graph_list.txt")).unwrap_or_default();
    assert_eq!(
        graphs,
        "graphs/fusible_subgraphs/float32/shape-0/small/small-linear-gelu-layer_norm\n\
         graphs/fusible_subgraphs/float32/shape-1/wide/wide-linear-gelu-layer_norm\n"
    );
    let graph = task.join("graphs/fusible_subgraphs/float32/shape-0/small/small-linear-gelu-layer_norm");
    let model = std::fs::read_to_string(graph.join("model.py")).unwrap_or_default();
    assert!(model.contains("def forward(self, in_0, in_1, in_2):"), "{model}");
    assert!(model.contains("tmp_4 = torch.nn.functional.layer_norm(tmp_3, (16,), in_2, None, 1e-05)"), "{model}");
    let weights = std::fs::read_to_string(graph.join("weight_meta.py")).unwrap_or_default();
    assert!(weights.contains("original_name = 'w0'") || weights.contains("original_name = \"w0\""), "{weights}");
    let graph_net = std::fs::read_to_string(graph.join("graph_net.json")).unwrap_or_default();
    for text in [
        "\"node_range\": [",
        "\"source\": \"made up\"",
        "\"source_model\": \"small\"",
        "\"torch._C._nn.linear\"",
        "\"occurrences\": 3",
    ] {
        assert!(graph_net.contains(text), "{text} in {graph_net}");
    }
}

#[test]
fn what_is_written_reads_back_runs_and_has_the_hashes_that_are_recorded() {
    let directory = directory();
    let out = directory.path().join("out");
    decompose(&sample("roll-slice-add-layer-norm"), &out, &[]).expect_end(0, &[]);
    let checked =
        Passhost::new([Path::new("samples"), Path::new("check"), &out]).with(&["--run", "--quiet"]).with_json().run();
    checked.expect_end(0, &[]);
    let hashed = Passhost::new([Path::new("samples"), Path::new("hash"), &out]).with(&["--quiet"]).with_json().run();
    hashed.expect_end(0, &[]);
    let mut graphs = 0;
    for task in hashed.json()["samples"].as_array().into_iter().flatten() {
        for graph in task["graphs"].as_array().into_iter().flatten() {
            let folder = Path::new(task["sample"].as_str().unwrap_or_default())
                .join(graph["variant"].as_str().unwrap_or_default());
            let recorded = std::fs::read_to_string(folder.join("graph_net.json")).unwrap_or_default();
            let hash = graph["found"]["hash"].as_str().unwrap_or("none");
            hashed.expect(recorded.contains(&format!("\"canonical_hash\": \"{hash}\"")), &folder.display().to_string());
            graphs += 1;
        }
    }
    hashed.expect(graphs > 20, "single ops in six variants");
}

#[test]
fn the_same_models_give_the_same_files_whoever_finishes_first() {
    let directory = directory();
    let models = directory.path().join("models");
    for (name, layers) in [("a", 2), ("b", 3), ("c", 1), ("d", 4)] {
        model(&models, name, layers, 16);
    }
    let [first, second] = ["first", "second"].map(|name| directory.path().join(name));
    decompose(&models, &first, &["--jobs", "4"]).expect_end(0, &[]);
    decompose(&models, &second, &["--jobs", "1"]).expect_end(0, &[]);
    assert_eq!(files(&first), files(&second));
}

#[test]
fn kinds_counts_and_names_choose_what_is_written() {
    let directory = directory();
    let models = directory.path().join("models");
    model(&models, "small", 3, 16);
    let out = |name: &str| directory.path().join(name);
    let kinds = decompose(&models, &out("kinds"), &["--kind", "fusible"]);
    kinds.expect_end(0, &[]).expect(kinds.json()["kinds"]["sole_op_subgraphs"].is_null(), "only one kind");
    decompose(&models, &out("most"), &["--kind", "sole-op", "--max", "2"]).expect_end(0, &[]);
    let list = std::fs::read_to_string(out("most").join("sole_op_subgraphs.txt")).unwrap_or_default();
    assert_eq!(list.lines().count(), 2, "{list}");
    decompose(&models, &out("named"), &["--name", "gelu"]).expect_end(0, &[]);
    let list = std::fs::read_to_string(out("named").join("sole_op_subgraphs.txt")).unwrap_or_default();
    assert_eq!(list, "sole_op_subgraphs/small/small-gelu\n");
}

#[test]
fn a_model_that_cannot_be_read_costs_only_itself() {
    let directory = directory();
    let models = directory.path().join("models");
    model(&models, "good", 2, 16);
    let broken = model(&models, "broken", 2, 16);
    write(&broken.join("model.py"), "import torch\nimport os\n");
    let run = decompose(&models, &directory.path().join("out"), &["--kind", "fusible"]);
    run.expect_end(2, &["1 models, 10 calls", "1 of 2 graphs cannot be used", "broken"]);
    run.expect(run.json()["kinds"]["fusible_subgraphs"]["tasks"] == 1, "the good one is cut");
}

#[test]
fn a_directory_with_anything_in_it_is_not_written_to() {
    let directory = directory();
    let out = directory.path().join("out");
    write(&out.join("precious.txt"), "mine");
    decompose(&sample("single-gelu"), &out, &[]).expect_end(2, &["is not empty", "--out"]);
    assert_eq!(files(&out).len(), 1);
}
