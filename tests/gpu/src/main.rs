//! What the tests cannot show without a GPU, as one program to carry to a machine that has one.
//!
//! `passhost-gpu-tests --nvrtc DIRECTORY random 2000` runs random kernels against the interpreter and the CPU executor,
//! `contractions 400` sums of products,
//! `joined 100` runs groups of them as one launch, `schedules 300` each of them in all schedules that it may have, `samples SAMPLES PLUGIN...` evaluates plugins on samples, `figures`
//! prints device times, `rates` measures products and convolutions as kernels beside ATen's calls, `runtime` checks the runtime library, `launch` the part of it that `--launch graph` needs,
//! `queue` looks at what the device alone takes for programs that overwrite their inputs and at launches behind long ones,
//! `measured PLUGIN` at what becomes of evaluations of graphs that run for milliseconds,
//! `faults PLUGIN SAMPLE` fills the GPU and loses contexts. With `--json FILE` `random`, `contractions`, `samples` and `figures` write what they
//! found, and `compare OLD NEW` says what got worse since.

mod counting;
mod draws;
mod faults;
mod figures;
mod joined;
mod measured;
mod memory;
mod products;
mod queue;
mod random;
mod rates;
mod results;
mod runtime;
mod samples;
mod schedules;
mod shown;

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand};
use passhost_bench::device::BenchDevice;
use passhost_kernels::cuda::{Compiler, DeviceProperties, Gpu, Nvrtc};
use passhost_random_kernels::RandomKernel;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

#[derive(Debug, Parser)]
struct Arguments {
    /// Number of the GPU.
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// Chooses schedules as for a GPU of one multiprocessor with 64 threads: small kernels get the forms of large ones.
    #[arg(long)]
    small: bool,
    /// A directory with libnvrtc.so.13, searched before the system's.
    #[arg(long)]
    nvrtc: Vec<PathBuf>,
    /// Write what is found into this file, beside what is in it.
    #[arg(long)]
    json: Option<PathBuf>,
    /// The commit this was built from, for that file. That of the working directory, if there is a checkout.
    #[arg(long)]
    commit: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Args)]
