//! Running a list of cheap steps on a *strip* of points after the other.
//!
//! A kernel that adds, multiplies and rounds a few floats should cost what its memory does. So such a list, all of it on
//! `f32` lanes, is rewritten for the processor: loads become operands of the computations that read them, stores targets
//! of those that they read, and each computation is one loop over registers, compiled for its operation and the types of
//! its operands and its target. What one computation gives to another stays in the first-level cache.

use super::compute::{Code, exact_reciprocal};
use super::isa::Isa;
use super::lanes::LaneKind;
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Portable, Simd};
use super::tile_space::TileSpace;
use super::vector_steps::{VectorLanes, VectorStep};
use half::{bf16, f16};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Unary};

/// Points of a strip: a multiple of the lanes of any [`Simd`].
const POINTS: usize = 256;

/// Values that are held for a strip, at most: they share the first-level cache with what is read and written.
const HELD: usize = 20;

/// Elements of an input or an output, from the first of a block on.
#[derive(Debug, Clone, Copy)]
struct StripSpan {
    dtype: Dtype,
    pointer: *mut u8,
}

/// A value, an operand of computations.
#[derive(Debug, Clone, Copy)]
enum StripValue {
    Load(StripSpan),
    /// One lane for all rows.
    Literal(f32),
    /// One lane for each row, from the first of a block on.
    Rows(*const f32),
    Compute {
        operation: u8,
        operands: [usize; 2],
        rounded: bool,
    },
}

/// What a loop reads or writes.
#[derive(Debug, Clone, Copy)]
enum LoopOperand {
    Held(usize),
    Elements(StripSpan),
}

/// A loop over a strip.
#[derive(Debug, Clone, Copy)]
struct Loop {
    run: StripLoop,
    target: LoopOperand,
    operands: [LoopOperand; 2],
}

/// A list of steps on strips, kept between blocks for its storage.
#[derive(Debug, Default)]
pub(super) struct Strips {
    values: Vec<StripValue>,
    /// How often each value is read, by computations and stores.
    reads: Vec<usize>,
    /// What is written, and the value.
    stores: Vec<(StripSpan, usize)>,
    /// By position in the table of lanes, the value that is there at present.
    present: Vec<Option<usize>>,
    /// The type of 16 bits that occurs: `f16` or `bf16`, not both.
    narrow: Option<Dtype>,
    /// Where each value is found once it is computed.
    places: Vec<LoopOperand>,
    loops: Vec<Loop>,
    held: Vec<HeldLanes>,
}

/// The lanes of a value that is held. They begin with a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct HeldLanes([f32; POINTS]);

// SAFETY: the pointers are those of a block, and are found anew by the thread that uses them before each use.
unsafe impl Send for Strips {}

/// What steps refer to.
struct Strip<'a> {
    space: &'a TileSpace<'a>,
    table: &'a [VectorLanes],
    lanes: usize,
}

impl Strips {
    /// Rewrites a block's steps; `false` if one of them is no cheap step on `f32` lanes, or values are too many.
    pub(super) fn prepare(
        &mut self,
        space: &TileSpace<'_>,
        steps: &[VectorStep],
        table: &[VectorLanes],
        lanes: usize,
    ) -> bool {
        self.values.clear();
        self.reads.clear();
        self.stores.clear();
        self.present.clear();
        self.present.resize(table.len(), None);
        self.narrow = None;
        self.loops.clear();
        let block = Strip { space, table, lanes };
        steps.iter().all(|step| self.note(&block, *step).is_some()) && self.list_loops(space.isa).is_some()
    }

    /// Whether the last call of [`Strips::prepare`] went through.
    #[cfg(test)]
    pub(super) fn are_prepared(&self) -> bool {
        !self.loops.is_empty()
    }

