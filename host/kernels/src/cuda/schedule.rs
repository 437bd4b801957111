//! Which threads compute what.

use super::passes::Passes;
use super::properties::DeviceProperties;
use super::scans::scanned;
use super::space::{Address, Domain, Lanes, common, load_address, store_address};
use super::split::{Exchange, Split};
use super::tiles::Tiles;
use crate::access::{Analysis, Layout, axes_in_store_order, prefers_columns};
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Class, Facts, Op, Reg};
use passhost_ir::{Dtype, Kernel};

/// Registers that values kept between passes over a row may take, in a thread.
pub(super) const KEPT_REGISTERS: u64 = 64;
/// Points from which on it takes a block longer to reduce them than it takes several to tell each other what they found.
const SPLIT_POINTS: u64 = 32768;
/// Points that a block should have at least where several share a row.
const POINTS_PER_BLOCK: u64 = 4096;
/// Neighbouring bytes that memory gives together.
const SECTOR_BYTES: u64 = 32;
/// Blocks that there must be room for in place of one, for several to share what it has.
const LEAST_BLOCKS: u64 = 4;
/// Threads of such a block, and of one that scans: several of them fill a multiprocessor, with registers enough.
const SPLIT_THREADS: u32 = 512;
/// Registers of a multiprocessor.
pub(super) const REGISTERS: u64 = 1 << 16;
/// Those that a thread needs beside what it adds up.
pub(super) const OTHER_REGISTERS: u64 = 24;
/// Rows from which on a thread each scans them, where they lie side by side.
const SCANNED_SIDE_BY_SIDE: u64 = 4096;

/// What forms of kernels are called where they are counted.
pub const FORMS: [&str; 9] = [
    "map",
    "columns",
    "columns in a cluster",
    "columns of many blocks",
    "rows",
    "rows in a cluster",
    "rows of many blocks",
    "scan by a thread",
    "scan by a block",
];

/// The form of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Each thread computes `lanes` neighbouring rows, and the points of a row one after the other. `deep` threads share
    /// them. A map has nothing but rows.
    Columns {
        /// Threads along the rows.
        wide: u32,
        /// Threads that share the points of a row.
        deep: u32,
        /// Rows per thread.
        lanes: u32,
    },
    /// `threads` neighbouring threads compute a row, each in turn `lanes` neighbouring points of it.
    Rows {
        /// Threads per row; a power of two.
        threads: u32,
        /// Rows per block.
        rows: u32,
        /// Points per thread and turn.
        lanes: u32,
        /// Turns that a row takes.
        turns: u32,
        /// Whether what a later pass needs is kept in registers; otherwise it is computed anew.
        kept: bool,
    },
}

/// The form of a kernel with its domains.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    pub(super) form: Form,
    pub(super) rows: Domain,
    pub(super) points: Domain,
    pub(super) split: Split,
    /// Squares of points by which inputs are read, if any.
    pub(super) tiles: Option<Tiles>,
}

impl Schedule {
    fn whole(form: Form, rows: Domain, points: Domain) -> Schedule {
        Schedule { form, rows, points, split: Split::Whole, tiles: None }
    }

    /// Threads of a block.
    pub(super) fn threads(&self) -> u32 {
        match self.form {
            Form::Columns { wide, deep, .. } => wide * deep,
            Form::Rows { threads, rows, .. } => threads * rows,
        }
    }

