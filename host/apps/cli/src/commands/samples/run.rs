//! `passhost samples run SAMPLE --out DIR`

use super::one_graph;
use crate::arguments::{DeviceArguments, duration, inputs, inputs_name};
use crate::commands::device_setup;
use crate::exit::{Exit, OrStop, Stop};
use crate::files::CommandFiles;
use crate::output::{print, write_json};
use crate::terminal::{Terminal, Tone};
use anyhow::Context;
use clap::Args;
use passhost_child::Memo;
use passhost_child::device::DeviceSetup;
use passhost_corpus::outcome::Failure;
use passhost_corpus::run::Manifest;
use passhost_corpus::worker::{Worker, Workplace};
use passhost_result::untrusted::one_line;
use passhost_sample::InputMode;
use passhost_sample::SampleText;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct RunArguments {
    /// A sample
    pub sample: PathBuf,
    /// Where manifest.json, input_0.bin, output_0.bin and so on are written
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The first graph with this in its name, instead of the first: a part of a folder's name, or folders as in
    /// float16/s0-1, the last by its beginning. May be given several times: the first graph that any of them means
    #[arg(long = "variant", value_name = "TEXT")]
    pub variants: Vec<String>,
    /// How inputs are drawn
    #[arg(long, default_value = "fresh", value_parser = inputs())]
    pub inputs: InputMode,
    /// Seed of the inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Wall clock for reading the graph, and for running it
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub device: DeviceArguments,
}

/// The sample's calls as Python that passhost wrote, for who wants to run the same in PyTorch.
const MODEL: &str = "model.py";
/// What the tensors are.
const MANIFEST: &str = "manifest.json";

pub fn run(arguments: &RunArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let sample = SampleText::open(&arguments.sample).or_stop(Exit::Usage)?;
    let index = one_graph(&sample, &arguments.variants)?;
    let out = std::fs::create_dir_all(&arguments.out)
        .and_then(|()| arguments.out.canonicalize())
        .with_context(|| format!("cannot write to `{}`", arguments.out.display()))
        .or_stop(Exit::Usage)?;

    let written = [MODEL, MANIFEST].map(|name| out.join(name));
    CommandFiles::default().writes("--out", &written).reads_samples([&arguments.sample]).check()?;
    let memo = Arc::new(Memo::default());
    let device = device_setup(arguments.device.device, arguments.device.threads);
    let device = DeviceSetup { files: Some(out.clone()), ..device };
    let place = Workplace { device, timeout: arguments.timeout };
    let mut worker = Worker::new(place, &memo);
    let read = worker.read(&sample, index, |reading, _| (reading.variant(arguments.inputs), reading.python("cpu")));
    let answer = read.and_then(|(variant, python)| {
        let ran = worker.run(&variant.program, &variant.inputs, arguments.seed)?;
        Ok((variant, python, ran))
    });
    if let Some(trouble) = worker.take_trouble() {
        return Err(Stop::host(trouble));
    }
    let (variant, python, ran) = answer.map_err(stop)?;
    std::fs::write(out.join(MODEL), python)
        .with_context(|| format!("cannot write to `{}`", arguments.out.display()))
        .or_stop(Exit::Usage)?;
    let manifest =
        Manifest::new((&sample, index), &variant, &ran, &worker, (inputs_name(arguments.inputs), arguments.seed));
    write_json(&out.join(MANIFEST), &manifest)?;

    let mut lines = vec![format!(
        "{} inputs and {} outputs of {} in {}, run in {:.1} ms on {}",
        manifest.inputs.len(),
        manifest.outputs.len(),
        one_line(&format!("{} {}", sample.name(), manifest.variant), 200),
        arguments.out.display(),
        manifest.milliseconds,
        manifest.device,
    )];
    for output in &manifest.outputs {
        if let Some(remark) = &output.remark {
            lines.push(terminal.paint(Tone::Warn, &format!("output {} is {remark}", one_line(&output.name, 60))));
        }
    }
    for difference in &manifest.differences {
        let difference = terminal.wrap(&one_line(difference, 600), "");
        lines.extend(difference.iter().map(|line| terminal.paint(Tone::Bad, line)));
    }
    print(lines);
    Ok(if manifest.differences.is_empty() { Exit::Success } else { Exit::Usage })
}

fn stop(failure: Failure) -> Stop {
    let place = failure.place.map_or(String::new(), |place| format!("{place}: "));
    let text = one_line(&format!("{place}{}", failure.what), 1000);
    Stop::usage(format!("{}: {text}", failure.outcome))
}
