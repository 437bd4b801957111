//! Which axes the values of a kernel follow, and what that says of its work.

use super::constants::Constants;
use passhost_ir::kernel::effort::cost;
use passhost_ir::kernel::{IndexExpr, IndexId, Inst, Op};
use passhost_ir::{Kernel, TensorType};

/// Results along a side of a tile.
const TILE: f64 = 64.0;

/// Which axes the values of a kernel follow.
pub(super) struct KernelAxes {
    extents: Vec<i64>,
    parallel: usize,
    /// For each index expression the axes it follows, as bits.
    index: Vec<u32>,
    /// For each index expression what it is at the first point, and behind one step along each axis.
    steps: Vec<Vec<i64>>,
    /// For each value the axes it follows.
    pub(super) values: Vec<u32>,
}

impl KernelAxes {
    pub(super) fn of(kernel: &Kernel) -> KernelAxes {
        let extents: Vec<i64> = kernel.parallel.iter().chain(&kernel.reduce).copied().collect();
        let parallel = kernel.parallel.len();
        let mut axes =
            KernelAxes { parallel, index: vec![0; kernel.index.len()], steps: vec![], values: vec![], extents };
        let points = axes.extents.len() + 1;
        let rows = (1u32 << parallel) - 1;
        // Indices that come from values are settled once the values are: twice over the body does for one gather.
        let gathers = kernel.index.iter().any(|expr| matches!(expr, IndexExpr::Value(_)));
        for _ in 0..=usize::from(gathers) {
            axes.values.clear();
            for (position, expr) in kernel.index.iter().enumerate() {
                axes.index[position] = match *expr {
                    IndexExpr::Axis(axis) => 1 << axis,
                    IndexExpr::Const(_) => 0,
                    IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => axes.index[a.0 as usize] | axes.index[b.0 as usize],
                    IndexExpr::Mul(a, _) | IndexExpr::FloorDiv(a, _) | IndexExpr::Mod(a, _) => axes.index[a.0 as usize],
                    IndexExpr::Value(value) => {
                        axes.values.get(value.0 as usize).copied().unwrap_or(axes.index[position])
                    }
                };
            }
            for inst in &kernel.body {
                let mask = match &inst.op {
                    Op::Index(index) => axes.index[index.0 as usize],
                    Op::Load { index, .. } => axes.of_load(index),
                    Op::Reduce(_, value) => axes.values[value.0 as usize] & rows,
                    op => op.operands().iter().fold(0, |mask, value| mask | axes.values[value.0 as usize]),
                };
                axes.values.push(mask);
            }
        }
        for expr in &kernel.index {
            let at = |id: IndexId, point: usize| axes.steps[id.0 as usize][point];
            let value = |point: usize| match *expr {
                IndexExpr::Axis(axis) => i64::from(point == axis as usize + 1),
                IndexExpr::Const(value) => value,
                IndexExpr::Add(a, b) => at(a, point).wrapping_add(at(b, point)),
                IndexExpr::Sub(a, b) => at(a, point).wrapping_sub(at(b, point)),
                IndexExpr::Mul(a, factor) => at(a, point).wrapping_mul(factor),
                IndexExpr::FloorDiv(a, divisor) => at(a, point).div_euclid(divisor.max(1)),
                IndexExpr::Mod(a, divisor) => at(a, point).rem_euclid(divisor.max(1)),
                IndexExpr::Value(_) => 0,
            };
            let steps = (0..points).map(value).collect();
            axes.steps.push(steps);
        }
        axes
    }

    pub(super) fn of_load(&self, index: &[IndexId]) -> u32 {
        index.iter().fold(0, |mask, index| mask | self.index[index.0 as usize])
    }

    pub(super) fn is_element(&self, mask: u32) -> bool {
        mask >> self.parallel != 0
    }

    /// Points of the axes in a mask.
    fn points(&self, mask: u32) -> f64 {
        let extents = self.extents.iter().enumerate().filter(|(axis, _)| mask & (1 << axis) != 0);
        extents.map(|(_, &extent)| extent as f64).product()
    }

