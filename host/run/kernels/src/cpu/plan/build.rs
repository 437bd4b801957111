//! From the body of a kernel to a list of steps.

use super::{Action, Literal, LoadPlan, Place, Step, StripSizes};
use crate::access::{AxisSet, KernelAnalysis};
use crate::cpu::compute::{Code, exact_reciprocal, is_narrow};
use crate::cpu::lanes::literal;
use crate::cpu::reduce::accumulator;
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::{Binary, IndexExpr, IndexId, Op, ReduceOp, Reg};
use passhost_ir::{Dtype, Kernel};
use std::collections::HashMap;

/// A step before its values have buffers: places are numbers of values.
pub(super) struct StepNode {
    pub(super) step: Step,
    /// Reductions that must be finished before.
    pub(super) phase: usize,
    /// The axes that its result depends on.
    pub(super) depends: AxisSet,
    /// Whether it runs on points, not on rows.
    pub(super) point: bool,
}

/// A value that a step computes.
pub(super) struct PlannedValue {
    pub(super) dtype: Dtype,
    pub(super) phase: usize,
    pub(super) depends: AxisSet,
    /// The step that computes it.
    pub(super) node: usize,
}

pub(super) struct PlanBuilder<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) analysis: &'a KernelAnalysis,
    pub(super) tuning: StripSizes,
    pub(super) extents: Vec<i64>,
    /// The row axes and the inner axes.
    pub(super) row_set: AxisSet,
    pub(super) inner_set: AxisSet,
    pub(super) rows: i64,
    /// Extent of the last row axis.
    pub(super) last_row: i64,
    pub(super) length: i64,
    pub(super) loads: Vec<LoadPlan>,
    pub(super) positions: Vec<(IndexId, bool)>,
    pub(super) literals: Vec<Literal>,
    pub(super) values: Vec<PlannedValue>,
    pub(super) carries: usize,
    pub(super) nodes: Vec<StepNode>,
    /// Where each body value is, once it is planned.
    pub(super) places: Vec<Option<Place>>,
    pub(super) index_places: HashMap<IndexId, Place>,
    /// Body values that are loads without guards: their number.
    pub(super) plain_loads: HashMap<Reg, usize>,
}

