//! Sums of products.

use super::RegionEmitter;
use crate::index::Index;
use crate::lower::LowerError;
use crate::lower::contraction::Contraction;
use crate::lower::moves;
use crate::lower::space::Coordinates;
use passhost_ir::kernel::{Binary, ReduceOp, Reg};
use passhost_ir::{Dtype, ValueId};

impl RegionEmitter<'_> {
    /// The element of a contraction, in the math type of its tensors.
    pub(super) fn contraction(
        &mut self,
        contraction: &Contraction,
        position: usize,
        value: ValueId,
        place: &[Index],
    ) -> Result<Reg, LowerError> {
        let footprint = self.analysis.footprint(position, 0).map_err(Clone::clone)?.ok_or(LowerError::Unread)?;
        let points = self.points(footprint, position, value, place)?;
        let [first, _] = &contraction.factors;
        let dtype = self.analysis.graph.ty(first.tensor).dtype;
        // A library adds up in an order of its own. Where many products cancel, two orders differ by more than either is
        // off by, so the sum is exact but for one rounding at its end: then it is right wherever the library is. Half
        // types have room enough: their products are exact in `f32`, and the result is rounded to fewer digits. Of a window
        // that slides each element would be converted many times.
        // Tiles take one product after the other in single precision, as libraries mostly do: the bits are the same then.
        let is_exact = points.over_axes && points.places.len() == 1 && dtype == Dtype::F32;
        let is_tiled = self.analysis.tile(position).is_some_and(|tile| !tile.is_short());
        let is_exact = is_exact && !is_tiled;
        let mut sum = None;
        for axes in points.places {
            let (factors, inside) = self.factors(contraction, &axes, is_tiled)?;
            let [a, b] = if is_exact { factors.map(|factor| self.kernel.cast(Dtype::F64, factor)) } else { factors };
            let with = match sum {
                None => self.kernel.binary(Binary::Mul, a, b),
                Some(sum) => self.kernel.fma(a, b, sum),
            };
            // A product outside of the input is left out: zero times an infinite weight would be NaN.
            sum = Some(match inside {
                None => with,
                Some(inside) => {
                    let without = sum.unwrap_or_else(|| self.kernel.float(self.kernel.dtype(with), 0.0));
                    self.kernel.select(inside, with, without)
                }
            });
        }
        let mut sum = sum.ok_or(LowerError::Unread)?;
        if points.over_axes {
            sum = self.kernel.reduce(ReduceOp::Sum, sum);
        }
        if is_exact {
            sum = self.kernel.cast(dtype, sum);
        }
        let mut sum = self.scaled(sum, contraction.scale);
        let Some(addend) = &contraction.addend else { return Ok(sum) };
        // On a GPU ATen adds the bias of a library's convolution by a call of its own.
        if contraction.is_stored || is_tiled && contraction.convolves {
            let stored = self.kernel.converted(self.analysis.graph.ty(value).dtype, sum);
            sum = self.kernel.widened(stored);
        }
        let at = addend.at.iter().map(|at| at.within(place)).collect();
        let element = self.value(addend.tensor, at)?;
        let element = self.kernel.widened(element);
        let element = self.scaled(element, addend.scale);
        Ok(self.kernel.binary(Binary::Add, sum, element))
    }

    fn scaled(&mut self, value: Reg, scale: f64) -> Reg {
        if scale == 1.0 {
            return value;
        }
        let scale = self.kernel.float(self.kernel.dtype(value), scale);
        self.kernel.binary(Binary::Mul, value, scale)
    }

    /// The two factors at a point of the rows and the window, and whether the first lies inside of its tensor; `None` if it
    /// always does. In tiles it is 0 outside, and multiplied, as libraries do on a GPU.
    fn factors(
        &mut self,
        contraction: &Contraction,
        axes: &[Index],
        is_tiled: bool,
    ) -> Result<([Reg; 2], Option<Reg>), LowerError> {
        let [first, second] = &contraction.factors;
        let at: Coordinates = first.at.iter().map(|at| at.within(axes)).collect();
        let guard = contraction.guard.iter().map(|(index, extent)| (index.within(axes), *extent)).collect();
        let ty = self.analysis.graph.ty(first.tensor);
        let (first, inside) = if is_tiled {
            (self.padded(first.tensor, at, &guard, moves::literal(ty.dtype, 0.0))?, None)
        } else {
            let inside = self.inside(&at, &ty.shape, &guard)?;
            (self.value(first.tensor, at)?, inside)
        };
        let at = second.at.iter().map(|at| at.within(axes)).collect();
        let second = self.value(second.tensor, at)?;
        Ok(([self.kernel.widened(first), self.kernel.widened(second)], inside))
    }
}
