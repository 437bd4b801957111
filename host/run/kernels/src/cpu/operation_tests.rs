//! Every operation on special values, held against the interpreter's scalar functions.

use super::storage::{Stored, run};
use super::{CallingThread, CpuKernel};
use passhost_ir::kernel::scalar::{self, Num};
use passhost_ir::kernel::{Binary, Compare, Inst, Op, ReduceOp, Reg, Scalar, ScanOp, Tensor, Unary};
use passhost_ir::{Dtype, Kernel};

const FLOATS: [f64; 25] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    127.5,
    -128.9,
    255.9,
    32_768.0,
    65_504.0,
    65_520.0,
    -70_000.0,
    2_147_483_648.0,
    9.3e18,
    -9.3e18,
    1e-45,
    6e-8,
    f32::MAX as f64,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];
const INTEGERS: [i64; 15] =
    [0, 1, -1, 2, 7, -7, 31, 32, 63, 64, 255, i32::MIN as i64, i32::MAX as i64, i64::MIN, i64::MAX];
const COMPUTE: [Dtype; 5] = [Dtype::Bool, Dtype::I32, Dtype::I64, Dtype::F32, Dtype::F64];

/// Special values of a type.
fn values(dtype: Dtype) -> Vec<Num> {
    let numbers: Vec<Num> = match dtype {
        Dtype::Bool => vec![Num::Int(0), Num::Int(1)],
        _ if dtype.is_float() => FLOATS.iter().map(|x| Num::Float(*x)).collect(),
        _ => INTEGERS.iter().map(|x| Num::Int(*x)).collect(),
    };
    numbers.into_iter().map(|x| scalar::cast(dtype, x)).collect()
}

fn column(dtype: Dtype, values: &[Num]) -> Tensor {
    Tensor::from_fn(dtype, [values.len() as i64], |position| values[position])
}

/// A kernel over the axes that loads each input at the last of them, applies `op` and stores the result over the first
/// `over` axes. All operations are tried, so that this one is put into the text's place.
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn kernel_of(parallel: i64, reduce: Option<i64>, inputs: &[Dtype], op: Op, result: Dtype, over: usize) -> Kernel {
    let (last, extent) = reduce.map_or(("p0", parallel), |extent| ("r0", extent));
    let reduced = reduce.map_or_else(String::new, |extent| format!("; reduce r0={extent}"));
    let each = |line: &dyn Fn(usize, Dtype) -> String| -> String {
        inputs.iter().enumerate().map(|(at, &dtype)| line(at, dtype) + "\n").collect()
    };
    let (axes, shape) =
        if over == 2 { ("p0, r0", format!("{parallel},{extent}")) } else { ("p0", parallel.to_string()) };
    let value = inputs.len();
    let text = format!(
        "kernel {{\n space p0={parallel}{reduced}\n {} i0 = {last}\n {} v{value}: {result} = cast v0\n out v{value} over [{axes}] as [{shape}]\n}}",
        each(&|at, dtype| format!("in x{at}: {dtype}[{extent}]")),
        each(&|at, dtype| format!("v{at}: {dtype} = load x{at}[i0] clamp")),
    );
    let mut kernel: Kernel = text.parse().unwrap();
    kernel.body[value].op = op;
    kernel
}

/// Runs a map of some columns; returns the result.
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn map(inputs: &[(Dtype, Vec<Num>)], op: Op, result: Dtype) -> Tensor {
    let len = inputs[0].1.len() as i64;
    let dtypes: Vec<Dtype> = inputs.iter().map(|(dtype, _)| *dtype).collect();
    let kernel = kernel_of(len, None, &dtypes, op, result, 1);
    let stored: Vec<Stored> = inputs.iter().map(|(dtype, values)| Stored::dense(&column(*dtype, values))).collect();
    let data = run(&CpuKernel::compile(&kernel).unwrap(), &stored, &CallingThread).unwrap().remove(0);
    Tensor { dtype: result, shape: vec![len], data }
}

