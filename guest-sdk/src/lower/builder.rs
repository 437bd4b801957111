//! Writing a kernel instruction by instruction.

use super::math::math;
use passhost_ir::kernel::{
    Binary, Compare, IndexExpr, IndexId, InputDecl, Inst, Kernel, KernelError, Op, PaddingMode, ReduceOp, Reg, Scalar,
    ScanOp, Store, Unary, verify,
};
use passhost_ir::{Dtype, TensorType};
use std::cell::RefCell;

/// Builds a [`Kernel`]. An instruction or index expression that is there already is found again and not repeated.
///
/// Methods take `&self`, so that calls nest. Nothing is checked before [`finish`](KernelBuilder::finish), which runs the
/// verifier: it also says where a value or an input of another builder was used.
///
/// ```
/// use passhost_guest_sdk::lower::KernelBuilder;
/// use passhost_ir::{Dtype, TensorType};
///
/// // The mean squares of the columns of a matrix of half floats, rounded once: a row of the kernel is a column.
/// let k = KernelBuilder::new([64], [128]);
/// let x = k.widened(k.element(k.input(Dtype::F16, [128, 64]), &[1, 0]));
/// let mean = k.mean(k.mul(x, x));
/// k.store(k.cast(Dtype::F16, mean), [0], [64]);
/// let kernel = k.finish()?;
/// assert_eq!(kernel.row_length(), 128);
/// # Ok::<(), passhost_ir::kernel::KernelError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct KernelBuilder(RefCell<KernelDraft>);

#[derive(Debug, Clone, Default)]
struct KernelDraft {
    kernel: Kernel,
    /// The instructions by their first operand, behind those without one, to find one again.
    by_operand: Vec<Vec<Reg>>,
}

impl KernelBuilder {
    /// A kernel over these extents of parallel and reduce axes. Axes are numbered parallel first.
    pub fn new(parallel: impl Into<Vec<i64>>, reduce: impl Into<Vec<i64>>) -> KernelBuilder {
        let kernel = Kernel { parallel: parallel.into(), reduce: reduce.into(), ..Kernel::default() };
        KernelBuilder(RefCell::new(KernelDraft { kernel, by_operand: vec![] }))
    }

    /// Declares an input tensor and returns its position. Each call declares another one.
    pub fn input(&self, dtype: Dtype, shape: impl Into<Vec<i64>>) -> u32 {
        let inputs = &mut self.0.borrow_mut().kernel.inputs;
        inputs.push(InputDecl { dtype, shape: shape.into() });
        position(inputs.len() - 1)
    }

    /// Declares an input tensor like a tensor of the graph.
    pub fn input_like(&self, ty: &TensorType) -> u32 {
        self.input(ty.dtype, ty.shape.clone())
    }

    /// An index expression.
    pub fn index(&self, expr: IndexExpr) -> IndexId {
        let index = &mut self.0.borrow_mut().kernel.index;
        let found = index.iter().position(|&known| known == expr);
        IndexId(position(found.unwrap_or_else(|| {
            index.push(expr);
            index.len() - 1
        })))
    }

    /// The position along an axis.
    pub fn axis(&self, axis: u32) -> IndexId {
        self.index(IndexExpr::Axis(axis))
    }

