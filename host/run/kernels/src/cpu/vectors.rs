//! Running a list of steps on one short vector of points after the other.
//!
//! Each step of a block would walk its buffers from end to end, out of the first-level cache and back. Where steps only
//! load, compute and store, the whole list runs on some hundred points before it goes on to the next: buffers stay in
//! the cache, and memory is read and written in step. What each step reads and writes is found out once per block, so
//! that going from one step to the next costs little more than a jump.

use super::arena::{BlockBuffers, Vectors};
use super::column::{binary_f32_body, rounded_to_bf16_body, unary_f32_body};
use super::compute::{Code, compute, round};
use super::isa::{Isa, multiversion};
use super::lanes::{LaneKind, OperandSource, ViewMut};
use super::load::{BoundLoad, widen};
use super::plan::{Action, Location, TileStep};
use super::store::{BoundStore, narrow};
use super::tile_space::{BlockPoints, PointBlock, TileSpace};
use super::vector_steps::{VectorLanes, VectorStep};
use passhost_ir::Dtype;

impl TileSpace<'_> {
    /// Runs the last list of a schedule with [`vectors`](super::plan::Schedule::vectors). Returns `false`, having
    /// written nothing, if an output's elements do not lie side by side.
    ///
    /// # Safety
    /// No other thread computes any of these rows.
    pub(super) unsafe fn run_vectors(&self, arena: &mut BlockBuffers, steps: &[TileStep], block: PointBlock) -> bool {
        let scattered = |step: &TileStep| match step.action {
            Action::Store(number) => self.stores[number].dense(self.domain(arena, block)).is_none(),
            _ => false,
        };
        if steps.iter().any(scattered) {
            return false;
        }
        self.fill_blocks(arena, steps, block);
        let mut vectors = std::mem::take(&mut arena.vectors);
        // SAFETY: the caller gives these rows to this thread alone.
        unsafe { self.make_ready(arena, steps, block, &mut vectors) };
        let lanes = block.lanes();
        // Vectors of one row each, where a step needs to know the row.
        let (row_points, rows) = match block.points {
            BlockPoints::Inner { points, .. } if reads_rows(steps) => (points, block.count),
            _ => (lanes, 1),
        };
        if vectors.strips.prepare(self, &vectors.steps, &vectors.table, lanes) {
            // SAFETY: the caller gives these rows to this thread alone, and `make_ready` took the pointers that `prepare`
            // found from storage of the block's lanes.
            unsafe { vectors.strips.run(rows, row_points) };
            arena.vectors = vectors;
            return true;
        }
        let vector = even_vectors(row_points, self.plan.tuning.vector);
        for row in 0..rows {
            if row > 0 {
                for slot in 0..arena.row.len() {
                    let at = self.table_position(Location::Row(slot));
                    // SAFETY: each row value has a lane for each row of the block.
                    vectors.table[at] = unsafe { vectors.table[at].from(1) };
                }
            }
            for at in (row * row_points..(row + 1) * row_points).step_by(vector) {
                let len = vector.min((row + 1) * row_points - at);
                let Vectors { steps, table, .. } = &mut vectors;
                // SAFETY: the caller gives these rows to this thread alone. `make_ready` took all pointers from storage
                // of the block's lanes at least, or from buffers of this schedule, which hold a vector or more. The plan
                // gives a step's target another buffer than its sources.
                let vector = unsafe { Vector::new(self, steps, table, at, len) };
                run_vector(self.isa, vector);
            }
        }
        arena.vectors = vectors;
        true
    }

    /// Fills the buffers of those steps that need a whole block.
    fn fill_blocks(&self, arena: &mut BlockBuffers, steps: &[TileStep], block: PointBlock) {
        for step in steps {
            let target = match step.action {
                Action::Load(number) if self.loads[number].dense(self.domain(arena, block)).is_none() => {
                    let mut target = arena.take(step.target);
                    self.load(arena, number, step, target.view_mut().part(0, block.lanes()), block);
                    target
                }
                Action::Compute(code) if step.spreads() => {
                    let mut target = arena.take(step.target);
                    self.compute(arena, code, step, target.view_mut().part(0, block.lanes()), block);
                    target
                }
                _ => continue,
            };
            arena.put(step.target, target);
        }
    }

    /// Finds out what each step reads and writes.
    ///
    /// # Safety
    /// No other thread computes any of the block's rows.
    unsafe fn make_ready(
        &self,
        arena: &mut BlockBuffers,
        steps: &[TileStep],
        block: PointBlock,
        vectors: &mut Vectors,
    ) {
        let Vectors { steps: ready, table, .. } = vectors;
        table.clear();
        let splat_rows = matches!(block.points, BlockPoints::Inner { .. });
        table.extend(self.plan.consts.iter().map(|buffer| VectorLanes::of(buffer.view(), true)));
        // Mutable views, as buffers are written through these pointers.
        table.extend(arena.row.iter_mut().map(|slot| VectorLanes::of_mut(slot.buffer.view_mut(), splat_rows)));
        table.extend(arena.inner.iter_mut().map(|slot| VectorLanes::of_mut(slot.buffer.view_mut(), false)));
        for (row, slot) in arena.row.iter().enumerate() {
            // A row value may be elements of an input.
            if splat_rows && slot.alias.is_some() {
                table[self.plan.consts.len() + row] = VectorLanes::of(self.view(arena, Location::Row(row)), true);
            }
        }
        ready.clear();
        for step in steps {
            let domain = self.domain(arena, block);
            let into = step.into.and_then(|number| Some((number, self.stores[number].in_place(domain)?)));
            let mut sources = [0; 3];
            for (source, place) in sources.iter_mut().zip(&step.sources) {
                *source = self.table_position(*place);
            }
            let (round, operands) = (step.round, step.sources.len());
            let target = self.table_position(step.target);
            ready.push(match &step.action {
                Action::Load(load) => match self.loads[*load].dense(domain) {
                    Some(first) if self.loads[*load].are_lanes() => {
                        let all = VectorLanes::of(self.loads[*load].lanes(first, block.lanes()), false);
                        VectorStep::InPlace { target, all }
                    }
                    Some(first) => VectorStep::Widen { target, buffer: table[target], load: *load, first },
                    None => VectorStep::Filled { target, all: table[target] },
                },
                Action::Compute(_) if step.spreads() => VectorStep::Filled { target, all: table[target] },
                Action::Compute(code) => match into {
                    Some((number, first)) => {
                        // SAFETY: the caller gives these rows to this thread alone.
                        let all =
                            VectorLanes::of_mut(unsafe { self.stores[number].lanes(first, block.lanes()) }, false);
                        VectorStep::ComputeInto { code: *code, round, all, sources, operands }
                    }
                    None => {
                        let buffer = table[target];
                        VectorStep::Compute { code: *code, round, target, buffer, sources, operands }
                    }
                },
                Action::Store(store) => match self.stores[*store].dense(domain) {
                    Some(first) if into.is_none() => VectorStep::Narrow { source: sources[0], store: *store, first },
                    _ => continue,
                },
                Action::Index(_) | Action::Reduce(..) | Action::Scan(..) => continue,
            });
        }
    }

    /// Where the lanes of a place stand in the table.
    fn table_position(&self, place: Location) -> usize {
        let (consts, rows) = (self.plan.consts.len(), self.schedule.row_slots.len());
        match place {
            Location::Const(literal) => literal,
            Location::Row(slot) => consts + slot,
            Location::Inner(slot) => consts + rows + slot,
        }
    }
}

