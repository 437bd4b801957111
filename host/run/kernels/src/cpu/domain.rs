//! The order in which the points of a kernel are numbered, for storage of some layout.

use super::load::Access;
use super::loop_nest::{Loop, LoopNest};
use super::plan::CpuPlan;
use crate::access::Offset;

/// An axis, or a part of one: `step` positions apart.
#[derive(Debug, Clone, Copy)]
struct DomainAxis {
    axis: usize,
    step: i64,
    extent: i64,
}

/// Axes in the order in which their points are numbered, outermost first.
pub(crate) struct Domain {
    rows: Vec<DomainAxis>,
    inner: Vec<DomainAxis>,
    columns: bool,
    extents: Vec<i64>,
}

impl Domain {
    /// The order that the plan has, or one by squares where that reads an input's neighbours together.
    pub(crate) fn new(plan: &CpuPlan, columns: bool, offsets: &[Vec<Offset>]) -> Domain {
        let whole = |axes: &[usize]| -> Vec<DomainAxis> {
            axes.iter().map(|axis| DomainAxis { axis: *axis, step: 1, extent: plan.extents[*axis] }).collect()
        };
        let rows = squares(plan, offsets).unwrap_or_else(|| whole(&plan.row_axes));
        Domain { rows, inner: whole(&plan.inner_axes), columns, extents: plan.extents.clone() }
    }

    /// Where the rows or points lie, if the positions along each axis are within these limits.
    pub(crate) fn access(&self, offset: &Offset, limits: Option<&Vec<(i64, i64)>>, point: bool) -> Access {
        let axis = |axis: &DomainAxis| {
            // Only whole axes are limited.
            let limit = limits.map(|limits| limits[axis.axis]).filter(|limit| *limit != (0, self.extents[axis.axis]));
            let (low, high) = limit.unwrap_or((0, axis.extent));
            Loop { extent: axis.extent, stride: offset.slopes[axis.axis].wrapping_mul(axis.step), low, high }
        };
        let rows = self.rows.iter().map(axis);
        if point && !self.columns {
            return Access { nest: LoopNest::new(offset.base, rows.chain(self.inner.iter().map(axis))), point: None };
        }
        let point = point.then(|| LoopNest::new(0, self.inner.iter().map(axis)));
        Access { nest: LoopNest::new(offset.base, rows), point }
    }
}

/// For a map whose points are one row each, and of which an input's neighbours lie along another axis than the output's:
/// both axes in parts, such that a strip is some of each.
fn squares(plan: &CpuPlan, offsets: &[Vec<Offset>]) -> Option<Vec<DomainAxis>> {
    /// Positions along either side of a square, about.
    const SIDE: i64 = 64;
    if !plan.inner_axes.is_empty() {
        return None;
    }
    let inner = *plan.row_axes.iter().rfind(|axis| plan.extents[**axis] > 1)?;
    let crossing = |offset: &Offset| {
        let side_by_side = |axis: &&usize| plan.extents[**axis] > 1 && offset.slopes[**axis] == 1;
        plan.row_axes.iter().find(side_by_side).filter(|axis| **axis != inner && offset.slopes[inner] > 1).copied()
    };
    let outer = offsets.iter().flatten().find_map(crossing)?;
    let limited = |axis: usize| {
        let pieces = plan.loads.iter().flat_map(|load| &load.pieces);
        pieces.into_iter().any(|piece| piece.limits[axis] != (0, plan.extents[axis]))
    };
    let part = |axis: usize| {
        let extent = plan.extents[axis];
        (extent.min(SIDE / 4)..=SIDE).rev().find(|part| extent % part == 0 && !limited(axis))
    };
    let split = |axis: usize, part: i64| {
        [DomainAxis { axis, step: part, extent: plan.extents[axis] / part }, DomainAxis { axis, step: 1, extent: part }]
    };
    let [outer_squares, outer_side] = split(outer, part(outer)?);
    let [inner_squares, inner_side] = split(inner, part(inner)?);
    let others = plan.row_axes.iter().filter(|axis| **axis != outer && **axis != inner);
    let mut axes: Vec<DomainAxis> =
        others.map(|axis| DomainAxis { axis: *axis, step: 1, extent: plan.extents[*axis] }).collect();
    axes.extend([outer_squares, inner_squares, outer_side, inner_side]);
    Some(axes)
}
