//! From a verified kernel to steps over block buffers.
//!
//! The plan splits the axes into *row* axes and *inner* axes, and visits the points in tiles: some rows with all their
//! inner points, or one row in chunks, or some rows at one inner point after the other. For a kernel that reduces, the
//! inner axes are the reduce axes. For a map they are the axes along which costly values stay the same (a gate that is
//! broadcast over an image), or there are none.
//!
//! A *segment* is what lies between two reductions: steps on rows, then steps on inner points. In chunks, a segment
//! computes anew the inner values that it needs, as those of the segment before are gone.

mod segments;

use super::axes::split_axes;
use super::compute::Code;
use super::index::IndexProgram;
use super::lanes::{Buffer, LaneKind};
use crate::access::{AxisSet, IndexForm, KernelAnalysis};
use passhost_ir::kernel::{IndexId, Op, PaddingMode, ReduceOp, Reg, ScanOp};
use passhost_ir::{Dtype, Kernel};

/// Where a value lives while a tile is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Location {
    /// A literal: one lane.
    Const(usize),
    /// One lane per row.
    Row(usize),
    /// One lane per inner point of each row.
    Inner(usize),
}

/// What a step does.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Compute(Code),
    /// Reads an input: a position in [`CpuPlan::loads`].
    Load(usize),
    /// Evaluates an index expression: a position in [`CpuPlan::indices`].
    Index(usize),
    /// Reduces to a row value, by way of the partial result of this number.
    Reduce(ReduceOp, usize),
    /// Scans, with the carry of this number.
    Scan(ScanOp, usize),
    /// Writes an output: a position in the kernel's stores.
    Store(usize),
}

/// One step: reads `sources`, writes `target`.
#[derive(Debug, Clone)]
pub(crate) struct TileStep {
    pub(crate) action: Action,
    /// Where the result goes; a store has none and names its source.
    pub(crate) target: Location,
    pub(crate) sources: Vec<Location>,
    /// The narrow float type that a computation's `f32` lanes are rounded to in place.
    pub(crate) round: Option<Dtype>,
    /// Set for a computation that only one store reads, and for that store: where memory allows, the result is computed
    /// into the output at once, and the store has nothing left to do.
    pub(crate) into: Option<usize>,
}

impl TileStep {
    /// Whether it repeats a row value or a literal in many lanes.
    pub(crate) fn spreads(&self) -> bool {
        matches!(self.action, Action::Compute(Code::Copy(_))) && !matches!(self.sources[0], Location::Inner(_))
    }
}

/// Steps on rows, then steps on inner points.
#[derive(Debug, Clone, Default)]
pub(crate) struct Segment {
    pub(crate) row: Vec<TileStep>,
    pub(crate) inner: Vec<TileStep>,
}

/// How the points are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VisitMode {
    /// This many rows with all their inner points.
    Tiles(usize),
    /// One row, this many inner points at a time.
    Chunks(usize),
    /// This many rows, one inner point of each at a time.
    Columns(usize),
}

/// A load, in terms of the kernel's axes.
#[derive(Debug, Clone)]
pub(crate) struct LoadPlan {
    pub(crate) input: usize,
    pub(crate) index: Vec<IndexId>,
    pub(crate) program: IndexProgram,
    /// One lane with the padding; `None` where indices are clamped.
    pub(crate) pad: Option<Buffer>,
    /// Whether it ranges over the inner axes too.
    pub(crate) inner: bool,
    /// Whether all indices are affine and in bounds everywhere.
    pub(crate) plain: bool,
}

/// The steps of one mode, with the buffers they need.
#[derive(Debug, Clone)]
pub(crate) struct CpuSchedule {
    pub(crate) mode: VisitMode,
    pub(crate) segments: Vec<Segment>,
    /// Whether the last list of steps only loads, computes and stores. Its loads come first, nothing else reads its
    /// values, and it may run in [vectors](super::vectors).
    pub(crate) vectors: bool,
    pub(crate) row_slots: Vec<LaneKind>,
    pub(crate) inner_slots: Vec<LaneKind>,
}

/// A kernel made ready.
#[derive(Debug, Clone)]
pub(crate) struct CpuPlan {
    /// Row axes, outermost first, in the order of the visit.
    pub(crate) row_axes: Vec<usize>,
    /// Inner axes, outermost first.
    pub(crate) inner_axes: Vec<usize>,
    /// Extents of all axes.
    pub(crate) extents: Vec<i64>,
    pub(crate) rows: i64,
    /// Inner points of a row.
    pub(crate) length: i64,
    /// Extent of the last inner axis.
    pub(crate) last_inner: i64,
    /// The form of each index expression.
    pub(crate) forms: Vec<IndexForm>,
    pub(crate) loads: Vec<LoadPlan>,
    pub(crate) indices: Vec<IndexProgram>,
    pub(crate) consts: Vec<Buffer>,
    pub(crate) partials: usize,
    pub(crate) carries: Vec<(ScanOp, LaneKind)>,
    pub(crate) schedule: CpuSchedule,
    /// The same in [`VisitMode::Columns`], for a kernel that reduces short of scans.
    pub(crate) columns: Option<CpuSchedule>,
    /// Steps per point, roughly.
    pub(crate) cost: u64,
    pub(crate) tuning: BlockSizes,
}

