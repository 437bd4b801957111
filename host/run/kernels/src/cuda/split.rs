//! Several blocks that share a row, each with a part of its points.
//!
//! Parts are taken together in the order of the blocks, whichever of them is done first, so that a result does not depend
//! on timing.

use super::passes::Passes;
use super::properties::{DeviceProperties, STATIC_SHARED};

/// How many blocks share a row, and how they put together what each of them reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowSplit {
    /// None do: a block has whole rows.
    Whole,
    /// The blocks of a cluster write into each other's shared memory. Each goes on with its part of the row, in this and
    /// in later passes.
    Cluster {
        /// A power of two.
        blocks: u32,
    },
    /// Any blocks write into memory of the kernel. The last to do so reads all parts and goes on alone, so that nothing
    /// can follow at the points of the row.
    Last {
        /// How many.
        blocks: u32,
    },
    /// Neighbouring blocks scan a row. Each keeps its part in registers until it knows what those before it come to.
    Scanned {
        /// How many.
        blocks: u32,
    },
}

/// Bytes that all blocks may leave for the last ones.
const MOST_LEFT: u64 = 1 << 20;

/// What blocks tell each other, and the memory that there is for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    /// Bytes that a block tells, in all passes.
    pub(super) bytes: u64,
    /// Bytes of shared memory that a block takes besides.
    pub(super) shared: u64,
    /// Blocks of a grid in which none share a row.
    pub(super) teams: u64,
}

impl RowSplit {
    /// Up to so many blocks for a row, as the device, the passes and memory allow.
    pub(super) fn among(blocks: u64, exchange: Exchange, passes: &Passes, device: &DeviceProperties) -> RowSplit {
        let blocks = blocks.min(u64::from(u16::MAX)) as u32;
        let left = exchange.teams.saturating_mul(u64::from(blocks)).saturating_mul(exchange.bytes);
        if blocks > device.cluster_blocks && passes.points_come_first() && left <= MOST_LEFT {
            return RowSplit::Last { blocks };
        }
        let mut cluster = 1 << blocks.min(device.cluster_blocks).max(1).ilog2();
        while exchange.shared.saturating_add(exchange.bytes.saturating_mul(u64::from(cluster))) > STATIC_SHARED {
            cluster /= 2;
        }
        if cluster > 1 { RowSplit::Cluster { blocks: cluster } } else { RowSplit::Whole }
    }

    /// So many blocks for a row that is scanned, if nothing is computed but at its points and memory allows. All blocks of
    /// the grid leave `bytes` each.
    pub(super) fn scanned(blocks: u64, rows: u64, bytes: u64, passes: &Passes) -> RowSplit {
        // Half of a word says which launch left the other half; and a group of blocks leaves what one does.
        let left = rows.saturating_mul(blocks).saturating_mul(2 * bytes.max(4)).saturating_mul(2);
        let blocks = u32::try_from(blocks).unwrap_or(0);
        let fits = blocks > 1 && passes.list.len() == 1 && left <= MOST_LEFT;
        if fits { RowSplit::Scanned { blocks } } else { RowSplit::Whole }
    }

    /// Blocks that share a row.
    pub(super) fn blocks(self) -> u32 {
        match self {
            RowSplit::Whole => 1,
            RowSplit::Cluster { blocks } | RowSplit::Last { blocks } | RowSplit::Scanned { blocks } => blocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::passes::RowPass;
    use super::*;
    use passhost_ir::kernel::Reg;

    const LITTLE: Exchange = Exchange { bytes: 16, shared: 1024, teams: 2 };

    /// A pass that reduces, and as many after it that read the points again.
    fn passes(again: usize) -> Passes {
        let reducing = RowPass { reduces: vec![Reg(1)], ..RowPass::default() };
        let last = RowPass { row_stores: vec![0], ..RowPass::default() };
        let list = std::iter::repeat_n(reducing, 1 + again).chain([last]).collect();
        Passes { list, kept: vec![] }
    }

    #[test]
    fn blocks_scan_rows_together_where_nothing_else_is_reduced_and_memory_allows() {
        let alone = Passes { list: vec![RowPass::default()], kept: vec![] };
        let scanned = |blocks| RowSplit::Scanned { blocks };
        for (blocks, rows, bytes, passes, expected) in [
            (512, 4, 4, &alone, scanned(512)),
            (512, 4, 4, &passes(0), RowSplit::Whole),
            (1, 4, 4, &alone, RowSplit::Whole),
            (1 << 15, 2, 4, &alone, scanned(1 << 15)),
            (1 << 15, 2, 8, &alone, RowSplit::Whole),
            (1 << 40, 1, 4, &alone, RowSplit::Whole),
        ] {
            assert_eq!(RowSplit::scanned(blocks, rows, bytes, passes), expected, "{blocks} {rows} {bytes}");
        }
    }

    #[test]
    fn blocks_share_rows_as_passes_memory_and_the_device_allow() {
        let hopper = DeviceProperties::H200;
        let older = DeviceProperties { cluster_blocks: 1, ..hopper };
        let in_place = Exchange { bytes: 4 << 10, ..LITTLE };
        let much = Exchange { bytes: 1 << 20, ..LITTLE };
        let (last, cluster) = (|blocks| RowSplit::Last { blocks }, |blocks| RowSplit::Cluster { blocks });
        for (blocks, exchange, again, device, expected) in [
            (100, LITTLE, 0, hopper, last(100)),
            (100, LITTLE, 1, hopper, cluster(8)),
            (7, LITTLE, 0, hopper, cluster(4)),
            (7, LITTLE, 0, older, last(7)),
            (7, LITTLE, 1, older, RowSplit::Whole),
            (0, LITTLE, 0, hopper, RowSplit::Whole),
            (100, in_place, 1, hopper, cluster(8)),
            (100, Exchange { bytes: 8 << 10, ..LITTLE }, 1, hopper, cluster(4)),
            (200, in_place, 0, hopper, cluster(8)),
            (100, much, 0, hopper, RowSplit::Whole),
        ] {
            assert_eq!(
                RowSplit::among(blocks, exchange, &passes(again), &device),
                expected,
                "{blocks} {exchange:?} {again}"
            );
        }
    }
}
