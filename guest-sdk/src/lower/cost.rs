//! What kernels and library calls are estimated to take: the formula of the cost model.
//!
//! A kernel takes a launch, and then as long as the slower of two: its bytes at the bandwidth of the device, or its
//! operations at the rate of all its multiprocessors. Where rows are too few to keep the device busy, both take longer by
//! as much. What is calculated more often than the ops one by one would is added, as it is never worth hiding.

use super::constants::{Constants, PRODUCT, TileConstants};
use super::contraction::tile::Tile;
use super::work::WorkEstimate;
use passhost_ir::{DeviceFacts, DeviceKind};

/// Launches that a graph costs whatever it holds: the wait for its results.
const WAIT: f64 = 2.0;

/// What a call of a library adds up.
#[derive(Debug, Clone, Copy)]
pub(super) struct LibraryProducts {
    /// Multiplications and additions.
    pub(super) count: f64,
    /// Whether its factors are of half types.
    pub(super) is_half: bool,
    /// Whether each row of its factors and its result begins at a multiple of 16 bytes.
    pub(super) is_aligned: bool,
}

/// Estimates for one device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model {
    pub(super) constants: Constants,
    facts: DeviceFacts,
}

impl Model {
    pub(super) fn of(facts: &DeviceFacts) -> Model {
        Model { constants: Constants::of(facts.kind), facts: *facts }
    }

    /// Nanoseconds of a kernel.
    pub(super) fn kernel(&self, work: &WorkEstimate) -> f64 {
        self.launch() + self.work(work)
    }

    /// Nanoseconds of a library call that does this much work.
    pub(super) fn call(&self, work: &WorkEstimate) -> f64 {
        self.constants.calls[1] * self.launch() + self.work(work)
    }

    /// Nanoseconds of one that adds up products, where kernels have tiles for them these.
    pub(super) fn product_call(&self, work: &WorkEstimate, tile: Option<&Tile>, products: &LibraryProducts) -> f64 {
        let share = if products.is_half && !products.is_aligned { self.constants.unaligned } else { 1.0 };
        let rate = self.constants.products[usize::from(!products.is_half)] * self.multiprocessors();
        let in_tiles = tile.zip(self.constants.tiles).map(|(tile, [_, library])| {
            let reached = library.products.map(|products| products * share);
            self.tiles(tile, &TileConstants { products: reached, ..library })
        });
        self.constants.calls[0] * self.launch() + self.work(work).max(in_tiles.unwrap_or(products.count / rate / share))
    }

    /// Nanoseconds of a view.
    pub(super) fn view(&self) -> f64 {
        self.constants.view * self.launch()
    }

    /// Nanoseconds that a graph takes besides.
    pub(super) fn wait(&self) -> f64 {
        WAIT * self.launch()
    }

    /// Whether a kernel keeps most of the device busy, or is over before that matters.
    pub(super) fn fills(&self, work: &WorkEstimate) -> bool {
        self.busy_share(work) > 0.5 || self.work(work) < self.launch()
    }

    /// The most that products may take as a kernel that stands for a single call with this estimate.
    pub(super) fn most_alone(&self, work: &WorkEstimate, call: f64) -> f64 {
        let launches = self.constants.calls[0] * self.launch();
        let convolves = work.tile.is_some_and(|tile| tile.kind.windows.is_some() && !tile.kind.is_half);
        if convolves { launches + (call - launches) * self.constants.convolution } else { call }
    }

    fn launch(&self) -> f64 {
        f64::from(self.facts.launch_ns.max(1))
    }

    fn multiprocessors(&self) -> f64 {
        f64::from(self.facts.multiprocessors.max(1))
    }

    fn work(&self, work: &WorkEstimate) -> f64 {
        let rate = self.constants.operations * self.multiprocessors();
        let mut operations = work.operations;
        if let (Some(tile), Some([tiles, _])) = (&work.tile, &self.constants.tiles) {
            if !tile.is_short() {
                return self.memory(work.bytes()).max(self.tiles(tile, tiles)) + (operations + work.repeated) / rate;
            }
            operations += tile.blocks(1) * tile.terms as f64 * PRODUCT;
        }
        let across = if work.ends_in_rows() { work.across.max(1.0) } else { 1.0 };
        let slower = (self.memory(work.bytes()) * across).max(operations / rate);
        slower / self.busy_share(work) + work.repeated / rate
    }

    /// Of products in tiles the slowest of three: adding up, reading from the second-level cache, and waiting for each step.
    fn tiles(&self, tile: &Tile, tiles: &TileConstants) -> f64 {
        let parts = tile.parts(tiles.parts, tiles.hidden * self.multiprocessors()) as f64;
        let (terms, other) = (tile.terms as f64 / parts, usize::from(!tile.kind.is_half));
        let step = tiles.waits[other] * if tile.is_fronted && other == 0 { tiles.fronted } else { 1.0 };
        let element = tile.kind.windows.map_or(0.0, |padded| tiles.elements[usize::from(padded)]);
        let cycles = |&(side, steps): &(u64, [f64; 2])| {
            let each = (tile.blocks(side) * parts / self.multiprocessors()).ceil() * terms;
            let added = each * ((side * side) as f64 / tiles.products[other] + (2 * side) as f64 * element);
            let read = each * (2 * side) as f64 * [2.0, 4.0][other] / tiles.bytes;
            let waited = (each / terms / tiles.hidden).ceil() * ((terms / steps[other]).ceil() * step + tiles.waits[2]);
            added.max(read).max(waited)
        };
        tiles.blocks.iter().map(cycles).fold(f64::INFINITY, f64::min) / tiles.clock
    }

    fn memory(&self, bytes: f64) -> f64 {
        let per_ns = (self.facts.bandwidth.max(1) as f64) / 1e9 * self.constants.reached;
        let caches = match self.facts.kind {
            DeviceKind::Cpu => self.multiprocessors(),
            DeviceKind::Cuda => 1.0,
        };
        let fits = bytes <= self.facts.l2_bytes as f64 * caches / 2.0;
        bytes / if fits { per_ns * self.constants.cached } else { per_ns }
    }

    /// How many multiprocessors share a row.
    fn sharing(&self, work: &WorkEstimate) -> f64 {
        let [shortest, most] = self.constants.shared_row;
        if work.undivided || (work.row_length as f64) < shortest {
            1.0
        } else if work.ends_in_rows() {
            self.multiprocessors()
        } else {
            most
        }
    }

    /// The share of the device that has something to do.
    fn busy_share(&self, work: &WorkEstimate) -> f64 {
        let busy = self.constants.busy;
        let at_a_time = match work.row_length {
            1 => work.rows as f64,
            length => work.rows as f64 * (length as f64).min(busy * self.sharing(work)),
        };
        (at_a_time / (busy * self.multiprocessors() / 2.0)).clamp(0.5 / self.multiprocessors(), 1.0)
    }
}
