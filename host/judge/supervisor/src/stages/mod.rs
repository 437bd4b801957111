//! What becomes of a variant, a type for each stage: [`TypedVariant`], [`Rewritten`], [`VerifiedRewrite`], [`MeasuredVariant`](judge::MeasuredVariant),
//! and at the end [`Judged`]. Each is made of the one before it, which it consumes, or the variant is [`Stopped`] there. What
//! the document says of it grows in its [`Trail`].

mod judge;
mod measure;
mod read;
mod reference;
mod rewrite;
mod timing;
mod trail;
mod verify;

pub(crate) use judge::{judged, unfit};
pub(crate) use measure::{Measurement, RunPlan, rewrite_failed};
pub(crate) use read::{TypedVariant, read};
pub(crate) use reference::{Reference, secret};
pub(crate) use rewrite::Rewritten;
pub use rewrite::infer_calls;
pub(crate) use timing::{PAUSE, timed_until_quiet};
pub(crate) use trail::Trail;
pub(crate) use verify::VerifiedRewrite;

use passhost_child::guest::GuestError;
use passhost_child::{ChildError, DOCTOR, UNCONFINED, guest_failure};
use passhost_ir::Graph;
use passhost_ir::verify::GraphError;
use passhost_result::Finding;
use passhost_result::document::{Blame, Failure, failure};
use passhost_result::untrusted::indented;
use passhost_result::verdict::{Judged, caught, failed};
use passhost_score::FailureClass;

/// Characters of a line of an excerpt.
const EXCERPT: usize = 200;

/// Why a variant came to its end before its rewrite was compared.
#[derive(Debug, Clone)]
pub(crate) struct Stopped {
    pub class: FailureClass,
    pub failure: Failure,
    /// What was found before it ended otherwise.
    findings: Vec<Finding>,
}

impl Stopped {
    pub fn new(class: FailureClass, failure: Failure) -> Stopped {
        Stopped { class, failure, findings: vec![] }
    }

    /// It ended after something had been found.
    fn after(self, findings: &[Finding]) -> Stopped {
        Stopped { findings: findings.to_vec(), ..self }
    }

    /// The verdict.
    pub fn judged(self, trail: Trail<'_>) -> Judged {
        caught(failed(trail.entry, self.class, self.failure), &self.findings)
    }
}

/// Nobody says what ops return, which is the host's trouble.
fn without_types(stage: &str, trouble: ChildError) -> Failure {
    let hint = if matches!(trouble, ChildError::Unconfined { .. }) { UNCONFINED } else { DOCTOR };
    failure(Blame::Host, stage, trouble, hint)
}

/// A pass that gave no rewrite.
fn refused(error: GuestError) -> Stopped {
    Stopped::new(FailureClass::Compile, guest_failure("rewrite", error))
}

/// A graph that the verifier refuses.
fn refused_graph(trail: &mut Trail<'_>, error: &GraphError, graph: &Graph) -> Stopped {
    let hint = "`passhost show --after` prints the graph that the pass returned";
    stopped_at(trail, error, graph, failure(Blame::Plugin, "verify", error, hint))
}

/// With where the graph is wrong, fit for a terminal.
fn stopped_at(trail: &mut Trail<'_>, error: &GraphError, graph: &Graph, failure: Failure) -> Stopped {
    trail.entry.excerpt = error.excerpt(graph).iter().map(|line| indented(line, EXCERPT)).collect();
    Stopped::new(FailureClass::Compile, failure)
}
