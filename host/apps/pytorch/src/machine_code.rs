//! Machine code of kernels, made in this process and kept in the cache of the user's programs.

use passhost_cache::user;
use passhost_child::machine_code::kept_or_made;
use passhost_kernels::cuda::{Compiler, Cubin, Nvrtc, NvrtcError};
use passhost_protocol::compiler::CompilerSource;
use std::path::PathBuf;

/// NVRTC for a compute capability, from `directories`, asked for what the cache does not have.
pub(crate) fn compiler(capability: (i32, i32), directories: &[PathBuf]) -> Result<Compiler, NvrtcError> {
    let nvrtc = Nvrtc::load(directories)?;
    let (cache, identity) = (user::open(user::KERNELS).ok(), nvrtc.identity());
    Ok(Compiler::asking(move |text| {
        let source = CompilerSource { text: text.into(), capability };
        let make = || nvrtc.compile(text, capability).map(|made| made.0);
        kept_or_made(cache.as_ref(), &source, &identity, make).map(Cubin)
    }))
}
