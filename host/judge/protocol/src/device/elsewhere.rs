//! A program that someone else runs, as the device child is told of it.

use passhost_ir::TensorType;
use passhost_result::Settings;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The loaded program as someone else ran it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElsewhereRun {
    /// Where its outputs are: in `round_0/NAME_0.bin`, `round_0/NAME_1.bin` and so on, row-major and little-endian. The
    /// child only reads there.
    pub directory: PathBuf,
    /// What the files are named by.
    pub name: String,
    /// The types of the outputs, as whoever ran it says.
    pub outputs: Vec<TensorType>,
    /// Seed of the inputs that were drawn.
    pub seed: u64,
    /// The first round that is compared.
    pub first: u32,
    /// How many are.
    pub rounds: u32,
    /// How to measure, for the comparison's part.
    pub settings: Settings,
}
