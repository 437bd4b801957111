//! Loop nests over points whose place in memory is affine in the axes.

use passhost_ir::kernel::limits;

/// Extents and strides of merged axes, outermost first, over which a place is `base + sum of stride * position`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoopNest {
    base: i64,
    loops: Vec<Loop>,
}

/// A loop of a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) extent: i64,
    pub(crate) stride: i64,
    /// Positions from `low` on and below `high` are *inside*: there is a place in memory for them.
    pub(crate) low: i64,
    pub(crate) high: i64,
}

impl Loop {
    fn is_open(self) -> bool {
        self.low <= 0 && self.high >= self.extent
    }

    fn holds(self, position: i64) -> bool {
        position >= self.low && position < self.high
    }
}

impl LoopNest {
    /// Merges neighbouring axes that memory does not tell apart, and drops those of one position that is inside.
    pub(crate) fn new(base: i64, axes: impl IntoIterator<Item = Loop>) -> LoopNest {
        let mut merged: Vec<Loop> = vec![];
        for axis in axes.into_iter().filter(|axis| axis.extent != 1 || !axis.is_open()) {
            match merged.last_mut() {
                Some(outer) if axis.is_open() && Some(outer.stride) == axis.stride.checked_mul(axis.extent) => {
                    *outer = Loop {
                        extent: outer.extent * axis.extent,
                        stride: axis.stride,
                        low: outer.low * axis.extent,
                        high: outer.high * axis.extent,
                    };
                }
                _ => merged.push(axis),
            }
        }
        LoopNest { base, loops: merged }
    }

    /// The place of point `number`; none if it is outside.
    pub(crate) fn at(&self, number: i64) -> Option<i64> {
        let at = Iteration::new(self.base, &self.loops, number);
        (at.outside == 0).then_some(at.place)
    }

    /// The place of point `number`, if the `len` points from it on are inside and lie side by side.
    pub(crate) fn dense(&self, number: i64, len: usize) -> Option<i64> {
        let Some(last) = self.loops.last() else { return (len == 1).then_some(self.base) };
        let end = divide(number, last.extent).1 + len as i64;
        if last.stride == 1 && end <= last.high { self.at(number) } else { None }
    }

    /// Visits points `number ..`, `len` of them, in runs along the innermost axis: for each the number of points that
    /// came before, how many it has, and the place of its first, if they are inside. The others lie
    /// [`LoopNest::stride`] apart.
    #[inline(always)]
    pub(crate) fn runs(&self, number: i64, len: usize, mut run: impl FnMut(usize, usize, Option<i64>)) {
        let Some((inner, outer)) = self.loops.split_last() else { return run(0, len, Some(self.base)) };
        let (row, mut position) = divide(number, inner.extent);
        let mut at = Iteration::new(self.base, outer, row);
        let mut done = 0;
        while done < len {
            let count = (inner.extent - position).min((len - done) as i64);
            let place = (at.outside == 0).then_some(at.place);
            let inside = |position: i64| place.map(|place| place.wrapping_add(position.wrapping_mul(inner.stride)));
            let (end, low, high) = (position + count, inner.low, inner.high);
            // What lies before the inside, in it and behind it.
            for (from, to, there) in [
                (position, end.min(low), false),
                (position.max(low), end.min(high), true),
                (position.max(high).max(low), end, false),
            ] {
                if from < to {
                    run(done + (from - position) as usize, (to - from) as usize, inside(from).filter(|_| there));
                }
            }
            done += count as usize;
            position = 0;
            if done < len {
                at.advance(outer);
            }
        }
    }

    /// How far neighbours along the innermost axis lie apart; 0 if all points lie in one place.
    pub(crate) fn stride(&self) -> i64 {
        self.loops.last().map_or(0, |axis| axis.stride)
    }

    /// The two innermost axes, if neighbours along the outer one of them are side by side and those along the inner one
    /// are not, and the inner one is inside throughout.
    pub(crate) fn crossed(&self) -> Option<(Loop, Loop)> {
        match self.loops.as_slice() {
            [.., outer, inner] if outer.stride == 1 && inner.stride > 1 && inner.is_open() => Some((*outer, *inner)),
            _ => None,
        }
    }
}

/// The loops that a nest may have: the axes of a kernel, two of them in parts.
const MOST_LOOPS: usize = limits::PARALLEL_AXES + limits::REDUCE_AXES + 2;

/// A point of some loops that others follow, without a division for each.
struct Iteration {
    positions: [i64; MOST_LOOPS],
    place: i64,
    /// Loops along which the point is outside.
    outside: usize,
}

impl Iteration {
    #[inline(always)]
    fn new(base: i64, loops: &[Loop], number: i64) -> Iteration {
        let mut at = Iteration { positions: [0; MOST_LOOPS], place: base, outside: 0 };
        let mut rest = number;
        for (axis, position) in loops.iter().zip(&mut at.positions).rev() {
            (rest, *position) = divide(rest, axis.extent);
            at.place = at.place.wrapping_add(position.wrapping_mul(axis.stride));
            at.outside += usize::from(!axis.holds(*position));
        }
        at
    }

