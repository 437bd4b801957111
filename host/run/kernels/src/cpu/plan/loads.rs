//! How loads find their elements, as far as it does not depend on where inputs lie.

use super::build::PlanBuilder;
use super::{Action, LoadPlan, PiecePlan, Place};
use crate::access::{Affine, AxisSet};
use crate::cpu::compute::Code;
use crate::cpu::lanes::literal;
use crate::cpu::loop_nest::inside;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Compare, IndexId, Op, PaddingMode, Reg, Scalar};

impl PlanBuilder<'_> {
    /// Plans a load. An index that is affine and may be outside along one axis limits the positions along it, where what is
    /// outside is padding; any other that may be outside is guarded for each point.
    pub(super) fn load(&mut self, at: Reg, input: usize, index: &[IndexId], padding: PaddingMode) -> Place {
        let decl = &self.kernel.inputs[input];
        let mut limits: Vec<(i64, i64)> = self.extents.iter().map(|extent| (0, *extent)).collect();
        let (mut affine, mut guarded) = (vec![], vec![]);
        for (dim, (id, size)) in index.iter().zip(&decl.shape).enumerate() {
            let form = self.analysis.forms[id.0 as usize].affine.as_ref();
            let within = |start, slope, count| inside(start, slope, *size, count);
            let limited = form.and_then(|form| self.deciding(form, *size, within));
            match (form, limited, padding) {
                (Some(form), ..) if form.within(&self.extents, *size) => affine.push((dim, *id)),
                (_, Some((axis, (low, high))), PaddingMode::Pad(_)) => {
                    limits[axis] = (limits[axis].0.max(low), limits[axis].1.min(high));
                    affine.push((dim, *id));
                }
                _ => guarded.push(dim),
            }
        }
        let pad = match padding {
            PaddingMode::Pad(scalar) => Some(literal(decl.dtype, scalar)),
            PaddingMode::Clamp => None,
        };
        let depends = self.analysis.depends[at.0 as usize];
        let mut sources: Vec<Place> = guarded.iter().map(|dim| self.index(index[*dim])).collect();
        let point = self.is_point(depends);
        // Indices of rows serve all their points.
        if point && !sources.iter().all(|place| matches!(place, Place::Row(_) | Place::Const(_))) {
            sources = sources.into_iter().map(|place| self.on_points(place, Dtype::I64)).collect();
        }
        if guarded.is_empty() {
            self.plain_loads.insert(at, self.loads.len());
        }
        let size = decl.dtype.size() as usize;
        self.loads.push(LoadPlan { pieces: vec![PiecePlan { input, affine, limits }], guarded, pad, point, size });
        self.push_load(self.loads.len() - 1, decl.dtype, sources, depends)
    }

    /// The axis whose positions alone decide where an index is, as `of` its start, slope and number of positions says. Other
    /// axes move it by no more than `reach`, and not to where `of` says something else.
    fn deciding<T: PartialEq>(&self, form: &Affine, reach: i64, of: impl Fn(i64, i64, i64) -> T) -> Option<(usize, T)> {
        let moving = |axis: &usize| form.slopes[*axis] != 0 && self.extents[*axis] > 1;
        (0..self.extents.len()).filter(moving).find_map(|axis| {
            let (mut least, mut most) = (form.constant, form.constant);
            for other in (0..self.extents.len()).filter(moving).filter(|other| *other != axis) {
                let moved = form.slopes[other].checked_mul(self.extents[other] - 1)?;
                let end = if moved < 0 { &mut least } else { &mut most };
                *end = end.checked_add(moved)?;
            }
            let [first, last] = [least, most].map(|start| of(start, form.slopes[axis], self.extents[axis]));
            (most.checked_sub(least)? <= reach && first == last).then_some((axis, first))
        })
    }

    pub(super) fn push_load(&mut self, number: usize, dtype: Dtype, sources: Vec<Place>, depends: AxisSet) -> Place {
        let place = self.push(Action::Load(number), dtype, sources, depends);
        // Any byte that is not 0 is true.
        if dtype == Dtype::Bool { self.compute(Code::Truth, dtype, vec![place]) } else { place }
    }

    /// One load in place of a choice between two by the position along an axis, as where tensors are joined: its number, and
    /// the axes that it depends on.
    pub(super) fn joined_load(&mut self, condition: Reg, a: Reg, b: Reg) -> Option<(usize, AxisSet)> {
        let inst = |reg: Reg| &self.kernel.body[reg.0 as usize].op;
        let Op::Compare(Compare::Lt, index, bound) = inst(condition) else { return None };
        let (Op::Index(id), Op::Const(Scalar::Int(bound))) = (inst(*index), inst(*bound)) else { return None };
        let form = self.analysis.forms[id.0 as usize].affine.as_ref()?;
        let below = |start, slope, count| positions_below(*bound, start, slope, count);
        let (axis, cut) = self.deciding(form, i64::MAX, below)?;
        let (extent, cut) = (self.extents[axis], cut?);
        let (first, second) = (&self.loads[*self.plain_loads.get(&a)?], &self.loads[*self.plain_loads.get(&b)?]);
        if first.pad.zip(second.pad).is_some_and(|(a, b)| a != b) {
            return None;
        }
        let part = |load: &LoadPlan, low: i64, high: i64| -> Vec<PiecePlan> {
            let cut = |piece: &PiecePlan| {
                let mut piece = piece.clone();
                let (from, to) = piece.limits[axis];
                piece.limits[axis] = (from.max(low), to.min(high));
                piece
            };
            load.pieces.iter().map(cut).filter(|piece| piece.limits[axis].0 < piece.limits[axis].1).collect()
        };
        let pieces = [part(first, 0, cut), part(second, cut, extent)].concat();
        // Elements outside of one are padding, and where the other clamps, none of its are.
        let pad = first.pad.or(second.pad);
        let depends = [a, b].iter().fold(1 << axis, |set, reg| set | self.analysis.depends[reg.0 as usize]);
        if pieces.is_empty() {
            return None;
        }
        self.loads.push(LoadPlan { pieces, guarded: vec![], pad, point: self.is_point(depends), size: first.size });
        Some((self.loads.len() - 1, depends))
    }
}

