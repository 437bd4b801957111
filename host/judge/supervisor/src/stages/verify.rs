//! What a pass returned is verified, and held against the policy.

use super::{Rewritten, Stopped, Trail, refused, refused_graph, stopped_at, without_types};
use crate::event::WorkStage;
use passhost_child::TypesClient;
use passhost_ir::verify::{check_own_calls, verify_rewrite};
use passhost_ir::{DeviceFacts, Graph, Node, NodeId, NodeKind, OpTable, constant_nodes, kernel};
use passhost_policy::Inserted;
use passhost_protocol::reader::SampleVariant;
use passhost_result::NoteKind;
use passhost_result::document::{Blame, failure};
use passhost_score::FailureClass;
use std::collections::HashSet;
use std::sync::Arc;

/// Remarks about the kernels of one rewrite.
const REMARKS: usize = 8;

/// A rewrite that may run.
pub(crate) struct VerifiedRewrite {
    /// What it is a rewrite of.
    pub reference: Arc<SampleVariant>,
    pub graph: Graph,
    /// Whether nothing that counts is changed in it.
    pub pass_miss: bool,
    /// What its author should know of it.
    pub notes: Vec<String>,
}

impl Rewritten {
    /// Verifies it, and says what is worth knowing of it on a device with these facts.
    pub fn verified(
        mut self,
        trail: &mut Trail<'_>,
        types: &mut TypesClient,
        device: &DeviceFacts,
    ) -> Result<VerifiedRewrite, Stopped> {
        trail.reached(WorkStage::Verifying);
        let pass_miss = self.check(trail, types)?;
        let Rewritten { reference, functional, graph, .. } = self;
        if let Some(rewrite) = &mut trail.entry.rewrite {
            let is_kernel = |node: &&Node| matches!(node.kind, NodeKind::Kernel { .. });
            rewrite.kernels = graph.nodes.iter().filter(is_kernel).count();
            rewrite.pass_miss = pass_miss;
        }
        let constants = note_on_constants(constant_nodes(&graph, &functional).len());
        let notes = constants.into_iter().chain(remarks(&graph, &functional, device)).collect();
        Ok(VerifiedRewrite { reference, graph, pass_miss, notes })
    }

    /// Whether nothing that counts is changed in it, if it may run.
    fn check(&mut self, trail: &mut Trail<'_>, types: &mut TypesClient) -> Result<bool, Stopped> {
        let config = &trail.supervisor.config;
        let mut infer = self.account.pays(types);
        let verified = verify_rewrite(&self.functional, &self.graph, OpTable::insert(), &mut infer);
        if let Some(trouble) = infer.end() {
            return Err(Stopped::new(FailureClass::Compile, without_types("verify", trouble)));
        }
        self.account.settled(config.limits).map_err(refused)?;
        let summary = verified.map_err(|error| refused_graph(trail, &error, &self.graph))?;
        if config.policy.rules().inserted != Inserted::Listed {
            check_own_calls(&self.functional, &self.graph).map_err(|error| {
                let message = format!("the policy `{}` does not allow this: {error}", config.policy.name());
                let hint = "docs/checking.md says what it allows; `passhost show --after` prints the graph";
                stopped_at(trail, &error, &self.graph, failure(Blame::Plugin, "policy", message, hint))
            })?;
        }
        Ok(summary.pass_miss)
    }
}

/// What the author of inserted kernels should look at.
fn remarks(rewritten: &Graph, original: &Graph, device: &DeviceFacts) -> Vec<String> {
    let known: HashSet<NodeId> = original.nodes.iter().map(|node| node.id).collect();
    let mut found = vec![];
    for node in rewritten.nodes.iter().filter(|node| !known.contains(&node.id)) {
        let NodeKind::Kernel { kernel, .. } = &node.kind else { continue };
        let Ok(facts) = kernel::verify(kernel) else { continue };
        let remarks = kernel::remarks(kernel, &facts, device);
        let noted = |remark| NoteKind::KernelRemark.note(format!("kernel {}: {remark}", node.id));
        found.extend(remarks.into_iter().map(noted));
        if found.len() >= REMARKS {
            break;
        }
    }
    found.truncate(REMARKS);
    found
}

/// What a result says of inserted nodes that no input reaches.
fn note_on_constants(count: usize) -> Option<String> {
    let (nodes, depend) = if count == 1 { ("node", "depends") } else { ("nodes", "depend") };
    let text = format!("{count} inserted {nodes} {depend} on no input: calculated once, before anything is timed");
    (count > 0).then(|| NoteKind::ConstantNodes.note(text))
}
