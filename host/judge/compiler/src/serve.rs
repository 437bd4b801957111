//! The child's side of the protocol: a greeting, one source, its machine code.

use passhost_confine::{ConfineError, compiler as confinement, process};
use passhost_kernels::cuda::{Nvrtc, NvrtcError};
use passhost_protocol::compiler::{CompilerSource, FromCompiler};
use passhost_protocol::{FrameError, MAX_FRAME, read_frame, write_frame};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Why the child ends without an answer.
#[derive(Debug, thiserror::Error)]
pub enum CompilerServeError {
    /// The supervisor is gone or sent something malformed.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The process could not be set up.
    #[error("cannot set up the compiler process: {0}")]
    Setup(#[from] rustix::io::Errno),
    /// The process still has rights that it must not have.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// Wrong arguments.
    #[error(
        "expected no argument, or `attempt` with a stage, an attempt and a target; only passhost starts this program"
    )]
    Arguments,
}

/// Serves the supervisor once.
///
/// # Errors
///
/// If the pipe breaks, a message is malformed, or the process cannot be confined.
pub fn serve() -> Result<(), CompilerServeError> {
    process::die_with_parent()?;
    // Messages leave by a descriptor of their own: what the compiler prints goes to standard error.
    // The descriptor is open until the process ends: once it is confined none is closed.
    let mut out = ManuallyDrop::new(File::from(rustix::io::dup(rustix::stdio::stdout())?));
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    let nvrtc = match load() {
        Ok(nvrtc) => nvrtc,
        Err(error) => return Ok(write_frame(&mut *out, &FromCompiler::Unusable(error.to_string()))?),
    };
    let profile = confinement::before_source()?;
    write_frame(&mut *out, &FromCompiler::Ready { identity: nvrtc.identity(), profile })?;
    let CompilerSource { text, capability } = match read_frame(&mut std::io::stdin().lock(), MAX_FRAME) {
        Err(FrameError::Closed) => return Ok(()),
        source => source?,
    };
    let made = nvrtc.compile(&text, capability).map(|cubin| cubin.0).map_err(|error| error.to_string());
    Ok(write_frame(&mut *out, &FromCompiler::Made(made))?)
}

/// The compiler, from beside the libtorch of the build or of the environment, from where CUDA is installed as a rule, or
/// from where the system finds libraries.
pub fn load() -> Result<Nvrtc, NvrtcError> {
    let of_environment = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> =
        std::env::split_paths(&of_environment).map(|path| beside_torch(&path)).collect();
    directories.extend(option_env!("PASSHOST_TORCH_LIBRARIES").map(|path| beside_torch(Path::new(path))));
    directories.push("/usr/local/cuda/lib64".into());
    directories.retain(|directory| directory.is_absolute() && directory.is_dir());
    Nvrtc::load(&directories)
}

/// Where the package of NVRTC lies beside the libraries of the package of PyTorch.
fn beside_torch(libraries: &Path) -> PathBuf {
    libraries.join("../../nvidia/cu13/lib")
}
