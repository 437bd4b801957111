//! Ops that Python calls, and tensors on their way to it and back.

use crate::{EngineError, convert, opened};
use passhost_aoti::{Handle, LibraryCall, LibraryOps, Tensor};
use passhost_ir::{Arg, OpName};
use passhost_runtime::Cause;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use std::ptr::null;

/// PyTorch's functions that make handles of tensors, and tensors of handles.
static FROM_TENSORS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TO_TENSORS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn function<'py>(
    cell: &'static PyOnceLock<Py<PyAny>>,
    py: Python<'py>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let find = || Ok::<_, PyErr>(py.import("torch._C._aoti")?.getattr(name)?.unbind());
    Ok(cell.get_or_try_init(py, find)?.bind(py))
}

/// Tensors of Python, with handles of their own.
pub(crate) fn taken(tensors: &Bound<'_, PyAny>) -> PyResult<Vec<Tensor>> {
    let torch = &opened()?.torch;
    let capsules = function(&FROM_TENSORS, tensors.py(), "unsafe_alloc_void_ptrs_from_tensors")?.call1((tensors,))?;
    let mut taken = vec![];
    let mut refused = None;
    // All are taken over, though one is refused, so that each is freed.
    for capsule in capsules.try_iter()? {
        // SAFETY: the function gives capsules without a name, each with a new handle.
        let handle = unsafe { ffi::PyCapsule_GetPointer(capsule?.as_ptr(), null()) };
        if handle.is_null() {
            return Err(PyErr::fetch(tensors.py()));
        }
        // SAFETY: as above: the handle is live, and nobody else's.
        match unsafe { Tensor::take(torch, handle) } {
            Ok(tensor) => taken.push(tensor),
            Err(error) => refused = Some(error),
        }
    }
    refused.map_or(Ok(taken), |error| Err(EngineError::new_err(error.to_string())))
}

/// The same tensors in Python.
pub(crate) fn given<'py>(py: Python<'py>, tensors: &[&Tensor]) -> PyResult<Bound<'py, PyAny>> {
    let capsules = PyList::empty(py);
    for tensor in tensors {
        let handle: Handle = tensor.share().map_err(|error| EngineError::new_err(error.to_string()))?;
        // SAFETY: the pointer is not null. The function below takes the handle over.
        let capsule = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(handle, null(), None)) }?;
        capsules.append(capsule)?;
    }
    function(&TO_TENSORS, py, "alloc_tensors_by_stealing_from_void_ptrs")?.call1((capsules,))
}

/// Ops as `torch.ops` calls them, looked up by a function of Python.
pub(crate) struct PythonOps(pub(crate) Py<PyAny>);

impl LibraryOps for PythonOps {
    fn prepare(&self, op: &OpName, args: &[Arg]) -> Result<LibraryCall, Cause> {
        let prepared = Python::attach(|py| {
            let name = op.name.trim_start_matches("aten::");
            let called = self.0.bind(py).call1((name, &op.overload, convert::arguments(py, args)?))?;
            Ok::<_, PyErr>(called.unbind())
        });
        let prepared = prepared.map_err(failed)?;
        Ok(Box::new(move |tensors| {
            let call = |py: Python<'_>| taken(&prepared.bind(py).call1((given(py, tensors)?,))?);
            Python::attach(call).map_err(failed)
        }))
    }
}

fn failed(error: PyErr) -> Cause {
    let message = error.to_string();
    if message.contains("out of memory") { Cause::OutOfMemory(message) } else { Cause::Failed(message) }
}
