//! What the tests cannot show without a GPU, as one program to carry to a machine that has one.
//!
//! `passhost-gpu-tests --nvrtc DIRECTORY random 2000` runs random kernels against the interpreter and the CPU executor,
//! `samples SAMPLES PLUGIN...` evaluates plugins on samples, `figures` prints device times, `runtime`
//! checks the runtime library.

mod counting;
mod figures;
mod memory;
mod random;
mod runtime;
mod samples;

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand};
use passhost_kernels::cuda::{Compiler, Gpu};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

#[derive(Debug, Parser)]
struct Arguments {
    /// Number of the GPU.
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// A directory with libnvrtc.so.13, searched before the system's.
    #[arg(long)]
    nvrtc: Vec<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs random kernels, one for each seed from 0 on.
    Random {
        /// How many.
        count: u64,
        /// Threads that compile.
        #[arg(long, default_value_t = 16)]
        threads: usize,
    },
    /// Prints device times of common fused kernels.
    Figures,
    /// Checks the runtime library: what its callers find as it was, streams, captured programs, the cost of a launch.
    Runtime,
    /// Evaluates plugins on all samples of a directory.
    Samples {
        /// The `passhost` program, beside its children.
        #[arg(long, default_value = "./passhost")]
        passhost: PathBuf,
        /// Wall clock per program and variant.
        #[arg(long, default_value = "500ms")]
        budget: String,
        /// The directory.
        directory: PathBuf,
        /// The plugins.
        #[arg(required = true)]
        plugins: Vec<PathBuf>,
    },
    /// Writes CUDA C++ and machine code of those kernels. Needs no GPU.
    Dump {
        /// Where to.
        directory: PathBuf,
    },
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Command::Dump { directory } = &arguments.command {
        return figures::dump(&Compiler::new((9, 0), &arguments.nvrtc, None)?, directory);
    }
    if let Command::Samples { passhost, budget, directory, plugins } = &arguments.command {
        return samples::run(passhost, directory, plugins, budget);
    }
    let gpu = Gpu::open(arguments.device)?;
    let compiler = Compiler::new(gpu.capability()?, &arguments.nvrtc, None)?;
    let (major, minor) = compiler.version();
    println!("{}, NVRTC {major}.{minor}", gpu.name()?);
    match arguments.command {
        Command::Random { count, threads } => {
            let start = Instant::now();
            let totals = random::run(&gpu, &compiler, count, threads)?;
            let seconds = start.elapsed().as_secs_f64();
            for failure in totals.failures.iter().take(20) {
                println!("{failure}");
            }
            let stats = totals.stats;
            println!(
                "{} kernels in {seconds:.0} s: {} failed; {} elements checked, {} of them exact, {} unknown, at most {} ulp off",
                totals.kernels,
                totals.failures.len(),
                stats.checked,
                stats.exact,
                stats.unknown,
                stats.max_ulp
            );
            ensure!(totals.failures.is_empty(), "{} random kernels are wrong", totals.failures.len());
        }
        Command::Figures => figures::run(&gpu, &compiler)?,
        Command::Runtime => runtime::run(&gpu, &Arc::new(compiler))?,
        Command::Dump { .. } | Command::Samples { .. } => {}
    }
    Ok(())
}
