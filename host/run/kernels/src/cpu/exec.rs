//! Running the steps of a plan on one tile after the other.

use super::arena::Arena;
use super::bind::Binding;
use super::chain::{self, Chain, OPERANDS};
use super::compute::compute;
use super::halves::{GROUP, Instructions};
use super::isa::{Isa, multiversion};
use super::lanes::{lanes, lanes_mut, with_bits};
use super::load::Strip;
use super::plan::{Action, CpuPlan, Place, SPARE, Schedule, Step};
use super::reduce::{RowPart, reduce};
use passhost_ir::MAX_RANK;

/// Everything that tiles share.
pub(crate) struct Execution<'a> {
    pub(crate) isa: Isa,
    pub(crate) plan: &'a CpuPlan,
    pub(crate) schedule: &'a Schedule,
    pub(crate) binding: &'a Binding,
}

impl Execution<'_> {
    /// Runs the steps whose results are the same in all tiles.
    pub(crate) fn run_once(&self, arena: &mut Arena) {
        let once = &self.schedule.once;
        let rows = self.schedule.tile_rows;
        // SAFETY: none of these steps stores anything.
        unsafe { self.run_steps(arena, &once.row, &Strip::of_rows(0, rows)) };
        if !once.point.is_empty() {
            let strip =
                Strip { rows: self.schedule.strip_rows, points: self.plan.length as usize, ..Strip::of_rows(0, 0) };
            // SAFETY: as above.
            unsafe { self.run_steps(arena, &once.point, &strip) };
        }
    }

    /// Computes rows `row .. row + count`, at most as many as the schedule's tiles have.
    ///
    /// # Safety
    /// No other thread computes any of these rows.
    pub(crate) unsafe fn run_tile(&self, arena: &mut Arena, row: i64, count: usize) {
        let (length, strip) = (self.plan.length, self.schedule.strip);
        for segment in &self.schedule.segments {
            // SAFETY: the caller gives these rows to this thread alone, here and below.
            unsafe { self.run_steps(arena, &segment.row, &Strip::of_rows(row, count)) };
            if segment.point.is_empty() {
                continue;
            }
            if self.schedule.columns {
                for point in 0..length {
                    let strip = Strip { point, position: point, ..Strip::of_rows(row, count) };
                    // SAFETY: as above.
                    unsafe { self.run_steps(arena, &segment.point, &strip) };
                }
            } else if length as usize <= strip {
                let points = length as usize;
                for first_row in (0..count).step_by(self.schedule.strip_rows) {
                    let rows = self.schedule.strip_rows.min(count - first_row);
                    let number = (row + first_row as i64) * length;
                    let strip =
                        Strip { rows, points, first_row, first_lane: first_row * points, ..Strip::of_rows(number, 0) };
                    // SAFETY: as above.
                    unsafe { self.run_steps(arena, &segment.point, &strip) };
                }
            } else {
                for first_row in 0..count {
                    for position in (0..length).step_by(strip) {
                        let points = strip.min((length - position) as usize);
                        let number = (row + first_row as i64) * length + position;
                        let strip = Strip {
                            points,
                            position,
                            first_row,
                            first_lane: position as usize,
                            ..Strip::of_rows(number, 1)
                        };
                        // SAFETY: as above.
                        unsafe { self.run_steps(arena, &segment.point, &strip) };
                    }
                }
            }
        }
    }

    /// # Safety
    /// No other thread computes any of the strip's points.
    pub(super) unsafe fn run_steps(&self, arena: &mut Arena, steps: &[Step], strip: &Strip) {
        for step in steps {
            // SAFETY: the caller's promise is handed on.
            unsafe { self.run_step(arena, step, strip) };
        }
    }

    /// # Safety
    /// No other thread computes any of the strip's points.
    unsafe fn run_step(&self, arena: &mut Arena, step: &Step, strip: &Strip) {
        let len = strip.len();
        match step.action {
            Action::Store(number) => {
                let store = &self.binding.stores[number];
                store.fetch(&self.next(strip));
                // SAFETY: the caller gives these points to this thread alone.
                return unsafe { store.write(strip, source(arena, step.sources[0], strip, len)) };
            }
            Action::Load(number) if matches!(step.target, Place::Point(_)) && step.into.is_none() && len >= GROUP => {
                let load = &self.binding.loads[number];
                if let Some(bytes) = load.in_place(&self.binding.inputs, strip) {
                    load.fetch(&self.binding.inputs, &self.next(strip));
                    // SAFETY: the input is not written to during the run, and loads come before what reads them.
                    return unsafe { arena.borrow(step.target, bytes) };
                }
            }
            // The lanes of the first strip of a row serve all others.
            Action::Spread if strip.position > 0 && !self.schedule.columns => return,
            Action::Reduce(..) => return self.reduce(arena, step, strip),
            Action::Chain(chain) if chain.sums() => {
                // SAFETY: sums, and results that others read, are buffers of their own.
                let sums = unsafe { arena.lanes_mut(step.target, strip.first_row, strip.rows) };
                let out = step.places.map_or_else(Default::default, |place| {
                    // SAFETY: as above.
                    unsafe { arena.lanes_mut(place, first(place, strip), len) }
                });
                return self.chain(arena, (chain, step), strip, len, out, sums);
            }
            _ => {}
        }
        if let Some(number) = step.into.filter(|_| len >= GROUP) {
            let store = &self.binding.stores[number];
            // SAFETY: the caller gives these points to this thread alone, and nothing but this step writes them.
            if let Some(out) = unsafe { store.in_place(strip) } {
                store.fetch(&self.next(strip));
                return self.fill(arena, step, strip, len, out);
            }
        }
        let own = !step.sources.iter().any(|place| arena.at(*place).borrowed);
        let vectors = own && matches!(step.action, Action::Compute(_) | Action::Chain(_));
        let filled = if vectors { len.next_multiple_of(SPARE) } else { len };
        // SAFETY: the plan gives a step's target another buffer than its sources.
        let out = unsafe { arena.lanes_mut(step.target, first(step.target, strip), filled) };
        self.fill(arena, step, strip, filled, out);
        if let Some(number) = step.into {
            // SAFETY: the caller gives these points to this thread alone.
            unsafe { self.binding.stores[number].write(strip, source(arena, step.target, strip, len)) };
        }
    }

    /// The strip that most likely follows.
    fn next(&self, strip: &Strip) -> Strip {
        match self.schedule.columns {
            true => Strip { point: strip.point + 1, ..*strip },
            false => Strip { number: strip.number + strip.len() as i64, ..*strip },
        }
    }

    /// Fills the lanes of a step's target.
    #[inline(always)]
    fn fill(&self, arena: &mut Arena, step: &Step, strip: &Strip, len: usize, out: &mut [u8]) {
        match step.action {
            Action::Compute(code) => {
                let mut sources: [&[u8]; 3] = [&[]; 3];
                for (at, place) in sources.iter_mut().zip(&step.sources) {
                    *at = source(arena, *place, strip, len);
                }
                compute(self.isa, code, step.round, out, &sources);
            }
            Action::Chain(chain) => self.chain(arena, (chain, step), strip, len, out, &mut []),
            Action::Spread => {
                let rows = source(arena, step.sources[0], strip, strip.rows);
                spread(self.isa, arena.at(step.target).size, out, rows, strip.points);
            }
            Action::Load(number) => self.load(arena, number, step, strip, out),
            Action::Positions(number) => {
                let (access, lanes) = (&self.binding.positions[number], lanes_mut::<i64>(out));
                let stride = access.nest.stride();
                access.runs(strip, |done, count, place| {
                    let mut position = place.unwrap_or(0);
                    for lane in &mut lanes[done..done + count] {
                        *lane = position;
                        position = position.wrapping_add(stride);
                    }
                });
            }
            Action::Scan(op, dtype, number) => {
                let mut carry = arena.carries[number];
                let source = source(arena, step.sources[0], strip, len);
                carry.scan(op, dtype, out, source, strip.position, self.plan.last_inner);
                arena.carries[number] = carry;
            }
            Action::Reduce(..) | Action::Store(_) => unreachable!("they have no lanes to fill"),
        }
    }

    fn chain(
        &self,
        arena: &Arena,
        (chain, step): (Chain, &Step),
        strip: &Strip,
        len: usize,
        out: &mut [u8],
        sums: &mut [u8],
    ) {
        let mut sources: [&[u8]; OPERANDS] = [&[]; OPERANDS];
        let mut by_row = chain.sums();
        for (at, place) in sources.iter_mut().zip(&step.sources) {
            by_row |= matches!(place, Place::Row(_));
            let one = matches!(place, Place::Row(_) | Place::Const(_));
            *at = source(arena, *place, strip, if one { strip.rows } else { len });
        }
        let size = if by_row { (strip.rows, strip.points) } else { (1, len) };
        chain::run(self.isa, chain, out, (sums, strip.position == 0), &sources[..step.sources.len()], size);
    }

    fn load(&self, arena: &Arena, number: usize, step: &Step, strip: &Strip, out: &mut [u8]) {
        let rows = step.sources.iter().all(|place| matches!(place, Place::Row(_) | Place::Const(_)));
        let by_row = rows && strip.points > 1;
        let len = if by_row { strip.rows } else { strip.len() };
        // The verifier lets no input of more dimensions through.
        let mut indices: [&[u8]; MAX_RANK] = [&[]; MAX_RANK];
        for (index, place) in indices.iter_mut().zip(&step.sources) {
            *index = source(arena, *place, strip, len);
        }
        self.binding.loads[number].fill(&self.binding.inputs, strip, &indices[..step.sources.len()], by_row, out);
    }

    fn reduce(&self, arena: &mut Arena, step: &Step, strip: &Strip) {
        let Action::Reduce(op, dtype) = step.action else { return };
        let mut rows = |place: Place| {
            // SAFETY: sums and places are buffers of their own.
            unsafe { arena.lanes_mut(place, strip.first_row, strip.rows) }
        };
        let sums = rows(step.target);
        let places = step.places.map_or_else(Default::default, rows);
        let part = RowPart { points: strip.points, position: strip.position };
        reduce(self.isa, op, dtype, sums, places, source(arena, step.sources[0], strip, strip.len()), part);
    }
}

/// The first lane of a strip at a place.
#[inline(always)]
fn first(place: Place, strip: &Strip) -> usize {
    match place {
        Place::Row(_) => strip.first_row,
        Place::Kept(_) => strip.first_lane,
        Place::Const(_) | Place::Point(_) => 0,
    }
}

/// So many lanes of a place, from the first of a strip on.
#[inline(always)]
fn source<'a>(arena: &'a Arena, place: Place, strip: &Strip, len: usize) -> &'a [u8] {
    arena.lanes(place, first(place, strip), len)
}

multiversion! { fn spread(size: usize, out: &mut [u8], rows: &[u8], points: usize) = spread_body; }

#[inline(always)]
fn spread_body<I: Instructions>(size: usize, out: &mut [u8], rows: &[u8], points: usize) {
    with_bits!(size, B => {
        for (out, row) in lanes_mut::<B>(out).chunks_exact_mut(points).zip(lanes::<B>(rows)) {
            out.fill(*row);
        }
    });
}
