//! Writes a kernel down: one instruction a call.

use passhost_ir::kernel::{
    Binary, Compare, IndexExpr, IndexId, InputDecl, Inst, Op, PaddingMode, ReduceOp, Reg, Scalar, Store, Unary,
};
use passhost_ir::{Dtype, Kernel};

/// A kernel under construction.
pub struct Formula {
    kernel: Kernel,
}

impl Formula {
    /// Over the points of a space.
    pub fn over(parallel: &[i64], reduce: &[i64]) -> Formula {
        let axes = (0..(parallel.len() + reduce.len()) as u32).map(IndexExpr::Axis).collect();
        Formula {
            kernel: Kernel { parallel: parallel.into(), reduce: reduce.into(), index: axes, ..Kernel::default() },
        }
    }

    /// The kernel.
    pub fn into_kernel(self) -> Kernel {
        self.kernel
    }

    /// The element at its own point of a new input that is as large as the space.
    pub fn element(&mut self, dtype: Dtype) -> Reg {
        let shape: Vec<i64> = self.kernel.parallel.iter().chain(&self.kernel.reduce).copied().collect();
        let index = (0..shape.len() as u32).map(IndexId).collect();
        self.load(dtype, shape, index)
    }

    /// The numbers of a new input of so many.
    pub fn parameters<const COUNT: usize>(&mut self, dtype: Dtype) -> [Reg; COUNT] {
        let input = self.input(dtype, vec![COUNT as i64]);
        std::array::from_fn(|place| {
            let index = self.index(IndexExpr::Const(place as i64));
            self.push(dtype, Op::Load { input, index: vec![index], padding: PaddingMode::Clamp })
        })
    }

    /// What a new input of so many elements has at a computed place.
    pub fn looked_up(&mut self, dtype: Dtype, entries: usize, place: Reg) -> Reg {
        let index = self.index(IndexExpr::Value(place));
        self.load(dtype, vec![entries as i64], vec![index])
    }

    /// The position along an axis.
    pub fn position(&mut self, axis: u32) -> Reg {
        self.push(Dtype::I64, Op::Index(IndexId(axis)))
    }

    /// An integer of 64 bits.
    pub fn integer(&mut self, value: i64) -> Reg {
        self.push(Dtype::I64, Op::Const(Scalar::Int(value)))
    }

    /// A float of 64 bits.
    pub fn float(&mut self, value: f64) -> Reg {
        self.push(Dtype::F64, Op::Const(Scalar::Float(value)))
    }

    /// An operation that gives its operand's type.
    pub fn unary(&mut self, op: Unary, a: Reg) -> Reg {
        self.push(op.gives().of(self.dtype(a)), Op::Unary(op, a))
    }

    /// An operation of two operands.
    pub fn binary(&mut self, op: Binary, a: Reg, b: Reg) -> Reg {
        self.push(self.dtype(a), Op::Binary(op, a, b))
    }

    /// A comparison.
    pub fn compare(&mut self, op: Compare, a: Reg, b: Reg) -> Reg {
        self.push(Dtype::Bool, Op::Compare(op, a, b))
    }

    /// One of two values.
    pub fn select(&mut self, condition: Reg, yes: Reg, no: Reg) -> Reg {
        self.push(self.dtype(yes), Op::Select(condition, yes, no))
    }

    /// A value in another type.
    pub fn cast(&mut self, dtype: Dtype, a: Reg) -> Reg {
        self.push(dtype, Op::Cast(a))
    }

    /// An output over the parallel axes, reduced over the others.
    pub fn reduced(&mut self, op: ReduceOp, a: Reg) {
        let value = self.push(op.gives().of(self.dtype(a)), Op::Reduce(op, a));
        self.output(value);
    }

    /// An output over the parallel axes.
    pub fn output(&mut self, value: Reg) {
        let order = (0..self.kernel.parallel.len() as u32).collect();
        self.kernel.stores.push(Store { value, order, shape: self.kernel.parallel.clone() });
    }

    fn load(&mut self, dtype: Dtype, shape: Vec<i64>, index: Vec<IndexId>) -> Reg {
        let input = self.input(dtype, shape);
        self.push(dtype, Op::Load { input, index, padding: PaddingMode::Clamp })
    }

    fn input(&mut self, dtype: Dtype, shape: Vec<i64>) -> u32 {
        self.kernel.inputs.push(InputDecl { dtype, shape });
        self.kernel.inputs.len() as u32 - 1
    }

    fn index(&mut self, expression: IndexExpr) -> IndexId {
        self.kernel.index.push(expression);
        IndexId(self.kernel.index.len() as u32 - 1)
    }

    fn dtype(&self, value: Reg) -> Dtype {
        self.kernel.body[value.0 as usize].dtype
    }

    fn push(&mut self, dtype: Dtype, op: Op) -> Reg {
        self.kernel.body.push(Inst { dtype, op });
        Reg(self.kernel.body.len() as u32 - 1)
    }
}
