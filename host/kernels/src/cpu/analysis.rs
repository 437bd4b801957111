//! What the values of a kernel depend on, and which axes a plan makes its inner axes.

use super::index::{AxisSet, Form, Program, form};
use passhost_ir::Kernel;
use passhost_ir::kernel::{Binary, IndexExpr, IndexId, Op, Reg, Unary};

/// What each value and index expression of a kernel depends on, and which values some store needs.
pub(crate) struct Analysis {
    pub(crate) forms: Vec<Form>,
    pub(crate) depends: Vec<AxisSet>,
    pub(crate) needed: Vec<bool>,
    /// For each value, the body values that it reads through its index expressions.
    pub(crate) gathers: Vec<Vec<Reg>>,
    /// Whether it reduces or scans.
    pub(crate) reduces: bool,
}

impl Analysis {
    /// Looks at a verified kernel.
    pub(crate) fn new(kernel: &Kernel) -> Analysis {
        let axes = kernel.parallel.len() + kernel.reduce.len();
        let reduce_set: AxisSet = (kernel.parallel.len()..axes).fold(0, |set, axis| set | 1 << axis);
        // Index expressions may read body values, and those index expressions: a value looks at what it needs of the
        // index list, in order.
        let mut forms: Vec<Option<Form>> = vec![None; kernel.index.len()];
        let blank = form(IndexExpr::Const(0), &[], axes, |_| 0);
        let mut dense = vec![blank; kernel.index.len()];
        let (mut depends, mut gathers) = (Vec::<AxisSet>::new(), Vec::new());
        for inst in &kernel.body {
            let roots = index_roots(&inst.op);
            let program = Program::new(kernel, roots);
            for id in &program.expressions {
                let at = id.0 as usize;
                if forms[at].is_none() {
                    let found = form(kernel.index[at], &dense, axes, |reg| depends[reg.0 as usize]);
                    dense[at] = found.clone();
                    forms[at] = Some(found);
                }
            }
            let operands = inst.op.operands().into_iter().fold(0, |set, reg| set | depends[reg.0 as usize]);
            let indices = roots.iter().fold(0, |set, id| set | dense[id.0 as usize].depends);
            depends.push(match inst.op {
                Op::Reduce(..) => operands & !reduce_set,
                Op::Scan(..) => operands | reduce_set,
                _ => operands | indices,
            });
            gathers.push(program.values);
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
        Analysis { forms: dense, depends, needed, gathers, reduces }
    }
}

fn index_roots(op: &Op) -> &[IndexId] {
    match op {
        Op::Index(id) => std::slice::from_ref(id),
        Op::Load { index, .. } => index,
        _ => &[],
    }
}

/// What a value costs beside a load, roughly, in simple vector operations.
fn weight(op: &Op) -> u64 {
    match op {
        Op::Const(_) | Op::Load { .. } | Op::Index(_) => 0,
        Op::Unary(Unary::Neg | Unary::Abs | Unary::Not | Unary::IsNan, _) => 1,
        Op::Unary(Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Round, _) => 1,
        Op::Unary(..) | Op::Binary(Binary::Rem | Binary::Pow | Binary::Atan2, ..) => 20,
        Op::Binary(Binary::Div, ..) => 8,
        _ => 1,
    }
}

/// Row axes and inner axes, each outermost first.
pub(crate) fn split_axes(kernel: &Kernel, analysis: &Analysis) -> (Vec<usize>, Vec<usize>) {
    let (parallel, all) = (kernel.parallel.len(), kernel.parallel.len() + kernel.reduce.len());
    // The largest store decides the order of the visit, so that it is written from front to back.
    let order =
        kernel.stores.iter().rev().max_by_key(|store| passhost_ir::numel(&store.shape)).map(|store| &store.order);
    let ordered = |keep: &dyn Fn(usize) -> bool| -> Vec<usize> {
        let mut axes: Vec<usize> =
            order.into_iter().flatten().map(|axis| *axis as usize).filter(|a| keep(*a)).collect();
        axes.extend((0..all).filter(|axis| keep(*axis)).filter(|axis| !axes.contains(axis)).collect::<Vec<_>>());
        axes
    };
    if analysis.reduces || kernel.stores.iter().any(|store| store.order.len() < all) {
        return (ordered(&|axis| axis < parallel), (parallel..all).collect());
    }
    let mut row = ordered(&|_| true);
    let mut best = (0, row.len());
    for at in 0..row.len() {
        let inner: AxisSet = row[at..].iter().fold(0, |set, axis| set | 1 << axis);
        let extent = |axes: &[usize]| axes.iter().map(|a| kernel.extent(*a as u32).unwrap_or(1)).product::<i64>();
        // Rows must be many enough for the threads and long enough for vectors.
        if extent(&row[at..]) < 16 || extent(&row[..at]) < 16 {
            continue;
        }
        let gain: u64 = (0..kernel.body.len())
            .filter(|i| analysis.needed[*i] && analysis.depends[*i] & inner == 0)
            .map(|i| weight(&kernel.body[i].op))
            .sum();
        if gain > best.0 {
            best = (gain, at);
        }
    }
    // A few additions are not worth a tile of their own.
    let inner = row.split_off(if best.0 >= 4 { best.1 } else { row.len() });
    (row, inner)
}
