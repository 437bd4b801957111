//! The message loop of the device child.

use crate::session::Reference;
use passhost_ir::Infer;
use passhost_protocol::device::{DeviceChoice, DeviceInfo, FromDevice, Stage, ToDevice};
use passhost_protocol::{FrameError, MAX_FRAME, read_frame, write_frame};
use rustix::process::{Resource, Rlimit, Signal};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};

/// Why the child stopped serving.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The supervisor is gone or sent something malformed.
    #[error("{0}")]
    Frame(#[from] FrameError),
    /// The process could not be set up.
    #[error("cannot set up the device process: {0}")]
    Setup(#[from] rustix::io::Errno),
    /// A request came before the one it depends on.
    #[error("the supervisor sent `{0}` out of turn")]
    OutOfTurn(&'static str),
}

/// Serves the supervisor until it closes the pipe.
///
/// # Errors
///
/// If the pipe breaks, or a message is malformed or out of turn.
pub fn serve() -> Result<(), ServeError> {
    // The supervisor's death ends this process whatever libtorch is doing.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let no_core = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, no_core)?;
    // Messages leave by a descriptor of their own: what libraries print goes to standard error.
    let messages = File::from(rustix::io::dup(rustix::stdio::stdout())?);
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    let mut stdin = BufReader::new(std::io::stdin().lock());
    let mut out = BufWriter::new(messages);

    let mut reference: Option<Reference> = None;
    loop {
        let request: ToDevice = match read_frame(&mut stdin, MAX_FRAME) {
            Err(FrameError::Closed) => return Ok(()),
            request => request?,
        };
        let reply = match request {
            ToDevice::Open { device, threads } => match open(device, threads) {
                Ok(info) => FromDevice::Opened(info),
                Err(reason) => {
                    write_frame(&mut out, &FromDevice::Unusable(reason))?;
                    return Ok(());
                }
            },
            ToDevice::Infer { op, args } => FromDevice::Inferred(passhost_torch::MetaInfer.infer(&op, &args)),
            ToDevice::Load { program, inputs, seed, settings } => {
                // The old program's memory is free before the new one's is taken.
                reference = None;
                let loaded = Reference::load(program, inputs, seed, &settings, |stage| announce(&mut out, stage));
                FromDevice::Loaded(loaded.map(|(loaded, report)| {
                    reference = Some(loaded);
                    report
                }))
            }
            ToDevice::Evaluate { rewrite, in_place, seed, settings, timed } => {
                let reference = reference.as_ref().ok_or(ServeError::OutOfTurn("Evaluate"))?;
                let in_place = in_place.into_iter().collect();
                let stage = |stage| announce(&mut out, stage);
                FromDevice::Evaluated(Box::new(reference.evaluate(&rewrite, &in_place, seed, &settings, timed, stage)))
            }
        };
        write_frame(&mut out, &reply)?;
    }
}

/// Says how far the work is. If the supervisor is gone, the next reply will show it.
fn announce(out: &mut impl Write, stage: Stage) {
    let _ = write_frame(out, &FromDevice::Stage(stage));
}

fn open(choice: DeviceChoice, threads: Option<u32>) -> Result<DeviceInfo, String> {
    let note = match choice {
        DeviceChoice::Cpu => String::new(),
        DeviceChoice::Auto if gpu_present() => "a GPU is present; kernels for it are not part of this version".into(),
        DeviceChoice::Auto => String::new(),
        DeviceChoice::Cuda(index) => {
            return Err(format!("cuda:{index} cannot be used: this version runs on the CPU only; use --device cpu"));
        }
    };
    let available = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let threads = threads.unwrap_or(available);
    passhost_torch::start(threads);
    // For drawing inputs and comparing outputs. It fails only where a pool exists already.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global();
    Ok(DeviceInfo { device: "cpu".into(), name: processor(), threads, torch: passhost_torch::version(), note })
}

fn gpu_present() -> bool {
    std::path::Path::new("/dev/nvidiactl").exists()
}

fn processor() -> String {
    let name = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
