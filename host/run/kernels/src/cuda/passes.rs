//! The order of computation: passes over the points of a row, with the values of whole rows between them.
//!
//! A reduction ends a pass: what depends on its result waits for the next. A later pass computes anew what it needs of
//! an earlier one, or finds it *kept*.

use crate::access::KernelAnalysis;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Class, Facts, Kernel, Op, Reg};

/// A pass: values of the row, then values of its points.
#[derive(Debug, Clone, Default)]
pub(super) struct RowPass {
    /// Row values that can be computed before the points, in order; reductions of the pass before are there already.
    pub(super) row: Vec<Reg>,
    /// Stores of row values, by position.
    pub(super) row_stores: Vec<usize>,
    /// Everything to compute at each point if nothing was kept, in order.
    pub(super) anew: Vec<Reg>,
    /// Everything to compute at each point if [`Passes::kept`] values are at hand, in order.
    pub(super) kept: Vec<Reg>,
    /// Reductions that this pass feeds.
    pub(super) reduces: Vec<Reg>,
    /// Stores at each point, by position.
    pub(super) stores: Vec<usize>,
}

/// All passes of a kernel.
#[derive(Debug, Clone, Default)]
pub(super) struct Passes {
    pub(super) list: Vec<RowPass>,
    /// Values of points that a later pass needs again.
    pub(super) kept: Vec<Reg>,
}

impl Passes {
    /// The passes of a kernel. With `points` false, every value counts as one of the row: the kernel is a map. With
    /// `saves_room`, what is left of an element without a value of its row is computed anew rather than kept.
    pub(super) fn new(
        kernel: &Kernel,
        facts: &Facts,
        analysis: &KernelAnalysis,
        points: bool,
        saves_room: bool,
    ) -> Passes {
        let is_point = |reg: Reg| points && facts.class(reg) == Class::Elem;
        let reads = |reg: Reg| analysis.reads(kernel, reg);
        // The pass that a value belongs to; a reduction's result belongs to the one after its operand's.
        let mut number = vec![0usize; kernel.body.len()];
        let needed = || (0..).zip(&analysis.needed).filter(|(_, needed)| **needed).map(|(at, _)| Reg(at));
        for reg in needed() {
            let before = reads(reg).into_iter().map(|reg| number[reg.0 as usize]).max().unwrap_or(0);
            number[reg.0 as usize] = before + usize::from(matches!(kernel.body[reg.0 as usize].op, Op::Reduce(..)));
        }
        let count = needed().map(|reg| number[reg.0 as usize] + 1).max().unwrap_or(1);
        let mut list = vec![RowPass::default(); count];
        for reg in needed() {
            match kernel.body[reg.0 as usize].op {
                Op::Reduce(..) => list[number[reg.0 as usize] - 1].reduces.push(reg),
                _ if is_point(reg) => {}
                _ => list[number[reg.0 as usize]].row.push(reg),
            }
        }
        let all = kernel.parallel.len() + kernel.reduce.len();
        for (position, store) in kernel.stores.iter().enumerate() {
            let pass = &mut list[number[store.value.0 as usize]];
            if points && store.order.len() == all && !kernel.reduce.is_empty() {
                pass.stores.push(position);
            } else {
                pass.row_stores.push(position);
            }
        }
        let closure = |roots: Vec<Reg>, at_hand: &dyn Fn(Reg) -> bool| {
            let mut wanted = vec![false; kernel.body.len()];
            let mut stack = roots;
            while let Some(reg) = stack.pop() {
                if is_point(reg) && !wanted[reg.0 as usize] && !at_hand(reg) {
                    wanted[reg.0 as usize] = true;
                    stack.extend(reads(reg));
                }
            }
            (0..).map(Reg).take(kernel.body.len()).filter(|reg| wanted[reg.0 as usize]).collect::<Vec<Reg>>()
        };
        for pass in &mut list {
            pass.anew = closure(roots(kernel, pass), &|_| false);
        }
        // What is read again and costs more than a conversion is kept.
        let mut kept: Vec<Reg> = vec![];
        let mut seen = vec![false; kernel.body.len()];
        for pass in &list {
            let mut stack = roots(kernel, pass);
            while let Some(reg) = stack.pop() {
                if !is_point(reg) || kept.contains(&reg) {
                    continue;
                }
                if seen[reg.0 as usize] && !is_cheap(kernel, reg, is_point, saves_room) {
                    kept.push(reg);
                } else {
                    stack.extend(reads(reg));
                }
            }
            pass.anew.iter().for_each(|reg| seen[reg.0 as usize] = true);
        }
        kept.sort_unstable();
        let mut at_hand = vec![false; kernel.body.len()];
        for pass in &mut list {
            // A kept value that this pass computes first is a root of it.
            let first: Vec<Reg> =
                kept.iter().copied().filter(|reg| !at_hand[reg.0 as usize] && pass.anew.contains(reg)).collect();
            let wanted = roots(kernel, pass).into_iter().chain(first.iter().copied()).collect();
            pass.kept = closure(wanted, &|reg| at_hand[reg.0 as usize]);
            first.iter().for_each(|reg| at_hand[reg.0 as usize] = true);
        }
        Passes { list, kept }
    }

    /// Whether everything at the points of a row is done in the first pass.
    pub(super) fn points_come_first(&self) -> bool {
        self.list.iter().skip(1).all(|pass| pass.reduces.is_empty() && pass.stores.is_empty())
    }

    /// Bytes per point that kept values take in registers, between the passes where they take most: one that is read for
    /// the last time makes room for those that are computed of it.
    pub(super) fn kept_bytes(&self, kernel: &Kernel) -> u64 {
        let computes = |pass: &RowPass, reg: Reg| pass.kept.contains(&reg);
        let reads = |pass: &RowPass, reg: Reg| {
            let of = |at: &Reg| kernel.body[at.0 as usize].op.operands();
            roots(kernel, pass).contains(&reg) || pass.kept.iter().flat_map(of).any(|operand| operand == reg)
        };
        let after = |number: usize| {
            let (before, later) = self.list.split_at(number);
            let is_live = |reg: &&Reg| {
                before.iter().any(|pass| computes(pass, **reg)) && later.iter().any(|pass| reads(pass, **reg))
            };
            self.kept.iter().filter(is_live).map(|reg| kernel.body[reg.0 as usize].dtype.size().max(4)).sum()
        };
        (1..self.list.len()).map(after).max().unwrap_or(0)
    }
}

/// What a pass is for.
fn roots(kernel: &Kernel, pass: &RowPass) -> Vec<Reg> {
    let reduced = pass.reduces.iter().flat_map(|reg| kernel.body[reg.0 as usize].op.operands());
    reduced.chain(pass.stores.iter().map(|store| kernel.stores[*store].value)).collect()
}

/// Whether a value costs so little that it is computed again rather than kept. `is_point` says which are not the row's.
fn is_cheap(kernel: &Kernel, reg: Reg, is_point: impl Fn(Reg) -> bool, saves_room: bool) -> bool {
    match kernel.body[reg.0 as usize].op {
        Op::Index(_) | Op::Const(_) => true,
        // It takes no less room than the point's operand, which was needed before it.
        Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b) => saves_room && is_point(a) != is_point(b),
        Op::Cast(a) => {
            let from = kernel.body[a.0 as usize].dtype;
            from.size() <= 2 && from != Dtype::Bool
        }
        _ => false,
    }
}
