//! Writing a kernel instruction by instruction.

use super::call::convert;
use super::math::math;
use passhost_ir::Dtype;
use passhost_ir::kernel::{
    Binary, Compare, IndexExpr, IndexId, InputDecl, Inst, Kernel, KernelError, Op, PaddingMode, ReduceOp, Reg, Scalar,
    ScanOp, Store, Unary, verify,
};
use std::collections::BTreeMap;

/// Builds a [`Kernel`]. An instruction or index expression that is there already is found again and not repeated.
///
/// Nothing is checked before [`finish`](KernelBuilder::finish), which runs the verifier.
///
/// ```
/// use passhost_guest_sdk::lower::KernelBuilder;
/// use passhost_ir::Dtype;
/// use passhost_ir::kernel::Binary;
///
/// // The mean squares of the columns of a matrix of half floats, rounded once: a row of the kernel is a column.
/// let mut k = KernelBuilder::new(vec![64], vec![128]);
/// let x = k.input(Dtype::F16, vec![128, 64]);
/// let x = k.element(x, &[1, 0]);
/// let x = k.widened(x);
/// let square = k.binary(Binary::Mul, x, x);
/// let mean = k.mean(square);
/// let mean = k.cast(Dtype::F16, mean);
/// k.store(mean, vec![0], vec![64]);
/// let kernel = k.finish()?;
/// assert_eq!(kernel.row_length(), 128);
/// # Ok::<(), passhost_ir::kernel::KernelError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct KernelBuilder {
    kernel: Kernel,
    /// The instructions by their first operand, to find one again.
    by_operand: BTreeMap<Option<Reg>, Vec<Reg>>,
}

impl KernelBuilder {
    /// A kernel over these extents of parallel and reduce axes. Axes are numbered parallel first.
    pub fn new(parallel: Vec<i64>, reduce: Vec<i64>) -> KernelBuilder {
        KernelBuilder { kernel: Kernel { parallel, reduce, ..Kernel::default() }, by_operand: BTreeMap::new() }
    }

    /// Declares an input tensor and returns its position. Each call declares another one.
    pub fn input(&mut self, dtype: Dtype, shape: Vec<i64>) -> u32 {
        self.kernel.inputs.push(InputDecl { dtype, shape });
        position(self.kernel.inputs.len() - 1)
    }

    /// An index expression.
    pub fn index(&mut self, expr: IndexExpr) -> IndexId {
        let found = self.kernel.index.iter().position(|&known| known == expr);
        IndexId(position(found.unwrap_or_else(|| {
            self.kernel.index.push(expr);
            self.kernel.index.len() - 1
        })))
    }

    /// The position along an axis.
    pub fn axis(&mut self, axis: u32) -> IndexId {
        self.index(IndexExpr::Axis(axis))
    }

    /// `offset + step * axis`.
    pub fn affine(&mut self, axis: u32, step: i64, offset: i64) -> IndexId {
        let mut index = self.axis(axis);
        if step != 1 {
            index = self.index(IndexExpr::Mul(index, step));
        }
        if offset != 0 {
            let offset = self.index(IndexExpr::Const(offset));
            index = self.index(IndexExpr::Add(index, offset));
        }
        index
    }

    /// The type of a body value.
    pub fn dtype(&self, value: Reg) -> Dtype {
        self.kernel.body[value.0 as usize].dtype
    }

    /// A literal of a float type.
    pub fn float(&mut self, dtype: Dtype, value: f64) -> Reg {
        self.push(dtype, Op::Const(Scalar::Float(value)))
    }

    /// A literal of an integer type.
    pub fn int(&mut self, dtype: Dtype, value: i64) -> Reg {
        self.push(dtype, Op::Const(Scalar::Int(value)))
    }

    /// A literal `bool`.
    pub fn bool(&mut self, value: bool) -> Reg {
        self.push(Dtype::Bool, Op::Const(Scalar::Bool(value)))
    }

    /// A literal that stands for a value of this type.
    pub fn constant(&mut self, dtype: Dtype, value: Scalar) -> Reg {
        self.push(dtype, Op::Const(value))
    }

    /// The value of an index expression, an `i64`.
    pub fn position(&mut self, index: IndexId) -> Reg {
        self.push(Dtype::I64, Op::Index(index))
    }

    /// One element of an input; one index per dimension.
    pub fn load(&mut self, input: u32, index: Vec<IndexId>, padding: PaddingMode) -> Reg {
        let dtype = self.kernel.inputs[input as usize].dtype;
        self.push(dtype, Op::Load { input, index, padding })
    }

    /// One operand.
    pub fn unary(&mut self, op: Unary, a: Reg) -> Reg {
        let dtype = op.gives().of(self.dtype(a));
        self.push(dtype, Op::Unary(op, a))
    }

    /// Two operands of one type.
    pub fn binary(&mut self, op: Binary, a: Reg, b: Reg) -> Reg {
        self.push(self.dtype(a), Op::Binary(op, a, b))
    }

