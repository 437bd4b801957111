//! Random kernels: the GPU against the interpreter and the CPU executor.

use crate::memory::Arena;
use anyhow::{Context, Result, ensure};
use passhost_ir::kernel::{Mode, Op, Reg, Tensor, interpret, verify};
use passhost_ir::{Kernel, contiguous_strides};
use passhost_kernels::cuda::{Compiler, CudaKernel, Gpu, Stream};
use passhost_kernels::{BoundInput, BoundOutput, CallingThread, CpuKernel};
use passhost_random_kernels::RandomKernel;
use passhost_random_kernels::{Stats, WIDE_ULP, check_against};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Bytes that the tensors of one kernel may take.
const ROOM: usize = 64 << 20;

/// What a run of many kernels saw.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) kernels: u64,
    pub(crate) stats: Stats,
    /// Where the element lies whose bound is wide and which is farthest off, and what made it.
    pub(crate) farthest: Option<String>,
    /// How many kernels of each form ran.
    pub(crate) forms: BTreeMap<&'static str, u64>,
    pub(crate) failures: Vec<String>,
}

/// What the run of one kernel saw.
pub(crate) struct Found {
    pub(crate) stats: Stats,
    /// Which output has the element that is farthest off among those with wide bounds.
    farthest: String,
    pub(crate) form: &'static str,
}

impl Totals {
    fn add(&mut self, seed: u64, found: Found) {
        let before = self.stats.farthest;
        self.stats.merge(found.stats);
        if self.stats.farthest != before {
            self.farthest = Some(format!("seed {seed}, {}", found.farthest));
        }
        *self.forms.entry(found.form).or_default() += 1;
    }
}

/// A kernel, and a tensor for each of its inputs.
pub(crate) type Drawn = (Kernel, Vec<Tensor>);

/// Runs the kernels that are drawn from these seeds.
pub(crate) fn run(
    gpu: &Arc<Gpu>,
    compiler: &Compiler,
    draw: fn(u64) -> Drawn,
    seeds: Range<u64>,
    threads: usize,
) -> Result<Totals> {
    let totals = Mutex::new(Totals::default());
    let next = AtomicU64::new(seeds.start);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let entered = gpu.enter();
                let mut arena = match &entered {
                    Ok(_) => Arena::new(ROOM),
                    Err(error) => Err(anyhow::anyhow!("{error}")),
                };
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let found = match &mut arena {
                        Ok(arena) => check(gpu, compiler, arena, draw(seed), seed),
                        Err(error) => Err(anyhow::anyhow!("{error:#}")),
                    };
                    let Ok(mut totals) = totals.lock() else { return };
                    totals.kernels += 1;
                    match found {
                        Ok(found) => totals.add(seed, found),
                        Err(error) => totals.failures.push(format!("seed {seed}: {error:#}")),
                    }
                }
            });
        }
    });
    totals.into_inner().map_err(|_| anyhow::anyhow!("a thread panicked"))
}

/// Prints how the elements compare, and why some may be far off.
pub(crate) fn explain(totals: &Totals) {
    let stats = totals.stats;
    println!(
        "{} elements within the interpreter's bounds, {} of them bit by bit, {} unknown; at most {:.2} of a bound used",
        stats.checked, stats.exact, stats.unknown, stats.max_share
    );
    println!("at most {:.0} ulp off where the bound is no wider than {WIDE_ULP} ulp", stats.max_ulp);
    if let (Some(wide), Some(place)) = (stats.farthest, &totals.farthest) {
        println!(
            "{} elements have wider bounds: their terms cancel, and errors of these (a ulp or two each, and the order of a \
             sum) are bounds of what is left. Farthest in ulps: {place}, {:e} where {:e} is expected, {:.0} ulp, \
             within {:e}",
            stats.wide, wide.found, wide.expected, wide.ulp, wide.bound
        );
    }
    for (form, count) in &totals.forms {
        println!("{count:6} {form}");
    }
}

/// How an input lies in memory.
pub(crate) struct Stored {
    pub(crate) bytes: Vec<u8>,
    strides: Vec<i64>,
    pub(crate) alignment: usize,
}