/// Some lanes of a block, with all that the steps read and write.
struct Vector<'a> {
    isa: Isa,
    loads: &'a [BoundLoad],
    stores: &'a [BoundStore<'a>],
    steps: &'a [VectorStep],
    table: &'a mut [VectorLanes],
    at: usize,
    len: usize,
}

impl<'a> Vector<'a> {
    /// The lanes `at .. at + len`.
    ///
    /// # Safety
    /// The table and the steps hold pointers to as many lanes as the steps read and write, no step's target overlaps its
    /// sources, and no other thread uses the buffers and elements that steps write.
    unsafe fn new(
        space: &'a TileSpace<'_>,
        steps: &'a [VectorStep],
        table: &'a mut [VectorLanes],
        at: usize,
        len: usize,
    ) -> Vector<'a> {
        Vector { isa: space.isa, loads: space.loads, stores: space.stores, steps, table, at, len }
    }
}

multiversion! {
    /// Runs all steps.
    fn run_vector(vector: Vector<'_>) = run_vector_body;
}

#[inline(always)]
fn run_vector_body(vector: Vector<'_>) {
    let Vector { isa, loads, stores, steps, table, at, len } = vector;
    for step in steps {
        // SAFETY: all this is what `Vector::new`'s caller vouched for.
        unsafe {
            match *step {
                VectorStep::Filled { target, all } | VectorStep::InPlace { target, all } => {
                    table[target] = all.from(at)
                }
                // A buffer serves one value after the other: the last may have been an input's elements.
                VectorStep::Widen { target, buffer, load, first } => {
                    widen(isa, &loads[load], first + at, buffer.target(len));
                    table[target] = buffer;
                }
                VectorStep::Compute { code, round, target, buffer, sources, operands } => {
                    let sources = sources_of(table, sources, operands, len);
                    compute_lanes(isa, code, round, || buffer.target(len), &sources);
                    table[target] = buffer;
                }
                VectorStep::ComputeInto { code, round, all, sources, operands } => {
                    let sources = sources_of(table, sources, operands, len);
                    compute_lanes(isa, code, round, || all.from(at).target(len), &sources);
                }
                VectorStep::Narrow { source, store, first } => {
                    narrow(isa, &stores[store], first + at, table[source].source(len), len);
                }
            }
        }
    }
}

/// # Safety
/// As for [`VectorLanes::source`].
#[inline(always)]
unsafe fn sources_of<'a>(
    table: &[VectorLanes],
    sources: [usize; 3],
    operands: usize,
    len: usize,
) -> [OperandSource<'a>; 3] {
    // SAFETY: by this function's contract.
    unsafe {
        let first = table[sources[0]].source(len);
        let second = if operands > 1 { table[sources[1]].source(len) } else { OperandSource::NONE };
        let third = if operands > 2 { table[sources[2]].source(len) } else { OperandSource::NONE };
        [first, second, third]
    }
}