impl<'a> PlanBuilder<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        analysis: &'a KernelAnalysis,
        row_axes: &[usize],
        inner_axes: &[usize],
        tuning: StripSizes,
    ) -> PlanBuilder<'a> {
        let extents: Vec<i64> = kernel.parallel.iter().chain(&kernel.reduce).copied().collect();
        let product = |axes: &[usize]| axes.iter().map(|axis| extents[*axis]).product::<i64>();
        let set = |axes: &[usize]| axes.iter().fold(0, |set, axis| set | 1 << axis);
        PlanBuilder {
            kernel,
            analysis,
            tuning,
            row_set: set(row_axes),
            inner_set: set(inner_axes),
            rows: product(row_axes),
            last_row: row_axes.last().map_or(1, |axis| extents[*axis]),
            length: product(inner_axes),
            extents,
            loads: vec![],
            positions: vec![],
            literals: vec![],
            values: vec![],
            carries: 0,
            nodes: vec![],
            places: vec![None; kernel.body.len()],
            index_places: HashMap::new(),
            plain_loads: HashMap::new(),
        }
    }

    /// Whether a value with these dependencies has a lane for each point. Without inner axes, all have.
    pub(super) fn is_point(&self, depends: AxisSet) -> bool {
        self.inner_set == 0 || depends & self.inner_set != 0
    }

    fn dtype(&self, reg: Reg) -> Dtype {
        self.kernel.body[reg.0 as usize].dtype
    }

    pub(super) fn place(&self, reg: Reg) -> Place {
        // A value that a needed one reads is needed itself, and comes earlier.
        self.places[reg.0 as usize].unwrap_or(Place::Const(usize::MAX))
    }

    pub(super) fn depends(&self, place: Place) -> AxisSet {
        match place {
            Place::Const(_) => 0,
            Place::Row(value) | Place::Point(value) | Place::Kept(value) => self.values[value].depends,
        }
    }

    fn phase(&self, place: Place) -> usize {
        match place {
            Place::Const(_) => 0,
            Place::Row(value) | Place::Point(value) | Place::Kept(value) => self.values[value].phase,
        }
    }

    /// Lists the steps in the order of the body.
    pub(super) fn build(&mut self) {
        let readers = Readers::new(self.kernel, self.analysis);
        for at in 0..self.kernel.body.len() {
            let (reg, origin) = (Reg(at as u32), readers.origin[at]);
            if origin != reg {
                self.places[at] = self.places[origin.0 as usize];
            } else if readers.needed[at] {
                let place = self.plan(reg, &readers);
                self.places[at] = Some(place);
            }
        }
        self.stores();
    }

    fn plan(&mut self, at: Reg, readers: &Readers) -> Place {
        let kernel = self.kernel;
        let inst = &kernel.body[at.0 as usize];
        let dtype = inst.dtype;
        let operands = inst.op.operands();
        let sources: Vec<Place> = operands.iter().map(|reg| self.place(*reg)).collect();
        let of = operands.last().map_or(dtype, |reg| self.dtype(*reg));
        let code = match &inst.op {
            Op::Const(scalar) => return self.constant(dtype, literal(dtype, *scalar)),
            Op::Index(id) => return self.index(*id),
            Op::Load { input, index, padding } => return self.load(at, *input as usize, index, *padding),
            Op::Cast(a) if dtype == Dtype::F32 && readers.stays_wide(*a) => return sources[0],
            Op::Cast(a) if of == Dtype::F32 && is_narrow_float(dtype) => {
                return self.round((*a, at), sources[0], dtype, readers);
            }
            Op::Cast(_) => Code::Convert(of, dtype),
            Op::Unary(op, _) => Code::Unary(*op, of),
            Op::Binary(Binary::Div, ..) if dtype == Dtype::F32 => return self.divide(sources),
            Op::Binary(op, ..) => Code::Binary(*op, of),
            Op::Compare(op, ..) => Code::Compare(*op, of),
            Op::Select(condition, a, b) => match self.joined_load(*condition, *a, *b) {
                Some((number, depends)) => {
                    self.plain_loads.insert(at, number);
                    return self.push_load(number, dtype, vec![], depends);
                }
                None => Code::Select(dtype.size() as usize),
            },
            Op::Fma(..) => Code::Fma(dtype),
            Op::Reduce(op, _) => return self.reduce(*op, sources[0], of, dtype),
            Op::Scan(op, _) => {
                self.carries += 1;
                let depends = self.depends(sources[0]) | self.inner_set;
                let source = self.on_points(sources[0], of);
                return self.push(Action::Scan(*op, of, self.carries - 1), dtype, vec![source], depends);
            }
        };
        self.compute(code, dtype, sources)
    }

    pub(super) fn constant(&mut self, dtype: Dtype, bits: u64) -> Place {
        self.literals.push(Literal { bits, size: dtype.size() as usize });
        Place::Const(self.literals.len() - 1)
    }

    /// Multiplies where the divisor is a power of two.
    fn divide(&mut self, mut sources: Vec<Place>) -> Place {
        let mut op = Binary::Div;
        if let Place::Const(number) = sources[1]
            && let Some(reciprocal) = exact_reciprocal(f32::from_bits(self.literals[number].bits as u32))
        {
            op = Binary::Mul;
            sources[1] = self.constant(Dtype::F32, reciprocal.to_bits().into());
        }
        self.compute(Code::Binary(op, Dtype::F32), Dtype::F32, sources)
    }

    /// A value of `f32` rounded to a narrow type, which it is held in where something reads it so: with the computation,
    /// if nothing else reads its result.
    fn round(&mut self, (a, rounded): (Reg, Reg), place: Place, to: Dtype, readers: &Readers) -> Place {
        let wide = readers.stays_wide(rounded);
        let alone = readers.origin[a.0 as usize] == a && readers.reads[a.0 as usize] == 1;
        if let (Place::Row(value) | Place::Point(value), true) = (place, alone)
            && !matches!(self.kernel.body[a.0 as usize].op, Op::Cast(_))
        {
            let (step, value) = (&mut self.nodes[self.values[value].node].step, &mut self.values[value]);
            let action = match step.action {
                Action::Compute(Code::Narrow(_, dtype, _)) if dtype != to => None,
                Action::Compute(code) if wide => Some(code),
                Action::Compute(Code::Binary(op, _)) if is_narrow(op) => {
                    Some(Code::Narrow(op, to, [false, false, true]))
                }
                Action::Compute(Code::Narrow(op, _, [a, b, _])) => Some(Code::Narrow(op, to, [a, b, true])),
                _ => None,
            };
            if let (Some(code), None) = (action, step.round) {
                (step.action, step.round) = (Action::Compute(code), wide.then_some(to));
                value.dtype = if wide { Dtype::F32 } else { to };
                return place;
            }
        }
        if !wide {
            return self.compute(Code::Convert(Dtype::F32, to), to, vec![place]);
        }
        let copy = self.compute(Code::Convert(Dtype::F32, Dtype::F32), Dtype::F32, vec![place]);
        if let Some(node) = self.nodes.last_mut() {
            node.step.round = Some(to);
        }
        copy
    }

    fn reduce(&mut self, op: ReduceOp, source: Place, elements: Dtype, result: Dtype) -> Place {
        let depends = self.depends(source) & !self.inner_set;
        let (phase, sums) = (self.phase(source), accumulator(op, elements));
        let source = self.on_points(source, elements);
        let mut accumulate = |dtype| {
            self.values.push(PlannedValue { dtype, phase: phase + 1, depends, node: self.nodes.len() });
            Place::Row(self.values.len() - 1)
        };
        let target = accumulate(sums);
        let places = (op.gives() == Gives::Position).then(|| accumulate(Dtype::I64));
        let action = Action::Reduce(op, elements);
        let step = Step { action, target, places, sources: vec![source], round: None, into: None };
        self.nodes.push(StepNode { step, phase, depends: depends | self.inner_set, point: true });
        match places {
            Some(places) => places,
            None if sums == result => target,
            None => self.compute(Code::Convert(sums, result), result, vec![target]),
        }
    }

    /// The value of an index expression.
    pub(super) fn index(&mut self, id: IndexId) -> Place {
        if let Some(place) = self.index_places.get(&id) {
            return *place;
        }
        let form = &self.analysis.forms[id.0 as usize];
        let place = if let Some(affine) = form.affine.as_ref().filter(|_| form.depends == 0) {
            self.constant(Dtype::I64, affine.constant as u64)
        } else if form.affine.is_some() {
            let depends = form.depends;
            self.positions.push((id, self.is_point(depends)));
            self.push(Action::Positions(self.positions.len() - 1), Dtype::I64, vec![], depends)
        } else {
            let (code, sources) = match self.kernel.index[id.0 as usize] {
                IndexExpr::Add(a, b) => (Code::Binary(Binary::Add, Dtype::I64), vec![self.index(a), self.index(b)]),
                IndexExpr::Sub(a, b) => (Code::Binary(Binary::Sub, Dtype::I64), vec![self.index(a), self.index(b)]),
                IndexExpr::Mul(a, factor) => {
                    let factor = self.constant(Dtype::I64, factor as u64);
                    (Code::Binary(Binary::Mul, Dtype::I64), vec![self.index(a), factor])
                }
                IndexExpr::FloorDiv(a, divisor) => (Code::Quotient(divisor), vec![self.index(a)]),
                IndexExpr::Mod(a, divisor) => (Code::Remainder(divisor), vec![self.index(a)]),
                IndexExpr::Value(reg) => (Code::Convert(self.dtype(reg), Dtype::I64), vec![self.place(reg)]),
                IndexExpr::Axis(_) | IndexExpr::Const(_) => unreachable!("both are affine"),
            };
            self.compute(code, Dtype::I64, sources)
        };
        self.index_places.insert(id, place);
        place
    }

    /// Adds a computation. One in `f32` reads narrow floats as they lie in memory, in place of steps that widen them.
    pub(super) fn compute(&mut self, mut code: Code, dtype: Dtype, mut sources: Vec<Place>) -> Place {
        if let Code::Binary(op, Dtype::F32) = code
            && is_narrow(op)
        {
            let (mut narrow, mut of) = ([false; 3], None);
            let varies = |place: &Place| self.depends(*place) & self.row_set != 0;
            let varying = sources.iter().any(varies);
            for (place, narrow) in sources.iter_mut().zip(&mut narrow) {
                let (Place::Point(value), true) = (*place, varies(place) || !varying) else { continue };
                let step = &self.nodes[self.values[value].node].step;
                if let Action::Compute(Code::Convert(from, Dtype::F32)) = step.action
                    && is_narrow_float(from)
                    && of.is_none_or(|of| of == from)
                {
                    (*place, *narrow, of) = (step.sources[0], true, Some(from));
                }
            }
            code = of.map_or(code, |of| Code::Narrow(op, of, narrow));
        }
        let depends = sources.iter().fold(0, |set, place| set | self.depends(*place));
        self.push(Action::Compute(code), dtype, sources, depends)
    }

    /// Adds a step with a new value as its result.
    pub(super) fn push(&mut self, action: Action, dtype: Dtype, mut sources: Vec<Place>, depends: AxisSet) -> Place {
        let point = self.is_point(depends);
        if point && matches!(action, Action::Compute(_)) {
            for place in &mut sources {
                if let Place::Row(value) = *place {
                    *place = self.on_points(*place, self.values[value].dtype);
                }
            }
        }
        let phase = sources.iter().map(|place| self.phase(*place)).max().unwrap_or(0);
        let value = self.values.len();
        self.values.push(PlannedValue { dtype, phase, depends, node: self.nodes.len() });
        let target = if point || matches!(action, Action::Spread) { Place::Point(value) } else { Place::Row(value) };
        let point = matches!(target, Place::Point(_));
        let step = Step { action, target, places: None, sources, round: None, into: None };
        self.nodes.push(StepNode { step, phase, depends, point });
        target
    }

    /// The value with a lane for each point, or the same everywhere.
    pub(super) fn on_points(&mut self, place: Place, dtype: Dtype) -> Place {
        if !matches!(place, Place::Row(_)) {
            return place;
        }
        let spread = |node: &&StepNode| matches!(node.step.action, Action::Spread) && node.step.sources == [place];
        match self.nodes.iter().find(spread) {
            Some(node) => node.step.target,
            None => self.push(Action::Spread, dtype, vec![place], self.depends(place)),
        }
    }

    /// Has the step that computes a stored value write it, if nothing else reads it. For others, adds a step that does.
    fn stores(&mut self) {
        let kernel = self.kernel;
        let all = kernel.parallel.len() + kernel.reduce.len();
        let mut stored = vec![];
        for store in &kernel.stores {
            let point = self.inner_set == 0 || store.order.len() == all;
            let place = self.place(store.value);
            stored.push((if point { self.on_points(place, self.dtype(store.value)) } else { place }, point));
        }
        for (number, &(source, point)) in stored.iter().enumerate() {
            let reads = self.nodes.iter().flat_map(|node| &node.step.sources).filter(|place| **place == source).count()
                + stored.iter().filter(|(place, _)| *place == source).count();
            if let (Place::Row(value) | Place::Point(value), 1) = (source, reads) {
                let node = &mut self.nodes[self.values[value].node];
                let computes = matches!(node.step.action, Action::Compute(_) | Action::Load(_));
                if computes && node.depends & self.row_set != 0 {
                    node.step.into = Some(number);
                    continue;
                }
            }
            let (phase, depends) = (self.phase(source), self.row_set | self.inner_set);
            let action = Action::Store(number);
            let step = Step { action, target: source, places: None, sources: vec![source], round: None, into: None };
            self.nodes.push(StepNode { step, phase, depends, point });
        }
    }
}

