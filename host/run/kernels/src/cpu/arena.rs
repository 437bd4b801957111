//! The block buffers of a thread, kept between runs so that a run allocates nothing.

use super::index::AxisWalk;
use super::lanes::{Buffer, LaneKind};
use super::load::Scratch;
use super::plan::{CpuPlan, CpuSchedule, Location, VisitMode};
use super::reduce::{Carry, Partial};
use super::strips::Strips;
use super::vector_steps::{VectorLanes, VectorStep};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Where a value lives: in a buffer, or in an input whose elements are lanes as they lie in memory.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) buffer: Buffer,
    pub(crate) alias: Option<LoadAlias>,
}

/// Elements of a load's input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadAlias {
    pub(crate) load: usize,
    pub(crate) first: usize,
    pub(crate) len: usize,
}

/// What steps on vectors work on, kept between blocks.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    pub(super) steps: Vec<VectorStep>,
    /// Lanes by place: literals, row values, inner values.
    pub(super) table: Vec<VectorLanes>,
    pub(super) strips: Strips,
}

impl Vectors {
    /// Whether the last block ran in strips.
    #[cfg(test)]
    pub(super) fn ran_in_strips(&self) -> bool {
        self.strips.are_prepared()
    }
}

/// The block buffers of one thread.
#[derive(Debug)]
pub(crate) struct BlockBuffers {
    pub(crate) row: Vec<Slot>,
    pub(crate) inner: Vec<Slot>,
    /// The partial result of each reduction of a row in chunks.
    pub(crate) partials: Vec<Option<Partial>>,
    /// The partial results of each reduction of columns, one lane per row.
    pub(crate) sums: Vec<Buffer>,
    pub(crate) carries: Vec<Carry>,
    pub(crate) scratch: Scratch,
    pub(crate) vectors: Vectors,
    /// Walks over rows with the inner axes held.
    pub(crate) column_walks: Vec<AxisWalk>,
    /// The positions at which they are held.
    pub(crate) column: Vec<i64>,
}

impl BlockBuffers {
    /// Buffers for a schedule.
    pub(crate) fn new(plan: &CpuPlan, schedule: &CpuSchedule) -> BlockBuffers {
        let (rows, points) = match schedule.mode {
            VisitMode::Tiles(rows) => (rows, rows * plan.length.max(0) as usize),
            VisitMode::Chunks(points) => (1, points),
            VisitMode::Columns(rows) => (rows, rows),
        };
        let slots = |kinds: &[LaneKind], len: usize| {
            kinds.iter().map(|kind| Slot { buffer: Buffer::zeroed(*kind, len), alias: None }).collect()
        };
        BlockBuffers {
            row: slots(&schedule.row_slots, rows),
            inner: slots(&schedule.inner_slots, points),
            partials: vec![None; plan.partials],
            sums: vec![Buffer::default(); plan.partials],
            carries: plan.carries.iter().map(|(op, kind)| Carry::neutral(*op, *kind)).collect(),
            scratch: Scratch::default(),
            vectors: Vectors::default(),
            column_walks: vec![],
            column: vec![],
        }
    }

    /// The slot of a value that steps write.
    pub(crate) fn slot_mut(&mut self, place: Location) -> &mut Slot {
        match place {
            Location::Row(slot) => &mut self.row[slot],
            Location::Inner(slot) => &mut self.inner[slot],
            Location::Const(_) => unreachable!("no step writes a literal"),
        }
    }

    /// Takes a buffer out, to be written while others are read. It goes back by [`BlockBuffers::put`].
    pub(crate) fn take(&mut self, place: Location) -> Buffer {
        let slot = self.slot_mut(place);
        slot.alias = None;
        std::mem::take(&mut slot.buffer)
    }

    /// Puts a buffer back.
    pub(crate) fn put(&mut self, place: Location, buffer: Buffer) {
        self.slot_mut(place).buffer = buffer;
    }
}

/// Arenas that nobody uses at present.
#[derive(Debug, Default)]
pub(crate) struct Arenas(Mutex<Vec<BlockBuffers>>);

impl Arenas {
    /// Lends an arena until the result is dropped.
    pub(crate) fn lend(&self, make: impl FnOnce() -> BlockBuffers) -> Lent<'_> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Lent { arena: Some(kept.unwrap_or_else(make)), home: self }
    }

    /// Whether something holds for one of them.
    #[cfg(test)]
    pub(crate) fn any(&self, holds: impl FnMut(&BlockBuffers) -> bool) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(holds)
    }
}

/// An arena on loan.
pub(crate) struct Lent<'a> {
    arena: Option<BlockBuffers>,
    home: &'a Arenas,
}

impl Deref for Lent<'_> {
    type Target = BlockBuffers;

    fn deref(&self) -> &BlockBuffers {
        match &self.arena {
            Some(arena) => arena,
            None => unreachable!("an arena goes home only when the loan is dropped"),
        }
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut BlockBuffers {
        match &mut self.arena {
            Some(arena) => arena,
            None => unreachable!("an arena goes home only when the loan is dropped"),
        }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // A panic may have left buffers out of their places.
        if std::thread::panicking() {
            return;
        }
        self.home.0.lock().unwrap_or_else(PoisonError::into_inner).extend(self.arena.take());
    }
}
