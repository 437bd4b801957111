//! What the host does on somebody's behalf: questions about types, answered for a pass, for the verification of what it
//! returned, or for the reader of a sample. All of it is charged to one account, and refused when that is empty.

use passhost_child::guest::GuestError;
use passhost_child::{ChildError, TypesClient, TypesSession};
use passhost_ir::{Arg, Infer, InferError, OpName, TensorType};
use passhost_protocol::guest::{GuestFailure, Limit};
use passhost_protocol::types::TypesAnswer;
use passhost_result::GuestLimits;
use std::time::{Duration, Instant};

/// Tensors and numbers in one question. A real one has a few dozen, a concatenation some hundred.
const OPERANDS: u64 = 10_000;

/// What is left of the time that somebody may have of the host.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    left: Duration,
    is_overdrawn: bool,
}

impl Account {
    /// One with so much wall clock in it.
    pub fn new(time: Duration) -> Account {
        Account { left: time, is_overdrawn: false }
    }

    /// Refuses an author whose pass has had more of the host's time than there is.
    ///
    /// # Errors
    ///
    /// If something was refused because nothing was left.
    pub(crate) fn settled(&self, limits: GuestLimits) -> Result<(), GuestError> {
        let overdrawn = GuestFailure::Limit { limit: Limit::Answers, value: limits.answers_ms };
        if self.is_overdrawn { Err(GuestError::Plugin(overdrawn)) } else { Ok(()) }
    }

    /// Somebody who answers at the expense of this account.
    pub fn pays<'a>(&'a mut self, types: &'a mut TypesClient) -> Charged<'a> {
        Charged { account: self, types: types.session() }
    }

    /// Does something, unless nothing is left, and charges the time that it takes.
    fn charge<T>(&mut self, work: impl FnOnce(Duration) -> T) -> Option<T> {
        if self.left.is_zero() {
            self.is_overdrawn = true;
            return None;
        }
        let started = Instant::now();
        let done = work(self.left);
        self.left = self.left.saturating_sub(started.elapsed());
        Some(done)
    }
}

/// Answers questions about types at somebody's expense.
pub struct Charged<'a> {
    account: &'a mut Account,
    types: TypesSession<'a>,
}

impl Charged<'_> {
    /// Why no types child could be had, where an answer was that.
    pub fn end(self) -> Option<ChildError> {
        self.types.end()
    }
}

impl Infer for Charged<'_> {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> TypesAnswer {
        let operands: u64 = args.iter().map(Arg::size).sum();
        if operands > OPERANDS {
            let message = format!("{operands} operands and numbers; at most {OPERANDS} are answered");
            return Err(InferError::Refused { op: op.to_string(), message });
        }
        let types = &mut self.types;
        let answer = self.account.charge(|left| types.infer_within(op, args, left));
        answer.unwrap_or_else(|| Err(InferError::Unavailable("the time for answers is used up".into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::Dtype;

    #[test]
    fn an_empty_account_pays_for_nothing_and_says_so() {
        let mut account = Account::new(Duration::from_millis(1));
        assert_eq!(account.charge(|left| left), Some(Duration::from_millis(1)));
        account.charge(|_| std::thread::sleep(Duration::from_millis(2)));
        assert!(!account.is_overdrawn, "what it began to pay for was done");
        assert_eq!(account.charge(|left| left), None);
        assert!(account.is_overdrawn);
    }

    #[test]
    fn a_question_without_end_is_refused_before_it_is_asked() {
        let mut account = Account::new(Duration::from_secs(60));
        let mut types = TypesClient::new(std::sync::Arc::default(), passhost_child::Confinement::default());
        let many = vec![TensorType::contiguous(Dtype::F32, [1]); OPERANDS as usize];
        let answer = account.pays(&mut types).infer(&OpName::new("aten::cat", ""), &[Arg::Values(many)]);
        assert!(matches!(answer, Err(InferError::Refused { .. })), "{answer:?}");
    }
}
