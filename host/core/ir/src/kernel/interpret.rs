//! The interpreter: what a kernel means, one element at a time, without any thought of speed.
//!
//! It goes row by row, and within a row instruction by instruction over all elements, so that a reduction is an
//! instruction like any other.

use super::approx::Approx;
use super::arithmetic::{Arithmetic, Mode};
use super::facts::{Facts, index_order};
use super::scalar::{self, Num};
use super::tensor::Tensor;
use super::{Binary, Class, IndexExpr, IndexId, Kernel, Op, PaddingMode, Reg, Store};
use crate::Dtype;

/// What a store writes.
#[derive(Debug, Clone, PartialEq)]
pub struct InterpretedOutput {
    /// Element type.
    pub dtype: Dtype,
    /// The declared shape.
    pub shape: Vec<i64>,
    /// The elements, in row-major order.
    pub values: Vec<Approx>,
}

/// Computes the outputs of a verified kernel, one for each store.
///
/// # Panics
/// If `facts` are not this kernel's, or `inputs` have other types or shapes than it declares.
pub fn interpret(kernel: &Kernel, facts: &Facts, inputs: &[Tensor], mode: Mode) -> Vec<InterpretedOutput> {
    interpret_watched(kernel, facts, inputs, mode, &mut |_| {})
}

/// As [`interpret`], and shows `watch` each row once everything in it is computed: for those who hold what others claim
/// of a kernel against what it means.
///
/// # Panics
/// As [`interpret`], and where `watch` does.
pub fn interpret_watched(
    kernel: &Kernel,
    facts: &Facts,
    inputs: &[Tensor],
    mode: Mode,
    watch: &mut dyn FnMut(&InterpretedRow<'_>),
) -> Vec<InterpretedOutput> {
    assert_eq!(inputs.len(), kernel.inputs.len(), "one tensor for each declared input");
    for (tensor, decl) in inputs.iter().zip(&kernel.inputs) {
        assert_eq!((tensor.dtype, &tensor.shape), (decl.dtype, &decl.shape), "inputs as the kernel declares them");
    }
    let unwritten = Approx::unknown(Num::Int(0));
    let mut outputs: Vec<InterpretedOutput> = kernel
        .output_types()
        .into_iter()
        .map(|ty| InterpretedOutput { dtype: ty.dtype, values: vec![unwritten; ty.numel() as usize], shape: ty.shape })
        .collect();
    let ready = index_order(kernel, &facts.index_needs);
    for row in points(&kernel.parallel) {
        let mut evaluation = InterpretedRow {
            kernel,
            facts,
            inputs,
            arithmetic: Arithmetic { mode },
            positions: positions(kernel, &row),
            index: vec![Vec::new(); kernel.index.len()],
            values: Vec::with_capacity(kernel.body.len()),
        };
        for (at, indices) in ready.iter().enumerate() {
            for &index in indices {
                evaluation.evaluate_index(index);
            }
            if at < kernel.body.len() {
                evaluation.evaluate(Reg(at as u32));
            }
        }
        for (store, output) in kernel.stores.iter().zip(&mut outputs) {
            evaluation.write(store, output);
        }
        watch(&evaluation);
    }
    outputs
}

/// Every point of a space, in row-major order.
fn points(extents: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    (0..crate::numel(extents) as i64).map(move |mut position| {
        let mut point = vec![0; extents.len()];
        for (coordinate, &extent) in point.iter_mut().zip(extents).rev() {
            *coordinate = position % extent;
            position /= extent;
        }
        point
    })
}

/// The points of one row: coordinates along all axes.
fn positions(kernel: &Kernel, row: &[i64]) -> Vec<Vec<i64>> {
    points(&kernel.reduce).map(|element| [row, element.as_slice()].concat()).collect()
}

/// The evaluation of one row. A list of one entry holds a row value, any other one entry for each element.
pub struct InterpretedRow<'a> {
    kernel: &'a Kernel,
    facts: &'a Facts,
    inputs: &'a [Tensor],
    arithmetic: Arithmetic,
    positions: Vec<Vec<i64>>,
    /// `None` where the index depends on an unknown value.
    index: Vec<Vec<Option<i64>>>,
    values: Vec<Vec<Approx>>,
}

