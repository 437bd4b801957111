//! Whether a wrong output has the right elements in other places, as a wrong index or axis puts them. It is said to the author,
//! and no verdict depends on it.

use crate::held::HeldTensor;
use crate::judge::{WRONG_ABOVE, float_kind};
use passhost_ir::TensorType;
use passhost_score::{Tolerance, is_close, tolerance};

/// Elements up to which an output is looked at: a few milliseconds.
const MOST: usize = 1 << 20;
/// Elements of the output that are sought in eager's, one after the other.
const SOUGHT: usize = 4;
/// Elements among which these are chosen, and by which a move is tried before all others are.
const SAMPLED: usize = 64;
/// Places at which eager may have an element that is sought.
const PLACES: usize = 4096;
/// The part of an output, as its inverse, that must come to lie somewhere.
const LEAST: usize = 8;
/// Distinct values that must have moved: of fewer, any pattern repeats.
const DISTINCT: usize = 4;

/// An output beside eager's.
struct Pair<'a> {
    shape: &'a [i64],
    own: Vec<f64>,
    expected: Vec<f64>,
    tolerance: Option<Tolerance>,
}

/// By how much along each axis the elements of an output must move to be eager's. What leaves an axis comes back at its
/// other end, or is lost, whichever eager has.
pub fn moved_by(ty: &TensorType, own: &HeldTensor, expected: &HeldTensor) -> Option<Vec<i64>> {
    if ty.dtype.is_complex() || !(2 * DISTINCT..=MOST).contains(&(own.count() as usize)) {
        return None;
    }
    let (own, expected) = (own.elements(), expected.elements());
    let tolerance = float_kind(ty.dtype).map(|kind| tolerance(kind, f64::from(WRONG_ABOVE)));
    let pair = Pair { shape: &ty.shape, own: own.to_f64(), expected: expected.to_f64(), tolerance };
    let sampled = pair.sampled();
    let found = sampled.iter().take(SOUGHT).find_map(|&from| {
        let places: Vec<usize> = (0..pair.expected.len()).filter(|&to| pair.is_same(from, to)).take(PLACES).collect();
        let mut moves: Vec<Vec<i64>> = places.into_iter().map(|to| pair.between(from, to)).collect();
        moves.retain(|by| pair.fits(by, sampled.iter().copied()));
        moves.sort_by_key(|by| by.iter().map(|step| step.abs()).sum::<i64>());
        moves.into_iter().take(SOUGHT).find(|by| pair.explains(by))
    });
    found.filter(|by| by.iter().any(|&step| step != 0))
}

