//! Reads samples: PassNet tasks, GraphNet graphs, and ours, which have the same form. Nothing of a sample is executed,
//! and nothing outside its directory is opened.

mod calls;
mod directory;
mod error;
mod inputs;
mod python;
mod translate;
mod value;
mod weights;

pub use error::{Place, SampleError};
pub use inputs::InputMode;

use directory::{Directory, FILE_BYTES};
use passhost_ir::{Graph, Infer, InputSpec, OpTable, verify_graph};
use python::Source;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Bytes of all inputs of one variant together.
const INPUT_BYTES: u64 = 1 << 36;

/// A sample: one graph in several element types and shapes.
#[derive(Debug)]
pub struct Sample {
    name: String,
    sha256: String,
    directory: Directory,
    variants: Vec<VariantFiles>,
}

/// One graph of a sample, read but not yet translated.
#[derive(Debug, Clone)]
pub struct VariantFiles {
    /// Its path within the sample.
    pub name: String,
    path: PathBuf,
    model: String,
    weights: String,
}

/// A variant as an evaluation needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The reference program, in-place ops as written, typed by inference.
    pub program: Graph,
    /// One per program input.
    pub inputs: Vec<InputSpec>,
    /// Remarks: inputs that are the same in every draw.
    pub notes: Vec<String>,
}

/// The samples that a path names: a task, a graph folder, or a list of either.
///
/// # Errors
///
/// If the path is none of these, or a file of one cannot be read.
pub fn open(path: &Path) -> Result<Vec<Sample>, SampleError> {
    directory::open(path)?.into_iter().map(Sample::read).collect()
}

impl Sample {
    fn read(directory: Directory) -> Result<Sample, SampleError> {
        let mut hash = Sha256::new();
        let mut variants = vec![];
        for path in &directory.graphs {
            let model = directory.read(&path.join("model.py"), FILE_BYTES)?;
            let weights = directory.read(&path.join("weight_meta.py"), FILE_BYTES)?;
            let name = path.display().to_string();
            for part in [&name, &model, &weights] {
                // Lengths keep two samples apart whose parts only run together differently.
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
            variants.push(VariantFiles { name, path: path.clone(), model, weights });
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let name = directory
            .path
            .file_name()
            .map_or_else(|| directory.path.display().to_string(), |name| name.to_string_lossy().into_owned());
        Ok(Sample { name, sha256, directory, variants })
    }

    /// The last part of the sample's path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Of the names and contents of all model and weight files, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The graphs, in the sample's order.
    pub fn variants(&self) -> &[VariantFiles] {
        &self.variants
    }

    /// Translates variant `index`; `infer` knows the types of what ops return.
    ///
    /// # Errors
    ///
    /// If the variant is not in the supported subset or its parts do not fit each other.
    ///
    /// # Panics
    ///
    /// If there is no such variant.
    pub fn load(&self, index: usize, mode: InputMode, infer: &mut dyn Infer) -> Result<Variant, SampleError> {
        let files = &self.variants[index];
        let weights_file = self.directory.shown(&files.path.join("weight_meta.py"));
        let weights = weights::weights(&Source::new(weights_file.clone(), &files.weights))?;
        let types: HashMap<&str, _> = weights.iter().map(|weight| (weight.name.as_str(), &weight.ty)).collect();
        let weight_error = |name: &str, reason: String| SampleError::Weight {
            file: weights_file.clone(),
            name: name.to_owned(),
            reason,
        };
        let bytes = weights.iter().fold(0u64, |sum, weight| sum.saturating_add(weight.ty.bytes()));
        if bytes > INPUT_BYTES {
            let reason = format!("all inputs together have {bytes} bytes; at most {INPUT_BYTES} are drawn");
            return Err(weight_error("*", reason));
        }
        let source = Source::new(self.directory.shown(&files.path.join("model.py")), &files.model);
        let (program, parameters) = translate::translate(&source, &types, infer)?;
        verify_graph(&program, OpTable::sample()).map_err(|error| SampleError::Program {
            file: self.directory.shown(&files.path.join("model.py")),
            reason: error.to_string(),
        })?;
        if let Some(weight) = weights.iter().find(|weight| !parameters.contains(&weight.name)) {
            return Err(weight_error(&weight.name, "`forward` has no such parameter".into()));
        }
        let inputs: Vec<InputSpec> = parameters
            .iter()
            .zip(&program.inputs)
            .filter_map(|(name, &value)| {
                let weight = weights.iter().find(|weight| weight.name == *name)?;
                Some(inputs::input_spec(&program, value, weight, mode))
            })
            .collect();
        Ok(Variant { program, inputs, notes: vec![] })
    }
}

#[cfg(test)]
mod tests;