impl InterpretedRow<'_> {
    fn count(&self, class: Class) -> usize {
        if class == Class::Row { 1 } else { self.positions.len() }
    }

    /// The coordinates of its elements along all axes, parallel axes first.
    pub fn positions(&self) -> &[Vec<i64>] {
        &self.positions
    }

    /// What an index expression is at an element; `None` where it depends on an unknown value.
    pub fn index(&self, index: IndexId, element: usize) -> Option<i64> {
        repeated(&self.index[index.0 as usize], element)
    }

    /// What a value is at an element.
    pub fn value(&self, value: Reg, element: usize) -> Approx {
        repeated(&self.values[value.0 as usize], element)
    }

    fn evaluate_index(&mut self, id: IndexId) {
        let list = (0..self.count(self.facts.index_class(id)))
            .map(|element| {
                let of = |operand| self.index(operand, element);
                match self.kernel.index[id.0 as usize] {
                    IndexExpr::Axis(axis) => Some(self.positions[element][axis as usize]),
                    IndexExpr::Const(value) => Some(value),
                    IndexExpr::Add(a, b) => Some(of(a)? + of(b)?),
                    IndexExpr::Sub(a, b) => Some(of(a)? - of(b)?),
                    IndexExpr::Mul(a, factor) => Some(of(a)? * factor),
                    IndexExpr::FloorDiv(a, divisor) => Some(of(a)?.div_euclid(divisor)),
                    IndexExpr::Mod(a, divisor) => Some(of(a)?.rem_euclid(divisor)),
                    IndexExpr::Value(value) => {
                        let value = self.value(value, element);
                        (!value.is_unknown()).then(|| value.value.as_i64())
                    }
                }
            })
            .collect();
        self.index[id.0 as usize] = list;
    }

    fn evaluate(&mut self, at: Reg) {
        let kernel = self.kernel;
        let count = self.count(self.facts.class(at));
        let list = match kernel.body[at.0 as usize].op {
            Op::Reduce(op, a) => {
                let mut fold = (op.fold())(self.dtype(a));
                for element in 0..self.positions.len() {
                    match self.factors(a, element) {
                        Some(factors) => fold.push_product(self.arithmetic, self.value(a, element), factors),
                        None => fold.push(self.arithmetic, self.value(a, element)),
                    }
                }
                vec![fold.result(self.arithmetic)]
            }
            Op::Scan(op, a) => {
                let length = kernel.reduce.last().map_or(1, |&extent| extent as usize);
                let mut fold = (op.reduction().fold())(self.dtype(a));
                let mut list = Vec::with_capacity(count);
                for element in 0..count {
                    if element % length == 0 {
                        fold = (op.reduction().fold())(self.dtype(a));
                    }
                    fold.push(self.arithmetic, self.value(a, element));
                    list.push(fold.result(self.arithmetic));
                }
                list
            }
            _ => (0..count).map(|element| self.pointwise(at, element)).collect(),
        };
        self.values.push(list);
    }

    /// The factors of what is, or may be, a product at an element, under a condition or without.
    fn factors(&self, value: Reg, element: usize) -> Option<[Approx; 2]> {
        let op = |value: Reg| &self.kernel.body[value.0 as usize].op;
        let may_hold = |condition: Approx| condition.value.is_true() || condition.is_unknown();
        let product = match *op(value) {
            Op::Select(condition, product, _) if may_hold(self.value(condition, element)) => product,
            _ => value,
        };
        let Op::Binary(Binary::Mul, a, b) = *op(product) else { return None };
        Some([a, b].map(|factor| self.value(factor, element)))
    }

    fn dtype(&self, value: Reg) -> Dtype {
        self.kernel.body[value.0 as usize].dtype
    }

    /// One element of an instruction that reads no other element.
    fn pointwise(&self, at: Reg, element: usize) -> Approx {
        let inst = &self.kernel.body[at.0 as usize];
        let of = |operand| self.value(operand, element);
        match inst.op {
            Op::Const(scalar) => self.arithmetic.literal(inst.dtype, scalar),
            Op::Index(index) => match self.index(index, element) {
                Some(index) => Approx::exact(Num::Int(index)),
                None => Approx::unknown(Num::Int(0)),
            },
            Op::Load { input, ref index, padding } => self.load(input, index, padding, element),
            Op::Unary(op, a) => self.arithmetic.unary(op, self.dtype(a), of(a)),
            Op::Binary(op, a, b) => self.arithmetic.binary(op, inst.dtype, of(a), of(b)),
            Op::Compare(op, a, b) => self.arithmetic.compare(op, of(a), of(b)),
            Op::Select(condition, a, b) => self.arithmetic.select(of(condition), of(a), of(b)),
            Op::Fma(a, b, c) => self.arithmetic.fma(inst.dtype, of(a), of(b), of(c)),
            Op::Cast(a) => self.arithmetic.cast(inst.dtype, of(a)),
            Op::Reduce(_, a) | Op::Scan(_, a) => of(a),
        }
    }

    /// Every index is checked or clamped here, whatever was proven.
    fn load(&self, input: u32, index: &[IndexId], padding: PaddingMode, element: usize) -> Approx {
        let tensor = &self.inputs[input as usize];
        let mut position = 0;
        for (&index, &extent) in index.iter().zip(&tensor.shape) {
            let Some(coordinate) = self.index(index, element) else {
                return Approx::unknown(scalar::cast(tensor.dtype, Num::Int(0)));
            };
            let inside = match padding {
                PaddingMode::Clamp => coordinate.clamp(0, extent - 1),
                PaddingMode::Pad(_) if (0..extent).contains(&coordinate) => coordinate,
                PaddingMode::Pad(scalar) => return self.arithmetic.literal(tensor.dtype, scalar),
            };
            position = position * extent + inside;
        }
        Approx::exact(tensor.get(position as usize))
    }

    fn write(&self, store: &Store, output: &mut InterpretedOutput) {
        // A row value over the parallel axes is written once, from the first element's coordinates.
        let elements = if store.order.len() == self.kernel.parallel.len() { 1 } else { self.positions.len() };
        for (element, point) in self.positions[..elements].iter().enumerate() {
            let position = store
                .order
                .iter()
                .fold(0, |position, &axis| position * self.kernel.extent(axis).unwrap_or(1) + point[axis as usize]);
            output.values[position as usize] = self.value(store.value, element);
        }
    }
}

fn repeated<T: Copy>(list: &[T], element: usize) -> T {
    if list.len() == 1 { list[0] } else { list[element] }
}
