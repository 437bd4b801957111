//! `passhost._engine`: what `torch.compile(model, backend="passhost")` needs of the host. A pass runs in the guest child, its
//! rewrite is verified, and the verified graph runs here, in the user's process, on PyTorch's own tensors. Stubs with types:
//! `python/passhost/_engine.pyi`.

mod convert;
mod entry;
mod library;
mod machine_code;
mod pass;
mod program;
mod rewrite;

use passhost_aoti::PyTorch;
use passhost_ir::OpTable;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pyo3::create_exception!(_engine, PassError, PyException, "A pass that gave no rewrite that may run.");
pyo3::create_exception!(_engine, EngineError, PyException, "What is no pass's doing.");

/// PyTorch's functions and version, and directories with NVRTC. They are the process's: there is one PyTorch in it.
static OPENED: OnceLock<Opened> = OnceLock::new();

struct Opened {
    torch: PyTorch,
    nvrtc: Vec<PathBuf>,
    version: String,
}

fn opened() -> PyResult<&'static Opened> {
    OPENED.get().ok_or_else(|| EngineError::new_err("`open` was not called"))
}

fn engine_error(error: impl std::fmt::Display) -> PyErr {
    EngineError::new_err(error.to_string())
}

/// Finds the functions of a version of PyTorch in libraries that are loaded. `programs` is the directory of `passhost-guest`.
#[pyfunction]
#[pyo3(signature = (version, libtorch_cpu, libtorch_cuda, programs = None))]
fn open(
    version: String,
    libtorch_cpu: PathBuf,
    libtorch_cuda: Option<PathBuf>,
    programs: Option<PathBuf>,
) -> PyResult<()> {
    if OPENED.get().is_none() {
        let torch = PyTorch::open(&libtorch_cpu, libtorch_cuda.as_deref()).map_err(engine_error)?;
        let _ = OPENED.set(Opened { torch, nvrtc: nvrtc_directories(&libtorch_cpu), version });
    }
    let from_environment = || std::env::var_os("PASSHOST_PROGRAMS").map(PathBuf::from);
    if let Some(programs) = from_environment().or(programs) {
        passhost_child::set_programs(programs);
    }
    Ok(())
}

/// Where pip puts NVRTC for a PyTorch whose libraries lie in `torch/lib`.
fn nvrtc_directories(libtorch_cpu: &Path) -> Vec<PathBuf> {
    let Some(packages) = libtorch_cpu.ancestors().nth(3) else { return vec![] };
    ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "torch/lib"].map(|place| packages.join(place)).into()
}

/// The schemas of the ops that a graph may have: in a training step there are more.
#[pyfunction]
fn ops(training: bool) -> Vec<String> {
    let table = if training { OpTable::all() } else { OpTable::sample() };
    table.iter().filter(|schema| !schema.is_in_place()).map(|schema| schema.to_string()).collect()
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(open, module)?)?;
    module.add_function(wrap_pyfunction!(ops, module)?)?;
    module.add_class::<pass::Pass>()?;
    module.add_class::<rewrite::Rewrite>()?;
    module.add_function(wrap_pyfunction!(rewrite::verify, module)?)?;
    module.add_class::<program::Program>()?;
    module.add_class::<entry::Entry>()?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("PassError", module.py().get_type::<PassError>())?;
    module.add("EngineError", module.py().get_type::<EngineError>())
}
