//! Times the CPU executor on typical fused kernels: `cargo run -p passhost-kernels --example cpu_kernels [THREADS [NAME]]`,
//! where only kernels whose name contains NAME are run.
//!
//! Prints the median and the best time of a run, binding included, and the bytes that have to be touched per second.

use passhost_ir::kernel::{
    Binary, IndexExpr, IndexId, InputDecl, Inst, Op, PaddingMode, ReduceOp, Reg, Scalar, Store, Unary,
};
use passhost_ir::{Dtype, Kernel, contiguous_strides, numel};
use passhost_kernels::{BoundInput, BoundOutput, CpuKernel, NewThreads, ThreadPool};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 2,
    };
    let threads = NewThreads(count);
    let filter = std::env::args().nth(2).unwrap_or_default();
    println!("{} threads", threads.count());
    let n = 4 << 20;
    for (name, kernel) in [
        ("SE gate + add + relu, f32 [32,2048,6,8]", se_gate(32, 2048, 48, Dtype::F32)),
        ("SE gate + add + relu, f16 [32,2048,6,8]", se_gate(32, 2048, 48, Dtype::F16)),
        ("SE gate + add + relu, f32 [4,256,56,56]", se_gate(4, 256, 3136, Dtype::F32)),
        ("SE gate + add + relu, f16 [4,256,56,56]", se_gate(4, 256, 3136, Dtype::F16)),
        ("gelu (tanh) in 8 steps, f32 4M", gelu(n, Dtype::F32)),
        ("gelu (tanh) in 8 steps, f16 4M", gelu(n, Dtype::F16)),
        ("gelu (tanh) in 8 steps, bf16 4M", gelu(n, Dtype::Bf16)),
        ("x + relu(y), f32 4M", add_relu(n)),
        ("softmax over 256, f32 [8,6,256,256]", softmax(8 * 6 * 256, 256, Dtype::F32)),
        ("softmax over 256, f16 [8,6,256,256]", softmax(8 * 6 * 256, 256, Dtype::F16)),
        ("softmax over 65536, f32 [64,65536]", softmax(64, 65_536, Dtype::F32)),
        ("add + layer norm, f32 [32,197,768]", layer_norm(32 * 197, 768)),
        ("sum over dim 0, f32 [4096,1024]", column_sum(4096, 1024)),
        ("transpose, f32 [2048,2048]", transpose(2048)),
        ("x + relu(y), f32 1K", add_relu(1 << 10)),
    ]
    .into_iter()
    .filter(|(name, _)| name.contains(&filter))
    {
        time(name, &kernel, &threads)?;
    }
    Ok(())
}

fn time(name: &str, kernel: &Kernel, threads: &dyn ThreadPool) -> Result<(), Box<dyn std::error::Error>> {
    let compiled = CpuKernel::compile(kernel)?;
    let bytes = |shape: &[i64], dtype: Dtype| (numel(shape) * dtype.size()) as usize;
    let inputs: Vec<Vec<u64>> =
        kernel.inputs.iter().map(|decl| words(bytes(&decl.shape, decl.dtype), decl.dtype)).collect();
    let types = kernel.output_types();
    let mut outputs: Vec<Vec<u64>> = types.iter().map(|ty| vec![0; bytes(&ty.shape, ty.dtype).div_ceil(8)]).collect();
    let strides: Vec<Vec<i64>> = kernel.inputs.iter().map(|decl| contiguous_strides(&decl.shape)).collect();
    let mut run = || -> Result<f64, Box<dyn std::error::Error>> {
        let start = Instant::now();
        let bound_inputs: Vec<BoundInput<'_>> = kernel
            .inputs
            .iter()
            .zip(&inputs)
            .zip(&strides)
            .map(|((decl, words), strides)| BoundInput {
                pointer: words.as_ptr().cast(),
                bytes: words.len() * 8,
                dtype: decl.dtype,
                shape: &decl.shape,
                strides,
            })
            .collect();
        let bound_outputs: Vec<BoundOutput> = types
            .iter()
            .zip(&mut outputs)
            .map(|(ty, words)| BoundOutput { pointer: words.as_mut_ptr().cast(), bytes: bytes(&ty.shape, ty.dtype) })
            .collect();
        // SAFETY: the vectors outlive the binding, and nothing else uses them meanwhile.
        unsafe { compiled.bind(&bound_inputs, &bound_outputs)? }.run(threads);
        Ok(start.elapsed().as_secs_f64())
    };
    let first = run()?;
    let trials = (0.5 / first).clamp(7.0, 2000.0) as usize;
    let mut times = (0..trials).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    times.sort_by(f64::total_cmp);
    let median = times[trials / 2];
    let touched: usize = kernel.inputs.iter().map(|decl| bytes(&decl.shape, decl.dtype)).sum::<usize>()
        + types.iter().map(|ty| bytes(&ty.shape, ty.dtype)).sum::<usize>();
    let speed = |time: f64| format!("{:10.1} us {:7.2} GB/s", time * 1e6, touched as f64 / time / 1e9);
    println!("{name:44} median {}, best {}", speed(median), speed(times[0]));
    Ok(())
}

