//! What the lowering rule of an op sees: the op's operands as body values, and the means to calculate with them.

use super::KernelBuilder;
use super::promote::{Strength, common, math};
use crate::args::Args;
use passhost_ir::kernel::{Binary, Compare, ReduceOp, Reg, Unary};
use passhost_ir::{Arg, Dtype};

/// A tensor operand of the op being lowered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand {
    /// The element, in the tensor's own type.
    pub(crate) value: Reg,
    /// The tensor has dimensions.
    pub(crate) has_dimensions: bool,
}

/// A call of an op at one point of the space. Rules calculate in the *math type* of the op's operands and return a value
/// of that type; the caller rounds it to the op's result type, as eager does when it stores the tensor.
pub(crate) struct Call<'a> {
    /// Where instructions go.
    pub(crate) kernel: &'a mut KernelBuilder,
    /// Its arguments.
    pub(crate) args: Args<'a>,
    /// For each argument that is a tensor, its element.
    pub(crate) operands: &'a [Option<Operand>],
    /// Element type of the result.
    pub(crate) result: Dtype,
    /// Which of its results.
    pub(crate) output: usize,
    /// For an op that reduces, the elements that it reduces to the row of this point.
    pub(crate) window: Option<Window>,
}

/// The elements that an op reduces, in the type of their tensor.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// The element at each point of the reduce axes, or one by one where they are few.
    pub(crate) elements: Elements,
    /// How many there are.
    pub(crate) count: i64,
}

/// See [`Window`].
#[derive(Debug, Clone)]
pub(crate) enum Elements {
    /// One for each point of the reduce axes.
    OverAxes(Reg),
    /// These, in row-major order.
    Listed(Vec<Reg>),
}

/// Why a rule does not cover a call: a clause that follows the op's name.
pub(crate) type Uncovered = String;

