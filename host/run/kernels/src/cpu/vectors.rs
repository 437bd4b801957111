//! Running a list of steps on one short vector of points after the other.
//!
//! Each step of a block would walk its buffers from end to end, out of the first-level cache and back. Where steps only
//! load, compute and store, the whole list runs on some hundred points before it goes on to the next: buffers stay in
//! the cache, and memory is read and written in step. What each step reads and writes is found out once per block, so
//! that going from one step to the next costs little more than a jump.

use super::arena::Arena;
use super::column::{binary_f32_body, rounded_to_bf16_body, unary_f32_body};
use super::compute::{Code, compute, round};
use super::exec::{Block, Points, Space};
use super::isa::{Isa, multiversion};
use super::lanes::{Kind, OperandSource, View, ViewMut};
use super::load::{BoundLoad, widen};
use super::plan::{Action, Location, TileStep};
use super::store::{BoundStore, narrow};
use super::strips::Strips;
use passhost_ir::Dtype;

/// Lanes of a vector, in a buffer, in an input or in an output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    pub(super) kind: Kind,
    /// One lane, repeated.
    pub(super) splat: bool,
    pub(super) pointer: *mut u8,
}

// SAFETY: a table of lanes is filled anew by the thread that uses it before each use.
unsafe impl Send for Lanes {}

impl Lanes {
    /// Lanes to read only.
    fn of(view: View<'_>, splat: bool) -> Lanes {
        let pointer = match view {
            View::Bool(lanes) => lanes.as_ptr().cast_mut(),
            View::I32(lanes) => lanes.as_ptr().cast_mut().cast(),
            View::I64(lanes) => lanes.as_ptr().cast_mut().cast(),
            View::F32(lanes) => lanes.as_ptr().cast_mut().cast(),
            View::F64(lanes) => lanes.as_ptr().cast_mut().cast(),
        };
        Lanes { kind: view.kind(), splat, pointer }
    }

    /// Lanes to read and write.
    fn of_mut(view: ViewMut<'_>, splat: bool) -> Lanes {
        let (kind, pointer) = match view {
            ViewMut::Bool(lanes) => (Kind::Bool, lanes.as_mut_ptr()),
            ViewMut::I32(lanes) => (Kind::I32, lanes.as_mut_ptr().cast()),
            ViewMut::I64(lanes) => (Kind::I64, lanes.as_mut_ptr().cast()),
            ViewMut::F32(lanes) => (Kind::F32, lanes.as_mut_ptr().cast()),
            ViewMut::F64(lanes) => (Kind::F64, lanes.as_mut_ptr().cast()),
        };
        Lanes { kind, splat, pointer }
    }

    /// # Safety
    /// The lane is at most one past the last of the storage.
    #[inline(always)]
    unsafe fn from(self, lane: usize) -> Lanes {
        // SAFETY: by this function's contract.
        Lanes { pointer: unsafe { self.pointer.add(lane * self.kind.size()) }, ..self }
    }

    /// # Safety
    /// There are `len` lanes, or one that is repeated, and nobody writes to them while the result is used.
    #[inline(always)]
    unsafe fn source<'a>(self, len: usize) -> OperandSource<'a> {
        let len = if self.splat { 1 } else { len };
        // SAFETY: by this function's contract; pointers are made from slices of lanes of this type.
        let view = unsafe {
            match self.kind {
                Kind::Bool => View::Bool(std::slice::from_raw_parts(self.pointer, len)),
                Kind::I32 => View::I32(std::slice::from_raw_parts(self.pointer.cast(), len)),
                Kind::I64 => View::I64(std::slice::from_raw_parts(self.pointer.cast(), len)),
                Kind::F32 => View::F32(std::slice::from_raw_parts(self.pointer.cast(), len)),
                Kind::F64 => View::F64(std::slice::from_raw_parts(self.pointer.cast(), len)),
            }
        };
        if self.splat { OperandSource::Splat(view, 0) } else { OperandSource::Lanes(view, 0) }
    }

    /// # Safety
    /// There are `len` lanes that may be written, and nobody else uses them while the result lives.
    #[inline(always)]
    unsafe fn target<'a>(self, len: usize) -> ViewMut<'a> {
        // SAFETY: by this function's contract; pointers are made from slices of lanes of this type.
        unsafe {
            match self.kind {
                Kind::Bool => ViewMut::Bool(std::slice::from_raw_parts_mut(self.pointer, len)),
                Kind::I32 => ViewMut::I32(std::slice::from_raw_parts_mut(self.pointer.cast(), len)),
                Kind::I64 => ViewMut::I64(std::slice::from_raw_parts_mut(self.pointer.cast(), len)),
                Kind::F32 => ViewMut::F32(std::slice::from_raw_parts_mut(self.pointer.cast(), len)),
                Kind::F64 => ViewMut::F64(std::slice::from_raw_parts_mut(self.pointer.cast(), len)),
            }
        }
    }
}

