//! What becomes of a variant, a type for each stage: [`ReadVariant`], [`TypedVariant`], [`Rewritten`], [`VerifiedRewrite`], [`MeasuredVariant`], and at
//! the end [`Judged`]. Each is made of the one before it, which it consumes, or the variant is [`Stopped`] there. What all
//! stages say of it is in its [`Trail`]; its entry in the document is made of both, once, at the end.

mod judge;
mod measure;
mod read;
mod reference;
mod rewrite;
mod timing;
mod trail;
mod verify;

pub(crate) use judge::{MeasuredVariant, judged};
pub(crate) use measure::RunPlan;
pub(crate) use read::{ReadVariant, TypedVariant};
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
use passhost_result::document::{Blame, Failure, Rewrite, Variant, failure};
use passhost_result::untrusted::indented;
use passhost_result::verdict::{Judged, caught, failed};
use passhost_result::{Finding, GuestUsage, TunedKernel};
use passhost_score::FailureClass;

/// Characters of a line of an excerpt.
const EXCERPT: usize = 200;

/// Why a variant came to its end before its rewrite was compared.
#[derive(Debug, Clone)]
pub(crate) struct Stopped {
    pub class: FailureClass,
    pub failure: Failure,
    pub record: Box<RewriteRecord>,
}

/// What a document says of a rewrite that was not compared, as far as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct RewriteRecord {
    pub rewrite: Option<Rewrite>,
    pub usage: Option<GuestUsage>,
    pub excerpt: Vec<String>,
    pub seed: Option<u64>,
    pub tuned: Vec<TunedKernel>,
    /// What was found before it ended otherwise.
    pub findings: Vec<Finding>,
}

impl Stopped {
    pub fn new(class: FailureClass, failure: Failure) -> Stopped {
        Stopped { class, failure, record: Box::default() }
    }

    /// It ended after something had been found.
    fn after(mut self, findings: &[Finding]) -> Stopped {
        self.record.findings = findings.to_vec();
        self
    }

    /// The verdict.
    pub fn judged(self, trail: Trail<'_>) -> Judged {
        let RewriteRecord { rewrite, usage, excerpt, seed, tuned, findings } = *self.record;
        let variant = Variant { rewrite, usage, excerpt, seed, tuned, ..trail.entry() };
        caught(failed(variant, self.class, self.failure), &findings)
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
fn refused_graph(error: &GraphError, graph: &Graph) -> Stopped {
    let hint = "`passhost show --after` prints the graph that the pass returned";
    stopped_at(error, graph, failure(Blame::Plugin, "verify", error, hint))
}

/// With where the graph is wrong, fit for a terminal.
fn stopped_at(error: &GraphError, graph: &Graph, failure: Failure) -> Stopped {
    let excerpt = error.excerpt(graph).iter().map(|line| indented(line, EXCERPT)).collect();
    let record = RewriteRecord { excerpt, ..RewriteRecord::default() };
    Stopped { class: FailureClass::Compile, failure, record: record.into() }
}
