//! The domain rounds of a rewrite: one input at a time is unusual. They count for no tolerance and no score; where eager
//! stays meaningful and the rewrite does not do the same, a finding says so.

use super::checks::Checks;
use super::edge_case::EdgeCase;
use super::prepared::PreparedRound;
use crate::compare::{OutputComparison, unravel};
use crate::device::BenchDevice;
use crate::edge_cases::EdgeCaseDraw;
use crate::element::HostElements;
use crate::held::HeldTensor;
use crate::inputs::Round;
use crate::judge::float_kind;
use crate::on_device::contested::is_contested;
use crate::precision::{are_explained, strays};
use passhost_ir::{Conversions, TensorType};
use passhost_protocol::device::RewriteError;
use passhost_result::EdgeCaseFinding;
use passhost_score::Tolerance;
use rayon::prelude::*;
use std::cell::LazyCell;

/// A rewrite may be so many times further from the truth than eager is anywhere, plus [`SLACK`] last places.
const FACTOR: f64 = 4.0;
const SLACK: f64 = 64.0;
/// Elements that may fall on the other side of a threshold by a rounding where an input is far from zero: a rounding there
/// is a thousand times as large beside what is left when the mean is taken away.
const TIPPED: usize = 4;

/// The elements of one output in one domain round.
struct EdgeCaseOutputs<'a> {
    ty: &'a TensorType,
    rewritten: HostElements<'a>,
    eager: HostElements<'a>,
    /// Of the run in double precision.
    truth: &'a [f64],
    /// Of one with inputs a few roundings away, where sums of large numbers may cancel.
    shaken: Option<Vec<f64>>,
    /// In which way an input is unusual: of NaNs in it those of an output come.
    domain: EdgeCaseDraw,
}

impl Checks<'_> {
    /// A round in which inputs are unusual.
    pub(super) fn check_edge_case(
        &mut self,
        prepared: &PreparedRound,
        round: Round,
        case: &EdgeCase,
    ) -> Result<(), RewriteError> {
        let reference = self.reference;
        let eager = &prepared.eager;
        let rewritten = self.guarded_run(&prepared.drawn, round, eager)?;
        let suspects: Vec<(usize, i8)> = reference
            .output_types
            .iter()
            .enumerate()
            .filter_map(|(position, ty)| {
                let allowed = allowed(self.passes_at(position))?;
                let pair = [&rewritten[position], &eager[position]];
                is_suspect(&reference.device, ty, allowed, pair).then_some((position, allowed))
            })
            .collect();
        if suspects.is_empty() {
            return Ok(());
        }
        let Ok(truth) = reference.truth(prepared, Conversions::Dropped) else { return Ok(()) };
        // Where large numbers cancel, what is left in double precision is a matter of order, too.
        let may_cancel = case.draw == EdgeCaseDraw::Extremes;
        let shaken = LazyCell::new(|| reference.shaken_truth(prepared, Conversions::Dropped));
        for (position, allowed) in suspects {
            let ty = &reference.output_types[position];
            let (rewritten, eager) = (&rewritten[position], &eager[position]);
            let wrong = |shaken| wrong(ty, (allowed, case.draw), [rewritten, eager, &truth[position]], shaken);
            let found = wrong(None).and_then(|found| match may_cancel.then(|| shaken.as_ref()).flatten() {
                Some(shaken) => wrong(Some(&shaken[position])),
                None => Some(found),
            });
            if let Some((element, _)) = found {
                self.evaluation.edge_cases.push(EdgeCaseFinding {
                    output: position as u32,
                    input: case.name(&reference.specs),
                    draw: case.draw.to_string(),
                    element: unravel(element, &ty.shape),
                    rewritten: rewritten.elements().get(element).to_string(),
                    eager: eager.elements().get(element).to_string(),
                });
            }
        }
        Ok(())
    }
}

/// The tolerance that a value may need on an unusual input, by the one that it needs on ordinary ones: a step more. `None`
/// where it is not right on those.
pub(super) fn allowed(ordinary: Option<i8>) -> Option<i8> {
    ordinary.filter(|&t| t <= 0).map(|t| t.max(-5) + 1)
}

