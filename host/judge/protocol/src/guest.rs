//! Between the supervisor and the child that compiles and runs a plugin.
//!
//! The child says [`FromGuest::Hello`] first. The supervisor answers with [`ToGuest::Load`]; a fresh artefact comes back
//! *before* any code of the plugin runs, so that what the supervisor signs was made by the compiler alone. Then each
//! request gets one reply, with [`FromGuest::Infer`] questions in between while a pass runs.

use crate::Most;
use passhost_ir::verify::most_size;
use passhost_ir::{Arg, DeviceFacts, Graph, InferError, OpName, TensorType};
use passhost_result::{GuestLimits, GuestUsage, PassInfo, Refusal, SandboxProfile};
use serde::{Deserialize, Serialize};

/// What a log may add to an answer: text that is no UTF-8 becomes three times as long.
pub fn room_for_log(limits: &GuestLimits) -> Most {
    Most { bytes: usize::try_from(limits.log).unwrap_or(usize::MAX).saturating_mul(3), items: 0 }
}

/// What the rewrite of a graph, and the log, may add to the answer to [`ToGuest::Run`].
pub fn room_for_rewrite(limits: &GuestLimits, original: &Graph) -> Most {
    let items = usize::try_from(most_size(original)).unwrap_or(usize::MAX);
    Most { bytes: items.saturating_mul(SIZE_BYTES), items }.and(room_for_log(limits))
}

/// Bytes of a message for one of [`Graph::size`], at most: a node with a name of op and overload, each up to seven
/// characters longer than what it counts for.
const SIZE_BYTES: usize = 32;

/// A limit that a plugin ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Limit {
    /// [`GuestLimits::fuel`].
    #[error("fuel")]
    Fuel,
    /// [`GuestLimits::memory`].
    #[error("memory")]
    Memory,
    /// [`GuestLimits::tables`].
    #[error("tables")]
    Tables,
    /// [`GuestLimits::stack`].
    #[error("stack")]
    Stack,
    /// [`GuestLimits::deadline_ms`].
    #[error("deadline")]
    Deadline,
    /// [`GuestLimits::log`].
    #[error("log")]
    Log,
    /// [`GuestLimits::output`].
    #[error("output")]
    Output,
    /// [`GuestLimits::infer_calls`].
    #[error("infer-calls")]
    InferCalls,
    /// [`GuestLimits::answers_ms`].
    #[error("answers")]
    Answers,
    /// [`GuestLimits::wasm`].
    #[error("wasm-size")]
    Wasm,
    /// [`GuestLimits::compile_ms`].
    #[error("compile-time")]
    Compile,
}

impl Limit {
    /// A value of the limit with its unit.
    pub fn quantity(self, value: u64) -> String {
        match self {
            Limit::Fuel => format!("{value} units"),
            Limit::InferCalls => format!("{value} calls"),
            Limit::Tables => format!("{value} elements"),
            Limit::Deadline | Limit::Compile | Limit::Answers if value.is_multiple_of(1000) => {
                format!("{} s", value / 1000)
            }
            Limit::Deadline | Limit::Compile | Limit::Answers => format!("{value} ms"),
            Limit::Memory | Limit::Stack | Limit::Log | Limit::Output | Limit::Wasm => {
                let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
                let whole = units.into_iter().find(|(shift, _)| value >> shift > 0 && value.is_multiple_of(1 << shift));
                whole.map_or_else(|| format!("{value} bytes"), |(shift, unit)| format!("{} {unit}", value >> shift))
            }
        }
    }
}

/// Why a plugin gave no rewrite. All of these are the plugin's doing but for [`GuestFailure::Host`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum GuestFailure {
    /// The file is no WebAssembly component.
    #[error("not a WebAssembly component: {0}")]
    NotComponent(String),
    /// Built against another version of the interface.
    #[error("built for passhost:pass@{found}, this host speaks passhost:pass@{wanted}")]
    Version {
        /// Version in the plugin.
        found: String,
        /// Version of this host.
        wanted: String,
    },
    /// Imports something outside the allow-list.
    #[error("imports `{0}`, which no plugin may use")]
    ForbiddenImport(String),
    /// Does not export the pass interface.
    #[error("does not export `{0}`")]
    MissingExport(String),
    /// The compiler or linker refused it.
    #[error("does not compile: {0}")]
    Compile(String),
    /// Ran into a limit.
    #[error("exceeded the {limit} limit of {}", limit.quantity(*value))]
    Limit {
        /// Which limit.
        limit: Limit,
        /// Its value, in the unit of the field in [`GuestLimits`].
        value: u64,
    },
    /// Trapped: a panic, an unreachable instruction, an access out of bounds.
    #[error("trapped: {0}")]
    Trap(String),
    /// The pass returned an error of its own.
    #[error("the pass returned an error: {0}")]
    Refused(String),
    /// What the pass returned is no graph: an id out of range, say.
    #[error("returned a malformed graph: {0}")]
    Malformed(String),
    /// The child failed for a reason of its own.
    #[error("the guest process failed: {0}")]
    Host(String),
}

