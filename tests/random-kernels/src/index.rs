//! Random index maps: permutations, broadcasts, rolls, flips, windows, reshapes, and gathers.

use super::inputs::Draw;
use super::{Builder, DTYPES, FEW_ROWS};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, IndexExpr, IndexId, InputDecl, Op, PaddingMode, Reg, Scalar};

/// Elements that one input may have.
const MOST_ELEMENTS: i64 = 20_000;

impl Builder {
    pub(super) fn expr(&mut self, expr: IndexExpr) -> IndexId {
        self.kernel.index.push(expr);
        IndexId(self.kernel.index.len() as u32 - 1)
    }

    /// An axis and its extent, or the only position of a dimension of extent 1 where there is no axis.
    fn axis(&mut self) -> (IndexId, i64) {
        let axes = self.kernel.parallel.len() + self.kernel.reduce.len();
        if axes == 0 || self.random.chance(5) {
            return (self.expr(IndexExpr::Const(0)), 1);
        }
        // Reduce axes are few; without this most values would be rows.
        let first =
            if self.random.chance(50) && !self.kernel.reduce.is_empty() { self.kernel.parallel.len() } else { 0 };
        let axis = self.random.between(first as i64, axes as i64 - 1) as u32;
        let extent = self.kernel.extent(axis).unwrap_or(1).max(1);
        (self.expr(IndexExpr::Axis(axis)), extent)
    }

    /// An index expression, and the extent of a dimension that holds most of what it takes.
    pub(super) fn map(&mut self) -> (IndexId, i64) {
        let (a, extent) = self.axis();
        match self.random.below(12) {
            // Roll.
            0 => {
                let by = self.random.between(-extent, extent);
                let (by, wrapped) = (self.expr(IndexExpr::Const(by)), extent);
                let sum = self.expr(IndexExpr::Add(a, by));
                (self.expr(IndexExpr::Mod(sum, wrapped)), wrapped)
            }
            // Flip.
            1 => {
                let last = self.expr(IndexExpr::Const(extent - 1));
                (self.expr(IndexExpr::Sub(last, a)), extent)
            }
            // Repeat each, or every so often.
            2 => {
                let by = self.random.between(1, 4);
                (self.expr(IndexExpr::FloorDiv(a, by)), (extent + by - 1) / by)
            }
            3 => {
                let by = self.random.between(1, extent.max(2));
                (self.expr(IndexExpr::Mod(a, by)), by.min(extent))
            }
            // A window: outer * stride + inner * dilation - padding.
            4 | 5 => {
                let (b, inner) = self.axis();
                let (stride, dilation) = (self.random.between(1, 3), self.random.between(1, 2));
                let padding = self.random.between(0, 2);
                let (outer, within) = (self.expr(IndexExpr::Mul(a, stride)), self.expr(IndexExpr::Mul(b, dilation)));
                let sum = self.expr(IndexExpr::Add(outer, within));
                let padding_id = self.expr(IndexExpr::Const(padding));
                let reach = (extent - 1) * stride + (inner - 1) * dilation + 1 - padding;
                (self.expr(IndexExpr::Sub(sum, padding_id)), reach.max(1))
            }
            // A reshape: two axes joined row-major, and split elsewhere.
            6 => {
                let (b, inner) = self.axis();
                let outer = self.expr(IndexExpr::Mul(a, inner));
                let joined = self.expr(IndexExpr::Add(outer, b));
                let by = self.random.between(1, 7);
                if self.random.chance(50) {
                    return (self.expr(IndexExpr::Mod(joined, by)), by);
                }
                (self.expr(IndexExpr::FloorDiv(joined, by)), (extent * inner + by - 1) / by)
            }
            _ => (a, extent),
        }
    }

    /// Declares an input of this shape and loads from it.
    fn load_new(&mut self, dtype: Dtype, index: Vec<IndexId>, shape: Vec<i64>, draw: Draw) -> Reg {
        let input = self.kernel.inputs.len() as u32;
        self.kernel.inputs.push(InputDecl { dtype, shape: shape.clone() });
        self.draws.push(draw);
        let padding = if shape.contains(&0) || self.random.chance(50) {
            PaddingMode::Pad(self.scalar(dtype))
        } else {
            PaddingMode::Clamp
        };
        self.push(dtype, Op::Load { input, index, padding })
    }

