//! How loads find their elements, as far as it does not depend on where inputs lie.

use super::build::PlanBuilder;
use super::{Action, LoadPlan, PiecePlan, Place};
use crate::access::AxisSet;
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
            let moving = form
                .map(|form| (0..self.extents.len()).filter(|axis| form.slopes[*axis] != 0 && self.extents[*axis] > 1));
            let axis = moving.and_then(|mut axes| axes.next().filter(|_| axes.next().is_none()));
            match (form, axis, padding) {
                (Some(form), ..) if form.within(&self.extents, *size) => affine.push((dim, *id)),
                (Some(form), Some(axis), PaddingMode::Pad(_)) => {
                    let (low, high) = inside(form.constant, form.slopes[axis], *size, self.extents[axis]);
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
        let mut moving = (0..self.extents.len()).filter(|axis| form.slopes[*axis] != 0);
        let axis = moving.next().filter(|axis| form.slopes[*axis] == 1 && moving.next().is_none())?;
        let (extent, cut) = (self.extents[axis], bound.checked_sub(form.constant)?.clamp(0, self.extents[axis]));
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
