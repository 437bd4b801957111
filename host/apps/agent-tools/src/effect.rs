//! What a call changed, in a form that is written down: who reads all effects of an attempt knows where it stands.

use serde::{Deserialize, Serialize};

/// What an evaluation found, as far as rewards and scores need it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PassVerdict {
    /// The score that the policy makes the headline.
    pub score: f64,
    /// AS.
    pub aggregate_score: f64,
    /// AS strict.
    pub aggregate_score_strict: f64,
    /// Whether the pass returned a graph that may run, for every variant.
    pub verifies: bool,
    /// Whether it changed anything that counts, in any variant. Older trajectories do not say.
    #[serde(default = "yes")]
    pub changes: bool,
    /// Whether every variant is right at t = -5, and nothing was found.
    pub right: bool,
    /// Findings of the integrity layers.
    pub findings: usize,
    /// The factor that the score is known within, where anything was timed.
    #[serde(default)]
    pub within: Option<f64>,
    /// Hash of the result document.
    pub document: String,
}

/// What a call changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    Nothing,
    /// The source is another one.
    Wrote {
        /// Its hash.
        source: String,
    },
    /// The source was compiled.
    Built {
        /// Its hash.
        source: String,
        /// That of the component, if there is one.
        component: Option<String>,
    },
    /// The pass ran on the graphs.
    Checked {
        /// Hash of its source.
        source: String,
        /// Whether all that it returned may run.
        passes: bool,
        /// Whether it changed any of them. Older trajectories do not say.
        #[serde(default = "yes")]
        changes: bool,
    },
    /// The pass was evaluated.
    Judged {
        /// Hash of its source.
        source: String,
        /// What came of it.
        verdict: PassVerdict,
    },
    /// The pass was handed in.
    Submitted {
        /// Hash of its source.
        source: String,
        /// What came of it, now or before.
        verdict: PassVerdict,
    },
}

fn yes() -> bool {
    true
}

impl Effect {
    /// What an evaluation found, if this is one.
    pub fn verdict(&self) -> Option<&PassVerdict> {
        match self {
            Effect::Judged { verdict, .. } | Effect::Submitted { verdict, .. } => Some(verdict),
            _ => None,
        }
    }
}
