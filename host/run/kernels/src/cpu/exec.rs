//! Running the steps of a plan on one tile after the other.

use super::arena::{Alias, Arena};
use super::compute::{Code, compute, round};
use super::index::{LANES, Walk};
use super::isa::{Isa, multiversion};
use super::lanes::{Buffer, Lane, OperandSource, View, ViewMut};
use super::load::{BoundLoad, Domain, Gathered, GatheredList, Surroundings, fill};
use super::plan::{Action, Location, Mode, Plan, Schedule, TileStep};
use super::reduce::{Carry, accumulate, accumulator_kind, reduce};
use super::store::{BoundStore, store};
use passhost_ir::kernel::{ReduceOp, ScanOp};

/// Walks of the plan's axes over rows, and over rows and inner points.
#[derive(Debug, Clone)]
pub(crate) struct Walks {
    row: Vec<Walk>,
    inner: Vec<Walk>,
}

impl Walks {
    /// The walks of a plan.
    pub(crate) fn new(plan: &Plan) -> Walks {
        let mut walks =
            Walks { row: vec![Walk::Fixed(0); plan.extents.len()], inner: vec![Walk::Fixed(0); plan.extents.len()] };
        let mut points = 1;
        for axis in plan.inner_axes.iter().rev() {
            walks.inner[*axis] = Walk::Varies { inner: points, extent: plan.extents[*axis].max(1) };
            points *= plan.extents[*axis].max(1);
        }
        let mut rows = 1;
        for axis in plan.row_axes.iter().rev() {
            let extent = plan.extents[*axis].max(1);
            walks.row[*axis] = Walk::Varies { inner: rows, extent };
            walks.inner[*axis] = Walk::Varies { inner: rows * points, extent };
            rows *= extent;
        }
        walks
    }
}

/// Everything that tiles share.
pub(crate) struct Space<'a> {
    pub(crate) isa: Isa,
    pub(crate) plan: &'a Plan,
    pub(crate) schedule: &'a Schedule,
    pub(crate) walks: &'a Walks,
    pub(crate) loads: &'a [BoundLoad],
    pub(crate) stores: &'a [BoundStore<'a>],
}

/// The points that a list of steps runs on.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// The first row.
    row: i64,
    /// Rows.
    pub(super) count: usize,
    pub(super) points: Points,
}

/// The points of each row in a block.
#[derive(Clone, Copy)]
pub(super) enum Points {
    /// The row itself: one lane.
    Row,
    /// This many inner points, from a position on.
    Inner { points: usize, position: i64 },
    /// One inner point, the first of all or a later one.
    Column { first: bool },
}

impl Block {
    /// Lanes of a value over the block.
    pub(super) fn lanes(self) -> usize {
        match self.points {
            Points::Row | Points::Column { .. } => self.count,
            Points::Inner { points, .. } => self.count * points,
        }
    }
}

