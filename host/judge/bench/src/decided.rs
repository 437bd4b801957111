//! Who is right where a rewrite and eager differ: a run in double precision decides.

use crate::element::HostElements;
use crate::held::HeldTensor;
use crate::judge::{both, float_kind};
use crate::on_device;
use passhost_result::Decided;
use passhost_score::{Ladder, SMALLEST_T};
use rayon::prelude::*;

/// Elements that one task looks at.
const CHUNK: usize = 1 << 14;

/// What the rounds of an output come to.
#[derive(Debug, Clone)]
pub struct Sides {
    decided: Decided,
    /// Whether every question was answered; `None` before the first.
    answered: Option<bool>,
}

impl Default for Sides {
    fn default() -> Sides {
        Sides { decided: ALWAYS, answered: None }
    }
}

impl Sides {
    /// A round in which nobody was asked, as both programs agree from this t on.
    pub fn agreed(&mut self, passes_at: Option<i8>) {
        self.decided = join(self.decided, Decided { passes_at, ..ALWAYS });
    }

    /// A round in which a run in double precision was asked, and its answer if it had any.
    pub fn decided(&mut self, answer: Option<Decided>) {
        self.decided = join(self.decided, answer.unwrap_or(ALWAYS));
        self.answered = Some(self.answered.unwrap_or(true) && answer.is_some());
    }

    /// What is reported: nothing where nobody was asked, or a question was left open.
    pub fn report(&self) -> Option<Decided> {
        Some(self.decided).filter(|_| self.answered == Some(true))
    }
}

/// What is right at every t.
const ALWAYS: Decided = Decided { passes_at: Some(SMALLEST_T), eager_passes_at: Some(SMALLEST_T) };

/// What both rounds come to.
fn join(one: Decided, other: Decided) -> Decided {
    Decided {
        passes_at: both(one.passes_at, other.passes_at),
        eager_passes_at: both(one.eager_passes_at, other.eager_passes_at),
    }
}

/// Holds each element of a rewrite against eager's and against that of a run in double precision. `None` if the latter is of
/// another shape, or of another type where elements must be equal.
pub fn decide(three: [&HeldTensor; 3]) -> Option<Decided> {
    let [rewritten, eager, truth] = three;
    if truth.count() != eager.count() || rewritten.count() != eager.count() {
        return None;
    }
    let Some(kind) = float_kind(eager.dtype()) else {
        let is_same = truth.dtype() == eager.dtype();
        return is_same.then(|| decide_exact(rewritten.elements(), eager.elements(), truth.elements()));
    };
    if let [Some(rewritten), Some(eager), Some(truth)] = three.map(HeldTensor::tensor)
        && let Ok(decided) = on_device::sides::decide(kind, [rewritten, eager, truth])
    {
        return Some(decided);
    }
    let [rewritten, eager, truth] = three.map(HeldTensor::elements);
    let ladder = Ladder::new(kind);
    let chunks = (0..eager.len().div_ceil(CHUNK)).into_par_iter();
    let decided = chunks.map(|chunk| {
        let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(eager.len());
        let [rewritten, eager, truth] = [rewritten, eager, truth].map(|all| all.slice(range.clone()).to_f64());
        rewritten.into_iter().zip(eager).zip(truth).fold(ALWAYS, |sum, ((value, eager), truth)| {
            let sides = [eager, truth].map(|reference| ladder.first_right(value, reference));
            let passes_at = sides.into_iter().flatten().min();
            join(sum, Decided { passes_at, eager_passes_at: ladder.first_right(eager, truth) })
        })
    });
    Some(decided.reduce(|| ALWAYS, join))
}

/// Integers and bools are right where they are equal, at every t.
fn decide_exact(rewritten: HostElements<'_>, eager: HostElements<'_>, truth: HostElements<'_>) -> Decided {
    let right = |is_right: bool| is_right.then_some(SMALLEST_T);
    let is_either = |at: usize| rewritten.raw(at) == eager.raw(at) || rewritten.raw(at) == truth.raw(at);
    Decided { passes_at: right((0..eager.len()).all(is_either)), eager_passes_at: right(eager.bytes == truth.bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::Dtype;

    fn decided(rewritten: &[f32], eager: &[f32], truth: &[f64]) -> Option<Decided> {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let (rewritten, eager) = (bytes(rewritten), bytes(eager));
        let truth: Vec<u8> = truth.iter().flat_map(|value| value.to_le_bytes()).collect();
        let [rewritten, eager] = [rewritten, eager].map(|bytes| HeldTensor::host(Dtype::F32, bytes));
        decide([&rewritten, &eager, &HeldTensor::host(Dtype::F64, truth)])
    }

    #[test]
    fn an_element_may_agree_with_either_side() {
        let of = |passes_at, eager_passes_at| Some(Decided { passes_at, eager_passes_at });
        assert_eq!(decided(&[1.0, 2.0], &[1.0, 2.5], &[1.0, 2.0]), of(Some(-10), Some(0)), "eager strays");
        assert_eq!(decided(&[1.0, 2.5], &[1.0, 2.0], &[1.0, 2.0]), of(Some(0), Some(-10)), "the rewrite strays");
        assert_eq!(decided(&[1.5, 2.0], &[1.0, 2.0], &[1.5, 2.5]), of(Some(-10), Some(0)), "a side for each element");
        assert_eq!(decided(&[f32::INFINITY], &[f32::INFINITY], &[1e39]), of(Some(-10), None), "eager overflows");
        assert_eq!(decided(&[f32::NAN], &[1.0], &[1.0]), of(None, Some(-10)));
        assert_eq!(decided(&[1.0], &[1.0], &[1.0, 1.0]), None);
    }

    #[test]
    fn what_is_reported_covers_all_rounds_and_no_open_question() {
        let answer = Some(Decided { passes_at: Some(-7), eager_passes_at: Some(-2) });
        let mut sides = Sides::default();
        sides.agreed(Some(-6));
        assert_eq!(sides.report(), None, "nobody was asked");
        sides.decided(answer);
        assert_eq!(sides.report(), Some(Decided { passes_at: Some(-6), eager_passes_at: Some(-2) }));
        sides.decided(None);
        sides.decided(answer);
        assert_eq!(sides.report(), None, "a question was left open");
    }

    #[test]
    fn integers_are_equal_to_one_of_the_sides() {
        let decided = |rewritten: &[u8], eager: &[u8], truth: &[u8]| {
            let [rewritten, eager, truth] =
                [rewritten, eager, truth].map(|bytes| HeldTensor::host(Dtype::I8, bytes.to_vec()));
            decide([&rewritten, &eager, &truth])
        };
        let of = |passes_at, eager_passes_at| Some(Decided { passes_at, eager_passes_at });
        assert_eq!(decided(&[1, 2], &[1, 3], &[4, 2]), of(Some(-10), None));
        assert_eq!(decided(&[1, 2], &[1, 3], &[1, 3]), of(None, Some(-10)));
        let [wide, narrow] =
            [(Dtype::I32, 4), (Dtype::I8, 1)].map(|(dtype, size)| HeldTensor::host(dtype, vec![0; size]));
        assert_eq!(decide([&narrow, &narrow, &wide]), None);
    }
}
