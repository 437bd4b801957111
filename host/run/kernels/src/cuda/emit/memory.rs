//! Reading inputs and writing outputs: guards, offsets, accesses for one lane or all. No other file reads or writes one,
//! but by an offset from here.

use super::{CudaEmitter, IndexContext, of};
use crate::access::Offset;
use crate::cuda::claims::{Claim, ClaimAccess, Term};
use crate::cuda::loops::{Expression, LoopRange, MemorySpace, ThreadStep, Variable, binary, number};
use crate::cuda::space::{Address, AxisDomain, AxisGroup, Lanes, store_offset};
use crate::cuda::types::{from_storage, held, literal, storage, to_storage};
use passhost_ir::kernel::{Op, PaddingMode, Reg};

impl CudaEmitter<'_> {
    /// The input of a load, and what it gives outside.
    fn load(&self, reg: Reg) -> (u32, PaddingMode) {
        match *self.of.op(reg) {
            Op::Load { input, padding, .. } => (input, padding),
            _ => unreachable!("only loads are asked for"),
        }
    }

    /// What the lanes of a thread have in common when they read, if nothing is looked up for it.
    pub(super) fn load_lanes(&self, reg: Reg) -> Lanes {
        let access = self.of.load_access(reg).filter(|_| self.of.analysis.gathers[reg.0 as usize].is_empty());
        access.map_or(Lanes::Each, |access| self.of.common(&self.schedule, &access))
    }

    pub(super) fn store_lanes(&self, store: usize) -> Lanes {
        self.of.common(&self.schedule, &self.of.store_access(store))
    }

    /// The address of a load.
    pub(super) fn address(&self, reg: Reg) -> Address {
        self.of.load_access(reg).unwrap_or_else(|| unreachable!("only loads are asked for")).address
    }

    /// The input of a load.
    pub(super) fn input(&self, reg: Reg) -> Variable {
        Variable::of("x", self.load(reg).0)
    }

    /// Whether the input of a load has no elements, so that there are none to read in place of those outside.
    pub(super) fn is_of_nothing(&self, reg: Reg) -> bool {
        self.of.kernel.inputs[self.load(reg).0 as usize].shape.contains(&0)
    }

    /// What a load gives outside.
    pub(super) fn padding(&self, reg: Reg) -> Expression {
        match self.load(reg).1 {
            PaddingMode::Pad(pad) => literal(self.dtype(reg), pad),
            PaddingMode::Clamp => Expression::Bits(self.dtype(reg), 0),
        }
    }

    /// Loads one element as a value.
    pub(super) fn load_one(&mut self, reg: Reg, context: &IndexContext<'_>) {
        let (dtype, name) = (self.dtype(reg), of("v", reg));
        let (condition, offset) = self.guard(reg, context);
        match condition {
            Some(condition) if self.of.slides(reg, &self.schedule) && !self.is_of_nothing(reg) => {
                // Without a branch, so that what several lanes or points read is read once.
                let (inside, from, read) = (of("in", reg), of("from", reg), of("at", reg));
                self.define("bool", inside, condition);
                self.define(self.guarded_type(reg), from, offset);
                let place = self.input(reg).at(Expression::from(inside).select(from, 0));
                self.define(storage(dtype), read, place);
                let read = from_storage(dtype, read.into());
                self.define(held(dtype), name, Expression::from(inside).select(read, self.padding(reg)));
            }
            Some(condition) => {
                self.begin(held(dtype), name, &[], self.padding(reg));
                let element = from_storage(dtype, self.input(reg).at(offset));
                self.steps.push(ThreadStep::Assign(name.into(), element).guarded(Some(condition)));
            }
            None => self.define(held(dtype), name, from_storage(dtype, self.input(reg).at(offset))),
        }
    }

    /// Loads neighbouring elements for all lanes.
    pub(super) fn load_neighbours(&mut self, reg: Reg, context: &IndexContext<'_>) {
        let (dtype, to, input, lanes) = (self.dtype(reg), of("s", reg), self.input(reg), self.schedule.lanes());
        self.claim(Claim::Neighbours(ClaimAccess::Load(reg)));
        self.declare(MemorySpace::Aligned, storage(dtype), to, &[lanes.into()]);
        let (condition, offset) = self.guard(reg, context);
        let pad = to_storage(dtype, self.padding(reg));
        let Some(condition) = condition else {
            return self.steps.push(ThreadStep::Load(to.into(), input + offset, None));
        };
        if self.is_of_nothing(reg) {
            let fill = ThreadStep::Assign(to.at(super::LANE), pad);
            let range = LoopRange { unroll: None, ..super::lanes(lanes) };
            return self.steps.push(ThreadStep::Each(range, Box::new(fill)));
        }
        let inside = of("in", reg);
        self.define("bool", inside, condition);
        let from = input + Expression::from(inside).select(offset, 0);
        self.steps.push(ThreadStep::Load(to.into(), from, Some((inside.into(), pad))));
    }

    /// The offset of a store's element.
    pub(super) fn store_offset(&mut self, store: usize, context: &IndexContext<'_>) -> Expression {
        let offset = store_offset(self.of.kernel, &self.of.kernel.stores[store].order);
        self.offset(ClaimAccess::Store(store), &offset, context)
    }

    /// A tensor's element that a value is stored in.
    pub(super) fn stored(&mut self, store: usize, context: &IndexContext<'_>) -> Expression {
        let offset = self.store_offset(store, context);
        Variable::of("y", store as u32).at(offset)
    }

    /// A stored value as an element.
    pub(super) fn element(&self, store: usize, context: &IndexContext<'_>) -> Expression {
        let value = self.of.kernel.stores[store].value;
        to_storage(self.dtype(value), self.operand(value, context))
    }

    /// Stores one element.
    pub(super) fn store_each(&mut self, store: usize, context: &IndexContext<'_>) {
        let place = self.stored(store, context);
        self.assign(place, self.element(store, context));
    }

    /// The condition under which a load's indices are inside, if it is not proven and the load pads, and the offset of
    /// its element in that case.
    pub(super) fn guard(&mut self, reg: Reg, context: &IndexContext<'_>) -> (Option<Expression>, Expression) {
        let (index, strides) = match self.address(reg) {
            Address::Affine(offset) => return (None, self.offset(ClaimAccess::Load(reg), &offset, context)),
            Address::Indexed { index, strides } => (index, strides),
        };
        let (input, padding) = self.load(reg);
        let shape = &self.of.kernel.inputs[input as usize].shape;
        let ty = self.guarded_type(reg);
        if ["int", "u32"].contains(&ty) {
            self.claim(Claim::Narrow(reg));
        }
        let (mut conditions, mut terms) = (vec![], vec![]);
        for (dim, (id, stride)) in index.iter().zip(&strides).enumerate() {
            let (mut at, extent) = (self.index(*id, context), shape[dim]);
            if self.of.facts.in_bounds[reg.0 as usize][dim] {
                self.claim(Claim::Inside { load: reg, dim });
            } else {
                match padding {
                    // Unsigned, so that one comparison does, and in 64 bits, so that nothing is cut off before.
                    PaddingMode::Pad(_) => {
                        conditions.push(binary("<", at.clone().cast("i64").cast("u64"), number(extent, "u64")));
                    }
                    PaddingMode::Clamp => {
                        let last = number(extent - 1, "i64");
                        let too_large = binary(">", at.clone(), last.clone());
                        at = binary("<", at.clone(), 0).select(0, too_large.select(last, at));
                    }
                }
            }
            if *stride != 0 {
                terms.push(at.cast(ty) * number(*stride, ty));
            }
        }
        let offset = terms.into_iter().reduce(|sum, term| sum + term).unwrap_or(0.into());
        (conditions.into_iter().reduce(|all, one| binary("&&", all, one)), offset.group())
    }

    /// The type of the offset of a load that may lie outside: unsigned, which may overflow, where it is computed outside too.
    fn guarded_type(&self, reg: Reg) -> &'static str {
        let Address::Indexed { strides, .. } = self.address(reg) else { return "i64" };
        let shape = &self.of.kernel.inputs[self.load(reg).0 as usize].shape;
        match (offset_type(reach(shape, &strides)), self.of.slides(reg, &self.schedule)) {
            ("int", true) => "u32",
            (_, true) => "u64",
            (ty, false) => ty,
        }
    }

    /// The offset of an element that is always inside: its base and the changes along the axes.
    pub(super) fn offset(&mut self, access: ClaimAccess, at: &Offset, context: &IndexContext<'_>) -> Expression {
        let terms = |domain: &AxisDomain, of_row: bool| -> Vec<Term> {
            let term =
                |group: &AxisGroup| Term { of_row, inner: group.inner, extent: group.extent, slope: group.slope };
            domain.groups(&at.slopes).iter().filter(|group| group.slope != 0).map(term).collect()
        };
        let mut all = terms(&self.schedule.rows, true);
        all.extend(terms(&self.schedule.points, false));
        let base = at.base;
        let reach = all.iter().fold(base.unsigned_abs(), |reach, term| {
            reach.saturating_add(term.slope.unsigned_abs().saturating_mul(term.extent.unsigned_abs()))
        });
        let ty = offset_type(reach);
        let term = |term: &Term| {
            let position = self.position((term.of_row, term.inner, term.extent), context).cast(ty);
            if term.slope == 1 { position } else { position * number(term.slope, ty) }
        };
        let rest = (base != 0 || all.is_empty()).then(|| number(base, ty));
        let sum = all.iter().map(term).chain(rest).reduce(|sum, term| sum + term);
        self.claim(Claim::Offset { access, base, terms: all, narrow: ty == "int" });
        sum.unwrap_or(0.into()).group()
    }
}

/// The type of an offset of so many elements.
fn offset_type(reach: u64) -> &'static str {
    if reach < 1 << 31 { "int" } else { "i64" }
}

/// Elements from the first to the last.
fn reach(shape: &[i64], strides: &[i64]) -> u64 {
    let last =
        |(extent, stride): (&i64, &i64)| (extent - 1).max(0).unsigned_abs().saturating_mul(stride.unsigned_abs());
    shape.iter().zip(strides).map(last).fold(1, u64::saturating_add)
}
