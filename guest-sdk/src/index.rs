//! Integer expressions over axes: where along a dimension an element lies.
//!
//! Views and moves of data are maps of coordinates, and such maps compose by substitution. An [`Index`] is kept in a
//! normal form while they do, so that a reshape that is undone further on leaves nothing behind.

mod atom;
pub(crate) mod sampling;
#[cfg(test)]
mod tests;

use crate::lower::KernelBuilder;
use passhost_ir::ValueId;
use passhost_ir::kernel::{IndexExpr, IndexId, Reg};
use sampling::Sampling;
use smallvec::{SmallVec, smallvec};

/// `offset + step * atom + ...`, an atom being an axis, or what something else makes of another expression: a quotient, a
/// remainder, the nearest place within bounds, or an element of a tensor of indices.
///
/// ```
/// use passhost_guest_sdk::Index;
///
/// // The dimensions [4, 6] merged into one, and split again.
/// let merged = Index::ravel(&[Index::axis(0, 4), Index::axis(1, 6)], &[4, 6]);
/// assert_eq!(merged.unravel(&[4, 6]), [Index::axis(0, 4), Index::axis(1, 6)]);
/// assert_eq!(merged.eval(&[2, 5]), 17);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index {
    /// Sorted by atom, each atom once, no step 0. Most are a single axis, which needs no memory of its own.
    terms: SmallVec<[(Atom, i64); 1]>,
    offset: i64,
}

/// Part of an [`Index`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Atom {
    /// The position along an axis, below `extent`.
    Axis { axis: usize, extent: i64 },
    /// Quotient by a positive constant, rounded down.
    Div(Box<Index>, i64),
    /// Remainder of that quotient.
    Mod(Box<Index>, i64),
    /// The nearest place from the second to the third.
    Clamped(Box<Index>, i64, i64),
    /// Where a tensor is sampled, rounded down.
    Sampled(Box<Index>, Sampling),
    /// An element of a tensor of integers.
    Gathered { tensor: ValueId, place: Vec<Index>, along: Along },
    /// An integer that a kernel has calculated, at least 0 and below `extent`.
    Calculated { value: Reg, extent: i64 },
}

/// The dimension along which a tensor of integers gives positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Along {
    /// Its extent.
    pub(crate) extent: i64,
    /// Whether negative positions count from its end.
    pub(crate) wraps: bool,
}

/// Gives the element of a tensor at a place as a value of a kernel, which is a position along a dimension.
pub(crate) type GatheredElement<'e, E> = dyn FnMut(ValueId, &[Index], Along) -> Result<Reg, E> + 'e;

impl Index {
    /// A constant.
    pub const fn constant(offset: i64) -> Index {
        Index { terms: SmallVec::new_const(), offset }
    }

    /// The position along an axis of extent `extent`: 0 where the extent is 1.
    pub fn axis(axis: usize, extent: i64) -> Index {
        if extent == 1 { Index::constant(0) } else { Index::atom(Atom::Axis { axis, extent }) }
    }

    /// One axis for each extent, numbered from 0.
    pub fn axes(extents: &[i64]) -> Vec<Index> {
        extents.iter().enumerate().map(|(axis, &extent)| Index::axis(axis, extent)).collect()
    }

    fn atom(atom: Atom) -> Index {
        Index { terms: smallvec![(atom, 1)], offset: 0 }
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Index) -> Index {
        let mut sum = Index { terms: self.terms.clone(), offset: self.offset + other.offset };
        for (atom, step) in &other.terms {
            sum.add_term(atom, *step);
        }
        sum.recombine();
        sum
    }

    /// The sum with a constant.
    #[must_use]
    pub fn shifted(&self, by: i64) -> Index {
        Index { terms: self.terms.clone(), offset: self.offset + by }
    }

    /// The product with a constant.
    #[must_use]
    pub fn times(&self, factor: i64) -> Index {
        if factor == 0 {
            return Index::constant(0);
        }
        let terms = self.terms.iter().map(|(atom, step)| (atom.clone(), step * factor)).collect();
        Index { terms, offset: self.offset * factor }
    }

