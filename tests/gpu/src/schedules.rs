//! Kernels in all the schedules that they may have: the same bits, and what `--tune` finds.

use crate::figures::{self, Memory};
use crate::memory::Arena;
use crate::random::{Drawn, Stored, bound, sizes};
use anyhow::{Context, Result, ensure};
use cudarc::driver::result;
use passhost_ir::{Dtype, Kernel, contiguous_strides};
use passhost_kernels::cuda::{Candidates, Compiler, Cubin, CudaKernel, Gpu, Stream};
use passhost_kernels::{BoundInput, BoundOutput};
use passhost_random_kernels::RandomKernel;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that the tensors of one kernel may take.
const ROOM: usize = 64 << 20;

/// What comes of the kernels of some seeds.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// Kernels with a choice.
    pub(crate) kernels: u64,
    /// Schedules beside their defaults.
    pub(crate) others: u64,
    /// Those that write something else, or cannot run.
    pub(crate) failures: Vec<String>,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compared { kernels, others, failures } = self;
        write!(f, "{kernels} have {others} schedules beside their defaults: {} differ", failures.len())?;
        failures.iter().take(20).try_for_each(|failure| write!(f, "\n{failure}"))
    }
}

/// Runs the kernels of these seeds in each of their schedules, and compares what these write bit by bit.
pub(crate) fn run(gpu: &Arc<Gpu>, compiler: &Compiler, seeds: Range<u64>, threads: usize) -> Result<Compared> {
    let (compared, next) = (Mutex::new(Compared::default()), AtomicU64::new(seeds.start));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let others = compare(gpu, compiler, seed);
                    let Ok(mut compared) = compared.lock() else { return };
                    match others {
                        Ok(others) => {
                            compared.kernels += u64::from(others > 0);
                            compared.others += others;
                        }
                        Err(error) => compared.failures.push(format!("seed {seed}: {error:#}")),
                    }
                }
            });
        }
    });
    compared.into_inner().map_err(|_| anyhow::anyhow!("a thread panicked"))
}

/// A kernel of any kind, a fifth of them contractions.
fn drawn(seed: u64) -> Drawn {
    match seed % 10 {
        4 | 5 => RandomKernel::contraction(seed),
        6 | 7 => RandomKernel::transposed(seed),
        8 | 9 => RandomKernel::concatenated(seed),
        _ => RandomKernel::generate(seed),
    }
}

/// Runs a kernel in each of its schedules; returns how many there are beside the default.
fn compare(gpu: &Arc<Gpu>, compiler: &Compiler, seed: u64) -> Result<u64> {
    let (kernel, tensors) = drawn(seed);
    let stored: Vec<Stored> = tensors.iter().map(|tensor| Stored::of(tensor, seed)).collect();
    let _entered = gpu.enter()?;
    let mut arena = Arena::new(ROOM)?;
    let (expected, names) = written(gpu, compiler, &mut arena, (&kernel, &stored), CudaKernel::new(&kernel)?)?;
    for name in names.iter().skip(1) {
        let scheduled = CudaKernel::new(&kernel)?.scheduled(name.clone());
        let (found, _) = written(gpu, compiler, &mut arena, (&kernel, &stored), scheduled)
            .with_context(|| format!("as `{name}`"))?;
        let different = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        ensure!(different.is_none(), "as `{name}` output {different:?} is not that of `{}`", names[0]);
    }
    Ok((names.len() as u64).saturating_sub(1))
}

/// What a kernel writes over memory that held poison, and the names of its schedules.
fn written(
    gpu: &Arc<Gpu>,
    compiler: &Compiler,
    arena: &mut Arena,
    (kernel, stored): (&Kernel, &[Stored]),
    cuda: CudaKernel,
) -> Result<(Vec<Vec<u8>>, Vec<String>)> {
    arena.clear();
    let inputs: Vec<usize> = stored.iter().map(|input| arena.place(&input.bytes, input.alignment)).collect();
    let outputs: Vec<(usize, usize)> = sizes(kernel).into_iter().map(|size| (arena.reserve(size), size)).collect();
    arena.upload()?;
    let inputs = bound(kernel, stored, |input| arena.address(inputs[input]));
    let places = outputs.iter().map(|(start, bytes)| (arena.address(*start) as u64, *bytes));
    let bound_outputs: Vec<BoundOutput> = places.map(bound_output).collect();
    let names = names(cuda.candidates(gpu, &inputs, &bound_outputs)?.as_ref());
    let launch = cuda.prepare(gpu, compiler, &inputs, &bound_outputs)?;
    // SAFETY: the arena holds all tensors, apart from each other, and nobody else uses it before it is downloaded.
    let launched = unsafe { launch.launch(&gpu.enter()?, Stream(0), &addresses(&inputs, &bound_outputs))? };
    ensure!(launched, "a prepared kernel refuses its tensors");
    Ok((arena.download(&outputs)?, names))
}

fn bound_output((address, bytes): (u64, usize)) -> BoundOutput {
    BoundOutput { pointer: address as *mut u8, bytes }
}

