//! `passhost samples vary`: other sizes and element types of one graph are a task that the other commands take.

use passhost_tests::{Passhost, Run, directory};
use std::path::Path;

/// A linear layer on a batch, whose size is baked into a `view`, and a norm.
const MODEL: &str = "\
import torch

class GraphModule(torch.nn.Module):
    def forward(self, s0: torch.SymInt, x: torch.Tensor, w: torch.Tensor):
        a = torch._C._nn.linear(x, w)
        b = a.view(2, -1, 4, 8)
        c = b.transpose(1, 2)
        d = torch.softmax(c, dim=-1)
        e = d.reshape(8, 5, 8)
        return (e,)
";

const CONSTRAINTS: &str = "\
from sympy import Symbol

S0 = Symbol(\"S0\")
S1 = Symbol(\"S1\")

dynamic_dim_constraint_symbols = [S0, S1]

dynamic_dim_constraint_symbol2example_value = {S0: 2, S1: 5}

dynamic_dim_constraint_relations = []

dynamic_dim_constraint_input_shapes = [
    ([], \"s0\"),
    ([S0, S1, 16], \"x\"),
    ([32, 16], \"w\"),
]
";

fn write_graph(folder: &Path) {
    let record = |name: &str, shape: &str, dtype: &str, rest: &str| {
        format!(
            "class Program_weight_tensor_meta_{name}:\n\tname = \"{name}\"\n\tshape = {shape}\n\tdtype = \"torch.{dtype}\"\n\t\
             device = \"cpu\"\n\t{rest}\n"
        )
    };
    let weights = [
        record("s0", "[]", "int64", "mean = None\n\tstd = None\n\tdata = [2]"),
        record("x", "[2, 5, 16]", "float32", "mean = 0.0\n\tstd = 1.0\n\tdata = None"),
        record("w", "[32, 16]", "float32", "mean = 0.0\n\tstd = 0.1\n\tdata = None"),
    ];
    let files = [
        ("model.py", MODEL.to_owned()),
        ("weight_meta.py", weights.join("\n")),
        ("input_tensor_constraints.py", CONSTRAINTS.to_owned()),
        ("graph_net.json", "{\"source\": \"made up\", \"model_name\": \"head\"}".to_owned()),
    ];
    for (name, text) in files {
        let written = std::fs::write(folder.join(name), text);
        assert!(written.is_ok(), "{name}: {written:?}");
    }
}

fn vary(graph: &Path, out: &Path, options: &[&str]) -> Run {
    let command = [Path::new("samples"), Path::new("vary"), graph, Path::new("--out"), out];
    Passhost::new(command).with(options).run()
}

#[test]
fn sizes_and_element_types_make_a_task_that_runs() {
    let directory = directory();
    write_graph(directory.path());
    let out = directory.path().join("task");
    let run = vary(directory.path(), &out, &["--set", "S0=2,3", "--set", "S1=7", "--dtype", "float32,bfloat16"]);
    run.expect_end(0, &["written S0=2 S1=7", "written S0=3 S1=7 bfloat16"]);
    let graphs = std::fs::read_to_string(out.join("graph_list.txt")).unwrap_or_default();
    assert_eq!(
        graphs,
        "graphs/models/float32/s0-2_s1-7/head\ngraphs/models/float32/s0-3_s1-7/head\n\
         graphs/models/bfloat16/s0-2_s1-7/head\ngraphs/models/bfloat16/s0-3_s1-7/head\n"
    );
    let varied = out.join("graphs/models/bfloat16/s0-3_s1-7/head");
    let text = |name: &str| std::fs::read_to_string(varied.join(name)).unwrap_or_default();
    assert!(text("model.py").contains("a.view(3, -1, 4, 8)"), "{}", text("model.py"));
    assert!(text("model.py").contains("d.reshape(12, 7, 8)"), "{}", text("model.py"));
    assert!(text("weight_meta.py").contains("torch.bfloat16"), "{}", text("weight_meta.py"));
    assert!(text("input_tensor_constraints.py").contains("{S0: 3, S1: 7}"));
    assert!(text("graph_net.json").contains("\"source\": \"made up\""));

    let checked = Passhost::new([Path::new("samples"), Path::new("check"), &out]).with(&["--run", "--quiet"]).run();
    checked.expect_end(0, &["4 graphs of 1 sample"]);
}

#[test]
fn what_is_not_possible_is_refused_with_the_reason() {
    let directory = directory();
    write_graph(directory.path());
    let out = |name: &str| directory.path().join(name);
    let unknown = vary(directory.path(), &out("unknown"), &["--set", "S7=2"]);
    unknown.expect_end(2, &["refused S7=2: there is no symbol `S7`; the graph has S0, S1"]);
    let zero = vary(directory.path(), &out("zero"), &["--set", "S0=0,2"]);
    zero.expect_end(0, &["refused S0=0: `S0` = 0: expected a value between 1", "written S0=2"]);
    vary(directory.path(), &out("syntax"), &["--set", "S0"]).expect_end(2, &["write S0=1,4,16"]);
    vary(directory.path(), directory.path(), &[]).expect_end(2, &["is not empty", "--out"]);
}
