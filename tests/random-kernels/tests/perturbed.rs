//! Another implementation, as wrong as a correct one may be: transcendental functions off by up to 2 ulp, sums and
//! products in their type and in another order, products perhaps taken in before they are rounded. It must stay within the interpreter's bounds; what the verifier proved
//! of ranges and classes must hold for every value it meets.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_ir::Dtype;
use passhost_ir::kernel::operations::Gives;
use passhost_ir::kernel::scalar::{self, Num};
use passhost_ir::kernel::{
    Binary, Class, Facts, IndexExpr, IndexId, Interval, Kernel, Mode, Op, PaddingMode, ReduceOp, Reg, Scalar, Tensor,
    interpret, verify,
};
use passhost_random_kernels::RandomKernel;
use passhost_random_kernels::{Stats, check_against};

/// How the products of a sum are added up.
type SumOfProducts = fn(Dtype, &[(f64, f64)]) -> f64;

/// What an executor would have written for each store.
fn execute(kernel: &Kernel, facts: &Facts, inputs: &[Tensor], products: Option<SumOfProducts>) -> Vec<Tensor> {
    let mut outputs: Vec<Tensor> =
        kernel.output_types().into_iter().map(|ty| Tensor::zeros(ty.dtype, ty.shape)).collect();
    let (rows, length) = (kernel.rows() as usize, kernel.row_length() as usize);
    for row in 0..rows {
        let points: Vec<Vec<i64>> = (0..length).map(|element| point(kernel, row * length + element)).collect();
        let mut index = vec![vec![0i64; length]; kernel.index.len()];
        let mut values: Vec<Vec<Num>> = Vec::new();
        for at in 0..=kernel.body.len() {
            let ready = (0..).map(IndexId).zip(&facts.index_needs).filter(|&(_, &needed)| needed as usize == at);
            for (id, _) in ready {
                for element in 0..length {
                    let of = |id: IndexId| index[id.0 as usize][element];
                    index[id.0 as usize][element] = match kernel.index[id.0 as usize] {
                        IndexExpr::Axis(axis) => points[element][axis as usize],
                        IndexExpr::Const(value) => value,
                        IndexExpr::Add(a, b) => of(a) + of(b),
                        IndexExpr::Sub(a, b) => of(a) - of(b),
                        IndexExpr::Mul(a, factor) => of(a) * factor,
                        IndexExpr::FloorDiv(a, divisor) => of(a).div_euclid(divisor),
                        IndexExpr::Mod(a, divisor) => of(a).rem_euclid(divisor),
                        IndexExpr::Value(value) => values[value.0 as usize][element].as_i64(),
                    };
                    let proven = facts.index_interval(id);
                    assert!(proven.contains(Interval::point(index[id.0 as usize][element])), "{proven:?}");
                }
            }
            let Some(inst) = kernel.body.get(at) else { continue };
            let list = match &inst.op {
                Op::Reduce(op, a) => {
                    let factors = products.zip(factors(kernel, *op, *a, &values));
                    if let Some((add, factors)) = factors {
                        vec![Num::Float(add(inst.dtype, &factors)); length]
                    } else {
                        vec![reduce(*op, kernel.body[a.0 as usize].dtype, &values[a.0 as usize]); length]
                    }
                }
                Op::Scan(op, a) => {
                    let last = kernel.reduce[kernel.reduce.len() - 1] as usize;
                    values[a.0 as usize].chunks(last).flat_map(|row| scan(op.reduction(), inst.dtype, row)).collect()
                }
                _ => (0..length).map(|element| pointwise(kernel, inputs, &index, &values, at, element)).collect(),
            };
            if let Some(proven) = facts.value_intervals[at] {
                assert!(list.iter().all(|x| proven.contains(Interval::point(x.as_i64()))), "{inst:?}: {proven:?}");
            }
            if facts.classes[at] == Class::Row {
                assert!(list.iter().all(|x| same(*x, list[0])), "{inst:?} varies along a row");
            }
            values.push(list);
        }
        for (store, output) in kernel.stores.iter().zip(&mut outputs) {
            for (element, point) in points.iter().enumerate() {
                let extent = |axis| kernel.extent(axis).unwrap_or(1);
                let position = store.order.iter().fold(0, |at, &axis| at * extent(axis) + point[axis as usize]);
                output.set(position as usize, values[store.value.0 as usize][element]);
            }
        }
    }
    outputs
}

fn same(a: Num, b: Num) -> bool {
    a == b || (a.as_f64().is_nan() && b.as_f64().is_nan())
}

fn point(kernel: &Kernel, mut position: usize) -> Vec<i64> {
    let mut point: Vec<i64> = kernel.parallel.iter().chain(&kernel.reduce).copied().collect();
    for coordinate in point.iter_mut().rev() {
        let extent = *coordinate as usize;
        *coordinate = (position % extent) as i64;
        position /= extent;
    }
    point
}

