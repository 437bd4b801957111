//! Walks over points whose offset in memory is affine in the axes.

/// Extents and strides of merged axes, outermost first, over which offsets are `base + sum of stride * position`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Strided {
    pub(crate) base: i64,
    axes: Vec<(i64, i64)>,
}

/// What is done with a run of points. A trait and not a closure: its method is inlined for sure, and so compiled with the
/// caller's target features.
pub(crate) trait StridedRun {
    /// Handles `count` points: `done` came before, and the first lies at `offset`, the others
    /// [`Strided::inner_stride`] apart.
    fn run(&mut self, done: usize, offset: i64, count: usize);
}

/// Parallel and reduce axes at most.
const MAX_AXES: usize = 12;

impl Strided {
    /// Merges neighbouring axes that memory does not tell apart, and drops those of extent 1.
    pub(crate) fn new(base: i64, axes: impl IntoIterator<Item = (i64, i64)>) -> Strided {
        let mut merged: Vec<(i64, i64)> = Vec::with_capacity(MAX_AXES);
        for (extent, stride) in axes.into_iter().filter(|(extent, _)| *extent != 1) {
            match merged.last_mut() {
                Some((outer, outer_stride)) if Some(*outer_stride) == stride.checked_mul(extent) => {
                    (*outer, *outer_stride) = (*outer * extent, stride);
                }
                _ => merged.push((extent, stride)),
            }
        }
        Strided { base, axes: merged }
    }

    /// The stride of the innermost axis; 0 if all points lie at one offset.
    pub(crate) fn inner_stride(&self) -> i64 {
        self.axes.last().map_or(0, |(_, stride)| *stride)
    }

    /// The offset of point `number`.
    pub(crate) fn offset(&self, number: i64) -> i64 {
        let (mut offset, mut rest) = (self.base, number);
        for (extent, stride) in self.axes.iter().rev() {
            offset += rest % extent * stride;
            rest /= extent;
        }
        offset
    }

    /// The offset of point `number`, if the `len` points from it on lie side by side.
    pub(crate) fn dense(&self, number: i64, len: usize) -> Option<i64> {
        match self.axes.as_slice() {
            [] if len == 1 => Some(self.base),
            [(_, 1)] => Some(self.base + number),
            [.., (extent, 1)] if number % extent + len as i64 <= *extent => Some(self.offset(number)),
            _ => None,
        }
    }

    /// Visits points `number ..`, `len` of them, as runs along the innermost axis.
    #[inline(always)]
    pub(crate) fn for_runs(&self, number: i64, len: usize, run: &mut impl StridedRun) {
        // Where all points lie at one offset, they are one run.
        let (&(extent, stride), outer) = self.axes.split_last().unwrap_or((&(i64::MAX, 0), &[]));
        let mut positions = [0i64; MAX_AXES];
        let mut rest = number / extent;
        let mut position = number % extent;
        let mut row = self.base;
        for axis in (0..outer.len()).rev() {
            let (extent, stride) = outer[axis];
            positions[axis] = rest % extent;
            row += positions[axis] * stride;
            rest /= extent;
        }
        let mut done = 0;
        loop {
            let count = (extent - position).min((len - done) as i64) as usize;
            run.run(done, row + position * stride, count);
            done += count;
            if done >= len {
                return;
            }
            position = 0;
            for axis in (0..outer.len()).rev() {
                let (extent, stride) = outer[axis];
                positions[axis] += 1;
                row += stride;
                if positions[axis] < extent {
                    break;
                }
                positions[axis] = 0;
                row -= extent * stride;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Offsets {
        stride: i64,
        found: Vec<i64>,
    }

    impl StridedRun for Offsets {
        fn run(&mut self, done: usize, offset: i64, count: usize) {
            assert_eq!(done, self.found.len());
            self.found.extend((0..count as i64).map(|i| offset + i * self.stride));
        }
    }

    fn offsets(strided: &Strided, number: i64, len: usize) -> Vec<i64> {
        let mut offsets = Offsets { stride: strided.inner_stride(), found: vec![] };
        strided.for_runs(number, len, &mut offsets);
        offsets.found
    }

    #[test]
    fn a_walk_from_anywhere_visits_every_point_in_order() {
        for axes in
            [vec![], vec![(6, 1)], vec![(3, 10), (4, 1)], vec![(2, 0), (3, 4), (2, 1)], vec![(2, 1), (1, 9), (5, 2)]]
        {
            let mut expected = vec![7];
            for (extent, stride) in &axes {
                expected = expected.iter().flat_map(|base| (0..*extent).map(move |i| base + i * stride)).collect();
            }
            let strided = Strided::new(7, axes);
            for start in 0..expected.len() {
                for end in start + 1..=expected.len() {
                    let part = &expected[start..end];
                    assert_eq!(offsets(&strided, start as i64, end - start), part);
                    let dense = part.windows(2).all(|pair| pair[1] == pair[0] + 1);
                    match strided.dense(start as i64, end - start) {
                        Some(offset) => assert!(dense && offset == part[0]),
                        // It may be dense by accident, over the end of a row.
                        None => assert!(!dense || part.len() == 1 || strided.axes.len() > 1),
                    }
                }
            }
        }
    }

    #[test]
    fn axes_that_memory_does_not_tell_apart_are_merged() {
        assert_eq!(Strided::new(0, [(2, 12), (3, 4), (1, 99), (4, 1)]), Strided::new(0, [(24, 1)]));
        assert_eq!(Strided::new(0, [(2, 0), (3, 0)]), Strided::new(0, [(6, 0)]));
        assert_eq!(Strided::new(0, [(2, 3), (3, 4)]).axes, [(2, 3), (3, 4)]);
    }
}
