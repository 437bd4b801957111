//! What was measured, as a file: `results/` holds that of the last run whose figures are quoted, and a new one is held
//! against it.
//!
//! Every command with `--json FILE` writes a section of its own and keeps the others, so that one file collects a run.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;

const SCHEMA: &str = "passhost.gpu-results/1";

/// Puts a section into a results file, beside what else a run of the same commit on the same device has left in it.
pub(crate) fn write(file: &Path, run: &Value, section: &str, content: Value) -> Result<()> {
    let mut document = match std::fs::read_to_string(file) {
        Ok(text) => read(file, &text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => json!({ "schema": SCHEMA, "run": {} }),
        Err(error) => return Err(error).with_context(|| format!("reading {}", file.display())),
    };
    let known = document["run"].as_object().cloned().unwrap_or_default();
    for (key, value) in run.as_object().into_iter().flatten() {
        let other = known.get(key).filter(|known| *known != value);
        ensure!(
            other.is_none(),
            "{} is of {key} {}, not {value}: name a new file",
            file.display(),
            other.unwrap_or(value)
        );
        document["run"][key] = value.clone();
    }
    document[section] = content;
    let text = format!("{}\n", serde_json::to_string_pretty(&document)?);
    std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))
}

/// The commit that is measured: as given, or that of the working directory, with a mark where files differ from it.
pub(crate) fn commit(given: Option<&str>) -> Result<String> {
    if let Some(commit) = given {
        return Ok(commit.to_owned());
    }
    let described = Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12"]).output();
    match described {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        _ => bail!("there is no git checkout here to take the commit from: say --commit HASH"),
    }
}

fn read(file: &Path, text: &str) -> Result<Value> {
    let document: Value = serde_json::from_str(text).with_context(|| format!("reading {}", file.display()))?;
    ensure!(document["schema"] == SCHEMA, "{} is no {SCHEMA}", file.display());
    Ok(document)
}

/// Prints the ratios of two results files. Fails where a device time or a whole run is gone, where a device time has
/// grown by more than `within`, and where random kernels or variants of samples failed.
///
/// Times around a whole run are printed and not judged: they are the host's as much as the device's.
pub(crate) fn compare(old: &Path, new: &Path, within: f64) -> Result<()> {
    let load = |file: &Path| {
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        read(file, &text)
    };
    let (old, new) = (load(old)?, load(new)?);
    for key in ["commit", "device", "driver", "nvrtc"] {
        println!("{key:8} {} and {}", old["run"][key], new["run"][key]);
    }
    ensure!(old["run"]["device"] == new["run"]["device"], "figures of different devices cannot be compared");
    let mut problems = compare_figures(&old, &new, within);
    compare_samples(&old, &new, &mut problems);
    compare_random(&old, &new, &mut problems);
    for problem in &problems {
        println!("problem: {problem}");
    }
    ensure!(problems.is_empty(), "{} results are worse than before", problems.len());
    Ok(())
}

fn section<'a>(document: &'a Value, name: &str) -> Option<&'a Map<String, Value>> {
    document[name].as_object()
}

fn compare_figures(old: &Value, new: &Value, within: f64) -> Vec<String> {
    let mut problems = vec![];
    let Some(figures) = section(old, "figures") else {
        return vec!["the old file has no figures to compare with".to_owned()];
    };
    println!("{:40} {:>10} {:>10} {:>7}", "kernel, device us", "old", "new", "ratio");
    for (name, before) in figures {
        let (Some(before), Some(after)) = (before.as_f64(), new["figures"][name].as_f64()) else {
            problems.push(format!("{name} was not measured"));
            continue;
        };
        let ratio = after / before;
        println!("{name:40} {before:10.2} {after:10.2} {ratio:7.3}");
        if ratio.is_nan() || ratio > 1.0 + within {
            problems.push(format!("{name} takes {ratio:.3} times as long; at most {:.3}", 1.0 + within));
        }
    }
    problems
}

fn compare_samples(old: &Value, new: &Value, problems: &mut Vec<String>) {
    let Some(samples) = section(old, "samples") else { return };
    println!("{:76} {:>9} {:>9} {:>7}", "variant, us around a run", "old", "new", "ratio");
    for (name, before) in samples {
        let after = &new["samples"][name];
        let (Some(before), Some(after)) = (before["rewritten_us"].as_f64(), after["rewritten_us"].as_f64()) else {
            problems.push(format!("{name} was not run, or is no longer rewritten"));
            continue;
        };
        println!("{name:76} {before:9.1} {after:9.1} {:7.3}", after / before);
    }
}

/// Of both kinds of random kernels.
fn compare_random(old: &Value, new: &Value, problems: &mut Vec<String>) {
    for (section, what) in [("random", "random kernels"), ("contractions", "random contractions")] {
        let Some(before) = old[section]["kernels"].as_u64() else { continue };
        match (new[section]["kernels"].as_u64(), new[section]["failed"].as_u64()) {
            (Some(kernels), Some(0)) if kernels >= before => println!("{kernels} {what} are right"),
            (Some(kernels), Some(0)) => problems.push(format!("only {kernels} {what} were run; {before} before")),
            (_, Some(failed)) => problems.push(format!("{failed} {what} are wrong")),
            _ => problems.push(format!("no {what} were run")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn run(commit: &str) -> Value {
        json!({ "commit": commit, "device": "a GPU", "driver": 13000, "nvrtc": "13.0" })
    }

    #[test]
    fn a_file_collects_the_sections_of_one_run() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("new.json");
        write(&file, &run("abc"), "figures", json!({ "softmax": 2.0 })).unwrap();
        write(&file, &run("abc"), "random", json!({ "kernels": 10, "failed": 0 })).unwrap();
        let document = read(&file, &std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(document["figures"]["softmax"], 2.0);
        assert_eq!(document["random"]["kernels"], 10);
        let other = write(&file, &run("def"), "figures", json!({})).unwrap_err();
        assert!(other.to_string().contains("is of commit \"abc\""), "{other}");
    }

    #[test]
    fn what_is_slower_gone_or_wrong_is_a_problem() {
        let directory = tempfile::tempdir().unwrap();
        let of = |name: &str, figures: Value, samples: Value, failed: u64| {
            let file = directory.path().join(name);
            write(&file, &run(name), "figures", figures).unwrap();
            write(&file, &run(name), "samples", samples).unwrap();
            write(&file, &run(name), "random", json!({ "kernels": 10, "failed": failed })).unwrap();
            file
        };
        let sample = json!({ "a": { "rewritten_us": 10.0 } });
        let old = of("old", json!({ "softmax": 2.0, "norm": 4.0 }), sample.clone(), 0);
        let cases = [
            (json!({ "softmax": 2.05, "norm": 1.0 }), sample.clone(), 0, true),
            (json!({ "softmax": 2.07, "norm": 4.0 }), sample.clone(), 0, false),
            (json!({ "softmax": 2.0 }), sample.clone(), 0, false),
            (json!({ "softmax": 2.0, "norm": 4.0 }), json!({}), 0, false),
            (json!({ "softmax": 2.0, "norm": 4.0 }), sample, 1, false),
        ];
        for (number, (figures, samples, failed, fine)) in cases.into_iter().enumerate() {
            let new = of(&format!("new{number}"), figures, samples, failed);
            assert_eq!(compare(&old, &new, 0.03).is_ok(), fine, "case {number}");
        }
    }
}