struct Seeds {
    /// How many.
    count: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Threads that compile.
    #[arg(long, default_value_t = 16)]
    threads: usize,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs random kernels, one for each seed.
    Random(Seeds),
    /// Runs random kernels that sum products up, of matrices and convolutions, as `random` does.
    Contractions(Seeds),
    /// Runs random groups of 2 to 8 random kernels as one launch, and the same kernels one by one: bit by bit the same.
    Joined {
        /// How many groups, a seed each.
        count: u64,
        /// The first seed.
        #[arg(long, default_value_t = 0)]
        first: u64,
    },
    /// Runs random kernels in each schedule that they may have, which write the same bit by bit, and prints what common
    /// fused kernels take in theirs.
    Schedules {
        /// How many, a seed each.
        count: u64,
        /// The first seed.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Threads that compile.
        #[arg(long, default_value_t = 16)]
        threads: usize,
        /// Prints no times.
        #[arg(long)]
        untimed: bool,
    },
    /// Holds what the GPU draws, compares and judges by itself against the CPU, for random tensors.
    Draws {
        /// How many, a seed each.
        count: u64,
        /// The first seed.
        #[arg(long, default_value_t = 0)]
        first: u64,
    },
    /// Runs the kernels of graphs on drawn inputs.
    Shown {
        /// What `passhost show --after PLUGIN SAMPLE` printed.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Measures products of matrices and convolutions as one kernel beside ATen's calls, and looks whether they agree.
    Rates {
        /// Only rows whose description contains this.
        #[arg(default_value = "")]
        only: String,
        /// Measures each kernel in all its schedules instead, on the device alone.
        #[arg(long)]
        schedules: bool,
        /// On the CPU instead, on this many threads.
        #[arg(long)]
        cpu: Option<u32>,
    },
    /// Holds products of matrices and convolutions that are prepared for their layout against ATen's, bit by bit and in time.
    Products,
    /// Prints device times of common fused kernels.
    Figures,
    /// Checks the runtime library: what its callers find as it was, streams, captured programs, the cost of a launch.
    Runtime,
    /// Checks programs that are recorded from their stream, as `--launch graph` times them; a part of `runtime`.
    Launch,
    /// Times programs that overwrite their inputs on the device alone, and launches behind a program of milliseconds.
    Queue,
    /// Evaluates graphs that run for milliseconds, of which a quiet GPU measures all but a few, and one that overwrites an
    /// input.
    Measured {
        /// The `passhost` program, beside its children.
        #[arg(long, default_value = "./passhost")]
        passhost: PathBuf,
        /// Wall clock per variant.
        #[arg(long, default_value = "300ms")]
        budget: String,
        /// How many graphs.
        #[arg(long, default_value_t = 96)]
        count: usize,
        /// The plugin.
        plugin: PathBuf,
    },
    /// Evaluates with a full GPU, and where a context is lost.
    Faults {
        /// The `passhost` program, beside its children.
        #[arg(long, default_value = "./passhost")]
        passhost: PathBuf,
        /// The plugin.
        plugin: PathBuf,
        /// The sample.
        sample: PathBuf,
    },
    /// Evaluates plugins on several samples.
    Samples {
        /// The `passhost` program, beside its children.
        #[arg(long, default_value = "./passhost")]
        passhost: PathBuf,
        /// Wall clock per program and variant.
        #[arg(long, default_value = "500ms")]
        budget: String,
        /// A list of samples, or a directory that holds some.
        samples: PathBuf,
        /// The plugins.
        #[arg(required = true)]
        plugins: Vec<PathBuf>,
    },
    /// Holds a results file against an older one of the same device. Needs no GPU.
    Compare {
        /// Of before, as `tests/gpu/results/h200.json`.
        old: PathBuf,
        /// Of now.
        new: PathBuf,
        /// By how much a device time may grow.
        #[arg(long, default_value_t = 0.03)]
        within: f64,
    },
    /// Writes CUDA C++ and machine code of those kernels. Needs no GPU.
    Dump {
        /// Where to.
        directory: PathBuf,
    },
}

/// What needs no GPU.
fn without_gpu(command: &Command) -> Option<Result<()>> {
    match command {
        Command::Compare { old, new, within } => Some(results::compare(old, new, *within)),
        Command::Rates { only, cpu: Some(threads), .. } => Some(rates::run_on_cpu(*threads, only)),
        _ => None,
    }
}

/// The GPU of this number, for which schedules are chosen as for a `small` one.
fn open(device: u32, small: bool) -> Result<Arc<Gpu>> {
    let gpu = Gpu::open_as(device, |properties| match small {
        true => DeviceProperties { multiprocessors: 1, threads_per_multiprocessor: 64, ..properties },
        false => properties,
    });
    Ok(gpu?)
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Command::Dump { directory } = &arguments.command {
        return figures::dump(&Compiler::new((9, 0), &arguments.nvrtc)?, directory);
    }
    if let Some(result) = without_gpu(&arguments.command) {
        return result;
    }
    let gpu = open(arguments.device, arguments.small)?;
    let compiler = Compiler::new(gpu.capability()?, &arguments.nvrtc)?;
    let (major, minor) = Nvrtc::load(&arguments.nvrtc)?.version();
    println!("{}, NVRTC {major}.{minor}", gpu.name()?);
    let run = match &arguments.json {
        Some(_) => json!({
            "commit": results::commit(arguments.commit.as_deref())?,
            "device": gpu.name()?,
            "driver": driver_version()?,
            "nvrtc": format!("{major}.{minor}"),
        }),
        None => Value::Null,
    };
    let write = |section: &str, content: Value| match &arguments.json {
        Some(file) => results::write(file, &run, section, content),
        None => Ok(()),
    };
    match arguments.command {
        Command::Random(seeds) => run_random(&gpu, &compiler, random::any, &seeds, |found| write("random", found))?,
        Command::Contractions(seeds) => {
            run_random(&gpu, &compiler, RandomKernel::contraction, &seeds, |found| write("contractions", found))?;
        }
        Command::Joined { count, first } => {
            let kernels = joined::run(&gpu, &compiler, first..first.saturating_add(count))?;
            println!("{kernels} kernels in {count} groups: joined they write what they write alone");
        }
        Command::Shown { files } => {
            println!("of {} files {}", files.len(), shown::run(&gpu, &compiler, &files)?);
        }
        Command::Schedules { count, first, threads, untimed } => {
            let compared = schedules::run(&gpu, &compiler, first..first.saturating_add(count), threads)?;
            println!("of {count} kernels {compared}");
            ensure!(compared.failures.is_empty(), "kernels are not the same in every schedule");
            if !untimed {
                schedules::print_times(&gpu, compiler, &schedules::common()?)?;
            }
        }
        Command::Draws { count, first } => {
            let device = BenchDevice::gpu(arguments.device, |_| compiler).map_err(anyhow::Error::msg)?;
            let tensors = draws::run(&device, first..first.saturating_add(count))?;
            println!("{tensors} tensors: the GPU draws, compares and judges as the CPU does");
            draws::print_times(&device)?;
        }
        Command::Rates { only, schedules: false, .. } => rates::run(&gpu, &Arc::new(compiler), &only)?,
        Command::Rates { only, .. } => schedules::print_times(&gpu, compiler, &rates::kernels(&only)?)?,
        Command::Products => products::run(&gpu, &Arc::new(compiler))?,
        Command::Figures => write("figures", figures::run(&gpu, &compiler)?.into_iter().collect())?,
        Command::Runtime => runtime::run(&gpu, &Arc::new(compiler))?,
        Command::Launch => runtime::run_recorded(&gpu, &Arc::new(compiler))?,
        Command::Queue => {
            let device = BenchDevice::gpu(arguments.device, |_| compiler).map_err(anyhow::Error::msg)?;
            queue::restored(&device)?;
            queue::probes(&device)?;
        }
        Command::Measured { passhost, budget, count, plugin } => {
            let (passhost, plugin, budget) = (&passhost, &plugin, &budget);
            measured::run(&measured::Evaluation { passhost, plugin, budget }, count)?;
        }
        Command::Faults { passhost, plugin, sample } => {
            let (passhost, plugin, sample) = (&passhost, &plugin, &sample);
            faults::run(&gpu, &faults::Evaluation { passhost, plugin, sample })?;
        }
        Command::Samples { passhost, budget, samples, plugins } => {
            let (times, verdict) = samples::run(&passhost, &samples, &plugins, &budget)?;
            let entry =
                |(name, eager, ours): (String, f64, f64)| (name, json!({ "eager_us": eager, "rewritten_us": ours }));
            write("samples", times.into_iter().map(entry).collect())?;
            verdict?;
        }
        Command::Dump { .. } | Command::Compare { .. } => {}
    }
    Ok(())
}

/// Runs random kernels, says what is wrong with them, and writes what a results file has of that. Fails if any is wrong.
fn run_random(
    gpu: &Arc<Gpu>,
    compiler: &Compiler,
    draw: fn(u64) -> random::Drawn,
    seeds: &Seeds,
    write: impl FnOnce(Value) -> Result<()>,
) -> Result<()> {
    let start = Instant::now();
    let totals = random::run(gpu, compiler, draw, seeds.first..seeds.first.saturating_add(seeds.count), seeds.threads)?;
    let seconds = start.elapsed().as_secs_f64();
    for failure in totals.failures.iter().take(20) {
        println!("{failure}");
    }
    let failed = totals.failures.len();
    println!("{} kernels in {seconds:.0} s: {failed} failed", totals.kernels);
    random::explain(&totals);
    write(json!({ "kernels": totals.kernels, "failed": failed, "forms": totals.forms }))?;
    ensure!(failed == 0, "{failed} random kernels are wrong");
    Ok(())
}

/// The version of CUDA that the driver serves, as 13000 for 13.0.
fn driver_version() -> Result<i32> {
    let mut version = 0;
    // SAFETY: the driver writes one number to the address.
    unsafe { cudarc::driver::sys::cuDriverGetVersion(&raw mut version).result()? };
    Ok(version)
}
