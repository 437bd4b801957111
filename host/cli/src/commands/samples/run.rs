//! `passhost samples run SAMPLE --out DIR`

use super::one_graph;
use crate::arguments::RunArguments;
use crate::output::{print, write_json};
use crate::terminal::{Terminal, Tone, wrap};
use crate::{Exit, Stop};
use anyhow::Context;
use passhost_corpus::outcome::Failure;
use passhost_corpus::worker::{Worker, Workplace};
use passhost_ir::TensorType;
use passhost_protocol::device::Ran;
use passhost_sample::{InputMode, Sample, Variant};
use passhost_supervisor::Memo;
use passhost_supervisor::untrusted::one_line;
use serde::Serialize;
use std::sync::Arc;

const SCHEMA: &str = "passhost.samples.run/1";
/// The sample's calls as Python that passhost wrote, for who wants to run the same in PyTorch.
const MODEL: &str = "model.py";

/// What lies in the directory.
#[derive(Serialize)]
struct Manifest {
    schema: &'static str,
    host: &'static str,
    sample: String,
    sample_sha256: String,
    variant: String,
    /// `fresh` or `published`: how inputs are drawn.
    drawn: &'static str,
    seed: u64,
    device: String,
    torch: String,
    threads: u32,
    milliseconds: f64,
    inputs: Vec<TensorFile>,
    outputs: Vec<TensorFile>,
    /// Where the run gave other types than inferred.
    differences: Vec<String>,
}

/// The elements of a tensor, row-major and little-endian, whatever its strides.
#[derive(Serialize)]
struct TensorFile {
    file: String,
    name: String,
    /// PyTorch's name, such as `float32`.
    dtype: &'static str,
    shape: Vec<i64>,
    strides: Vec<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
}

impl TensorFile {
    fn new(kind: &str, position: usize, name: &str, ty: &TensorType) -> TensorFile {
        TensorFile {
            file: format!("{kind}_{position}.bin"),
            name: name.to_owned(),
            dtype: ty.dtype.torch_name(),
            shape: ty.shape.clone(),
            strides: ty.strides.clone(),
            sha256: None,
            remark: None,
        }
    }
}

pub fn run(arguments: &RunArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let sample = Sample::open(&arguments.sample).map_err(|error| Stop::new(Exit::Usage, error))?;
    let index = one_graph(&sample, arguments.variant.as_deref())?;
    let out = std::fs::create_dir_all(&arguments.out)
        .and_then(|()| arguments.out.canonicalize())
        .with_context(|| format!("cannot write to `{}`", arguments.out.display()))
        .map_err(|error| Stop { exit: Exit::Usage, error })?;

    let memo = Arc::new(Memo::default());
    let device = &arguments.device;
    let place = Workplace { device: device.device, threads: device.threads, timeout: arguments.timeout };
    let mut worker = Worker::new(place, &memo);
    let mode: InputMode = arguments.inputs.into();
    let read = worker.read(&sample, index, |reading, _| (reading.variant(mode), reading.python("cpu")));
    let answer = read.and_then(|(variant, python)| {
        let ran = worker.run(&variant.program, &variant.inputs, arguments.seed, Some(out.clone()))?;
        Ok((variant, python, ran))
    });
    if let Some(trouble) = worker.take_trouble() {
        return Err(Stop::host(trouble));
    }
    let (variant, python, ran) = answer.map_err(stop)?;
    std::fs::write(out.join(MODEL), python)
        .with_context(|| format!("cannot write to `{}`", arguments.out.display()))
        .map_err(|error| Stop { exit: Exit::Usage, error })?;
    let manifest = manifest(&sample, index, &variant, &ran, &worker, arguments);
    write_json(&out.join("manifest.json"), &manifest).map_err(|error| Stop::new(Exit::Usage, error))?;

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
        let difference = wrap(&one_line(difference, 600), terminal.width(), "");
        lines.extend(difference.iter().map(|line| terminal.paint(Tone::Bad, line)));
    }
    print(lines);
    Ok(if manifest.differences.is_empty() { Exit::Success } else { Exit::Usage })
}

fn stop(failure: Failure) -> Stop {
    let place = failure.place.map_or(String::new(), |place| format!("{place}: "));
    let text = one_line(&format!("{place}{}", failure.what), 1000);
    Stop { exit: Exit::Usage, error: anyhow::anyhow!("{}: {text}", failure.outcome) }
}

fn manifest(
    sample: &Sample,
    index: usize,
    variant: &Variant,
    ran: &Ran,
    worker: &Worker,
    arguments: &RunArguments,
) -> Manifest {
    let inputs = variant.inputs.iter().enumerate();
    let outputs = variant.program.outputs.iter().zip(&ran.outputs).enumerate().map(|(position, (value, output))| {
        let name = &variant.program.value(*value).name;
        let file = TensorFile::new("output", position, name, &output.ty);
        TensorFile { sha256: Some(output.sha256.clone()), remark: output.remark.clone(), ..file }
    });
    let info = worker.info();
    Manifest {
        schema: SCHEMA,
        host: env!("CARGO_PKG_VERSION"),
        sample: sample.name().to_owned(),
        sample_sha256: sample.sha256().to_owned(),
        variant: sample.variants()[index].name.clone(),
        drawn: arguments.inputs.name(),
        seed: arguments.seed,
        device: info.map_or_else(String::new, |info| info.device.clone()),
        torch: info.map_or_else(String::new, |info| info.torch.clone()),
        threads: info.map_or(0, |info| info.threads),
        milliseconds: ran.micros as f64 / 1e3,
        inputs: inputs.map(|(position, input)| TensorFile::new("input", position, &input.name, &input.ty)).collect(),
        outputs: outputs.collect(),
        differences: ran.differences.iter().map(ToString::to_string).collect(),
    }
}