    /// The axis along which results lie in memory: that of the largest store over all axes, or else the last.
    pub(super) fn fast(&self, kernel: &Kernel) -> Option<usize> {
        let whole = kernel.stores.iter().find(|store| store.order.len() == self.extents.len());
        let long = |axis: &usize| self.extents[*axis] > 1;
        match whole {
            Some(store) => store.order.iter().rev().map(|&axis| axis as usize).find(long),
            None => None,
        }
    }

    /// Bytes that a load costs, as if they were read in order.
    pub(super) fn read(&self, ty: &TensorType, index: &[IndexId], fast: Option<usize>, constants: &Constants) -> f64 {
        let mask = self.of_load(index);
        let count = self.points(mask).min(ty.numel() as f64);
        let step = |axis: usize| -> i64 {
            let moved = index.iter().zip(&ty.strides).map(|(index, stride)| {
                let steps = &self.steps[index.0 as usize];
                (steps[axis + 1] - steps[0]).wrapping_mul(*stride)
            });
            moved.fold(0, i64::wrapping_add)
        };
        let follows_fast = fast.filter(|&axis| mask & (1 << axis) != 0);
        let factor = match follows_fast {
            Some(axis) if step(axis).abs() > 1 => constants.strided,
            _ => 1.0,
        };
        count * ty.dtype.size() as f64 * factor
    }

    /// How many times as long a load takes because rows lie across memory; `position` as [`Constants::across`] has it.
    pub(super) fn across(&self, ty: &TensorType, index: &[IndexId], constants: &Constants, position: u64) -> f64 {
        let Some(dim) = innermost(ty) else { return 1.0 };
        let steps = &self.steps[index[dim].0 as usize];
        constants.across(&|axis| steps[axis + 1].wrapping_sub(steps[0]), self.extents.split_at(self.parallel), position)
    }

    /// How often rows are gone over: once for each reduction that needs another one first.
    pub(super) fn passes(&self, kernel: &Kernel) -> f64 {
        let mut depth = vec![0u32; kernel.body.len()];
        for (position, inst) in kernel.body.iter().enumerate() {
            let operands = inst.op.operands();
            let before = operands.iter().map(|value| depth[value.0 as usize]).max().unwrap_or(0);
            depth[position] = before + u32::from(matches!(inst.op, Op::Reduce(..)));
        }
        let last = kernel.stores.iter().map(|store| {
            let value = store.value.0 as usize;
            depth[value] + u32::from(self.is_element(self.values[value]))
        });
        f64::from(last.max().unwrap_or(1).max(1))
    }

    /// All operations of a kernel; of one in tiles without those of the products and of reading the factors.
    pub(super) fn operations(&self, kernel: &Kernel, constants: &Constants, is_tiled: bool) -> f64 {
        let all = u32::MAX >> (32 - self.extents.len().max(1));
        let times = |mask: u32| {
            let is_row = !kernel.reduce.is_empty() && !self.is_element(mask);
            match is_row {
                true => kernel.rows() as f64,
                // A factor is calculated once for each tile that it is part of.
                false if is_tiled => self.points(mask).max(self.points(all) / TILE),
                false => self.points(all),
            }
        };
        let counts = |inst: &Inst, mask: u32| {
            let is_read = matches!(inst.op, Op::Load { .. } | Op::Cast(_)) || !inst.dtype.is_float();
            !is_tiled || !self.is_element(mask) || mask != all && !is_read
        };
        let body = kernel.body.iter().zip(&self.values).filter(|(inst, mask)| counts(inst, **mask));
        let body = body.map(|(inst, &mask)| times(mask) * cost(&inst.op) as f64);
        let index = kernel.index.iter().zip(&self.index).map(|(expr, &mask)| match expr {
            IndexExpr::FloorDiv(..) | IndexExpr::Mod(..) => times(mask) * constants.division,
            _ => 0.0,
        });
        body.sum::<f64>() + index.sum::<f64>()
    }
}

/// The dimension whose elements are neighbours in memory.
pub(super) fn innermost(ty: &TensorType) -> Option<usize> {
    (0..ty.rank()).filter(|&dim| ty.shape[dim] > 1).min_by_key(|&dim| (ty.strides[dim], usize::MAX - dim))
}