impl Stored {
    /// Contiguous, or for odd seeds with its dimensions in reverse order, spaced out, at an odd address.
    pub(crate) fn of(tensor: &Tensor, seed: u64) -> Stored {
        if seed.is_multiple_of(2) || tensor.is_empty() {
            return Stored { bytes: tensor.data.clone(), strides: contiguous_strides(&tensor.shape), alignment: 16 };
        }
        let (mut strides, mut next) = (vec![0; tensor.shape.len()], 1);
        for (stride, extent) in strides.iter_mut().zip(&tensor.shape) {
            *stride = next;
            next = next * extent + 1;
        }
        Stored::with(tensor, strides, tensor.dtype.size() as usize)
    }

    /// With these strides, at a multiple of so many bytes.
    pub(crate) fn with(tensor: &Tensor, strides: Vec<i64>, alignment: usize) -> Stored {
        let size = tensor.dtype.size() as usize;
        let reach = tensor.shape.iter().zip(&strides).map(|(extent, stride)| (extent - 1) * stride).sum::<i64>() + 1;
        let mut bytes = vec![0xa5; reach as usize * size];
        for position in 0..tensor.len() {
            let (mut rest, mut at) = (position as i64, 0);
            for (extent, stride) in tensor.shape.iter().zip(&strides).rev() {
                at += rest % extent * stride;
                rest /= extent;
            }
            bytes[at as usize * size..][..size].copy_from_slice(&tensor.data[position * size..][..size]);
        }
        Stored { bytes, strides, alignment }
    }
}

/// A kernel of any kind. Tens of seeds are of a kind, because their last digit decides what `generate` gives.
pub(crate) fn any(seed: u64) -> Drawn {
    match seed / 10 % 10 {
        6 | 7 => RandomKernel::transposed(seed),
        8 | 9 => RandomKernel::concatenated(seed),
        _ => RandomKernel::generate(seed),
    }
}

fn check(gpu: &Arc<Gpu>, compiler: &Compiler, arena: &mut Arena, (kernel, tensors): Drawn, seed: u64) -> Result<Found> {
    // Each kind for inputs as they are and in reverse order.
    let stored: Vec<Stored> = tensors.iter().map(|tensor| Stored::of(tensor, seed + seed / 10)).collect();
    held(gpu, compiler, arena, &kernel, &tensors, &stored)
}

/// Runs a kernel on the GPU and the CPU, and holds what they give against the interpreter.
pub(crate) fn held(
    gpu: &Arc<Gpu>,
    compiler: &Compiler,
    arena: &mut Arena,
    kernel: &Kernel,
    tensors: &[Tensor],
    stored: &[Stored],
) -> Result<Found> {
    let expected = interpret(kernel, &verify(kernel)?, tensors, Mode::Declared);
    let (on_gpu, form) = on_gpu(gpu, compiler, arena, kernel, stored)?;
    let on_cpu = on_cpu(kernel, stored)?;
    let mut found = Found { stats: Stats::default(), farthest: String::new(), form: form.unwrap_or("empty") };
    for (output, expected) in expected.iter().enumerate() {
        check_against(expected, &on_cpu[output]).with_context(|| format!("output {output} on the CPU"))?;
        let seen = check_against(expected, &on_gpu[output]).with_context(|| format!("output {output} on the GPU"))?;
        let before = found.stats.farthest;
        found.stats.merge(seen);
        if found.stats.farthest != before {
            found.farthest = format!("output {output}, of {}", origin(kernel, kernel.stores[output].value));
        }
    }
    Ok(found)
}

/// The operation that made a value, but for casts.
fn origin(kernel: &Kernel, value: Reg) -> String {
    match &kernel.body[value.0 as usize].op {
        Op::Cast(from) => origin(kernel, *from),
        Op::Unary(op, _) => format!("`{op}`"),
        Op::Binary(op, ..) => format!("`{op}`"),
        Op::Reduce(op, _) => format!("`reduce {op}`"),
        Op::Scan(op, _) => format!("`scan {op}`"),
        Op::Fma(..) => "`fma`".into(),
        Op::Select(..) => "`select`".into(),
        Op::Const(_) | Op::Index(_) | Op::Load { .. } | Op::Compare(..) => "what is exact".into(),
    }
}

