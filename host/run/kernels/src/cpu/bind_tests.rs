//! Each check of binding has a case that violates it.

use super::{CallingThread, CpuKernel};
use crate::access::{BindError, BoundInput, BoundOutput};
use passhost_ir::Dtype;

/// `out = x + x`, and `x` again, over `[2, 3]` of `f32`.
const KERNEL: &str = "kernel {
  space p0=2, p1=3
  in x0: f32[2,3]
  i0 = p0
  i1 = p1
  v0: f32 = load x0[i0, i1] clamp
  v1: f32 = add v0, v0
  out v1 over [p0, p1] as [6]
  out v0 over [p0, p1] as [6]
}";

#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn kernel() -> CpuKernel {
    CpuKernel::compile(&KERNEL.parse().unwrap()).unwrap()
}

/// 16 words: the input may take the first 8, the outputs the others.
struct Arguments {
    input_at: usize,
    input_bytes: usize,
    dtype: Dtype,
    shape: Vec<i64>,
    strides: Vec<i64>,
    inputs: usize,
    outputs: Vec<(usize, usize)>,
}

impl Default for Arguments {
    fn default() -> Arguments {
        Arguments {
            input_at: 0,
            input_bytes: 24,
            dtype: Dtype::F32,
            shape: vec![2, 3],
            strides: vec![3, 1],
            inputs: 1,
            outputs: vec![(64, 24), (96, 24)],
        }
    }
}

/// Binds and runs; returns the outputs.
fn bind(arguments: Arguments) -> Result<Vec<[f32; 6]>, BindError> {
    let values: Vec<f32> = (0..32).map(|i| i as f32).collect();
    let mut words: Vec<u64> =
        values.chunks(2).map(|pair| u64::from(pair[0].to_bits()) | u64::from(pair[1].to_bits()) << 32).collect();
    let start: *mut u8 = words.as_mut_ptr().cast();
    let input = BoundInput {
        pointer: start.wrapping_add(arguments.input_at),
        bytes: arguments.input_bytes,
        dtype: arguments.dtype,
        shape: &arguments.shape,
        strides: &arguments.strides,
    };
    let outputs: Vec<BoundOutput> = arguments
        .outputs
        .iter()
        .map(|(at, bytes)| BoundOutput { pointer: start.wrapping_add(*at), bytes: *bytes })
        .collect();
    let kernel = kernel();
    // SAFETY: all places lie in `words`, which lives on and is not used before the run has ended.
    unsafe { kernel.run(&vec![input; arguments.inputs], &outputs, &CallingThread) }?;
    let float = |byte: usize| f32::from_bits((words[byte / 8] >> (byte % 8 * 8)) as u32);
    Ok(arguments.outputs.iter().map(|(at, _)| std::array::from_fn(|i| float(at + 4 * i))).collect())
}

#[test]
fn storage_that_fits_is_bound() {
    let expected = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(bind(Arguments::default()), Ok(vec![expected.map(|x| 2.0 * x), expected]));
    let transposed = Arguments { strides: vec![1, 2], ..Arguments::default() };
    assert_eq!(bind(transposed).map(|outputs| outputs[1]), Ok([0.0, 2.0, 4.0, 1.0, 3.0, 5.0]));
    let repeated = Arguments { strides: vec![0, 1], input_bytes: 12, ..Arguments::default() };
    assert_eq!(bind(repeated).map(|outputs| outputs[1]), Ok([0.0, 1.0, 2.0, 0.0, 1.0, 2.0]));
    let shifted = Arguments { input_at: 4, ..Arguments::default() };
    assert_eq!(bind(shifted).map(|outputs| outputs[1][0]), Ok(1.0));
}

#[test]
fn storage_that_does_not_fit_is_refused() {
    let with = |change: &dyn Fn(&mut Arguments)| {
        let mut arguments = Arguments::default();
        change(&mut arguments);
        bind(arguments)
    };
    type Change<'a> = &'a dyn Fn(&mut Arguments);
    let cases: [(Change<'_>, BindError); 13] = [
        (&|a| a.inputs = 2, BindError::InputCount { expected: 1, found: 2 }),
        (&|a| a.outputs.truncate(1), BindError::OutputCount { expected: 2, found: 1 }),
        (&|a| a.dtype = Dtype::I32, BindError::InputDtype { input: 0, expected: Dtype::F32, found: Dtype::I32 }),
        (&|a| a.shape = vec![3, 2], BindError::InputShape { input: 0, expected: vec![2, 3], found: vec![3, 2] }),
        (&|a| a.strides = vec![3], BindError::InputStrides { input: 0, strides: vec![3], rank: 2 }),
        (&|a| a.strides = vec![3, -1], BindError::InputStrides { input: 0, strides: vec![3, -1], rank: 2 }),
        (&|a| a.input_bytes = 23, BindError::InputReach { input: 0, needed: 24, bytes: 23 }),
        (&|a| a.strides = vec![4, 1], BindError::InputReach { input: 0, needed: 28, bytes: 24 }),
        (&|a| a.strides = vec![i64::MAX, i64::MAX], BindError::InputReach { input: 0, needed: u64::MAX, bytes: 24 }),
        (&|a| a.input_at = 2, BindError::InputAlignment { input: 0, alignment: 4 }),
        (&|a| a.outputs[1].1 = 28, BindError::OutputSize { output: 1, needed: 24, bytes: 28 }),
        (&|a| a.outputs[0].0 = 20, BindError::OutputOverlapsInput { output: 0, input: 0 }),
        (&|a| a.outputs[1].0 = 84, BindError::OutputsOverlap { first: 0, second: 1 }),
    ];
    for (change, expected) in cases {
        assert_eq!(with(change), Err(expected));
    }
    let unaligned = with(&|a| a.outputs[0].0 = 66);
    assert_eq!(unaligned, Err(BindError::OutputAlignment { output: 0, alignment: 4 }));
}