    /// One of [`FORMS`].
    pub(super) fn name(&self, kernel: &Kernel, analysis: &Analysis) -> &'static str {
        let scans =
            kernel.body.iter().zip(&analysis.needed).any(|(inst, needed)| *needed && matches!(inst.op, Op::Scan(..)));
        match (self.form, self.split) {
            (Form::Columns { .. }, _) if scans => "scan by a thread",
            (Form::Rows { .. }, _) if scans => "scan by a block",
            _ if self.points.axes.is_empty() => "map",
            (Form::Columns { .. }, Split::Whole) => "columns",
            (Form::Columns { .. }, Split::Cluster { .. }) => "columns in a cluster",
            (Form::Columns { .. }, Split::Last { .. }) => "columns of many blocks",
            (Form::Rows { .. }, Split::Whole) => "rows",
            (Form::Rows { .. }, Split::Cluster { .. }) => "rows in a cluster",
            (Form::Rows { .. }, Split::Last { .. }) => "rows of many blocks",
        }
    }

    /// Blocks of the grid.
    pub(super) fn blocks(&self) -> u64 {
        if let Some(tiles) = &self.tiles {
            return tiles.blocks();
        }
        let together = match self.form {
            Form::Columns { wide, lanes, .. } => self.rows.points().div_ceil(u64::from(wide) * u64::from(lanes)),
            Form::Rows { rows, .. } => self.rows.points().div_ceil(u64::from(rows)),
        };
        together * u64::from(self.split.blocks())
    }

    /// Bytes of a block's shared memory that reductions of so large accumulators take.
    pub(super) fn shared_bytes(&self, accumulator: u64) -> u64 {
        match self.form {
            Form::Columns { deep: 1, .. } => 0,
            Form::Columns { wide, deep, lanes } => u64::from(wide * deep * lanes) * accumulator,
            Form::Rows { threads, .. } if threads <= 32 => 0,
            Form::Rows { .. } => u64::from(self.threads() / 32) * accumulator,
        }
    }

    /// The domain that lanes are neighbours along, and the other.
    pub(super) fn along(&self) -> (&Domain, &Domain) {
        match self.form {
            Form::Columns { .. } => (&self.rows, &self.points),
            Form::Rows { .. } => (&self.points, &self.rows),
        }
    }

    /// Lanes of a thread.
    pub(super) fn lanes(&self) -> u32 {
        match self.form {
            Form::Columns { lanes, .. } | Form::Rows { lanes, .. } => lanes,
        }
    }
}

/// An access that decides how wide others are.
struct Traffic {
    address: Address,
    dtype: Dtype,
    alignment: usize,
    in_bounds: Vec<bool>,
    /// Bytes of the whole tensor.
    bytes: u64,
}

/// What a schedule is chosen by.
pub(super) struct Chooser<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) facts: &'a Facts,
    pub(super) analysis: &'a Analysis,
    pub(super) layout: &'a Layout,
    pub(super) device: &'a DeviceProperties,
    /// Whether it has neither passes nor rows: each point is computed by itself.
    pub(super) is_map: bool,
    /// Whether blocks may share rows.
    pub(super) may_share: bool,
    pub(super) passes: &'a Passes,
}

