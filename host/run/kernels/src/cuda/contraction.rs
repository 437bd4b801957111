//! Kernels that add up products: each of the two factors follows some of the rows, so that a block reads an element once for
//! many of its sums.
//!
//! Matrix products, convolutions and the like are reductions of a product. The rows that both factors follow are *batches*;
//! those that only the first, or only the second follows are the two sides of a matrix of sums. A block computes a tile of
//! it: it takes some terms at a time of both factors into its memory, in whatever way the kernel says that they are made,
//! and adds up their products on tensor cores or in tiles of registers. What comes behind the sum is computed as in any map.

use super::properties::{DeviceProperties, STATIC_SHARED};
use super::space::AxisDomain;
use passhost_ir::kernel::Reg;
use passhost_ir::{Dtype, Kernel};

/// Threads of a block, and of each warpgroup where these multiply.
const THREADS: u32 = 128;

/// A factor of the products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Factor {
    /// The value that lies in the tile, as it is before it is converted to be multiplied.
    pub(super) element: Reg,
    /// Everything that it is made of, in order, itself included.
    pub(super) insts: Vec<Reg>,
    /// The rows that it follows: batches, then its side.
    pub(super) rows: AxisDomain,
    /// Positions along its side.
    pub(super) side: u64,
    /// Whether neighbouring terms, and not neighbouring rows, are read together and lie side by side.
    pub(super) by_terms: bool,
    /// How many are read together.
    pub(super) lanes: u32,
    /// Operations of a thread for those that it reads together.
    pub(super) operations: u64,
    /// Whether all that is done is to read elements that always are inside: whole runs of them can be copied.
    pub(super) is_read: bool,
}

/// A sum of products as tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Contraction {
    pub(super) reduce: Reg,
    pub(super) factors: [Factor; 2],
    /// Under which condition a product counts, where not all do, with the factor that it is looked at for.
    pub(super) inside: Option<(usize, Reg)>,
    /// Matrices of sums.
    pub(super) batches: u64,
    pub(super) terms: u64,
    /// Blocks of a cluster that share the terms of a tile, each with as many; 1 where a block has them all.
    pub(super) parts: u32,
    /// The type of what lies in the tiles, and of the sums.
    pub(super) types: [Dtype; 2],
    pub(super) tile: SumTile,
}

/// What a block computes of a matrix of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SumTile {
    /// Positions along both sides.
    pub(super) sides: [u32; 2],
    /// Terms at a time.
    pub(super) terms: u32,
    /// Parts along both sides, of one of `by` each.
    pub(super) parts: [u32; 2],
    pub(super) by: PartOf,
}

/// Who has a part of a tile of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartOf {
    Thread,
    /// Multiplies matrices on tensor cores.
    Warp,
    /// Four warps, which let tensor cores multiply what lies in the block's memory and go on meanwhile.
    Warpgroup,
}

/// Tiles for tensor cores: warps have them in parts. No two share the terms of a sum, so that these are added up one after the
/// other, as libraries mostly do, whatever the tile is.
pub(super) const OF_WARPS: [SumTile; 8] = [
    of_warps([16, 64], 64, [1, 4]),
    of_warps([32, 32], 128, [2, 2]),
    of_warps([32, 64], 64, [2, 2]),
    of_warps([64, 32], 64, [2, 2]),
    of_warps([64, 64], 64, [2, 2]),
    of_warps([64, 128], 32, [2, 2]),
    of_warps([128, 64], 32, [2, 2]),
    of_warps([128, 128], 32, [2, 2]),
];

/// Tiles for the tensor cores of compute capability 9, in parts of warpgroups: with the bits of the tiles above.
pub(super) const OF_WARPGROUPS: [SumTile; 3] =
    [of_warpgroups([64, 128], [1, 1]), of_warpgroups([128, 128], [2, 1]), of_warpgroups([128, 256], [2, 1])];

/// Tiles for all other types: threads have them in parts.
pub(super) const OF_THREADS: [SumTile; 6] = [
    of_threads([16, 32], 64, [16, 8]),
    of_threads([32, 32], 64, [16, 8]),
    of_threads([32, 64], 32, [8, 16]),
    of_threads([64, 32], 32, [16, 8]),
    of_threads([64, 64], 16, [8, 16]),
    of_threads([64, 128], 16, [8, 16]),
];

const fn of_warps(sides: [u32; 2], terms: u32, parts: [u32; 2]) -> SumTile {
    SumTile { sides, terms, parts, by: PartOf::Warp }
}

const fn of_warpgroups(sides: [u32; 2], parts: [u32; 2]) -> SumTile {
    SumTile { sides, terms: WARPGROUP_RUN, parts, by: PartOf::Warpgroup }
}

const fn of_threads(sides: [u32; 2], terms: u32, parts: [u32; 2]) -> SumTile {
    SumTile { sides, terms, parts, by: PartOf::Thread }
}

