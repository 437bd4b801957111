//! Calculating with body values as with numbers, so that a rule reads as its formula.

use super::KernelBuilder;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Reg, Unary};
use std::ops::{Add, Div, Mul, Rem, Sub};

/// A body value of the kernel that is being written. What is calculated with it becomes instructions of that kernel, in
/// the order in which Rust evaluates the formula.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantity<'k> {
    /// Where instructions go.
    pub(crate) kernel: &'k KernelBuilder,
    /// The value.
    pub(crate) reg: Reg,
}

/// What stands on the right of an operator: another value, or a number, which becomes a literal of the left one's type.
pub(crate) trait RightOperand<'k> {
    /// It as a value beside `left`.
    fn beside(self, left: Quantity<'k>) -> Quantity<'k>;
}

impl<'k> RightOperand<'k> for Quantity<'k> {
    fn beside(self, _: Quantity<'k>) -> Quantity<'k> {
        self
    }
}

impl<'k> RightOperand<'k> for f64 {
    fn beside(self, left: Quantity<'k>) -> Quantity<'k> {
        left.literal(self)
    }
}

impl<'k> Quantity<'k> {
    /// A literal of a math type; integer types truncate.
    pub(crate) fn number(kernel: &'k KernelBuilder, dtype: Dtype, value: f64) -> Quantity<'k> {
        if !dtype.is_float() {
            return Quantity::integer(kernel, dtype, value as i64);
        }
        let reg = kernel.float(dtype, value);
        Quantity { kernel, reg }
    }

    /// A literal of a math type that is no float.
    pub(crate) fn integer(kernel: &'k KernelBuilder, dtype: Dtype, value: i64) -> Quantity<'k> {
        let reg = match dtype {
            Dtype::Bool => kernel.bool(value != 0),
            // Wraps as a conversion of a tensor would.
            Dtype::I32 => kernel.int(dtype, i64::from(value as i32)),
            _ => kernel.int(dtype, value),
        };
        Quantity { kernel, reg }
    }

    /// What an instruction makes of it.
    fn then(self, emit: impl FnOnce(&KernelBuilder) -> Reg) -> Quantity<'k> {
        let reg = emit(self.kernel);
        Quantity { reg, ..self }
    }

    /// Its type.
    pub(crate) fn dtype(self) -> Dtype {
        self.kernel.dtype(self.reg)
    }

    /// A literal of its type.
    pub(crate) fn literal(self, value: f64) -> Quantity<'k> {
        Quantity::number(self.kernel, self.dtype(), value)
    }

    /// It in another type.
    pub(crate) fn cast(self, dtype: Dtype) -> Quantity<'k> {
        self.then(|kernel| kernel.cast(dtype, self.reg))
    }

    /// It as `tensor.to(dtype)` has it.
    pub(crate) fn converted(self, dtype: Dtype) -> Quantity<'k> {
        self.then(|kernel| kernel.converted(dtype, self.reg))
    }

    /// Whether it is not zero, a NaN included.
    pub(crate) fn truth(self) -> Quantity<'k> {
        self.cast(Dtype::Bool)
    }

    pub(crate) fn unary(self, op: Unary) -> Quantity<'k> {
        self.then(|kernel| kernel.unary(op, self.reg))
    }

    pub(crate) fn binary(self, op: Binary, other: impl RightOperand<'k>) -> Quantity<'k> {
        let other = other.beside(self).reg;
        self.then(|kernel| kernel.binary(op, self.reg, other))
    }

    pub(crate) fn compare(self, op: Compare, other: impl RightOperand<'k>) -> Quantity<'k> {
        let other = other.beside(self).reg;
        self.then(|kernel| kernel.compare(op, self.reg, other))
    }

    pub(crate) fn max(self, other: impl RightOperand<'k>) -> Quantity<'k> {
        self.binary(Binary::Max, other)
    }

    pub(crate) fn min(self, other: impl RightOperand<'k>) -> Quantity<'k> {
        self.binary(Binary::Min, other)
    }

    /// The first where it, a `bool`, is true, the second elsewhere.
    pub(crate) fn select(self, then: Quantity<'k>, otherwise: Quantity<'k>) -> Quantity<'k> {
        self.then(|kernel| kernel.select(self.reg, then.reg, otherwise.reg))
    }

    /// `self * factor + summand` with one rounding.
    pub(crate) fn fma(self, factor: Quantity<'k>, summand: Quantity<'k>) -> Quantity<'k> {
        self.then(|kernel| kernel.fma(self.reg, factor.reg, summand.reg))
    }
}

/// An operator of Rust for each of these operations, which has the name of the operator's trait.
macro_rules! operators {
    ($($operation:ident $method:ident),*) => {$(
        impl<'k, T: RightOperand<'k>> $operation<T> for Quantity<'k> {
            type Output = Quantity<'k>;

            fn $method(self, other: T) -> Quantity<'k> {
                self.binary(Binary::$operation, other)
            }
        }

        impl<'k> $operation<Quantity<'k>> for f64 {
            type Output = Quantity<'k>;

            fn $method(self, other: Quantity<'k>) -> Quantity<'k> {
                other.literal(self).binary(Binary::$operation, other)
            }
        }
    )*};
}

operators!(Add add, Sub sub, Mul mul, Div div, Rem rem);
