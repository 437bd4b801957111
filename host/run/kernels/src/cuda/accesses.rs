//! The accesses that decide how wide a thread's others are, and which rows are neighbours.

use super::chooser::{Chooser, MemoryAccess};
use super::space::{load_address, store_address};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Class, Op};

impl Chooser<'_> {
    /// The loads and stores that range over all points, or over the rows of a map.
    pub(super) fn accesses(&self, elements: bool) -> Vec<MemoryAccess> {
        let all = self.kernel.parallel.len() + self.kernel.reduce.len();
        let loads = self.needed().filter_map(|(reg, op)| {
            let Op::Load { input, index, .. } = op else { return None };
            let in_bounds = self.facts.in_bounds[reg.0 as usize].clone();
            let proven = in_bounds.iter().all(|proven| *proven);
            let wanted = !elements || self.facts.class(reg) == Class::Elem;
            wanted.then(|| MemoryAccess {
                address: load_address(self.kernel, self.analysis, proven, (*input, index), self.layout),
                dtype: self.kernel.inputs[*input as usize].dtype,
                alignment: self.layout.alignments[*input as usize],
                in_bounds,
                bytes: bytes(&self.kernel.inputs[*input as usize].shape, self.kernel.inputs[*input as usize].dtype),
            })
        });
        let stores = self.kernel.stores.iter().zip(&self.layout.outputs);
        let stores =
            stores.filter(|(store, _)| !elements || store.order.len() == all).map(|(store, alignment)| MemoryAccess {
                address: store_address(self.kernel, &store.order),
                dtype: self.kernel.body[store.value.0 as usize].dtype,
                alignment: *alignment,
                in_bounds: vec![],
                bytes: bytes(&store.shape, self.kernel.body[store.value.0 as usize].dtype),
            });
        loads.chain(stores).collect()
    }
}

fn bytes(shape: &[i64], dtype: Dtype) -> u64 {
    passhost_ir::numel(shape).saturating_mul(dtype.size())
}
