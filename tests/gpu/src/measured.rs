//! Evaluations by the real programs that a quiet GPU must measure: of graphs that run for milliseconds, by a budget that has
//! room for few pairs, and of one that overwrites an input.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Share of the graphs that may be not measured.
const MOST: f64 = 0.05;

/// What follows the product or the convolution, each line of what `x` was before.
const EPILOGUES: [&[&str]; 8] = [
    &["torch.nn.functional.relu(x)"],
    &["torch.nn.functional.gelu(x)", "x * 0.5"],
    &["torch.sigmoid(x)", "x + 0.25", "torch.tanh(x)"],
    &["torch.nn.functional.hardswish(x)", "torch.nn.functional.relu(x)"],
    &["x * 2.0", "torch.nn.functional.leaky_relu(x, 0.1)", "torch.clamp(x, -1.0, 1.0)"],
    &["torch.nn.functional.silu(x)", "x / 3.0", "torch.tanh(x)"],
    &["torch.nn.functional.softplus(x)", "torch.tanh(x)", "x - 0.5"],
    &["torch.nn.functional.elu(x)", "torch.sigmoid(x)", "x * 1.5", "torch.nn.functional.relu(x)"],
];

/// A call on `in_0`, `in_1` and `in_2`, and their shapes.
struct Base {
    name: &'static str,
    call: &'static str,
    shapes: [&'static [i64]; 3],
}

const BASES: [Base; 6] = [
    Base { name: "conv-64", call: CONV, shapes: [&[128, 64, 128, 128], &[64, 64, 3, 3], &[64]] },
    Base { name: "conv-128", call: CONV, shapes: [&[128, 64, 128, 128], &[128, 64, 3, 3], &[128]] },
    Base { name: "conv-32", call: CONV, shapes: [&[64, 32, 256, 256], &[64, 32, 3, 3], &[64]] },
    Base { name: "gemm-8192", call: LINEAR, shapes: [&[1024, 8192], &[8192, 8192], &[8192]] },
    Base { name: "gemm-4096", call: LINEAR, shapes: [&[4096, 4096], &[4096, 4096], &[4096]] },
    Base { name: "gemm-16384", call: LINEAR, shapes: [&[1024, 8192], &[16384, 8192], &[16384]] },
];
const CONV: &str = "torch.conv2d(in_0, in_1, in_2, 1, 1)";
const LINEAR: &str = "torch.nn.functional.linear(in_0, in_1, in_2)";

/// Overwrites its first input.
const OVERWRITES: [&str; 4] = ["in_0 += in_1", "x = in_0", "x = torch.nn.functional.relu(x)", "x = x * in_1"];
const OVERWRITTEN: [&[i64]; 2] = [&[64, 512, 512], &[64, 512, 512]];

/// The programs and what they evaluate.
pub(crate) struct Evaluation<'a> {
    pub(crate) passhost: &'a Path,
    pub(crate) plugin: &'a Path,
    pub(crate) budget: &'a str,
}

impl Evaluation<'_> {
    fn run(&self, samples: &[PathBuf], options: &[&str]) -> Result<Vec<Value>> {
        let json = tempfile_path("json");
        let output = Command::new(self.passhost)
            .args(["eval", "--device", "cuda", "--budget", self.budget, "--json"])
            .arg(&json)
            .args(options)
            .arg(self.plugin)
            .args(samples)
            .output()
            .with_context(|| format!("starting {}", self.passhost.display()))?;
        let Ok(text) = fs::read_to_string(&json) else {
            bail!("no result\n{}", String::from_utf8_lossy(&output.stderr));
        };
        let _ = fs::remove_file(&json);
        let document: Value = serde_json::from_str(&text)?;
        Ok(document.as_array().cloned().unwrap_or_else(|| vec![document.clone()]))
    }
}

fn tempfile_path(ending: &str) -> PathBuf {
    std::env::temp_dir().join(format!("passhost-measured-{}.{ending}", std::process::id()))
}

/// So many graphs of bases and epilogues, and one that overwrites an input.
pub(crate) fn run(evaluation: &Evaluation<'_>, count: usize) -> Result<()> {
    let directory = tempfile_path("samples");
    let result = overwriting(evaluation, &directory).and_then(|()| large(evaluation, &directory, count));
    let _ = fs::remove_dir_all(&directory);
    result
}

/// The device's own time of a program that overwrites an input is known, launched op by op and as one graph.
fn overwriting(evaluation: &Evaluation<'_>, directory: &Path) -> Result<()> {
    let sample = directory.join("overwrites");
    write_sample(&sample, &OVERWRITES.map(str::to_owned), &OVERWRITTEN)?;
    for launch in ["stream", "graph"] {
        let documents = evaluation.run(std::slice::from_ref(&sample), &["--launch", launch])?;
        let variant = &documents.first().context("no document")?["variants"][0];
        let timing = &variant["timing"];
        let note = timing["processes"][0]["device_note"].as_str().unwrap_or("no times").to_owned();
        let number = |key: &str| timing[key].as_f64();
        let all = ["eager_us", "eager_device_us", "rewritten_us", "rewritten_device_us", "speedup_device"].map(number);
        let [Some(eager), Some(eager_device), Some(rewritten), Some(rewritten_device), Some(speedup)] = all else {
            bail!("overwritten input, --launch {launch}: no device time: {note}{}", variant["failure"]);
        };
        println!(
            "ok      overwritten input, --launch {launch}: eager {eager:.1} us, its device {eager_device:.1}; rewritten \
             {rewritten:.1} us, its device {rewritten_device:.1}; {speedup:.2} times as fast on the device"
        );
        ensure!(eager_device <= eager * 1.1 && rewritten_device <= rewritten * 1.1, "a device takes longer than a run");
    }
    Ok(())
}

