//! Whether the points of a map are better taken in the order of its outputs, or in that of its inputs.

use super::chooser::Chooser;
use super::schedule::Schedule;
use super::space::{AxisDomain, store_offset};
use super::tiles::Tiles;
use crate::access::effective_strides;
use passhost_ir::kernel::{IndexId, Op, Reg};
use std::collections::HashSet;

/// Threads that read or write at once.
const WARP: i64 = 32;
/// Neighbouring bytes that memory gives or takes at once.
const SECTOR: i64 = 32;

impl Chooser<'_> {
    /// A map that computes along its inputs' neighbours and writes along its outputs', where a warp then touches at most
    /// half of the sectors that it touches in `map`: as where much is read for each element that is written, or places may
    /// lie outside, so that nothing can be read ahead. Fewer points than two for each thread are read faster as they are.
    pub(super) fn transposed(&self, map: &Schedule) -> Option<Schedule> {
        let rows = &map.rows;
        if rows.points() < 2 * self.device.busy_threads() {
            return None;
        }
        let sizes: Vec<u64> = self.kernel.stores.iter().map(|store| self.dtype(store.value).size()).collect();
        let turns = rows.axes.iter().filter_map(|axis| {
            let tiles = Tiles::transposed(rows, *axis, &sizes, self.device)?;
            let outer = rows.axes.iter().copied().filter(|other| other != axis);
            let along_inputs = AxisDomain::new(self.kernel, outer.chain([*axis]).collect());
            let staged: usize = sizes.iter().map(|size| through_shared(*size as i64)).sum();
            Some((self.read(&along_inputs, None) + self.written(rows) + staged, tiles))
        });
        let (touched, tiles) = turns.min_by_key(|(touched, _)| *touched)?;
        let before = self.read(rows, map.tiles.as_ref()) + self.written(rows);
        (2 * touched <= before).then(|| map.clone().by_tiles(tiles))
    }

    /// Sectors that the loads of the first warp touch, where its threads take points in this order.
    fn read(&self, rows: &AxisDomain, tiles: Option<&Tiles>) -> usize {
        let loads = self.needed().filter_map(|(reg, op)| {
            let Op::Load { input, index, .. } = op else { return None };
            let size = self.kernel.inputs[*input as usize].dtype.size() as i64;
            let is_read_ahead = tiles.is_some_and(|tiles| tiles.has(reg));
            Some(if is_read_ahead {
                2 * through_shared(size)
            } else {
                touched(rows, &self.slopes(reg, *input as usize, index), size)
            })
        });
        loads.sum()
    }

    /// Sectors that its stores touch.
    fn written(&self, rows: &AxisDomain) -> usize {
        let stores = self.kernel.stores.iter().map(|store| {
            let slopes: Vec<Option<i64>> =
                store_offset(self.kernel, &store.order).slopes.into_iter().map(Some).collect();
            touched(rows, &slopes, self.dtype(store.value).size() as i64)
        });
        stores.sum()
    }

    /// By how many elements the place of a load moves along each axis, where that is always the same, whether it is inside
    /// or not.
    fn slopes(&self, reg: Reg, input: usize, index: &[IndexId]) -> Vec<Option<i64>> {
        let strides = effective_strides(&self.kernel.inputs[input].shape, &self.layout.strides[input]);
        let is_looked_up = !self.analysis.gathers[reg.0 as usize].is_empty();
        let along = |axis: usize| -> Option<i64> {
            let steps = index
                .iter()
                .zip(&strides)
                .map(|(id, stride)| self.analysis.forms[id.0 as usize].slopes[axis]?.checked_mul(*stride));
            steps.sum::<Option<i64>>().filter(|_| !is_looked_up)
        };
        (0..self.kernel.parallel.len() + self.kernel.reduce.len()).map(along).collect()
    }
}

/// What writing to shared memory and reading from there takes, in sectors of a warp.
fn through_shared(size: i64) -> usize {
    (WARP * size / SECTOR).max(1) as usize
}

/// Sectors that the first warp touches where places move so along each axis. Where that is not known, all threads touch
/// other ones.
fn touched(rows: &AxisDomain, slopes: &[Option<i64>], size: i64) -> usize {
    let place = |thread: i64| -> Option<i64> {
        let (mut left, mut place) = (thread, 0i64);
        for (axis, extent) in rows.axes.iter().zip(&rows.extents).rev() {
            let position = left % extent.max(&1);
            left /= extent.max(&1);
            if position > 0 {
                place = place.checked_add(slopes[*axis]?.checked_mul(position)?)?;
            }
        }
        place.checked_mul(size)
    };
    let places: Option<HashSet<i64>> =
        (0..WARP).map(|thread| place(thread).map(|bytes| bytes.div_euclid(SECTOR))).collect();
    places.map_or(WARP as usize, |places| places.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_of_a_warp_are_counted() {
        let rows = AxisDomain { axes: vec![0, 1], extents: vec![64, 16] };
        let of = |outer: Option<i64>, inner: Option<i64>| touched(&rows, &[outer, inner], 4);
        assert_eq!(of(Some(16), Some(1)), 4, "all side by side");
        assert_eq!(of(Some(64), Some(1)), 4, "two rows of 64 bytes");
        assert_eq!(of(Some(1), Some(64)), 16, "pairs side by side");
        assert_eq!(of(Some(0), Some(0)), 1, "one element");
        assert_eq!(of(Some(1), None), 32, "nobody knows");
    }
}