/// Terms, or positions of a side, that lie side by side in a tile of which warpgroups multiply: 128 bytes.
pub(super) const WARPGROUP_RUN: u32 = 64;

/// Terms of which each block has a multiple where several share a sum: a multiple of those of each tile of threads. So many
/// are added up by themselves, which is more exact than one long sum: a library that shares a sum has other parts, and so
/// other bits, in any case.
pub(super) const SHARED_TERMS: u64 = 64;

/// Cycles of a multiprocessor for a product of 16 x 8 sums in each warp of a block, and for what a warp reads for one of 16.
const MATRIX_CYCLES: u64 = 13;
const READ_MATRIX_CYCLES: u64 = 16;
/// Products that warpgroups add up in a cycle.
const WARPGROUP_PRODUCTS: u64 = 2048;
/// Cycles for a product in each thread, and for four elements of a factor that it reads: of `f32`, and of `f64`.
const PRODUCT_CYCLES: [u64; 2] = [1, 4];
const READ_CYCLES: u64 = 4;
/// Bytes of the factors that a block puts into its memory in a cycle, and operations by which it computes them.
const PUT_BYTES: u64 = 64;
const PUT_OPERATIONS: u64 = 64;
/// Cycles that a step takes at least, and what comes before and behind the steps.
const STEP_CYCLES: u64 = 500;
const OTHER_CYCLES: u64 = 2000;
/// Blocks that a multiprocessor has at a time: one computes while another waits.
pub(super) const HIDDEN: u64 = 3;
/// Sums of warpgroups that a multiprocessor has at a time, and those with which a block goes on in a cycle.
const HIDDEN_SUMS: u64 = 2 * 64 * 128;
const FINISHED_SUMS: u64 = 3;
/// Bytes that a multiprocessor reads in a cycle from the second-level cache.
const CYCLE_BYTES: u64 = 32;

impl SumTile {
    /// Sums of a part along both sides.
    pub(super) fn part(&self) -> [u32; 2] {
        [self.sides[0] / self.parts[0], self.sides[1] / self.parts[1]]
    }

    /// Threads of a block.
    pub(super) fn threads(&self) -> u32 {
        if self.by == PartOf::Warpgroup { THREADS * self.parts[0] * self.parts[1] } else { THREADS }
    }
}

/// Tiles that follow each other along the first side, where warpgroups multiply.
const ROWS_TOGETHER: u64 = 8;
/// Tiles of a factor that a block has at a time, at most, where it copies them: one is multiplied while others arrive.
const MOST_STAGES: u64 = 4;

/// Elements from one row of a tile of sums in a block's memory to the next: 16 bytes more than there are.
pub(super) fn pitch(side: u32, dtype: Dtype) -> u64 {
    u64::from(side) + 16 / dtype.size()
}

impl Contraction {
    /// About how many cycles a GPU takes.
    pub(super) fn cycles(&self, device: &DeviceProperties) -> u64 {
        let [rows, columns] = self.tile.sides.map(u64::from);
        let terms = self.steps() * u64::from(self.tile.terms);
        let of_each = self.blocks().div_ceil(device.multiprocessors.max(1).into());
        let [high, wide] = self.tile.part().map(u64::from);
        let of_terms = if self.tile.by == PartOf::Warpgroup {
            (rows * columns).div_ceil(WARPGROUP_PRODUCTS)
        } else if self.uses_tensor_cores() {
            let (multiply, read) = (high / 16 * (wide / 8), high / 16 + wide / 16);
            (multiply * MATRIX_CYCLES + read * READ_MATRIX_CYCLES).div_ceil(16)
        } else {
            let multiply = high * wide * PRODUCT_CYCLES[usize::from(self.types[1] == Dtype::F64)];
            multiply + (high.div_ceil(4) + wide / 4) * READ_CYCLES
        };
        let put = (rows + columns) * self.types[0].size() / PUT_BYTES;
        let computed =
            |(factor, side): (&Factor, u64)| side * factor.operations / u64::from(factor.lanes) / PUT_OPERATIONS;
        let computed = if self.is_copied() { 0 } else { self.factors.iter().zip([rows, columns]).map(computed).sum() };
        let computes = of_each * terms * (of_terms + put + computed);
        let reads = of_each * (rows + columns) * terms * self.types[0].size() / CYCLE_BYTES;
        let (hidden, ends) = match self.tile.by {
            PartOf::Warpgroup => (HIDDEN_SUMS.div_ceil(rows * columns), rows * columns / FINISHED_SUMS),
            _ => (HIDDEN, 0),
        };
        let waits = of_each.div_ceil(hidden) * (self.steps() * STEP_CYCLES + OTHER_CYCLES + ends);
        computes.max(reads).max(waits)
    }

    pub(super) fn uses_tensor_cores(&self) -> bool {
        self.tile.by != PartOf::Thread
    }

    /// How tiles follow each other, along the first side until there are so many, then along the second: what a few rows of
    /// tiles read finds room in the second-level cache.
    pub(super) fn rows_together(&self) -> u64 {
        let is_even = self.tiles()[0].is_multiple_of(ROWS_TOGETHER);
        if self.tile.by == PartOf::Warpgroup && is_even { ROWS_TOGETHER } else { 1 }
    }

