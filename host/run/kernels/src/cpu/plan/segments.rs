//! From the list of steps to schedules: segments between reductions, and buffers for the values in them.

use super::{Action, CpuSchedule, Location, PlanBuilder, Segment, StepNode, TileStep, VisitMode};
use crate::cpu::lanes::LaneKind;
use crate::cpu::slots::Slots;
use passhost_ir::kernel::operations::Gives;
use std::collections::HashMap;

impl PlanBuilder<'_> {
    /// All steps once, in segments: for modes that hold the inner points of a tile together.
    fn once(&self) -> Vec<Segment> {
        let count = self.nodes.iter().map(|node| node.phase + 1).max().unwrap_or(0);
        let mut segments = vec![Segment::default(); count];
        for node in &self.nodes {
            let segment = &mut segments[node.phase];
            if node.inner { &mut segment.inner } else { &mut segment.row }.push(node.step.clone());
        }
        segments
    }

    /// Segments that compute each inner value they need by themselves.
    fn anew(&self) -> Vec<Segment> {
        let mut segments = self.once();
        for (phase, segment) in segments.iter_mut().enumerate() {
            let mut needed = vec![false; self.kinds.len()];
            let mut keep = vec![false; self.nodes.len()];
            for (at, node) in self.nodes.iter().enumerate().rev() {
                let result = matches!(node.step.action, Action::Reduce(..) | Action::Store(_));
                let wanted = match node.step.target {
                    Location::Inner(value) if !result => needed[value],
                    _ => result && node.phase == phase,
                };
                keep[at] = node.inner && wanted;
                if keep[at] {
                    for place in &node.step.sources {
                        if let Location::Inner(value) = *place {
                            needed[value] = true;
                        }
                    }
                }
            }
            let kept = self.nodes.iter().zip(&keep).filter(|(_, keep)| **keep);
            segment.inner = kept.map(|(node, _)| node.step.clone()).collect();
        }
        segments
    }

    /// The only segment, its last list ordered for [`CpuSchedule::vectors`]; `None` if that is not possible.
    fn in_vectors(&self) -> Option<Segment> {
        let mut segments = self.once();
        let mut segment = segments.pop().filter(|_| segments.is_empty())?;
        let steps = if segment.inner.is_empty() { &mut segment.row } else { &mut segment.inner };
        // A spread row value counts as loaded: it fills a buffer, whoever reads it.
        let loads = |step: &TileStep| matches!(step.action, Action::Load(_)) || step.spreads();
        let spread_into: Vec<usize> = steps.iter().filter(|step| step.spreads()).filter_map(|step| step.into).collect();
        for step in steps.iter_mut() {
            step.into = step.into.filter(|number| !spread_into.contains(number));
        }
        let simple = steps.iter().all(|step| match step.action {
            Action::Load(_) => step.sources.is_empty(),
            Action::Compute(_) | Action::Store(_) => true,
            Action::Index(_) | Action::Reduce(..) | Action::Scan(..) => false,
        });
        steps.sort_by_key(|step| !loads(step));
        simple.then_some(segment)
    }

    /// The schedule for rows one after the other.
    pub(super) fn schedule(&self, rows: i64) -> CpuSchedule {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        if let Some(segment) = self.in_vectors() {
            let block = self.tuning.vector_block;
            let mode = match self.inner {
                0 => VisitMode::Tiles(block.min(rows).max(1)),
                _ if length <= block => VisitMode::Tiles((block / length.max(1)).clamp(1, rows.max(1))),
                _ => VisitMode::Chunks(block),
            };
            return CpuSchedule { mode, vectors: true, ..self.allocate(vec![segment], false) };
        }
        let tiles = self.allocate(self.once(), false);
        let bytes = |kinds: &[LaneKind]| kinds.iter().map(|kind| kind.size()).sum::<usize>();
        if self.inner == 0 {
            return CpuSchedule { mode: VisitMode::Tiles(self.tuning.block.min(rows).max(1)), ..tiles };
        }
        if length.saturating_mul(bytes(&tiles.inner_slots)) <= self.tuning.tile_bytes {
            let rows = (self.tuning.block / length).clamp(1, rows.max(1));
            return CpuSchedule { mode: VisitMode::Tiles(rows), ..tiles };
        }
        CpuSchedule { mode: VisitMode::Chunks(self.tuning.block.min(length)), ..self.allocate(self.anew(), true) }
    }

    /// The schedule for columns, for a kernel with reductions that have a vertical form.
    pub(super) fn columns(&self) -> Option<CpuSchedule> {
        let vertical = |node: &StepNode| match node.step.action {
            Action::Reduce(op, _) => op.gives() != Gives::Position,
            Action::Scan(..) => false,
            _ => true,
        };
        let reduces = self.nodes.iter().any(|node| matches!(node.step.action, Action::Reduce(..)));
        if !reduces || !self.nodes.iter().all(vertical) {
            return None;
        }
        Some(CpuSchedule {
            mode: VisitMode::Columns((self.tuning.block / 2).max(1)),
            ..self.allocate(self.anew(), true)
        })
    }

    /// Gives virtual values buffers, reusing those of values that are no longer needed. With `looped`, the inner steps
    /// of a segment run many times, and no inner value lives on to the next segment.
    fn allocate(&self, mut segments: Vec<Segment>, looped: bool) -> CpuSchedule {
        let mut last_use = HashMap::new();
        let mut position = 0;
        for (number, segment) in segments.iter().enumerate() {
            for step in segment.row.iter().chain(&segment.inner) {
                for place in &step.sources {
                    last_use.insert(key(*place, number, looped), position);
                }
                position += 1;
            }
        }
        let mut row = Slots::default();
        let mut inner = Slots::default();
        position = 0;
        for (number, segment) in segments.iter_mut().enumerate() {
            // A row value that inner steps read must survive all their repetitions.
            let mut after_segment = vec![];
            let row_steps = segment.row.len();
            for (at, step) in segment.row.iter_mut().chain(&mut segment.inner).enumerate() {
                let reads = step.sources.clone();
                if !matches!(step.action, Action::Store(_)) {
                    match step.target {
                        Location::Row(value) => row.take(value, self.kinds[value]),
                        Location::Inner(value) => inner.take(value, self.kinds[value]),
                        Location::Const(_) => {}
                    }
                }
                let resolve = |place: Location| match place {
                    Location::Row(value) => Location::Row(row.slot(value)),
                    Location::Inner(value) => Location::Inner(inner.slot(value)),
                    place => place,
                };
                step.target = resolve(step.target);
                step.sources = step.sources.iter().map(|place| resolve(*place)).collect();
                for place in reads {
                    if last_use.get(&key(place, number, looped)) != Some(&position) {
                        continue;
                    }
                    match place {
                        Location::Row(value) if at >= row_steps => after_segment.push(value),
                        Location::Row(value) => row.release(value),
                        Location::Inner(value) => inner.release(value),
                        Location::Const(_) => {}
                    }
                }
                position += 1;
            }
            after_segment.into_iter().for_each(|value| row.release(value));
        }
        CpuSchedule {
            mode: VisitMode::Tiles(1),
            segments,
            vectors: false,
            row_slots: row.kinds,
            inner_slots: inner.kinds,
        }
    }
}

/// Names a definition of a value: where inner steps are repeated, each segment defines its inner values anew.
fn key(place: Location, segment: usize, looped: bool) -> (Location, usize) {
    match place {
        Location::Inner(_) if looped => (place, segment),
        place => (place, 0),
    }
}
