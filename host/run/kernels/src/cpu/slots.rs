//! Which buffer a value lives in.

use super::lanes::LaneKind;
use std::collections::HashMap;

/// Buffers of one class, given out and taken back.
#[derive(Default)]
pub(crate) struct Slots {
    pub(crate) kinds: Vec<LaneKind>,
    free: Vec<usize>,
    held: HashMap<usize, usize>,
}

impl Slots {
    /// Gives a value a buffer.
    pub(crate) fn take(&mut self, value: usize, kind: LaneKind) {
        let slot = match self.free.iter().rposition(|slot| self.kinds[*slot] == kind) {
            Some(at) => self.free.remove(at),
            None => {
                self.kinds.push(kind);
                self.kinds.len() - 1
            }
        };
        self.held.insert(value, slot);
    }

    /// The buffer of a value that has one.
    pub(crate) fn slot(&self, value: usize) -> usize {
        self.held[&value]
    }

    /// Takes back a value's buffer, if it has one.
    pub(crate) fn release(&mut self, value: usize) {
        if let Some(slot) = self.held.remove(&value) {
            self.free.push(slot);
        }
    }
}