    /// Tiles along both sides.
    pub(super) fn tiles(&self) -> [u64; 2] {
        [0, 1].map(|at| self.factors[at].side.div_ceil(self.tile.sides[at].into()))
    }

    pub(super) fn blocks(&self) -> u64 {
        self.tiles()[0] * self.tiles()[1] * self.batches * u64::from(self.parts)
    }

    /// Whether terms are neighbours in the tile of a factor.
    pub(super) fn lies_by_terms(&self, factor: usize) -> bool {
        self.uses_tensor_cores() && self.factors[factor].by_terms
    }

    /// Elements from one row of a factor's tile to the next.
    pub(super) fn pitch(&self, factor: usize) -> u64 {
        let along = if self.lies_by_terms(factor) { self.tile.terms } else { self.tile.sides[factor] };
        along.into()
    }

    /// Elements of a factor's tile.
    pub(super) fn elements(&self, factor: usize) -> u64 {
        let rows = if self.lies_by_terms(factor) { self.tile.sides[factor] } else { self.tile.terms };
        u64::from(rows) * self.pitch(factor)
    }

    /// Whether both factors are copied into a block's memory by the way.
    pub(super) fn is_copied(&self) -> bool {
        self.uses_tensor_cores()
            && self.inside.is_none()
            && self.factors.iter().all(|one| one.is_read && one.lanes == 8)
    }

    /// Whether the sums of a tile can be divided among its blocks.
    fn divides_its_sums(&self) -> bool {
        (self.tile.sides[0] * self.tile.sides[1]).is_multiple_of(self.tile.threads() * self.parts)
    }

    /// Bytes of a tile of each factor.
    fn stage_bytes(&self) -> u64 {
        (self.elements(0) + self.elements(1)) * self.types[0].size()
    }

    /// How often a block takes some terms.
    pub(super) fn steps(&self) -> u64 {
        (self.terms / u64::from(self.parts)).div_ceil(self.tile.terms.into())
    }

    /// Tiles of each factor that a block's memory has room for: one is read while the others are written.
    pub(super) fn stages(&self) -> u64 {
        let most = if self.is_copied() { MOST_STAGES } else { 2 };
        match self.tile.by {
            PartOf::Warpgroup => MOST_STAGES,
            _ => (STATIC_SHARED / self.stage_bytes()).min(self.steps()).clamp(2, most),
        }
    }

    /// Steps from when a tile is asked for to when it is multiplied. Warpgroups still multiply one that came before.
    pub(super) fn ahead(&self) -> u64 {
        self.stages() - if self.tile.by == PartOf::Warpgroup { 2 } else { 1 }
    }

    /// Rows of sums that lie in a block's memory at a time: all, or those of some of the warps where there is not room for all.
    pub(super) fn rows_at_a_time(&self) -> u32 {
        let [rows, columns] = self.tile.sides;
        let bytes = u64::from(rows) * pitch(columns, self.types[1]) * self.types[1].size();
        if self.tile.by == PartOf::Warp && bytes > STATIC_SHARED { self.tile.part()[0] } else { rows }
    }

    /// Whether it is for a device: its memory has room for what a block has of it.
    pub(super) fn fits(&self, device: &DeviceProperties) -> bool {
        let room = match self.tile.by {
            PartOf::Warpgroup if self.is_copied() => device.warpgroup_shared_bytes.into(),
            PartOf::Warpgroup => 0,
            _ => STATIC_SHARED,
        };
        self.shared_bytes() <= room && self.divides_its_sums()
    }

    /// Bytes of a block's memory: tiles of both factors; then the sums.
    pub(super) fn shared_bytes(&self) -> u64 {
        let [rows, columns] = [self.rows_at_a_time(), self.tile.sides[1]];
        let sums = u64::from(rows) * pitch(columns, self.types[1]) * self.types[1].size();
        sums.max(self.stages() * self.stage_bytes())
    }

    /// The axes of all rows: batches, then both sides.
    pub(super) fn rows(&self, kernel: &Kernel) -> AxisDomain {
        let [first, second] = self.factors.each_ref().map(|factor| &factor.rows.axes);
        let rest = second.iter().filter(|axis| !first.contains(axis));
        AxisDomain::new(kernel, first.iter().chain(rest).copied().collect())
    }
}

impl Factor {
    /// With as many lanes, up to so many, as let all threads take part.
    pub(super) fn in_tile(mut self, tile: &SumTile, at: usize, most: u32) -> Factor {
        self.lanes = self.lanes.min(most);
        let side = tile.sides[at];
        let together = if self.by_terms { tile.terms } else { side };
        while !together.is_multiple_of(self.lanes) || !(side * tile.terms / self.lanes).is_multiple_of(tile.threads()) {
            self.lanes /= 2;
        }
        self
    }
}
