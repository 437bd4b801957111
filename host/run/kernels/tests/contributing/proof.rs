//! What shows that the operations of CONTRIBUTING.md are there. It is compiled and run in the copy of the sources in which
//! `contributing.rs` made them.

use passhost_ir::kernel::{Mode, Op, Tensor, interpret, scalar::Num, verify};
use passhost_random_kernels::{check_against, Stats};
use passhost_ir::{Dtype, Kernel, contiguous_strides};
use passhost_kernels::cuda::{DeviceProperties, emit};
use passhost_kernels::{BoundInput, BoundOutput, CallingThread, CpuKernel, KernelLayout};
use passhost_random_kernels::RandomKernel;

/// Runs a kernel on the CPU and by the interpreter.
fn compare(kernel: &Kernel, inputs: &[Tensor]) -> (Stats, Vec<Vec<f64>>) {
    let facts = verify(kernel).unwrap();
    let expected = interpret(kernel, &facts, inputs, Mode::Declared);
    let mut written: Vec<Tensor> =
        kernel.output_types().into_iter().map(|ty| Tensor::zeros(ty.dtype, ty.shape)).collect();
    let strides: Vec<Vec<i64>> = inputs.iter().map(|input| contiguous_strides(&input.shape)).collect();
    let bound: Vec<BoundInput<'_>> = inputs
        .iter()
        .zip(&strides)
        .map(|(input, strides)| BoundInput {
            pointer: input.data.as_ptr(),
            bytes: input.data.len(),
            dtype: input.dtype,
            shape: &input.shape,
            strides,
        })
        .collect();
    let outputs: Vec<BoundOutput> = written
        .iter_mut()
        .map(|output| BoundOutput { pointer: output.data.as_mut_ptr(), bytes: output.data.len() })
        .collect();
    let compiled = CpuKernel::compile(kernel).unwrap();
    // SAFETY: the tensors live until the end of this function, and nobody else has them.
    unsafe { compiled.run(&bound, &outputs, &CallingThread) }.unwrap();
    let mut stats = Stats::default();
    for (expected, written) in expected.iter().zip(&written) {
        stats.merge(check_against(expected, &written.data).unwrap_or_else(|error| panic!("{error}\n{kernel}")));
    }
    (stats, written.iter().map(|tensor| (0..tensor.len()).map(|at| tensor.get_f64(at)).collect()).collect())
}

/// The result on the CPU, for elements 0, 0.5, 1 and so on, of a kernel in the text form.
fn run(text: &str) -> Vec<f64> {
    let kernel: Kernel = text.parse().unwrap();
    let input = &kernel.inputs[0];
    let tensor = Tensor::from_fn(input.dtype, input.shape.clone(), |at| Num::Float(at as f64 / 2.0));
    let (stats, written) = compare(&kernel, &[tensor]);
    assert!(stats.checked > 0 && stats.unknown == 0, "{stats:?}");
    let facts = verify(&kernel).unwrap();
    let source = emit(&kernel, &facts, &KernelLayout::contiguous(&kernel), &DeviceProperties::H200).text;
    assert!(source.contains("erfc(") || source.contains("LogSumExp::of"), "{source}");
    written.into_iter().next().unwrap()
}

/// Random kernels with the operation, of which there must be some, on the CPU.
fn random(has: impl Fn(&Op) -> bool) {
    let mut found = 0;
    for seed in 0..600 {
        let (kernel, inputs) = RandomKernel::generate(seed);
        if kernel.body.iter().any(|inst| has(&inst.op)) {
            compare(&kernel, &inputs);
            found += 1;
        }
    }
    assert!(found > 20, "{found} of 600 random kernels");
}

#[test]
fn erfc_runs_on_the_cpu_and_random_kernels_have_it() {
    for dtype in [Dtype::F32, Dtype::F64] {
        let written = run(&format!(
            "kernel {{ space p0=8 in x0: {dtype}[8] i0 = p0 v0: {dtype} = load x0[i0] clamp
               v1: {dtype} = erfc v0 out v1 over [p0] as [8] }}"
        ));
        assert_eq!(written[0], 1.0);
        assert!((written[2] - 0.157_299_207_050_285).abs() < 1e-7, "{written:?}");
    }
    random(|op| matches!(op, Op::Unary(op, _) if op.name() == "erfc"));
}

#[test]
fn logsumexp_runs_on_the_cpu_and_random_kernels_have_it() {
    for dtype in [Dtype::F32, Dtype::F64] {
        let written = run(&format!(
            "kernel {{ space p0=2; reduce r0=4 in x0: {dtype}[2,4] i0 = p0 i1 = r0 v0: {dtype} = load x0[i0, i1] clamp
               v1: {dtype} = reduce logsumexp v0 out v1 over [p0] as [2] }}"
        ));
        let expected = [0.0f64, 0.5, 1.0, 1.5].map(f64::exp).iter().sum::<f64>().ln();
        assert!((written[0] - expected).abs() < 1e-6 && (written[1] - expected - 2.0).abs() < 1e-6, "{written:?}");
    }
    random(|op| matches!(op, Op::Reduce(op, _) if op.name() == "logsumexp"));
}