/// Numbers between -2 and 2.
fn words(bytes: usize, dtype: Dtype) -> Vec<u64> {
    let value = |i: usize| (i.wrapping_mul(2_654_435_761) % 4001) as f32 / 1000.0 - 2.0;
    let per_word = 8 / dtype.size() as usize;
    (0..bytes.div_ceil(8))
        .map(|word| {
            (0..per_word).fold(0, |bits, i| {
                let x = value(word * per_word + i);
                let element = match dtype {
                    Dtype::F16 => u64::from(half::f16::from_f32(x).to_bits()),
                    Dtype::Bf16 => u64::from(half::bf16::from_f32(x).to_bits()),
                    _ => u64::from(x.to_bits()),
                };
                bits | element << (64 / per_word * i)
            })
        })
        .collect()
}

/// A kernel under construction. Every step rounds to `dtype`, as eager mode does.
struct Body {
    kernel: Kernel,
    dtype: Dtype,
}

impl Body {
    fn new(parallel: Vec<i64>, reduce: Vec<i64>, dtype: Dtype) -> Body {
        Body { kernel: Kernel { parallel, reduce, ..Kernel::default() }, dtype }
    }

    fn push(&mut self, dtype: Dtype, op: Op) -> Reg {
        self.kernel.body.push(Inst { dtype, op });
        Reg(self.kernel.body.len() as u32 - 1)
    }

    /// An `f32` value, rounded to the tensors' type.
    fn value(&mut self, op: Op) -> Reg {
        let value = self.push(Dtype::F32, op);
        if self.dtype == Dtype::F32 {
            return value;
        }
        let narrow = self.push(self.dtype, Op::Cast(value));
        self.push(Dtype::F32, Op::Cast(narrow))
    }

    fn load(&mut self, axes: &[u32]) -> Reg {
        let index: Vec<IndexId> = axes
            .iter()
            .map(|axis| {
                self.kernel.index.push(IndexExpr::Axis(*axis));
                IndexId(self.kernel.index.len() as u32 - 1)
            })
            .collect();
        let extent = |axis: &u32| self.kernel.extent(*axis).unwrap_or(1);
        self.kernel.inputs.push(InputDecl { dtype: self.dtype, shape: axes.iter().map(extent).collect() });
        let input = self.kernel.inputs.len() as u32 - 1;
        let loaded = self.push(self.dtype, Op::Load { input, index, padding: PaddingMode::Clamp });
        self.push(Dtype::F32, Op::Cast(loaded))
    }

    fn constant(&mut self, value: f64) -> Reg {
        self.push(Dtype::F32, Op::Const(Scalar::Float(value)))
    }

    fn store(mut self, value: Reg, order: &[u32]) -> Kernel {
        let narrow = self.push(self.dtype, Op::Cast(value));
        let shape = order.iter().map(|axis| self.kernel.extent(*axis).unwrap_or(1)).collect();
        self.kernel.stores.push(Store { value: narrow, order: order.to_vec(), shape });
        self.kernel
    }
}

fn se_gate(batch: i64, channels: i64, area: i64, dtype: Dtype) -> Kernel {
    let mut body = Body::new(vec![batch, channels, area], vec![], dtype);
    let (x, gate, residual) = (body.load(&[0, 1, 2]), body.load(&[0, 1]), body.load(&[0, 1, 2]));
    let (zero, one) = (body.constant(0.0), body.constant(1.0));
    let negated = body.push(Dtype::F32, Op::Unary(Unary::Neg, gate));
    let e = body.push(Dtype::F32, Op::Unary(Unary::Exp, negated));
    let sum = body.push(Dtype::F32, Op::Binary(Binary::Add, one, e));
    let sigmoid = body.value(Op::Binary(Binary::Div, one, sum));
    let gated = body.value(Op::Binary(Binary::Mul, x, sigmoid));
    let added = body.value(Op::Binary(Binary::Add, gated, residual));
    let relu = body.value(Op::Binary(Binary::Max, added, zero));
    body.store(relu, &[0, 1, 2])
}

