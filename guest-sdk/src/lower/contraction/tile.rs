//! Products that a kernel adds up in tiles: blocks of results that share rows of one factor and columns of the other.

use crate::index::Index;
use crate::lower::LowerError;
use crate::lower::analysis::GraphAnalysis;
use crate::lower::constants::Constants;
use crate::lower::footprint::Footprint;
use crate::lower::kernel_axes::KernelAxes;
use crate::lower::rule::Recipe;
use crate::lower::space::{Anchor, Coordinates};
use fixedbitset::FixedBitSet;
use passhost_ir::kernel::limits;
use passhost_ir::kernel::{Binary, IndexExpr, IndexId, Op, ReduceOp, Reg, Scalar};
use passhost_ir::{Dtype, Kernel, numel};

/// Matrix products: in batches, each of so many rows and columns that are sums of so many products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lower) struct Tile {
    /// Products of matrices.
    batches: u64,
    /// Rows and columns of each.
    sides: [u64; 2],
    /// Products that are added up for each element.
    pub(in crate::lower) terms: u64,
    pub(in crate::lower) kind: TileKind,
    /// Whether a factor is calculated from what is read.
    pub(in crate::lower) is_fronted: bool,
}

/// What the factors of products are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::lower) struct TileKind {
    /// Whether both are of half types as they are read.
    pub(in crate::lower) is_half: bool,
    /// For windows of more than one place, whether they reach beyond their tensor.
    pub(in crate::lower) windows: Option<bool>,
}

/// The shortest side of products in tiles, and the shortest that fills some of a tile: below it, kernels that go over rows
/// one by one take less time.
const SHORTEST: [u64; 2] = [2, 4];
const FEWEST_TERMS: u64 = 8;
/// Why they stand in no kernel with another reduction.
pub(in crate::lower) const ALONE: LowerError =
    LowerError::Tile("have a kernel of their own: another reduction needs a second one");

impl Tile {
    /// Of a node, if its device has kernels for that, and no other kernel does it as well.
    pub(in crate::lower) fn of(analysis: &GraphAnalysis<'_>, position: usize) -> Option<Tile> {
        let graph = analysis.graph;
        Constants::of(analysis.device?).tiles?;
        let Ok(Recipe::Contraction(contraction)) = analysis.recipe(position) else { return None };
        let [first, second] = [0, 1].map(|factor: usize| graph.ty(contraction.factors[factor].tensor).dtype);
        let is_covered = first == second && matches!(first, Dtype::F32 | Dtype::F16 | Dtype::Bf16);
        let is_of_vectors = contraction.is_of_vectors(graph);
        if !is_covered
            || !contraction.is_as_in_libraries
            || !is_of_vectors && contraction.is_of_vectors_or_few_terms(graph)
        {
            return None;
        }
        let footprint = Footprint { is_tiled: true, ..contraction.footprint() };
        let value = contraction.factors[0].tensor;
        let mut anchor = Anchor::of_reduction(graph.ty(value), value, (position, 0, footprint));
        let (space, factors) = anchor.divide(analysis, &FixedBitSet::new())?;
        let is_plain = space.parallel.len() <= limits::PARALLEL_AXES
            && space.reduce.len() <= limits::REDUCE_AXES
            && factors.iter().flatten().all(Index::is_of_axes);
        let mask = |places: Coordinates| {
            places.iter().flat_map(Index::axes_read).fold(0, |mask: u32, axis| mask | 1u32.wrapping_shl(axis as u32))
        };
        let places = numel(graph.ty(contraction.factors[1].tensor).shape.get(2..).unwrap_or(&[]));
        let windows = (contraction.convolves && places > 1).then(|| !contraction.is_inside(graph));
        let kind = TileKind { is_half: first != Dtype::F32, windows };
        let tile = Tile::of_masks([&space.parallel, &space.reduce], factors.map(mask), kind).ok();
        // Vectors in groups, as of a convolution, may be matrices. Kernels by rows handle overlapping windows better.
        let has_form = || is_of_vectors || !contraction.footprint().divided_window().1.is_empty();
        tile.filter(|tile| is_plain && (!tile.is_short() || !has_form()))
    }

    /// Of axes with these extents, parallel and reduce, and those that the factors follow, as bits.
    fn of_masks(
        [parallel, reduce]: [&[i64]; 2],
        [first, second]: [u32; 2],
        kind: TileKind,
    ) -> Result<Tile, LowerError> {
        let mut tile = Tile { batches: 1, sides: [1, 1], terms: 1, kind, is_fronted: false };
        for (axis, &extent) in parallel.iter().chain(reduce).enumerate().filter(|(_, extent)| **extent > 1) {
            let is_term = axis >= parallel.len();
            let along = match (first >> axis & 1, second >> axis & 1) {
                (1, 1) if is_term => &mut tile.terms,
                (1, 1) => &mut tile.batches,
                (1, 0) if !is_term => &mut tile.sides[0],
                (0, 1) if !is_term => &mut tile.sides[1],
                _ => return Err(LowerError::Tile("have an axis that their factors do not follow")),
            };
            *along *= extent.unsigned_abs();
        }
        let results = tile.sides.iter().fold(tile.batches, |results, side| results.saturating_mul(*side));
        match tile.sides.iter().all(|&side| side >= SHORTEST[0]) {
            true if results.max(tile.terms) <= limits::TILED => Ok(tile),
            true => Err(LowerError::Tile("have more results than a kernel in tiles counts")),
            false => Err(LowerError::Tile("need two sides: one factor follows no axis alone")),
        }
    }

