//! The client of the guest child: loads a plugin there and runs it.

use crate::plugin::Plugin;
use crate::process::{Child, ChildError, Confinement};
use passhost_cache::{Cache, CacheKey};
use passhost_ir::{DeviceFacts, Graph, Infer};
use passhost_protocol::guest::{FromGuest, GuestFailure, GuestRewrite, Limit, ToGuest, room_for_log, room_for_rewrite};
use passhost_result::{GuestLimits, GuestUsage, PassInfo, SandboxProfile};
use std::time::{Duration, Instant};

/// How much longer than a limit the supervisor waits before it kills a child that should have stopped by itself.
const GRACE: Duration = Duration::from_millis(1500);
/// A child that has nothing to do but start.
const START: Duration = Duration::from_secs(10);

/// What a child that answers something else than it was asked is.
const OUT_OF_TURN: GuestError = GuestError::Child(ChildError::UnexpectedMessage("guest"));

/// Why a plugin gave no rewrite.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The plugin's doing.
    #[error("{0}")]
    Plugin(GuestFailure),
    /// The child is gone; whose doing it is shows when the call is repeated in a fresh one.
    #[error("{0}")]
    Child(#[from] ChildError),
}

/// A child that has loaded a plugin.
pub struct Guest {
    child: Child<FromGuest>,
    limits: GuestLimits,
    /// What keeps it in.
    pub profile: SandboxProfile,
    /// Whether its machine code came from the cache.
    pub from_cache: bool,
    /// Microseconds that checks and compilation, or loading, took.
    pub load_us: u64,
}