impl Space<'_> {
    /// Computes rows `row .. row + count`, at most as many as the schedule's tiles have.
    ///
    /// # Safety
    /// No other thread computes any of these rows.
    pub(crate) unsafe fn run_tile(&self, arena: &mut Arena, row: i64, count: usize) {
        let length = self.plan.length;
        for segment in &self.schedule.segments {
            let block = |points| Block { row, count, points };
            // SAFETY: the caller gives these rows to this thread alone.
            unsafe { self.run_list(arena, &segment.row, block(Points::Row), segment.inner.is_empty()) };
            if segment.inner.is_empty() {
                continue;
            }
            match self.schedule.mode {
                Mode::Tiles(_) => {
                    let points = Points::Inner { points: length as usize, position: 0 };
                    // SAFETY: as above.
                    unsafe { self.run_list(arena, &segment.inner, block(points), true) };
                }
                Mode::Chunks(chunk) => {
                    arena.partials.fill(None);
                    let mut position = 0;
                    while position < length {
                        let points = chunk.min((length - position) as usize);
                        // SAFETY: as above.
                        unsafe {
                            self.run_list(arena, &segment.inner, block(Points::Inner { points, position }), true)
                        };
                        position += points as i64;
                    }
                }
                Mode::Columns(_) => {
                    for point in 0..length {
                        self.hold_column(arena, point);
                        // SAFETY: as above.
                        unsafe { self.run_steps(arena, &segment.inner, block(Points::Column { first: point == 0 })) };
                    }
                }
            }
            self.finish(arena, &segment.inner, count);
        }
    }

    /// Sets the walks over rows at an inner point.
    fn hold_column(&self, arena: &mut Arena, point: i64) {
        arena.column_walks.clone_from(&self.walks.row);
        arena.column.clear();
        for axis in &self.plan.inner_axes {
            let position = self.walks.inner[*axis].at(point);
            arena.column_walks[*axis] = Walk::Fixed(position);
            arena.column.push(position);
        }
    }

    /// Turns partial results into those of the reductions among `steps`.
    fn finish(&self, arena: &mut Arena, steps: &[TileStep], count: usize) {
        for step in steps {
            let Action::Reduce(_, number) = step.action else { continue };
            match self.schedule.mode {
                Mode::Tiles(_) => {}
                Mode::Chunks(_) => {
                    let mut target = arena.take(step.target);
                    arena.partials[number].iter().for_each(|partial| partial.finish(&mut target, 0));
                    arena.put(step.target, target);
                }
                Mode::Columns(_) => {
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
    unsafe fn run_list(&self, arena: &mut Arena, steps: &[TileStep], block: Block, last: bool) {
        // SAFETY: the caller's promise is handed on.
        unsafe {
            if !(last && self.schedule.vectors && self.run_vectors(arena, steps, block)) {
                self.run_steps(arena, steps, block);
            }
        }
    }

    /// # Safety
    /// No other thread computes any of these rows.
    unsafe fn run_steps(&self, arena: &mut Arena, steps: &[TileStep], block: Block) {
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
                        arena.slot_mut(step.target).alias = Some(Alias { load: number, first, len: block.lanes() });
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

    pub(super) fn domain<'a>(&'a self, arena: &'a Arena, block: Block) -> Domain<'a> {
        let Block { row, points, .. } = block;
        let len = block.lanes();
        match points {
            Points::Row => Domain { walks: &self.walks.row, number: row, len, fixed: &[] },
            Points::Inner { position, .. } => {
                Domain { walks: &self.walks.inner, number: row * self.plan.length + position, len, fixed: &[] }
            }
            Points::Column { .. } => Domain { walks: &arena.column_walks, number: row, len, fixed: &arena.column },
        }
    }

    /// The lanes at `place`.
    pub(super) fn view<'a>(&'a self, arena: &'a Arena, place: Location) -> View<'a> {
        let slot = match place {
            Location::Const(literal) => return self.plan.consts[literal].view(),
            Location::Row(slot) => &arena.row[slot],
            Location::Inner(slot) => &arena.inner[slot],
        };
        match slot.alias {
            Some(Alias { load, first, len }) => self.loads[load].lanes(first, len),
            None => slot.buffer.view(),
        }
    }

    pub(super) fn compute(&self, arena: &Arena, code: Code, step: &TileStep, mut target: ViewMut<'_>, block: Block) {
        let mut views = [(Location::Const(0), View::EMPTY); 3];
        for (slot, place) in views.iter_mut().zip(&step.sources) {
            *slot = (*place, self.view(arena, *place));
        }
        // Lanes from `at` on, and the row to which they belong.
        let sources = |at: usize, row: usize| {
            views.map(|(place, view)| match (place, block.points) {
                (Location::Const(_), _) => OperandSource::Splat(view, 0),
                (Location::Row(_), Points::Inner { .. }) => OperandSource::Splat(view, row),
                _ => OperandSource::Lanes(view, at),
            })
        };
        let reads_rows = step.sources.iter().any(|place| matches!(place, Location::Row(_)));
        match block.points {
            Points::Inner { points, .. } if reads_rows && block.count > 1 => {
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

    pub(super) fn load(&self, arena: &mut Arena, number: usize, step: &TileStep, target: ViewMut<'_>, block: Block) {
        let mut scratch = std::mem::take(&mut arena.scratch);
        let gathered = self.gathered(arena, step, block);
        let around = Surroundings { isa: self.isa, domain: self.domain(arena, block), gathered: &gathered };
        fill(&self.loads[number], &self.plan.loads[number], &around, target, &mut scratch);
        arena.scratch = scratch;
    }

    fn index(&self, arena: &mut Arena, number: usize, step: &TileStep, target: ViewMut<'_>, block: Block) {
        let mut scratch = std::mem::take(&mut arena.scratch);
        let gathered = self.gathered(arena, step, block);
        let Domain { walks, number: start, .. } = self.domain(arena, block);
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
    fn gathered<'a>(&'a self, arena: &'a Arena, step: &TileStep, block: Block) -> GatheredList<'a> {
        let gather = |place: &Location| {
            let points_per_lane = match (place, block.points) {
                (Location::Const(_), _) => usize::MAX,
                // In chunks there is one row, and no lane beyond the first.
                (Location::Row(_), Points::Inner { points, .. }) => points,
                _ => 1,
            };
            Gathered { view: self.view(arena, *place), points_per_lane }
        };
        GatheredList::of(step.sources.iter().map(gather))
    }

    fn scan(&self, arena: &mut Arena, op: ScanOp, number: usize, step: &TileStep, target: &mut Buffer, block: Block) {
        let Points::Inner { position, .. } = block.points else { unreachable!("no scan runs in columns") };
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

    fn reduce(&self, arena: &mut Arena, op: ReduceOp, number: usize, step: &TileStep, block: Block) {
        match (block.points, self.schedule.mode) {
            (Points::Inner { points, position }, Mode::Chunks(_)) => {
                let next = reduce(self.isa, op, self.view(arena, step.sources[0]), 0, points, position);
                let partial = arena.partials[number].map_or(next, |partial| partial.and(op, next));
                arena.partials[number] = Some(partial);
            }
            (Points::Inner { points, .. }, _) => {
                let mut target = arena.take(step.target);
                let source = self.view(arena, step.sources[0]);
                for row in 0..block.count {
                    reduce(self.isa, op, source, row * points, points, 0).finish(&mut target, row);
                }
                arena.put(step.target, target);
            }
            (Points::Column { first }, _) => {
                let mut sums = std::mem::take(&mut arena.sums[number]);
                let source = self.view(arena, step.sources[0]);
                let kind = accumulator_kind(source.kind());
                if sums.kind() != kind || sums.view_mut().len() < block.count {
                    sums = Buffer::zeroed(kind, self.schedule.rows_per_tile());
                }
                accumulate(self.isa, op, &mut sums, source, block.count, first);
                arena.sums[number] = sums;
            }
            (Points::Row, _) => unreachable!("a reduction reads inner points"),
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
    fn spread(target: ViewMut<'_>, rows: View<'_>, points: usize) = spread_body;
}

#[inline(always)]
fn spread_body(target: ViewMut<'_>, rows: View<'_>, points: usize) {
    #[inline(always)]
    fn lanes<T: Lane>(target: ViewMut<'_>, rows: &[T], points: usize) {
        for (target, row) in T::of_mut(target).chunks_exact_mut(points).zip(rows) {
            target.fill(*row);
        }
    }
    match rows {
        View::Bool(rows) => lanes(target, rows, points),
        View::I32(rows) => lanes(target, rows, points),
        View::I64(rows) => lanes(target, rows, points),
        View::F32(rows) => lanes(target, rows, points),
        View::F64(rows) => lanes(target, rows, points),
    }
}
