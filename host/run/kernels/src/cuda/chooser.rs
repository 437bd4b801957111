//! How the schedule of a kernel is chosen.

use super::passes::Passes;
use super::properties::DeviceProperties;
use super::scans::most_together;
use super::schedule::{SCANNED_BYTES, Schedule, ScheduleForm};
use super::space::{Address, AxisDomain, Lanes, MemoryAccess};
use super::split::{Exchange, RowSplit};
use super::tiles::Tiles;
use crate::access::{KernelAnalysis, KernelLayout, axes_in_store_order, prefers_columns};
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Facts, Op, Reg};
use passhost_ir::{Dtype, Kernel};

/// Registers that values kept between passes over a row may take, in a thread.
pub(super) const KEPT_REGISTERS: u64 = 64;
/// Points from which on it takes a block longer to reduce them than it takes several to tell each other what they found.
const SPLIT_POINTS: u64 = 32768;
/// Points that a block should have at least where several share a row.
const POINTS_PER_BLOCK: u64 = 4096;
/// Neighbouring bytes that a block reads together at least: one access of a thread.
const LEAST_TOGETHER_BYTES: u64 = 16;
/// Turns that threads take at a row rather than have other threads take them, where nothing is kept.
const MOST_TURNS: u64 = 16;
/// Neighbouring bytes that a block should read together.
const ROW_OF_BLOCK_BYTES: u64 = 256;
/// Blocks that there must be room for in place of one, for several to share what it has.
const LEAST_BLOCKS: u64 = 4;
/// Threads of such a block: several of them fill a multiprocessor, with registers enough.
const SPLIT_THREADS: u32 = 512;
/// Registers of a multiprocessor.
pub(super) const REGISTERS: u64 = 1 << 16;
/// Those that a thread needs beside what it adds up.
const OTHER_REGISTERS: u64 = 24;
/// Rows from which on a thread each scans them, where they lie side by side.
const SCANNED_SIDE_BY_SIDE: u64 = 4096;
/// Bytes of a thread's registers that the elements of a scan may take where blocks share rows.
const SHARED_SCANNED_BYTES: u64 = 128;
/// Threads that scan a row where there are rows for all multiprocessors.
const SCANNING_THREADS: u32 = 256;

