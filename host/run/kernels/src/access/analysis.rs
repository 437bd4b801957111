//! What the values of a kernel depend on, and in which order its axes are visited.

use super::forms::{AxisSet, IndexForm, form, needed_by};
use passhost_ir::Kernel;
use passhost_ir::kernel::{IndexExpr, IndexId, Op, Reg};

/// What each value and index expression of a kernel depends on, and which values some store needs.
pub(crate) struct KernelAnalysis {
    pub(crate) forms: Vec<IndexForm>,
    pub(crate) depends: Vec<AxisSet>,
    pub(crate) needed: Vec<bool>,
    /// For each value, the body values that it reads through its index expressions.
    pub(crate) gathers: Vec<Vec<Reg>>,
    /// Whether it reduces or scans.
    pub(crate) reduces: bool,
}

impl KernelAnalysis {
    /// Looks at a verified kernel.
    pub(crate) fn new(kernel: &Kernel) -> KernelAnalysis {
        let axes = kernel.parallel.len() + kernel.reduce.len();
        let reduce_set: AxisSet = (kernel.parallel.len()..axes).fold(0, |set, axis| set | 1 << axis);
        // Index expressions may read body values, and those index expressions: a value looks at what it needs of the
        // index list, in order.
        let mut known = vec![false; kernel.index.len()];
        let mut forms = vec![form(IndexExpr::Const(0), &[], axes, |_| 0); kernel.index.len()];
        let (mut depends, mut gathers) = (Vec::<AxisSet>::new(), Vec::new());
        for inst in &kernel.body {
            let roots = index_roots(&inst.op);
            let mut values = vec![];
            for (at, _) in needed_by(kernel, roots).into_iter().enumerate().filter(|(_, needed)| *needed) {
                if let IndexExpr::Value(reg) = kernel.index[at] {
                    values.push(reg);
                }
                if !known[at] {
                    forms[at] = form(kernel.index[at], &forms, axes, |reg| depends[reg.0 as usize]);
                    known[at] = true;
                }
            }
            let operands = inst.op.operands().into_iter().fold(0, |set, reg| set | depends[reg.0 as usize]);
            let indices = roots.iter().fold(0, |set, id| set | forms[id.0 as usize].depends);
            depends.push(match inst.op {
                Op::Reduce(..) => operands & !reduce_set,
                Op::Scan(..) => operands | reduce_set,
                _ => operands | indices,
            });
            gathers.push(values);
        }
        let mut needed = vec![false; kernel.body.len()];
        for store in &kernel.stores {
            needed[store.value.0 as usize] = true;
        }
        for at in (0..kernel.body.len()).rev() {
            if needed[at] {
                for reg in kernel.body[at].op.operands().iter().chain(&gathers[at]) {
                    needed[reg.0 as usize] = true;
                }
            }
        }
        let reduces = kernel.body.iter().any(|inst| matches!(inst.op, Op::Reduce(..) | Op::Scan(..)));
        KernelAnalysis { forms, depends, needed, gathers, reduces }
    }

    /// What a value reads, by itself and through its index expressions.
    pub(crate) fn reads(&self, kernel: &Kernel, reg: Reg) -> Vec<Reg> {
        [kernel.body[reg.0 as usize].op.operands().as_slice(), &self.gathers[reg.0 as usize]].concat()
    }
}

fn index_roots(op: &Op) -> &[IndexId] {
    match op {
        Op::Index(id) => std::slice::from_ref(id),
        Op::Load { index, .. } => index,
        _ => &[],
    }
}

/// The axes that `keep` keeps, in the order of the largest store, so that it is written from front to back; those that
/// it does not have come last.
pub(crate) fn axes_in_store_order(kernel: &Kernel, keep: impl Fn(usize) -> bool) -> Vec<usize> {
    let largest = kernel.stores.iter().rev().max_by_key(|store| passhost_ir::numel(&store.shape));
    let order = largest.into_iter().flat_map(|store| &store.order);
    let mut axes: Vec<usize> = order.map(|axis| *axis as usize).filter(|axis| keep(*axis)).collect();
    let all = kernel.parallel.len() + kernel.reduce.len();
    let rest: Vec<usize> = (0..all).filter(|axis| keep(*axis) && !axes.contains(axis)).collect();
    axes.extend(rest);
    axes
}
