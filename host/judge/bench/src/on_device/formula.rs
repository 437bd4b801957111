//! Writes a kernel down as formulas.

use passhost_ir::kernel::{
    Binary, Compare, IndexExpr, IndexId, InputDecl, Inst, Op, PaddingMode, ReduceOp, Reg, Scalar, Store, Unary,
};
use passhost_ir::{Dtype, Kernel};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Not, Rem, Shr, Sub};

/// A kernel under construction.
pub struct Formula {
    kernel: RefCell<Kernel>,
}

/// A value at a point of the kernel's space.
#[derive(Clone, Copy)]
pub struct FormulaTerm<'f> {
    formula: &'f Formula,
    reg: Reg,
}

/// A value, or a number of 64 bits that becomes one.
pub trait IntoTerm<'f> {
    /// The value.
    fn term(self, formula: &'f Formula) -> FormulaTerm<'f>;
}

impl<'f> IntoTerm<'f> for FormulaTerm<'f> {
    fn term(self, _: &'f Formula) -> FormulaTerm<'f> {
        self
    }
}

impl<'f> IntoTerm<'f> for i64 {
    fn term(self, formula: &'f Formula) -> FormulaTerm<'f> {
        formula.push(Dtype::I64, Op::Const(Scalar::Int(self)))
    }
}

impl<'f> IntoTerm<'f> for f64 {
    fn term(self, formula: &'f Formula) -> FormulaTerm<'f> {
        formula.push(Dtype::F64, Op::Const(Scalar::Float(self)))
    }
}

macro_rules! operators {
    ($($operator:ident::$method:ident => $op:ident;)*) => {$(
        impl<'f, O: IntoTerm<'f>> $operator<O> for FormulaTerm<'f> {
            type Output = FormulaTerm<'f>;

            fn $method(self, other: O) -> FormulaTerm<'f> {
                self.binary(Binary::$op, other)
            }
        }
    )*};
}

operators! {
    Add::add => Add;
    Sub::sub => Sub;
    Mul::mul => Mul;
    Div::div => Div;
    Rem::rem => Rem;
    BitAnd::bitand => And;
    BitOr::bitor => Or;
    BitXor::bitxor => Xor;
    Shr::shr => Shr;
}

impl<'f> Not for FormulaTerm<'f> {
    type Output = FormulaTerm<'f>;

    fn not(self) -> FormulaTerm<'f> {
        self.unary(Unary::Not)
    }
}

impl<'f> FormulaTerm<'f> {
    /// An operation that gives its operand's type.
    pub fn unary(self, op: Unary) -> FormulaTerm<'f> {
        self.formula.push(op.gives().of(self.dtype()), Op::Unary(op, self.reg))
    }

    /// An operation of two operands.
    pub fn binary(self, op: Binary, other: impl IntoTerm<'f>) -> FormulaTerm<'f> {
        let other = other.term(self.formula);
        self.formula.push(self.dtype(), Op::Binary(op, self.reg, other.reg))
    }

    /// A comparison.
    pub fn is(self, op: Compare, other: impl IntoTerm<'f>) -> FormulaTerm<'f> {
        let other = other.term(self.formula);
        self.formula.push(Dtype::Bool, Op::Compare(op, self.reg, other.reg))
    }

    /// One of two values, as this is true or not.
    pub fn select(self, yes: impl IntoTerm<'f>, no: impl IntoTerm<'f>) -> FormulaTerm<'f> {
        let (yes, no) = (yes.term(self.formula), no.term(self.formula));
        self.formula.push(yes.dtype(), Op::Select(self.reg, yes.reg, no.reg))
    }

    /// The value in another type.
    pub fn cast(self, dtype: Dtype) -> FormulaTerm<'f> {
        self.formula.push(dtype, Op::Cast(self.reg))
    }

    /// Makes an output over the parallel axes, reduced over the others.
    pub fn reduced(self, op: ReduceOp) {
        self.formula.push(op.gives().of(self.dtype()), Op::Reduce(op, self.reg)).output();
    }

    /// Makes an output over the parallel axes.
    pub fn output(self) {
        let mut kernel = self.formula.kernel.borrow_mut();
        let (order, shape) = ((0..kernel.parallel.len() as u32).collect(), kernel.parallel.clone());
        kernel.stores.push(Store { value: self.reg, order, shape });
    }

    fn dtype(self) -> Dtype {
        self.formula.kernel.borrow().body[self.reg.0 as usize].dtype
    }
}

impl Formula {
    /// Over the points of a space.
    pub fn over(parallel: &[i64], reduce: &[i64]) -> Formula {
        let index = (0..(parallel.len() + reduce.len()) as u32).map(IndexExpr::Axis).collect();
        let kernel = Kernel { parallel: parallel.into(), reduce: reduce.into(), index, ..Kernel::default() };
        Formula { kernel: RefCell::new(kernel) }
    }

    /// The kernel.
    pub fn into_kernel(self) -> Kernel {
        self.kernel.into_inner()
    }

    /// The element at its own point of a new input that is as large as the space.
    pub fn element(&self, dtype: Dtype) -> FormulaTerm<'_> {
        let kernel = self.kernel.borrow();
        let shape: Vec<i64> = kernel.parallel.iter().chain(&kernel.reduce).copied().collect();
        drop(kernel);
        let index = (0..shape.len() as u32).map(IndexId).collect();
        let input = self.input(dtype, shape);
        self.load(dtype, input, index)
    }

    /// The numbers of a new input of so many.
    pub fn parameters<const COUNT: usize>(&self, dtype: Dtype) -> [FormulaTerm<'_>; COUNT] {
        let input = self.input(dtype, vec![COUNT as i64]);
        std::array::from_fn(|place| self.load(dtype, input, vec![self.index(IndexExpr::Const(place as i64))]))
    }

    /// What a new input of so many elements has at a computed place.
    pub fn looked_up(&self, dtype: Dtype, entries: usize, place: FormulaTerm<'_>) -> FormulaTerm<'_> {
        let index = self.index(IndexExpr::Value(place.reg));
        let input = self.input(dtype, vec![entries as i64]);
        self.load(dtype, input, vec![index])
    }

    /// The position along an axis.
    pub fn position(&self, axis: u32) -> FormulaTerm<'_> {
        self.push(Dtype::I64, Op::Index(IndexId(axis)))
    }

    fn load(&self, dtype: Dtype, input: u32, index: Vec<IndexId>) -> FormulaTerm<'_> {
        self.push(dtype, Op::Load { input, index, padding: PaddingMode::Clamp })
    }

    fn input(&self, dtype: Dtype, shape: Vec<i64>) -> u32 {
        let inputs = &mut self.kernel.borrow_mut().inputs;
        inputs.push(InputDecl { dtype, shape });
        inputs.len() as u32 - 1
    }

    fn index(&self, expression: IndexExpr) -> IndexId {
        let index = &mut self.kernel.borrow_mut().index;
        index.push(expression);
        IndexId(index.len() as u32 - 1)
    }

    fn push(&self, dtype: Dtype, op: Op) -> FormulaTerm<'_> {
        let body = &mut self.kernel.borrow_mut().body;
        body.push(Inst { dtype, op });
        FormulaTerm { formula: self, reg: Reg(body.len() as u32 - 1) }
    }
}
