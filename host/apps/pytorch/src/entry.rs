//! Compiled models that are called without Dynamo: inputs are checked, and run beside bound tensors.

use crate::library::{given, taken};
use crate::program::Program;
use crate::{convert, opened};
use passhost_aoti::Tensor;
use passhost_ir::TensorType;
use passhost_result::untrusted::one_line;
use passhost_runtime::EngineTensor;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Characters of a name or a value in a message.
const NAME: usize = 80;

/// What a value must be.
enum Expected {
    Tensor { ty: TensorType, gpu: Option<u32> },
    Constant(Py<PyAny>),
}

/// An argument or a bound tensor: its name in messages, and what it must be.
struct Slot {
    name: String,
    expected: Expected,
}

/// One result.
enum Source {
    /// Of the program, by position.
    Program(usize),
    Constant(Py<PyAny>),
}

/// What runs after the check.
enum Action {
    Program {
        program: Py<Program>,
        /// For each input of the program, its place among all tensors: the bound ones, then those of the call.
        order: Vec<usize>,
        results: Vec<Source>,
        is_single: bool,
        /// Runs in place of the program, if that cannot run this time.
        instead: Py<PyAny>,
    },
    /// A function of Python that takes a list of all tensors.
    Function(Py<PyAny>),
}

/// Checks its arguments, puts those that are tensors beside the bound ones, and runs a program or a function with all.
#[pyclass(frozen, module = "passhost._engine")]
pub(crate) struct Entry {
    bound: Vec<(Slot, Py<PyAny>)>,
    /// Of the bound tensors.
    handles: Mutex<Vec<Tensor>>,
    inputs: Vec<Slot>,
    action: Action,
}

