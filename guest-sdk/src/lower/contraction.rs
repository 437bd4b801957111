//! Ops that add up products of two tensors: matrix products and convolutions.

pub(super) mod convolution;
pub(super) mod products;
pub(super) mod tile;

use super::footprint::{Footprint, IndexGuard};
use crate::index::Index;
use fixedbitset::FixedBitSet;
use passhost_ir::{Dtype, Graph, ValueId, numel};

/// For each element of the result a sum of products over a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contraction {
    /// Extents of the result.
    pub(super) rows: Vec<i64>,
    /// Extents of what is summed for each element.
    pub(super) window: Vec<i64>,
    /// What is multiplied, over the rows and the window as axes. The first may lie outside of its tensor, where it is 0.
    pub(super) factors: [ProductFactor; 2],
    /// Where else the first factor is 0.
    pub(super) guard: IndexGuard,
    /// What the sum is multiplied with.
    pub(super) scale: f64,
    /// What is added to it.
    pub(super) addend: Option<Addend>,
    /// Whether the sum is rounded before the addend is added, because that is a call of its own.
    pub(super) is_stored: bool,
    /// Whether it is a convolution.
    pub(super) convolves: bool,
    /// Whether kernels in tiles mostly have the bits of a library on a GPU: they add up the same terms in the same order.
    pub(super) is_as_in_libraries: bool,
}

/// A tensor that is multiplied with another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProductFactor {
    pub(super) tensor: ValueId,
    pub(super) at: Vec<Index>,
}

/// A tensor that is added to the sum.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Addend {
    pub(super) tensor: ValueId,
    /// Over the rows as axes.
    pub(super) at: Vec<Index>,
    pub(super) scale: f64,
}

/// The shortest side of a matrix product for which libraries have no fast kernel.
const SHORT_SIDE: u64 = 16;

/// How many products for each element that is read or written a kernel may add up before it takes longer than a library.
const MOST_PRODUCTS: u64 = 64;

/// How many products of half types a kernel adds up where it reads them.
const FEW_HALVES: u64 = 4;

impl Contraction {
    /// What of the first factor is summed.
    pub(super) fn footprint(&self) -> Footprint {
        Footprint {
            rows: self.rows.clone(),
            window: self.window.clone(),
            at: self.factors[0].at.clone(),
            row_of: Index::axes(&self.rows),
            outside: Some(0.0),
            guard: self.guard.clone(),
            slides: true,
            ..Footprint::default()
        }
    }

    /// Whether all that is multiplied lies in the tensors: nothing is padded or guarded.
    pub(super) fn is_inside(&self, graph: &Graph) -> bool {
        let mut places = self.factors[0].at.iter().zip(&graph.ty(self.factors[0].tensor).shape);
        self.guard.is_empty() && places.all(|(at, extent)| at.lies_within(*extent))
    }

    /// The sides of the matrix product that it is: rows that one factor alone has, those of the other, and the window.
    fn sides(&self) -> [u64; 3] {
        let axes = |factor: &ProductFactor| {
            let mut axes = FixedBitSet::with_capacity(self.rows.len() + self.window.len());
            factor.at.iter().for_each(|at| at.each_axis(&mut |axis| axes.insert(axis)));
            axes
        };
        let [first, second] = [axes(&self.factors[0]), axes(&self.factors[1])];
        let side = |own: &FixedBitSet, other: &FixedBitSet| {
            let only = |(axis, _): &(usize, &i64)| own.contains(*axis) && !other.contains(*axis);
            self.rows.iter().enumerate().filter(only).map(|(_, extent)| extent.unsigned_abs()).product()
        };
        [side(&first, &second), side(&second, &first), numel(&self.window)]
    }

    /// Whether it adds up so little that a kernel need not fear a library's.
    pub(super) fn is_small(&self, graph: &Graph) -> bool {
        let elements: u64 = self.factors.iter().map(|factor| graph.ty(factor.tensor).numel()).sum();
        let products = numel(&self.rows).saturating_mul(numel(&self.window));
        let moved = elements.saturating_add(numel(&self.rows));
        products / MOST_PRODUCTS <= moved && self.sides().into_iter().any(|side| side <= SHORT_SIDE)
    }

    /// The same, and that it is of no matrices with two long sides, however few: depthwise convolutions and products with a
    /// vector pass.
    pub(super) fn is_of_vectors(&self, graph: &Graph) -> bool {
        self.is_small(graph) && self.sides()[..2].contains(&1)
    }

    /// The same, or that each element is so few products that they are calculated where it is read, as where a few channels
    /// are mixed, and a library adds up what a kernel does, but for the order. On a GPU it may round the factors of
    /// convolutions to TF32, and longer sums of half types come out of tensor cores: one that rounds to the other neighbour
    /// may decide what follows.
    pub(super) fn is_of_vectors_or_few_terms(&self, graph: &Graph) -> bool {
        let is_short = numel(&self.window) <= FEW_HALVES;
        let is_exact =
            !self.convolves && (is_short || matches!(graph.ty(self.factors[0].tensor).dtype, Dtype::F32 | Dtype::F64));
        self.is_of_vectors(graph) || is_exact && self.footprint().is_listed() && self.is_small(graph)
    }
}

/// Which products become part of kernels.
pub(super) type Check = fn(&Contraction, &Graph) -> bool;