/// Sizes that decide how points are visited.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockSizes {
    /// Lanes that a block aims at: long enough to hide what a step costs, short enough for the cache nearest the core.
    pub(crate) block: usize,
    /// Lanes of a vector: buffers this long stay in the cache nearest the core.
    pub(crate) vector: usize,
    /// Lanes of a block that is treated vector by vector.
    pub(crate) vector_block: usize,
    /// Bytes of inner buffers that may be held for whole rows: they should stay in the second-level cache.
    pub(crate) tile_bytes: usize,
    /// Rows shorter than this get row operands spread into a buffer; in longer ones each row is a loop of its own.
    pub(crate) spread_below: i64,
    /// Whether [`VisitMode::Columns`] is used wherever it can be, not only where memory asks for it.
    pub(crate) always_columns: bool,
    /// Steps on single points from which on another thread is worth waking.
    pub(crate) parallel_cost: u64,
}

impl Default for BlockSizes {
    fn default() -> BlockSizes {
        BlockSizes {
            block: 2048,
            vector: 1024,
            vector_block: 8192,
            tile_bytes: 256 << 10,
            spread_below: 256,
            always_columns: false,
            parallel_cost: 200_000,
        }
    }
}

impl CpuPlan {
    /// The plan of a kernel that [`verify`](passhost_ir::kernel::verify) let through.
    pub(crate) fn new(kernel: &Kernel, tuning: BlockSizes) -> CpuPlan {
        let analysis = KernelAnalysis::new(kernel);
        let (row_axes, inner_axes) = split_axes(kernel, &analysis);
        let extents: Vec<i64> = kernel.parallel.iter().chain(&kernel.reduce).copied().collect();
        let product = |axes: &[usize]| axes.iter().map(|axis| extents[*axis]).product::<i64>();
        let mut builder = PlanBuilder {
            kernel,
            tuning,
            analysis: &analysis,
            inner: inner_axes.iter().fold(0, |set, axis| set | 1 << axis),
            length: product(&inner_axes),
            loads: vec![],
            indices: vec![],
            consts: vec![],
            kinds: vec![],
            partials: 0,
            carries: vec![],
            nodes: vec![],
        };
        builder.build();
        let (rows, length) = (product(&row_axes), builder.length);
        let schedule = builder.schedule(rows);
        let columns = builder.columns();
        CpuPlan {
            rows,
            length,
            last_inner: inner_axes.last().map_or(1, |axis| extents[*axis]),
            row_axes,
            inner_axes,
            extents,
            loads: builder.loads,
            indices: builder.indices,
            consts: builder.consts,
            partials: builder.partials,
            carries: builder.carries,
            cost: schedule
                .segments
                .iter()
                .map(|s| if s.inner.is_empty() { s.row.len() } else { s.inner.len() })
                .sum::<usize>() as u64,
            schedule,
            columns,
            forms: analysis.forms,
            tuning,
        }
    }
}

/// A step before its values have buffers: places are numbers of virtual values.
struct StepNode {
    step: TileStep,
    /// Reductions that must be finished before.
    phase: usize,
    inner: bool,
}

struct PlanBuilder<'a> {
    kernel: &'a Kernel,
    tuning: BlockSizes,
    analysis: &'a KernelAnalysis,
    inner: AxisSet,
    length: i64,
    loads: Vec<LoadPlan>,
    indices: Vec<IndexProgram>,
    consts: Vec<Buffer>,
    /// The lanes of each virtual value.
    kinds: Vec<LaneKind>,
    partials: usize,
    carries: Vec<(ScanOp, LaneKind)>,
    nodes: Vec<StepNode>,
}

