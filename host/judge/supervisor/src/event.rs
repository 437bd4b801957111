//! What happens while an evaluation runs, as values. Texts in them are fit for a terminal.

use passhost_child::Holder;
use passhost_protocol::device::DeviceStage;
use std::fmt;

/// Which variant of which sample something is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantPlace {
    /// The name of the sample.
    pub sample: String,
    /// The path of the graph within it.
    pub variant: String,
    /// Position of the variant, from 0.
    pub position: usize,
    /// Variants of the sample.
    pub count: usize,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvaluationEvent {
    /// Work on a variant has reached a step.
    Reached {
        /// Where.
        place: VariantPlace,
        /// Which.
        step: WorkStage,
    },
    /// Another evaluation has the device, and this one waits for it.
    Waiting {
        /// Where.
        place: VariantPlace,
        /// For whom.
        holder: Holder,
    },
    /// A child died and a fresh one took its place.
    ChildReplaced {
        /// Where.
        place: VariantPlace,
        /// How it ended.
        message: String,
    },
    /// A remark that the document will have as well.
    Note {
        /// Where.
        place: VariantPlace,
        /// In words.
        text: String,
    },
}

/// How far the work on a variant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkStage {
    /// Reading and typing the program.
    Reading,
    /// Running the pass.
    Rewriting,
    /// Verifying what it returned.
    Verifying,
    /// What the device says.
    Device(DeviceStage),
}

impl fmt::Display for WorkStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkStage::Reading => f.write_str("reading"),
            WorkStage::Rewriting => f.write_str("rewriting"),
            WorkStage::Verifying => f.write_str("verifying"),
            WorkStage::Device(stage) => stage.fmt(f),
        }
    }
}