    /// A load by a random map of each dimension; sometimes a dimension is too short, or empty.
    pub(super) fn load(&mut self) -> Reg {
        let rank = self.random.below(5);
        let (mut index, mut shape, mut elements) = (Vec::new(), Vec::new(), 1);
        for _ in 0..rank {
            let (id, natural) = self.map();
            let extent = match self.random.below(40) {
                0 => 0,
                1..4 => (natural - 1).max(1),
                4..6 => natural + 2,
                _ => natural,
            };
            if elements * extent.max(1) <= MOST_ELEMENTS {
                elements *= extent.max(1);
                index.push(id);
                shape.push(extent);
            }
        }
        let dtype = if self.random.chance(40) { Dtype::F32 } else { self.random.pick(&DTYPES) };
        self.load_new(dtype, index, shape, Draw::Numbers)
    }

    /// A load of an element for each point; rows lie one after the other, or beside each other.
    pub(super) fn load_points(&mut self) -> Reg {
        let (parallel, all) = (self.kernel.parallel.len(), self.kernel.parallel.len() + self.kernel.reduce.len());
        let mut axes: Vec<u32> = (0..all as u32).collect();
        let columns = if self.kernel.rows() <= FEW_ROWS as u64 { 15 } else { 90 };
        if self.random.chance(columns) {
            axes.rotate_left(parallel);
        }
        let shape = axes.iter().map(|axis| self.kernel.extent(*axis).unwrap_or(1)).collect();
        let index = axes.iter().map(|axis| self.expr(IndexExpr::Axis(*axis))).collect();
        let dtype = if self.random.chance(40) { Dtype::F32 } else { self.random.pick(&DTYPES) };
        self.load_new(dtype, index, shape, Draw::Numbers)
    }

    /// A load from an input that is there already, by other indices.
    pub(super) fn load_again(&mut self) -> Reg {
        if self.kernel.inputs.is_empty() {
            return self.load();
        }
        let input = self.random.below(self.kernel.inputs.len());
        let InputDecl { dtype, shape } = self.kernel.inputs[input].clone();
        let index = shape.iter().map(|_| self.map().0).collect();
        let padding = if shape.contains(&0) { PaddingMode::Pad(self.scalar(dtype)) } else { PaddingMode::Clamp };
        self.push(dtype, Op::Load { input: input as u32, index, padding })
    }

    /// An embedding: a table of positions, and a load by what it holds.
    pub(super) fn gather(&mut self) -> Reg {
        let extent = self.random.between(1, 40);
        let axis = self.axis();
        let gathered = self.gathered(axis, extent);
        let (other, width) = self.map();
        let dtype = self.random.pick(&DTYPES);
        if extent * width > MOST_ELEMENTS {
            return self.load_new(dtype, vec![gathered], vec![extent], Draw::Numbers);
        }
        self.load_new(dtype, vec![gathered, other], vec![extent, width], Draw::Numbers)
    }

    /// The position in a dimension of this extent that a tensor of integers has at an index below `count`.
    pub(super) fn gathered(&mut self, (by, count): (IndexId, i64), extent: i64) -> IndexId {
        let kind = self.random.pick(&[Dtype::I64, Dtype::I32, Dtype::I64, Dtype::I16, Dtype::U8, Dtype::I8]);
        let mut position = self.load_new(kind, vec![by], vec![count], Draw::Positions(extent));
        if kind == Dtype::I64 && self.random.chance(50) {
            // Bounded, so that the load behind needs no guard.
            let low = self.push(kind, Op::Const(Scalar::Int(0)));
            let high = self.push(kind, Op::Const(Scalar::Int(extent - 1)));
            let above = self.push(kind, Op::Binary(Binary::Max, position, low));
            position = self.push(kind, Op::Binary(Binary::Min, above, high));
        }
        let gathered = self.expr(IndexExpr::Value(position));
        if self.random.chance(20) { self.expr(IndexExpr::Mod(gathered, extent)) } else { gathered }
    }
}
