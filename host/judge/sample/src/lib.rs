//! Reads samples: PassNet tasks, GraphNet graphs, and ours, which have the same form or are packed in one file each.
//! Nothing of a sample is executed, and nothing outside its directory is opened. The program `passhost-reader` does this
//! for the supervisor, one sample a process.

mod answer;
mod attempt;
mod constraints;
mod files;
mod find;
pub mod fx;
mod inputs;
mod list;
mod nesting;
mod packed;
mod python;
mod reading;
mod serve;
mod text;
mod translate;
mod value;
mod vary;
mod weights;
mod write;

pub use attempt::{READING, attempt};
pub use constraints::{Constraints, Extent};
pub use files::{CONSTRAINTS, GRAPH_FILES, is_of_a_sample, places};
pub use find::{FoundSamples, Named, Repeated, find, find_all};
pub use list::{is_entry as is_list_entry, plain as plain_path};
pub use packed::{Packed, is_packed};
pub use passhost_protocol::reader::{SampleError, SampleVariant, SourceLocation, VariantChange};
pub use passhost_result::InputMode;

pub use reading::Reading;
pub use serve::{ReaderServeError, serve};
pub use text::{FILE_BYTES, SAMPLE_BYTES, open_text};
pub use value::{PyValue, RandomTensor};
pub use vary::{Varied, VaryRefusal};
pub use weights::Weight;
pub use write::{GraphFolder, model_text, weight_text};

use files::SampleFiles;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A sample: one graph in several element types and shapes.
#[derive(Debug)]
pub struct SampleText {
    name: String,
    sha256: String,
    files: SampleFiles,
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

impl SampleText {
    /// Reads the files of a task or of a graph folder. They are looked into by [`SampleText::load`].
    ///
    /// # Errors
    ///
    /// If the path is neither, or one of its files cannot be read.
    pub fn open(path: &Path) -> Result<SampleText, SampleError> {
        let files = SampleFiles::open(path)?;
        let mut hash = Sha256::new();
        let mut variants = vec![];
        let mut room = SAMPLE_BYTES;
        for path in &files.graphs {
            let model = files.read(&path.join("model.py"), FILE_BYTES)?;
            let weights = files.read(&path.join("weight_meta.py"), FILE_BYTES)?;
            let bytes = (model.len() + weights.len()) as u64;
            room = room
                .checked_sub(bytes)
                .ok_or_else(|| SampleError::TooLarge { file: files.path.display().to_string(), limit: SAMPLE_BYTES })?;
            let name = path.display().to_string();
            for part in [&name, &model, &weights] {
                // Lengths keep two samples apart whose parts only run together differently.
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
            variants.push(VariantFiles { name, path: path.clone(), model, weights });
        }
        let sha256 = base16ct::lower::encode_string(&hash.finalize());
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(SampleText { name, sha256, files, variants })
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.files.path
    }

    /// The text of a file of variant `index`, such as `graph_net.json`; `None` if there is none that can be read.
    ///
    /// # Panics
    ///
    /// If there is no such variant.
    pub fn text(&self, index: usize, file: &str) -> Option<String> {
        self.files.read(&self.variants[index].path.join(file), FILE_BYTES).ok()
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
}

#[cfg(test)]
mod tests;
