//! What index expressions are made of.

use super::{Along, Atom, Index};
use crate::lower::KernelBuilder;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, IndexExpr, IndexId, Reg, Unary};

impl Atom {
    pub(super) fn range(&self) -> (i64, i64) {
        match self {
            Atom::Axis { extent, .. }
            | Atom::Gathered { along: Along { extent, .. }, .. }
            | Atom::Calculated { extent, .. } => (0, (extent - 1).max(0)),
            Atom::Div(inner, divisor) => {
                let (low, high) = inner.range();
                (low.div_euclid(*divisor), high.div_euclid(*divisor))
            }
            Atom::Mod(_, divisor) => (0, divisor - 1),
            Atom::Clamped(inner, least, most) => {
                let (low, high) = inner.range();
                (low.clamp(*least, *most), high.clamp(*least, *most))
            }
            Atom::Sampled(inner, sampling) => {
                let (low, high) = inner.range();
                (sampling.floor(low), sampling.floor(high))
            }
        }
    }

    pub(super) fn eval(&self, position: &[i64]) -> i64 {
        match self {
            Atom::Axis { axis, .. } => position[*axis],
            Atom::Div(inner, divisor) => inner.eval(position).div_euclid(*divisor),
            Atom::Mod(inner, divisor) => inner.eval(position).rem_euclid(*divisor),
            Atom::Clamped(inner, low, high) => inner.eval(position).clamp(*low, *high),
            Atom::Sampled(inner, sampling) => sampling.floor(inner.eval(position)),
            Atom::Gathered { .. } | Atom::Calculated { .. } => 0,
        }
    }

    /// Shows it and all that it is made of, what is further inside first.
    pub(super) fn each(&self, seen: &mut dyn FnMut(&Atom)) {
        match self {
            Atom::Div(inner, _) | Atom::Mod(inner, _) | Atom::Clamped(inner, ..) | Atom::Sampled(inner, _) => {
                inner.each_atom(seen);
            }
            Atom::Gathered { place, .. } => place.iter().for_each(|index| index.each_atom(seen)),
            Atom::Axis { .. } | Atom::Calculated { .. } => {}
        }
        seen(self);
    }

    /// It with what `leaf` makes of the axes in it, of what is gathered and of what was calculated.
    pub(super) fn replaced(&self, leaf: &mut dyn FnMut(&Atom) -> Index) -> Index {
        match self {
            Atom::Div(inner, divisor) => inner.replaced(leaf).div(*divisor),
            Atom::Mod(inner, divisor) => inner.replaced(leaf).rem(*divisor),
            Atom::Clamped(inner, low, high) => inner.replaced(leaf).clamped(*low, *high),
            Atom::Sampled(inner, sampling) => inner.replaced(leaf).sampled(*sampling),
            Atom::Axis { .. } | Atom::Gathered { .. } | Atom::Calculated { .. } => leaf(self),
        }
    }

    /// Writes it into a kernel whose axes have the same numbers. What is gathered must have been resolved: else it is 0.
    pub(super) fn emit(&self, kernel: &KernelBuilder) -> IndexId {
        match self {
            Atom::Axis { axis, .. } => kernel.axis(u32::try_from(*axis).unwrap_or(u32::MAX)),
            Atom::Div(inner, divisor) => {
                let inner = inner.emit(kernel);
                kernel.index(IndexExpr::FloorDiv(inner, *divisor))
            }
            Atom::Mod(inner, divisor) => {
                let inner = inner.emit(kernel);
                kernel.index(IndexExpr::Mod(inner, *divisor))
            }
            Atom::Clamped(inner, low, high) => {
                let inner = inner.emit(kernel);
                let position = kernel.position(inner);
                let clamped = kernel.clamped(position, *low, *high);
                kernel.index(IndexExpr::Value(clamped))
            }
            Atom::Sampled(inner, sampling) => {
                let (low, high) = self.range();
                let inner = inner.emit(kernel);
                let sample = sampling.emit(kernel, inner);
                let below = kernel.unary(Unary::Floor, sample);
                let below = kernel.cast(Dtype::I64, below);
                let below = kernel.clamped(below, low, high);
                kernel.index(IndexExpr::Value(below))
            }
            Atom::Gathered { .. } => kernel.index(IndexExpr::Const(0)),
            Atom::Calculated { value, .. } => kernel.index(IndexExpr::Value(*value)),
        }
    }
}

impl KernelBuilder {
    /// An `i64` brought between two bounds, which the verifier then knows of it.
    fn clamped(&self, value: Reg, low: i64, high: i64) -> Reg {
        let low = self.int(Dtype::I64, low);
        let value = self.binary(Binary::Max, value, low);
        let high = self.int(Dtype::I64, high);
        self.binary(Binary::Min, value, high)
    }

    /// An integer as a position along a dimension, never outside.
    pub(crate) fn position_along(&self, value: Reg, along: Along) -> Reg {
        let value = self.cast(Dtype::I64, value);
        let mut position = value;
        if along.wraps {
            let zero = self.int(Dtype::I64, 0);
            let is_negative = self.compare(Compare::Lt, value, zero);
            let length = self.int(Dtype::I64, along.extent);
            let from_end = self.binary(Binary::Add, value, length);
            position = self.select(is_negative, from_end, value);
        }
        self.clamped(position, 0, along.extent - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::ValueId;

    #[test]
    fn what_is_clamped_twice_is_clamped_to_what_bounds_have_in_common() {
        let axis = Index::axis(0, 10);
        let inner = axis.shifted(-3).clamped(0, 5);
        assert_eq!(inner.range(), (0, 5));
        assert_eq!(inner.clamped(0, 7), inner);
        assert_eq!(inner.clamped(2, 8), axis.shifted(-3).clamped(2, 5));
        // Bounds that do not meet leave one place.
        assert_eq!(inner.clamped(7, 8).range(), (7, 7));
        for at in 0..10 {
            assert_eq!(inner.clamped(2, 8).eval(&[at]), (at - 3).clamp(0, 5).clamp(2, 8));
        }
    }

    #[test]
    fn what_is_gathered_follows_the_axes_of_its_place() {
        let tensor = ValueId(7);
        let along = Along { extent: 9, wraps: false };
        let row = Index::gathered(tensor, vec![Index::axis(0, 4)], along);
        let place = row.times(3).plus(&Index::axis(1, 3));
        assert_eq!((place.range(), place.axes_read()), ((0, 26), vec![1, 0]));
        let moved = place.within(&[Index::axis(2, 4), Index::constant(1)]);
        assert_eq!((moved.axes_read(), moved.tensors_read()), (vec![2], vec![tensor]));
        let mut asked = Vec::new();
        let resolved = moved.resolved::<()>(&mut |tensor, place, along| {
            asked.push((tensor, place.to_vec(), along));
            Ok(Reg(0))
        });
        assert_eq!(asked, [(tensor, vec![Index::axis(2, 4)], along)]);
        assert_eq!(resolved.map(|place| place.tensors_read()), Ok(vec![]));
    }
}