/// Of positions `0 .. count` along an axis, the number of those at which `start + slope * position` is below a bound, where
/// they are the first ones.
fn positions_below(bound: i64, start: i64, slope: i64, count: i64) -> Option<i64> {
    let (distance, slope) = (i128::from(bound) - i128::from(start), i128::from(slope));
    (slope > 0).then(|| (distance + slope - 1).div_euclid(slope).clamp(0, i128::from(count)) as i64)
}

impl LoadPlan {
    /// Whether every point is in one of the pieces: they differ along one axis, and are complete along the others.
    pub(crate) fn covers(&self, extents: &[i64]) -> bool {
        let partial = |axis: &usize| self.pieces.iter().any(|piece| piece.limits[*axis] != (0, extents[*axis]));
        let mut axes = (0..extents.len()).filter(partial);
        match (axes.next(), axes.next()) {
            (None, _) => true,
            (Some(axis), None) => {
                let points: i64 = self.pieces.iter().map(|piece| piece.limits[axis].1 - piece.limits[axis].0).sum();
                points == extents[axis]
            }
            _ => false,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::cpu::storage::{Stored, run};
    use crate::cpu::{CallingThread, CpuKernel};
    use passhost_ir::kernel::scalar::Num;
    use passhost_ir::kernel::{Mode, Tensor, interpret, verify};
    use passhost_ir::{Dtype, Kernel};
    use passhost_random_kernels::check_against;

    #[test]
    fn where_two_axes_move_an_index_one_of_them_may_decide_where_it_is() {
        let input = |extent: i64| Tensor::from_fn(Dtype::I32, [extent], |at| Num::Int(at as i64 + 1));
        for cut in -2..=50 {
            let text = format!(
                "kernel {{
  space p0=6, p1=8
  in x0: i32[48]
  in x1: i32[24]
  i0 = p0
  i1 = i0 * 8
  i2 = p1
  i3 = i1 + i2
  v0: i32 = load x0[i3] clamp
  i4 = {}
  i5 = i3 + i4
  v1: i32 = load x1[i5] pad 0
  v2: i64 = index i3
  v3: i64 = const {cut}
  v4: bool = lt v2, v3
  v5: i32 = select v4, v0, v1
  out v5 over [p0, p1] as [48]
}}",
                -cut
            );
            let kernel: Kernel = text.parse().unwrap();
            let compiled = CpuKernel::compile(&kernel).unwrap();
            let inputs = [input(48), input(24)];
            let expected = interpret(&kernel, &verify(&kernel).unwrap(), &inputs, Mode::Declared);
            let found = run(&compiled, &inputs.each_ref().map(Stored::dense), &CallingThread).unwrap();
            assert!(check_against(&expected[0], &found[0]).is_ok(), "{kernel}");
            let guarded = compiled.plan.loads.iter().any(|load| !load.guarded.is_empty());
            // Where whole rows of `p1` are inside or not.
            let decided = cut % 8 == 0 || cut >= 48;
            assert_eq!(guarded, !decided, "{kernel}");
        }
    }
}
