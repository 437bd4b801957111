//! What is known of result types. Models repeat the same layer many times, and asking the types child costs two
//! switches between processes.

use passhost_ir::{Arg, OpName, TensorType};
use passhost_protocol::types::TypesAnswer;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes that one generation may take, roughly; there are two.
const GENERATION: usize = 64 << 20;
/// What an entry takes besides the bytes of its question and its answer.
const OVERHEAD: usize = 128;

/// Answers by question, of bounded size: when the young generation is full it becomes the old one, and the old one is
/// forgotten but for what was asked for again.
#[derive(Debug)]
pub struct Memo {
    generations: Mutex<Generations>,
    limit: usize,
    asked: AtomicU64,
    known: AtomicU64,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Box<[u8]>, TypesAnswer>,
    old: HashMap<Box<[u8]>, TypesAnswer>,
    young_bytes: usize,
}

impl Default for Memo {
    /// An empty one of the usual size.
    fn default() -> Memo {
        Memo::with_limit(GENERATION)
    }
}

impl Memo {
    fn with_limit(limit: usize) -> Memo {
        Memo { generations: Mutex::default(), limit, asked: AtomicU64::new(0), known: AtomicU64::new(0) }
    }

    /// The answer if it is known.
    pub fn get(&self, question: &MemoKey) -> Option<TypesAnswer> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut generations = self.lock();
        let young = generations.young.get(&question.0).cloned();
        let answer = match young {
            Some(answer) => answer,
            None => {
                let (question, answer) = generations.old.remove_entry(&question.0)?;
                generations.insert(question, answer.clone(), self.limit);
                answer
            }
        };
        self.known.fetch_add(1, Ordering::Relaxed);
        Some(answer)
    }

    /// Keeps an answer, which must be the same whenever the question is asked.
    pub fn put(&self, question: MemoKey, answer: TypesAnswer) {
        self.lock().insert(question.0, answer, self.limit);
    }

    /// Questions so far, and how many of them needed no child.
    pub fn counts(&self) -> (u64, u64) {
        (self.asked.load(Ordering::Relaxed), self.known.load(Ordering::Relaxed))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        // Nothing that holds the lock can leave the maps half changed.
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn insert(&mut self, question: Box<[u8]>, answer: TypesAnswer, limit: usize) {
        let bytes =
            OVERHEAD + question.len() + answer.as_ref().map_or(64, |types| types.iter().map(size_of_type).sum());
        if self.young_bytes + bytes > limit {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        self.young.insert(question, answer);
    }
}

fn size_of_type(ty: &TensorType) -> usize {
    size_of::<TensorType>() + 2 * size_of::<i64>() * ty.rank()
}

/// An op with the types of its operands, in a form that can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoKey(Box<[u8]>);

impl MemoKey {
    /// `None` where it has no such form.
    pub fn new(op: &OpName, args: &[Arg<TensorType>]) -> Option<MemoKey> {
        postcard::to_stdvec(&(op, args)).ok().map(|bytes| MemoKey(bytes.into()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::Dtype;

    fn question(extent: i64) -> MemoKey {
        let ty = TensorType::contiguous(Dtype::F32, [extent]);
        MemoKey::new(&OpName::new("aten::relu", ""), &[Arg::Value(ty)]).unwrap()
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
    fn size_is_bounded_and_what_is_asked_for_stays() {
        let memo = Memo::with_limit(4_000);
        memo.put(question(0), answer(0));
        for extent in 1..1_000 {
            memo.put(question(extent), answer(extent));
            assert!(memo.get(&question(0)).is_some(), "after {extent}");
            let generations = memo.lock();
            assert!(generations.young.len() + generations.old.len() < 50);
        }
        assert_eq!(memo.get(&question(1)), None);
    }
}
