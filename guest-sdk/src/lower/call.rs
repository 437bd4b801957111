//! What the lowering rule of an op sees: the op's operands as body values, and the means to calculate with them.

use super::KernelBuilder;
use super::math::math;
use super::quantity::Quantity;
use crate::args::Args;
use crate::index::Index;
use passhost_ir::kernel::{Binary, ReduceOp, Reg, ScanOp, Unary};
use passhost_ir::promote::{Strength, common};
use passhost_ir::{Arg, DeviceKind, Dtype};

/// A tensor operand of the op being lowered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperandElement {
    /// The element, in the tensor's own type.
    pub(crate) value: Reg,
    /// The tensor has dimensions.
    pub(crate) has_dimensions: bool,
    /// For the first operand of an op of channels: eager has the tensor dense, in rows or with channels last.
    pub(crate) is_packed: bool,
}

/// A call of an op at one point of the space. Rules calculate in the *math type* of the op's operands and return a value
/// of that type; the caller rounds it to the op's result type, as eager does when it stores the tensor.
pub(crate) struct OpCall<'a> {
    /// Where instructions go.
    pub(crate) kernel: &'a KernelBuilder,
    /// Its arguments.
    pub(crate) args: Args<'a>,
    /// For each argument that is a tensor, its element; for an op that reads at places of its own, what it reads there.
    pub(crate) operands: &'a [Option<OperandElement>],
    /// Where the element lies in the result.
    pub(crate) place: &'a [Index],
    /// Element type of the result.
    pub(crate) result: Dtype,
    /// Which of its results.
    pub(crate) output: usize,
    /// Where eager runs it, where that is known: libraries round at places that differ from device to device.
    pub(crate) device: Option<DeviceKind>,
    /// For an op that reduces, the elements that it reduces to the row of this point.
    pub(crate) window: Option<Window>,
}

/// The elements that an op reduces, in the type of their tensor.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// The elements: one, or several where they are taken one by one, in row-major order.
    pub(crate) elements: Vec<Reg>,
    /// Whether there are as many for each point of the reduce axes.
    pub(crate) over_axes: bool,
    /// The element beside it of each further tensor that is reduced together with it.
    pub(crate) beside: Vec<Reg>,
    /// Where the element lies in the window, over the axes of the kernel.
    pub(crate) at: Vec<Index>,
    /// The extents of the window.
    pub(crate) extents: Vec<i64>,
    /// How many there are.
    pub(crate) count: i64,
    /// How many of them count, an `i64`, where that differs from row to row.
    pub(crate) counted: Option<Reg>,
}

/// Why a rule does not cover a call: a clause that follows the op's name.
pub(crate) type Uncovered = String;

/// What a rule makes of a call.
pub(crate) type Emitted<'k> = Result<Quantity<'k>, Uncovered>;

impl<'k> OpCall<'k> {
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

