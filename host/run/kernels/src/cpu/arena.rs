//! The buffers of a thread, kept between runs so that a run allocates nothing.

use super::lanes::{Buffer, fill};
use super::plan::{CpuPlan, Place, SPARE, Schedule};
use super::reduce::Carry;
use super::tiles::TileBuffers;
use std::sync::{Mutex, PoisonError};

/// Where the lanes of a value lie: in the arena, or in an input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LanesAt {
    pointer: *mut u8,
    bytes: usize,
    /// Bytes of a lane.
    pub(crate) size: usize,
    /// Whether they are an input's.
    pub(crate) borrowed: bool,
}

/// The lanes of one thread.
#[derive(Debug)]
pub(crate) struct Arena {
    /// What all lanes but those of inputs lie in. Only the pointers to it are used.
    _memory: Buffer,
    /// Lanes of constants, then of slots: where they are, and where their buffers are.
    current: Vec<LanesAt>,
    own: Vec<LanesAt>,
    constants: usize,
    pub(crate) carries: Vec<Carry>,
    /// Of a contraction.
    pub(crate) tiles: Option<TileBuffers>,
}

// SAFETY: an arena's own lanes belong to it, and those of inputs are found anew by the thread that uses it.
unsafe impl Send for Arena {}

impl Arena {
    /// Lanes for a schedule.
    pub(crate) fn new(plan: &CpuPlan, schedule: &Schedule) -> Arena {
        let lanes = schedule.slots.iter().map(|slot| slot.lanes).max().unwrap_or(0);
        let longest = lanes.max(schedule.strip.max(schedule.tile_rows) + SPARE);
        let literals = plan.literals.iter().map(|literal| (longest, literal.size));
        let all: Vec<(usize, usize)> =
            literals.chain(schedule.slots.iter().map(|slot| (slot.lanes, slot.size))).collect();
        let mut memory = Buffer::zeroed(all.iter().map(|(lanes, size)| (lanes * size).next_multiple_of(64)).sum());
        let mut rest = memory.bytes_mut();
        let mut own = vec![];
        for (at, (lanes, size)) in all.into_iter().enumerate() {
            let (bytes, behind) = rest.split_at_mut((lanes * size).next_multiple_of(64));
            if let Some(literal) = plan.literals.get(at) {
                fill(bytes, size, literal.bits);
            }
            own.push(LanesAt { pointer: bytes.as_mut_ptr(), bytes: bytes.len(), size, borrowed: false });
            rest = behind;
        }
        let (constants, carries) = (plan.literals.len(), vec![Carry::default(); plan.carries]);
        let tiles = plan.contraction.as_ref().map(TileBuffers::new);
        Arena { _memory: memory, current: own.clone(), own, constants, carries, tiles }
    }

    #[inline(always)]
    fn number(&self, place: Place) -> usize {
        match place {
            Place::Const(number) => number,
            Place::Row(slot) | Place::Point(slot) | Place::Kept(slot) => self.constants + slot,
        }
    }

    /// Where the lanes of a place are.
    #[inline(always)]
    pub(crate) fn at(&self, place: Place) -> LanesAt {
        self.current[self.number(place)]
    }

    /// Lanes of a place, `len` from `first` on.
    #[inline(always)]
    pub(crate) fn lanes(&self, place: Place, first: usize, len: usize) -> &[u8] {
        let LanesAt { pointer, bytes, size, .. } = self.at(place);
        assert!((first + len) * size <= bytes, "lanes {first} + {len} of a value with {bytes} bytes");
        // SAFETY: as many bytes are there: the arena's, or those of an input, which nobody writes to.
        unsafe { std::slice::from_raw_parts(pointer.add(first * size), len * size) }
    }

    /// Lanes of a place to write: those of its buffer.
    ///
    /// # Safety
    /// While the result lives, these lanes are not used in another way.
    #[inline(always)]
    pub(crate) unsafe fn lanes_mut<'a>(&mut self, place: Place, first: usize, len: usize) -> &'a mut [u8] {
        let number = self.number(place);
        assert!(number >= self.constants, "constants are not written");
        let at = self.own[number];
        self.current[number] = at;
        assert!((first + len) * at.size <= at.bytes, "lanes {first} + {len} of a buffer of {} bytes", at.bytes);
        // SAFETY: as many bytes of the arena are there, and the caller vouches that nobody else uses them.
        unsafe { std::slice::from_raw_parts_mut(at.pointer.add(first * at.size), len * at.size) }
    }

    /// Has a place be lanes as they lie in an input.
    ///
    /// # Safety
    /// The bytes can be read and are not written to until the place is written or borrows again.
    pub(crate) unsafe fn borrow(&mut self, place: Place, bytes: &[u8]) {
        let number = self.number(place);
        let at = &mut self.current[number];
        *at = LanesAt { pointer: bytes.as_ptr().cast_mut(), bytes: bytes.len(), size: at.size, borrowed: true };
    }
}

/// Arenas that nobody uses at present.
#[derive(Debug, Default)]
pub(crate) struct Arenas(Mutex<Vec<Arena>>);

impl Arenas {
    /// Lends an arena. After a panic, which may have left values out of their places, it does not come back.
    pub(crate) fn lend(&self, make: impl FnOnce() -> Arena, work: impl FnOnce(&mut Arena)) {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lock().pop();
        let mut arena = kept.unwrap_or_else(make);
        work(&mut arena);
        lock().push(arena);
    }
}