impl Pair<'_> {
    fn is_same(&self, from: usize, to: usize) -> bool {
        let (own, expected) = (self.own[from], self.expected[to]);
        self.tolerance.map_or(own == expected, |tolerance| is_close(own, expected, tolerance))
    }

    /// Places evenly apart whose elements differ, the largest first: these are least often somewhere else as well.
    fn sampled(&self) -> Vec<usize> {
        let apart = self.own.len().div_ceil(SAMPLED);
        let mut places: Vec<usize> = (apart / 2..self.own.len()).step_by(apart).collect();
        places.retain(|&at| self.own[at].is_finite());
        places.sort_by(|&one, &other| self.own[other].abs().total_cmp(&self.own[one].abs()));
        places.dedup_by_key(|at| self.own[*at]);
        places
    }

    /// The shorter way along each axis from one place to another.
    fn between(&self, from: usize, to: usize) -> Vec<i64> {
        let (mut from, mut to) = (from as i64, to as i64);
        let mut by = vec![0; self.shape.len()];
        for (step, &extent) in by.iter_mut().zip(self.shape).rev() {
            let forward = (to % extent - from % extent).rem_euclid(extent);
            *step = if 2 * forward > extent { forward - extent } else { forward };
            (from, to) = (from / extent, to / extent);
        }
        by
    }

    /// Where an element comes to lie; `None` where it leaves an axis.
    fn target(&self, from: usize, by: &[i64]) -> Option<usize> {
        let (mut rest, mut to, mut apart) = (from as i64, 0, 1);
        for (&step, &extent) in by.iter().zip(self.shape).rev() {
            let at = rest % extent + step;
            if !(0..extent).contains(&at) {
                return None;
            }
            (rest, to, apart) = (rest / extent, to + at * apart, apart * extent);
        }
        Some(to as usize)
    }

    /// Whether elements are eager's where they come to lie, all but one in a thousand, and enough of them come to lie anywhere.
    fn fits(&self, by: &[i64], places: impl ExactSizeIterator<Item = usize>) -> bool {
        let (count, mut inside, mut others) = (places.len(), 0, 0);
        for from in places {
            let Some(to) = self.target(from, by) else { continue };
            inside += 1;
            others += usize::from(!self.is_same(from, to));
            if others * 1000 > count {
                return false;
            }
        }
        LEAST * inside >= count
    }

    /// Whether a move makes what is wrong right, of several values. Of three axes, each moved by half, an eighth comes to lie.
    fn explains(&self, by: &[i64]) -> bool {
        if !self.fits(by, 0..self.own.len()) {
            return false;
        }
        let wrong = (0..self.own.len()).filter(|&at| !self.is_same(at, at)).count();
        let righted = (0..self.own.len()).filter_map(|from| self.target(from, by).filter(|&to| !self.is_same(to, to)));
        let (mut count, mut distinct): (usize, Vec<f64>) = (0, vec![]);
        for to in righted {
            count += 1;
            if distinct.len() < DISTINCT && !distinct.contains(&self.expected[to]) {
                distinct.push(self.expected[to]);
            }
        }
        LEAST * count >= wrong && distinct.len() == DISTINCT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::Dtype;

    /// Elements that differ, as drawn ones do.
    fn drawn(at: usize) -> f32 {
        ((at * 7919 + 13) % 10_007) as f32 / 97.0 - 50.0
    }

    /// Elements of a tensor by their coordinates.
    fn tensor(shape: &[i64], element: impl Fn(&[i64]) -> f32) -> Vec<f32> {
        let count = shape.iter().product::<i64>() as usize;
        (0..count).map(|at| element(&crate::compare::unravel(at, shape))).collect()
    }

    fn moved(shape: &[i64], own: &[f32], expected: &[f32]) -> Option<Vec<i64>> {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let (own, expected) = (bytes(own), bytes(expected));
        let of = |bytes| HeldTensor::host(Dtype::F32, bytes);
        moved_by(&TensorType::contiguous(Dtype::F32, shape), &of(own), &of(expected))
    }

    fn place(at: &[i64], shape: &[i64]) -> usize {
        at.iter().zip(shape).fold(0, |place, (at, extent)| place * extent + at) as usize
    }

    #[test]
    fn elements_that_lie_elsewhere_are_found_there() {
        let cases: [(&[i64], &[i64], bool); 8] = [
            (&[40], &[3], true),
            (&[40], &[-3], false),
            (&[14, 14], &[6, 6], true),
            (&[14, 14], &[6, -6], false),
            (&[2, 14, 14, 3], &[0, -3, 5, 0], true),
            (&[2, 14, 14, 3], &[0, 0, 1, 0], false),
            (&[4, 6, 8], &[0, 2, -1], true),
            (&[1024, 1024], &[6, 6], true),
        ];
        for (shape, by, comes_back) in cases {
            let own = tensor(shape, |at| drawn(place(at, shape)));
            let expected = tensor(shape, |at| {
                let from: Vec<i64> = at.iter().zip(by).map(|(at, by)| at - by).collect();
                let is_inside = from.iter().zip(shape).all(|(at, extent)| (0..*extent).contains(at));
                let from: Vec<i64> = from.iter().zip(shape).map(|(at, extent)| at.rem_euclid(*extent)).collect();
                // Another rounding than that of the rewrite, which is none.
                if is_inside || comes_back { drawn(place(&from, shape)) * 1.000_000_1 } else { 0.0 }
            });
            assert_eq!(moved(shape, &own, &expected).as_deref(), Some(by), "{shape:?}");
        }
    }

    #[test]
    fn what_did_not_move_is_not_said_to_have() {
        let shape = [12, 12];
        let own = tensor(&shape, |at| drawn(place(at, &shape)));
        let ones = vec![1.0; 144];
        let mut first_wrong = ones.clone();
        first_wrong[0] = 5.0;
        let parity = |of: i64| tensor(&shape, move |at| ((at[0] + at[1] + of) % 2) as f32);
        let mut one_wrong = own.clone();
        one_wrong[77] += 1.0;
        let transposed = tensor(&shape, |at| drawn(place(&[at[1], at[0]], &shape)));
        let doubled: Vec<f32> = own.iter().map(|x| 2.0 * x).collect();
        for (what, own, expected) in [
            ("one value, and one that is wrong", &ones, &first_wrong),
            ("two values alone", &parity(0), &parity(1)),
            ("one element", &own, &one_wrong),
            ("axes that changed places", &own, &transposed),
            ("other values", &own, &doubled),
            ("nothing", &own, &own),
        ] {
            assert_eq!(moved(&shape, own, expected), None, "{what}");
        }
    }
}