    /// The quotient by a positive constant, rounded down.
    #[must_use]
    pub fn div(&self, divisor: i64) -> Index {
        if divisor <= 1 {
            return self.clone();
        }
        let (whole, rest) = self.split(divisor);
        if rest.lies_within(divisor) {
            return whole;
        }
        // What is finer than a common step of divisor and terms cannot reach the next multiple of that step.
        if let Some((step, coarse)) = rest.coarsened(divisor) {
            return whole.plus(&coarse.div(divisor / step));
        }
        let nested = match &rest {
            Index { terms, offset: 0 } => match &terms[..] {
                [(Atom::Div(inner, first), 1)] => Some(Atom::Div(inner.clone(), first * divisor)),
                _ => None,
            },
            _ => None,
        };
        whole.plus(&Index::atom(nested.unwrap_or_else(|| Atom::Div(Box::new(rest), divisor))))
    }

    /// The remainder of the quotient by a positive constant: never negative.
    #[must_use]
    pub fn rem(&self, divisor: i64) -> Index {
        if divisor <= 1 {
            return Index::constant(0);
        }
        let (_, rest) = self.split(divisor);
        if rest.lies_within(divisor) {
            return rest;
        }
        if let Some((step, coarse)) = rest.coarsened(divisor) {
            let fine = rest.plus(&coarse.times(-step));
            return coarse.rem(divisor / step).times(step).plus(&fine);
        }
        if let Index { terms, offset: 0 } = &rest
            && let [(Atom::Mod(inner, first), 1)] = &terms[..]
            && first % divisor == 0
        {
            return inner.rem(divisor);
        }
        Index::atom(Atom::Mod(Box::new(rest), divisor))
    }

    /// It, or the nearest of two bounds where it lies beyond them.
    #[must_use]
    pub fn clamped(&self, low: i64, high: i64) -> Index {
        let range = self.range();
        if low <= range.0 && range.1 <= high {
            return self.clone();
        }
        // What was clamped to bounds that meet these is clamped to what they have in common.
        if let ([(Atom::Clamped(inner, least, most), 1)], 0) = (&self.terms[..], self.offset)
            && *least <= high
            && low <= *most
        {
            return inner.clamped(low.max(*least), high.min(*most));
        }
        Index::atom(Atom::Clamped(Box::new(self.clone()), low, high))
    }

    /// What it is the nearest place of from 0 to below `extent`; itself if it is not made in this way.
    pub(crate) fn unclamped(&self, extent: i64) -> &Index {
        match (&self.terms[..], self.offset) {
            ([(Atom::Clamped(inner, 0, high), 1)], 0) if *high == extent - 1 => inner,
            _ => self,
        }
    }

    /// The place from which a tensor is sampled for this one, rounded down.
    pub(crate) fn sampled(&self, sampling: Sampling) -> Index {
        Index::atom(Atom::Sampled(Box::new(self.clone()), sampling))
    }

    /// What a tensor of integers has at `place`, as a position along a dimension: the nearest where it lies outside.
    pub(crate) fn gathered(tensor: ValueId, place: Vec<Index>, along: Along) -> Index {
        let along = Along { extent: along.extent.max(1), ..along };
        Index::atom(Atom::Gathered { tensor, place, along })
    }

    /// The row-major position of a place in a tensor of shape `shape`.
    pub fn ravel(place: &[Index], shape: &[i64]) -> Index {
        let step = |position: Index, (at, &extent): (&Index, &i64)| position.times(extent).plus(at);
        place.iter().zip(shape).fold(Index::constant(0), step)
    }

    /// The place that has this row-major position in a tensor of shape `shape`, which must have elements.
    pub fn unravel(&self, shape: &[i64]) -> Vec<Index> {
        let split = |(dim, stride): (usize, i64)| {
            let quotient = self.div(stride);
            match shape[dim] {
                1 => Index::constant(0),
                // The outermost dimension needs no remainder: the position is within the tensor.
                _ if shape[..dim].iter().all(|&outer| outer == 1) => quotient,
                extent => quotient.rem(extent),
            }
        };
        passhost_ir::contiguous_strides(shape).into_iter().enumerate().map(split).collect()
    }

    /// This expression where axis `i` lies at `outer[i]`.
    #[must_use]
    pub fn within(&self, outer: &[Index]) -> Index {
        let at = |axis: usize| outer.get(axis).cloned().unwrap_or(Index::constant(0));
        // Most coordinates are an axis as it is.
        if let ([(Atom::Axis { axis, .. }, 1)], 0) = (&self.terms[..], self.offset) {
            return at(*axis);
        }
        self.replaced(&mut |atom| match atom {
            Atom::Axis { axis, .. } => at(*axis),
            Atom::Gathered { tensor, place, along } => {
                Index::gathered(*tensor, place.iter().map(|index| index.within(outer)).collect(), *along)
            }
            other => Index::atom(other.clone()),
        })
    }

