//! The lines of a batch file after its header.

use passhost_result::DeviceInfo;
use passhost_result::document::{ChildProfiles, Failure, Variant};
use passhost_score::VariantOutcome;
use serde::{Deserialize, Serialize};

/// One line. Of two about the same thing the later one holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchLine {
    /// What became of a variant under a plugin.
    Variant(Box<VariantLine>),
    /// A sample of which there are no variants.
    Sample(SampleLine),
    /// A device that a runner elsewhere measured on first. Its position is the next after those before.
    Device(Box<DeviceInfo>),
}

/// What became of a variant under a plugin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantLine {
    /// SHA-256 of the plugin.
    pub plugin: String,
    /// The sample.
    pub sample: SampleName,
    /// Position of the variant in the sample.
    pub position: usize,
    /// How many variants of the sample belong to the batch.
    pub of: usize,
    /// Position of the device among those of the header; absent where nothing ran because the plugin does not load.
    pub device: Option<usize>,
    /// What kept the children in.
    pub confinement: ChildProfiles,
    /// What the score counts; absent where the host is to blame.
    pub outcome: Option<VariantOutcome>,
    /// The variant's entry in the result document.
    pub variant: Variant,
}

/// A sample by path and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleName {
    /// The last part of its path.
    pub name: String,
    /// As in the header.
    pub path: String,
    /// Of its files; empty where they could not be read.
    pub sha256: String,
    /// Lists that named it, without their endings.
    pub groups: Vec<String>,
}

/// A sample of which there are no variants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleLine {
    /// The sample.
    pub sample: SampleName,
    /// Why it could not be used; absent where it has no variant of the wanted name.
    pub failure: Option<Failure>,
}
