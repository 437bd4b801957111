//! The pass on one graph: run twice, because what it returns must depend on nothing but the graph. What the host answers
//! meanwhile is at the pass's expense.

use super::{Stopped, Trail, TypedVariant, refused, refused_graph, without_types};
use crate::account::Account;
use crate::event::WorkStage;
use passhost_child::guest::GuestError;
use passhost_child::{ChildError, LoadedPlugin, TypesClient};
use passhost_ir::verify::check_counts;
use passhost_ir::{DeviceFacts, Graph, OpTable, functionalise};
use passhost_protocol::encode;
use passhost_protocol::guest::{self, GuestFailure};
use passhost_protocol::reader::SampleVariant;
use passhost_result::document::{Blame, Graphs, Rewrite, failure, inserts_calls, rewrite_sha256};
use passhost_result::{GuestUsage, NoteKind};
use passhost_score::FailureClass;
use std::sync::Arc;
use std::time::Duration;

/// What a pass made of a graph, twice alike.
pub(crate) struct Rewritten {
    pub reference: Arc<SampleVariant>,
    /// The graph that the pass was given.
    pub functional: Graph,
    /// What it returned.
    pub graph: Graph,
    /// What is left of the time that the host has for its author.
    pub account: Account,
}

/// A pass that runs on one graph.
struct PassRun<'a, 's> {
    trail: &'a mut Trail<'s>,
    plugin: &'a mut LoadedPlugin,
    types: &'a mut TypesClient,
    device: DeviceFacts,
    account: Account,
    /// Why its questions have no answers.
    trouble: Option<ChildError>,
}

impl TypedVariant {
    /// Runs the pass on the functional form, for a device with these facts.
    pub fn rewritten(
        self,
        trail: &mut Trail<'_>,
        plugin: &mut LoadedPlugin,
        types: &mut TypesClient,
        device: DeviceFacts,
    ) -> Result<Rewritten, Stopped> {
        let functional = functionalise(&self.reference.program, OpTable::sample()).map_err(|error| {
            let hint = "this form of in-place writing is not supported yet";
            Stopped::new(FailureClass::Reference, failure(Blame::Sample, "sample", error, hint))
        })?;
        let functional = functional.graph;
        trail.reached(WorkStage::Rewriting);
        let limits = trail.supervisor.config.limits;
        let account = Account::new(Duration::from_millis(limits.answers_ms));
        let mut pass = PassRun { trail, plugin, types, device, account, trouble: None };
        let (first, usage) = pass.run(&functional)?;
        let (second, _) = pass.run(&functional)?;
        let PassRun { trail, account, .. } = pass;
        account.settled(limits).map_err(refused)?;
        // Encoded: a NaN equals itself there, and zeros of two signs differ.
        if !matches!((encode(&first), encode(&second)), (Ok(first), Ok(second)) if first == second) {
            let message = "two runs of the pass on the same graph gave different rewrites";
            let hint = "a pass must be a pure function; do not iterate over hash maps with random keys";
            let failure = failure(Blame::Plugin, "rewrite", message, hint);
            return Err(Stopped::new(FailureClass::Integrity, failure));
        }
        if first.refusals_left_out > 0 {
            let left_out = first.refusals_left_out;
            let text = format!("the pass gave reasons for what it left alone, of which {left_out} are left out");
            trail.note(NoteKind::ReasonsLeftOut, [text]);
        }
        let text = first.graph.to_string();
        trail.entry.usage = Some(usage);
        trail.entry.rewrite = Some(Rewrite {
            sha256: rewrite_sha256(&text, device, &trail.supervisor.config.policy),
            nodes_before: functional.nodes.len(),
            nodes_after: first.graph.nodes.len(),
            kernels: 0,
            pass_miss: false,
            refusals: first.refusals,
            graphs: Graphs::of(&functional, text),
        });
        Ok(Rewritten { reference: self.reference, functional, graph: first.graph, account })
    }
}

type PassAnswer = (Result<guest::GuestRewrite, GuestFailure>, GuestUsage);

impl PassRun<'_, '_> {
    /// Runs the pass. A child that dies is replaced once: a pass that kills it twice has done it itself.
    fn run(&mut self, graph: &Graph) -> Result<(guest::GuestRewrite, GuestUsage), Stopped> {
        let answer = match self.run_once(graph) {
            Err(GuestError::Child(error)) => {
                let note = format!("{error}; the pass ran again in a fresh one");
                self.reload();
                let again = self.run_once(graph);
                self.trail.note(NoteKind::RestartedProcess, again.is_ok().then_some(note));
                again
            }
            answer => answer,
        };
        if let Some(trouble) = self.trouble.take() {
            return Err(Stopped::new(FailureClass::Compile, without_types("rewrite", trouble)));
        }
        match answer {
            Ok((Ok(mut rewrite), usage)) => {
                // The child has seen to both, unless a plugin has taken it over.
                rewrite.bound_refusals();
                check_counts(graph, &rewrite.graph)
                    .map_err(|error| refused_graph(self.trail, &error, &rewrite.graph))?;
                Ok((rewrite, usage))
            }
            Ok((Err(error), usage)) => {
                self.trail.entry.usage = Some(usage);
                Err(refused(GuestError::Plugin(error)))
            }
            Err(error) => {
                // Whatever state the child is in, the next variant starts with a fresh one.
                self.reload();
                Err(refused(error))
            }
        }
    }

    fn reload(&mut self) {
        let supervisor = self.trail.supervisor;
        self.plugin.reload(supervisor.config.limits, supervisor.cache.as_ref());
    }

    fn run_once(&mut self, graph: &Graph) -> Result<PassAnswer, GuestError> {
        let config = &self.trail.supervisor.config;
        let calls = infer_calls(graph, config.limits.infer_calls);
        let inserts = inserts_calls(&config.policy);
        let mut infer = self.account.pays(self.types);
        let answer = match self.plugin.guest() {
            Ok(guest) => guest.run(graph, self.device, inserts, calls, &mut infer),
            Err(failure) => Err(GuestError::Plugin(GuestFailure::Host(failure.message.clone()))),
        };
        self.trouble = infer.end();
        answer
    }
}

/// Questions about types that a pass may ask about a graph: ten for each node on top of the limit.
pub fn infer_calls(graph: &Graph, limit: u64) -> u64 {
    10 * graph.nodes.len() as u64 + limit
}
