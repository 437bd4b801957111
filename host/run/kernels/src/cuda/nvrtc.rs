//! CUDA C++ to machine code, by NVIDIA's runtime compiler. It needs neither a GPU nor a driver.

use super::properties::DeviceProperties;
use cudarc::nvrtc::{result, sys};
use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Sources may use no contraction of their own: `a * b + c` rounds twice, as the kernel says.
const OPTIONS: [&str; 4] = ["--std=c++17", "--fmad=false", "--device-as-default-execution-space", "--dopt=on"];

/// Why source text did not become machine code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NvrtcError {
    /// The library is missing.
    #[error(
        "NVRTC of CUDA 13 was not found: {reason}; install the package nvidia-cuda-nvrtc beside PyTorch, or put \
         libnvrtc.so.13 on LD_LIBRARY_PATH"
    )]
    Missing {
        /// What was tried.
        reason: String,
    },
    /// The compiler refused its input: a bug of the emitter.
    #[error("NVRTC: {status}; this is a bug of passhost\n{log}")]
    Refused {
        /// The compiler's status.
        status: String,
        /// What it printed.
        log: String,
    },
    /// Whoever was asked in its place has no machine code.
    #[error("{reason}")]
    NotHad {
        /// What they said.
        reason: String,
    },
}

/// Machine code for one architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cubin(pub Vec<u8>);

/// The compiler, loaded into this process.
#[derive(Debug, Clone, Copy)]
pub struct Nvrtc {
    version: (i32, i32),
}

impl Nvrtc {
    /// Loads it, once in a process. The library is looked for in `directories`, then where the system finds libraries.
    pub fn load(directories: &[PathBuf]) -> Result<Nvrtc, NvrtcError> {
        load(directories)?;
        let (mut number, mut part) = (0, 0);
        // SAFETY: the library is loaded, and both pointers are those of integers.
        let status = unsafe { sys::nvrtcVersion(&raw mut number, &raw mut part) };
        status.result().map_err(|error| NvrtcError::Refused { status: error.to_string(), log: String::new() })?;
        Ok(Nvrtc { version: (number, part) })
    }

    /// Its version, major and minor.
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// What machine code depends on besides the source and the GPU: version and options.
    pub fn identity(&self) -> String {
        format!("NVRTC {}.{} {}", self.version.0, self.version.1, OPTIONS.join(" "))
    }

    /// Compiles a source for GPUs of a compute capability, major and minor.
    pub fn compile(&self, source: &str, capability: (i32, i32)) -> Result<Cubin, NvrtcError> {
        compile(source, format!("sm_{}", architecture(capability)))?.machine_code()
    }

    /// The text in the assembly language PTX that a source becomes on the way to machine code.
    pub fn assembly(&self, source: &str, capability: (i32, i32)) -> Result<String, NvrtcError> {
        compile(source, format!("compute_{}", architecture(capability)))?.assembly()
    }
}

/// A source that the compiler works on, freed with this.
struct Compilation {
    program: sys::nvrtcProgram,
    /// The source, which it may refer to.
    _text: CString,
}

impl Drop for Compilation {
    fn drop(&mut self) {
        // SAFETY: `create_program` made it, and nothing uses it any more. There is nothing to do about an error.
        let _ = unsafe { result::destroy_program(self.program) };
    }
}

impl Compilation {
    fn machine_code(&self) -> Result<Cubin, NvrtcError> {
        let mut size = 0;
        // SAFETY: the program lives; the size is that of the code, for which the vector has room.
        unsafe {
            sys::nvrtcGetCUBINSize(self.program, &raw mut size)
                .result()
                .map_err(|error| refused(error, String::new()))?;
            let mut code = vec![0u8; size];
            let status = sys::nvrtcGetCUBIN(self.program, code.as_mut_ptr().cast());
            status.result().map_err(|error| refused(error, String::new()))?;
            Ok(Cubin(code))
        }
    }

    fn assembly(&self) -> Result<String, NvrtcError> {
        // SAFETY: the program lives.
        let text = unsafe { result::get_ptx(self.program) }.map_err(|error| refused(error, String::new()))?;
        Ok(printed(text))
    }
}

/// What the library wrote, up to its end.
fn printed(text: Vec<c_char>) -> String {
    let text: Vec<u8> = text.into_iter().map(|byte| byte as u8).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&text).into_owned()
}

fn refused(error: result::NvrtcError, log: String) -> NvrtcError {
    NvrtcError::Refused { status: error.to_string(), log }
}

/// What NVRTC calls GPUs of a compute capability, with the instructions that only these have where kernels use them.
fn architecture((major, minor): (i32, i32)) -> String {
    format!("{major}{minor}{}", if DeviceProperties::warpgroup_shared_bytes_of((major, minor)) > 0 { "a" } else { "" })
}

/// Compiles a source for a real or virtual architecture.
fn compile(source: &str, architecture: String) -> Result<Compilation, NvrtcError> {
    let mut options = OPTIONS.map(str::to_owned).to_vec();
    options.push(format!("--gpu-architecture={architecture}"));
    let text = CString::new(source)
        .map_err(|_| NvrtcError::Refused { status: "the source holds a zero byte".into(), log: String::new() })?;
    let program = result::create_program(&text, None).map_err(|error| refused(error, String::new()))?;
    let compilation = Compilation { program, _text: text };
    // SAFETY: the program lives, and so does its source.
    if let Err(error) = unsafe { result::compile_program(program, &options) } {
        // SAFETY: as above.
        let log = unsafe { result::get_program_log(program) }.unwrap_or_default();
        return Err(refused(error, printed(log)));
    }
    Ok(compilation)
}

/// Loads the library for the rest of the process, once.
fn load(directories: &[PathBuf]) -> Result<(), NvrtcError> {
    static LOADED: OnceLock<Result<(), NvrtcError>> = OnceLock::new();
    LOADED.get_or_init(|| load_from(directories)).clone()
}

fn load_from(directories: &[PathBuf]) -> Result<(), NvrtcError> {
    let mut tried = vec![];
    let mut places: Vec<PathBuf> = directories.to_vec();
    places.push(PathBuf::new());
    for place in &places {
        // The compiler looks for its built-in functions by name: they have to be there already.
        for builtins in builtins_in(place) {
            let _ = open(&builtins);
        }
        match open(&place.join("libnvrtc.so.13")) {
            Ok(()) => return Ok(()),
            Err(reason) => tried.push(reason),
        }
    }
    Err(NvrtcError::Missing { reason: tried.join("; ") })
}

fn builtins_in(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return vec![] };
    let is_builtins = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libnvrtc-builtins.so.13"))
    };
    entries.flatten().map(|entry| entry.path()).filter(is_builtins).collect()
}

/// Opens a library for everyone, and for good.
fn open(path: &Path) -> Result<(), String> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: NVIDIA's libraries run nothing on loading that asks anything of their users.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
    let library = library.map_err(|error| {
        // The loader's own words are one level down, and name the file.
        std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string)
    })?;
    std::mem::forget(library);
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_named_with_a_way_out() {
        let error = load_from(&[PathBuf::from("/nowhere")]).err();
        // The system may have one.
        if let Some(error) = error {
            let text = error.to_string();
            assert!(text.contains("/nowhere/libnvrtc.so.13") && text.contains("LD_LIBRARY_PATH"), "{text}");
        }
    }
}
