//! What schedules depend on of a GPU.

/// Properties of a GPU that decide how rows and points are given to threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceProperties {
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Threads that one of them holds at most.
    pub threads_per_multiprocessor: u32,
    /// Bytes of shared memory that one of them has.
    pub shared_bytes_per_multiprocessor: u32,
    /// Blocks that may form a cluster and reach each other's shared memory; 1 where there are no clusters.
    pub cluster_blocks: u32,
    /// Bytes of shared memory that a block may have where warpgroups multiply matrices; 0 where there are none.
    pub warpgroup_shared_bytes: u32,
}

/// Blocks of a cluster on any GPU that has clusters.
const CLUSTER_BLOCKS: u32 = 8;
/// Shared memory that a block of compute capability 9.0 may have. Later ones have other instructions in place of its own.
const WARPGROUP_SHARED_BYTES: u32 = 227 << 10;

/// Static shared memory of a block that no architecture refuses.
pub(super) const STATIC_SHARED: u64 = 48 << 10;
/// Blocks of a multiprocessor that should find room for their shared memory.
const RESIDENT_BLOCKS: u64 = 7;

impl DeviceProperties {
    /// Those of an H100 or H200 (SXM): for sources that are compiled and not run.
    pub const H200: DeviceProperties = DeviceProperties {
        multiprocessors: 132,
        threads_per_multiprocessor: 2048,
        shared_bytes_per_multiprocessor: 228 << 10,
        cluster_blocks: CLUSTER_BLOCKS,
        warpgroup_shared_bytes: WARPGROUP_SHARED_BYTES,
    };

    /// Blocks that may form a cluster on GPUs of this major compute capability.
    pub fn cluster_blocks_of(major: i32) -> u32 {
        if major >= 9 { CLUSTER_BLOCKS } else { 1 }
    }

    /// Bytes of shared memory that a block may have where warpgroups multiply matrices, by the compute capability.
    pub fn warpgroup_shared_bytes_of(capability: (i32, i32)) -> u32 {
        if capability == (9, 0) { WARPGROUP_SHARED_BYTES } else { 0 }
    }

    /// Threads that keep the GPU busy: half of what it holds, as kernels with many registers reach no more.
    pub(super) fn busy_threads(self) -> u64 {
        u64::from(self.multiprocessors) * u64::from(self.threads_per_multiprocessor) / 2
    }

    /// Bytes of shared memory that a block may take and leave room for others, in whole KiB.
    pub(super) fn shared_bytes_per_block(self) -> u64 {
        let share = u64::from(self.shared_bytes_per_multiprocessor) / RESIDENT_BLOCKS;
        (share & !1023).clamp(1024, STATIC_SHARED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_h200_is_kept_busy_by_half_of_its_threads_and_blocks_leave_room_for_six_others() {
        assert_eq!(DeviceProperties::H200.busy_threads(), 132 * 1024);
        assert_eq!(DeviceProperties::H200.shared_bytes_per_block(), 32 << 10);
    }

    #[test]
    fn a_block_never_asks_for_more_than_static_shared_memory() {
        let large = DeviceProperties { shared_bytes_per_multiprocessor: 1 << 30, ..DeviceProperties::H200 };
        assert_eq!(large.shared_bytes_per_block(), 48 << 10);
    }
}