impl Guest {
    /// Starts a child, confined as it must be, and loads the plugin: from `cache` if it has an authentic artefact,
    /// else by compiling it.
    ///
    /// # Errors
    ///
    /// If the child does not start or dies, is not confined as it must be, or the plugin is refused.
    pub fn load(
        plugin: &Plugin,
        limits: GuestLimits,
        cache: Option<&Cache>,
        confinement: Confinement,
    ) -> Result<Guest, GuestError> {
        let mut child: Child<FromGuest> = Child::start("guest", "passhost-guest", None, &[])?;
        let FromGuest::Hello { engine, profile } = child.receive(Instant::now() + START)? else {
            return Err(OUT_OF_TURN);
        };
        child.hold_to(confinement, profile)?;
        let key = CacheKey::of(&[b"wasm", plugin.sha256.as_bytes(), engine.as_bytes()]);
        let artefact = cache.and_then(|cache| cache.get(&key));
        let cached = artefact.is_some();
        child.send(&ToGuest::Load { wasm: plugin.wasm.clone(), artefact, limits })?;
        let deadline = Instant::now() + Duration::from_millis(limits.compile_ms) + GRACE;
        match child.receive(deadline) {
            Ok(FromGuest::Loaded { artefact, wall_us }) => {
                // The artefact arrived before any code of the plugin ran, so that the compiler alone made it.
                if let (Some(cache), Some(artefact)) = (cache, &artefact) {
                    cache.put(&key, artefact);
                }
                Ok(Guest { child, limits, profile, from_cache: cached && artefact.is_none(), load_us: wall_us })
            }
            Ok(FromGuest::Failed(failure)) => Err(GuestError::Plugin(failure)),
            Ok(_) => Err(OUT_OF_TURN),
            Err(ChildError::Deadline { .. }) => {
                Err(GuestError::Plugin(GuestFailure::Limit { limit: Limit::Compile, value: limits.compile_ms }))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Who the plugin says it is.
    ///
    /// # Errors
    ///
    /// If the child dies, or the plugin fails or overruns.
    pub fn describe(&mut self) -> Result<PassInfo, GuestError> {
        self.child.allow(room_for_log(&self.limits));
        self.child.send(&ToGuest::Describe)?;
        match self.child.receive(self.deadline()) {
            Ok(FromGuest::Described(info, _)) => info.map_err(GuestError::Plugin),
            Ok(_) => Err(OUT_OF_TURN),
            Err(error) => Err(self.overran(error)),
        }
    }

    /// Runs the pass in a fresh instance, for a device. `inserts_calls` says whether its rewrite may call ops that the graph
    /// does not call. `infer` answers its questions about types, at most `infer_calls` of them.
    ///
    /// # Errors
    ///
    /// If the child dies, or the plugin overruns.
    pub fn run(
        &mut self,
        graph: &Graph,
        device: DeviceFacts,
        inserts_calls: bool,
        infer_calls: u64,
        infer: &mut dyn Infer,
    ) -> Result<(Result<GuestRewrite, GuestFailure>, GuestUsage), GuestError> {
        self.child.allow(room_for_rewrite(&self.limits, graph));
        self.child.send(&ToGuest::Run { graph: graph.clone(), device, inserts_calls, infer_calls })?;
        let mut deadline = self.deadline();
        let mut questions = 0;
        loop {
            match self.child.receive(deadline) {
                Ok(FromGuest::Infer { op, args }) => {
                    questions += 1;
                    // The child counts as well; this is for a child that a plugin has taken over.
                    if questions > infer_calls {
                        return Err(OUT_OF_TURN);
                    }
                    let asked = Instant::now();
                    let answer = infer.infer(&op, &args);
                    // The time the host takes to answer is not the plugin's.
                    deadline += asked.elapsed();
                    self.child.send(&ToGuest::Inferred(answer))?;
                }
                Ok(FromGuest::Ran(rewrite, usage)) => return Ok((rewrite, usage)),
                Ok(_) => return Err(OUT_OF_TURN),
                Err(error) => return Err(self.overran(error)),
            }
        }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.limits.deadline_ms) + GRACE
    }

    fn overran(&self, error: ChildError) -> GuestError {
        match error {
            ChildError::Deadline { .. } => {
                GuestError::Plugin(GuestFailure::Limit { limit: Limit::Deadline, value: self.limits.deadline_ms })
            }
            error => error.into(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::failure::guest_failure;
    use crate::process::tests::scripted;
    use passhost_ir::verify::most_size;
    use passhost_ir::{Arg, DeviceKind, InferError, NodeId, OpName, TensorType};
    use passhost_protocol::write_frame;
    use passhost_result::Refusal;
    use passhost_result::document::Blame;

    struct Nobody;

    impl Infer for Nobody {
        fn infer(&mut self, _: &OpName, _: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
            Err(InferError::Unavailable("nobody is asked".into()))
        }
    }

    #[test]
    fn an_answer_has_room_for_the_largest_rewrite_of_its_graph_and_no_more() {
        let graph = Graph::parse("graph(%x: f32[4]) {\n  %a: f32[4] = aten::relu(%x)\n  return (%a)\n}\n").unwrap();
        let run = |ids: u64| {
            let nodes = vec![NodeId(u32::MAX); usize::try_from(ids).unwrap()];
            let refusals = vec![Refusal { nodes, reason: "no".into() }];
            let rewrite = GuestRewrite { graph: graph.clone(), refusals, refusals_left_out: 0 };
            let mut says = vec![];
            write_frame(&mut says, &FromGuest::Ran(Ok(rewrite), GuestUsage::default())).unwrap();
            let (_directory, child) = scripted(&says);
            let profile = SandboxProfile { seccomp: true, landlock: Some(6) };
            let mut guest = Guest { child, limits: GuestLimits::default(), profile, from_cache: false, load_us: 0 };
            let (kind, multiprocessors, l2_bytes, bandwidth, launch_ns) = (DeviceKind::Cpu, 2, 1, 1, 1);
            let device = DeviceFacts { kind, multiprocessors, l2_bytes, bandwidth, launch_ns };
            guest.run(&graph, device, false, 0, &mut Nobody)
        };
        assert!(run(most_size(&graph)).unwrap().0.is_ok());
        let error = run(4 * most_size(&graph)).unwrap_err();
        assert!(error.to_string().contains("elements allowed"), "{error}");
        assert_eq!(guest_failure("run", error).blame, Blame::Plugin);
    }
}
