//! Transposition by way of shared memory.
//!
//! Where points that are neighbours in the outputs lie far apart in an input, each thread of a warp reads a piece of
//! memory of its own. If other points lie side by side there, a block takes a square of points: it reads the input along
//! its neighbours into shared memory, and then computes and writes along the outputs' neighbours. Rows of the square are one
//! element longer than it is wide, so that a column of it lies in all banks; or one pair longer, where pairs of 16-bit
//! elements are moved as one.
//!
//! Or it computes along the inputs' neighbours, leaves what the outputs get in shared memory, and writes it along the
//! outputs' neighbours: the squares are *turned*.

use super::properties::DeviceProperties;
use super::space::{Address, AxisDomain, AxisGroup, MemoryAccess};
use passhost_ir::Kernel;
use passhost_ir::kernel::Reg;

/// Threads of a block, warps of 32 that take a row of a square each.
pub(super) const THREADS: u32 = 256;
/// Warps of a block.
pub(super) const WARPS: u32 = THREADS / 32;

/// Points that a kernel has at least, if it pays to go over them in another order than that of its outputs.
const FEWEST_POINTS: u64 = 4096;
/// How far a square of points should reach along each side, at least.
const FEWEST_STEPS: i64 = 16;

/// Squares of points, and the loads that go by way of them. The number of a point grows by 1 along one side of the square,
/// by `inner` along the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tiles {
    /// Points along the outputs' neighbours.
    pub(super) along: i64,
    /// Points along the inputs' neighbours.
    pub(super) across: i64,
    /// By how much the number of a point grows from one of the inputs' neighbours to the next.
    pub(super) inner: i64,
    /// Neighbours that a thread writes at once; they divide `along`.
    pub(super) lanes: u32,
    /// Neighbours along the inputs that a thread reads at once, and then computes one after the other: 1 or 2.
    pub(super) pair: u32,
    /// All points.
    points: i64,
    pub(super) loads: Vec<TiledLoad>,
    /// Bytes of an element of each output, if the squares are turned; none else.
    pub(super) transposed: Vec<u64>,
}

/// A load whose elements are read ahead, into shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TiledLoad {
    pub(super) reg: Reg,
    /// Elements from one of the outputs' neighbours to the next. The inputs' neighbours are 1 apart.
    pub(super) slope: i64,
    /// Bytes of an element.
    size: u64,
    /// Whether pairs of the inputs' neighbours lie at a multiple of their bytes.
    in_pairs: bool,
}

impl Tiles {
    /// Squares of so many points with sides of these, and no loads yet.
    fn new((along, across, inner): (i64, i64, i64), points: i64, transposed: Vec<u64>) -> Tiles {
        Tiles { along, across, inner, lanes: 1, pair: 1, points, loads: vec![], transposed }
    }

    /// Those of a kernel in which each point is computed by itself, if there is a load that is worth it.
    pub(super) fn choose(
        loads: impl Iterator<Item = (Reg, MemoryAccess)>,
        (kernel, device): (&Kernel, &DeviceProperties),
        rows: &AxisDomain,
    ) -> Option<Tiles> {
        let points = i64::try_from(rows.points()).ok().filter(|points| *points as u64 >= FEWEST_POINTS)?;
        let written = kernel.output_types().iter().map(|ty| ty.bytes()).max()?;
        let mut tiles: Option<Tiles> = None;
        for (reg, access) in loads {
            let (Address::Affine(offset), size) = (access.address, access.dtype.size()) else { continue };
            let groups = rows.groups(&offset.slopes);
            let Some((near, far)) = sides(&groups) else { continue };
            if access.bytes.saturating_mul(4) < written {
                continue;
            }
            let found = tiles.get_or_insert_with(|| Tiles::new((far.extent, near.extent, near.inner), points, vec![]));
            if (found.along, found.across, found.inner) == (far.extent, near.extent, near.inner) {
                let even = groups.iter().all(|group| *group == near || group.slope % 2 == 0);
                let aligned = access.alignment as u64 >= 2 * size;
                let in_pairs = size == 2 && even && aligned && offset.base % 2 == 0 && near.extent % 2 == 0;
                found.loads.push(TiledLoad { reg, slope: far.slope, size, in_pairs });
            }
        }
        tiles?.fitted(kernel, device)
    }