/// A step that is ready for the vectors of a block. Numbers of lanes are positions in the table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ready {
    /// The whole block lies in a buffer, from these lanes on.
    Filled { target: usize, all: Lanes },
    /// Elements that are lanes as they lie in memory: those of the whole block.
    InPlace { target: usize, all: Lanes },
    /// A load's elements from `first` on are converted, into a buffer.
    Widen { target: usize, buffer: Lanes, load: usize, first: usize },
    /// A computation, into a buffer.
    Compute { code: Code, round: Option<Dtype>, target: usize, buffer: Lanes, sources: [usize; 3], operands: usize },
    /// As `Compute`, straight into the output from these lanes on.
    ComputeInto { code: Code, round: Option<Dtype>, all: Lanes, sources: [usize; 3], operands: usize },
    /// An output's elements from `first` on are converted from lanes.
    Narrow { source: usize, store: usize, first: usize },
}

/// Working space, kept between blocks.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    steps: Vec<Ready>,
    /// Lanes by place: literals, row values, inner values.
    table: Vec<Lanes>,
    strips: Strips,
}

impl Vectors {
    /// Whether the last block ran in strips.
    #[cfg(test)]
    pub(super) fn ran_in_strips(&self) -> bool {
        self.strips.are_prepared()
    }
}

impl Space<'_> {
    /// Runs the last list of a schedule with [`vectors`](super::plan::Schedule::vectors). Returns `false`, having
    /// written nothing, if an output's elements do not lie side by side.
    ///
    /// # Safety
    /// No other thread computes any of these rows.
    pub(super) unsafe fn run_vectors(&self, arena: &mut Arena, steps: &[TileStep], block: Block) -> bool {
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
            Points::Inner { points, .. } if reads_rows(steps) => (points, block.count),
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
    fn fill_blocks(&self, arena: &mut Arena, steps: &[TileStep], block: Block) {
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
    unsafe fn make_ready(&self, arena: &mut Arena, steps: &[TileStep], block: Block, vectors: &mut Vectors) {
        let Vectors { steps: ready, table, .. } = vectors;
        table.clear();
        let splat_rows = matches!(block.points, Points::Inner { .. });
        table.extend(self.plan.consts.iter().map(|buffer| Lanes::of(buffer.view(), true)));
        // Mutable views, as buffers are written through these pointers.
        table.extend(arena.row.iter_mut().map(|slot| Lanes::of_mut(slot.buffer.view_mut(), splat_rows)));
        table.extend(arena.inner.iter_mut().map(|slot| Lanes::of_mut(slot.buffer.view_mut(), false)));
        for (row, slot) in arena.row.iter().enumerate() {
            // A row value may be elements of an input.
            if splat_rows && slot.alias.is_some() {
                table[self.plan.consts.len() + row] = Lanes::of(self.view(arena, Location::Row(row)), true);
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
                        let all = Lanes::of(self.loads[*load].lanes(first, block.lanes()), false);
                        Ready::InPlace { target, all }
                    }
                    Some(first) => Ready::Widen { target, buffer: table[target], load: *load, first },
                    None => Ready::Filled { target, all: table[target] },
                },
                Action::Compute(_) if step.spreads() => Ready::Filled { target, all: table[target] },
                Action::Compute(code) => match into {
                    Some((number, first)) => {
                        // SAFETY: the caller gives these rows to this thread alone.
                        let all = Lanes::of_mut(unsafe { self.stores[number].lanes(first, block.lanes()) }, false);
                        Ready::ComputeInto { code: *code, round, all, sources, operands }
                    }
                    None => {
                        let buffer = table[target];
                        Ready::Compute { code: *code, round, target, buffer, sources, operands }
                    }
                },
                Action::Store(store) => match self.stores[*store].dense(domain) {
                    Some(first) if into.is_none() => Ready::Narrow { source: sources[0], store: *store, first },
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
    steps: &'a [Ready],
    table: &'a mut [Lanes],
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
        space: &'a Space<'_>,
        steps: &'a [Ready],
        table: &'a mut [Lanes],
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
                Ready::Filled { target, all } | Ready::InPlace { target, all } => table[target] = all.from(at),
                // A buffer serves one value after the other: the last may have been an input's elements.
                Ready::Widen { target, buffer, load, first } => {
                    widen(isa, &loads[load], first + at, buffer.target(len));
                    table[target] = buffer;
                }
                Ready::Compute { code, round, target, buffer, sources, operands } => {
                    let sources = sources_of(table, sources, operands, len);
                    compute_lanes(isa, code, round, || buffer.target(len), &sources);
                    table[target] = buffer;
                }
                Ready::ComputeInto { code, round, all, sources, operands } => {
                    let sources = sources_of(table, sources, operands, len);
                    compute_lanes(isa, code, round, || all.from(at).target(len), &sources);
                }
                Ready::Narrow { source, store, first } => {
                    narrow(isa, &stores[store], first + at, table[source].source(len), len);
                }
            }
        }
    }
}

/// # Safety
/// As for [`Lanes::source`].
#[inline(always)]
unsafe fn sources_of<'a>(table: &[Lanes], sources: [usize; 3], operands: usize, len: usize) -> [OperandSource<'a>; 3] {
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
    if let (Code::Binary(op, Kind::F32), Some(Dtype::Bf16)) = (code, rounding)
        && rounded_to_bf16_body(op, target(), sources)
    {
        return;
    }
    let varies = matches!(sources[0], OperandSource::Lanes(..)) || matches!(sources[1], OperandSource::Lanes(..));
    match code {
        Code::Unary(op, Kind::F32) if varies => unary_f32_body(op, target(), sources),
        Code::Binary(op, Kind::F32) if varies => binary_f32_body(op, target(), sources),
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