impl PlanBuilder<'_> {
    /// Lists the steps in the order of the body.
    fn build(&mut self) {
        let kernel = self.kernel;
        let stored_only = self.stored_only();
        let mut places: Vec<Location> = Vec::with_capacity(kernel.body.len());
        let mut phases: Vec<usize> = vec![];
        for (at, inst) in kernel.body.iter().enumerate() {
            let Some(kind) = LaneKind::of(inst.dtype).filter(|_| self.analysis.needed[at]) else {
                places.push(Location::Const(usize::MAX));
                continue;
            };
            let read = |regs: &[Reg]| regs.iter().map(|reg| places[reg.0 as usize]).collect::<Vec<_>>();
            let operands = inst.op.operands();
            let sources = read(&operands);
            let gathered = read(&self.analysis.gathers[at]);
            let inner = self.analysis.depends[at] & self.inner != 0;
            let kind_of = |reg: &Reg| LaneKind::of(kernel.body[reg.0 as usize].dtype).unwrap_or(kind);
            let operand_kind = operands.last().map_or(kind, kind_of);
            let place = match &inst.op {
                Op::Const(scalar) => {
                    self.consts.extend(Buffer::literal(inst.dtype, *scalar));
                    Location::Const(self.consts.len() - 1)
                }
                Op::Index(id) => {
                    self.indices.push(IndexProgram::new(kernel, &[*id]));
                    self.push(&mut phases, Action::Index(self.indices.len() - 1), kind, inner, gathered)
                }
                Op::Load { input, index, padding } => {
                    let decl = &kernel.inputs[*input as usize];
                    let extents: Vec<i64> = kernel.parallel.iter().chain(&kernel.reduce).copied().collect();
                    let plain = index.iter().zip(&decl.shape).all(|(id, size)| {
                        self.analysis.forms[id.0 as usize].affine.as_ref().is_some_and(|a| a.within(&extents, *size))
                    });
                    let pad = match padding {
                        PaddingMode::Pad(scalar) => Buffer::literal(decl.dtype, *scalar),
                        PaddingMode::Clamp => None,
                    };
                    let program = IndexProgram::new(kernel, index);
                    let input = *input as usize;
                    self.loads.push(LoadPlan { input, index: index.clone(), program, pad, inner, plain });
                    self.push(&mut phases, Action::Load(self.loads.len() - 1), kind, inner, gathered)
                }
                Op::Cast(a) if self.keeps_lanes(*a, inst.dtype, stored_only[at]) => sources[0],
                Op::Cast(a) if inst.dtype != Dtype::F32 && self.rounds_in_place(*a, inst.dtype, &places) => sources[0],
                Op::Cast(_) => {
                    let code = Code::Convert(operand_kind, inst.dtype);
                    self.push(&mut phases, Action::Compute(code), kind, inner, sources)
                }
                Op::Unary(op, _) => {
                    self.push(&mut phases, Action::Compute(Code::Unary(*op, operand_kind)), kind, inner, sources)
                }
                Op::Binary(op, ..) => {
                    self.push(&mut phases, Action::Compute(Code::Binary(*op, operand_kind)), kind, inner, sources)
                }
                Op::Compare(op, ..) => {
                    self.push(&mut phases, Action::Compute(Code::Compare(*op, operand_kind)), kind, inner, sources)
                }
                Op::Select(..) => {
                    self.push(&mut phases, Action::Compute(Code::Select(operand_kind)), kind, inner, sources)
                }
                Op::Fma(..) => self.push(&mut phases, Action::Compute(Code::Fma(kind)), kind, inner, sources),
                Op::Reduce(op, _) => {
                    let source = self.spread(&mut phases, sources[0], operand_kind);
                    self.partials += 1;
                    self.push(&mut phases, Action::Reduce(*op, self.partials - 1), kind, true, vec![source])
                }
                Op::Scan(op, _) => {
                    let source = self.spread(&mut phases, sources[0], operand_kind);
                    self.carries.push((*op, kind));
                    self.push(&mut phases, Action::Scan(*op, self.carries.len() - 1), kind, true, vec![source])
                }
            };
            places.push(place);
        }
        self.stores(&mut phases, &places);
        self.store_at_once();
    }

    /// For each value, whether nothing but stores reads it.
    fn stored_only(&self) -> Vec<bool> {
        let mut only = vec![true; self.kernel.body.len()];
        for (at, inst) in self.kernel.body.iter().enumerate().filter(|(at, _)| self.analysis.needed[*at]) {
            for reg in inst.op.operands().iter().chain(&self.analysis.gathers[at]) {
                only[reg.0 as usize] = false;
            }
        }
        only
    }

    /// Whether a cast leaves the lanes as they are. A store rounds by itself, so one before it needs no rounding.
    fn keeps_lanes(&self, operand: Reg, to: Dtype, stored: bool) -> bool {
        let from = self.kernel.body[operand.0 as usize].dtype;
        let widens = match (from.integer_range(), to.integer_range()) {
            (Some(from), Some(to)) => to.0 <= from.0 && from.1 <= to.1,
            _ => from.is_float() && to == Dtype::F32,
        };
        LaneKind::of(from) == LaneKind::of(to)
            && (from == to || widens || (stored && to.is_float() && from == Dtype::F32))
    }

    /// Makes a cast to a narrow float part of the computation of its operand, if nothing else reads those lanes.
    fn rounds_in_place(&mut self, operand: Reg, to: Dtype, places: &[Location]) -> bool {
        let place = places[operand.0 as usize];
        let narrows = matches!(to, Dtype::F16 | Dtype::Bf16);
        // A cast that changes nothing shares the lanes of its operand.
        let is_operand = |reg: &&Reg| places.get(reg.0 as usize) == Some(&place);
        let body = self.kernel.body.iter().zip(&self.analysis.gathers);
        let reads: usize = body
            .map(|(inst, gathers)| inst.op.operands().iter().chain(gathers).filter(is_operand).count())
            .sum::<usize>()
            + self.kernel.stores.iter().filter(|store| is_operand(&&store.value)).count();
        if !narrows || reads != 1 || self.kernel.body[operand.0 as usize].dtype != Dtype::F32 {
            return false;
        }
        let Some(node) = self.nodes.iter_mut().rev().find(|node| node.step.target == place) else { return false };
        let computes = matches!(node.step.action, Action::Compute(code) if !matches!(code, Code::Copy(_)));
        if computes {
            node.step.round = Some(to);
        }
        computes
    }

    /// Adds a step with a new value as its result.
    fn push(
        &mut self,
        phases: &mut Vec<usize>,
        action: Action,
        kind: LaneKind,
        inner: bool,
        sources: Vec<Location>,
    ) -> Location {
        let mut sources = sources;
        // In short rows, row values are spread once; a per-row loop would cost more than it does.
        if inner
            && self.length < self.tuning.spread_below
            && matches!(action, Action::Compute(code) if !matches!(code, Code::Copy(_)))
        {
            for source in &mut sources {
                if let Location::Row(value) = *source {
                    *source = self.spread(phases, Location::Row(value), self.kinds[value]);
                }
            }
        }
        let phase = sources.iter().map(|place| phase_of(phases, *place)).max().unwrap_or(0);
        let value = self.kinds.len();
        self.kinds.push(kind);
        let reduce = matches!(action, Action::Reduce(..));
        let target = if inner && !reduce { Location::Inner(value) } else { Location::Row(value) };
        phases.push(phase + usize::from(reduce));
        self.nodes.push(StepNode { step: TileStep { action, target, sources, round: None, into: None }, phase, inner });
        target
    }

    /// The value as one lane per inner point.
    fn spread(&mut self, phases: &mut Vec<usize>, place: Location, kind: LaneKind) -> Location {
        if matches!(place, Location::Inner(_)) {
            return place;
        }
        let spread_before = self.nodes.iter().find(|node| {
            node.inner && matches!(node.step.action, Action::Compute(Code::Copy(_))) && node.step.sources == [place]
        });
        match spread_before {
            Some(node) => node.step.target,
            None => self.push(phases, Action::Compute(Code::Copy(kind)), kind, true, vec![place]),
        }
    }

    fn stores(&mut self, phases: &mut Vec<usize>, places: &[Location]) {
        let kernel = self.kernel;
        let all = kernel.parallel.len() + kernel.reduce.len();
        for (number, store) in kernel.stores.iter().enumerate() {
            let at = store.value.0 as usize;
            let Some(kind) = LaneKind::of(kernel.body[at].dtype) else { continue };
            let over_inner = self.inner != 0 && store.order.len() == all;
            let source = match places[at] {
                place if over_inner => self.spread(phases, place, kind),
                Location::Const(_) => {
                    self.push(phases, Action::Compute(Code::Copy(kind)), kind, false, vec![places[at]])
                }
                place => place,
            };
            let phase = phase_of(phases, source);
            let step = TileStep {
                action: Action::Store(number),
                target: source,
                sources: vec![source],
                round: None,
                into: None,
            };
            self.nodes.push(StepNode { step, phase, inner: over_inner });
        }
    }

    /// Marks computations that only one store reads, and that store.
    fn store_at_once(&mut self) {
        let mut readers = vec![vec![]; self.kinds.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            for place in &node.step.sources {
                if let Location::Row(value) | Location::Inner(value) = *place {
                    readers[value].push(at);
                }
            }
        }
        for at in 0..self.nodes.len() {
            let node = &self.nodes[at].step;
            let (Action::Compute(_), Location::Row(value) | Location::Inner(value)) = (&node.action, node.target)
            else {
                continue;
            };
            let [reader] = readers[value][..] else { continue };
            if let Action::Store(number) = self.nodes[reader].step.action {
                self.nodes[at].step.into = Some(number);
                self.nodes[reader].step.into = Some(number);
            }
        }
    }
}

fn phase_of(phases: &[usize], place: Location) -> usize {
    match place {
        Location::Const(_) => 0,
        Location::Row(value) | Location::Inner(value) => phases[value],
    }
}
