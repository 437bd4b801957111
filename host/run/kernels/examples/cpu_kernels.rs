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
        ("add + layer norm, f32 [1,17,768]", layer_norm(17, 768)),
        ("cat, batch norm, relu, pool, f32 [64,576,7,7]", CAT_POOL.parse()?),
        ("add + layer norm, f16 [8,197,768]", HALF_NORM.parse()?),
        ("sum over dim 0, f32 [4096,1024]", column_sum(4096, 1024)),
        ("transpose, f32 [2048,2048]", transpose(2048)),
        ("permute, f16 [8,3136,8,16]", permute(8, 3136, 8, 16).parse()?),
        ("cat of channels, f16 [64,576,7,7]", CAT.parse()?),
        ("pad by a row, f16 [8,8,3137,16]", PAD.parse()?),
        ("rotary embedding, f16 [2,32,512,128]", ROTARY.parse()?),
        ("rotary embedding, f16 [2,32,512,128], f32", ROTARY.replace("f16", "f32").parse()?),
        ("roll, f16 [8,3249,96]", ROLL.parse()?),
        ("max pool 3x3, f32 [64,56,56]", POOL.parse()?),
        ("masked mean, f16 [16,256,768]", MASKED_MEAN.parse()?),
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
        // SAFETY: the vectors outlive the run, and nothing else uses them meanwhile.
        unsafe { compiled.run(&bound_inputs, &bound_outputs, threads)? };
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

/// Two dimensions in the middle change places.
fn permute(batch: i64, tokens: i64, heads: i64, width: i64) -> String {
    format!(
        "kernel {{
          space p0={batch}, p1={heads}, p2={width}, p3={tokens}
          in x0: f16[{batch},{tokens},{heads},{width}]
          i0 = p0
          i1 = p1
          i2 = p2
          i3 = p3
          v0: f16 = load x0[i0, i3, i1, i2] clamp
          out v0 over [p0, p1, p2, p3] as [{batch},{heads},{width},{tokens}]
        }}"
    )
}

/// Three tensors behind each other, as autofuse writes it.
const CAT: &str = "kernel {
  space p0=64, p1=576, p2=7, p3=7
  in x0: f16[64,32,7,7]
  in x1: f16[64,32,7,7]
  in x2: f16[64,512,7,7]
  i0 = p0
  i1 = p1
  i2 = -544
  i3 = i1 + i2
  i4 = p2
  i5 = p3
  v0: f16 = load x0[i0, i3, i4, i5] pad 0.0
  i6 = -512
  i7 = i1 + i6
  v1: f16 = load x1[i0, i7, i4, i5] pad 0.0
  v2: i64 = index i1
  v3: i64 = const 544
  v4: bool = lt v2, v3
  v5: f16 = select v4, v1, v0
  v6: f16 = load x2[i0, i1, i4, i5] pad 0.0
  v7: i64 = const 512
  v8: bool = lt v2, v7
  v9: f16 = select v8, v6, v5
  out v9 over [p0, p1, p2, p3] as [64,576,7,7]
}";

const HALF_NORM: &str = "kernel {
  space p0=8, p1=197; reduce r0=768
  in x0: f16[8,197,768]
  in x1: f16[8,197,768]
  in x2: f16[768]
  in x3: f16[768]
  i0 = p0
  i1 = p1
  i2 = r0
  v0: f16 = load x0[i0, i1, i2] clamp
  v1: f16 = load x1[i0, i1, i2] clamp
  v2: f32 = cast v0
  v3: f32 = cast v1
  v4: f32 = add v2, v3
  v5: f16 = cast v4
  v6: f16 = load x2[i2] clamp
  v7: f16 = load x3[i2] clamp
  v8: f32 = cast v5
  v9: f32 = reduce sum v8
  v10: f32 = const 768.0
  v11: f32 = div v9, v10
  v12: f32 = sub v8, v11
  v13: f32 = mul v12, v12
  v14: f32 = reduce sum v13
  v15: f32 = div v14, v10
  v16: f32 = const 1e-6
  v17: f32 = add v15, v16
  v18: f32 = rsqrt v17
  v19: f32 = mul v12, v18
  v20: f32 = cast v6
  v21: f32 = cast v7
  v22: f32 = fma v19, v20, v21
  v23: f16 = cast v22
  out v5 over [p0, p1, r0] as [8,197,768]
  out v23 over [p0, p1, r0] as [8,197,768]
}";