#[pymethods]
impl Entry {
    /// `bound` has names, types and tensors, `inputs` names and types. A type is `("tensor", type, GPU or None)` or
    /// `("constant", value)`. `run` is a function that takes all tensors in a list, or a program: then `order` says which
    /// tensors are its inputs, `results` where each result comes from, `is_single` whether there is one and no tuple, and
    /// `instead` takes an error and the inputs of the program that raised it.
    #[new]
    #[pyo3(signature = (bound, inputs, run, order = vec![], results = vec![], is_single = false, instead = None))]
    fn new(
        bound: Vec<(String, Bound<'_, PyTuple>, Bound<'_, PyAny>)>,
        inputs: Vec<(String, Bound<'_, PyTuple>)>,
        run: Bound<'_, PyAny>,
        order: Vec<usize>,
        results: Vec<(String, Bound<'_, PyAny>)>,
        is_single: bool,
        instead: Option<Py<PyAny>>,
    ) -> PyResult<Entry> {
        let inputs = inputs.into_iter().map(|(name, expected)| slot(name, &expected)).collect::<PyResult<Vec<_>>>()?;
        let tensors = PyList::new(run.py(), bound.iter().map(|(_, _, tensor)| tensor))?;
        let handles = Mutex::new(taken(&tensors)?);
        let bound = bound.into_iter().map(|(name, expected, tensor)| Ok((slot(name, &expected)?, tensor.unbind())));
        let bound = bound.collect::<PyResult<Vec<_>>>()?;
        let count = bound.len() + inputs.iter().filter(|slot| matches!(slot.expected, Expected::Tensor { .. })).count();
        let action = match (run.cast::<Program>(), instead) {
            (Ok(program), Some(instead)) => {
                if order.iter().any(|place| *place >= count) {
                    return Err(PyValueError::new_err("an input of the program is none of the tensors"));
                }
                let results = results.into_iter().map(source).collect::<PyResult<Vec<_>>>()?;
                Action::Program { program: program.clone().unbind(), order, results, is_single, instead }
            }
            (Ok(_), None) => return Err(PyTypeError::new_err("a program needs `instead`")),
            (Err(_), _) => Action::Function(run.unbind()),
        };
        Ok(Entry { bound, handles, inputs, action })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let constant = |slot: &Slot| match &slot.expected {
            Expected::Constant(value) => visit.call(value),
            Expected::Tensor { .. } => Ok(()),
        };
        self.inputs.iter().try_for_each(constant)?;
        self.bound.iter().try_for_each(|(_, tensor)| visit.call(tensor))?;
        match &self.action {
            Action::Function(function) => visit.call(function),
            Action::Program { instead, .. } => visit.call(instead),
        }
    }

    /// Runs once.
    #[pyo3(signature = (*values))]
    fn __call__<'py>(&self, py: Python<'py>, values: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let tensors = self.checked(py, values)?;
        match &self.action {
            Action::Function(function) => {
                let all = PyList::new(py, self.bound.iter().map(|(_, tensor)| tensor.bind(py)))?;
                for (value, slot) in values.iter().zip(&self.inputs) {
                    if matches!(slot.expected, Expected::Tensor { .. }) {
                        all.append(value)?;
                    }
                }
                function.bind(py).call1((all,))
            }
            Action::Program { program, order, results, is_single, instead } => {
                let in_order = order.iter().copied().eq(0..tensors.len());
                let inputs =
                    if in_order { tensors } else { order.iter().map(|place| tensors[*place].clone()).collect() };
                let (program, streams) = (program.get(), program.get().streams(py));
                let run = move || program.run_taken(&streams, &inputs).map_err(|error| (error, inputs));
                let outputs = match py.detach(run) {
                    Ok(outputs) => given(py, &outputs.iter().collect::<Vec<_>>())?,
                    Err((error, inputs)) => {
                        let inputs = given(py, &inputs.iter().collect::<Vec<_>>())?;
                        instead.bind(py).call1((error.to_string(), inputs))?
                    }
                };
                let mut arranged = results.iter().map(|source| match source {
                    Source::Program(place) => outputs.get_item(place),
                    Source::Constant(value) => Ok(value.bind(py).clone()),
                });
                match (is_single, arranged.next()) {
                    (true, Some(result)) => result,
                    (_, first) => {
                        Ok(PyTuple::new(py, first.into_iter().chain(arranged).collect::<PyResult<Vec<_>>>()?)?
                            .into_any())
                    }
                }
            }
        }
    }
}

impl Entry {
    /// All tensors, as they are now.
    fn checked(&self, py: Python<'_>, values: &Bound<'_, PyTuple>) -> PyResult<Vec<Tensor>> {
        static AUTOCAST: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let torch = &opened()?.torch;
        if AUTOCAST.import(py, "torch._C", "_is_any_autocast_enabled")?.call0()?.is_truthy()? {
            return Err(mismatch(py, "autocast is on, and was not when the model was compiled".into()));
        }
        if values.len() != self.inputs.len() {
            let message = format!("{} inputs, compiled for {}", values.len(), self.inputs.len());
            return Err(mismatch(py, message));
        }
        let is_recorded = torch.grad_is_enabled();
        let operands = PyList::empty(py);
        for (position, (value, slot)) in values.iter().zip(&self.inputs).enumerate() {
            let fits = match &slot.expected {
                Expected::Tensor { .. } => is_plain_tensor(&value)?,
                Expected::Constant(constant) => is_same(&value, constant.bind(py))?,
            };
            if !fits {
                return Err(slot.other(py, Some(position), &described(&value)));
            }
            if matches!(slot.expected, Expected::Tensor { .. }) {
                if is_recorded && value.getattr("requires_grad")?.is_truthy()? {
                    let name = one_line(&slot.name, NAME);
                    let way_out = "the model was compiled for inference: call it under torch.no_grad()";
                    return Err(mismatch(py, format!("input {position}, `{name}`, needs a gradient; {way_out}")));
                }
                operands.append(value)?;
            }
        }
        let mut tensors = Vec::with_capacity(self.bound.len() + operands.len());
        // Errors are made once nothing is locked: they run Python, which may wait for another call.
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.bound.iter().zip(&mut *handles).map(|((slot, _), handle)| {
            // Its memory, type or device may be another than it was.
            let refreshed = handle.refresh().map_err(|error| error.to_string());
            refreshed.and_then(|()| if slot.fits(handle) { Ok(handle.clone()) } else { Err(type_text(handle)) })
        });
        let found: Vec<Result<Tensor, String>> = found.collect();
        drop(handles);
        for ((slot, _), found) in self.bound.iter().zip(found) {
            tensors.push(found.map_err(|found| slot.other(py, None, &found))?);
        }
        let is_tensor = |slot: &&Slot| matches!(slot.expected, Expected::Tensor { .. });
        let slots = self.inputs.iter().enumerate().filter(|(_, slot)| is_tensor(slot));
        for ((position, slot), tensor) in slots.zip(taken(&operands).map_err(|error| self.unknown(py, values, error))?)
        {
            if !slot.fits(&tensor) {
                return Err(slot.other(py, Some(position), &type_text(&tensor)));
            }
            tensors.push(tensor);
        }
        Ok(tensors)
    }