fn same(a: Num, b: Num) -> bool {
    match (a, b) {
        (Num::Float(a), Num::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        (a, b) => a == b,
    }
}

/// Within 2 ulp of the type, and exactly where the expected value is special.
fn near(dtype: Dtype, found: Num, expected: Num) -> bool {
    let (Num::Float(found), Num::Float(expected)) = (found, expected) else { return same(found, expected) };
    if !expected.is_finite() || expected == 0.0 {
        return same(Num::Float(found), Num::Float(expected));
    }
    let (digits, smallest) =
        if dtype == Dtype::F32 { (23, f64::from(f32::MIN_POSITIVE)) } else { (52, f64::MIN_POSITIVE) };
    let ulp = expected.abs().max(smallest) / 2f64.powi(digits);
    (found - expected).abs() <= 2.0 * ulp
}

fn assert_each(what: &str, found: &Tensor, expected: impl Fn(usize) -> Num, agrees: impl Fn(Num, Num) -> bool) {
    for position in 0..found.len() {
        let (found, expected) = (found.get(position), expected(position));
        assert!(agrees(found, expected), "{what} at {position}: found {found:?}, expected {expected:?}");
    }
}

#[test]
fn unary_operations_on_special_values() {
    for dtype in COMPUTE {
        for op in Unary::ALL {
            let defined = match op {
                Unary::Neg | Unary::Abs => dtype != Dtype::Bool,
                Unary::Not => !dtype.is_float(),
                _ => dtype.is_float(),
            };
            if !defined {
                continue;
            }
            let exact = !dtype.is_float()
                || matches!(op, Unary::Neg | Unary::Abs | Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc)
                || matches!(op, Unary::Round | Unary::IsNan);
            let result = if *op == Unary::IsNan { Dtype::Bool } else { dtype };
            let values = values(dtype);
            let found = map(&[(dtype, values.clone())], Op::Unary(*op, Reg(0)), result);
            let expected = |position: usize| op.apply(dtype, values[position]);
            let agrees = |a, b| if exact { same(a, b) } else { near(dtype, a, b) };
            assert_each(&format!("{op} {dtype}"), &found, expected, agrees);
        }
    }
}

/// Every pair of values.
fn pairs(values: &[Num]) -> (Vec<Num>, Vec<Num>) {
    values.iter().flat_map(|a| values.iter().map(|b| (*a, *b))).unzip()
}

#[test]
fn binary_operations_and_comparisons_on_special_values() {
    for dtype in COMPUTE {
        let (a, b) = pairs(&values(dtype));
        let inputs = [(dtype, a.clone()), (dtype, b.clone())];
        for op in Compare::ALL {
            let found = map(&inputs, Op::Compare(*op, Reg(0), Reg(1)), Dtype::Bool);
            let expected = |position: usize| Num::Int(op.holds(a[position], b[position]).into());
            assert_each(&format!("{op} {dtype}"), &found, expected, same);
        }
        for op in Binary::ALL {
            let defined = match op {
                Binary::Min | Binary::Max => true,
                Binary::Pow | Binary::Atan2 => dtype.is_float(),
                Binary::And | Binary::Or | Binary::Xor => !dtype.is_float(),
                Binary::Shl | Binary::Shr => dtype.is_integer(),
                _ => dtype != Dtype::Bool,
            };
            if !defined {
                continue;
            }
            let found = map(&inputs, Op::Binary(*op, Reg(0), Reg(1)), dtype);
            let expected = |position: usize| op.apply(dtype, a[position], b[position]);
            let exact = !matches!(op, Binary::Pow | Binary::Atan2);
            let agrees = |a, b| if exact { same(a, b) } else { near(dtype, a, b) };
            assert_each(&format!("{op} {dtype}"), &found, expected, agrees);
        }
    }
}

/// Operations may take another way beside a literal, and where their result is rounded at once.
#[test]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn binary_operations_on_a_special_value_and_a_literal() {
    let a = values(Dtype::F32);
    let stored = [Stored::dense(&column(Dtype::F32, &a))];
    for rounded in [Dtype::F32, Dtype::F16, Dtype::Bf16] {
        for op in [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Min, Binary::Max] {
            for literal in values(Dtype::F32).into_iter().chain([8.0, -0.125, 1e-40, 2f64.powi(127)].map(Num::Float)) {
                let literal = scalar::cast(Dtype::F32, literal);
                let body = Op::Binary(op, Reg(0), Reg(1));
                let mut kernel = kernel_of(a.len() as i64, None, &[Dtype::F32; 2], body, Dtype::F32, 1);
                kernel.inputs.truncate(1);
                kernel.body[1] = Inst { dtype: Dtype::F32, op: Op::Const(Scalar::Float(literal.as_f64())) };
                if rounded != Dtype::F32 {
                    // Used again, so that the rounding cannot be left to the store.
                    kernel.body.push(Inst { dtype: rounded, op: Op::Cast(Reg(2)) });
                    kernel.body.push(Inst { dtype: Dtype::F32, op: Op::Cast(Reg(3)) });
                    kernel.stores[0].value = Reg(4);
                }
                let compiled = CpuKernel::compile(&kernel).unwrap();
                let data = run(&compiled, &stored, &CallingThread).unwrap().remove(0);
                let found = Tensor { dtype: Dtype::F32, shape: vec![a.len() as i64], data };
                let expected = |i: usize| scalar::cast(rounded, op.apply(Dtype::F32, a[i], literal));
                assert_each(&format!("{op} {literal:?} to {rounded}"), &found, expected, same);
            }
        }
    }
}