/// The most common operations are compiled into the loop over steps; the others are called.
#[inline(always)]
fn compute_lanes<'a>(
    isa: Isa,
    code: Code,
    rounding: Option<Dtype>,
    target: impl Fn() -> ViewMut<'a>,
    sources: &[OperandSource<'_>; 3],
) {
    if let (Code::Binary(op, LaneKind::F32), Some(Dtype::Bf16)) = (code, rounding)
        && rounded_to_bf16_body(op, target(), sources)
    {
        return;
    }
    let varies = matches!(sources[0], OperandSource::Lanes(..)) || matches!(sources[1], OperandSource::Lanes(..));
    match code {
        Code::Unary(op, LaneKind::F32) if varies => unary_f32_body(op, target(), sources),
        Code::Binary(op, LaneKind::F32) if varies => binary_f32_body(op, target(), sources),
        _ => compute(isa, code, target(), sources),
    }
    if let Some(dtype) = rounding {
        round(isa, dtype, target());
    }
}

/// Lanes of a vector, about `wanted`, such that the last of `lanes` lanes is not a short rest.
fn even_vectors(lanes: usize, wanted: usize) -> usize {
    let count = ((lanes + wanted / 2) / wanted).max(1);
    lanes.div_ceil(count).next_multiple_of(16).max(1)
}

/// Whether a step needs lanes of row values as they are.
fn reads_rows(steps: &[TileStep]) -> bool {
    steps
        .iter()
        .filter(|step| !step.spreads())
        .flat_map(|step| &step.sources)
        .any(|place| matches!(place, Location::Row(_)))
}