/// Whether a value needs more tolerance than is allowed, so that it takes a run in double precision to say who is right.
pub(super) fn is_suspect(
    device: &BenchDevice,
    ty: &TensorType,
    allowed: i8,
    [rewritten, eager]: [&HeldTensor; 2],
) -> bool {
    let are_on_host = rewritten.tensor().is_none() && eager.tensor().is_none();
    if are_on_host && rewritten.elements().bytes == eager.elements().bytes {
        return false;
    }
    let found = OutputComparison::new(ty.clone()).add(device, rewritten, eager);
    found.is_none_or(|found| found > allowed)
}

/// The first element of a suspect that the rewrite has otherwise than eager, where eager says what it must be, and how
/// many there are.
pub(super) fn wrong(
    ty: &TensorType,
    (allowed, domain): (i8, EdgeCaseDraw),
    [rewritten, eager, truth]: [&HeldTensor; 3],
    shaken: Option<&HeldTensor>,
) -> Option<(usize, usize)> {
    if let [Some(rewritten), Some(eager), Some(truth)] = [rewritten, eager, truth].map(HeldTensor::tensor) {
        let exactly = Tolerance { rtol: 0.0, atol: 0.0 };
        let tolerance =
            float_kind(ty.dtype).map_or(exactly, |kind| passhost_score::tolerance(kind, f64::from(allowed)));
        if let Ok(false) = is_contested([rewritten, eager, truth], tolerance) {
            return None;
        }
    }
    let outputs = EdgeCaseOutputs {
        ty,
        rewritten: rewritten.elements(),
        eager: eager.elements(),
        truth: &truth.elements().to_f64(),
        shaken: shaken.map(|shaken| shaken.elements().to_f64()),
        domain,
    };
    outputs.wrong(allowed)
}