#[test]
fn casts_between_all_types_of_special_values() {
    let types = Dtype::ALL.into_iter().filter(|dtype| !dtype.is_complex());
    for (from, to) in types.clone().flat_map(|from| types.clone().map(move |to| (from, to))) {
        let values = values(from);
        let found = map(&[(from, values.clone())], Op::Cast(Reg(0)), to);
        let expected = |position: usize| scalar::cast(to, values[position]);
        assert_each(&format!("{from} to {to}"), &found, expected, same);
    }
}

#[test]
fn select_and_fma_take_each_operand_from_its_place() {
    let (a, b) = pairs(&values(Dtype::F32));
    let condition: Vec<Num> = (0..a.len()).map(|i| Num::Int((i % 3 == 0).into())).collect();
    let inputs = [(Dtype::Bool, condition), (Dtype::F32, a.clone()), (Dtype::F32, b.clone())];
    let found = map(&inputs, Op::Select(Reg(0), Reg(1), Reg(2)), Dtype::F32);
    assert_each("select", &found, |i| if i % 3 == 0 { a[i] } else { b[i] }, same);
    let c: Vec<Num> = b.iter().rev().copied().collect();
    let inputs = [(Dtype::F32, a.clone()), (Dtype::F32, b.clone()), (Dtype::F32, c.clone())];
    let found = map(&inputs, Op::Fma(Reg(0), Reg(1), Reg(2)), Dtype::F32);
    let fma = |i: usize| (a[i].as_f64() as f32).mul_add(b[i].as_f64() as f32, c[i].as_f64() as f32);
    assert_each("fma", &found, |i| Num::Float(fma(i).into()), same);
}

#[test]
fn a_byte_that_is_neither_0_nor_1_is_a_true_bool() {
    let mut input = column(Dtype::Bool, &[Num::Int(0), Num::Int(1), Num::Int(0)]);
    input.data[2] = 0x80;
    let kernel = kernel_of(3, None, &[Dtype::Bool], Op::Unary(Unary::Not, Reg(0)), Dtype::Bool, 1);
    let found = CpuKernel::compile(&kernel).map(|kernel| run(&kernel, &[Stored::dense(&input)], &CallingThread));
    assert_eq!(found, Ok(Ok(vec![vec![1, 0, 0]])));
}