pub(super) fn is_narrow_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F16 | Dtype::Bf16)
}

/// Who reads the values of a kernel's body.
struct Readers {
    /// For each value, the first one that has the same lanes.
    origin: Vec<Reg>,
    /// Whether a store needs the value, and no earlier one will do.
    needed: Vec<bool>,
    /// How often each value is read.
    reads: Vec<usize>,
    /// Whether it is a narrow float that is held as `f32`: all that read it would make one of it.
    wide: Vec<bool>,
}

impl Readers {
    fn new(kernel: &Kernel, analysis: &KernelAnalysis) -> Readers {
        let dtype = |reg: Reg| kernel.body[reg.0 as usize].dtype;
        let mut origin: Vec<Reg> = vec![];
        for (at, inst) in kernel.body.iter().enumerate() {
            let same = match inst.op {
                Op::Cast(a) if dtype(a) == inst.dtype => Some(a),
                // A narrow float that went to `f32` and comes back.
                Op::Cast(a) if dtype(a) == Dtype::F32 && is_narrow_float(inst.dtype) => {
                    match kernel.body[origin[a.0 as usize].0 as usize].op {
                        Op::Cast(narrow) if dtype(narrow) == inst.dtype => Some(narrow),
                        _ => None,
                    }
                }
                _ => None,
            };
            origin.push(same.map_or(Reg(at as u32), |same| origin[same.0 as usize]));
        }
        let count = kernel.body.len();
        let (needed, reads, wide) = (vec![false; count], vec![0; count], vec![true; count]);
        let mut readers = Readers { origin, needed, reads, wide };
        for store in &kernel.stores {
            readers.read(store.value, false);
        }
        for (at, inst) in kernel.body.iter().enumerate().rev() {
            if readers.needed[at] {
                let widens = matches!(inst.op, Op::Cast(_)) && inst.dtype == Dtype::F32;
                for reg in inst.op.operands().iter().chain(&analysis.gathers[at]) {
                    readers.read(*reg, widens);
                }
            }
        }
        for (at, inst) in kernel.body.iter().enumerate() {
            let rounds = matches!(inst.op, Op::Cast(a) if dtype(a) == Dtype::F32);
            readers.wide[at] &= rounds && is_narrow_float(inst.dtype);
        }
        readers
    }

    fn read(&mut self, reg: Reg, widens: bool) {
        let origin = self.origin[reg.0 as usize].0 as usize;
        self.needed[origin] = true;
        self.reads[origin] += 1;
        self.wide[origin] &= widens;
    }

    fn stays_wide(&self, reg: Reg) -> bool {
        self.wide[self.origin[reg.0 as usize].0 as usize]
    }
}