fn addresses(inputs: &[BoundInput<'_>], outputs: &[BoundOutput]) -> Vec<u64> {
    let inputs = inputs.iter().map(|input| input.pointer as u64);
    inputs.chain(outputs.iter().map(|output| output.pointer as u64)).collect()
}

fn names(candidates: Option<&Candidates>) -> Vec<String> {
    candidates.iter().flat_map(|found| found.sources()).map(|source| source.schedule.clone()).collect()
}

/// The same compiler, asked for each text once.
fn remembering(compiler: Compiler) -> Compiler {
    let known: Mutex<HashMap<String, Cubin>> = Mutex::default();
    Compiler::asking(move |text| {
        let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = lock().get(text) {
            return Ok(code.clone());
        }
        let code = compiler.compile(text)?;
        lock().insert(text.to_owned(), code.clone());
        Ok(code)
    })
}

/// Common fused kernels.
pub(crate) fn common() -> Result<Vec<(String, Kernel)>> {
    let types = [Dtype::F32, Dtype::F16];
    let cases = figures::cases().flat_map(|case| types.map(|dtype| (case, dtype)));
    let kernels = cases.map(|((name, make), dtype)| {
        let name = format!("{name}_{dtype}");
        Ok((name.clone(), make(dtype).context(name)?))
    });
    kernels.collect()
}

/// Measures kernels in each of their schedules, and prints the default and the fastest. All are measured twice, which shows
/// what the times are worth.
pub(crate) fn print_times(gpu: &Arc<Gpu>, compiler: Compiler, kernels: &[(String, Kernel)]) -> Result<()> {
    let compiler = &remembering(compiler);
    println!("{:44} {:>3} {:>10} {:>10} {:>10}  fastest", "kernel", "of", "default us", "again us", "fastest us");
    let (mut log, mut count) = (0.0, 0);
    for (name, kernel) in kernels {
        let Some((names, times, again)) = measured(gpu, compiler, kernel)? else { continue };
        let fastest = (0..times.len()).min_by_key(|at| times[*at]).unwrap_or(0);
        let us = |ns: u64| ns as f64 / 1e3;
        println!(
            "{name:44} {:3} {:10.2} {:10.2} {:10.2}  {} of {}",
            times.len(),
            us(times[0]),
            us(again[0]),
            us(times[fastest]),
            if fastest == 0 { "the default" } else { &names[fastest] },
            names[0]
        );
        log += (us(times[0]) / us(times[fastest])).ln();
        count += 1;
    }
    println!("defaults take {:.3} times what the fastest take in the geometric mean", (log / f64::from(count)).exp());
    Ok(())
}

/// The schedules of a kernel on contiguous tensors and what each takes, measured twice.
type Measured = (Vec<String>, Vec<u64>, Vec<u64>);

fn measured(gpu: &Arc<Gpu>, compiler: &Compiler, kernel: &Kernel) -> Result<Option<Measured>> {
    let entered = gpu.enter()?;
    let strides: Vec<Vec<i64>> = kernel.inputs.iter().map(|input| contiguous_strides(&input.shape)).collect();
    let bytes = |shape: &[i64], dtype: Dtype| (passhost_ir::numel(shape) * dtype.size()) as usize;
    let sizes_of_inputs = kernel.inputs.iter().map(|input| bytes(&input.shape, input.dtype));
    // Every float type reads the byte 0x33 as a small number.
    let inputs = sizes_of_inputs.map(|bytes| Memory::filled(bytes, 0x33)).collect::<Result<Vec<_>>>()?;
    let sizes = sizes(kernel);
    let outputs = sizes.iter().map(|bytes| Memory::filled(*bytes, 0xff)).collect::<Result<Vec<_>>>()?;
    let bind = kernel.inputs.iter().zip(&inputs).zip(&strides);
    let bound_inputs: Vec<BoundInput<'_>> = bind
        .map(|((input, memory), strides)| BoundInput {
            pointer: memory.0 as *const u8,
            bytes: bytes(&input.shape, input.dtype),
            dtype: input.dtype,
            shape: &input.shape,
            strides,
        })
        .collect();
    let bound_outputs: Vec<BoundOutput> =
        outputs.iter().zip(&sizes).map(|(memory, bytes)| bound_output((memory.0, *bytes))).collect();
    let Some(candidates) = CudaKernel::new(kernel)?.candidates(gpu, &bound_inputs, &bound_outputs)? else {
        return Ok(None);
    };
    std::thread::scope(|scope| {
        for source in candidates.sources() {
            // What does not compile is said below.
            scope.spawn(|| drop(compiler.compile(&source.text)));
        }
    });
    let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
    let on = (&entered, Stream(stream as usize));
    let addresses = addresses(&bound_inputs, &bound_outputs);
    // SAFETY: the memory lives until the stream was waited for, which measuring does, and nobody else uses it.
    let times = || unsafe { candidates.measure(gpu, compiler, on, &addresses) };
    let measured = (names(Some(&candidates)), times()?, times()?);
    // SAFETY: nothing uses the stream any more.
    unsafe { result::stream::destroy(stream)? };
    Ok(Some(measured))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_ir::kernel::verify;
    use passhost_kernels::KernelLayout;
    use passhost_kernels::cuda::{DeviceProperties, candidates};
    use std::collections::BTreeMap;

    #[test]
    fn kernels_that_are_compared_have_tiles_of_several_sizes() {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for seed in 0..300 {
            let kernel = drawn(seed).0;
            let (facts, layout) = (verify(&kernel).unwrap(), KernelLayout::contiguous(&kernel));
            let all = candidates(&kernel, &facts, &layout, &DeviceProperties::H200);
            let tiles = all.iter().filter(|source| source.form.starts_with("products"));
            let tiles: Vec<&str> = tiles.map(|source| source.schedule.as_str()).collect();
            if tiles.len() > 1 {
                tiles.into_iter().for_each(|tile| *counts.entry(tile.to_owned()).or_default() += 1);
            }
        }
        assert!(counts.len() >= 10 && counts.values().all(|count| *count >= 5), "{counts:#?}");
    }
}
