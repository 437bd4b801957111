//! Cheap chains against the interpreter, for every operation, float type, instruction set and length of the last vector.

use super::isa::Isa;
use super::storage::{Stored, run};
use super::{CallingThread, CpuKernel};
use passhost_ir::kernel::{
    Binary, IndexExpr, IndexId, InputDecl, Inst, Mode, Op, PaddingMode, Reg, Scalar, Store, Tensor, check_against,
    interpret, scalar, verify,
};
use passhost_ir::kernel::{Unary, scalar::Num};
use passhost_ir::{Dtype, Kernel};

const CHEAP: [Binary; 6] = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Min, Binary::Max];

/// `(x op y, rounded) op gate`, with one gate for each row; stored are the result, its negative divided by 8, and the
/// rounded value in between as `f32`.
fn chain(rows: i64, length: i64, dtype: Dtype, op: Binary) -> Kernel {
    let f32 = |op| Inst { dtype: Dtype::F32, op };
    let load = |input, index: &[u32]| Inst {
        dtype,
        op: Op::Load { input, index: index.iter().map(|at| IndexId(*at)).collect(), padding: PaddingMode::Clamp },
    };
    let store = |value, shape: &[i64]| Store { value: Reg(value), order: vec![0, 1], shape: shape.to_vec() };
    let shape = vec![rows, length];
    Kernel {
        inputs: [&shape, &shape, &vec![rows]].map(|shape| InputDecl { dtype, shape: shape.clone() }).to_vec(),
        parallel: shape.clone(),
        index: vec![IndexExpr::Axis(0), IndexExpr::Axis(1)],
        body: vec![
            load(0, &[0, 1]),
            load(1, &[0, 1]),
            load(2, &[0]),
            f32(Op::Cast(Reg(0))),
            f32(Op::Cast(Reg(1))),
            f32(Op::Cast(Reg(2))),
            f32(Op::Binary(op, Reg(3), Reg(4))),
            Inst { dtype, op: Op::Cast(Reg(6)) },
            f32(Op::Cast(Reg(7))),
            f32(Op::Binary(op, Reg(8), Reg(5))),
            Inst { dtype, op: Op::Cast(Reg(9)) },
            f32(Op::Unary(Unary::Neg, Reg(8))),
            f32(Op::Const(Scalar::Float(8.0))),
            f32(Op::Binary(Binary::Div, Reg(11), Reg(12))),
            Inst { dtype, op: Op::Cast(Reg(13)) },
        ],
        stores: vec![store(10, &shape), store(14, &shape), store(8, &shape)],
        ..Kernel::default()
    }
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
