//! What is emitted for a GPU compiles, without one. Skipped only where `scripts/setup` found no NVRTC, and never in CI.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_ir::kernel::{
    Binary, Compare, IndexExpr, IndexId, InputDecl, Inst, Op, PaddingMode, ReduceOp, Reg, Scalar, Store, verify,
};
use passhost_ir::{Dtype, Kernel};
use passhost_kernels::Layout;
use passhost_kernels::cuda::{Compiler, DeviceProperties, NvrtcError, emit};
use passhost_random_kernels::RandomKernel;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

const SEEDS: u64 = 500;

/// The compiler of the libtorch that this build uses.
fn compiler() -> Option<Compiler> {
    let torch = PathBuf::from(std::env::var_os("LIBTORCH").unwrap_or_default());
    match Compiler::new((9, 0), &[torch.join("../nvidia/cu13/lib")], None) {
        Ok(compiler) => Some(compiler),
        Err(NvrtcError::Missing { reason }) => {
            let [known, ci] = ["PASSHOST_WITHOUT_NVRTC", "CI"].map(std::env::var_os);
            assert!(known.is_some() && ci.is_none(), "no NVRTC (scripts/setup fetches it): {reason}");
            println!("skipped, as scripts/setup found no NVRTC: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A layout in which every other input is transposed or unaligned.
fn scattered(kernel: &Kernel, seed: u64) -> Layout {
    let mut layout = Layout::contiguous(kernel);
    for (input, strides) in layout.strides.iter_mut().enumerate() {
        if (seed + input as u64).is_multiple_of(2) {
            strides.reverse();
            layout.alignments[input] = kernel.inputs[input].dtype.size() as usize;
        }
    }
    layout
}

#[test]
fn random_kernels_compile_for_sm_90() {
    let Some(compiler) = compiler() else { return };
    let (next, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= SEEDS {
                        return;
                    }
                    let (kernel, _) = RandomKernel::generate(seed);
                    if kernel.rows() == 0 {
                        continue;
                    }
                    let facts = verify(&kernel).unwrap();
                    let layout =
                        if seed.is_multiple_of(2) { Layout::contiguous(&kernel) } else { scattered(&kernel, seed) };
                    let source = emit(&kernel, &facts, &layout, &DeviceProperties::H200);
                    match compiler.compile(&source.text) {
                        Ok(cubin) => bytes.fetch_add(cubin.0.len() as u64, Ordering::Relaxed),
                        Err(error) => panic!("seed {seed}: {error}\n{}", source.text),
                    };
                }
            });
        }
    });
    println!("{} bytes of machine code", bytes.into_inner());
}

/// Sums, products and extrema of the columns of a wide matrix of f16, in some type.
fn columns(dtype: Dtype) -> Kernel {
    let (rows, length) = (1 << 16, 4096);
    let inst = |dtype, op| Inst { dtype, op };
    let mut body = vec![
        inst(Dtype::F16, Op::Load { input: 0, index: vec![IndexId(1), IndexId(0)], padding: PaddingMode::Clamp }),
        inst(dtype, Op::Cast(Reg(0))),
    ];
    let reductions = [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min];
    body.extend(reductions.map(|op| inst(dtype, Op::Reduce(op, Reg(1)))));
    Kernel {
        parallel: vec![rows],
        reduce: vec![length],
        inputs: vec![InputDecl { dtype: Dtype::F16, shape: vec![length, rows] }],
        index: vec![IndexExpr::Axis(0), IndexExpr::Axis(1)],
        stores: (2..6).map(|value| Store { value: Reg(value), order: vec![0], shape: vec![rows] }).collect(),
        body,
    }
}

#[test]
fn several_reductions_share_the_memory_of_a_block() {
    let Some(compiler) = compiler() else { return };
    for dtype in [Dtype::F32, Dtype::F64, Dtype::I64] {
        let kernel = columns(dtype);
        let source = emit(&kernel, &verify(&kernel).unwrap(), &Layout::contiguous(&kernel), &DeviceProperties::H200);
        assert!(source.text.contains("across_columns<Sum"), "columns are reduced as such");
        if let Err(error) = compiler.compile(&source.text) {
            panic!("{dtype}: {error}");
        }
    }
}

/// The sums, over the middle dimension, of a tensor [4, 64, 32768] of f16 and two [2, 64, 32768] joined along the first.
fn sums_of_joined() -> Kernel {
    let f16 = |op| Inst { dtype: Dtype::F16, op };
    let i64 = |op| Inst { dtype: Dtype::I64, op };
    let load = |input, first| Op::Load {
        input,
        index: vec![IndexId(first), IndexId(2), IndexId(1)],
        padding: PaddingMode::Pad(Scalar::Float(0.0)),
    };
    Kernel {
        parallel: vec![4, 32768],
        reduce: vec![64],
        inputs: [2, 2, 4].map(|first| InputDecl { dtype: Dtype::F16, shape: vec![first, 64, 32768] }).to_vec(),
        index: vec![
            IndexExpr::Axis(0),
            IndexExpr::Axis(1),
            IndexExpr::Axis(2),
            IndexExpr::Const(2),
            IndexExpr::Sub(IndexId(0), IndexId(3)),
        ],
        body: vec![
            f16(load(0, 0)),
            f16(load(1, 4)),
            i64(Op::Index(IndexId(0))),
            i64(Op::Const(Scalar::Int(2))),
            Inst { dtype: Dtype::Bool, op: Op::Compare(Compare::Lt, Reg(2), Reg(3)) },
            f16(Op::Select(Reg(4), Reg(0), Reg(1))),
            Inst { dtype: Dtype::F32, op: Op::Cast(Reg(5)) },
            f16(load(2, 0)),
            Inst { dtype: Dtype::F32, op: Op::Cast(Reg(7)) },
            Inst { dtype: Dtype::F32, op: Op::Binary(Binary::Add, Reg(6), Reg(8)) },
            Inst { dtype: Dtype::F32, op: Op::Reduce(ReduceOp::Sum, Reg(9)) },
        ],
        stores: vec![Store { value: Reg(10), order: vec![0, 1], shape: vec![4, 32768] }],
    }
}

#[test]
fn columns_of_joined_tensors_compile() {
    let Some(compiler) = compiler() else { return };
    let kernel = sums_of_joined();
    let source = emit(&kernel, &verify(&kernel).unwrap(), &Layout::contiguous(&kernel), &DeviceProperties::H200);
    assert!(
        source.text.contains("across_columns<Sum") && source.text.contains("v < 8"),
        "wide columns are what is meant"
    );
    if let Err(error) = compiler.compile(&source.text) {
        panic!("{error}");
    }
}