const CAT_POOL: &str = "kernel {
  space p0=64, p1=576; reduce r0=7, r1=7
  in x0: f32[64,32,7,7]
  in x1: f32[64,32,7,7]
  in x2: f32[64,512,7,7]
  in x3: f32[576]
  in x4: f32[576]
  in x5: f32[576]
  in x6: f32[576]
  i0 = p0
  i1 = p1
  i2 = -544
  i3 = i1 + i2
  i4 = r0
  i5 = r1
  v0: f32 = load x0[i0, i3, i4, i5] pad 0.0
  i6 = -512
  i7 = i1 + i6
  v1: f32 = load x1[i0, i7, i4, i5] pad 0.0
  v2: i64 = index i1
  v3: i64 = const 544
  v4: bool = lt v2, v3
  v5: f32 = select v4, v1, v0
  v6: f32 = load x2[i0, i1, i4, i5] pad 0.0
  v7: i64 = const 512
  v8: bool = lt v2, v7
  v9: f32 = select v8, v6, v5
  v10: f32 = load x3[i1] clamp
  v11: f32 = load x4[i1] clamp
  v12: f32 = load x5[i1] clamp
  v13: f32 = load x6[i1] clamp
  v14: f32 = const 1e-5
  v15: f32 = add v13, v14
  v16: f32 = rsqrt v15
  v17: f32 = mul v16, v10
  v18: f32 = neg v12
  v19: f32 = const 0.0
  v20: f32 = fma v18, v17, v11
  v21: f32 = fma v9, v17, v20
  v22: f32 = max v21, v19
  v23: f32 = reduce sum v22
  v24: f32 = const 49.0
  v25: f32 = div v23, v24
  out v25 over [p0, p1] as [64,576,1,1]
}";

const PAD: &str = "kernel {
  space p0=8, p1=8, p2=3137, p3=16
  in x0: f16[8,8,3136,16]
  i0 = p0
  i1 = p1
  i2 = p2
  i3 = -1
  i4 = i2 + i3
  i5 = p3
  v0: f16 = load x0[i0, i1, i4, i5] pad 0.0
  out v0 over [p0, p1, p2, p3] as [8,8,3137,16]
}";

const ROTARY: &str = "kernel {
  space p0=2, p1=32, p2=512, p3=128
  in x0: f16[2,32,512,128]
  in x1: f16[1,512,128]
  in x2: f16[1,512,128]
  i0 = p0
  i1 = p1
  i2 = p2
  i3 = p3
  v0: f16 = load x0[i0, i1, i2, i3] clamp
  i4 = 0
  v1: f16 = load x1[i4, i2, i3] clamp
  v2: f32 = cast v0
  v3: f32 = cast v1
  v4: f32 = mul v2, v3
  v5: f16 = cast v4
  i5 = -64
  i6 = i3 + i5
  v6: f16 = load x0[i0, i1, i2, i6] pad 0.0
  i7 = 64
  i8 = i3 + i7
  v7: f16 = load x0[i0, i1, i2, i8] pad 0.0
  v8: f32 = cast v7
  v9: f32 = neg v8
  v10: f16 = cast v9
  v11: i64 = index i3
  v12: i64 = const 64
  v13: bool = lt v11, v12
  v14: f16 = select v13, v10, v6
  v15: f16 = load x2[i4, i2, i3] clamp
  v16: f32 = cast v14
  v17: f32 = cast v15
  v18: f32 = mul v16, v17
  v19: f16 = cast v18
  v20: f32 = cast v5
  v21: f32 = cast v19
  v22: f32 = add v20, v21
  v23: f16 = cast v22
  out v23 over [p0, p1, p2, p3] as [2,32,512,128]
}";

/// The windows of a picture shifted back, and the padding off.
const ROLL: &str = "kernel {
  space p0=8, p1=3249, p2=96
  in x0: f16[8,63,63,96]
  i0 = p0
  i1 = p1
  i2 = p2
  i3 = i1 / 57
  i4 = 60
  i5 = i3 + i4
  i6 = i5 % 63
  i7 = i1 % 57
  i8 = i7 + i4
  i9 = i8 % 63
  v0: f16 = load x0[i0, i6, i9, i2] clamp
  out v0 over [p0, p1, p2] as [8,3249,96]
}";

const POOL: &str = "kernel {
  space p0=64, p1=56, p2=56; reduce r0=3, r1=3
  in x0: f32[64,112,112]
  i0 = p0
  i1 = p1
  i2 = i1 * 2
  i3 = r0
  i4 = i2 + i3
  i5 = -1
  i6 = i4 + i5
  i7 = p2
  i8 = i7 * 2
  i9 = r1
  i10 = i8 + i9
  i11 = i10 + i5
  v0: f32 = load x0[i0, i6, i11] pad -inf
  v1: f32 = reduce max v0
  out v1 over [p0, p1, p2] as [64,56,56]
}";

const MASKED_MEAN: &str = "kernel {
  space p0=16, p1=768; reduce r0=256
  in x0: f16[16,256,768]
  in x1: i64[16,256]
  i0 = p0
  i1 = r0
  i2 = p1
  v0: f16 = load x0[i0, i1, i2] clamp
  v1: i64 = load x1[i0, i1] clamp
  v2: f32 = cast v1
  v3: f32 = cast v0
  v4: f32 = mul v3, v2
  v5: f32 = reduce sum v4
  v6: f32 = reduce sum v2
  v7: f32 = const 1e-9
  v8: f32 = max v6, v7
  v9: f32 = div v5, v8
  out v9 over [p0, p1] as [16,768]
}";

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
