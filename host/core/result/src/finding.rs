//! What the checks of a rewrite find, besides how far its outputs are off.

use passhost_ir::parameter_name;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A finding of the integrity layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Finding {
    /// An input's checksum changed.
    #[error("input `{}` was changed by the rewrite in round {round}", parameter_name(input))]
    InputChanged {
        /// Name of the input.
        input: String,
        /// Which round.
        round: u32,
    },
    /// Memory around an allocation was written, or a tensor on the device that is not the rewrite's.
    #[error("{count} guard zones around allocations were overwritten")]
    GuardZone {
        /// How many.
        count: u64,
    },
    /// Output elements carry the poison pattern, that is, were never written.
    #[error("output {output} holds {count} elements that were never written")]
    Unwritten {
        /// Position of the output.
        output: u32,
        /// How many.
        count: u64,
    },
    /// Right on ordinary inputs, wrong when one of them grows.
    #[error(
        "output {output} is right at t = {passes_at} until input `{}` is redrawn at 8 times its scale",
        parameter_name(input)
    )]
    Insensitive {
        /// Position of the output.
        output: u32,
        /// Name of the input.
        input: String,
        /// Least tolerance at which ordinary rounds are right.
        passes_at: i8,
    },
    /// Less precise than the reference by more than its own error explains, in each ordinary round; the figures are those of
    /// the first.
    #[error(
        "output {output}: error of {rewritten} ulp ({measure}) against a double precision run, where eager has {eager}"
    )]
    Precision {
        /// Position of the output.
        output: u32,
        /// `rms` or `99.9th percentile`.
        measure: String,
        /// Ulps of the rewrite, as text with two decimals.
        rewritten: String,
        /// Ulps of eager.
        eager: String,
    },
    /// A timed run gave something else than the checked ones.
    #[error("a timed run gave a different output {output} than the checked runs")]
    TimedRunDiffers {
        /// Position of the output.
        output: u32,
    },
    /// Faster than memory allows.
    #[error("{median_ns} ns is below the floor of {floor_ns} ns that reading the inputs and writing the outputs takes")]
    BelowFloor {
        /// Median of the rewrite.
        median_ns: u64,
        /// Least plausible time.
        floor_ns: u64,
    },
}

/// Wrong on inputs that are unusual, where the reference still says what is right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EdgeCaseFinding {
    /// Position of the output.
    pub output: u32,
    /// Name of the input that is unusual.
    pub input: String,
    /// What is unusual about it.
    pub draw: String,
    /// The first element that is wrong, by its index in the output.
    pub element: Vec<i64>,
    /// What the rewrite has there, as text: JSON knows no NaN.
    pub rewritten: String,
    /// What the reference has there.
    pub eager: String,
}

impl fmt::Display for EdgeCaseFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EdgeCaseFinding { output, input, draw, element, rewritten, eager } = self;
        let input = input.split(", ").map(parameter_name).collect::<Vec<_>>().join(", ");
        write!(
            f,
            "output {output} is wrong where input `{input}` {draw}: element {element:?} is {rewritten}, eager has {eager}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_inputs_as_people_read_them() {
        let input = "L_self_modules_layer_modules_3_parameters_weight_".to_owned();
        let changed = Finding::InputChanged { input: input.clone(), round: 1 };
        assert_eq!(changed.to_string(), "input `layer.3.weight` was changed by the rewrite in round 1");
        let (draw, element) = ("is all zeros".to_owned(), vec![0]);
        let [rewritten, eager] = ["1", "2"].map(str::to_owned);
        let input = format!("x, {input}");
        let text = EdgeCaseFinding { output: 0, input, draw, element, rewritten, eager }.to_string();
        assert!(text.contains("where input `x, layer.3.weight` is all zeros"), "{text}");
    }
}