impl EdgeCaseOutputs<'_> {
    /// The first element that the rewrite has otherwise than eager, where eager says what it must be, and how many there
    /// are.
    fn wrong(&self, allowed: i8) -> Option<(usize, usize)> {
        if self.truth.len() as u64 != self.ty.numel() {
            return None;
        }
        let (rewritten, eager) = (self.rewritten.to_f64(), self.eager.to_f64());
        match float_kind(self.ty.dtype) {
            None => self.wrong_integers(&rewritten, &eager),
            Some(kind) => {
                let tolerance = passhost_score::tolerance(kind, f64::from(allowed));
                let close = |a: f64, b: f64| passhost_score::is_close(a, b, tolerance);
                // What infinities make of each other depends on the formula, and equal ones differ.
                let has_nans = matches!(self.domain, EdgeCaseDraw::NotNumbers | EdgeCaseDraw::NoNumberRow);
                let is_said = |value: f64| value.is_finite() || (value.is_nan() && has_nans);
                let lost =
                    |at: usize| eager[at].is_infinite() && (rewritten[at].is_finite() || rewritten[at] == -eager[at]);
                let meaningful = |at: usize| close(eager[at], self.truth[at]) && (is_said(eager[at]) || lost(at));
                let scale = self.scale();
                let far = |at: usize| self.last_places(rewritten[at], self.truth[at], scale);
                let eagers = (0..eager.len()).into_par_iter().filter(|&at| meaningful(at));
                let eagers =
                    eagers.map(|at| self.last_places(eager[at], self.truth[at], scale)).reduce(|| 0.0, f64::max);
                let wrong = |at: &usize| {
                    let at = *at;
                    !close(rewritten[at], eager[at]) && !close(rewritten[at], self.truth[at]) && meaningful(at)
                };
                let wrong: Vec<usize> = (0..eager.len())
                    .into_par_iter()
                    .filter(wrong)
                    .filter(|&at| far(at) > FACTOR * eagers + SLACK && !self.is_unsettled(at, rewritten[at]))
                    .collect();
                // Finite ones alone stray; a NaN or an infinity in the place of a number is no rounding.
                let numbers = wrong.iter().filter(|&&at| rewritten[at].is_finite() && eager[at].is_finite()).count();
                let tipped = numbers.saturating_sub(self.tipped());
                let by_luck =
                    numbers == wrong.len() && are_explained(tipped, strays(self.ty, allowed, &eager, self.truth));
                wrong.first().filter(|_| !by_luck).map(|&first| (first, wrong.len()))
            }
        }
    }

    /// Whether a value is within what roundings of the inputs do to the truth.
    fn is_unsettled(&self, at: usize, value: f64) -> bool {
        let moved = self.shaken.as_ref().and_then(|shaken| shaken.get(at)).map(|moved| (moved - self.truth[at]).abs());
        moved.is_some_and(|moved| (value - self.truth[at]).abs() <= FACTOR * moved)
    }

    /// Integers and bools must be equal; where eager itself flips some by its roundings, so may the rewrite.
    fn wrong_integers(&self, rewritten: &[f64], eager: &[f64]) -> Option<(usize, usize)> {
        let flips = eager.iter().zip(self.truth).filter(|(eager, truth)| eager != truth).count();
        let wrong = |at: &usize| eager[*at] == self.truth[*at] && rewritten[*at] != eager[*at];
        let mut places = (0..eager.len()).filter(wrong);
        let first = places.next()?;
        let count = 1 + places.count();
        (count > FACTOR as usize * flips + self.tipped()).then_some((first, count))
    }

    /// Elements that say nothing, as a rounding may decide each.
    fn tipped(&self) -> usize {
        if matches!(self.domain, EdgeCaseDraw::Offset | EdgeCaseDraw::OwnMeans) { TIPPED } else { 0 }
    }

    /// The magnitude below which no last place counts as smaller: an eighth of the median's. Where sums cancel, an error is
    /// that of the summands.
    fn scale(&self) -> f64 {
        let mut magnitudes: Vec<f64> =
            self.truth.iter().map(|value| value.abs()).filter(|value| value.is_finite()).collect();
        if magnitudes.is_empty() {
            return 0.0;
        }
        let middle = magnitudes.len() / 2;
        let (_, &mut median, _) = magnitudes.select_nth_unstable_by(middle, f64::total_cmp);
        median / 8.0
    }

    /// How far a value is from the truth, in last places of its type at the truth; no bound for what is not finite where
    /// the other is.
    fn last_places(&self, value: f64, truth: f64, scale: f64) -> f64 {
        if value == truth || (value.is_nan() && truth.is_nan()) {
            return 0.0;
        }
        let error = (value - truth).abs() / self.ty.dtype.ulp(truth.abs().max(scale));
        if error.is_nan() { f64::INFINITY } else { error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::bytes;
    use passhost_ir::Dtype;

    fn first_wrong(rewritten: &[f32], eager: &[f32], truth: &[f64]) -> Option<usize> {
        first_wrong_in(EdgeCaseDraw::Zeros, rewritten, eager, truth)
    }

    fn first_wrong_in(domain: EdgeCaseDraw, rewritten: &[f32], eager: &[f32], truth: &[f64]) -> Option<usize> {
        let ty = TensorType::contiguous(Dtype::F32, [truth.len() as i64]);
        let (rewritten, eager) = (bytes(rewritten), bytes(eager));
        let [rewritten, eager] = [&rewritten, &eager].map(|bytes| HostElements { dtype: ty.dtype, bytes });
        EdgeCaseOutputs { ty: &ty, rewritten, eager, truth, shaken: None, domain }.wrong(-4).map(|(first, _)| first)
    }

    const NAN: f32 = f32::NAN;
    const INF: f32 = f32::INFINITY;

    #[test]
    fn what_eager_says_is_held_against_the_rewrite() {
        assert_eq!(first_wrong(&[1.0, NAN], &[1.0, 2.0], &[1.0, 2.0]), Some(1), "finite in both others");
        assert_eq!(
            first_wrong_in(EdgeCaseDraw::NotNumbers, &[0.0, 2.0], &[NAN, 2.0], &[f64::NAN, 2.0]),
            Some(0),
            "a NaN is passed on"
        );
        assert_eq!(first_wrong(&[0.0, 2.0], &[INF, 2.0], &[f64::INFINITY, 2.0]), Some(0), "an infinity is lost");
        assert_eq!(first_wrong(&[-INF, 2.0], &[INF, 2.0], &[f64::INFINITY, 2.0]), Some(0), "one of the other sign");
        assert_eq!(first_wrong(&[1.0, 2.1], &[1.0, 2.0], &[1.0, 2.0]), Some(1));
    }

    #[test]
    fn what_eager_does_not_know_is_nobodys_mistake() {
        assert_eq!(first_wrong(&[NAN, 2.0], &[INF, 2.0], &[1e39, 2.0]), None, "eager overflows");
        assert_eq!(first_wrong(&[1e30, 2.0], &[NAN, 2.0], &[0.0, 2.0]), None, "eager has lost itself");
        assert_eq!(first_wrong(&[1.0, 2.0], &[1.0, 3.0], &[1.0, 2.0]), None, "the rewrite is the one that is right");
        assert_eq!(first_wrong(&[INF, 2.0], &[NAN, 2.0], &[f64::NAN, 2.0]), None, "inf - inf, by another formula inf");
        assert_eq!(first_wrong(&[NAN, 2.0], &[INF, 2.0], &[f64::INFINITY, 2.0]), None);
        assert_eq!(first_wrong_in(EdgeCaseDraw::NotNumbers, &[NAN, 2.0], &[NAN, 2.0], &[f64::NAN, 2.0]), None);
    }

    #[test]
    fn an_element_that_cancelled_may_be_off_by_what_its_summands_are() {
        let truth = [1000.0, -900.0, 800.0, 1e-3];
        let eager = [1000.0, -900.0, 800.0, 1e-3];
        let near = [1000.0, -900.0, 800.0, 1e-3 + 4e-4];
        assert_eq!(first_wrong(&near, &eager, &truth), None);
        let far = [1000.0, -900.0, 800.0, 1.0];
        assert_eq!(first_wrong(&far, &eager, &truth), Some(3));
    }

    #[test]
    fn integers_are_equal_unless_eager_itself_flips() {
        let ty = TensorType::contiguous(Dtype::I8, [4]);
        let wrong_in = |domain, rewritten: [u8; 4], eager: [u8; 4], truth: [f64; 4]| {
            let [rewritten, eager] = [&rewritten, &eager].map(|bytes| HostElements { dtype: ty.dtype, bytes });
            EdgeCaseOutputs { ty: &ty, rewritten, eager, truth: &truth, shaken: None, domain }.wrong(-4)
        };
        let wrong = |rewritten, eager, truth| wrong_in(EdgeCaseDraw::Zeros, rewritten, eager, truth);
        assert_eq!(wrong_in(EdgeCaseDraw::Offset, [0, 1, 1, 0], [0; 4], [0.0; 4]), None, "roundings decide there");
        assert_eq!(wrong([0, 1, 1, 0], [0; 4], [0.0; 4]), Some((1, 2)));
        assert_eq!(wrong([0, 1, 0, 0], [0, 0, 0, 1], [0.0; 4]), None);
        assert_eq!(wrong([0; 4], [0; 4], [0.0; 4]), None);
    }

    #[test]
    fn what_roundings_of_the_inputs_undo_is_no_offence() {
        let ty = TensorType::contiguous(Dtype::F32, [2]);
        let (rewritten, eager, truth) = (bytes(&[-0.2, 5.0]), bytes(&[0.0, 4.0]), [0.0, 4.0]);
        let wrong = |shaken: Option<Vec<f64>>| {
            let elements = |bytes| HostElements { dtype: Dtype::F32, bytes };
            let (rewritten, eager, domain) = (elements(&rewritten), elements(&eager), EdgeCaseDraw::Extremes);
            EdgeCaseOutputs { ty: &ty, rewritten, eager, truth: &truth, shaken, domain }.wrong(-4)
        };
        assert_eq!(wrong(None), Some((0, 2)));
        assert_eq!(wrong(Some(vec![1e20, 4.1])), Some((1, 1)), "the second moves by a tenth of the difference");
        assert_eq!(wrong(Some(vec![1e20, 3.0])), None);
    }
}