    /// Notes a step's value or store.
    fn note(&mut self, block: &Strip<'_>, step: VectorStep) -> Option<()> {
        match step {
            VectorStep::Filled { target, all } | VectorStep::InPlace { target, all } => {
                self.present[target] = Some(self.push(StripValue::Load(f32_elements(all)?)));
            }
            VectorStep::Widen { target, load, first, .. } => {
                let view = &block.space.loads[load].view;
                let range = first..first + block.lanes;
                let pointer = match view.dtype() {
                    Dtype::F16 => view.elements::<f16>()[range].as_ptr().cast::<u8>(),
                    Dtype::Bf16 => view.elements::<bf16>()[range].as_ptr().cast::<u8>(),
                    _ => return None,
                };
                let elements = self.elements(view.dtype(), pointer.cast_mut())?;
                self.present[target] = Some(self.push(StripValue::Load(elements)));
            }
            VectorStep::Compute { code, round, target, sources, operands, .. } => {
                self.present[target] = Some(self.computation(block, code, round, &sources[..operands])?);
            }
            VectorStep::ComputeInto { code, round, all, sources, operands } => {
                let value = self.computation(block, code, round, &sources[..operands])?;
                self.store(f32_elements(all)?, value);
            }
            VectorStep::Narrow { source, store, first } => {
                let value = self.operand(block, source)?;
                let view = &block.space.stores[store].view;
                // SAFETY: these elements are the block's, which belongs to this thread.
                let pointer = unsafe {
                    match view.dtype() {
                        Dtype::F16 => view.run_mut::<f16>(first, block.lanes).as_mut_ptr().cast::<u8>(),
                        Dtype::Bf16 => view.run_mut::<bf16>(first, block.lanes).as_mut_ptr().cast::<u8>(),
                        Dtype::F32 => view.run_mut::<f32>(first, block.lanes).as_mut_ptr().cast::<u8>(),
                        _ => return None,
                    }
                };
                let elements = self.elements(view.dtype(), pointer)?;
                self.store(elements, value);
            }
        }
        Some(())
    }

    fn push(&mut self, value: StripValue) -> usize {
        self.values.push(value);
        self.reads.push(0);
        self.values.len() - 1
    }

    fn store(&mut self, elements: StripSpan, value: usize) {
        self.reads[value] += 1;
        self.stores.push((elements, value));
    }

    fn elements(&mut self, dtype: Dtype, pointer: *mut u8) -> Option<StripSpan> {
        (dtype == Dtype::F32 || *self.narrow.get_or_insert(dtype) == dtype).then_some(StripSpan { dtype, pointer })
    }

    fn computation(&mut self, block: &Strip<'_>, code: Code, round: Option<Dtype>, sources: &[usize]) -> Option<usize> {
        let a = self.operand(block, *sources.first()?)?;
        let b = self.operand(block, *sources.last()?)?;
        let (operation, operands) = match code {
            Code::Unary(Unary::Neg, LaneKind::F32) => (MUL, [a, self.push(StripValue::Literal(-1.0))]),
            Code::Binary(Binary::Add, LaneKind::F32) => (ADD, [a, b]),
            Code::Binary(Binary::Sub, LaneKind::F32) => (SUB, [a, b]),
            Code::Binary(Binary::Mul, LaneKind::F32) => (MUL, [a, b]),
            Code::Binary(Binary::Div, LaneKind::F32) => match self.values[b] {
                StripValue::Literal(divisor) if exact_reciprocal(divisor).is_some() => {
                    (MUL, [a, self.push(StripValue::Literal(1.0 / divisor))])
                }
                _ => (DIV, [a, b]),
            },
            Code::Binary(Binary::Min, LaneKind::F32) => (MIN, [a, b]),
            Code::Binary(Binary::Max, LaneKind::F32) => (MAX, [a, b]),
            _ => return None,
        };
        if round.is_some_and(|dtype| *self.narrow.get_or_insert(dtype) != dtype) {
            return None;
        }
        for operand in operands {
            self.reads[operand] += 1;
        }
        Some(self.push(StripValue::Compute { operation, operands, rounded: round.is_some() }))
    }

