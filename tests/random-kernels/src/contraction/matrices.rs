//! Axes of products of matrices and vectors.

use super::{Factor, Products, fit};
use crate::Builder;
use passhost_ir::kernel::{IndexExpr, IndexId};

/// Which factors follow an axis.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Both, and a result each.
    Batch,
    /// The first.
    Left,
    /// The second.
    Right,
    /// Both, and they are summed up along it.
    Term,
}

impl Builder {
    /// Products of matrices; of vectors, where a side has no axis.
    pub(super) fn matrices(&mut self, most: i64) -> Products {
        let has_many_terms = self.random.chance(8);
        let mut roles = vec![Role::Batch; self.random.pick(&[0, 0, 0, 0, 1, 1, 1, 2, 2])];
        let plain = [1, 1];
        let sides = [plain, plain, plain, plain, plain, plain, plain, [2, 1], [1, 2], [0, 1], [1, 0], [0, 0]];
        let [left, right] = self.random.pick(&sides);
        roles.extend([vec![Role::Left; left], vec![Role::Right; right]].concat());
        let parallel = roles.len();
        roles.extend(vec![Role::Term; if self.random.chance(12) && !has_many_terms { 2 } else { 1 }]);
        let extents = roles.iter().map(|role| match role {
            Role::Batch => self.random.between(1, 5),
            Role::Term if has_many_terms => self.random.between(900, 1100),
            Role::Term => self.length(200),
            _ if has_many_terms => self.random.between(1, 8),
            _ => self.length(100),
        });
        let mut extents: Vec<i64> = extents.collect();
        fit(&mut extents, if has_many_terms { most.max(100_000) } else { most });
        let mut axes: Vec<(Role, i64)> = roles.into_iter().zip(extents).collect();
        match self.random.below(10) {
            0 => self.random.shuffle(&mut axes[..parallel]),
            // The result is transposed.
            1 | 2 => axes[..parallel].reverse(),
            _ => {}
        }
        let extents = |axes: &[(Role, i64)]| axes.iter().map(|(_, extent)| *extent).collect();
        self.axes(extents(&axes[..parallel]), extents(&axes[parallel..]));
        let batches: Vec<u32> = following(&axes, Role::Batch);
        let broadcast = if self.random.chance(30) { batches.first().copied() } else { None };
        let factors = [self.matrix(&axes, Role::Left, broadcast), self.matrix(&axes, Role::Right, None)];
        let mut inside = vec![];
        if self.random.chance(15) && parallel > 0 {
            // A triangle or a band of products counts: of those of a row, or of rows as a whole.
            let row = self.random.below(parallel);
            let other = if self.random.chance(75) { parallel } else { self.random.below(parallel) };
            let difference = self.expr(IndexExpr::Sub(IndexId(row as u32), IndexId(other as u32)));
            inside.push((difference, self.random.pick(&[1_000, 1_000, 5])));
        }
        Products { factors, inside }
    }

    /// An extent of at most so much: one or two, round, or any.
    fn length(&mut self, most: i64) -> i64 {
        match self.random.below(20) {
            0..3 => self.random.between(1, 3),
            3..7 => 8 * self.random.between(1, most / 8),
            7..11 => 16 * self.random.between(1, most / 16),
            11..13 => 32 * self.random.between(1, most / 32),
            _ => self.random.between(4, most),
        }
    }

    /// The factor that follows axes of a role, batches but for one that it may repeat along, and the terms.
    fn matrix(&mut self, axes: &[(Role, i64)], own: Role, broadcast: Option<u32>) -> Factor {
        let mut followed = following(axes, Role::Batch);
        followed.retain(|&axis| Some(axis) != broadcast);
        let (own, terms) = (following(axes, own), following(axes, Role::Term));
        // Of a matrix either the terms or the others lie side by side.
        followed.extend(if self.random.chance(50) { [own, terms] } else { [terms, own] }.concat());
        if self.random.chance(10) {
            self.random.shuffle(&mut followed);
        }
        let mut dims: Vec<(i64, IndexId)> =
            followed.iter().map(|&axis| (axes[axis as usize].1, IndexId(axis))).collect();
        if broadcast.is_some() && self.random.chance(50) {
            dims.insert(0, (1, self.expr(IndexExpr::Const(0))));
        }
        Factor { dims, axes: followed }
    }
}

/// The axes of a role.
fn following(axes: &[(Role, i64)], role: Role) -> Vec<u32> {
    (0..).zip(axes).filter(|(_, (other, _))| *other == role).map(|(axis, _)| axis).collect()
}
