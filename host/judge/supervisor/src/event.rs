//! What happens while an evaluation runs, as values. Texts in them are fit for a terminal.

use passhost_child::Holder;
use passhost_protocol::device::DeviceStage;

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

/// Work on a variant has reached a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationEvent {
    /// Where.
    pub place: VariantPlace,
    /// Which.
    pub step: WorkStage,
}

/// How far the work on a variant is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkStage {
    /// Reading and typing the program.
    #[error("reading")]
    Reading,
    /// Running the pass.
    #[error("rewriting")]
    Rewriting,
    /// Verifying what it returned.
    #[error("verifying")]
    Verifying,
    /// What the device says.
    #[error(transparent)]
    Device(DeviceStage),
    /// Somebody else has the device, and this evaluation waits for it.
    #[error("{}", waiting(.0))]
    Waiting(Holder),
}

fn waiting(holder: &Holder) -> String {
    match holder {
        Holder::Own => "waiting for another evaluation on this device".into(),
        holder => format!("waiting for the device, ten minutes at most: {holder}"),
    }
}