/// Refusals that are kept, and nodes of each.
const REFUSALS: usize = 1000;

/// What a pass returned. Nothing in it has been verified but that it decodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuestRewrite {
    /// The rewritten graph.
    pub graph: Graph,
    /// What was refused and why, the first ones of them.
    pub refusals: Vec<Refusal>,
    /// How many more there were.
    pub refusals_left_out: u64,
}

impl GuestRewrite {
    /// Keeps of the refusals what a result has room for.
    pub fn bound_refusals(&mut self) {
        self.refusals_left_out += self.refusals.len().saturating_sub(REFUSALS) as u64;
        self.refusals.truncate(REFUSALS);
        self.refusals.iter_mut().for_each(|refusal| refusal.nodes.truncate(REFUSALS));
    }
}

/// Requests to the guest child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToGuest {
    /// Loads a plugin: from `artefact` if there is one, which the supervisor has authenticated, else from `wasm`.
    Load {
        /// The component.
        wasm: Vec<u8>,
        /// Machine code that a child of the same engine made from it.
        artefact: Option<Vec<u8>>,
        /// Limits in force.
        limits: GuestLimits,
    },
    /// Asks for [`PassInfo`].
    Describe,
    /// Runs the pass in a fresh instance.
    Run {
        /// The functional graph.
        graph: Graph,
        /// What the rewrite will run on.
        device: DeviceFacts,
        /// Whether the rewrite may call ops that the graph does not call, views apart.
        inserts_calls: bool,
        /// `infer` calls allowed for it.
        infer_calls: u64,
    },
    /// Answers [`FromGuest::Infer`].
    Inferred(Result<Vec<TensorType>, InferError>),
}

/// Replies of the guest child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromGuest {
    /// The first message: which artefacts this child can load, and how it is confined.
    Hello {
        /// Changes whenever an artefact of one engine would not load in the other.
        engine: String,
        /// What keeps it in.
        profile: SandboxProfile,
    },
    /// The plugin passed the static checks and is compiled.
    Loaded {
        /// The machine code, where it was compiled here and now.
        artefact: Option<Vec<u8>>,
        /// Time for checks and compilation, in microseconds.
        wall_us: u64,
    },
    /// The answer to [`ToGuest::Describe`].
    Described(Result<PassInfo, GuestFailure>, GuestUsage),
    /// A question of the running pass.
    Infer {
        /// The op.
        op: OpName,
        /// Arguments in schema order.
        args: Vec<Arg<TensorType>>,
    },
    /// The answer to [`ToGuest::Run`].
    Ran(Result<GuestRewrite, GuestFailure>, GuestUsage),
    /// The plugin was not loaded.
    Failed(GuestFailure),
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::NodeId;

    #[test]
    fn a_result_keeps_some_refusals_and_counts_the_others() {
        let refusal = Refusal { nodes: vec![NodeId(1); REFUSALS + 5], reason: "no".into() };
        let mut rewrite = GuestRewrite { graph: Graph::default(), refusals: vec![refusal; 3], refusals_left_out: 0 };
        rewrite.bound_refusals();
        assert_eq!((rewrite.refusals.len(), rewrite.refusals_left_out), (3, 0));
        assert!(rewrite.refusals.iter().all(|refusal| refusal.nodes.len() == REFUSALS));
        rewrite.refusals = vec![Refusal { nodes: vec![], reason: "no".into() }; REFUSALS + 7];
        // Guest and supervisor both see to it: the second finds nothing more.
        (0..2).for_each(|_| rewrite.bound_refusals());
        assert_eq!((rewrite.refusals.len(), rewrite.refusals_left_out), (REFUSALS, 7));
    }

    #[test]
    fn a_limit_is_told_with_its_unit() {
        for (limit, value, expected) in [
            (Limit::Memory, 256 << 20, "256 MiB"),
            (Limit::Stack, 1 << 30, "1 GiB"),
            (Limit::Log, 1000, "1000 bytes"),
            (Limit::Output, 0, "0 bytes"),
            (Limit::Deadline, 10_000, "10 s"),
            (Limit::Compile, 1_500, "1500 ms"),
            (Limit::Fuel, 2, "2 units"),
        ] {
            assert_eq!(limit.quantity(value), expected);
        }
    }
}
