//! The two factors, their product, and its sum.

use super::{Factor, Products};
use crate::Builder;
use crate::concatenated::zero;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, IndexId, Op, PaddingMode, ReduceOp, Reg, Scalar, Unary};

impl Builder {
    /// The sum of products, in `f32` or `f64`.
    pub(super) fn sum(&mut self, products: &Products) -> Reg {
        let (dtypes, math) = self.factor_types();
        let [first, second] = &products.factors;
        let a = self.factor(first, dtypes[0], math);
        let b = self.factor(second, dtypes[1], math);
        let mut product = self.push(math, Op::Binary(Binary::Mul, a, b));
        let guards = products.inside.iter().map(|&(index, extent)| self.is_inside(index, extent));
        let mut guards: Vec<Reg> = guards.collect();
        if self.random.chance(12) {
            guards.push(self.mask(&products.factors));
        }
        let inside = guards.into_iter().reduce(|a, b| self.push(Dtype::Bool, Op::Binary(Binary::And, a, b)));
        if let Some(inside) = inside {
            let without = self.push(math, Op::Const(Scalar::Float(0.0)));
            product = self.push(math, Op::Select(inside, product, without));
        }
        let sum = self.push(math, Op::Reduce(ReduceOp::Sum, product));
        if self.random.chance(85) { self.converted(Dtype::F32, sum) } else { sum }
    }

    /// Element types of the factors, and the type in which they are multiplied and summed up.
    fn factor_types(&mut self) -> ([Dtype; 2], Dtype) {
        match self.random.below(20) {
            0..7 => ([Dtype::F16; 2], Dtype::F32),
            7..10 => ([Dtype::Bf16; 2], Dtype::F32),
            10..13 => ([Dtype::F32; 2], Dtype::F32),
            13..16 => ([Dtype::F32; 2], Dtype::F64),
            16 => ([Dtype::F64; 2], Dtype::F64),
            _ => {
                let any = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::I8];
                let dtypes = [self.random.pick(&any), self.random.pick(&any)];
                (dtypes, self.random.pick(&[Dtype::F32, Dtype::F32, Dtype::F64]))
            }
        }
    }

    /// A factor: an element, sometimes with something calculated from it.
    fn factor(&mut self, factor: &Factor, dtype: Dtype, math: Dtype) -> Reg {
        let padding = if self.random.chance(70) { PaddingMode::Pad(zero(dtype)) } else { PaddingMode::Clamp };
        let mut dims = factor.dims.clone();
        if self.random.chance(8) && !dims.is_empty() {
            // As rows of a table are read by what a tensor of integers holds.
            let dim = self.random.below(dims.len());
            let (count, index) = dims[dim];
            let extent = self.random.between((count + 1) / 2, count + 3);
            dims[dim] = (extent, self.gathered((index, count), extent));
        }
        let element = self.element(dtype, &dims, padding);
        let wide = if dtype == Dtype::F64 { Dtype::F64 } else { Dtype::F32 };
        let mut value = self.converted(wide, element);
        for _ in 0..self.random.pick(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 2]) {
            value = self.prologue(value, wide, &factor.axes);
        }
        self.converted(math, value)
    }

    /// A step of what is calculated from an element before it is multiplied.
    fn prologue(&mut self, value: Reg, dtype: Dtype, axes: &[u32]) -> Reg {
        match self.random.below(6) {
            0 => {
                let zero = self.push(dtype, Op::Const(Scalar::Float(0.0)));
                self.push(dtype, Op::Binary(Binary::Max, value, zero))
            }
            1 => {
                // Large exponents would leave nothing of the other terms.
                let most = self.push(dtype, Op::Const(Scalar::Float(1.5)));
                let bounded = self.push(dtype, Op::Binary(Binary::Min, value, most));
                self.push(dtype, Op::Unary(Unary::Exp, bounded))
            }
            2 => {
                let narrow = self.random.pick(&[Dtype::F16, Dtype::Bf16]);
                let narrow = self.push(narrow, Op::Cast(value));
                self.push(dtype, Op::Cast(narrow))
            }
            3 | 4 if !axes.is_empty() => {
                let axis = self.random.pick(axes);
                let other = self.along(&[axis], dtype);
                let op = self.random.pick(&[Binary::Mul, Binary::Mul, Binary::Add, Binary::Sub]);
                self.push(dtype, Op::Binary(op, value, other))
            }
            _ => {
                let scale = Scalar::Float(self.random.pick(&[0.5, 0.125, -1.0, 0.7]));
                let scale = self.push(dtype, Op::Const(scale));
                self.push(dtype, Op::Binary(Binary::Mul, value, scale))
            }
        }
    }

    /// A condition that is read, along axes of a factor, or now and then along any.
    fn mask(&mut self, factors: &[Factor; 2]) -> Reg {
        let all: Vec<u32> = (0..(self.kernel.parallel.len() + self.kernel.reduce.len()) as u32).collect();
        let factor = self.random.below(2);
        let mut axes = if self.random.chance(85) { factors[factor].axes.clone() } else { all };
        axes.retain(|_| self.random.chance(75));
        if self.random.chance(70) {
            return self.along(&axes, Dtype::Bool);
        }
        let number = self.along(&axes, Dtype::F32);
        let zero = self.push(Dtype::F32, Op::Const(Scalar::Float(0.0)));
        self.push(Dtype::Bool, Op::Compare(Compare::Gt, number, zero))
    }

    /// Whether an index is at least 0 and below an extent.
    fn is_inside(&mut self, index: IndexId, extent: i64) -> Reg {
        let index = self.push(Dtype::I64, Op::Index(index));
        let mut bound = |op: Compare, bound: i64| {
            let bound = self.push(Dtype::I64, Op::Const(Scalar::Int(bound)));
            self.push(Dtype::Bool, Op::Compare(op, index, bound))
        };
        let (from, below) = (bound(Compare::Ge, 0), bound(Compare::Lt, extent));
        self.push(Dtype::Bool, Op::Binary(Binary::And, from, below))
    }
}