/// Reduces one row of values.
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn over_row(values: &[f64], op: Op, result: Dtype, over: usize) -> Vec<f64> {
    let kernel = kernel_of(2, Some(values.len() as i64), &[Dtype::F32], op, result, over);
    let row: Vec<Num> = values.iter().map(|x| Num::Float(*x)).collect();
    let stored = [Stored::dense(&column(Dtype::F32, &row))];
    let data = run(&CpuKernel::compile(&kernel).unwrap(), &stored, &CallingThread).unwrap().remove(0);
    let len = (data.len() as u64 / result.size()) as i64;
    let tensor = Tensor { dtype: result, shape: vec![len], data };
    let all: Vec<f64> = (0..tensor.len()).map(|i| tensor.get_f64(i)).collect();
    let (first, second) = all.split_at(all.len() / 2);
    assert_eq!(format!("{first:?}"), format!("{second:?}"), "both rows are the same");
    first.to_vec()
}

#[test]
fn reductions_and_scans_of_special_values() {
    let nan = f64::NAN;
    let long: Vec<f64> =
        (0..100_000).map(|i| if i == 77_777 || i == 88_888 { 5.0 } else { f64::from(i % 4) }).collect();
    let late_nan: Vec<f64> = (0..70_000).map(|i| if i == 60_000 { nan } else { 1.0 }).collect();
    let cases: [(&str, &[f64], ReduceOp, f64); 14] = [
        ("the first of equal largest", &[1.0, 3.0, 3.0, 2.0], ReduceOp::Argmax, 1.0),
        ("the first of equal smallest", &[1.0, 0.0, 3.0, 0.0], ReduceOp::Argmin, 1.0),
        ("NaN counts as largest", &[1.0, f64::INFINITY, nan, nan], ReduceOp::Argmax, 2.0),
        ("NaN counts as smallest", &[1.0, f64::NEG_INFINITY, nan, nan], ReduceOp::Argmin, 2.0),
        ("a long row's largest", &long, ReduceOp::Argmax, 77_777.0),
        ("NaN late in a long row", &late_nan, ReduceOp::Argmin, 60_000.0),
        ("NaN wins in max", &[1.0, nan, 2.0], ReduceOp::Max, nan),
        ("NaN wins in min", &[nan, 1.0, 2.0], ReduceOp::Min, nan),
        ("NaN late in a long row", &late_nan, ReduceOp::Max, nan),
        ("infinities only", &[f64::NEG_INFINITY; 3], ReduceOp::Max, f64::NEG_INFINITY),
        ("one element", &[-7.0], ReduceOp::Sum, -7.0),
        ("opposite infinities", &[f64::INFINITY, f64::NEG_INFINITY], ReduceOp::Sum, nan),
        ("a long row's sum", &long, ReduceOp::Sum, 150_000.0 + (5.0 - 1.0) + (5.0 - 0.0)),
        ("a product", &[0.5, -4.0, 3.0], ReduceOp::Prod, -6.0),
    ];
    for (what, values, op, expected) in cases {
        let result = if matches!(op, ReduceOp::Argmax | ReduceOp::Argmin) { Dtype::I64 } else { Dtype::F32 };
        let found = over_row(values, Op::Reduce(op, Reg(0)), result, 1)[0];
        assert!(same(Num::Float(found), Num::Float(expected)), "{what}: found {found}, expected {expected}");
    }
    let scans: [(ScanOp, [f64; 4]); 4] = [
        (ScanOp::Sum, [2.0, 1.0, 4.0, nan]),
        (ScanOp::Prod, [2.0, -2.0, -6.0, nan]),
        (ScanOp::Max, [2.0, 2.0, 3.0, nan]),
        (ScanOp::Min, [2.0, -1.0, -1.0, nan]),
    ];
    for (op, expected) in scans {
        let found = over_row(&[2.0, -1.0, 3.0, nan], Op::Scan(op, Reg(0)), Dtype::F32, 2);
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{op}");
    }
}