    /// Goes to the next point.
    #[inline(always)]
    fn advance(&mut self, loops: &[Loop]) {
        for (axis, position) in loops.iter().zip(&mut self.positions).rev() {
            let last = *position + 1 == axis.extent;
            let next = if last { 0 } else { *position + 1 };
            self.place = self.place.wrapping_add((next - *position).wrapping_mul(axis.stride));
            self.outside += usize::from(!axis.holds(next));
            self.outside -= usize::from(!axis.holds(*position));
            *position = next;
            if !last {
                return;
            }
        }
    }
}

/// Quotient and remainder of a number that often is the smaller one: dividing takes as long as a vector.
#[inline(always)]
fn divide(number: i64, divisor: i64) -> (i64, i64) {
    if number < divisor { (0, number) } else { (number / divisor, number % divisor) }
}

/// Of positions `0 .. count` along an axis, those at which the index `start + slope * position` is within a dimension: from
/// the first to one past the last. They are neighbours; if there are none, the two are equal.
pub(crate) fn inside(start: i64, slope: i64, extent: i64, count: i64) -> (i64, i64) {
    let (start, slope, extent) = (i128::from(start), i128::from(slope), i128::from(extent));
    let position = |numerator: i128| numerator.clamp(0, i128::from(count)) as i64;
    // The least number of steps of this size that reach a distance.
    let steps = |distance: i128, size: i128| position((distance + size - 1).div_euclid(size));
    let (from, to) = match slope {
        0 if start >= 0 && start < extent => (0, count),
        0 => (0, 0),
        1.. => (steps(-start, slope), steps(extent - start, slope)),
        _ => (steps(start - extent + 1, -slope), steps(start + 1, -slope)),
    };
    (from, to.max(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(nest: &LoopNest, number: i64, len: usize) -> Vec<Option<i64>> {
        let mut found = vec![];
        nest.runs(number, len, |done, count, place| {
            assert_eq!(done, found.len());
            found.extend((0..count as i64).map(|i| place.map(|place| place + i * nest.stride())));
        });
        found
    }

    #[test]
    fn a_nest_from_anywhere_visits_every_point_in_order() {
        let open = |extent, stride| Loop { extent, stride, low: 0, high: extent };
        let limited = |extent, stride, low, high| Loop { extent, stride, low, high };
        for axes in [
            vec![],
            vec![open(6, 1)],
            vec![open(3, 10), open(4, 1)],
            vec![open(2, 0), open(3, 4), open(2, 1)],
            vec![open(2, 1), open(1, 9), open(5, 2)],
            vec![open(2, 20), limited(5, 4, 1, 4), open(4, 1)],
            vec![limited(4, 5, 0, 3), limited(5, 1, 2, 4)],
            vec![open(3, 4), limited(4, 1, 2, 2)],
        ] {
            let mut expected = vec![Some(7)];
            for axis in &axes {
                let at = |base: &Option<i64>| {
                    let base = *base;
                    (0..axis.extent).map(move |i| {
                        base.filter(|_| i >= axis.low && i < axis.high).map(|base| base + i * axis.stride)
                    })
                };
                expected = expected.iter().flat_map(at).collect();
            }
            let nest = LoopNest::new(7, axes);
            for start in 0..expected.len() {
                assert_eq!(nest.at(start as i64), expected[start]);
                for end in start + 1..=expected.len() {
                    let part = &expected[start..end];
                    assert_eq!(places(&nest, start as i64, end - start), part);
                    let neighbours = |pair: &[Option<i64>]| pair[0].zip(pair[1]).is_some_and(|(a, b)| b == a + 1);
                    match nest.dense(start as i64, end - start) {
                        Some(place) => assert!(part.windows(2).all(neighbours) && part[0] == Some(place)),
                        // It may be dense by accident, over the end of a row.
                        None => assert!(
                            part.len() == 1 || nest.loops.len() > 1 || !part.windows(2).all(neighbours),
                            "{nest:?} from {start} to {end}"
                        ),
                    }
                }
            }
        }
    }

    #[test]
    fn axes_that_memory_does_not_tell_apart_are_merged() {
        let merged = |axes: &[(i64, i64)]| {
            LoopNest::new(
                0,
                axes.iter().map(|(extent, stride)| Loop { extent: *extent, stride: *stride, low: 0, high: *extent }),
            )
        };
        assert_eq!(merged(&[(2, 12), (3, 4), (1, 99), (4, 1)]), merged(&[(24, 1)]));
        assert_eq!(merged(&[(2, 0), (3, 0)]), merged(&[(6, 0)]));
        assert_eq!(merged(&[(2, 3), (3, 4)]).loops.len(), 2);
    }

    #[test]
    fn the_indices_inside_are_those_that_a_search_finds() {
        for start in [-9, -3, -1, 0, 1, 4, 5, 9, i64::MIN, i64::MAX] {
            for slope in [-7, -2, -1, 0, 1, 2, 3, 7, i64::MIN, i64::MAX] {
                for extent in [0, 1, 5] {
                    let within =
                        |i: i128| (0..i128::from(extent)).contains(&(i128::from(start) + i128::from(slope) * i));
                    let found: Vec<i64> = (0..12).filter(|i| within(*i as i128)).collect();
                    let (from, to) = inside(start, slope, extent, 12);
                    let expected: Vec<i64> = (from..to).collect();
                    assert_eq!(found, expected, "{start} + {slope} i in 0..{extent}");
                }
            }
        }
    }
}