    /// `offset + step * axis`.
    pub fn affine(&self, axis: u32, step: i64, offset: i64) -> IndexId {
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

    /// The type of a body value; of one that is not of this kernel, `f32`.
    pub fn dtype(&self, value: Reg) -> Dtype {
        self.0.borrow().kernel.body.get(value.0 as usize).map_or(Dtype::F32, |inst| inst.dtype)
    }

    /// A literal of a float type.
    pub fn float(&self, dtype: Dtype, value: f64) -> Reg {
        self.push(dtype, Op::Const(Scalar::Float(value)))
    }

    /// A literal of an integer type.
    pub fn int(&self, dtype: Dtype, value: i64) -> Reg {
        self.push(dtype, Op::Const(Scalar::Int(value)))
    }

    /// A literal `bool`.
    pub fn bool(&self, value: bool) -> Reg {
        self.push(Dtype::Bool, Op::Const(Scalar::Bool(value)))
    }

    /// A literal that stands for a value of this type.
    pub fn constant(&self, dtype: Dtype, value: Scalar) -> Reg {
        self.push(dtype, Op::Const(value))
    }

    /// The value of an index expression, an `i64`.
    pub fn position(&self, index: IndexId) -> Reg {
        self.push(Dtype::I64, Op::Index(index))
    }

    /// One element of an input; one index per dimension.
    pub fn load(&self, input: u32, index: Vec<IndexId>, padding: PaddingMode) -> Reg {
        let dtype = self.0.borrow().kernel.inputs.get(input as usize).map_or(Dtype::F32, |declared| declared.dtype);
        self.push(dtype, Op::Load { input, index, padding })
    }

    /// One operand.
    pub fn unary(&self, op: Unary, a: Reg) -> Reg {
        let dtype = op.gives().of(self.dtype(a));
        self.push(dtype, Op::Unary(op, a))
    }

    /// Two operands of one type.
    pub fn binary(&self, op: Binary, a: Reg, b: Reg) -> Reg {
        self.push(self.dtype(a), Op::Binary(op, a, b))
    }

    /// The sum of two values of one type.
    pub fn add(&self, a: Reg, b: Reg) -> Reg {
        self.binary(Binary::Add, a, b)
    }

    /// The difference of two values of one type.
    pub fn sub(&self, a: Reg, b: Reg) -> Reg {
        self.binary(Binary::Sub, a, b)
    }

    /// The product of two values of one type.
    pub fn mul(&self, a: Reg, b: Reg) -> Reg {
        self.binary(Binary::Mul, a, b)
    }

    /// The quotient of two values of one type.
    pub fn div(&self, a: Reg, b: Reg) -> Reg {
        self.binary(Binary::Div, a, b)
    }

    /// A comparison of two operands of one type.
    pub fn compare(&self, op: Compare, a: Reg, b: Reg) -> Reg {
        self.push(Dtype::Bool, Op::Compare(op, a, b))
    }

    /// `then` where `condition`, a `bool`, is true, `otherwise` elsewhere.
    pub fn select(&self, condition: Reg, then: Reg, otherwise: Reg) -> Reg {
        self.push(self.dtype(then), Op::Select(condition, then, otherwise))
    }

    /// `a * b + c` with one rounding.
    pub fn fma(&self, a: Reg, b: Reg, c: Reg) -> Reg {
        self.push(self.dtype(a), Op::Fma(a, b, c))
    }

    /// The value in another type; the value itself if it has that type.
    pub fn cast(&self, dtype: Dtype, value: Reg) -> Reg {
        if self.dtype(value) == dtype { value } else { self.push(dtype, Op::Cast(value)) }
    }

    /// The value as `tensor.to(dtype)` has it: floats reach narrow integers by way of a wide one and wrap, as ATen's casts
    /// do, where [`cast`](KernelBuilder::cast) saturates.
    pub(crate) fn converted(&self, dtype: Dtype, value: Reg) -> Reg {
        if self.dtype(value).is_float() && dtype.is_integer() && dtype.size() < 4 {
            return self.cast(dtype, self.cast(Dtype::I64, value));
        }
        self.cast(dtype, value)
    }

    /// A reduction over all reduce axes.
    pub fn reduce(&self, op: ReduceOp, value: Reg) -> Reg {
        let dtype = op.gives().of(self.dtype(value));
        self.push(dtype, Op::Reduce(op, value))
    }

    /// A running reduction along the last reduce axis.
    pub fn scan(&self, op: ScanOp, value: Reg) -> Reg {
        self.push(self.dtype(value), Op::Scan(op, value))
    }

    /// One element of an input, which lies along one axis in each dimension.
    pub fn element(&self, input: u32, axes: &[u32]) -> Reg {
        let place = axes.iter().map(|&axis| self.axis(axis)).collect();
        self.load(input, place, PaddingMode::Clamp)
    }

    /// The value in the type that its type is calculated in: `f32` for half types. See [`math`].
    pub fn widened(&self, value: Reg) -> Reg {
        let dtype = self.dtype(value);
        self.cast(math(dtype).unwrap_or(dtype), value)
    }

    /// The value as a tensor of type `dtype` would hold it, widened again: what eager reads back when it has stored it.
    pub fn rounded(&self, dtype: Dtype, value: Reg) -> Reg {
        self.widened(self.converted(dtype, value))
    }

    /// The sum over all reduce axes; integers in `i64`.
    pub fn sum(&self, value: Reg) -> Reg {
        let wide = if self.dtype(value).is_float() { self.widened(value) } else { self.cast(Dtype::I64, value) };
        self.reduce(ReduceOp::Sum, wide)
    }

    /// The mean over all reduce axes, of floats.
    pub fn mean(&self, value: Reg) -> Reg {
        let sum = self.sum(value);
        let count = self.0.borrow().kernel.row_length();
        self.div(sum, self.float(self.dtype(sum), count as f64))
    }

    /// Writes a value densely, its axes in `order`, as a tensor of shape `shape`.
    pub fn store(&self, value: Reg, order: impl Into<Vec<u32>>, shape: impl Into<Vec<i64>>) {
        let store = Store { value, order: order.into(), shape: shape.into() };
        self.0.borrow_mut().kernel.stores.push(store);
    }

    /// Turns all parallel axes from `first` on into reduce axes. Axis numbers stay what they are; values that depend on
    /// earlier axes only become rows, computed once for a whole row of elements.
    pub fn reduce_from(&self, first: usize) {
        let kernel = &mut self.0.borrow_mut().kernel;
        let reduce = kernel.parallel.split_off(first.min(kernel.parallel.len()));
        kernel.reduce.splice(0..0, reduce);
    }

    /// The kernel, if the verifier accepts it.
    pub fn finish(self) -> Result<Kernel, KernelError> {
        let kernel = self.0.into_inner().kernel;
        verify(&kernel)?;
        Ok(kernel)
    }

    fn push(&self, dtype: Dtype, op: Op) -> Reg {
        let inst = Inst { dtype, op };
        let draft = &mut *self.0.borrow_mut();
        let body = &mut draft.kernel.body;
        // What is no value of this kernel is found by the verifier.
        let group = first_operand(&inst.op).map_or(0, |first| 1 + (first.0 as usize).min(body.len()));
        if draft.by_operand.len() <= group {
            draft.by_operand.resize(group + 1, vec![]);
        }
        let known = &mut draft.by_operand[group];
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
