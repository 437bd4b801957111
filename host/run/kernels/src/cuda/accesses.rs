//! The loads and stores of a kernel, and which of them decide how wide a thread's accesses are and which rows are
//! neighbours.

use super::chooser::Chooser;
use super::schedule::Schedule;
use super::space::{Address, AxisDomain, Lanes, MemoryAccess, extents, store_offset};
use crate::access::{Offset, effective_strides, multiple_of};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Class, IndexId, Op, Reg};

impl Chooser<'_> {
    /// The loads and stores that range over all points, or over the rows of a map.
    pub(super) fn accesses(&self, elements: bool) -> Vec<MemoryAccess> {
        let all = self.kernel.parallel.len() + self.kernel.reduce.len();
        let loads = self.needed().filter(|(reg, _)| !elements || self.facts.class(*reg) == Class::Elem);
        let stores = (0..self.kernel.stores.len())
            .filter(|store| !elements || self.kernel.stores[*store].order.len() == all)
            .map(|store| self.store_access(store));
        loads.filter_map(|(reg, _)| self.load_access(reg)).chain(stores).collect()
    }

    /// The access that a load is.
    pub(super) fn load_access(&self, reg: Reg) -> Option<MemoryAccess> {
        let Op::Load { input, index, .. } = self.op(reg) else { return None };
        let decl = &self.kernel.inputs[*input as usize];
        let strides = effective_strides(&decl.shape, &self.layout.strides[*input as usize]);
        let offset = || Offset::of_load(&self.analysis.forms, index, &strides, &extents(self.kernel));
        let offset = self.facts.load_in_bounds(reg).then(offset).flatten();
        Some(MemoryAccess {
            address: offset.map_or_else(|| Address::Indexed { index: index.clone(), strides }, Address::Affine),
            dtype: decl.dtype,
            alignment: self.layout.alignments[*input as usize],
            in_bounds: self.facts.in_bounds[reg.0 as usize].clone(),
            bytes: bytes(&decl.shape, decl.dtype),
        })
    }

    /// The access that a store is.
    pub(super) fn store_access(&self, store: usize) -> MemoryAccess {
        let (store, alignment) = (&self.kernel.stores[store], self.layout.outputs[store]);
        let dtype = self.dtype(store.value);
        let address = Address::Affine(store_offset(self.kernel, &store.order));
        MemoryAccess { address, dtype, alignment, in_bounds: vec![], bytes: bytes(&store.shape, dtype) }
    }

    /// What the lanes of a thread have in common at an access.
    pub(super) fn common(&self, schedule: &Schedule, access: &MemoryAccess) -> Lanes {
        self.common_along(schedule.along(), access, schedule.lanes())
    }

    /// What so many lanes along a domain have in common at an access. The first lane is at a multiple of their number.
    pub(super) fn common_along(
        &self,
        (along, other): (&AxisDomain, &AxisDomain),
        MemoryAccess { address, dtype, alignment, in_bounds, .. }: &MemoryAccess,
        lanes: u32,
    ) -> Lanes {
        let count = i64::from(lanes);
        if count == 1 {
            return Lanes::Each;
        }
        let aligned = *alignment as i64 >= (count * dtype.size() as i64).min(16);
        match address {
            Address::Affine(Offset { base, slopes }) => {
                let groups = along.groups(slopes);
                let Some((last, outer)) = groups.split_last() else { return Lanes::One };
                if last.inner != 1 || last.extent % count != 0 {
                    return Lanes::Each;
                }
                let multiples = outer.iter().chain(&other.groups(slopes)).all(|group| group.slope % count == 0);
                match last.slope {
                    0 => Lanes::One,
                    1 if aligned && multiples && base % count == 0 => Lanes::Neighbours,
                    _ => Lanes::Each,
                }
            }
            Address::Indexed { index, strides } => {
                let Some(axis) = along.innermost() else { return Lanes::One };
                if self.kernel.extent(axis as u32).unwrap_or(1) % count != 0 {
                    return Lanes::Each;
                }
                let slopes: Option<Vec<i64>> =
                    index.iter().map(|id| self.analysis.forms[id.0 as usize].slopes[axis]).collect();
                let Some(slopes) = slopes else { return Lanes::Each };
                if slopes.iter().all(|slope| *slope == 0) {
                    return Lanes::One;
                }
                let step: i64 = slopes.iter().zip(strides).map(|(slope, stride)| slope * stride).sum();
                // A guard must decide for all lanes alike.
                let guarded = slopes.iter().zip(in_bounds).any(|(slope, proven)| *slope != 0 && !proven);
                // An index that is clamped may end as any number, whatever it was a multiple of.
                let multiple =
                    |id: &IndexId, proven: bool| if proven { multiple_of(self.kernel, *id, axis, count) } else { 1 };
                let multiples = index
                    .iter()
                    .zip(strides)
                    .zip(in_bounds)
                    .all(|((id, stride), proven)| multiple(id, *proven).saturating_mul(*stride) % count == 0);
                if step == 1 && !guarded && aligned && multiples { Lanes::Neighbours } else { Lanes::Each }
            }
        }
    }
}

fn bytes(shape: &[i64], dtype: Dtype) -> u64 {
    passhost_ir::numel(shape).saturating_mul(dtype.size())
}