fn pointwise(
    kernel: &Kernel,
    inputs: &[Tensor],
    index: &[Vec<i64>],
    values: &[Vec<Num>],
    at: usize,
    element: usize,
) -> Num {
    let inst = &kernel.body[at];
    let of = |value: Reg| values[value.0 as usize][element];
    match &inst.op {
        Op::Const(scalar) => scalar::literal(inst.dtype, *scalar),
        Op::Index(id) => Num::Int(index[id.0 as usize][element]),
        Op::Load { input, index: ids, padding } => {
            let tensor = &inputs[*input as usize];
            let coordinates = ids.iter().map(|id| index[id.0 as usize][element]).zip(&tensor.shape);
            let inside = coordinates.clone().all(|(at, &extent)| (0..extent).contains(&at));
            match padding {
                PaddingMode::Pad(scalar) if !inside => scalar::literal(tensor.dtype, *scalar),
                _ => tensor.get(coordinates.fold(0, |p, (at, &n)| p * n + at.clamp(0, n - 1)) as usize),
            }
        }
        Op::Unary(op, a) => {
            let y = op.apply(kernel.body[a.0 as usize].dtype, of(*a));
            if op.ulps() == 0.0 { y } else { disturb(inst.dtype, y) }
        }
        Op::Binary(op, a, b) => {
            let z = op.apply(inst.dtype, of(*a), of(*b));
            if op.ulps() == 0.0 { z } else { disturb(inst.dtype, z) }
        }
        Op::Compare(op, a, b) => Num::Int(op.holds(of(*a), of(*b)).into()),
        Op::Select(condition, a, b) => of(if of(*condition).is_true() { *a } else { *b }),
        Op::Fma(a, b, c) => Num::Float(scalar::fma(inst.dtype, of(*a).as_f64(), of(*b).as_f64(), of(*c).as_f64())),
        Op::Cast(a) => scalar::cast(inst.dtype, of(*a)),
        Op::Reduce(..) | Op::Scan(..) => unreachable!("whole rows"),
    }
}

/// Moves a finite float up or down by one ulp, on top of the half that rounding took: that is within 2 ulp.
fn disturb(dtype: Dtype, y: Num) -> Num {
    match y {
        Num::Float(y) if y.is_finite() => {
            let up = (y.to_bits() >> 29).count_ones() % 2 == 0;
            Num::Float(match (dtype, up) {
                (Dtype::F32, true) => (y as f32).next_up().into(),
                (Dtype::F32, false) => (y as f32).next_down().into(),
                (_, true) => y.next_up(),
                (_, false) => y.next_down(),
            })
        }
        y => y,
    }
}

/// From the back, in the operands' type, where the order is not stated.
fn reduce(op: ReduceOp, dtype: Dtype, elements: &[Num]) -> Num {
    let mut elements = elements.to_vec();
    if op.gives() != Gives::Position {
        elements.reverse();
    }
    (op.meaning())(dtype, &elements)
}

/// The factors that count in a sum of products; `None` if no products are summed up.
fn factors(kernel: &Kernel, op: ReduceOp, summed: Reg, values: &[Vec<Num>]) -> Option<Vec<(f64, f64)>> {
    let op_of = |reg: Reg| &kernel.body[reg.0 as usize].op;
    let (condition, product) = match op_of(summed) {
        Op::Select(condition, product, other) => match op_of(*other) {
            Op::Const(Scalar::Float(0.0)) => (Some(*condition), *product),
            _ => return None,
        },
        _ => (None, summed),
    };
    let (ReduceOp::Sum, Op::Binary(Binary::Mul, a, b)) = (op, op_of(product)) else { return None };
    let counts = |element: &usize| condition.is_none_or(|condition| values[condition.0 as usize][*element].is_true());
    let of = |reg: &Reg, element: usize| values[reg.0 as usize][element].as_f64();
    let elements = (0..values[summed.0 as usize].len()).filter(counts);
    Some(elements.map(|element| (of(a, element), of(b, element))).collect())
}

/// From the back, each product taken in before it is rounded.
fn fused(dtype: Dtype, factors: &[(f64, f64)]) -> f64 {
    factors.iter().rev().fold(0.0, |sum, &(a, b)| scalar::fma(dtype, a, b, sum))
}

/// As tensor cores do: of each 16 products and what is summed up so far, only the digits that the largest of them has are
/// added, and those beyond are cut off. A product by itself is rounded.
fn cut_off(dtype: Dtype, factors: &[(f64, f64)]) -> f64 {
    if dtype == Dtype::F64 || factors.len() == 1 {
        return fused(dtype, factors);
    }
    factors.chunks(16).fold(0.0, |sum, chunk| {
        let terms: Vec<f64> = chunk.iter().map(|(a, b)| a * b).chain([sum]).collect();
        let largest = terms.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        if largest == 0.0 || !terms.iter().sum::<f64>().is_finite() {
            return scalar::round(dtype, terms.iter().sum());
        }
        let cut = |x: f64, largest: f64| {
            let digit = (largest.log2().floor() - 23.0).exp2();
            (x / digit).trunc() * digit
        };
        let sum: f64 = terms.iter().map(|x| cut(*x, largest)).sum();
        if sum == 0.0 { 0.0 } else { scalar::round(dtype, cut(sum, sum.abs())) }
    })
}

