//! What runs in place of a rewrite.

use passhost_result::document::Launch;
use serde::Serialize;

/// What runs in place of a rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Each op called from Python.
    Eager,
    /// `torch.compile` as it is.
    Inductor,
    /// With `mode="reduce-overhead"`.
    InductorReduceOverhead,
    /// With `emulate_precision_casts`: rounds where eager rounds.
    InductorPrecision,
    /// Eager, captured by hand in one CUDA graph.
    EagerGraph,
    /// Inductor, captured by hand.
    InductorGraph,
}

/// How `torch.compile` is asked, as the script calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InductorMode {
    Default,
    ReduceOverhead,
    Precision,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 6] = [
        Method::Eager,
        Method::Inductor,
        Method::InductorReduceOverhead,
        Method::InductorPrecision,
        Method::EagerGraph,
        Method::InductorGraph,
    ];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Eager => "eager",
            Method::Inductor => "inductor",
            Method::InductorReduceOverhead => "inductor-reduce-overhead",
            Method::InductorPrecision => "inductor-precision",
            Method::EagerGraph => "eager-graph",
            Method::InductorGraph => "inductor-graph",
        }
    }

    /// The one that is written so.
    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether it launches CUDA graphs, which only a GPU has.
    pub const fn needs_gpu(self) -> bool {
        matches!(self, Method::InductorReduceOverhead) || self.is_captured()
    }

    /// How it launches. Inductor's own graphs count as those captured by hand do: either way the device is asked once.
    pub const fn launch(self) -> Launch {
        if self.needs_gpu() { Launch::Graph } else { Launch::Stream }
    }

    pub(crate) const fn is_captured(self) -> bool {
        matches!(self, Method::EagerGraph | Method::InductorGraph)
    }

    pub(crate) const fn compile(self) -> Option<InductorMode> {
        match self {
            Method::Eager | Method::EagerGraph => None,
            Method::Inductor | Method::InductorGraph => Some(InductorMode::Default),
            Method::InductorReduceOverhead => Some(InductorMode::ReduceOverhead),
            Method::InductorPrecision => Some(InductorMode::Precision),
        }
    }
}
