//! Every plugin on every sample, by the real programs.

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What was seen of all variants.
#[derive(Debug, Default)]
struct Totals {
    variants: u32,
    fused: u32,
    /// Wrong at t = -5 where eager itself is right there.
    wrong: Vec<String>,
    /// The same where eager is not right either.
    both_wrong: Vec<String>,
    slower: Vec<String>,
    failed: Vec<String>,
    /// Plugin and variant, with the medians of eager and rewritten in microseconds.
    times: Times,
}

/// Plugin and variant with the medians of eager and rewritten, in microseconds.
pub(crate) type Times = Vec<(String, f64, f64)>;

/// Evaluates each plugin on each of the samples that a path names and prints a line for each variant that has a kernel. The verdict is
/// an error if one of them is wrong where eager is right, or fails.
///
/// # Errors
///
/// If nothing can be evaluated, or a plugin puts a kernel into no variant.
pub(crate) fn run(passhost: &Path, samples: &Path, plugins: &[PathBuf], budget: &str) -> Result<(Times, Result<()>)> {
    let mut totals = Totals::default();
    println!(
        "{:18} {:58} {:>7} {:>9} {:>9} {:>7} {:>6}",
        "plugin", "variant", "kernels", "eager us", "ours us", "speedup", "t"
    );
    for plugin in plugins {
        let json = std::env::temp_dir().join(format!("passhost-gpu-{}.json", std::process::id()));
        let output = Command::new(passhost)
            .args(["eval", "--device", "cuda", "--budget", budget, "--json"])
            .arg(&json)
            .arg(plugin)
            .arg(samples)
            .output()
            .with_context(|| format!("starting {}", passhost.display()))?;
        let Ok(text) = std::fs::read_to_string(&json) else {
            bail!("{}: no result\n{}", plugin.display(), String::from_utf8_lossy(&output.stderr));
        };
        let _ = std::fs::remove_file(&json);
        let documents: Value = serde_json::from_str(&text)?;
        let name = plugin.file_stem().unwrap_or_default().to_string_lossy();
        let fused = totals.fused;
        for document in documents.as_array().into_iter().flatten() {
            let sample = document["job"]["sample"].as_str().unwrap_or("?");
            if let Some(message) = document["failure"]["message"].as_str() {
                totals.failed.push(format!("{name} on {sample}: {message}"));
            }
            for variant in document["variants"].as_array().into_iter().flatten() {
                note(&name, sample, variant, &mut totals);
            }
        }
        ensure!(totals.fused > fused, "{name} puts a kernel into no variant of any sample");
    }
    println!(
        "{} variants, {} with kernels; {} failed, {} wrong where eager is right, {} where it is not, {} slower than eager",
        totals.variants,
        totals.fused,
        totals.failed.len(),
        totals.wrong.len(),
        totals.both_wrong.len(),
        totals.slower.len()
    );
    let lists = [("failed", &totals.failed), ("wrong", &totals.wrong), ("wrong, as eager is", &totals.both_wrong)];
    for (what, list) in lists.into_iter().chain([("slower", &totals.slower)]) {
        list.iter().for_each(|variant| println!("{what}: {variant}"));
    }
    let bad = totals.failed.len() + totals.wrong.len();
    let verdict = if bad == 0 { Ok(()) } else { Err(anyhow!("{bad} variants failed or are wrong")) };
    Ok((totals.times, verdict))
}

fn note(plugin: &str, sample: &str, variant: &Value, totals: &mut Totals) {
    totals.variants += 1;
    let folders: Vec<&str> = variant["name"].as_str().unwrap_or("?").split('/').collect();
    // graphs/subgraphs/DTYPE/DIMENSIONS/MODEL
    let short = folders.get(2..4).map_or_else(|| folders.join("/"), |parts| parts.join("/"));
    let name = format!("{sample} {short}");
    let kernels = variant["rewrite"]["kernels"].as_u64().unwrap_or(0);
    if variant["class"] == "pass_miss" {
        return;
    }
    let failure = variant["failure"]["message"].as_str();
    if let Some(failure) = failure {
        totals.failed.push(format!("{plugin} on {name}: {failure}"));
    }
    if kernels == 0 || failure.is_some() {
        return;
    }
    totals.fused += 1;
    let outputs = || variant["outputs"].as_array().into_iter().flatten();
    let wrong = |output: &&Value| output["passes_at"].as_i64().is_none_or(|t| t > -5);
    if outputs().filter(wrong).any(|output| output["truth"]["eager_passes"] != Value::Bool(false)) {
        totals.wrong.push(format!("{plugin} on {name}"));
    } else if outputs().any(|output| wrong(&output)) {
        totals.both_wrong.push(format!("{plugin} on {name}"));
    }
    let median = |key: &str| variant["timing"][key].as_f64().unwrap_or(f64::NAN);
    let (eager, ours) = (median("eager_us"), median("rewritten_us"));
    if ours > eager {
        totals.slower.push(format!("{plugin} on {name}: {:.2}", eager / ours));
    }
    totals.times.push((format!("{plugin} {name}"), eager, ours));
    let passes_at = variant["passes_at"].as_i64().map_or("-".to_owned(), |t| t.to_string());
    println!("{plugin:18} {name:58} {kernels:7} {eager:9.1} {ours:9.1} {:7.2} {passes_at:>6}", eager / ours);
}