    /// A comparison of two operands of one type.
    pub fn compare(&mut self, op: Compare, a: Reg, b: Reg) -> Reg {
        self.push(Dtype::Bool, Op::Compare(op, a, b))
    }

    /// `then` where `condition`, a `bool`, is true, `otherwise` elsewhere.
    pub fn select(&mut self, condition: Reg, then: Reg, otherwise: Reg) -> Reg {
        self.push(self.dtype(then), Op::Select(condition, then, otherwise))
    }

    /// `a * b + c` with one rounding.
    pub fn fma(&mut self, a: Reg, b: Reg, c: Reg) -> Reg {
        self.push(self.dtype(a), Op::Fma(a, b, c))
    }

    /// The value in another type; the value itself if it has that type.
    pub fn cast(&mut self, dtype: Dtype, value: Reg) -> Reg {
        if self.dtype(value) == dtype { value } else { self.push(dtype, Op::Cast(value)) }
    }

    /// A reduction over all reduce axes.
    pub fn reduce(&mut self, op: ReduceOp, value: Reg) -> Reg {
        let dtype = op.gives().of(self.dtype(value));
        self.push(dtype, Op::Reduce(op, value))
    }

    /// A running reduction along the last reduce axis.
    pub fn scan(&mut self, op: ScanOp, value: Reg) -> Reg {
        self.push(self.dtype(value), Op::Scan(op, value))
    }

    /// One element of an input, which lies along one axis in each dimension.
    pub fn element(&mut self, input: u32, axes: &[u32]) -> Reg {
        let place = axes.iter().map(|&axis| self.axis(axis)).collect();
        self.load(input, place, PaddingMode::Clamp)
    }

    /// The value in the type that its type is calculated in: `f32` for half types. See [`math`].
    pub fn widened(&mut self, value: Reg) -> Reg {
        let dtype = self.dtype(value);
        self.cast(math(dtype).unwrap_or(dtype), value)
    }

    /// The value as a tensor of type `dtype` would hold it, widened again: what eager reads back when it has stored it.
    pub fn rounded(&mut self, dtype: Dtype, value: Reg) -> Reg {
        let stored = convert(self, value, dtype);
        self.widened(stored)
    }

    /// The sum over all reduce axes; integers in `i64`.
    pub fn sum(&mut self, value: Reg) -> Reg {
        let wide = if self.dtype(value).is_float() { self.widened(value) } else { self.cast(Dtype::I64, value) };
        self.reduce(ReduceOp::Sum, wide)
    }

    /// The mean over all reduce axes, of floats.
    pub fn mean(&mut self, value: Reg) -> Reg {
        let sum = self.sum(value);
        let count = self.kernel.row_length();
        let count = self.float(self.dtype(sum), count as f64);
        self.binary(Binary::Div, sum, count)
    }

    /// Writes a value densely, its axes in `order`, as a tensor of shape `shape`.
    pub fn store(&mut self, value: Reg, order: Vec<u32>, shape: Vec<i64>) {
        self.kernel.stores.push(Store { value, order, shape });
    }

    /// Turns all parallel axes from `first` on into reduce axes. Axis numbers stay what they are; values that depend on
    /// earlier axes only become rows, computed once for a whole row of elements.
    pub fn reduce_from(&mut self, first: usize) {
        let reduce = self.kernel.parallel.split_off(first);
        self.kernel.reduce.splice(0..0, reduce);
    }

    /// The kernel, if the verifier accepts it.
    pub fn finish(self) -> Result<Kernel, KernelError> {
        verify(&self.kernel)?;
        Ok(self.kernel)
    }

    fn push(&mut self, dtype: Dtype, op: Op) -> Reg {
        let inst = Inst { dtype, op };
        let known = self.by_operand.entry(first_operand(&inst.op)).or_default();
        let body = &mut self.kernel.body;
        if let Some(&found) = known.iter().find(|reg| same(&body[reg.0 as usize], &inst)) {
            return found;
        }
        let reg = Reg(position(body.len()));
        known.push(reg);
        body.push(inst);
        reg
    }
}

fn first_operand(op: &Op) -> Option<Reg> {
    match *op {
        Op::Const(_) | Op::Index(_) | Op::Load { .. } => None,
        Op::Unary(_, a) | Op::Cast(a) | Op::Reduce(_, a) | Op::Scan(_, a) => Some(a),
        Op::Binary(_, a, _) | Op::Compare(_, a, _) | Op::Select(a, ..) | Op::Fma(a, ..) => Some(a),
    }
}

/// Equal instructions. Unlike `==`, 0.0 and -0.0 differ and a NaN is itself.
fn same(a: &Inst, b: &Inst) -> bool {
    match (&a.op, &b.op) {
        (Op::Const(Scalar::Float(x)), Op::Const(Scalar::Float(y))) => a.dtype == b.dtype && x.to_bits() == y.to_bits(),
        _ => a == b,
    }
}

/// A list position as the kernel stores it. The verifier refuses lists that do not fit long before this saturates.
fn position(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
