//! When it pays to launch kernels together. Whatever is decided here, programs calculate the same.

use passhost_kernels::cuda::LaunchShape;

/// Kernels of a launch, at most.
pub(crate) const MOST_KERNELS: usize = 8;
/// Nodes ahead that a kernel is taken from, at most: what it writes lies about until it is read.
pub(crate) const FURTHEST: usize = 64;

/// Bytes that a kernel moves at most, if another is to be launched with it: an H100 takes 5 us for them, twice what a
/// launch costs.
const SMALL_BYTES: u64 = 16 << 20;
/// Lines of all bodies, at most: a compiler takes its time for each.
const MOST_LINES: usize = 2000;

/// Kernels that become one launch.
#[derive(Debug, Default)]
pub(crate) struct LaunchGroup {
    kernels: Vec<LaunchShape>,
}

impl LaunchGroup {
    /// Whether one more is worth it.
    pub(crate) fn takes(&self, shape: LaunchShape) -> bool {
        let all = || self.kernels.iter().chain([&shape]);
        let threads = all().map(|shape| shape.threads).max().unwrap_or(0);
        let blocks: u64 = all().map(|shape| shape.blocks).sum();
        // Blocks are as large as the largest, and threads without work keep others off the GPU unless there is room for
        // all.
        let alike = all().all(|shape| shape.threads == threads);
        let room = blocks.saturating_mul(u64::from(threads)) <= shape.room;
        let is_small = all().all(|shape| shape.bytes <= SMALL_BYTES);
        let lines: usize = all().map(|shape| shape.lines).sum();
        self.kernels.len() < MOST_KERNELS && is_small && (alike || room) && lines <= MOST_LINES
    }

    /// Adds one.
    pub(crate) fn add(&mut self, shape: LaunchShape) {
        self.kernels.push(shape);
    }
}
