//! Where machine code comes from, as executors see it.

use super::nvrtc::{Cubin, Nvrtc, NvrtcError};
use std::fmt;
use std::path::PathBuf;

type Make = dyn Fn(&str) -> Result<Cubin, NvrtcError> + Send + Sync;

/// Makes machine code of sources for one GPU: with NVRTC in this process, or by asking somebody else.
pub struct Compiler(Box<Make>);

impl Compiler {
    /// NVRTC in this process, for a compute capability, major and minor. The library is looked for in `directories`, then
    /// where the system finds libraries.
    pub fn new(capability: (i32, i32), directories: &[PathBuf]) -> Result<Compiler, NvrtcError> {
        let nvrtc = Nvrtc::load(directories)?;
        Ok(Compiler::asking(move |source| nvrtc.compile(source, capability)))
    }

    /// Whoever answers `ask`: a cache, or another process. What comes back is executed.
    pub fn asking(ask: impl Fn(&str) -> Result<Cubin, NvrtcError> + Send + Sync + 'static) -> Compiler {
        Compiler(Box::new(ask))
    }

    /// Machine code of a source.
    pub fn compile(&self, source: &str) -> Result<Cubin, NvrtcError> {
        (self.0)(source)
    }
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compiler")
    }
}
