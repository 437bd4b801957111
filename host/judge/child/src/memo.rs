//! What is known of result types. Models repeat the same layer many times, and asking the types child costs two
//! switches between processes.

use passhost_ir::{Arg, OpName, TensorType};
use passhost_protocol::types::TypesAnswer;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that all answers may take, roughly.
const LIMIT: usize = 128 << 20;
/// What an entry takes besides the bytes of its question and its answer.
const OVERHEAD: usize = 128;

/// An op with the types of its operands, in a form that can be compared.
pub(crate) type MemoKey = Box<[u8]>;

/// The question; `None` where it has no such form.
pub(crate) fn key(op: &OpName, args: &[Arg<TensorType>]) -> Option<MemoKey> {
    postcard::to_stdvec(&(op, args)).ok().map(Into::into)
}

/// Answers by question, of bounded size: when it is full, all are forgotten.
#[derive(Debug)]
pub struct Memo {
    answers: Mutex<KnownAnswers>,
    limit: usize,
    asked: AtomicU64,
    known: AtomicU64,
}

#[derive(Debug, Default)]
struct KnownAnswers {
    by_question: HashMap<MemoKey, TypesAnswer>,
    bytes: usize,
}

impl Default for Memo {
    /// An empty one of the usual size.
    fn default() -> Memo {
        Memo { answers: Mutex::default(), limit: LIMIT, asked: AtomicU64::new(0), known: AtomicU64::new(0) }
    }
}

impl Memo {
    /// The answer if it is known.
    pub(crate) fn get(&self, question: &MemoKey) -> Option<TypesAnswer> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = self.lock().by_question.get(question).cloned()?;
        self.known.fetch_add(1, Ordering::Relaxed);
        Some(answer)
    }

    /// Keeps an answer, which must be the same whenever the question is asked.
    pub(crate) fn put(&self, question: MemoKey, answer: TypesAnswer) {
        let of_type = |ty: &TensorType| size_of::<TensorType>() + 2 * size_of::<i64>() * ty.rank();
        let bytes = OVERHEAD + question.len() + answer.as_ref().map_or(64, |types| types.iter().map(of_type).sum());
        let mut answers = self.lock();
        if answers.bytes + bytes > self.limit {
            *answers = KnownAnswers::default();
        }
        answers.bytes += bytes;
        answers.by_question.insert(question, answer);
    }

    /// Questions so far, and how many of them needed no child.
    pub fn counts(&self) -> (u64, u64) {
        (self.asked.load(Ordering::Relaxed), self.known.load(Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, KnownAnswers> {
        // Nothing that holds the lock can leave the map half changed.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::Dtype;

    fn question(extent: i64) -> MemoKey {
        let ty = TensorType::contiguous(Dtype::F32, [extent]);
        key(&OpName::new("aten::relu", ""), &[Arg::Value(ty)]).unwrap()
    }

    fn answer(extent: i64) -> TypesAnswer {
        Ok(vec![TensorType::contiguous(Dtype::F32, [extent])])
    }

    #[test]
    fn an_answer_is_found_again_and_questions_are_counted() {
        let memo = Memo::default();
        assert_eq!(memo.get(&question(3)), None);
        memo.put(question(3), answer(3));
        assert_eq!(memo.get(&question(3)), Some(answer(3)));
        assert_eq!(memo.get(&question(4)), None);
        assert_eq!(memo.counts(), (3, 1));
    }

    #[test]
    fn size_is_bounded() {
        let memo = Memo { limit: 4_000, ..Memo::default() };
        for extent in 1..1_000 {
            memo.put(question(extent), answer(extent));
            assert!(memo.get(&question(extent)).is_some(), "{extent}");
            assert!(memo.lock().by_question.len() < 30);
        }
        assert_eq!(memo.get(&question(1)), None);
    }
}
