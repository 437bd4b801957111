//! Reading inputs and writing outputs: guards, offsets, accesses for one lane or all.

use super::index::position;
use super::{CudaEmitter, IndexContext, NameScope};
use crate::access::Offset;
use crate::cuda::claims::{Claim, ClaimAccess, Term};
use crate::cuda::schedule::Schedule;
use crate::cuda::space::{Address, AxisDomain, AxisGroup, Lanes, common, load_address, store_address};
use crate::cuda::text::{from_storage, held, literal, storage, to_storage};
use passhost_ir::kernel::{Op, PaddingMode, Reg};

impl CudaEmitter<'_> {
    pub(super) fn load_lanes(&self, reg: Reg, lanes: u32) -> (Address, Lanes) {
        let Op::Load { input, index, .. } = &self.kernel.body[reg.0 as usize].op else {
            unreachable!("only loads are asked for")
        };
        let in_bounds = &self.facts.in_bounds[reg.0 as usize];
        let address =
            load_address(self.kernel, self.analysis, self.facts.load_in_bounds(reg), (*input, index), self.layout);
        if !self.analysis.gathers[reg.0 as usize].is_empty() {
            return (address, Lanes::Each);
        }
        let input = *input as usize;
        let element = (self.kernel.inputs[input].dtype, self.layout.alignments[input]);
        let found =
            common(self.kernel, self.analysis, self.schedule.along(), &address, i64::from(lanes), element, in_bounds);
        (address, found)
    }

    pub(super) fn store_lanes(&self, store: usize, lanes: u32) -> Lanes {
        let (store, alignment) = (&self.kernel.stores[store], self.layout.outputs[store]);
        let address = store_address(self.kernel, &store.order);
        let element = (self.dtype(store.value), alignment);
        common(self.kernel, self.analysis, self.schedule.along(), &address, i64::from(lanes), element, &[])
    }

    /// Loads one element as a value.
    pub(super) fn load_one(&mut self, reg: Reg, address: &Address, context: &IndexContext, scope: &mut NameScope) {
        let Op::Load { input, padding, .. } = self.kernel.body[reg.0 as usize].op else { return };
        let (dtype, number) = (self.dtype(reg), reg.0);
        let ty = held(dtype);
        match self.guard(reg, address, context, scope) {
            (Some(condition), offset) => {
                let PaddingMode::Pad(pad) = padding else { unreachable!("only padded loads have a condition") };
                self.text.line(format_args!("{ty} v{number} = {};", literal(dtype, pad)));
                let element = from_storage(dtype, &format!("x{input}[{offset}]"));
                self.text.line(format_args!("if ({condition}) v{number} = {element};"));
            }
            (None, offset) => {
                let element = from_storage(dtype, &format!("x{input}[{offset}]"));
                self.text.line(format_args!("const {ty} v{number} = {element};"));
            }
        }
        self.names.insert(reg, format!("v{number}"));
    }

    /// Loads neighbouring elements for all lanes.
    pub(super) fn load_neighbours(
        &mut self,
        reg: Reg,
        address: &Address,
        context: &IndexContext,
        lanes: u32,
        scope: &mut NameScope,
    ) {
        let Op::Load { input, padding, .. } = self.kernel.body[reg.0 as usize].op else { return };
        let (dtype, number) = (self.dtype(reg), reg.0);
        self.claims.list.push(Claim::Neighbours(ClaimAccess::Load(reg)));
        self.text.line(format_args!("__align__(16) {} s{number}[{lanes}];", storage(dtype)));
        match self.guard(reg, address, context, scope) {
            (Some(condition), offset) => {
                let PaddingMode::Pad(pad) = padding else { unreachable!("only padded loads have a condition") };
                let pad = to_storage(dtype, &literal(dtype, pad));
                if self.kernel.inputs[input as usize].shape.contains(&0) {
                    // There are no elements to read in place of those outside.
                    self.text.line(format_args!("for (int v = 0; v < {lanes}; ++v) s{number}[v] = {pad};"));
                } else {
                    self.text.line(format_args!("const bool in{number} = {condition};"));
                    self.text.line(format_args!(
                        "read_or(s{number}, x{input} + (in{number} ? {offset} : 0), in{number}, {pad});"
                    ));
                }
            }
            (None, offset) => self.text.line(format_args!("read(s{number}, x{input} + {offset});")),
        }
    }

    /// The offset of a store's element.
    pub(super) fn store_offset(&mut self, store: usize, context: &IndexContext) -> String {
        match store_address(self.kernel, &self.kernel.stores[store].order) {
            Address::Affine(Offset { base, slopes }) => self.offset(ClaimAccess::Store(store), base, &slopes, context),
            Address::Indexed { .. } => unreachable!("stores are dense"),
        }
    }

    /// Stores one element.
    pub(super) fn store_each(&mut self, store: usize, context: &IndexContext) {
        let offset = self.store_offset(store, context);
        let value = self.kernel.stores[store].value;
        let element = to_storage(self.dtype(value), &self.name(value));
        self.text.line(format_args!("y{store}[{offset}] = {element};"));
    }

    /// The condition under which a load's indices are inside, if it is not proven and the load pads, and the offset of
    /// its element in that case.
    pub(super) fn guard(
        &mut self,
        reg: Reg,
        address: &Address,
        context: &IndexContext,
        scope: &mut NameScope,
    ) -> (Option<String>, String) {
        let (index, strides) = match address {
            Address::Affine(Offset { base, slopes }) => {
                return (None, self.offset(ClaimAccess::Load(reg), *base, slopes, context));
            }
            Address::Indexed { index, strides } => (index, strides),
        };
        let Op::Load { input, padding, .. } = self.kernel.body[reg.0 as usize].op else {
            unreachable!("only loads are guarded")
        };
        let shape = &self.kernel.inputs[input as usize].shape;
        let wide = !fits_int(reach(shape, strides));
        if !wide {
            self.claims.list.push(Claim::Narrow(reg));
        }
        let (mut conditions, mut terms) = (vec![], vec![]);
        for (dim, (id, stride)) in index.iter().zip(strides).enumerate() {
            let (mut text, extent) = (self.index(*id, context, scope), shape[dim]);
            if self.facts.in_bounds[reg.0 as usize][dim] {
                self.claims.list.push(Claim::Inside { load: reg, dim });
            } else {
                match padding {
                    // Unsigned, so that one comparison does, and in 64 bits, so that nothing is cut off before.
                    PaddingMode::Pad(_) => conditions.push(format!("(u64)(i64){text} < {extent}ull")),
                    PaddingMode::Clamp => {
                        text = format!("({text} < 0 ? 0 : {text} > {0}ll ? {0}ll : {text})", extent - 1)
                    }
                }
            }
            if *stride != 0 {
                terms.push(if wide { format!("(i64){text} * {stride}ll") } else { format!("(int){text} * {stride}") });
            }
        }
        let offset = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        let condition = if conditions.is_empty() { None } else { Some(conditions.join(" && ")) };
        (condition, format!("({offset})"))
    }

    /// The offset of an element that is always inside: `base` and the changes along the axes.
    pub(super) fn offset(&mut self, access: ClaimAccess, base: i64, slopes: &[i64], context: &IndexContext) -> String {
        let terms = |domain: &AxisDomain, of_row: bool| -> Vec<Term> {
            let term =
                |group: &AxisGroup| Term { of_row, inner: group.inner, extent: group.extent, slope: group.slope };
            domain.groups(slopes).iter().filter(|group| group.slope != 0).map(term).collect()
        };
        let of_rows = terms(&self.schedule.rows, true);
        let terms: Vec<Term> = of_rows.into_iter().chain(terms(&self.schedule.points, false)).collect();
        let reach = terms.iter().fold(base.unsigned_abs(), |reach, term| {
            reach.saturating_add(term.slope.unsigned_abs().saturating_mul(term.extent.unsigned_abs()))
        });
        let narrow = fits_int(reach);
        let (ty, suffix) = if narrow { ("int", "") } else { ("i64", "ll") };
        let text = |term: &Term| {
            let Schedule { rows, points, .. } = &self.schedule;
            let (number, domain) = if term.of_row { (&context.row, rows) } else { (&context.point, points) };
            let text = position(number, term.inner, term.extent, domain.points());
            if term.slope == 1 { format!("({ty}){text}") } else { format!("({ty}){text} * {}{suffix}", term.slope) }
        };
        let mut texts: Vec<String> = terms.iter().map(text).collect();
        if base != 0 || texts.is_empty() {
            texts.push(format!("{base}{suffix}"));
        }
        self.claims.list.push(Claim::Offset { access, base, terms, narrow });
        format!("({})", texts.join(" + "))
    }
}

fn fits_int(reach: u64) -> bool {
    reach < 1 << 31
}

/// Elements from the first to the last.
fn reach(shape: &[i64], strides: &[i64]) -> u64 {
    let last =
        |(extent, stride): (&i64, &i64)| (extent - 1).max(0).unsigned_abs().saturating_mul(stride.unsigned_abs());
    shape.iter().zip(strides).map(last).fold(1, u64::saturating_add)
}
