//! What becomes of a variant, a type for each stage: [`Read`], [`Typed`], [`Rewritten`], [`Verified`], [`Measured`], and at
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

pub(crate) use judge::{Measured, judged};
pub(crate) use measure::Plan;
pub(crate) use read::{Read, Typed};
pub(crate) use reference::{Reference, secret};
pub(crate) use rewrite::Rewritten;
pub use rewrite::infer_calls;
pub(crate) use timing::{ATTEMPTS, PAUSE};
pub(crate) use trail::Trail;
pub(crate) use verify::Verified;

use passhost_child::{ChildError, DOCTOR, UNCONFINED};
use passhost_result::document::{Blame, Failure, Rewrite, Variant, failure};
use passhost_result::verdict::{Judged, caught, failed};
use passhost_result::{Finding, GuestUsage, TunedKernel};
use passhost_score::FailureClass;

/// Why a variant came to its end before its rewrite was compared.
#[derive(Debug, Clone)]
pub(crate) struct Stopped {
    pub class: FailureClass,
    pub failure: Failure,
    pub said: Box<Said>,
}

/// What a document says of a rewrite that was not compared, as far as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
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
        Stopped { class, failure, said: Box::default() }
    }

    /// It ended after something had been found.
    fn after(mut self, findings: &[Finding]) -> Stopped {
        self.said.findings = findings.to_vec();
        self
    }

    /// The verdict.
    pub fn judged(self, trail: Trail<'_>) -> Judged {
        let Said { rewrite, usage, excerpt, seed, tuned, findings } = *self.said;
        let variant = Variant { rewrite, usage, excerpt, seed, tuned, ..trail.entry() };
        caught(failed(variant, self.class, self.failure), &findings)
    }
}

/// Nobody says what ops return, which is the host's trouble.
fn without_types(stage: &str, trouble: ChildError) -> Failure {
    let hint = if matches!(trouble, ChildError::Unconfined { .. }) { UNCONFINED } else { DOCTOR };
    failure(Blame::Host, stage, trouble, hint)
}