    /// The value that a step reads: another step's, a literal or a row value.
    fn operand(&mut self, block: &Strip<'_>, position: usize) -> Option<usize> {
        if self.present[position].is_none() {
            let lanes = block.table[position];
            if !lanes.splat || lanes.kind != LaneKind::F32 {
                return None;
            }
            let pointer = lanes.pointer.cast_const().cast::<f32>();
            let literal = position < block.space.plan.consts.len();
            // SAFETY: a literal has one lane.
            let value = if literal { StripValue::Literal(unsafe { *pointer }) } else { StripValue::Rows(pointer) };
            self.present[position] = Some(self.push(value));
        }
        self.present[position]
    }

    /// Lists the loops, by which each value is read from memory or computed once, and written where it is stored.
    fn list_loops(&mut self, isa: Isa) -> Option<()> {
        self.places.clear();
        let mut held = 0;
        for value in 0..self.values.len() {
            let mut hold = || {
                held += 1;
                LoopOperand::Held(held - 1)
            };
            let once = self.reads[value] == 1;
            let stored = self.stores.iter().find(|(_, stored)| *stored == value).map(|(elements, _)| *elements);
            let place = match self.values[value] {
                StripValue::Literal(_) | StripValue::Rows(_) => hold(),
                StripValue::Load(elements) if once => LoopOperand::Elements(elements),
                StripValue::Load(elements) => {
                    let place = hold();
                    self.push_loop(isa, COPY, [LoopOperand::Elements(elements); 2], false, place);
                    place
                }
                StripValue::Compute { operation, operands, rounded } => {
                    let place = stored.filter(|_| once).map_or_else(hold, LoopOperand::Elements);
                    let operands = operands.map(|operand| self.places[operand]);
                    self.push_loop(isa, operation, operands, rounded, place);
                    place
                }
            };
            self.places.push(place);
            let computed = matches!(self.values[value], StripValue::Compute { .. });
            if once && computed {
                continue;
            }
            for at in 0..self.stores.len() {
                let (elements, stored) = self.stores[at];
                if stored == value {
                    self.push_loop(isa, COPY, [place; 2], false, LoopOperand::Elements(elements));
                }
            }
        }
        if held > HELD {
            self.loops.clear();
            return None;
        }
        self.held.resize(held, HeldLanes([0.0; POINTS]));
        Some(())
    }

    fn push_loop(&mut self, isa: Isa, operation: u8, operands: [LoopOperand; 2], rounded: bool, target: LoopOperand) {
        let narrow =
            |place: LoopOperand| matches!(place, LoopOperand::Elements(elements) if elements.dtype != Dtype::F32);
        let form = match (narrow(target), rounded) {
            (true, _) => NARROW,
            (false, true) => ROUNDED,
            (false, false) => WIDE,
        };
        let bf16 = self.narrow == Some(Dtype::Bf16);
        let run = choose(isa, bf16, operation, operands.map(narrow), form);
        self.loops.push(Loop { run, target, operands });
    }

    /// Runs the loops on `rows` rows of `points` points each.
    ///
    /// # Safety
    /// The steps were prepared for a block of `rows * points` lanes whose storage nobody else uses, with as many row
    /// values as rows.
    pub(super) unsafe fn run(&mut self, rows: usize, points: usize) {
        let held: *mut HeldLanes = self.held.as_mut_ptr();
        for row in 0..rows {
            for (value, place) in self.values.iter().zip(&self.places) {
                let repeated = match value {
                    StripValue::Literal(value) => *value,
                    // SAFETY: there are as many lanes as rows.
                    StripValue::Rows(values) => unsafe { *values.add(row) },
                    _ => continue,
                };
                if let LoopOperand::Held(number) = place {
                    // SAFETY: `list_loops` made as many as it numbered.
                    unsafe { (*held.add(*number)).0.fill(repeated) };
                }
            }
            let (start, end) = (row * points, (row + 1) * points);
            for at in (start..end).step_by(POINTS) {
                // SAFETY: as above; elements are those of the block's lanes, and `at` is one of them.
                let pointer = |place: LoopOperand| unsafe {
                    match place {
                        LoopOperand::Held(number) => held.add(number).cast::<u8>(),
                        LoopOperand::Elements(StripSpan { dtype, pointer }) => pointer.add(at * dtype.size() as usize),
                    }
                };
                for each in &self.loops {
                    let [a, b] = each.operands.map(pointer);
                    // SAFETY: `choose` gave a loop for this machine and these types; all operands and targets have as
                    // many lanes as the strip.
                    unsafe { (each.run)(pointer(each.target), a, b, POINTS.min(end - at)) };
                }
            }
        }
    }
}