    /// The error of the first input that is a tensor and cannot be taken.
    fn unknown(&self, py: Python<'_>, values: &Bound<'_, PyTuple>, error: PyErr) -> PyErr {
        for (position, (value, slot)) in values.iter().zip(&self.inputs).enumerate() {
            let alone = PyList::new(py, [&value]).and_then(|alone| taken(&alone));
            if matches!((&slot.expected, alone), (Expected::Tensor { .. }, Err(_))) {
                return slot.other(py, Some(position), &error.value(py).to_string());
            }
        }
        error
    }
}

impl Slot {
    fn fits(&self, tensor: &Tensor) -> bool {
        match &self.expected {
            Expected::Tensor { ty, gpu } => *gpu == tensor.gpu_index() && tensor.address_if(ty).is_some(),
            Expected::Constant(_) => false,
        }
    }

    /// The error that it is something else.
    fn other(&self, py: Python<'_>, position: Option<usize>, found: &str) -> PyErr {
        let expected = match &self.expected {
            Expected::Tensor { ty, gpu } => Placed(ty, *gpu).to_string(),
            Expected::Constant(value) => described(value.bind(py)),
        };
        let what = position.map_or_else(|| "weight".into(), |position| format!("input {position},"));
        mismatch(
            py,
            format!("{what} `{}`, is {found}; the model was compiled for {expected}", one_line(&self.name, NAME)),
        )
    }
}

/// A type and where its tensor lies.
struct Placed<'a>(&'a TensorType, Option<u32>);

impl fmt::Display for Placed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            None => write!(f, "{} on the CPU", self.0),
            Some(number) => write!(f, "{} on GPU {number}", self.0),
        }
    }
}

fn type_text(tensor: &Tensor) -> String {
    Placed(&tensor.ty(), tensor.gpu_index()).to_string()
}

fn slot(name: String, expected: &Bound<'_, PyTuple>) -> PyResult<Slot> {
    let kind: String = expected.get_item(0)?.extract()?;
    let expected = match kind.as_str() {
        "tensor" => {
            let ty = convert::tensor_type(expected.get_item(1)?.extract()?)?;
            Expected::Tensor { ty, gpu: expected.get_item(2)?.extract()? }
        }
        "constant" => Expected::Constant(expected.get_item(1)?.unbind()),
        _ => return Err(PyValueError::new_err(format!("no kind of value: {kind}"))),
    };
    Ok(Slot { name, expected })
}

fn source((kind, value): (String, Bound<'_, PyAny>)) -> PyResult<Source> {
    match kind.as_str() {
        "result" => Ok(Source::Program(value.extract()?)),
        "constant" => Ok(Source::Constant(value.unbind())),
        _ => Err(PyValueError::new_err(format!("no kind of result: {kind}"))),
    }
}

fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, module, name)
}

/// Whether a value is a tensor, of no class of somebody's, whose elements are those in its memory. PyTorch's functions that
/// read it write on standard error if it has none.
fn is_plain_tensor(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static TENSOR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static PARAMETER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (py, kind) = (value.py(), value.get_type());
    let is_tensor =
        kind.is(class(py, &TENSOR, "torch", "Tensor")?) || kind.is(class(py, &PARAMETER, "torch.nn", "Parameter")?);
    Ok(is_tensor && unusual(value)?.is_none())
}

/// Whether both are of one type and equal.
fn is_same(value: &Bound<'_, PyAny>, expected: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.is(expected) || value.get_type().is(expected.get_type()) && value.eq(expected)?)
}

/// What a tensor is, if its elements are not those in its memory.
fn unusual(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    static STRIDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if value.getattr("is_nested")?.is_truthy()? {
        return Ok(Some("a nested tensor".into()));
    }
    let layout = value.getattr("layout")?;
    if !layout.is(STRIDED.import(value.py(), "torch", "strided")?) {
        return Ok(Some(format!("a tensor of layout {}", one_line(&layout.to_string(), NAME))));
    }
    Ok(value.call_method0("is_neg")?.is_truthy()?.then(|| "a negated view".into()))
}

/// A value in a message.
fn described(value: &Bound<'_, PyAny>) -> String {
    let kind = value.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    match kind.as_str() {
        "int" | "float" | "bool" | "str" | "NoneType" => {
            value.repr().map_or_else(|_| kind, |repr| one_line(&repr.to_string_lossy(), NAME))
        }
        "Tensor" | "Parameter" => unusual(value).ok().flatten().unwrap_or_else(|| format!("of type {kind}")),
        _ => format!("of type {}", one_line(&kind, NAME)),
    }
}

/// The error of inputs that the model was not compiled for.
fn mismatch(py: Python<'_>, message: String) -> PyErr {
    static ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let made = class(py, &ERROR, "passhost.errors", "InputMismatch").and_then(|error| error.call1((message,)));
    made.map_or_else(|error| error, PyErr::from_value)
}