impl Chooser<'_> {
    pub(super) fn choose(&self) -> Schedule {
        let (parallel, all) = (self.kernel.parallel.len(), self.kernel.parallel.len() + self.kernel.reduce.len());
        if self.is_map {
            let rows = Domain::new(self.kernel, axes_in_store_order(self.kernel, |_| true));
            return self.tiled(self.map(rows));
        }
        if self.needed().any(|(_, op)| matches!(op, Op::Scan(..))) {
            return self.scan();
        }
        let rows = Domain::new(self.kernel, axes_in_store_order(self.kernel, |axis| axis < parallel));
        // Reductions with positions visit the points in the order of the axes.
        let points = if self.needed().any(|(_, op)| matches!(op, Op::Reduce(..))) {
            Domain::new(self.kernel, (parallel..all).collect())
        } else {
            Domain::new(self.kernel, axes_in_store_order(self.kernel, |axis| axis >= parallel))
        };
        if self.prefers_columns(&rows, &points) { self.columns(rows, points) } else { self.rows(rows, points) }
    }

    pub(super) fn needed(&self) -> impl Iterator<Item = (Reg, &Op)> {
        (0..)
            .map(Reg)
            .zip(&self.kernel.body)
            .filter(|(reg, _)| self.analysis.needed[reg.0 as usize])
            .map(|(reg, inst)| (reg, &inst.op))
    }

    /// The loads and stores that range over all points, or over the rows of a map.
    fn traffic(&self, elements: bool) -> Vec<Traffic> {
        let all = self.kernel.parallel.len() + self.kernel.reduce.len();
        let loads = self.needed().filter_map(|(reg, op)| {
            let Op::Load { input, index, .. } = op else { return None };
            let in_bounds = self.facts.in_bounds[reg.0 as usize].clone();
            let proven = in_bounds.iter().all(|proven| *proven);
            let wanted = !elements || self.facts.class(reg) == Class::Elem;
            wanted.then(|| Traffic {
                address: load_address(self.kernel, self.analysis, proven, (*input, index), self.layout),
                dtype: self.kernel.inputs[*input as usize].dtype,
                alignment: self.layout.alignments[*input as usize],
                in_bounds,
                bytes: bytes(&self.kernel.inputs[*input as usize].shape, self.kernel.inputs[*input as usize].dtype),
            })
        });
        let stores = self.kernel.stores.iter().zip(&self.layout.outputs);
        let stores =
            stores.filter(|(store, _)| !elements || store.order.len() == all).map(|(store, alignment)| Traffic {
                address: store_address(self.kernel, &store.order),
                dtype: self.kernel.body[store.value.0 as usize].dtype,
                alignment: *alignment,
                in_bounds: vec![],
                bytes: bytes(&store.shape, self.kernel.body[store.value.0 as usize].dtype),
            });
        loads.chain(stores).collect()
    }

    /// The most lanes, up to 16 bytes of the narrowest type, by which most of the traffic goes in wide accesses.
    fn widest(&self, traffic: &[Traffic], along: &Domain, other: &Domain) -> u32 {
        let narrowest = traffic.iter().map(|access| access.dtype.size()).min().unwrap_or(4);
        let mut lanes = (16 / narrowest.max(2)).min(8) as u32;
        while lanes > 1 {
            let bytes = |wide: bool| -> u64 {
                let is_wide = |access: &&Traffic| {
                    let common = common(
                        self.kernel,
                        self.analysis,
                        (along, other),
                        &access.address,
                        i64::from(lanes),
                        (access.dtype, access.alignment),
                        &access.in_bounds,
                    );
                    (common != Lanes::Each) == wide
                };
                traffic.iter().filter(is_wide).map(|access| access.dtype.size()).sum()
            };
            if along.points().is_multiple_of(u64::from(lanes)) && bytes(true) > bytes(false) {
                return lanes;
            }
            lanes /= 2;
        }
        1
    }

    pub(super) fn map(&self, rows: Domain) -> Schedule {
        let fill = self.device.busy_threads();
        let points = Domain::default();
        let mut lanes = self.widest(&self.traffic(false), &rows, &points);
        while lanes > 1 && rows.points() / u64::from(lanes) < fill / 8 {
            lanes /= 2;
        }
        let wide = if rows.points() / u64::from(lanes) < fill { 128 } else { 256 };
        Schedule::whole(Form::Columns { wide, deep: 1, lanes }, rows, points)
    }

    /// A map with those of its inputs read by squares that are worth it.
    fn tiled(&self, map: Schedule) -> Schedule {
        let tiles = Tiles::choose((self.kernel, self.facts), self.analysis, self.layout, self.device, &map);
        match tiles {
            Some(tiles) => Schedule { form: tiles.form(), tiles: Some(tiles), ..map },
            None => map,
        }
    }

    /// Whether most of what is read lies such that neighbouring rows, not neighbouring points, are side by side.
    fn prefers_columns(&self, rows: &Domain, points: &Domain) -> bool {
        let (Some(row), Some(point)) = (rows.innermost(), points.innermost()) else { return false };
        let positions = self.needed().any(|(_, op)| matches!(op, Op::Reduce(op, _) if op.gives() == Gives::Position));
        if positions {
            return false;
        }
        let traffic = self.traffic(true);
        let offsets = traffic.iter().filter_map(|access| match &access.address {
            Address::Affine(offset) => Some((offset.slopes.as_slice(), access.bytes)),
            Address::Indexed { .. } => None,
        });
        prefers_columns(offsets, row, point)
    }

    fn columns(&self, rows: Domain, points: Domain) -> Schedule {
        let fill = self.device.busy_threads();
        let traffic = self.traffic(true);
        let wide = |lanes: u32| (rows.points() / u64::from(lanes)).clamp(1, 32) as u32;
        // Threads that share a row get a few points each. Where columns are few, more threads share them.
        let most = |wide: u32| if wide == 32 { 32 } else { 1 << (SPLIT_THREADS / wide).ilog2() };
        let deepest = |wide: u32| (points.points() / 4).next_power_of_two().clamp(1, most(wide)) as u32;
        let threads = |lanes: u32, deep: u32| rows.points() / u64::from(lanes) * u64::from(deep);
        let is_long = |columns: u32| points.points().saturating_mul(u64::from(columns)) >= SPLIT_POINTS;
        let mut lanes = self.widest(&traffic, &rows, &points);
        let enough = |lanes: u32| {
            // Several blocks share what is long enough: then wide accesses count more than many threads.
            let shared =
                is_long(wide(lanes) * lanes) && threads(lanes, 1).saturating_mul(points.points() / 4) >= fill / 8;
            shared || threads(lanes, deepest(wide(lanes))) >= fill
        };
        while lanes > 1 && !enough(lanes) {
            lanes /= 2;
        }
        let mut wide = wide(lanes);
        // A cluster has few blocks: where no more can share columns, a block has fewer of these.
        let narrowest = traffic.iter().map(|access| access.dtype.size()).min().unwrap_or(4);
        let blocks = |wide: u32| rows.points() / u64::from(wide * lanes) * u64::from(self.device.cluster_blocks);
        while !self.passes.points_come_first()
            && blocks(wide) < u64::from(self.device.multiprocessors)
            && u64::from(wide * lanes) * narrowest > SECTOR_BYTES
            && wide.is_multiple_of(2)
            && is_long(wide / 2 * lanes)
        {
            wide /= 2;
        }
        let deepest = deepest(wide);
        let mut deep = deepest.min(4);
        while deep < deepest && threads(lanes, deep) < fill {
            deep *= 2;
        }
        let bytes = super::emit::accumulator_bytes(self.kernel, self.analysis);
        while deep > 1 && u64::from(wide * deep * lanes) * bytes > self.device.shared_bytes_per_block() {
            deep /= 2;
        }
        // What a thread adds up must stay in registers, for four points at a time.
        let reductions = self.passes.list.iter().map(|pass| pass.reduces.len() as u64).max().unwrap_or(0);
        let registers = u64::from(lanes) * 4 * reductions + OTHER_REGISTERS;
        while deep > 1 && u64::from(wide * deep) * registers > REGISTERS {
            deep /= 2;
        }
        let whole = Schedule::whole(Form::Columns { wide, deep, lanes }, rows, points);
        Schedule { split: self.split(&whole, u64::from(wide * lanes)), ..whole }
    }

    fn rows(&self, rows: Domain, points: Domain) -> Schedule {
        let (fill, kept_bytes) = (self.device.busy_threads(), self.passes.kept_bytes(self.kernel));
        let lanes = self.widest(&self.traffic(true), &points, &rows);
        let chunks = points.points().div_ceil(u64::from(lanes));
        let most = chunks.next_power_of_two().clamp(1, 1024) as u32;
        // A thread reads up to 32 elements of a row, so that loads are in flight together.
        let turns = u64::from((32 / lanes / 2).max(1));
        let mut threads = chunks.div_ceil(turns).next_power_of_two().clamp(1, 1024) as u32;
        if kept_bytes == 0 {
            threads = threads.min(128);
        }
        while threads < most && rows.points() * u64::from(threads) < fill {
            threads *= 2;
        }
        let turns_of = |threads: u32| chunks.div_ceil(u64::from(threads));
        // With rows enough, threads do more of a row each, and less that is the same for all of it.
        while threads > 1
            && turns_of(threads / 2) <= 4
            && turns_of(threads / 2) * u64::from(lanes) <= 32
            && rows.points() * u64::from(threads / 2) >= fill * 3 / 2
        {
            threads /= 2;
        }
        let fits = |threads: u32| turns_of(threads) * u64::from(lanes) * kept_bytes <= KEPT_REGISTERS * 4;
        while threads < most && kept_bytes > 0 && !fits(threads) {
            threads *= 2;
        }
        let per_block = self.rows_per_block(&rows, threads);
        let form = |threads: u32, per_block: u32, blocks: u32| {
            let kept = kept_bytes > 0 && fits(threads * blocks);
            let turns = turns_of(threads * blocks).min(u64::from(u32::MAX)) as u32;
            Form::Rows { threads, rows: per_block, lanes, turns, kept }
        };
        let whole = Schedule::whole(form(threads, per_block, 1), rows, points);
        match self.split(&whole, 1) {
            Split::Whole => whole,
            split => Schedule { form: form(SPLIT_THREADS, 1, split.blocks()), split, ..whole },
        }
    }

    /// Rows of a block that has so many threads for each.
    fn rows_per_block(&self, rows: &Domain, threads: u32) -> u32 {
        let mut per_block = (128 / threads).max(1);
        while per_block > 1 && rows.points().div_ceil(u64::from(per_block)) < u64::from(self.device.multiprocessors) {
            per_block /= 2;
        }
        // A block is made of whole warps.
        per_block.max(32u32.div_ceil(threads))
    }

    /// How blocks share the rows of a schedule that gives each block `together` of them.
    fn split(&self, whole: &Schedule, together: u64) -> Split {
        let points = whole.points.points().saturating_mul(together);
        let blocks =
            (2 * u64::from(self.device.multiprocessors) / whole.blocks().max(1)).min(points / POINTS_PER_BLOCK);
        if !self.may_share || points < SPLIT_POINTS || blocks < LEAST_BLOCKS {
            return Split::Whole;
        }
        Split::among(blocks, self.exchange(whole, together), self.passes, self.device)
    }

    /// What blocks would tell each other that share the rows of a schedule, of which each has `together`.
    pub(super) fn exchange(&self, whole: &Schedule, together: u64) -> Exchange {
        let accumulator = super::emit::accumulator_bytes(self.kernel, self.analysis);
        let reductions = self.passes.list.iter().map(|pass| pass.reduces.len() as u64).sum::<u64>();
        Exchange {
            bytes: together * accumulator * reductions,
            shared: whole.shared_bytes(accumulator),
            teams: whole.blocks(),
        }
    }

    /// Rows side by side are scanned by a thread each, which is the best order of accesses; others by neighbouring
    /// threads, which is the best order for few of them.
    fn scan(&self) -> Schedule {
        let (rows, points, whole) = scanned(self.kernel, self.analysis);
        let side_by_side = rows.points() >= SCANNED_SIDE_BY_SIDE && self.prefers_columns(&rows, &points);
        if !whole || side_by_side {
            return Schedule::whole(Form::Columns { wide: 32, deep: 1, lanes: 1 }, rows, points);
        }
        let lanes = self.widest(&self.traffic(true), &points, &rows);
        let chunks = points.points().div_ceil(u64::from(lanes));
        let most = if rows.points() < u64::from(self.device.multiprocessors) { 1024 } else { SPLIT_THREADS };
        let threads = chunks.next_power_of_two().clamp(1, u64::from(most)) as u32;
        let per_block = self.rows_per_block(&rows, threads);
        let turns = chunks.div_ceil(u64::from(threads)).min(u64::from(u32::MAX)) as u32;
        Schedule::whole(Form::Rows { threads, rows: per_block, lanes, turns, kept: false }, rows, points)
    }
}

fn bytes(shape: &[i64], dtype: Dtype) -> u64 {
    passhost_ir::numel(shape).saturating_mul(dtype.size())
}