/// What a schedule is chosen by.
pub(super) struct Chooser<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) facts: &'a Facts,
    pub(super) analysis: &'a KernelAnalysis,
    pub(super) layout: &'a KernelLayout,
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
            let rows = AxisDomain::new(self.kernel, axes_in_store_order(self.kernel, |_| true));
            let map = self.map(rows);
            // Those of its inputs are read by squares that are worth it.
            let loads = self.needed().filter(|(reg, _)| self.analysis.gathers[reg.0 as usize].is_empty());
            let loads = loads.filter_map(|(reg, _)| Some((reg, self.load_access(reg)?)));
            let map = match Tiles::choose(loads, (self.kernel, self.device), &map.rows) {
                Some(tiles) => map.by_tiles(tiles),
                None => map,
            };
            return self.transposed(&map).unwrap_or(map);
        }
        if self.scans() {
            return self.scan();
        }
        let rows = AxisDomain::new(self.kernel, axes_in_store_order(self.kernel, |axis| axis < parallel));
        // Reductions with positions visit the points in the order of the axes.
        let points = if self.reduces() {
            AxisDomain::new(self.kernel, (parallel..all).collect())
        } else {
            AxisDomain::new(self.kernel, axes_in_store_order(self.kernel, |axis| axis >= parallel))
        };
        if self.prefers_columns(&rows, &points) {
            return self.columns(rows, points);
        }
        self.window(&rows, &points).unwrap_or_else(|| self.rows(rows, points))
    }

    pub(super) fn dtype(&self, reg: Reg) -> Dtype {
        self.kernel.body[reg.0 as usize].dtype
    }

    pub(super) fn op(&self, reg: Reg) -> &Op {
        &self.kernel.body[reg.0 as usize].op
    }

    fn reduces(&self) -> bool {
        self.needed().any(|(_, op)| matches!(op, Op::Reduce(..)))
    }

    pub(super) fn needed(&self) -> impl Iterator<Item = (Reg, &Op)> {
        let all = (0..).map(Reg).zip(&self.kernel.body).map(|(reg, inst)| (reg, &inst.op));
        all.filter(|(reg, _)| self.analysis.needed[reg.0 as usize])
    }

    /// The most lanes, up to 16 bytes of the narrowest type, by which most of the traffic goes in wide accesses.
    pub(super) fn widest(&self, accesses: &[MemoryAccess], along: &AxisDomain, other: &AxisDomain) -> u32 {
        let narrowest = accesses.iter().map(|access| access.dtype.size()).min().unwrap_or(4);
        let mut lanes = (16 / narrowest.max(2)).min(8) as u32;
        while lanes > 1 {
            let bytes = |wide: bool| -> u64 {
                let is_wide =
                    |access: &&MemoryAccess| (self.common_along((along, other), access, lanes) != Lanes::Each) == wide;
                accesses.iter().filter(is_wide).map(|access| access.dtype.size()).sum()
            };
            if along.points().is_multiple_of(u64::from(lanes)) && bytes(true) > bytes(false) {
                return lanes;
            }
            lanes /= 2;
        }
        1
    }

    pub(super) fn map(&self, rows: AxisDomain) -> Schedule {
        let fill = self.device.busy_threads();
        let points = AxisDomain::default();
        let mut lanes = self.widest(&self.accesses(false), &rows, &points);
        while lanes > 1 && rows.points() / u64::from(lanes) < fill / 8 {
            lanes /= 2;
        }
        let wide = if rows.points() / u64::from(lanes) < fill { 128 } else { 256 };
        Schedule::whole(ScheduleForm::Columns { wide, deep: 1, lanes }, rows, points)
    }

    /// Whether most of what is read lies such that neighbouring rows, not neighbouring points, are side by side.
    fn prefers_columns(&self, rows: &AxisDomain, points: &AxisDomain) -> bool {
        let (Some(row), Some(point)) = (rows.innermost(), points.innermost()) else { return false };
        let positions = self.needed().any(|(_, op)| matches!(op, Op::Reduce(op, _) if op.gives() == Gives::Position));
        if positions {
            return false;
        }
        let accesses = self.accesses(true);
        let offsets = accesses.iter().filter_map(|access| match &access.address {
            Address::Affine(offset) => Some((offset.slopes.as_slice(), access.bytes)),
            Address::Indexed { .. } => None,
        });
        prefers_columns(offsets, row, point)
    }

    fn columns(&self, rows: AxisDomain, points: AxisDomain) -> Schedule {
        let fill = self.device.busy_threads();
        let accesses = self.accesses(true);
        let wide = |lanes: u32| (rows.points() / u64::from(lanes)).clamp(1, 32) as u32;
        // Threads that share a row get a few points each. Where columns are few, more threads share them.
        let most = |wide: u32| if wide == 32 { 32 } else { 1 << (SPLIT_THREADS / wide).ilog2() };
        let deepest = |wide: u32| (points.points() / 4).next_power_of_two().clamp(1, most(wide)) as u32;
        let threads = |lanes: u32, deep: u32| rows.points() / u64::from(lanes) * u64::from(deep);
        let is_long = |columns: u32| points.points().saturating_mul(u64::from(columns)) >= SPLIT_POINTS;
        let mut lanes = self.widest(&accesses, &rows, &points);
        let enough = |lanes: u32| {
            // Several blocks share what is long enough: then wide accesses count more than many threads, where a warp
            // still reads whole runs of columns.
            let shared = wide(lanes) == 32
                && is_long(wide(lanes) * lanes)
                && threads(lanes, 1).saturating_mul(points.points() / 4) >= fill / 8;
            shared || threads(lanes, deepest(wide(lanes))) >= fill
        };
        while lanes > 1 && !enough(lanes) {
            lanes /= 2;
        }
        let mut wide = wide(lanes);
        // A cluster has few blocks: where no more can share columns, a block has fewer of these.
        let narrowest = accesses.iter().map(|access| access.dtype.size()).min().unwrap_or(4);
        let blocks = |wide: u32| rows.points() / u64::from(wide * lanes) * u64::from(self.device.cluster_blocks);
        let narrower = |wide: u32| (1..wide).rev().find(|narrower| wide.is_multiple_of(*narrower));
        while let Some(narrower) = narrower(wide).filter(|narrower| {
            !self.passes.points_come_first()
                && blocks(wide) < u64::from(self.device.multiprocessors)
                && u64::from(narrower * lanes) * narrowest >= LEAST_TOGETHER_BYTES
                && is_long(narrower * lanes)
        }) {
            wide = narrower;
        }
        // A block for each multiprocessor, as long as it has enough of what lies side by side.
        while rows.points() / u64::from(wide * lanes) < u64::from(self.device.multiprocessors)
            && u64::from(wide * lanes) * narrowest > ROW_OF_BLOCK_BYTES
            && wide.is_multiple_of(2)
        {
            wide /= 2;
        }
        let deepest = deepest(wide);
        let mut deep = deepest.min(4);
        while deep < deepest && threads(lanes, deep) < fill {
            deep *= 2;
        }
        let bytes = self.accumulator_bytes();
        while deep > 1 && u64::from(wide * deep * lanes) * bytes > self.device.shared_bytes_per_block() {
            deep /= 2;
        }
        // What a thread adds up must stay in registers.
        let registers = self.column_registers(lanes);
        while deep > 1 && u64::from(wide * deep) * registers > REGISTERS {
            deep /= 2;
        }
        let whole = Schedule::whole(ScheduleForm::Columns { wide, deep, lanes }, rows, points);
        let split = self.split(&whole, u64::from(wide * lanes));
        Schedule { split, ..whole }
    }

    fn rows(&self, rows: AxisDomain, points: AxisDomain) -> Schedule {
        let (fill, kept_bytes) = (self.device.busy_threads(), self.passes.kept_bytes(self.kernel));
        let lanes = self.widest(&self.accesses(true), &points, &rows);
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
        let is_short = |threads: u32| turns_of(threads) <= 4 && turns_of(threads) * u64::from(lanes) <= 32;
        // With rows enough, threads do more of a row each, and less that is the same for all of it.
        while threads > 1
            && (is_short(threads / 2) || (kept_bytes == 0 && threads > 32 && turns_of(threads / 2) <= MOST_TURNS))
            && rows.points() * u64::from(threads / 2) >= fill * 3 / 2
        {
            threads /= 2;
        }
        let fits_in = |threads: u32, blocks: u32| {
            let room = (REGISTERS / u64::from(threads)).saturating_sub(OTHER_REGISTERS).min(KEPT_REGISTERS);
            turns_of(threads * blocks) * u64::from(lanes) * kept_bytes <= room * 4
        };
        let fits = |threads: u32| fits_in(threads, 1);
        while threads < most && kept_bytes > 0 && !fits(threads) {
            threads *= 2;
        }
        let per_block = self.rows_per_block(&rows, threads);
        let form = |threads: u32, per_block: u32, blocks: u32| {
            let kept = kept_bytes > 0 && fits_in(threads, blocks);
            let turns = turns_of(threads * blocks).min(u64::from(u32::MAX)) as u32;
            ScheduleForm::Rows { threads, rows: per_block, lanes, turns, kept }
        };
        let whole = Schedule::whole(form(threads, per_block, 1), rows, points);
        match self.split_to_keep(&whole, self.split(&whole, 1), |blocks| fits_in(SPLIT_THREADS, blocks)) {
            RowSplit::Whole => whole,
            split => Schedule { form: form(SPLIT_THREADS, 1, split.blocks()), split, ..whole },
        }
    }

    /// Rows of a block that has so many threads for each.
    fn rows_per_block(&self, rows: &AxisDomain, threads: u32) -> u32 {
        let mut per_block = (128 / threads).max(1);
        while per_block > 1 && rows.points().div_ceil(u64::from(per_block)) < u64::from(self.device.multiprocessors) {
            per_block /= 2;
        }
        // A block is made of whole warps.
        per_block.max(32u32.div_ceil(threads))
    }

    /// How blocks share rows, where one cannot keep what it has of a row and a few can, which `fits` says: rather those than
    /// `split`, so that rows are read once.
    fn split_to_keep(&self, whole: &Schedule, split: RowSplit, fits: impl Fn(u32) -> bool) -> RowSplit {
        let is_kept = match split {
            RowSplit::Whole => matches!(whole.form, ScheduleForm::Rows { kept: true, .. }),
            split => fits(split.blocks()),
        };
        if !self.may_share || self.passes.kept.is_empty() || is_kept {
            return split;
        }
        let enough = (1..=self.device.cluster_blocks.ilog2()).map(|power| 1 << power).find(|blocks| fits(*blocks));
        let Some(blocks) = enough else { return split };
        let found = RowSplit::among(u64::from(blocks), self.exchange(whole, 1), self.passes, self.device);
        if found == (RowSplit::Cluster { blocks }) { found } else { split }
    }

    /// How blocks share the rows of a schedule that gives each block `together` of them.
    fn split(&self, whole: &Schedule, together: u64) -> RowSplit {
        let points = whole.points.points().saturating_mul(together);
        let blocks =
            (2 * u64::from(self.device.multiprocessors) / whole.blocks().max(1)).min(points / POINTS_PER_BLOCK);
        if !self.may_share || points < SPLIT_POINTS || blocks < LEAST_BLOCKS {
            return RowSplit::Whole;
        }
        RowSplit::among(blocks, self.exchange(whole, together), self.passes, self.device)
    }

    /// What blocks would tell each other that share the rows of a schedule, of which each has `together`.
    pub(super) fn exchange(&self, whole: &Schedule, together: u64) -> Exchange {
        let accumulator = self.accumulator_bytes();
        let reductions = self.passes.list.iter().map(|pass| pass.reduces.len() as u64).sum::<u64>();
        let (bytes, shared) = (together * accumulator * reductions, whole.shared_bytes(accumulator));
        Exchange { bytes, shared, teams: whole.blocks() }
    }

    /// Rows side by side are scanned by a thread each, which is the best order of accesses; others by neighbouring
    /// threads, which is the best order for few of them.
    fn scan(&self) -> Schedule {
        let (rows, points, whole) = self.scanned();
        let side_by_side = rows.points() >= SCANNED_SIDE_BY_SIDE && self.prefers_columns(&rows, &points);
        if !whole || side_by_side {
            return Schedule::whole(ScheduleForm::Columns { wide: 32, deep: 1, lanes: 1 }, rows, points);
        }
        let accesses = self.accesses(true);
        // Several accesses of a thread to neighbouring places leave holes between those of threads.
        let widest = accesses.iter().map(|access| access.dtype.size()).max().unwrap_or(4);
        let lanes = self.widest(&accesses, &points, &rows).min((16 / widest) as u32);
        let chunks = points.points().div_ceil(u64::from(lanes));
        let most = if rows.points() < u64::from(self.device.multiprocessors) { 1024 } else { SCANNING_THREADS };
        let threads = chunks.next_power_of_two().clamp(1, u64::from(most)) as u32;
        let per_block = self.rows_per_block(&rows, threads);
        let turns = chunks.div_ceil(u64::from(threads)).min(u64::from(u32::MAX) / 2) as u32;
        let bytes = self.accumulator_bytes();
        let together = most_together(SCANNED_BYTES, lanes, bytes).min(turns.next_power_of_two());
        let turns = turns.next_multiple_of(together);
        let form = ScheduleForm::Rows { threads, rows: per_block, lanes, turns, kept: false };
        let (form, split) = self.scan_by_many(lanes, chunks, &rows).unwrap_or((form, RowSplit::Whole));
        Schedule { split, ..Schedule::whole(form, rows, points) }
    }

    /// How blocks share rows that are scanned, where these are few and long: by as many turns of a block as it takes for
    /// all to run at once, as far as registers allow.
    fn scan_by_many(&self, lanes: u32, chunks: u64, rows: &AxisDomain) -> Option<(ScheduleForm, RowSplit)> {
        let room = 2 * u64::from(self.device.multiprocessors);
        let is_long = chunks.saturating_mul(u64::from(lanes)) >= SPLIT_POINTS;
        if !self.may_share || !is_long || rows.points() == 0 || room / rows.points() < LEAST_BLOCKS {
            return None;
        }
        let blocks = |turns: u32| chunks.div_ceil(u64::from(SPLIT_THREADS * turns));
        let bytes = self.accumulator_bytes();
        let most = most_together(SHARED_SCANNED_BYTES, lanes, bytes);
        let mut turns = 1;
        while turns < most && rows.points() * blocks(turns) > room {
            turns *= 2;
        }
        let scans = self.needed().filter(|(_, op)| matches!(op, Op::Scan(..))).count() as u64;
        let split = RowSplit::scanned(blocks(turns), rows.points(), bytes * scans, self.passes);
        let form = ScheduleForm::Rows { threads: SPLIT_THREADS, rows: 1, lanes, turns, kept: false };
        (split != RowSplit::Whole).then_some((form, split))
    }

    /// Whether the kernel scans.
    pub(super) fn scans(&self) -> bool {
        self.needed().any(|(_, op)| matches!(op, Op::Scan(..)))
    }

    /// Bytes of the largest accumulator that a reduction or a scan needs.
    pub(super) fn accumulator_bytes(&self) -> u64 {
        let bytes = self.needed().filter_map(|(_, op)| match op {
            // A value and its position.
            Op::Reduce(op, _) if op.gives() == Gives::Position => Some(16),
            Op::Reduce(_, operand) | Op::Scan(_, operand) => Some(self.dtype(*operand).size()),
            _ => None,
        });
        bytes.max().unwrap_or(0)
    }

    /// Registers that a thread of columns needs for what it adds up, of four points at a time, and for the rest.
    pub(super) fn column_registers(&self, lanes: u32) -> u64 {
        let reductions = self.passes.list.iter().map(|pass| pass.reduces.len() as u64).max().unwrap_or(0);
        u64::from(lanes) * 4 * reductions + OTHER_REGISTERS
    }

    /// The rows and points of a kernel with scans, and whether a row is one run of each. It always is if nothing is there
    /// but elements: then whatever a scan does not go along tells rows apart.
    fn scanned(&self) -> (AxisDomain, AxisDomain, bool) {
        let (kernel, all) = (self.kernel, self.kernel.parallel.len() + self.kernel.reduce.len());
        let of_elements = !self.reduces() && kernel.stores.iter().all(|store| store.order.len() == all);
        let first = if of_elements { all - 1 } else { kernel.parallel.len() };
        let rows = AxisDomain::new(kernel, axes_in_store_order(kernel, |axis| axis < first));
        let points = AxisDomain::new(kernel, (first..all).collect());
        let one_run = kernel.reduce.last().is_some_and(|last| points.points() == last.unsigned_abs());
        (rows, points, one_run)
    }
}

/// Whether rows are so long that it is hard to keep them in registers.
pub(super) fn has_long_rows(kernel: &Kernel) -> bool {
    passhost_ir::numel(&kernel.reduce) >= SPLIT_POINTS
}