fn f32_elements(lanes: VectorLanes) -> Option<StripSpan> {
    let there = lanes.kind == LaneKind::F32 && !lanes.splat;
    there.then_some(StripSpan { dtype: Dtype::F32, pointer: lanes.pointer })
}

/// Computes a strip's lanes: target, two operands, how many.
///
/// # Safety
/// The operands can be read and the target written for as many lanes, in the types that the loop was chosen for; the
/// target overlaps neither operand.
type StripLoop = unsafe fn(*mut u8, *const u8, *const u8, usize);

// Operations, as parameters of the loops.
const COPY: u8 = 0;
const ADD: u8 = 1;
const SUB: u8 = 2;
const MUL: u8 = 3;
const DIV: u8 = 4;
const MIN: u8 = 5;
const MAX: u8 = 6;

// Forms of a loop's target: `f32`, rounded to the narrow type or not, or the narrow type.
const WIDE: u8 = 0;
const ROUNDED: u8 = 1;
const NARROW: u8 = 2;

/// An instruction set's loops.
trait Loops {
    /// The loop for an operation, for operands that are of the narrow type or not, and for a form of the target. The
    /// narrow type is `bf16` or else `f16`.
    fn of<const BF16: bool, const OP: u8, const A: bool, const B: bool, const FORM: u8>() -> StripLoop;
}

