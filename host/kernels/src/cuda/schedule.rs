//! Which threads compute what.

use super::properties::DeviceProperties;
use super::space::{Address, Domain, Lanes, common, load_address, store_address};
use crate::access::{Analysis, Layout, axes_in_store_order, prefers_columns};
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Class, Facts, Op, Reg};
use passhost_ir::{Dtype, Kernel};

/// Registers that values kept between passes over a row may take, in a thread.
const KEPT_REGISTERS: u64 = 64;

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
}

impl Schedule {
    /// Threads of a block.
    pub(super) fn threads(&self) -> u32 {
        match self.form {
            Form::Columns { wide, deep, .. } => wide * deep,
            Form::Rows { threads, rows, .. } => threads * rows,
        }
    }

    /// Blocks of the grid.
    pub(super) fn blocks(&self) -> u64 {
        match self.form {
            Form::Columns { wide, lanes, .. } => self.rows.points().div_ceil(u64::from(wide) * u64::from(lanes)),
            Form::Rows { rows, .. } => self.rows.points().div_ceil(u64::from(rows)),
        }
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
    /// Bytes per point that later passes need of earlier ones.
    pub(super) kept_bytes: u64,
}

impl Chooser<'_> {
    pub(super) fn choose(&self) -> Schedule {
        let (parallel, all) = (self.kernel.parallel.len(), self.kernel.parallel.len() + self.kernel.reduce.len());
        if self.is_map {
            let rows = Domain::new(self.kernel, axes_in_store_order(self.kernel, |_| true));
            return self.map(rows);
        }
        let rows = Domain::new(self.kernel, axes_in_store_order(self.kernel, |axis| axis < parallel));
        let scans = self.needed().any(|(_, op)| matches!(op, Op::Scan(..)));
        // Scans and reductions with positions visit the points in the order of the axes.
        let points = if scans || self.needed().any(|(_, op)| matches!(op, Op::Reduce(..))) {
            Domain::new(self.kernel, (parallel..all).collect())
        } else {
            Domain::new(self.kernel, axes_in_store_order(self.kernel, |axis| axis >= parallel))
        };
        if scans {
            return Schedule { form: Form::Columns { wide: 64, deep: 1, lanes: 1 }, rows, points };
        }
        if self.prefers_columns(&rows, &points) { self.columns(rows, points) } else { self.rows(rows, points) }
    }

    fn needed(&self) -> impl Iterator<Item = (Reg, &Op)> {
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

    fn map(&self, rows: Domain) -> Schedule {
        let fill = self.device.busy_threads();
        let points = Domain::default();
        let mut lanes = self.widest(&self.traffic(false), &rows, &points);
        while lanes > 1 && rows.points() / u64::from(lanes) < fill / 8 {
            lanes /= 2;
        }
        let wide = if rows.points() / u64::from(lanes) < fill { 128 } else { 256 };
        Schedule { form: Form::Columns { wide, deep: 1, lanes }, rows, points }
    }

    /// Whether most of what is read lies such that neighbouring rows, not neighbouring points, are side by side.
    fn prefers_columns(&self, rows: &Domain, points: &Domain) -> bool {
        let (Some(row), Some(point)) = (rows.innermost(), points.innermost()) else { return false };
        let positions = self.needed().any(|(_, op)| matches!(op, Op::Reduce(op, _) if op.gives() == Gives::Position));
        if positions || rows.points() < 32 {
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
        let mut lanes = self.widest(&self.traffic(true), &rows, &points);
        // Threads that share a row get a few points each.
        let deepest = (points.points() / 4).next_power_of_two().clamp(1, 32) as u32;
        let threads = |lanes: u32, deep: u32| rows.points() / u64::from(lanes) * u64::from(deep);
        while lanes > 1 && threads(lanes, deepest) < fill {
            lanes /= 2;
        }
        let mut deep = deepest.min(4);
        while deep < deepest && threads(lanes, deep) < fill {
            deep *= 2;
        }
        let bytes = super::emit::accumulator_bytes(self.kernel, self.analysis);
        while deep > 1 && u64::from(32 * deep * lanes) * bytes > self.device.shared_bytes_per_block() {
            deep /= 2;
        }
        Schedule { form: Form::Columns { wide: 32, deep, lanes }, rows, points }
    }

    fn rows(&self, rows: Domain, points: Domain) -> Schedule {
        let fill = self.device.busy_threads();
        let lanes = self.widest(&self.traffic(true), &points, &rows);
        let chunks = points.points().div_ceil(u64::from(lanes));
        let most = chunks.next_power_of_two().clamp(1, 1024) as u32;
        // A thread reads up to 32 elements of a row, so that loads are in flight together.
        let turns = u64::from((32 / lanes / 2).max(1));
        let mut threads = chunks.div_ceil(turns).next_power_of_two().clamp(1, 1024) as u32;
        if self.kept_bytes == 0 {
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
        let fits = |threads: u32| turns_of(threads) * u64::from(lanes) * self.kept_bytes <= KEPT_REGISTERS * 4;
        while threads < most && self.kept_bytes > 0 && !fits(threads) {
            threads *= 2;
        }
        let kept = self.kept_bytes > 0 && fits(threads);
        let mut per_block = (128 / threads).max(1);
        while per_block > 1 && rows.points().div_ceil(u64::from(per_block)) < u64::from(self.device.multiprocessors) {
            per_block /= 2;
        }
        // A block is made of whole warps.
        per_block = per_block.max(32u32.div_ceil(threads));
        let turns = turns_of(threads).min(u64::from(u32::MAX)) as u32;
        Schedule { form: Form::Rows { threads, rows: per_block, lanes, turns, kept }, rows, points }
    }
}

fn bytes(shape: &[i64], dtype: Dtype) -> u64 {
    passhost_ir::numel(shape).saturating_mul(dtype.size())
}
