//! Which types each operation takes and gives.

use super::operations::Accepts;
use super::{Kernel, KernelError, KernelRule, Op, PaddingMode, Reg, Scalar};
use crate::Dtype;

/// Checks the types of one instruction. Its operands come before it and are checked.
pub(super) fn check(kernel: &Kernel, at: Reg) -> Result<(), KernelError> {
    let inst = &kernel.body[at.0 as usize];
    if inst.dtype.is_complex() {
        return Err(KernelRule::ComplexValue(inst.dtype).broken_at(at));
    }
    let typed = TypedInst { kernel, at };
    match inst.op {
        Op::Const(scalar) => typed.literal(inst.dtype, scalar),
        Op::Index(_) => typed.result("index", Dtype::I64),
        Op::Load { .. } => typed.load(),
        Op::Unary(op, a) => {
            let dtype = typed.operand(op.name(), a, op.takes())?;
            typed.result(op.name(), op.gives().of(dtype))
        }
        Op::Binary(op, a, b) => {
            let dtype = typed.operands(op.name(), &[a, b], op.takes())?;
            typed.result(op.name(), dtype)
        }
        Op::Compare(op, a, b) => {
            typed.operands(op.name(), &[a, b], op.takes())?;
            typed.result(op.name(), Dtype::Bool)
        }
        Op::Select(condition, a, b) => {
            typed.operand("select's condition", condition, Accepts::Bool)?;
            let dtype = typed.operands("select", &[a, b], Accepts::Any)?;
            typed.result("select", dtype)
        }
        Op::Fma(a, b, c) => {
            let dtype = typed.operands("fma", &[a, b, c], Accepts::Floats)?;
            typed.result("fma", dtype)
        }
        Op::Cast(_) => Ok(()),
        Op::Reduce(op, a) => {
            typed.over_reduce_axes(op.name())?;
            let dtype = typed.operand(op.name(), a, op.takes())?;
            typed.result(op.name(), op.gives().of(dtype))
        }
        Op::Scan(op, a) => {
            typed.over_reduce_axes(op.name())?;
            let dtype = typed.operand(op.name(), a, op.reduction().takes())?;
            typed.result(op.name(), dtype)
        }
    }
}

/// One instruction under the type rules.
struct TypedInst<'a> {
    kernel: &'a Kernel,
    at: Reg,
}

impl TypedInst<'_> {
    fn dtype(&self, reg: Reg) -> Dtype {
        self.kernel.body[reg.0 as usize].dtype
    }

    fn operand(&self, op: &'static str, operand: Reg, accepts: Accepts) -> Result<Dtype, KernelError> {
        let found = self.dtype(operand);
        if accepts.holds(found) {
            return Ok(found);
        }
        Err(KernelRule::OperandType(op, accepts.text(), operand, found).broken_at(self.at))
    }

    /// Operands of one type; returns it.
    fn operands(&self, op: &'static str, operands: &[Reg], accepts: Accepts) -> Result<Dtype, KernelError> {
        let first = self.operand(op, operands[0], accepts)?;
        for &operand in &operands[1..] {
            let second = self.operand(op, operand, accepts)?;
            if second != first {
                let (first, second) = ((operands[0], first), (operand, second));
                return Err(KernelRule::OperandsDiffer(op, first, second).broken_at(self.at));
            }
        }
        Ok(first)
    }

    fn result(&self, op: &'static str, expected: Dtype) -> Result<(), KernelError> {
        let found = self.dtype(self.at);
        if found == expected {
            return Ok(());
        }
        Err(KernelRule::ResultType(op, expected, found).broken_at(self.at))
    }

    fn over_reduce_axes(&self, op: &'static str) -> Result<(), KernelError> {
        if self.kernel.reduce.is_empty() {
            return Err(KernelRule::NoReduceAxis(op).broken_at(self.at));
        }
        Ok(())
    }

    fn literal(&self, dtype: Dtype, literal: Scalar) -> Result<(), KernelError> {
        let at = self.at;
        match literal {
            Scalar::Bool(_) if dtype == Dtype::Bool => Ok(()),
            Scalar::Int(value) if dtype.is_integer() => match dtype.integer_range() {
                Some((low, high)) if !(low..=high).contains(&value) => {
                    Err(KernelRule::LiteralRange(dtype, value).broken_at(at))
                }
                _ => Ok(()),
            },
            Scalar::Float(value) if dtype.is_float() => {
                let bits = value.to_bits();
                if value.is_nan() && bits != f64::NAN.to_bits() {
                    return Err(KernelRule::LiteralNan(bits).broken_at(at));
                }
                Ok(())
            }
            _ => Err(KernelRule::LiteralKind(dtype, literal).broken_at(at)),
        }
    }

    fn load(&self) -> Result<(), KernelError> {
        let at = self.at;
        let Op::Load { input, ref index, padding } = self.kernel.body[at.0 as usize].op else { return Ok(()) };
        let Some(decl) = self.kernel.inputs.get(input as usize) else {
            return Err(KernelRule::MissingInput(input, self.kernel.inputs.len()).broken_at(at));
        };
        self.result("load", decl.dtype)?;
        if index.len() != decl.shape.len() {
            return Err(KernelRule::LoadRank(input, index.len(), decl.shape.len()).broken_at(at));
        }
        match padding {
            PaddingMode::Pad(scalar) => self.literal(decl.dtype, scalar),
            PaddingMode::Clamp => match decl.shape.iter().position(|&extent| extent == 0) {
                Some(dim) => Err(KernelRule::ClampEmpty(dim, input).broken_at(at)),
                None => Ok(()),
            },
        }
    }
}