    /// Turned squares of a map whose inputs' neighbours lie along an axis, and that has outputs of elements of so many bytes.
    pub(super) fn transposed(
        rows: &AxisDomain,
        axis: usize,
        sizes: &[u64],
        device: &DeviceProperties,
    ) -> Option<Tiles> {
        let (inner, across) = rows.walk(axis)?;
        let points = i64::try_from(rows.points()).ok()?;
        let is_long = |extent: i64| (FEWEST_STEPS..=1 << 30).contains(&extent);
        let tiles = Tiles::new((inner, across, inner), points, sizes.to_vec());
        let fits = is_long(inner) && is_long(across) && tiles.shared_bytes() <= device.shared_bytes_per_block();
        (fits && tiles.is_mostly_full()).then_some(tiles)
    }

    /// With as many lanes, and as many loads, as are worth it and as shared memory has room for.
    fn fitted(mut self, kernel: &Kernel, device: &DeviceProperties) -> Option<Tiles> {
        let outputs = kernel.output_types();
        let sizes = outputs.iter().map(|ty| ty.dtype.size()).chain(self.loads.iter().map(|load| load.size));
        let lanes = (4 / sizes.max()?).max(1) as u32;
        for lanes in [lanes, 1] {
            self.lanes = lanes;
            while !self.loads.is_empty() {
                self.pair = if lanes == 2 && self.loads.iter().all(|load| load.in_pairs) { 2 } else { 1 };
                if self.along % i64::from(lanes) != 0 || !self.is_mostly_full() {
                    break;
                }
                if self.shared_bytes() <= device.shared_bytes_per_block() {
                    return Some(self);
                }
                if lanes > 1 {
                    break;
                }
                self.loads.pop();
            }
        }
        None
    }

    /// Points along a side of a square.
    pub(super) fn side(&self) -> i64 {
        32 * i64::from(self.lanes)
    }

    /// Squares along the two sides: along the outputs' neighbours, and along the inputs'.
    pub(super) fn counts(&self) -> (i64, i64) {
        let count = |extent: i64| (extent + self.side() - 1) / self.side();
        (count(self.along), count(self.across))
    }

    /// Points that lie between the two sides: those of the axes between them.
    pub(super) fn between(&self) -> i64 {
        self.inner / self.along
    }

    /// Blocks of the grid.
    pub(super) fn blocks(&self) -> u64 {
        let (along, across) = self.counts();
        (along * across * (self.points / self.along / self.across)).unsigned_abs()
    }

    /// Where the elements of a load, or of an output, lie in a block's shared memory, in bytes.
    pub(super) fn place(&self, position: usize) -> u64 {
        self.staged().take(position).map(|size| self.bytes(size)).sum()
    }

    /// Bytes of a block's shared memory.
    pub(super) fn shared_bytes(&self) -> u64 {
        self.place(usize::MAX)
    }

    /// Bytes of an element of each load, or output, that goes by way of shared memory.
    fn staged(&self) -> impl Iterator<Item = u64> {
        self.loads.iter().map(|load| load.size).chain(self.transposed.iter().copied())
    }

    /// Elements from one row of a square to the next.
    pub(super) fn pitch(&self) -> i64 {
        self.side() + i64::from(self.pair)
    }

    fn bytes(&self, size: u64) -> u64 {
        ((self.side() * self.pitch()).unsigned_abs() * size).next_multiple_of(16)
    }

    fn is_mostly_full(&self) -> bool {
        let (along, across) = self.counts();
        along * across * self.side() * self.side() <= 2 * self.along * self.across
    }

    /// Whether a value is read ahead.
    pub(super) fn has(&self, reg: Reg) -> bool {
        self.loads.iter().any(|load| load.reg == reg)
    }
}