impl Call<'_> {
    /// The math type of a tensor type.
    pub(crate) fn math(&self, dtype: Dtype) -> Result<Dtype, Uncovered> {
        math(dtype).ok_or_else(|| format!("works on {dtype}, which kernels do not calculate in"))
    }

    /// The type all operands at these places are brought to before the op.
    pub(crate) fn common(&self, places: &[usize]) -> Result<Dtype, Uncovered> {
        let kinds: Vec<(Dtype, Strength)> = places.iter().filter_map(|&place| self.kind(place)).collect();
        common(kinds.iter().copied()).ok_or_else(|| "has no operand where one is expected".to_owned())
    }

    fn kind(&self, place: usize) -> Option<(Dtype, Strength)> {
        if let Some(operand) = self.operands.get(place).copied().flatten() {
            let strength = if operand.has_dimensions { Strength::Tensor } else { Strength::Scalar };
            return Some((self.kernel.dtype(operand.value), strength));
        }
        let dtype = match self.args.get(place)? {
            Arg::Bool(_) => Dtype::Bool,
            Arg::Int(_) => Dtype::I64,
            Arg::Float(_) => Dtype::F64,
            _ => return None,
        };
        Some((dtype, Strength::Number))
    }

    /// The operand at a place as a tensor of type `dtype` would hold it, ready for calculation. A Python number is
    /// taken at the precision of the math type, as ATen's kernels take it.
    pub(crate) fn operand(&mut self, place: usize, dtype: Dtype) -> Result<Reg, Uncovered> {
        let target = self.math(dtype)?;
        if let Some(operand) = self.operands.get(place).copied().flatten() {
            let stored = convert(self.kernel, operand.value, dtype);
            return Ok(self.kernel.cast(target, stored));
        }
        match self.args.get(place) {
            Some(Arg::Float(value)) if !target.is_float() => Ok(self.integer(target, *value as i64)),
            Some(Arg::Int(value)) if !target.is_float() => Ok(self.integer(target, *value)),
            Some(Arg::Bool(value)) if !target.is_float() => Ok(self.integer(target, i64::from(*value))),
            _ => {
                let value = self.number(place)?;
                Ok(self.kernel.float(target, value))
            }
        }
    }

    /// The same, with a Python number first rounded to `dtype`: for the ops whose kernels convert it to a tensor.
    pub(crate) fn rounded(&mut self, place: usize, dtype: Dtype) -> Result<Reg, Uncovered> {
        let value = self.operand(place, dtype)?;
        let stored = self.kernel.cast(dtype, value);
        let target = self.math(dtype)?;
        Ok(self.kernel.cast(target, stored))
    }

    /// Both operands of a binary op in its common type, which is also its result's.
    pub(crate) fn pair(&mut self) -> Result<(Reg, Reg), Uncovered> {
        Ok((self.operand(0, self.result)?, self.operand(1, self.result)?))
    }

    /// Whether the argument at a place is a tensor.
    pub(crate) fn is_tensor(&self, place: usize) -> bool {
        self.operands.get(place).is_some_and(Option::is_some)
    }

    /// Whether an optional argument is given.
    pub(crate) fn is_given(&self, place: usize) -> bool {
        !matches!(self.args.get(place), None | Some(Arg::None))
    }

    /// A number.
    pub(crate) fn number(&self, place: usize) -> Result<f64, Uncovered> {
        self.args.number(place).ok_or_else(|| format!("has no number as argument {place}"))
    }

    /// A literal of a math type; integer types truncate.
    pub(crate) fn literal(&mut self, dtype: Dtype, value: f64) -> Reg {
        if dtype.is_float() { self.kernel.float(dtype, value) } else { self.integer(dtype, value as i64) }
    }

    fn integer(&mut self, dtype: Dtype, value: i64) -> Reg {
        match dtype {
            Dtype::Bool => self.kernel.bool(value != 0),
            // Wraps as a conversion of a tensor would.
            Dtype::I32 => self.kernel.int(dtype, i64::from(value as i32)),
            _ => self.kernel.int(dtype, value),
        }
    }

    /// `a op c` with a literal of `a`'s type.
    pub(crate) fn with(&mut self, op: Binary, a: Reg, c: f64) -> Reg {
        let c = self.literal(self.kernel.dtype(a), c);
        self.kernel.binary(op, a, c)
    }

    /// `c op a` with a literal of `a`'s type.
    pub(crate) fn from(&mut self, c: f64, op: Binary, a: Reg) -> Reg {
        let c = self.literal(self.kernel.dtype(a), c);
        self.kernel.binary(op, c, a)
    }

    /// `a op c` as a `bool`, with a literal of `a`'s type.
    pub(crate) fn test(&mut self, a: Reg, op: Compare, c: f64) -> Reg {
        let c = self.literal(self.kernel.dtype(a), c);
        self.kernel.compare(op, a, c)
    }

    /// Shorthand for a unary instruction.
    pub(crate) fn unary(&mut self, op: Unary, a: Reg) -> Reg {
        self.kernel.unary(op, a)
    }

    /// Shorthand for a binary instruction.
    pub(crate) fn binary(&mut self, op: Binary, a: Reg, b: Reg) -> Reg {
        self.kernel.binary(op, a, b)
    }

    /// The operand at a place in the math type of its own tensor type.
    pub(crate) fn own(&mut self, place: usize) -> Result<Reg, Uncovered> {
        let (dtype, _) = self.kind(place).ok_or_else(|| format!("has no operand as argument {place}"))?;
        self.operand(place, dtype)
    }

    /// A value that a tensor of type `dtype` would hold, ready for calculation.
    pub(crate) fn widened(&mut self, value: Reg, dtype: Dtype) -> Result<Reg, Uncovered> {
        let stored = convert(self.kernel, value, dtype);
        Ok(self.kernel.cast(self.math(dtype)?, stored))
    }

    /// The type of the tensor whose elements are reduced.
    pub(crate) fn reduced(&self) -> Result<Dtype, Uncovered> {
        Ok(self.kernel.dtype(match &self.window()?.elements {
            Elements::OverAxes(element) => *element,
            Elements::Listed(elements) => *elements.first().ok_or("reduces nothing")?,
        }))
    }

    /// How many elements are reduced.
    pub(crate) fn count(&self) -> Result<i64, Uncovered> {
        Ok(self.window()?.count)
    }

    /// A reduction of what `map` makes of every element.
    pub(crate) fn fold(
        &mut self,
        op: ReduceOp,
        mut map: impl FnMut(&mut Self, Reg) -> Result<Reg, Uncovered>,
    ) -> Result<Reg, Uncovered> {
        match self.window()?.elements.clone() {
            Elements::OverAxes(element) => {
                let element = map(self, element)?;
                Ok(self.kernel.reduce(op, element))
            }
            Elements::Listed(elements) => {
                let combine = op.combine().ok_or("wants a position, but its few elements are taken one by one")?;
                let mut result = None;
                for element in elements {
                    let element = map(self, element)?;
                    result = Some(match result {
                        None => element,
                        Some(result) => self.kernel.binary(combine, result, element),
                    });
                }
                result.ok_or_else(|| "reduces nothing".to_owned())
            }
        }
    }

    fn window(&self) -> Result<&Window, Uncovered> {
        self.window.as_ref().ok_or_else(|| "reduces, which is not expected here".to_owned())
    }

    /// Whether a value is not zero, a NaN included.
    pub(crate) fn truth(&mut self, a: Reg) -> Reg {
        self.kernel.cast(Dtype::Bool, a)
    }
}

/// An element as `tensor.to(dtype)` has it.
pub(crate) fn convert(kernel: &mut KernelBuilder, value: Reg, dtype: Dtype) -> Reg {
    let from = kernel.dtype(value);
    // Floats reach narrow integers by way of a wide one and wrap, as ATen's casts do; kernels would saturate.
    if from.is_float() && dtype.is_integer() && dtype.size() < 4 {
        let wide = kernel.cast(Dtype::I64, value);
        return kernel.cast(dtype, wide);
    }
    kernel.cast(dtype, value)
}
