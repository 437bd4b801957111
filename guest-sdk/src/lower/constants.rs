//! What estimates of kernels and library calls take for granted.

use passhost_ir::kernel::effort::{LOAD, rate};
use passhost_ir::{DeviceKind, numel};

/// What the model takes for granted of a kind of device. Times are in nanoseconds, operations are those of the column
/// `cost` in the tables of operations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constants {
    /// Operations per nanosecond of one multiprocessor.
    pub(super) operations: f64,
    /// Operations per nanosecond of one multiprocessor in matrix products of half types, and of all others.
    pub(super) products: [f64; 2],
    /// The share of the nominal bandwidth that kernels reach.
    pub(super) reached: f64,
    /// How much faster data moves that fits the second-level cache.
    pub(super) cached: f64,
    /// Launches that a call of a library costs, because it is dispatched and its result allocated: of a product, of any other.
    pub(super) calls: [f64; 2],
    /// Launches that a view costs.
    pub(super) view: f64,
    /// Whether elements that are few products each are calculated where they are read, however often that is.
    pub(super) few_terms: bool,
    /// Points that keep one multiprocessor busy, and the most of a row that are calculated at a time where a row is not
    /// shared.
    pub(super) busy: f64,
    /// Points of a row from which on several multiprocessors share it, and how many do where its points are written.
    pub(super) shared_row: [f64; 2],
    /// How often what is read against the order of memory is read.
    pub(super) strided: f64,
    /// Elements of a row up to which they are read once, however often the row is reduced.
    pub(super) kept_row: u64,
    /// Operations of a quotient or remainder of an index.
    pub(super) division: f64,
    /// How many times as long kernels take to read rows that lie across memory, side by side or as windows.
    pub(super) across: f64,
    /// Bytes that move at least, and points of a row from which on a block that looks for a position in it has no other.
    pub(super) apart: [f64; 2],
    /// Operations of an op for each element, where no kernel says how many: of one that normalises, or reduces windows that
    /// overlap, of another that its rule calls costly, of any other, and of one that reads each element for one row.
    pub(super) rule: [f64; 4],
    /// A kernel that stands for a single call must take at most this share of its time.
    pub(super) alone: f64,
    /// And of a convolution of `f32` beyond its launches, as estimates of these are further off.
    pub(super) convolution: f64,
    /// The share of its rate that a library reaches in matrix products of half types whose rows do not all begin at a
    /// multiple of 16 bytes.
    pub(super) unaligned: f64,
    /// What matrix products and convolutions in tiles take, and what those take that are a library's; without it all are.
    pub(super) tiles: Option<[TileConstants; 2]>,
}

/// What the model takes for granted of kernels that add up products in tiles, as the runtime does that chooses the tiles.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileConstants {
    /// Cycles of a nanosecond.
    pub(super) clock: f64,
    /// Products that a multiprocessor adds up in a cycle: of half types, and of `f32`.
    pub(super) products: [f64; 2],
    /// Bytes that it reads in a cycle from the second-level cache.
    pub(super) bytes: f64,
    /// Cycles for an element that it takes into its memory, of windows: all within their tensor, and others.
    pub(super) elements: [f64; 2],
    /// Results along either side of a block, and the terms of a step: of half types, and of others.
    pub(super) blocks: [(u64, [f64; 2]); 2],
    /// Cycles that a step takes at least, of half types and of others, and what comes before and behind the steps.
    pub(super) waits: [f64; 3],
    /// How many times as many it takes where ops stand in front of products of half types: their factors come by way of
    /// registers.
    pub(super) fronted: f64,
    /// Blocks that a multiprocessor has at a time: one computes while another waits.
    pub(super) hidden: f64,
    /// Blocks that share the terms of a sum of `f32`, at most, and of how many terms each has a multiple.
    pub(super) parts: [u64; 2],
}

const TILES: TileConstants = TileConstants {
    clock: 1.7,
    products: [450.0, 75.0],
    bytes: 32.0,
    elements: [0.04, 0.17],
    blocks: [(32, [128.0, 24.0]), (64, [64.0, 16.0])],
    waits: [900.0, 500.0, 2000.0],
    fronted: 2.0,
    hidden: 3.0,
    parts: [8, 64],
};

/// cuBLAS and cuDNN, as `passhost-gpu-tests rates` found them.
const LIBRARY: TileConstants = TileConstants {
    products: [1400.0, 100.0],
    bytes: 96.0,
    elements: [0.0, 0.0],
    blocks: [(32, [128.0, 32.0]), (128, [64.0, 16.0])],
    waits: [500.0, 500.0, 2000.0],
    hidden: 2.0,
    parts: [8, 4096],
    ..TILES
};

const CUDA: Constants = Constants {
    operations: rate(DeviceKind::Cuda),
    products: [4_500.0, 2_200.0],
    reached: 0.88,
    cached: 2.0,
    calls: [4.0, 2.25],
    view: 0.4,
    few_terms: true,
    busy: 4096.0,
    shared_row: [32_768.0, 8.0],
    strided: 2.0,
    kept_row: 16_384,
    division: 4.0,
    across: 1.33,
    apart: [32.0, 2048.0],
    rule: [40.0, 24.0, 3.0, 24.0],
    alone: 1.0,
    convolution: 0.75,
    unaligned: 0.15,
    tiles: Some([TILES, LIBRARY]),
};

const CPU: Constants = Constants {
    operations: rate(DeviceKind::Cpu),
    products: [40.0, 40.0],
    reached: 1.0,
    cached: 4.0,
    calls: [2.0, 2.0],
    view: 0.3,
    few_terms: false,
    busy: 2048.0,
    shared_row: [f64::INFINITY, 1.0],
    strided: 4.0,
    kept_row: 1 << 20,
    division: 16.0,
    across: 1.0,
    apart: [0.0, 1.0],
    rule: [40.0, 24.0, 3.0, 40.0],
    alone: 0.97,
    convolution: 1.0,
    unaligned: 1.0,
    tiles: None,
};

impl Constants {
    pub(super) fn of(kind: DeviceKind) -> Constants {
        match kind {
            DeviceKind::Cpu => CPU,
            DeviceKind::Cuda => CUDA,
        }
    }

    /// How many times as long it takes to read rows than if each lay along memory, where a step along each axis of rows and
    /// of their points moves so far in the innermost dimension. Positions are looked for by threads side by side along a row,
    /// among elements of this size, else 0: of long rows that lie side by side they read more than they need.
    pub(super) fn across(&self, step: &dyn Fn(usize) -> i64, (rows, window): (&[i64], &[i64]), position: u64) -> f64 {
        let mut within = 0;
        for (at, extent) in window.iter().enumerate() {
            within += step(rows.len() + at).abs() * (extent - 1);
        }
        if rows.iter().enumerate().all(|(axis, &extent)| extent == 1 || step(axis).abs() <= within) {
            return 1.0;
        }
        let [together, points] = self.apart;
        if position == 0 {
            return self.across;
        }
        (together / position as f64 * (numel(window) as f64 / points).min(1.0)).max(self.across)
    }
}

/// Operations of a product in a row: two loads, and itself.
pub(super) const PRODUCT: f64 = 2.0 * LOAD as f64 + 1.0;

/// A graph is rewritten only if it is estimated to take at most this many times as long as eager: where its time does not
/// change, a rewrite is still better than none.
pub(super) const LONGEST_REWRITE: f64 = 1.0 / 0.97;

/// From this many calculations of a costly op for each element of its result on, every repetition counts in full.
pub(super) const MOST_REPEATED: u64 = 8;
