//! What a pass returned is verified, and held against the policy.

use super::rewrite::refused;
use super::{Rewritten, Said, Stopped, Trail, without_types};
use crate::event::WorkStage;
use passhost_child::Types;
use passhost_ir::verify::{GraphError, check_own_calls, verify_rewrite};
use passhost_ir::{DeviceFacts, Graph, Node, NodeId, NodeKind, OpTable, constant_nodes, kernel};
use passhost_policy::Inserted;
use passhost_protocol::reader::Variant;
use passhost_result::GuestUsage;
use passhost_result::document::{Blame, Failure, Rewrite, failure};
use passhost_result::untrusted::indented;
use passhost_score::FailureClass;
use std::collections::HashSet;
use std::sync::Arc;

/// Remarks about the kernels of one rewrite.
const REMARKS: usize = 8;

/// Characters of a line of an excerpt.
const EXCERPT: usize = 200;

/// A rewrite that may run.
pub(crate) struct Verified {
    /// What it is a rewrite of.
    pub reference: Arc<Variant>,
    pub graph: Graph,
    pub rewrite: Rewrite,
    pub usage: GuestUsage,
    /// What its author should know of it.
    pub notes: Vec<String>,
}

impl Rewritten {
    /// Verifies it, and says what is worth knowing of it on a device with these facts.
    pub fn verified(mut self, trail: &Trail<'_>, types: &mut Types, device: &DeviceFacts) -> Result<Verified, Stopped> {
        trail.reached(WorkStage::Verifying);
        let checked = self.check(trail, types);
        let Rewritten { reference, functional, graph, mut rewrite, usage, .. } = self;
        match checked {
            Ok(pass_miss) => {
                let is_kernel = |node: &&Node| matches!(node.kind, NodeKind::Kernel { .. });
                rewrite.kernels = graph.nodes.iter().filter(is_kernel).count();
                rewrite.pass_miss = pass_miss;
                let constants = said_of_constants(constant_nodes(&graph, &functional).len());
                let notes = constants.into_iter().chain(remarks(&graph, &functional, device)).collect();
                Ok(Verified { reference, graph, rewrite, usage, notes })
            }
            Err(mut stopped) => {
                (stopped.said.rewrite, stopped.said.usage) = (Some(rewrite), Some(usage));
                Err(stopped)
            }
        }
    }

    /// Whether nothing that counts is changed in it, if it may run.
    fn check(&mut self, trail: &Trail<'_>, types: &mut Types) -> Result<bool, Stopped> {
        let config = &trail.supervisor.config;
        let mut infer = self.account.pays(types);
        let verified = verify_rewrite(&self.functional, &self.graph, OpTable::insert(), &mut infer);
        if let Some(trouble) = infer.end() {
            return Err(Stopped::new(FailureClass::Compile, without_types("verify", trouble)));
        }
        self.account.settled(config.limits).map_err(refused)?;
        let summary = verified.map_err(|error| refused_graph(&error, &self.graph))?;
        if config.policy.rules().inserted != Inserted::Listed {
            check_own_calls(&self.functional, &self.graph).map_err(|error| {
                let message = format!("the policy `{}` does not allow this: {error}", config.policy.name());
                let hint = "docs/policies.md says what it allows; `passhost show --after` prints the graph";
                stopped_at(&error, &self.graph, failure(Blame::Plugin, "policy", message, hint))
            })?;
        }
        Ok(summary.pass_miss)
    }
}

impl Verified {
    /// What the document says of a rewrite that ends here.
    pub fn said(self) -> Said {
        Said { rewrite: Some(self.rewrite), usage: Some(self.usage), ..Said::default() }
    }
}

/// A graph that the verifier refuses.
pub(super) fn refused_graph(error: &GraphError, graph: &Graph) -> Stopped {
    let hint = "`passhost show --after` prints the graph that the pass returned";
    stopped_at(error, graph, failure(Blame::Plugin, "verify", error, hint))
}

/// With where the graph is wrong, fit for a terminal.
fn stopped_at(error: &GraphError, graph: &Graph, failure: Failure) -> Stopped {
    let excerpt = error.excerpt(graph).iter().map(|line| indented(line, EXCERPT)).collect();
    let said = Said { excerpt, ..Said::default() };
    Stopped { class: FailureClass::Compile, failure, said: said.into() }
}

/// What the author of inserted kernels should look at.
fn remarks(rewritten: &Graph, original: &Graph, device: &DeviceFacts) -> Vec<String> {
    let known: HashSet<NodeId> = original.nodes.iter().map(|node| node.id).collect();
    let mut found = vec![];
    for node in rewritten.nodes.iter().filter(|node| !known.contains(&node.id)) {
        let NodeKind::Kernel { kernel, .. } = &node.kind else { continue };
        let Ok(facts) = kernel::verify(kernel) else { continue };
        let remarks = kernel::remarks(kernel, &facts, device);
        found.extend(remarks.into_iter().map(|remark| format!("kernel {}: {remark}", node.id)));
        if found.len() >= REMARKS {
            break;
        }
    }
    found.truncate(REMARKS);
    found
}

/// What a result says of inserted nodes that no input reaches.
fn said_of_constants(count: usize) -> Option<String> {
    let (nodes, depend) = if count == 1 { ("node", "depends") } else { ("nodes", "depend") };
    let text = format!("{count} inserted {nodes} {depend} on no input: calculated once, before anything is timed");
    (count > 0).then_some(text)
}