/// Bytes of the outputs.
pub(crate) fn sizes(kernel: &Kernel) -> Vec<usize> {
    kernel.output_types().iter().map(|ty| ty.bytes() as usize).collect()
}

/// Inputs at their addresses.
pub(crate) fn bound<'a>(
    kernel: &'a Kernel,
    stored: &'a [Stored],
    address: impl Fn(usize) -> usize,
) -> Vec<BoundInput<'a>> {
    let inputs = kernel.inputs.iter().zip(stored).enumerate();
    inputs
        .map(|(at, (decl, stored))| BoundInput {
            pointer: address(at) as *const u8,
            bytes: stored.bytes.len(),
            dtype: decl.dtype,
            shape: &decl.shape,
            strides: &stored.strides,
        })
        .collect()
}

/// What a kernel gives on the GPU, and its form. Nothing outside its outputs is written.
pub(crate) fn on_gpu(
    gpu: &Arc<Gpu>,
    compiler: &Compiler,
    arena: &mut Arena,
    kernel: &Kernel,
    stored: &[Stored],
) -> Result<(Vec<Vec<u8>>, Option<&'static str>)> {
    let cuda = CudaKernel::new(kernel)?;
    arena.clear();
    let inputs: Vec<usize> = stored.iter().map(|input| arena.place(&input.bytes, input.alignment)).collect();
    let outputs: Vec<(usize, usize)> = sizes(kernel).into_iter().map(|size| (arena.reserve(size), size)).collect();
    arena.upload()?;
    let bound_inputs = bound(kernel, stored, |input| arena.address(inputs[input]));
    let bound_outputs: Vec<BoundOutput> = outputs
        .iter()
        .map(|(start, bytes)| BoundOutput { pointer: arena.address(*start) as *mut u8, bytes: *bytes })
        .collect();
    let launch = cuda.prepare(gpu, compiler, &bound_inputs, &bound_outputs)?;
    let inputs = bound_inputs.iter().map(|input| input.pointer as u64);
    let addresses: Vec<u64> = inputs.chain(bound_outputs.iter().map(|output| output.pointer as u64)).collect();
    // SAFETY: the arena holds all tensors, apart from each other, and nobody else uses it before it is downloaded.
    ensure!(unsafe { launch.launch(&gpu.enter()?, Stream(0), &addresses)? }, "a prepared kernel refuses its tensors");
    Ok((arena.download(&outputs)?, launch.form()))
}

fn on_cpu(kernel: &Kernel, stored: &[Stored]) -> Result<Vec<Vec<u8>>> {
    // Eight bytes aligned, as every element type wants.
    let words = |bytes: &[u8]| -> Vec<u64> {
        let word = |chunk: &[u8]| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        };
        bytes.chunks(8).map(word).collect()
    };
    let inputs: Vec<Vec<u64>> = stored.iter().map(|input| words(&input.bytes)).collect();
    let sizes = sizes(kernel);
    let mut outputs: Vec<Vec<u64>> = sizes.iter().map(|size| vec![u64::MAX; size.div_ceil(8)]).collect();
    let bound_inputs = bound(kernel, stored, |input| inputs[input].as_ptr() as usize);
    let bound_outputs: Vec<BoundOutput> = outputs
        .iter_mut()
        .zip(&sizes)
        .map(|(words, bytes)| BoundOutput { pointer: words.as_mut_ptr().cast(), bytes: *bytes })
        .collect();
    let cpu = CpuKernel::compile(kernel)?;
    // SAFETY: the vectors outlive the binding, and nobody else uses them.
    unsafe { cpu.run(&bound_inputs, &bound_outputs, &CallingThread)? };
    let bytes = |words: &Vec<u64>, size: usize| words.iter().flat_map(|word| word.to_ne_bytes()).take(size).collect();
    let results: Vec<Vec<u8>> = outputs.iter().zip(sizes).map(|(words, size)| bytes(words, size)).collect();
    ensure!(results.len() == kernel.stores.len(), "an output is missing");
    Ok(results)
}
