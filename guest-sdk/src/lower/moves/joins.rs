//! Tensors behind each other.

use super::{JoinedPart, Move, MoveCall, MoveOp};
use crate::index::Index;
use crate::lower::call::Uncovered;
use crate::view::View;
use passhost_ir::ValueId;

pub(super) const OPS: &[MoveOp] = &[
    MoveOp::new("aten::cat", |site| JoinRule::along(site)?.parts(site)),
    MoveOp::new("aten::concat", |site| JoinRule::along(site)?.parts(site)),
    MoveOp::new("aten::concatenate", |site| JoinRule::along(site)?.parts(site)),
    MoveOp::new("aten::stack", |site| JoinRule { adds: true, ..JoinRule::along(site)? }.parts(site)),
    MoveOp::new("aten::hstack", |site| {
        let rank = site.result.rank();
        JoinRule { dim: rank.min(2).saturating_sub(1), adds: false, at: |rank| if rank == 0 { &[] } else { ALL } }
            .parts(site)
    }),
    MoveOp::new("aten::vstack", |site| {
        JoinRule { dim: 0, adds: false, at: |rank| [&[], &[1][..], ALL][rank.min(2)] }.parts(site)
    }),
    MoveOp::new("aten::dstack", |site| {
        JoinRule { dim: 2, adds: false, at: |rank| [&[], &[1][..], &[0, 1], ALL][rank.min(3)] }.parts(site)
    }),
    MoveOp::new("aten::column_stack", |site| {
        JoinRule { dim: 1, adds: false, at: |rank| [&[], &[0][..], ALL][rank.min(2)] }.parts(site)
    }),
];

/// The dimensions of the result, one by one.
const ALL: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];

/// How tensors are joined.
struct JoinRule {
    /// Along which dimension of the result.
    dim: usize,
    /// The dimension is a new one, which the tensors lack.
    adds: bool,
    /// For a tensor of some rank, the dimensions of the result that its own are.
    at: fn(usize) -> &'static [usize],
}

impl JoinRule {
    /// Along the dimension that is the second argument.
    fn along(site: &MoveCall<'_>) -> Result<JoinRule, Uncovered> {
        Ok(JoinRule { dim: site.dim(1, site.result.rank())?, adds: false, at: |_| ALL })
    }

    fn parts(&self, site: &MoveCall<'_>) -> Result<Move, Uncovered> {
        let tensors = site.args.tensors(0).ok_or("has no list of tensors")?;
        let shape = &site.result.shape;
        let mut parts = Vec::new();
        let mut end = 0;
        // Empty tensors add nothing, and torch lets them be of another rank.
        for &source in tensors.iter().filter(|&&tensor| site.graph.ty(tensor).numel() > 0) {
            let coordinates = self.coordinates(site, source, end)?;
            end += match site.graph.ty(source).rank() {
                rank if self.adds || !(self.at)(rank).contains(&self.dim) => 1,
                rank => {
                    let own = (self.at)(rank).iter().take(rank).position(|&dim| dim == self.dim);
                    own.map_or(1, |dim| site.graph.ty(source).shape[dim])
                }
            };
            parts.push(JoinedPart { view: View { source, coordinates }, end });
        }
        if parts.is_empty() || shape.get(self.dim) != Some(&end) {
            return Err("joins tensors that do not make up its result".to_owned());
        }
        Ok(Move::Join { dim: self.dim, parts })
    }

    /// The place in a tensor that starts at a position along the dimension.
    fn coordinates(&self, site: &MoveCall<'_>, source: ValueId, start: i64) -> Result<Vec<Index>, Uncovered> {
        let mut axes = Index::axes(&site.result.shape);
        let rank = site.graph.ty(source).rank();
        if self.adds {
            axes.remove(self.dim);
            return Ok(axes);
        }
        axes[self.dim] = axes[self.dim].shifted(-start);
        let dims = (self.at)(rank).iter().take(rank);
        dims.map(|&dim| axes.get(dim).cloned().ok_or_else(|| "has a result of too few dimensions".to_owned())).collect()
    }
}
