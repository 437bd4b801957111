//! Running the steps of a plan on one tile after the other.

use super::arena::{BlockBuffers, LoadAlias};
use super::compute::{Code, compute, round};
use super::index::{AxisWalk, LANES};
use super::isa::multiversion;
use super::lanes::{Buffer, Lane, LaneView, OperandSource, ViewMut};
use super::load::{Gathered, GatheredList, PointRange, Surroundings, fill};
use super::plan::{Action, Location, TileStep, VisitMode};
use super::reduce::{Carry, accumulate, accumulator_kind, reduce};
use super::store::store;
use super::tile_space::{BlockPoints, PointBlock, TileSpace};
use passhost_ir::kernel::{ReduceOp, ScanOp};

impl TileSpace<'_> {
    /// Computes rows `row .. row + count`, at most as many as the schedule's tiles have.
    ///
    /// # Safety
    /// No other thread computes any of these rows.
    pub(crate) unsafe fn run_tile(&self, arena: &mut BlockBuffers, row: i64, count: usize) {
        let length = self.plan.length;
        for segment in &self.schedule.segments {
            let block = |points| PointBlock { row, count, points };
            // SAFETY: the caller gives these rows to this thread alone.
            unsafe { self.run_list(arena, &segment.row, block(BlockPoints::Row), segment.inner.is_empty()) };
            if segment.inner.is_empty() {
                continue;
            }
            match self.schedule.mode {
                VisitMode::Tiles(_) => {
                    let points = BlockPoints::Inner { points: length as usize, position: 0 };
                    // SAFETY: as above.
                    unsafe { self.run_list(arena, &segment.inner, block(points), true) };
                }
                VisitMode::Chunks(chunk) => {
                    arena.partials.fill(None);
                    let mut position = 0;
                    while position < length {
                        let points = chunk.min((length - position) as usize);
                        // SAFETY: as above.
                        unsafe {
                            self.run_list(arena, &segment.inner, block(BlockPoints::Inner { points, position }), true)
                        };
                        position += points as i64;
                    }
                }
                VisitMode::Columns(_) => {
                    for point in 0..length {
                        self.hold_column(arena, point);
                        // SAFETY: as above.
                        unsafe {
                            self.run_steps(arena, &segment.inner, block(BlockPoints::Column { first: point == 0 }))
                        };
                    }
                }
            }
            self.finish(arena, &segment.inner, count);
        }
    }

    /// Sets the walks over rows at an inner point.
    fn hold_column(&self, arena: &mut BlockBuffers, point: i64) {
        arena.column_walks.clone_from(&self.walks.row);
        arena.column.clear();
        for axis in &self.plan.inner_axes {
            let position = self.walks.inner[*axis].at(point);
            arena.column_walks[*axis] = AxisWalk::Fixed(position);
            arena.column.push(position);
        }
    }

    /// Turns partial results into those of the reductions among `steps`.
    fn finish(&self, arena: &mut BlockBuffers, steps: &[TileStep], count: usize) {
        for step in steps {
            let Action::Reduce(_, number) = step.action else { continue };
            match self.schedule.mode {
                VisitMode::Tiles(_) => {}
                VisitMode::Chunks(_) => {
                    let mut target = arena.take(step.target);
                    arena.partials[number].iter().for_each(|partial| partial.finish(&mut target, 0));
                    arena.put(step.target, target);
                }
                VisitMode::Columns(_) => {
                    let mut target = arena.take(step.target);
                    finish_columns(&arena.sums[number], &mut target, count);
                    arena.put(step.target, target);
                }
            }
        }
    }

    /// Runs a list of steps, in vectors if it is the last and memory allows.
    ///
    /// # Safety
    /// No other thread computes any of these rows.
    unsafe fn run_list(&self, arena: &mut BlockBuffers, steps: &[TileStep], block: PointBlock, last: bool) {
        // SAFETY: the caller's promise is handed on.
        unsafe {
            if !(last && self.schedule.vectors && self.run_vectors(arena, steps, block)) {
                self.run_steps(arena, steps, block);
            }
        }
    }

    /// # Safety
    /// No other thread computes any of these rows.
    unsafe fn run_steps(&self, arena: &mut BlockBuffers, steps: &[TileStep], block: PointBlock) {
        for step in steps {
            match step.action {
                Action::Store(number) => {
                    let (target, domain) = (&self.stores[number], self.domain(arena, block));
                    if step.into.is_none() || target.in_place(domain).is_none() {
                        // SAFETY: the caller gives these rows to this thread alone.
                        unsafe { store(self.isa, target, domain, self.view(arena, step.sources[0])) };
                    }
                }
                Action::Compute(code) => {
                    let into = step.into.map(|number| &self.stores[number]);
                    let place = into.and_then(|into| Some((into, into.in_place(self.domain(arena, block))?)));
                    if let Some((into, first)) = place {
                        // SAFETY: the caller gives these rows to this thread alone.
                        let target = unsafe { into.lanes(first, block.lanes()) };
                        self.compute(arena, code, step, target, block);
                        continue;
                    }
                    let mut target = arena.take(step.target);
                    self.compute(arena, code, step, target.view_mut().part(0, block.lanes()), block);
                    arena.put(step.target, target);
                }
                Action::Load(number) => {
                    let in_place = self.loads[number].in_place(self.domain(arena, block));
                    if let Some(first) = in_place {
                        arena.slot_mut(step.target).alias = Some(LoadAlias { load: number, first, len: block.lanes() });
                        continue;
                    }
                    let mut target = arena.take(step.target);
                    self.load(arena, number, step, target.view_mut().part(0, block.lanes()), block);
                    arena.put(step.target, target);
                }
                Action::Index(number) => {
                    let mut target = arena.take(step.target);
                    self.index(arena, number, step, target.view_mut().part(0, block.lanes()), block);
                    arena.put(step.target, target);
                }
                Action::Scan(op, number) => {
                    let mut target = arena.take(step.target);
                    self.scan(arena, op, number, step, &mut target, block);
                    arena.put(step.target, target);
                }
                Action::Reduce(op, number) => self.reduce(arena, op, number, step, block),
            }
        }
    }

    pub(super) fn domain<'a>(&'a self, arena: &'a BlockBuffers, block: PointBlock) -> PointRange<'a> {
        let PointBlock { row, points, .. } = block;
        let len = block.lanes();
        match points {
            BlockPoints::Row => PointRange { walks: &self.walks.row, number: row, len, fixed: &[] },
            BlockPoints::Inner { position, .. } => {
                PointRange { walks: &self.walks.inner, number: row * self.plan.length + position, len, fixed: &[] }
            }
            BlockPoints::Column { .. } => {
                PointRange { walks: &arena.column_walks, number: row, len, fixed: &arena.column }
            }
        }
    }

    /// The lanes at `place`.
    pub(super) fn view<'a>(&'a self, arena: &'a BlockBuffers, place: Location) -> LaneView<'a> {
        let slot = match place {
            Location::Const(literal) => return self.plan.consts[literal].view(),
            Location::Row(slot) => &arena.row[slot],
            Location::Inner(slot) => &arena.inner[slot],
        };
        match slot.alias {
            Some(LoadAlias { load, first, len }) => self.loads[load].lanes(first, len),
            None => slot.buffer.view(),
        }
    }

    pub(super) fn compute(
        &self,
        arena: &BlockBuffers,
        code: Code,
        step: &TileStep,
        mut target: ViewMut<'_>,
        block: PointBlock,
    ) {
        let mut views = [(Location::Const(0), LaneView::EMPTY); 3];
        for (slot, place) in views.iter_mut().zip(&step.sources) {
            *slot = (*place, self.view(arena, *place));
        }
        // Lanes from `at` on, and the row to which they belong.
        let sources = |at: usize, row: usize| {
            views.map(|(place, view)| match (place, block.points) {
                (Location::Const(_), _) => OperandSource::Splat(view, 0),
                (Location::Row(_), BlockPoints::Inner { .. }) => OperandSource::Splat(view, row),
                _ => OperandSource::Lanes(view, at),
            })
        };
        let reads_rows = step.sources.iter().any(|place| matches!(place, Location::Row(_)));
        match block.points {
            BlockPoints::Inner { points, .. } if reads_rows && block.count > 1 => {
                if matches!(code, Code::Copy(_)) {
                    return spread(self.isa, target, views[0].1, points);
                }
                for row in 0..block.count {
                    compute(self.isa, code, target.part(row * points, points), &sources(row * points, row));
                }
            }
            _ => compute(self.isa, code, target.part(0, block.lanes()), &sources(0, 0)),
        }
        if let Some(dtype) = step.round {
            round(self.isa, dtype, target);
        }
    }

    pub(super) fn load(
        &self,
        arena: &mut BlockBuffers,
        number: usize,
        step: &TileStep,
        target: ViewMut<'_>,
        block: PointBlock,
    ) {
        let mut scratch = std::mem::take(&mut arena.scratch);
        let gathered = self.gathered(arena, step, block);
        let around = Surroundings { isa: self.isa, domain: self.domain(arena, block), gathered: &gathered };
        fill(&self.loads[number], &self.plan.loads[number], &around, target, &mut scratch);
        arena.scratch = scratch;
    }

    fn index(&self, arena: &mut BlockBuffers, number: usize, step: &TileStep, target: ViewMut<'_>, block: PointBlock) {
        let mut scratch = std::mem::take(&mut arena.scratch);
        let gathered = self.gathered(arena, step, block);
        let PointRange { walks, number: start, .. } = self.domain(arena, block);
        let program = &self.plan.indices[number];
        for (part, lanes) in i64::of_mut(target).chunks_mut(LANES).enumerate() {
            let first = part * LANES;
            let value = |value: usize, lane: usize| gathered[value].at(first + lane);
            program.at_points(self.isa, walks, start + first as i64, lanes.len(), &mut scratch.lanes, value);
            lanes.copy_from_slice(&scratch.lanes[program.results[0]][..lanes.len()]);
        }
        arena.scratch = scratch;
    }

    /// The body values that a step's index expressions read.
    fn gathered<'a>(&'a self, arena: &'a BlockBuffers, step: &TileStep, block: PointBlock) -> GatheredList<'a> {
        let gather = |place: &Location| {
            let points_per_lane = match (place, block.points) {
                (Location::Const(_), _) => usize::MAX,
                // In chunks there is one row, and no lane beyond the first.
                (Location::Row(_), BlockPoints::Inner { points, .. }) => points,
                _ => 1,
            };
            Gathered { view: self.view(arena, *place), points_per_lane }
        };
        GatheredList::of(step.sources.iter().map(gather))
    }

    fn scan(
        &self,
        arena: &mut BlockBuffers,
        op: ScanOp,
        number: usize,
        step: &TileStep,
        target: &mut Buffer,
        block: PointBlock,
    ) {
        let BlockPoints::Inner { position, .. } = block.points else { unreachable!("no scan runs in columns") };
        let source = self.view(arena, step.sources[0]);
        let (mut carry, mut done, last) = (arena.carries[number], 0, self.plan.last_inner);
        while done < block.lanes() {
            // The scan starts anew with each run along the last axis.
            let along = (position + done as i64) % last;
            if along == 0 {
                carry = Carry::neutral(op, source.kind());
            }
            let run = ((last - along) as usize).min(block.lanes() - done);
            carry.scan(op, target, source, done, run);
            done += run;
        }
        arena.carries[number] = carry;
    }

    fn reduce(&self, arena: &mut BlockBuffers, op: ReduceOp, number: usize, step: &TileStep, block: PointBlock) {
        match (block.points, self.schedule.mode) {
            (BlockPoints::Inner { points, position }, VisitMode::Chunks(_)) => {
                let next = reduce(self.isa, op, self.view(arena, step.sources[0]), 0, points, position);
                let partial = arena.partials[number].map_or(next, |partial| partial.and(op, next));
                arena.partials[number] = Some(partial);
            }
            (BlockPoints::Inner { points, .. }, _) => {
                let mut target = arena.take(step.target);
                let source = self.view(arena, step.sources[0]);
                for row in 0..block.count {
                    reduce(self.isa, op, source, row * points, points, 0).finish(&mut target, row);
                }
                arena.put(step.target, target);
            }
            (BlockPoints::Column { first }, _) => {
                let mut sums = std::mem::take(&mut arena.sums[number]);
                let source = self.view(arena, step.sources[0]);
                let kind = accumulator_kind(source.kind());
                if sums.kind() != kind || sums.view_mut().len() < block.count {
                    sums = Buffer::zeroed(kind, self.schedule.rows_per_tile());
                }
                accumulate(self.isa, op, &mut sums, source, block.count, first);
                arena.sums[number] = sums;
            }
            (BlockPoints::Row, _) => unreachable!("a reduction reads inner points"),
        }
    }
}