fn gelu(count: i64, dtype: Dtype) -> Kernel {
    let mut body = Body::new(vec![count], vec![], dtype);
    let x = body.load(&[0]);
    let square = body.value(Op::Binary(Binary::Mul, x, x));
    let cube = body.value(Op::Binary(Binary::Mul, square, x));
    let factor = body.constant(0.044715);
    let scaled = body.value(Op::Binary(Binary::Mul, cube, factor));
    let sum = body.value(Op::Binary(Binary::Add, x, scaled));
    let root = body.constant(0.797_884_560_802_865_4);
    let inner = body.value(Op::Binary(Binary::Mul, sum, root));
    let tanh = body.value(Op::Unary(Unary::Tanh, inner));
    let one = body.constant(1.0);
    let shifted = body.value(Op::Binary(Binary::Add, tanh, one));
    let product = body.value(Op::Binary(Binary::Mul, shifted, x));
    let half = body.constant(0.5);
    let result = body.value(Op::Binary(Binary::Mul, product, half));
    body.store(result, &[0])
}

fn add_relu(count: i64) -> Kernel {
    let mut body = Body::new(vec![count], vec![], Dtype::F32);
    let (x, y, zero) = (body.load(&[0]), body.load(&[0]), body.constant(0.0));
    let relu = body.value(Op::Binary(Binary::Max, y, zero));
    let sum = body.value(Op::Binary(Binary::Add, x, relu));
    body.store(sum, &[0])
}

fn softmax(rows: i64, length: i64, dtype: Dtype) -> Kernel {
    let mut body = Body::new(vec![rows], vec![length], dtype);
    let x = body.load(&[0, 1]);
    let max = body.push(Dtype::F32, Op::Reduce(ReduceOp::Max, x));
    let shifted = body.push(Dtype::F32, Op::Binary(Binary::Sub, x, max));
    let e = body.push(Dtype::F32, Op::Unary(Unary::Exp, shifted));
    let sum = body.push(Dtype::F32, Op::Reduce(ReduceOp::Sum, e));
    let result = body.push(Dtype::F32, Op::Binary(Binary::Div, e, sum));
    body.store(result, &[0, 1])
}

fn layer_norm(rows: i64, length: i64) -> Kernel {
    let mut body = Body::new(vec![rows], vec![length], Dtype::F32);
    let (x, y, weight, bias) = (body.load(&[0, 1]), body.load(&[0, 1]), body.load(&[1]), body.load(&[1]));
    let x = body.value(Op::Binary(Binary::Add, x, y));
    let (count, epsilon) = (body.constant(length as f64), body.constant(1e-6));
    let sum = body.push(Dtype::F32, Op::Reduce(ReduceOp::Sum, x));
    let mean = body.value(Op::Binary(Binary::Div, sum, count));
    let centred = body.value(Op::Binary(Binary::Sub, x, mean));
    let squared = body.value(Op::Binary(Binary::Mul, centred, centred));
    let squares = body.push(Dtype::F32, Op::Reduce(ReduceOp::Sum, squared));
    let variance = body.value(Op::Binary(Binary::Div, squares, count));
    let shifted = body.value(Op::Binary(Binary::Add, variance, epsilon));
    let rstd = body.value(Op::Unary(Unary::Rsqrt, shifted));
    let normal = body.value(Op::Binary(Binary::Mul, centred, rstd));
    let scaled = body.value(Op::Binary(Binary::Mul, normal, weight));
    let result = body.value(Op::Binary(Binary::Add, scaled, bias));
    body.store(result, &[0, 1])
}

fn column_sum(rows: i64, columns: i64) -> Kernel {
    let mut body = Body::new(vec![columns], vec![rows], Dtype::F32);
    let x = body.load(&[1, 0]);
    let sum = body.push(Dtype::F32, Op::Reduce(ReduceOp::Sum, x));
    body.store(sum, &[0])
}

fn transpose(size: i64) -> Kernel {
    let mut body = Body::new(vec![size, size], vec![], Dtype::F32);
    let x = body.load(&[1, 0]);
    body.store(x, &[0, 1])
}