    fn quantity(&self, reg: Reg) -> Quantity<'k> {
        Quantity { kernel: self.kernel, reg }
    }

    /// The operand at a place as a tensor of type `dtype` would hold it, ready for calculation. A Python number is
    /// taken at the precision of the math type, as ATen's kernels take it.
    pub(crate) fn operand(&self, place: usize, dtype: Dtype) -> Emitted<'k> {
        let target = self.math(dtype)?;
        if let Some(operand) = self.operands.get(place).copied().flatten() {
            return Ok(self.quantity(operand.value).converted(dtype).cast(target));
        }
        Ok(match self.args.get(place) {
            Some(Arg::Int(value)) if !target.is_float() => Quantity::integer(self.kernel, target, *value),
            _ => self.literal(target, self.number(place)?),
        })
    }

    /// The same, with a Python number first rounded to `dtype`: for the ops whose kernels convert it to a tensor.
    pub(crate) fn rounded(&self, place: usize, dtype: Dtype) -> Emitted<'k> {
        Ok(self.operand(place, dtype)?.cast(dtype).cast(self.math(dtype)?))
    }

    /// The first operand in the result's type.
    pub(crate) fn first(&self) -> Emitted<'k> {
        self.operand(0, self.result)
    }

    /// Both operands of a binary op in its common type, which is also its result's.
    pub(crate) fn pair(&self) -> Result<(Quantity<'k>, Quantity<'k>), Uncovered> {
        Ok((self.first()?, self.operand(1, self.result)?))
    }

    /// The first three operands in the result's type.
    pub(crate) fn triple(&self) -> Result<(Quantity<'k>, Quantity<'k>, Quantity<'k>), Uncovered> {
        Ok((self.first()?, self.operand(1, self.result)?, self.operand(2, self.result)?))
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
    pub(crate) fn literal(&self, dtype: Dtype, value: f64) -> Quantity<'k> {
        Quantity::number(self.kernel, dtype, value)
    }

    /// The operand at a place in the math type of its own tensor type.
    pub(crate) fn own(&self, place: usize) -> Emitted<'k> {
        let (dtype, _) = self.kind(place).ok_or_else(|| format!("has no operand as argument {place}"))?;
        self.operand(place, dtype)
    }

    /// A value that a tensor of type `dtype` would hold, ready for calculation.
    pub(crate) fn widened(&self, value: Quantity<'k>, dtype: Dtype) -> Emitted<'k> {
        Ok(value.converted(dtype).cast(self.math(dtype)?))
    }

    /// The type of the tensor at a place, if there is one.
    pub(crate) fn tensor_type(&self, place: usize) -> Option<Dtype> {
        let operand = self.operands.get(place).copied().flatten()?;
        Some(self.kernel.dtype(operand.value))
    }

    /// The type of the tensor whose elements are reduced.
    pub(crate) fn reduced(&self) -> Result<Dtype, Uncovered> {
        Ok(self.kernel.dtype(*self.window()?.elements.first().ok_or("reduces nothing")?))
    }

    /// How many elements are reduced.
    pub(crate) fn count(&self) -> Result<f64, Uncovered> {
        Ok(self.window()?.count as f64)
    }

    /// How many of them count, as a number of this type.
    pub(crate) fn counted(&self, dtype: Dtype) -> Emitted<'k> {
        Ok(match self.window()?.counted {
            Some(counted) => self.quantity(counted).cast(dtype),
            None => self.literal(dtype, self.count()?),
        })
    }

    /// A reduction of what `map` makes of every element.
    pub(crate) fn fold(&self, op: ReduceOp, map: impl Fn(Quantity<'k>) -> Emitted<'k>) -> Emitted<'k> {
        let window = self.window()?;
        let mapped = window.elements.iter().map(|&element| map(self.quantity(element)));
        let combined = mapped.reduce(|result, element| {
            let combine = op.combine().ok_or("wants a position, but its few elements are taken one by one")?;
            Ok(result?.binary(combine, element?))
        });
        let combined = combined.ok_or("reduces nothing")??;
        if window.over_axes { self.reduction(op, combined) } else { Ok(combined) }
    }

    /// Over how many dimensions with more than one element.
    pub(crate) fn long_extents(&self) -> Result<usize, Uncovered> {
        Ok(self.window()?.extents.iter().filter(|&&extent| extent > 1).count())
    }

    /// The element at this point of the reduce axes of one of the tensors that are reduced.
    pub(crate) fn element(&self, tensor: usize) -> Emitted<'k> {
        let window = self.window()?;
        if !window.over_axes || window.elements.len() > 1 {
            return Err("takes its few elements one by one, which is not expected here".to_owned());
        }
        let element = window.elements.iter().chain(&window.beside).nth(tensor);
        Ok(self.quantity(*element.ok_or("reduces fewer tensors than expected")?))
    }

    /// A reduction of what was calculated of the elements at each point of the reduce axes.
    pub(crate) fn reduction(&self, op: ReduceOp, element: Quantity<'k>) -> Emitted<'k> {
        Ok(self.quantity(self.kernel.reduce(op, element.reg)))
    }

    /// The reduction so far of what was calculated of the elements.
    pub(crate) fn scan(&self, op: ScanOp, element: Quantity<'k>) -> Quantity<'k> {
        self.quantity(self.kernel.scan(op, element.reg))
    }

    /// The row-major position of the element in its window, an `i64`.
    pub(crate) fn ordinal(&self) -> Emitted<'k> {
        let window = self.window()?;
        Ok(self.index(&Index::ravel(&window.at, &window.extents)))
    }

    /// The position of the result's element along a dimension, an `i64`.
    pub(crate) fn position(&self, dim: usize) -> Emitted<'k> {
        Ok(self.index(self.place.get(dim).ok_or("has fewer dimensions than expected")?))
    }

    fn index(&self, index: &Index) -> Quantity<'k> {
        let kernel = self.kernel;
        let index = index.emit(kernel);
        self.quantity(kernel.position(index))
    }

    /// A value rounded to the result's type and ready for calculation: what eager reads of a tensor that it stored on
    /// the way to the result.
    pub(crate) fn stored(&self, value: Quantity<'k>) -> Emitted<'k> {
        self.widened(value, self.result)
    }

    /// The first operand after an op that a kernel has too. Integers become floats first where the result type says so.
    pub(crate) fn unary(&self, op: Unary) -> Emitted<'k> {
        Ok(self.first()?.unary(op))
    }

    /// Both operands after an op that a kernel has too.
    pub(crate) fn binary(&self, op: Binary) -> Emitted<'k> {
        let (a, b) = self.pair()?;
        Ok(a.binary(op, b))
    }

    fn window(&self) -> Result<&Window, Uncovered> {
        self.window.as_ref().ok_or_else(|| "reduces, which is not expected here".to_owned())
    }
}
