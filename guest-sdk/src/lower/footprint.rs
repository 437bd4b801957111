//! Which elements an op reduces.

use crate::index::Index;
use passhost_ir::numel;

/// Indices that must lie from 0 to below an extent.
pub(crate) type IndexGuard = Vec<(Index, i64)>;

/// Of sliding windows, at most this many elements are taken one by one.
const LISTED_WINDOW: u64 = 16;

/// Which elements of its first operand an op reduces. Rows are what remains: each is reduced by itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Footprint {
    /// Extents of the space of rows.
    pub(crate) rows: Vec<i64>,
    /// Extents of what is reduced for each of them.
    pub(crate) window: Vec<i64>,
    /// The coordinates in the operand, over the rows and the window as axes.
    pub(crate) at: Vec<Index>,
    /// The row that an element of the result belongs to, over the dimensions of the result.
    pub(crate) row_of: Vec<Index>,
    /// The result has the operand's shape, and its elements depend on the operand's besides the row.
    pub(crate) elementwise: bool,
    /// What lies outside of the operand, where windows reach there.
    pub(crate) outside: Option<f64>,
    /// Over rows and window, where else an element is what lies outside.
    pub(crate) guard: IndexGuard,
    /// Over the rows, how many elements count along each dimension of the window; empty where that is all of them.
    pub(crate) counts: Vec<Index>,
    /// Windows slide over the operand. Where they are small, their elements are taken one by one.
    pub(crate) slides: bool,
    /// All of the window becomes reduce axes all the same, as tiles go over it.
    pub(crate) is_tiled: bool,
}

impl Footprint {
    /// Over some dimensions of a tensor of shape `from`, which the result of shape `to` lacks or has at extent 1.
    pub(super) fn over(from: &[i64], dims: &[usize], to: &[i64]) -> Footprint {
        let keeps_dims = from.len() == to.len();
        let mut footprint = Footprint::elementwise(from, dims);
        footprint.elementwise = false;
        if !keeps_dims {
            footprint.row_of = Index::axes(&footprint.rows);
        }
        footprint
    }

    /// Over some dimensions of a tensor whose shape the result has as well.
    pub(super) fn elementwise(shape: &[i64], dims: &[usize]) -> Footprint {
        let kept: Vec<usize> = (0..shape.len()).filter(|dim| !dims.contains(dim)).collect();
        let row_of = kept.iter().map(|&dim| Index::axis(dim, shape[dim])).collect();
        let mut at = vec![Index::constant(0); shape.len()];
        for (axis, &dim) in kept.iter().chain(dims).enumerate() {
            at[dim] = Index::axis(axis, shape[dim]);
        }
        let extents = |dims: &[usize]| dims.iter().map(|&dim| shape[dim]).collect();
        let (rows, window) = (extents(&kept), extents(dims));
        Footprint { rows, window, at, row_of, elementwise: true, ..Footprint::default() }
    }

    /// Whether the few elements of each window are taken one by one, so that the op needs no reduce axes.
    pub(super) fn is_listed(&self) -> bool {
        self.slides && !self.is_tiled && numel(&self.window) <= LISTED_WINDOW
    }

    /// What of the window reduce axes go over, and what of it is taken one by one at each of their points: the innermost
    /// dimensions of windows that overlap, so that neighbouring rows read what lies side by side.
    pub(super) fn divided_window(&self) -> (&[i64], &[i64]) {
        let fits = |&at: &usize| numel(&self.window[at..]) <= LISTED_WINDOW;
        let rank = self.window.len();
        let first = match self.slides && !self.is_tiled && self.overlaps() {
            true => (1..rank).find(fits).unwrap_or(rank),
            false => rank,
        };
        self.window.split_at(if self.is_listed() { 0 } else { first })
    }

    /// Whether each element is read for one row alone, and for nothing else.
    pub(super) fn reads_once(&self) -> bool {
        !(self.elementwise || self.slides && self.overlaps())
    }

    /// Whether windows next to each other share elements along the innermost dimension of the window.
    fn overlaps(&self) -> bool {
        let Some((last, &size)) = self.window.iter().enumerate().next_back() else { return false };
        self.at.iter().any(|at| {
            let Some(within) = at.step_along(self.rows.len() + last) else { return false };
            let mut steps = (0..self.rows.len()).filter_map(|row| at.step_along(row));
            steps.any(|step| step.abs() < within.abs() * size)
        })
    }
}