    /// It with what `leaf` makes of the axes in it, of what is gathered and of what was calculated.
    fn replaced(&self, leaf: &mut dyn FnMut(&Atom) -> Index) -> Index {
        let mut sum = Index::constant(self.offset);
        for (atom, step) in &self.terms {
            sum = sum.plus(&atom.replaced(leaf).times(*step));
        }
        sum
    }

    /// The value where axis `i` is at `position[i]`. What is gathered, as no view does, counts as 0.
    pub fn eval(&self, position: &[i64]) -> i64 {
        self.offset + self.terms.iter().map(|(atom, step)| step * atom.eval(position)).sum::<i64>()
    }

    /// The smallest and the largest value it may take.
    pub fn range(&self) -> (i64, i64) {
        let mut range = (self.offset, self.offset);
        for (atom, step) in &self.terms {
            let (low, high) = atom.range();
            let ends = (low.saturating_mul(*step), high.saturating_mul(*step));
            range.0 = range.0.saturating_add(ends.0.min(ends.1));
            range.1 = range.1.saturating_add(ends.0.max(ends.1));
        }
        range
    }

    /// Whether it is never negative and always below `extent`.
    pub fn lies_within(&self, extent: i64) -> bool {
        let (low, high) = self.range();
        low >= 0 && high < extent
    }

    fn each_atom(&self, seen: &mut dyn FnMut(&Atom)) {
        self.terms.iter().for_each(|(atom, _)| atom.each(seen));
    }

    /// Whether it is a sum of axes, each times a constant, and of a constant.
    pub(crate) fn is_of_axes(&self) -> bool {
        self.terms.iter().all(|(atom, _)| matches!(atom, Atom::Axis { .. }))
    }

    /// The axes it depends on; an axis may occur several times.
    pub fn axes_read(&self) -> Vec<usize> {
        let mut axes = vec![];
        self.each_axis(&mut |axis| axes.push(axis));
        axes
    }

    /// Shows the axes it depends on; an axis may come several times.
    pub(crate) fn each_axis(&self, seen: &mut dyn FnMut(usize)) {
        self.each_atom(&mut |atom| {
            if let Atom::Axis { axis, .. } = atom {
                seen(*axis);
            }
        });
    }

    /// The tensors of indices from which it is gathered.
    pub(crate) fn tensors_read(&self) -> Vec<ValueId> {
        let mut tensors = vec![];
        self.each_atom(&mut |atom| {
            if let Atom::Gathered { tensor, .. } = atom {
                tensors.push(*tensor);
            }
        });
        tensors
    }

    /// Whether anything in it is gathered.
    pub(crate) fn is_gathered(&self) -> bool {
        !self.tensors_read().is_empty()
    }

    /// It with values of a kernel in place of what is gathered.
    pub(crate) fn resolved<E>(&self, element: &mut GatheredElement<'_, E>) -> Result<Index, E> {
        let mut failed = None;
        let resolved = self.replaced(&mut |atom| match atom {
            Atom::Gathered { tensor, place, along } => match element(*tensor, place, *along) {
                Ok(value) => Index::atom(Atom::Calculated { value, extent: along.extent }),
                Err(error) => {
                    failed.get_or_insert(error);
                    Index::constant(0)
                }
            },
            other => Index::atom(other.clone()),
        });
        failed.map_or(Ok(resolved), Err)
    }

    /// How far one step along an axis moves it; `None` where it does not depend on the axis in this simple way.
    pub fn step_along(&self, axis: usize) -> Option<i64> {
        self.terms.iter().find_map(|(atom, step)| match atom {
            Atom::Axis { axis: found, .. } if *found == axis => Some(*step),
            _ => None,
        })
    }

    /// The axes that count it up digit by digit, the slowest first: `[0, 1]` for `6 * axis 0 + axis 1` where axis 1 has
    /// extent 6. `None` if it is anything else.
    pub fn digits(&self) -> Option<Vec<usize>> {
        let mut digits = vec![];
        let mut expected = 1;
        while digits.len() < self.terms.len() {
            let digit = |(atom, step): &(Atom, i64)| match atom {
                Atom::Axis { axis, extent } if *step == expected => Some((*axis, *extent)),
                _ => None,
            };
            let (axis, extent) = self.terms.iter().find_map(digit)?;
            digits.insert(0, axis);
            expected *= extent;
        }
        (self.offset == 0).then_some(digits)
    }

