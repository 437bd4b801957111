//! The pass on sizes of a graph that it could not know of.

use crate::untrusted::one_line;
use crate::{OutputReport, Symbols};
use serde::{Deserialize, Serialize};

/// Steps of tolerance that a hidden size may need more than the recorded one: its sums have another length.
const SLACK: i8 = 2;

/// The pass on sizes of a graph that it could not know of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HiddenShapes {
    /// Seed of the sizes, drawn after the rewrite was hashed.
    pub seed: u64,
    /// Those that the sample has, in the order in which they were drawn. The seed of their inputs is the variant's.
    pub shapes: Vec<HiddenShape>,
    /// Why there are fewer than the policy asks for.
    pub missing: Option<String>,
}

impl HiddenShapes {
    /// What is wrong in any of them, each naming its sizes.
    pub fn findings(&self) -> impl Iterator<Item = &String> {
        self.shapes.iter().filter_map(|shape| shape.finding.as_ref())
    }
}

/// A graph in other sizes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HiddenShape {
    /// Symbols that changed, with the extents that they stand for here: of `input_tensor_constraints.py`, or, where that has none, such as
    /// `E512` for what was 512.
    pub sizes: Symbols,
    /// Of the rewritten graph, as in [`Rewrite`].
    pub rewrite_sha256: Option<String>,
    /// Least t at which every output is right.
    #[serde(alias = "right_from")]
    pub passes_at: Option<i8>,
    /// One per output.
    pub outputs: Vec<OutputReport>,
    /// What is wrong or refused: the plugin's doing.
    pub finding: Option<String>,
    /// Why nothing can be said: the sample's or the host's doing.
    pub note: Option<String>,
}

/// `S0 = 5, S1 = 57`.
pub fn described(sizes: &Symbols) -> String {
    let sizes: Vec<String> = sizes.iter().map(|(name, extent)| format!("{} = {extent}", one_line(name, 40))).collect();
    sizes.join(", ")
}

/// What to do to see a hidden size alone.
pub fn reproduction(variant: &str, sizes: &Symbols) -> String {
    let set: Vec<String> =
        sizes.iter().map(|(name, extent)| format!("--set {}={extent}", one_line(name, 40))).collect();
    let variant = one_line(variant, 200);
    let set = set.join(" ");
    format!("`passhost samples vary SAMPLE --variant {variant} {set} --out DIR` writes these sizes as a sample")
}

/// The largest t from which on a hidden size may be right.
pub fn allowed(recorded_passes_at: i8) -> i8 {
    recorded_passes_at.max(-5) + SLACK
}

/// The finding that follows from the outputs of a hidden size, which are right from this t on, where nothing is said of it. The
/// recorded size is right at `recorded_passes_at`.
pub fn unsaid(shape: &HiddenShape, passes_at: Option<i8>, recorded_passes_at: i8) -> Option<String> {
    // What was not run has no outputs, and says why.
    let is_said = shape.finding.is_some() || (shape.note.is_some() && shape.outputs.is_empty());
    let found = wrong_from(passes_at, allowed(recorded_passes_at)).filter(|_| !is_said)?;
    Some(format!("with {}: {found}", described(&shape.sizes)))
}

/// What is wrong with outputs that are right from this t on.
pub fn wrong_from(passes_at: Option<i8>, allowed: i8) -> Option<String> {
    match passes_at {
        Some(t) if t <= allowed => None,
        Some(t) => Some(format!("outputs pass at t = {t}, expected t = {allowed} or less")),
        None => Some("outputs are right at no tolerance".to_owned()),
    }
}