/// Each prefix from the back, after what the parts of the row before it come to.
fn scan(op: ReduceOp, dtype: Dtype, row: &[Num]) -> Vec<Num> {
    let (mut before, mut list) = (vec![], Vec::with_capacity(row.len()));
    for part in row.chunks(256) {
        let with = |elements: &[Num]| reduce(op, dtype, &[&before, elements].concat());
        list.extend((1..=part.len()).map(|count| with(&part[..count])));
        before.push(reduce(op, dtype, part));
    }
    list
}

/// Holds what another implementation wrote against the interpreter.
fn hold(kernel: &Kernel, facts: &Facts, inputs: &[Tensor], written: &[Tensor]) -> Stats {
    let mut total = Stats::default();
    let expected = interpret(kernel, facts, inputs, Mode::Declared);
    for (number, (expected, written)) in expected.iter().zip(written).enumerate() {
        let checked = check_against(expected, &written.data);
        assert!(checked.is_ok(), "output {number}: {}\n{kernel}", checked.expect_err("checked"));
        total.merge(checked.unwrap_or_default());
    }
    total
}

#[test]
fn a_correct_implementation_stays_within_the_bounds() {
    let mut total = Stats::default();
    for (kernel, inputs) in (0..500).map(RandomKernel::generate) {
        let facts = verify(&kernel).expect("random kernels are valid");
        total.merge(hold(&kernel, &facts, &inputs, &execute(&kernel, &facts, &inputs, None)));
    }
    // The test means something only if some results did differ.
    assert!(total.max_ulp > 1.0, "{total:?}");
}

#[test]
fn sums_of_products_stay_within_the_bounds_in_every_order_and_fused() {
    let sums: [SumOfProducts; 2] = [fused, cut_off];
    let mut differ = [0; 2];
    for (kernel, inputs) in (0..200).map(RandomKernel::contraction).filter(|(kernel, _)| kernel.work() <= 20_000) {
        let facts = verify(&kernel).expect("random kernels are valid");
        let rounded = execute(&kernel, &facts, &inputs, None);
        hold(&kernel, &facts, &inputs, &rounded);
        for (sum, differ) in sums.iter().zip(&mut differ) {
            let written = execute(&kernel, &facts, &inputs, Some(*sum));
            hold(&kernel, &facts, &inputs, &written);
            *differ += u32::from(written != rounded);
        }
    }
    assert!(differ.iter().all(|differ| *differ > 10), "{differ:?}");
}

#[test]
fn sums_of_products_that_are_too_large_or_too_small_stay_within_the_bounds() {
    for exponent in [64, -75] {
        let scaled = |tensor: &Tensor| match tensor.dtype {
            dtype @ (Dtype::F32 | Dtype::Bf16) => Tensor::from_fn(dtype, tensor.shape.clone(), |position| {
                Num::Float(tensor.get_f64(position) * 2f64.powi(exponent))
            }),
            _ => tensor.clone(),
        };
        let mut differ = 0;
        for (kernel, inputs) in (0..120).map(RandomKernel::contraction).filter(|(kernel, _)| kernel.work() <= 20_000) {
            let inputs: Vec<Tensor> = inputs.iter().map(scaled).collect();
            let facts = verify(&kernel).expect("random kernels are valid");
            let rounded = execute(&kernel, &facts, &inputs, None);
            for written in [fused as SumOfProducts, cut_off].map(|sum| execute(&kernel, &facts, &inputs, Some(sum))) {
                hold(&kernel, &facts, &inputs, &written);
                differ += u32::from(written != rounded);
            }
            hold(&kernel, &facts, &inputs, &rounded);
        }
        assert!(differ > 10, "{differ} differ at 2^{exponent}");
    }
}

#[test]
fn a_dropped_term_leaves_the_bounds() {
    let mut caught = 0;
    for seed in 0..100 {
        let (mut kernel, inputs) = RandomKernel::generate(seed);
        let facts = verify(&kernel).expect("random kernels are valid");
        let expected = interpret(&kernel, &facts, &inputs, Mode::Declared);
        // The value of the first store is replaced by another of its type and class.
        let stored = kernel.stores[0].value;
        let other = (0..kernel.body.len() as u32).map(Reg).find(|&other| {
            let dtype = |value: Reg| kernel.body[value.0 as usize].dtype;
            other != stored && dtype(other) == dtype(stored) && facts.class(other) == facts.class(stored)
        });
        let Some(other) = other else { continue };
        kernel.stores[0].value = other;
        let written = execute(&kernel, &facts, &inputs, None);
        caught += u32::from(check_against(&expected[0], &written[0].data).is_err());
    }
    assert!(caught > 40, "{caught}");
}