fn large(evaluation: &Evaluation<'_>, directory: &Path, count: usize) -> Result<()> {
    let mut samples = vec![];
    for number in 0..count {
        let (base, epilogue) = (&BASES[number % BASES.len()], EPILOGUES[number / BASES.len() % EPILOGUES.len()]);
        let sample = directory.join(format!("{number}-{}", base.name));
        let mut lines = vec![format!("x = {}", base.call)];
        lines.extend(epilogue.iter().map(|call| format!("x = {call}")));
        write_sample(&sample, &lines, &base.shapes)?;
        samples.push(sample);
    }
    let documents = evaluation.run(&samples, &[])?;
    let (mut unmeasured, mut again, mut disturbed, mut blocks) = (vec![], 0, 0, 0);
    for document in &documents {
        for variant in document["variants"].as_array().into_iter().flatten() {
            let timing = &variant["timing"];
            let name = document["job"]["sample"].as_str().unwrap_or("?").rsplit('/').next().unwrap_or("?");
            let failure = &variant["failure"];
            let message = failure["message"].as_str().unwrap_or("");
            if failure["stage"] == "timing" {
                unmeasured.push(format!("{name}: {message}"));
            } else if !failure.is_null() {
                println!("failed  {name}: {message}");
            }
            let list = |value: &Value| value.as_array().map_or(0, Vec::len);
            again += usize::from(timing["attempts"].as_u64().unwrap_or(1) > 1);
            disturbed += list(&timing["disturbed"]);
            let of_process = |times: &Value| list(&times["control"]) + list(&times["pairs"]);
            blocks += timing["processes"].as_array().into_iter().flatten().map(of_process).sum::<usize>();
            let number = |key: &str| timing[key].as_f64().map_or("-".to_owned(), |us| format!("{us:.0}"));
            println!(
                "{name:16} eager {:>6} us, its device {:>6}, rewritten {:>6} us, its device {:>6}, speedup {:.3}",
                number("eager_us"),
                number("eager_device_us"),
                number("rewritten_us"),
                number("rewritten_device_us"),
                timing["speedup"].as_f64().unwrap_or(f64::NAN)
            );
        }
    }
    for why in &unmeasured {
        println!("not measured: {why}");
    }
    let share = unmeasured.len() as f64 / count as f64;
    println!(
        "{count} graphs: {} not measured ({:.1}%), {again} timed more than once, {disturbed} of {blocks} blocks did not count",
        unmeasured.len(),
        100.0 * share
    );
    ensure!(share <= MOST, "a quiet GPU measures all but {:.0}%", 100.0 * MOST);
    println!("ok      graphs that run for milliseconds are measured");
    Ok(())
}

/// A graph whose inputs `in_0`, `in_1` and so on are normal, and whose result is `x`.
fn write_sample(directory: &Path, lines: &[String], shapes: &[&[i64]]) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    let names: Vec<String> = (0..shapes.len()).map(|at| format!("in_{at}")).collect();
    let mut model = format!(
        "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, {}):\n",
        names.join(", ")
    );
    lines.iter().try_for_each(|line| writeln!(model, "        {line}"))?;
    model.push_str("        return (x,)\n");
    let mut weights = String::new();
    for (name, shape) in names.iter().zip(shapes) {
        // Sums over the last dimensions of a weight stay about 1.
        let std = if name == "in_1" { (shape[1..].iter().product::<i64>() as f64).sqrt().recip() } else { 1.0 };
        writeln!(
            weights,
            "class Program_weight_tensor_meta_{name}:\n\tname = \"{name}\"\n\tshape = {shape:?}\n\tdtype = \"torch.float32\"\n\t\
             device = \"cuda:0\"\n\tmean = 0.0\n\tstd = {std}\n\tdata = None\n\n"
        )?;
    }
    fs::write(directory.join("model.py"), model)?;
    fs::write(directory.join("weight_meta.py"), weights)?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_what_was_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        write_sample(directory.path(), &["x = in_0 * in_1".to_owned()], &[&[4, 2], &[4, 16]]).unwrap();
        let model = fs::read_to_string(directory.path().join("model.py")).unwrap();
        assert!(
            model.ends_with("forward(self, in_0, in_1):\n        x = in_0 * in_1\n        return (x,)\n"),
            "{model}"
        );
        let weights = fs::read_to_string(directory.path().join("weight_meta.py")).unwrap();
        assert!(weights.contains("shape = [4, 16]\n") && weights.contains("std = 0.25\n"), "{weights}");
    }
}
