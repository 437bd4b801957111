//! What the calls of a sample come to: every form of the FX Python subset, typed by PyTorch's own inference.
//!
//! The cases are one task; `passhost show` prints the graph of each. `UPDATE_EXPECT=1` writes `reader/graphs.txt` again.

use passhost_tests::{Passhost, repository};
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

/// A case: a name, the parameters (`name dtype shape`, `name symbol value`, `name dtype shape = elements`) and the body.
fn cases(text: &str) -> Vec<(String, Vec<String>, Vec<String>)> {
    let mut cases: Vec<(String, Vec<String>, Vec<String>)> = vec![];
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            cases.push((name.replace(' ', "-"), vec![], vec![]));
        } else if let Some((_, parameters, body)) = cases.last_mut() {
            match line.strip_prefix(": ") {
                Some(parameter) => parameters.push(parameter.to_owned()),
                None => body.push(line.to_owned()),
            }
        }
    }
    cases
}

fn write_graph(folder: &Path, parameters: &[String], body: &[String]) -> std::io::Result<()> {
    let (mut weights, mut signature) = (String::new(), String::from("self"));
    for parameter in parameters {
        let (head, data) = parameter.split_once(" = ").unwrap_or((parameter, ""));
        let words: Vec<&str> = head.split_whitespace().collect();
        let (name, kind) = (words[0], words[1]);
        let symbol = kind == "symbol";
        let extents = words[2..].join(" ");
        let (dtype, shape, data) =
            if symbol { ("int64", "", extents.as_str()) } else { (kind, extents.as_str(), data) };
        let data = if data.is_empty() { "None".to_owned() } else { format!("[{data}]") };
        let _ = write!(signature, ", {name}{}", if symbol { ": torch.SymInt" } else { ": torch.Tensor" });
        let _ = writeln!(
            weights,
            "class Program_weight_tensor_meta_{name}:\n\tname = \"{name}\"\n\tshape = [{shape}]\n\tdtype = \"torch.{dtype}\"\n\tdevice = \"cpu\"\n\tmean = 0.1\n\tstd = 1.0\n\tdata = {data}\n"
        );
    }
    let body: String = body.iter().map(|line| format!("        {line}\n")).collect();
    let model = format!(
        "import torch\nfrom torch import device, inf\n\nclass GraphModule(torch.nn.Module):\n    def forward({signature}):\n{body}"
    );
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("model.py"), model)?;
    std::fs::write(folder.join("weight_meta.py"), weights)
}

#[test]
fn every_form_of_call_becomes_the_ops_that_pytorch_calls() -> std::io::Result<()> {
    let here = repository().join("tests/tests/reader");
    let directory = tempfile::tempdir()?;
    let mut list = String::new();
    for (name, parameters, body) in cases(&std::fs::read_to_string(here.join("cases.txt"))?) {
        write_graph(&directory.path().join(&name), &parameters, &body)?;
        let _ = writeln!(list, "{name}");
    }
    std::fs::write(directory.path().join("graph_list.txt"), list)?;
    let options = ["show", "--all", "--reference"].map(OsStr::new);
    let run = Passhost::new(options.into_iter().chain([directory.path().as_os_str()])).run();
    run.expect_end(0, &[]);
    let found: String = run
        .out
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(title) => format!("\n# {}\n", title.rsplit(' ').next().unwrap_or(title)),
            None => format!("{line}\n"),
        })
        .collect();
    let golden = here.join("graphs.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return std::fs::write(golden, found.trim_start());
    }
    let expected = std::fs::read_to_string(golden)?;
    let (found, expected) = (found.trim_start(), expected.as_str());
    let first = found.lines().zip(expected.lines()).position(|(a, b)| a != b);
    run.expect(found == expected, &format!("line {first:?} of graphs.txt differs; UPDATE_EXPECT=1 writes it again\n"));
    Ok(())
}