    /// Of a kernel that adds up products of such factors, and reduces nothing else.
    pub(in crate::lower) fn of_kernel(kernel: &Kernel, kind: TileKind) -> Result<Tile, LowerError> {
        let is_fold = |op: &&Op| matches!(op, Op::Reduce(..) | Op::Scan(..));
        let folds: Vec<&Op> = kernel.body.iter().map(|inst| &inst.op).filter(is_fold).collect();
        let &[Op::Reduce(ReduceOp::Sum, sum)] = &folds[..] else {
            return Err(ALONE);
        };
        if kernel.stores.iter().any(|store| store.order.len() != kernel.parallel.len()) {
            return Err(LowerError::Tile("are stored one by one: a kernel in tiles stores sums"));
        }
        let op = |reg: Reg| &kernel.body[reg.0 as usize].op;
        let zero = |reg: Reg| matches!(op(reg), Op::Const(Scalar::Float(value)) if *value == 0.0);
        let (inside, product) = match *op(*sum) {
            Op::Select(inside, product, otherwise) if zero(otherwise) => (Some(inside), product),
            _ => (None, *sum),
        };
        let Op::Binary(Binary::Mul, first, second) = *op(product) else {
            return Err(LowerError::Tile("are none: something else is added up"));
        };
        let axes = KernelAxes::of(kernel);
        let sources = [[Some(first), inside], [Some(second), None]].map(|regs| needed(kernel, regs));
        let indices = |reg: &Reg| match op(*reg) {
            Op::Load { index, .. } => index.to_vec(),
            Op::Index(index) => vec![*index],
            _ => vec![],
        };
        if !sources.iter().flatten().flat_map(indices).all(|index| is_of_axes(kernel, index)) {
            return Err(LowerError::Tile("have factors that lie along a part of an axis"));
        }
        let masks = sources.each_ref().map(|regs| regs.iter().fold(0, |mask, reg| mask | axes.values[reg.0 as usize]));
        let is_calculated = |reg: &Reg| {
            matches!(op(*reg), Op::Unary(..) | Op::Binary(..) | Op::Fma(..))
                && kernel.body[reg.0 as usize].dtype.is_float()
        };
        let is_fronted = sources.iter().flatten().any(is_calculated);
        Ok(Tile { is_fronted, ..Tile::of_masks([&kernel.parallel, &kernel.reduce], masks, kind)? })
    }

    /// How many blocks share the terms of a sum, up to so many and each a multiple of so many, where so many blocks keep the
    /// device busy. Those that use tensor cores share none.
    pub(in crate::lower) fn parts(&self, [most, fewest]: [u64; 2], busy: f64) -> u64 {
        let fits = |parts: &u64| {
            !self.kind.is_half && self.blocks(32) * *parts as f64 <= busy && self.terms.is_multiple_of(fewest * parts)
        };
        (1..=most.ilog2()).map(|power| 1 << power).rfind(fits).unwrap_or(1)
    }

    /// Whether rows are gone over one by one.
    pub(in crate::lower) fn is_short(&self) -> bool {
        self.sides.iter().any(|&side| side < SHORTEST[1]) || self.terms < FEWEST_TERMS
    }

    /// Blocks of so many results along either side.
    pub(in crate::lower) fn blocks(&self, side: u64) -> f64 {
        self.sides.iter().fold(self.batches as f64, |blocks, along| blocks * along.div_ceil(side) as f64)
    }
}

/// Some values, and all from which they follow.
fn needed(kernel: &Kernel, from: [Option<Reg>; 2]) -> Vec<Reg> {
    let mut found: Vec<Reg> = from.into_iter().flatten().collect();
    let mut at = 0;
    while let Some(reg) = found.get(at) {
        let operands = kernel.body[reg.0 as usize].op.operands();
        found.extend(operands.into_iter().filter(|reg| !found.contains(reg)).collect::<Vec<_>>());
        at += 1;
    }
    found
}

/// Whether an index is a sum of axes, each times a constant.
fn is_of_axes(kernel: &Kernel, index: IndexId) -> bool {
    match kernel.index[index.0 as usize] {
        IndexExpr::Axis(_) | IndexExpr::Const(_) => true,
        IndexExpr::Mul(of, _) => is_of_axes(kernel, of),
        IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => is_of_axes(kernel, a) && is_of_axes(kernel, b),
        IndexExpr::FloorDiv(..) | IndexExpr::Mod(..) | IndexExpr::Value(_) => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests;