/// The axes along which the elements of a load are neighbours, and the innermost ones along which they are not.
fn sides(groups: &[AxisGroup]) -> Option<(AxisGroup, AxisGroup)> {
    let far = groups.last().filter(|group| group.inner == 1 && group.slope > 1 && group.extent >= FEWEST_STEPS)?;
    let near = groups.iter().find(|group| group.slope == 1 && group.extent >= FEWEST_STEPS)?;
    // Positions along a side are counted in 32 bits.
    (near.extent.max(far.extent) <= 1 << 30).then_some((*near, *far))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Numbers of the points that a thread computes, as the text has them.
    fn computed(tiles: &Tiles, block: i64, thread: i64) -> Vec<i64> {
        let (side, (along, across), lanes) = (tiles.side(), tiles.counts(), i64::from(tiles.lanes));
        let (column, first) = (thread % 32, thread / 32);
        let (a0, b0, rest) = (block % along * side, block / along % across * side, block / (along * across));
        let between = tiles.between();
        let corner = rest / between * tiles.inner * tiles.across + rest % between * tiles.along;
        let (pair, warps) = (i64::from(tiles.pair), i64::from(WARPS));
        let firsts = (0..side / warps / pair).flat_map(|n| (0..pair).map(move |h| (first + n * warps) * pair + h));
        let turns = firsts.map(|b| (a0 + column * lanes, b0 + b));
        let inside = turns.filter(|(a, b)| *a < tiles.along && *b < tiles.across);
        inside
            .flat_map(|(a, b)| (0..lanes).map(move |v| (a + v, b)))
            .map(|(a, b)| corner + b * tiles.inner + a)
            .collect()
    }

    /// Numbers of the points that a thread computes where squares are turned, with their places in shared memory; and those
    /// that it writes.
    fn transposed(tiles: &Tiles, block: i64, thread: i64, computes: bool) -> Vec<(i64, i64)> {
        let (side, (along, across)) = (tiles.side(), tiles.counts());
        let (column, first) = (thread % 32, thread / 32);
        let (a0, b0, rest) = (block % along * side, block / along % across * side, block / (along * across));
        let corner = rest * tiles.inner * tiles.across;
        let turns = (0..side / i64::from(WARPS)).map(|n| first + n * i64::from(WARPS));
        let places = turns.map(|turn| if computes { (turn, column) } else { (column, turn) });
        let inside = places.filter(|(a, b)| a0 + a < tiles.along && b0 + b < tiles.across);
        inside.map(|(a, b)| (corner + (b0 + b) * tiles.inner + a0 + a, a * tiles.pitch() + b)).collect()
    }

    #[test]
    fn what_turned_squares_compute_is_written_from_where_it_was_left() {
        for (along, across, around, sizes) in
            [(64, 64, 1, vec![4]), (60, 40, 3, vec![1, 8]), (6272, 192, 1, vec![2, 4, 1])]
        {
            let rows = AxisDomain { axes: vec![0, 1, 2], extents: vec![around, across, along] };
            let tiles = Tiles::transposed(&rows, 1, &sizes, &DeviceProperties::H200).unwrap();
            let mut times = vec![[0; 2]; (along * across * around) as usize];
            for block in 0..tiles.blocks() as i64 {
                let of_all = |computes: bool| -> Vec<(i64, i64)> {
                    (0..i64::from(THREADS)).flat_map(|thread| transposed(&tiles, block, thread, computes)).collect()
                };
                let [mut left, mut written] = [of_all(true), of_all(false)];
                for (at, points) in [&left, &written].into_iter().enumerate() {
                    points.iter().for_each(|(point, _)| times[*point as usize][at] += 1);
                }
                left.sort_unstable();
                written.sort_unstable();
                assert_eq!(left, written, "each from its place");
            }
            assert!(times.iter().all(|times| *times == [1, 1]), "{tiles:?}");
            let ends = (0..sizes.len()).map(|output| tiles.place(output) + tiles.side() as u64 * 33 * sizes[output]);
            let begins = (1..=sizes.len()).map(|output| tiles.place(output));
            assert!(ends.zip(begins).all(|(end, begin)| end <= begin), "outputs share no memory");
        }
    }

    #[test]
    fn every_point_is_computed_once() {
        // Sides with and without a remainder, nothing or something between and around them.
        for (along, across, between, around, lanes) in
            [(64, 64, 1, 1, 1), (40, 33, 1, 3, 1), (33, 100, 5, 2, 1), (66, 70, 3, 2, 2), (100, 129, 1, 1, 4)]
        {
            let points = along * across * between * around;
            for pair in [1, 2] {
                let (inner, loads, transposed) = (along * between, vec![], vec![]);
                let tiles = Tiles { along, across, inner, lanes, pair, points, loads, transposed };
                let mut times = vec![0; points as usize];
                for block in 0..tiles.blocks() as i64 {
                    for point in (0..i64::from(THREADS)).flat_map(|thread| computed(&tiles, block, thread)) {
                        times[point as usize] += 1;
                    }
                }
                assert!(times.iter().all(|times| *times == 1), "{tiles:?}");
            }
        }
    }
}