/// Rounds the first `count` accumulators to the type of the result.
fn finish_columns(sums: &Buffer, target: &mut Buffer, count: usize) {
    match (sums, target) {
        (Buffer::F64(sums), Buffer::F32(target)) => {
            for (target, sum) in target[..count].iter_mut().zip(sums.iter()) {
                *target = *sum as f32;
            }
        }
        (Buffer::F64(sums), Buffer::F64(target)) => target[..count].copy_from_slice(&sums[..count]),
        (Buffer::I64(sums), Buffer::I64(target)) => target[..count].copy_from_slice(&sums[..count]),
        (Buffer::I32(sums), Buffer::I32(target)) => target[..count].copy_from_slice(&sums[..count]),
        (Buffer::Bool(sums), Buffer::Bool(target)) => target[..count].copy_from_slice(&sums[..count]),
        (sums, target) => unreachable!("{:?} accumulated for {:?}", sums.kind(), target.kind()),
    }
}

multiversion! {
    /// Fills each stretch of `points` lanes with the lane of its row.
    fn spread(target: ViewMut<'_>, rows: LaneView<'_>, points: usize) = spread_body;
}

#[inline(always)]
fn spread_body(target: ViewMut<'_>, rows: LaneView<'_>, points: usize) {
    #[inline(always)]
    fn lanes<T: Lane>(target: ViewMut<'_>, rows: &[T], points: usize) {
        for (target, row) in T::of_mut(target).chunks_exact_mut(points).zip(rows) {
            target.fill(*row);
        }
    }
    match rows {
        LaneView::Bool(rows) => lanes(target, rows, points),
        LaneView::I32(rows) => lanes(target, rows, points),
        LaneView::I64(rows) => lanes(target, rows, points),
        LaneView::F32(rows) => lanes(target, rows, points),
        LaneView::F64(rows) => lanes(target, rows, points),
    }
}