macro_rules! loops {
    ($simd:ty $(, $features:literal)?) => {
        impl Loops for $simd {
            fn of<const BF16: bool, const OP: u8, const A: bool, const B: bool, const FORM: u8>() -> StripLoop {
                $(#[target_feature(enable = $features)])?
                unsafe fn run<const BF16: bool, const OP: u8, const A: bool, const B: bool, const FORM: u8>(
                    target: *mut u8,
                    a: *const u8,
                    b: *const u8,
                    len: usize,
                ) {
                    // SAFETY: the contract is the same.
                    unsafe { compute::<$simd, BF16, OP, A, B, FORM>(target, a, b, len) }
                }
                run::<BF16, OP, A, B, FORM>
            }
        }
    };
}
loops!(Portable);
#[cfg(target_arch = "x86_64")]
loops!(Avx2, "avx2,fma,f16c");
#[cfg(target_arch = "x86_64")]
loops!(Avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c");

fn choose(isa: Isa, bf16: bool, operation: u8, narrow: [bool; 2], form: u8) -> StripLoop {
    fn by_type<L: Loops>(bf16: bool, operation: u8, narrow: [bool; 2], form: u8) -> StripLoop {
        if bf16 { by_form::<L, true>(operation, narrow, form) } else { by_form::<L, false>(operation, narrow, form) }
    }
    fn by_form<L: Loops, const BF16: bool>(operation: u8, narrow: [bool; 2], form: u8) -> StripLoop {
        match form {
            WIDE => by_operands::<L, BF16, WIDE>(operation, narrow),
            ROUNDED => by_operands::<L, BF16, ROUNDED>(operation, narrow),
            _ => by_operands::<L, BF16, NARROW>(operation, narrow),
        }
    }
    fn by_operands<L: Loops, const BF16: bool, const FORM: u8>(operation: u8, narrow: [bool; 2]) -> StripLoop {
        match narrow {
            [false, false] => by_operation::<L, BF16, FORM, false, false>(operation),
            [false, true] => by_operation::<L, BF16, FORM, false, true>(operation),
            [true, false] => by_operation::<L, BF16, FORM, true, false>(operation),
            [true, true] => by_operation::<L, BF16, FORM, true, true>(operation),
        }
    }
    fn by_operation<L: Loops, const BF16: bool, const FORM: u8, const A: bool, const B: bool>(
        operation: u8,
    ) -> StripLoop {
        match operation {
            COPY => L::of::<BF16, COPY, A, B, FORM>(),
            ADD => L::of::<BF16, ADD, A, B, FORM>(),
            SUB => L::of::<BF16, SUB, A, B, FORM>(),
            MUL => L::of::<BF16, MUL, A, B, FORM>(),
            DIV => L::of::<BF16, DIV, A, B, FORM>(),
            MIN => L::of::<BF16, MIN, A, B, FORM>(),
            _ => L::of::<BF16, MAX, A, B, FORM>(),
        }
    }
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => by_type::<Avx512>(bf16, operation, narrow, form),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => by_type::<Avx2>(bf16, operation, narrow, form),
        Isa::Portable => by_type::<Portable>(bf16, operation, narrow, form),
    }
}

/// # Safety
/// As for [`StripLoop`]; the machine has the instruction set of `S`.
#[inline(always)]
unsafe fn compute<S: Simd, const BF16: bool, const OP: u8, const A: bool, const B: bool, const FORM: u8>(
    target: *mut u8,
    a: *const u8,
    b: *const u8,
    len: usize,
) {
    let size = |narrow: bool| if narrow { 2 } else { 4 };
    // SAFETY: lanes below `len` can be read and written. The last lanes, if they fill no vector, are computed in a vector
    // of their own, of which only they are copied.
    unsafe {
        let vectors = len / S::LANES * S::LANES;
        let mut at = 0;
        while at < vectors {
            let (a, b) = (a.add(at * size(A)), b.add(at * size(B)));
            compute_vector::<S, BF16, OP, A, B, FORM>(target.add(at * size(FORM == NARROW)), a, b);
            at += S::LANES;
        }
        if vectors < len {
            let (mut last_a, mut last_b, mut last) = ([0u8; 64], [0u8; 64], [0u8; 64]);
            let rest = len - vectors;
            a.add(vectors * size(A)).copy_to_nonoverlapping(last_a.as_mut_ptr(), rest * size(A));
            b.add(vectors * size(B)).copy_to_nonoverlapping(last_b.as_mut_ptr(), rest * size(B));
            compute_vector::<S, BF16, OP, A, B, FORM>(last.as_mut_ptr(), last_a.as_ptr(), last_b.as_ptr());
            let (target, size) = (target.add(vectors * size(FORM == NARROW)), size(FORM == NARROW));
            last.as_ptr().copy_to_nonoverlapping(target, rest * size);
        }
    }
}

/// # Safety
/// As for [`compute`], for the lanes of one vector.
#[inline(always)]
unsafe fn compute_vector<S: Simd, const BF16: bool, const OP: u8, const A: bool, const B: bool, const FORM: u8>(
    target: *mut u8,
    a: *const u8,
    b: *const u8,
) {
    // SAFETY: by this function's contract.
    unsafe {
        let a = load::<S, BF16, A>(a);
        let b = if OP == COPY { a } else { load::<S, BF16, B>(b) };
        let result = match OP {
            COPY => a,
            ADD => a.add(b),
            SUB => a.sub(b),
            MUL => a.mul(b),
            DIV => a.div(b),
            MIN => a.min(b),
            _ => a.max(b),
        };
        match (FORM, BF16) {
            (WIDE, _) => result.store_f32(target.cast()),
            (ROUNDED, false) => result.round_to_f16().store_f32(target.cast()),
            (ROUNDED, true) => result.round_to_bf16().store_f32(target.cast()),
            (_, false) => result.store_f16(target.cast()),
            (_, true) => result.store_bf16(target.cast()),
        }
    }
}

/// # Safety
/// As for [`compute`], for the lanes of one vector.
#[inline(always)]
unsafe fn load<S: Simd, const BF16: bool, const NARROW: bool>(elements: *const u8) -> S {
    // SAFETY: by this function's contract.
    unsafe {
        match (NARROW, BF16) {
            (false, _) => S::load_f32(elements.cast()),
            (true, false) => S::load_f16(elements.cast()),
            (true, true) => S::load_bf16(elements.cast()),
        }
    }
}
