//! One run of a graph, described beside the files of its tensors.

use crate::worker::Worker;
use passhost_ir::TensorType;
use passhost_protocol::device::SingleRun;
use passhost_sample::{SampleText, SampleVariant};
use serde::Serialize;

const SCHEMA: &str = "passhost.samples.run/1";

/// What lies in the directory.
#[derive(Debug, Serialize)]
pub struct Manifest {
    schema: &'static str,
    host: &'static str,
    sample: String,
    sample_sha256: String,
    /// The graph that ran.
    pub variant: String,
    /// `fresh` or `published`: how inputs are drawn.
    drawn: &'static str,
    seed: u64,
    /// Where it ran.
    pub device: String,
    torch: String,
    threads: u32,
    /// Wall clock of the run.
    pub milliseconds: f64,
    /// In their order.
    pub inputs: Vec<TensorFile>,
    /// In their order.
    pub outputs: Vec<TensorFile>,
    /// Where the run gave other types than inferred.
    pub differences: Vec<String>,
}

/// The elements of a tensor, row-major and little-endian, whatever its strides.
#[derive(Debug, Serialize)]
pub struct TensorFile {
    file: String,
    /// Of the value in the graph.
    pub name: String,
    /// PyTorch's name, such as `float32`.
    dtype: &'static str,
    shape: Vec<i64>,
    strides: Vec<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// What it tells too little for, such as all zeros.
    pub remark: Option<String>,
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

impl Manifest {
    /// Of the run of variant `index` of a sample by this worker, on inputs drawn in this way from a seed.
    pub fn new(
        (sample, index): (&SampleText, usize),
        variant: &SampleVariant,
        ran: &SingleRun,
        worker: &Worker,
        (drawn, seed): (&'static str, u64),
    ) -> Manifest {
        let inputs = variant.inputs.iter().enumerate();
        let outputs =
            variant.program.outputs.iter().zip(&ran.outputs).enumerate().map(|(position, (value, output))| {
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
            drawn,
            seed,
            device: info.map_or_else(String::new, |info| info.device.clone()),
            torch: info.map_or_else(String::new, |info| info.torch.clone()),
            threads: info.map_or(0, |info| info.threads),
            milliseconds: ran.micros as f64 / 1e3,
            inputs: inputs
                .map(|(position, input)| TensorFile::new("input", position, &input.name, &input.ty))
                .collect(),
            outputs: outputs.collect(),
            differences: ran.differences.iter().map(ToString::to_string).collect(),
        }
    }
}
