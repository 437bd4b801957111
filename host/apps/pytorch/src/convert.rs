//! Arguments and types as Python has them.

use crate::engine_error;
use passhost_ir::{Arg, Dtype, MemoryFormat, TensorType, ValueId};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};

/// A type as `(dtype, shape, strides)`.
type PyTensorType = (String, Vec<i64>, Vec<i64>);

pub(crate) fn tensor_type((dtype, shape, strides): PyTensorType) -> PyResult<TensorType> {
    let dtype: Dtype = dtype.parse().map_err(engine_error)?;
    let ty = TensorType { dtype, shape, strides };
    ty.check().map_err(engine_error)?;
    Ok(ty)
}

/// What stands for a tensor among arguments.
pub(crate) trait Operand: Sized {
    /// What stands for one.
    fn one<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
    /// What stands for a list.
    fn many<'py>(py: Python<'py>, all: &[Self]) -> PyResult<Bound<'py, PyAny>>;
    /// What stands for one of a list with gaps.
    fn among<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
    /// What stands for a gap.
    fn gap(py: Python<'_>) -> Bound<'_, PyAny>;
}

/// A place, for somebody who brings the tensor.
impl Operand for ValueId {
    fn one<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        ("tensor",).into_bound_py_any(py)
    }

    fn many<'py>(py: Python<'py>, all: &[ValueId]) -> PyResult<Bound<'py, PyAny>> {
        ("tensors", all.len()).into_bound_py_any(py)
    }

    fn among<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        true.into_bound_py_any(py)
    }

    fn gap(py: Python<'_>) -> Bound<'_, PyAny> {
        PyBool::new(py, false).to_owned().into_any()
    }
}

impl Operand for TensorType {
    fn one<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        ("tensor", self.among(py)?).into_bound_py_any(py)
    }

    fn many<'py>(py: Python<'py>, all: &[TensorType]) -> PyResult<Bound<'py, PyAny>> {
        ("tensors", all.iter().map(|ty| ty.among(py)).collect::<PyResult<Vec<_>>>()?).into_bound_py_any(py)
    }

    fn among<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dims = (PyTuple::new(py, &self.shape)?, PyTuple::new(py, &self.strides)?);
        (self.dtype.to_string(), dims.0, dims.1).into_bound_py_any(py)
    }

    fn gap(py: Python<'_>) -> Bound<'_, PyAny> {
        py.None().into_bound(py)
    }
}

/// Arguments in schema order.
pub(crate) fn arguments<'py, V: Operand>(py: Python<'py>, args: &[Arg<V>]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, args.iter().map(|arg| argument(py, arg)).collect::<PyResult<Vec<_>>>()?)
}

fn argument<'py, V: Operand>(py: Python<'py>, arg: &Arg<V>) -> PyResult<Bound<'py, PyAny>> {
    match arg {
        Arg::None => Ok(py.None().into_bound(py)),
        Arg::Bool(value) => value.into_bound_py_any(py),
        Arg::Int(value) => value.into_bound_py_any(py),
        Arg::Float(value) => value.into_bound_py_any(py),
        Arg::Str(value) => value.into_bound_py_any(py),
        Arg::Dtype(dtype) => ("dtype", dtype.to_string()).into_bound_py_any(py),
        Arg::MemoryFormat(format) => ("memory_format", format_name(*format)).into_bound_py_any(py),
        Arg::Strided => ("strided",).into_bound_py_any(py),
        Arg::Device => ("device",).into_bound_py_any(py),
        Arg::Ints(values) => values.into_bound_py_any(py),
        Arg::Floats(values) => values.into_bound_py_any(py),
        Arg::Bools(values) => values.into_bound_py_any(py),
        Arg::Value(value) => value.one(py),
        Arg::Values(values) => V::many(py, values),
        Arg::OptionalValues(values) => {
            let or_gap = |value: &Option<V>| value.as_ref().map_or_else(|| Ok(V::gap(py)), |value| value.among(py));
            ("optional_tensors", values.iter().map(or_gap).collect::<PyResult<Vec<_>>>()?).into_bound_py_any(py)
        }
    }
}

/// As `torch` calls it.
fn format_name(format: MemoryFormat) -> &'static str {
    match format {
        MemoryFormat::Contiguous => "contiguous_format",
        MemoryFormat::Preserve => "preserve_format",
        MemoryFormat::ChannelsLast => "channels_last",
        MemoryFormat::ChannelsLast3d => "channels_last_3d",
    }
}