    /// An axis whose split into two would turn a quotient or remainder into plain axes, and the extent of the inner one.
    pub fn wants_split(&self) -> Option<(usize, i64)> {
        self.terms.iter().find_map(|(atom, _)| match atom {
            Atom::Axis { .. } | Atom::Gathered { .. } | Atom::Calculated { .. } => None,
            Atom::Clamped(inner, ..) | Atom::Sampled(inner, _) => inner.wants_split(),
            Atom::Div(inner, divisor) | Atom::Mod(inner, divisor) => match (&inner.terms[..], inner.offset) {
                ([(Atom::Axis { axis, extent }, 1)], 0) => (extent % divisor == 0).then_some((*axis, *divisor)),
                // One step of a coarser digit is several of the divisor: then that digit is the one to split.
                ([.., (Atom::Axis { axis, extent }, step)] | [(Atom::Axis { axis, extent }, step), ..], 0)
                    if divisor % step == 0 && extent % (divisor / step) == 0 && divisor / step > 1 =>
                {
                    Some((*axis, divisor / step))
                }
                _ => inner.wants_split(),
            },
        })
    }

    /// Writes the expression into a kernel whose axes have the same numbers.
    pub fn emit(&self, kernel: &KernelBuilder) -> IndexId {
        let mut sum = None;
        for (atom, step) in &self.terms {
            let base = atom.emit(kernel);
            let term = if *step == 1 { base } else { kernel.index(IndexExpr::Mul(base, *step)) };
            sum = Some(match sum {
                None => term,
                Some(sum) => kernel.index(IndexExpr::Add(sum, term)),
            });
        }
        match sum {
            None => kernel.index(IndexExpr::Const(self.offset)),
            Some(sum) if self.offset == 0 => sum,
            Some(sum) => {
                let offset = kernel.index(IndexExpr::Const(self.offset));
                kernel.index(IndexExpr::Add(sum, offset))
            }
        }
    }

    fn add_term(&mut self, atom: &Atom, step: i64) {
        match self.terms.binary_search_by(|(known, _)| known.cmp(atom)) {
            Ok(at) => {
                self.terms[at].1 += step;
                if self.terms[at].1 == 0 {
                    self.terms.remove(at);
                }
            }
            Err(at) => self.terms.insert(at, (atom.clone(), step)),
        }
    }

    /// Puts quotients and remainders of the same division together: `d * (x / d) + x % d` is `x`.
    fn recombine(&mut self) {
        let pair = |terms: &[(Atom, i64)]| {
            terms.iter().find_map(|(atom, step)| {
                let Atom::Mod(inner, divisor) = atom else { return None };
                let quotient = inner.div(*divisor);
                let [(quotient_atom, 1)] = &quotient.terms[..] else { return None };
                let found = terms.iter().any(|(other, factor)| other == quotient_atom && *factor == step * divisor);
                (found && quotient.offset == 0).then(|| (atom.clone(), quotient_atom.clone(), (**inner).clone(), *step))
            })
        };
        while let Some((remainder, quotient, inner, step)) = pair(&self.terms) {
            self.terms.retain(|(atom, _)| *atom != remainder && *atom != quotient);
            self.offset += inner.offset * step;
            for (atom, factor) in &inner.terms {
                self.add_term(atom, factor * step);
            }
        }
    }

    /// `divisor * whole + rest`: every term goes where its step fits, the offset's remainder to the rest.
    fn split(&self, divisor: i64) -> (Index, Index) {
        let (mut whole, mut rest) = (Index::constant(0), Index::constant(0));
        for (atom, step) in &self.terms {
            if step % divisor == 0 {
                whole.terms.push((atom.clone(), step / divisor));
            } else {
                rest.terms.push((atom.clone(), *step));
            }
        }
        whole.offset = self.offset.div_euclid(divisor);
        rest.offset = self.offset.rem_euclid(divisor);
        (whole, rest)
    }

    /// A step that divides `divisor`, and the expression in units of it, where what is left over is less than one unit.
    fn coarsened(&self, divisor: i64) -> Option<(i64, Index)> {
        let steps = self.terms.iter().map(|(_, step)| step.abs()).filter(|&step| step > 1 && divisor % step == 0);
        let found = steps.filter_map(|step| {
            let (coarse, fine) = self.split(step);
            (fine.lies_within(step) && !coarse.terms.is_empty()).then_some((step, coarse))
        });
        found.max_by_key(|(step, _)| *step)
    }
}
