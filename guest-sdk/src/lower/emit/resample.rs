//! Weighted sums of the elements around a place.

use super::RegionEmitter;
use crate::index::Index;
use crate::lower::LowerError;
use crate::lower::resample::{Resample, ResampledAxis, Taps};
use crate::lower::space::Coordinates;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Reg};

impl RegionEmitter<'_> {
    /// The element of a resampled tensor, in the type that its weights are calculated in.
    pub(super) fn resample(&mut self, resample: &Resample, place: &[Index]) -> Result<Reg, LowerError> {
        let mut taps = Vec::new();
        for (axis, at) in resample.axes.iter().zip(place) {
            taps.push(match axis {
                None => vec![(at.clone(), None)],
                Some(axis) => self.taps(axis, at)?,
            });
        }
        self.weighted(resample, &taps, &mut Vec::new())
    }

    /// The sum over the taps of the dimensions that `place` lacks, the inner dimension's first.
    fn weighted(
        &mut self,
        resample: &Resample,
        taps: &[Vec<(Index, Option<Reg>)>],
        place: &mut Coordinates,
    ) -> Result<Reg, LowerError> {
        let Some((own, inner)) = taps.split_first() else {
            let element = self.value(resample.source, place.clone())?;
            return Ok(self.kernel.cast(resample.dtype, element));
        };
        let mut sum = None;
        for (at, weight) in own {
            place.push(at.clone());
            let mut element = self.weighted(resample, inner, place)?;
            place.pop();
            if let Some(weight) = weight {
                element = self.kernel.binary(Binary::Mul, *weight, element);
            }
            sum = Some(match sum {
                None => element,
                Some(sum) => self.kernel.binary(Binary::Add, sum, element),
            });
        }
        sum.ok_or(LowerError::Unread)
    }

    /// Where the elements around a position along a dimension lie, and their weights.
    fn taps(&mut self, axis: &ResampledAxis, at: &Index) -> Result<Vec<(Index, Option<Reg>)>, LowerError> {
        let position = self.index(at)?;
        let sample = axis.sampling.emit(&self.kernel, position);
        let below = axis.below.within(std::slice::from_ref(at));
        let whole = self.position(&below)?;
        let whole = self.kernel.cast(self.kernel.dtype(sample), whole);
        let beyond = self.kernel.binary(Binary::Sub, sample, whole);
        let one = self.kernel.float(self.kernel.dtype(sample), 1.0);
        let until = self.kernel.binary(Binary::Sub, one, beyond);
        let (first, weights) = match axis.taps {
            Taps::Linear => (0, vec![until, beyond]),
            Taps::Cubic => {
                let outer = |builder: &mut Self, near: Reg| {
                    let far = builder.kernel.binary(Binary::Add, near, one);
                    builder.outer_weight(far)
                };
                let weights =
                    [outer(self, beyond), self.inner_weight(beyond), self.inner_weight(until), outer(self, until)];
                (-1, weights.to_vec())
            }
        };
        let place = |offset: i64| below.shifted(offset).clamped(0, axis.extent - 1);
        Ok((first..).zip(weights).map(|(offset, weight)| (place(offset), Some(weight))).collect())
    }

    /// `((A + 2) x - (A + 3)) x² + 1`, the weight of an element at a distance `x` of at most 1, with `A` = -0.75.
    fn inner_weight(&mut self, x: Reg) -> Reg {
        let dtype = self.kernel.dtype(x);
        let weight = self.polynomial(dtype, x, &[1.25, -2.25]);
        let weight = self.kernel.binary(Binary::Mul, weight, x);
        let one = self.kernel.float(dtype, 1.0);
        self.kernel.fma(weight, x, one)
    }

    /// `((A x - 5 A) x + 8 A) x - 4 A`, the weight of one at a distance between 1 and 2.
    fn outer_weight(&mut self, x: Reg) -> Reg {
        self.polynomial(self.kernel.dtype(x), x, &[-0.75, 3.75, -6.0, 3.0])
    }

    /// By Horner's rule, the highest power's coefficient first, as ATen's compilers fuse it.
    fn polynomial(&mut self, dtype: Dtype, x: Reg, coefficients: &[f64]) -> Reg {
        let mut sum = self.kernel.float(dtype, coefficients[0]);
        for &coefficient in &coefficients[1..] {
            let coefficient = self.kernel.float(dtype, coefficient);
            sum = self.kernel.fma(sum, x, coefficient);
        }
        sum
    }
}
