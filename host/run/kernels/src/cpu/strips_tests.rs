//! Cheap chains against the interpreter, for every operation, float type, instruction set and length of the last vector.

use super::isa::Isa;
use super::storage::{Stored, run};
use super::{CallingThread, CpuKernel};
use passhost_ir::kernel::scalar::Num;
use passhost_ir::kernel::{Binary, Mode, Tensor, interpret, scalar, verify};
use passhost_ir::{Dtype, Kernel};
use passhost_random_kernels::check_against;

const CHEAP: [Binary; 6] = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Min, Binary::Max];

/// `(x op y, rounded) op gate`, with one gate for each row; stored are the result, its negative divided by 8, and the
/// rounded value in between as `f32`.
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn chain(rows: i64, length: i64, dtype: Dtype, op: Binary) -> Kernel {
    let text = format!(
        "kernel {{
          space p0={rows}, p1={length}
          in x0: {dtype}[{rows},{length}]
          in x1: {dtype}[{rows},{length}]
          in x2: {dtype}[{rows}]
          i0 = p0
          i1 = p1
          v0: {dtype} = load x0[i0, i1] clamp
          v1: {dtype} = load x1[i0, i1] clamp
          v2: {dtype} = load x2[i0] clamp
          v3: f32 = cast v0
          v4: f32 = cast v1
          v5: f32 = cast v2
          v6: f32 = {op} v3, v4
          v7: {dtype} = cast v6
          v8: f32 = cast v7
          v9: f32 = {op} v8, v5
          v10: {dtype} = cast v9
          v11: f32 = neg v8
          v12: f32 = const 8.0
          v13: f32 = div v11, v12
          v14: {dtype} = cast v13
          out v10 over [p0, p1] as [{rows},{length}]
          out v14 over [p0, p1] as [{rows},{length}]
          out v8 over [p0, p1] as [{rows},{length}]
        }}"
    );
    text.parse().unwrap()
}

/// Numbers of many sizes, among them ties of rounding, zeros, infinities and NaN.
fn numbers(dtype: Dtype, shape: &[i64], salt: usize) -> Tensor {
    let special = [0.0, -0.0, 1.0, 65_519.0, 65_520.0, 6e-8, 1e-45, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    Tensor::from_fn(dtype, shape, |position| {
        let bits = (position * 97 + salt).wrapping_mul(0x9e37_79b9) >> 7;
        let number = match bits % 5 {
            0 => special[bits / 5 % special.len()],
            1 => 1.0 + (bits % 4096) as f64 / 2048.0,
            _ => ((bits % 4001) as f64 - 2000.0) / 256.0,
        };
        scalar::cast(dtype, Num::Float(number))
    })
}

#[test]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
fn cheap_chains_run_in_strips_and_equal_the_interpreter() {
    // Rows long enough not to be spread, with every rest of a vector, and one strip or several.
    let shapes = (256..=272).map(|length| (3, length)).chain([(1, 1000), (40, 700)]);
    for (rows, length) in shapes {
        for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32] {
            for op in CHEAP {
                let kernel = chain(rows, length, dtype, op);
                let tensors: Vec<Tensor> =
                    kernel.inputs.iter().enumerate().map(|(at, decl)| numbers(dtype, &decl.shape, at)).collect();
                let stored: Vec<Stored> = tensors.iter().map(Stored::dense).collect();
                let expected = interpret(&kernel, &verify(&kernel).unwrap(), &tensors, Mode::Declared);
                for isa in Isa::available() {
                    let mut compiled = CpuKernel::compile(&kernel).unwrap();
                    compiled.isa = isa;
                    let found = run(&compiled, &stored, &CallingThread).unwrap();
                    assert!(compiled.arenas(false).any(|arena| arena.vectors.ran_in_strips()), "{op} {dtype}");
                    for (output, (expected, found)) in expected.iter().zip(&found).enumerate() {
                        match check_against(expected, found) {
                            // The sign of a zero is open where both operands of a minimum or maximum are zeros.
                            Ok(stats) => assert!(stats.max_ulp == 0.0 && stats.exact * 100 > stats.checked * 99),
                            Err(mismatch) => panic!("{op} {dtype} {isa:?} [{rows}, {length}] {output}: {mismatch}"),
                        }
                    }
                }
            }
        }
    }
}

#[test]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn chains_that_mix_narrow_types_run_all_the_same() {
    let mut kernel = chain(2, 300, Dtype::F16, Binary::Add);
    kernel.inputs[1].dtype = Dtype::Bf16;
    kernel.body[1].dtype = Dtype::Bf16;
    let tensors: Vec<Tensor> =
        kernel.inputs.iter().enumerate().map(|(at, decl)| numbers(decl.dtype, &decl.shape, at)).collect();
    let stored: Vec<Stored> = tensors.iter().map(Stored::dense).collect();
    let expected = interpret(&kernel, &verify(&kernel).unwrap(), &tensors, Mode::Declared);
    let compiled = CpuKernel::compile(&kernel).unwrap();
    let found = run(&compiled, &stored, &CallingThread).unwrap();
    assert!(!compiled.arenas(false).any(|arena| arena.vectors.ran_in_strips()));
    for (expected, found) in expected.iter().zip(&found) {
        check_against(expected, found).unwrap();
    }
}
