//! Verified graphs that run in this process.

use crate::library::{PythonOps, given, taken};
use crate::{engine_error, machine_code, opened};
use passhost_aoti::{Engine, Tensor};
use passhost_ir::{Graph, OpTable, verify_graph};
use passhost_runtime::{Compiler, Context, Engine as _, Gpu, Hints, Mode};
use pyo3::prelude::*;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

type Compiled = passhost_runtime::Program<Engine>;

/// What is compiled, by the address of the stream.
pub(crate) type Streams = Arc<Mutex<HashMap<usize, Compiled>>>;

/// A verified graph on the CPU, or on a GPU, where it is prepared for each stream that it is called on.
#[pyclass(frozen, module = "passhost._engine")]
pub(crate) struct Program {
    graph: Graph,
    device: Option<u32>,
    threads: usize,
    ops: Arc<PythonOps>,
    gpu: Option<(Arc<Gpu>, Arc<Compiler>)>,
    /// And for which process. Nobody waits while this is locked, and Python is locked meanwhile: a fork finds it free.
    compiled: Mutex<(u32, Streams)>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Program {
    #[new]
    fn new(py: Python<'_>, graph: &str, device: Option<u32>, threads: usize, prepare: Py<PyAny>) -> PyResult<Program> {
        let graph = Graph::parse(graph).map_err(engine_error)?;
        verify_graph(&graph, OpTable::all()).map_err(engine_error)?;
        let opened_gpu = |number| {
            let gpu = Gpu::open(number).map_err(engine_error)?;
            let capability = gpu.capability().map_err(engine_error)?;
            let compiler = machine_code::compiler(capability, &opened()?.nvrtc).map_err(engine_error)?;
            let texts = passhost_runtime::sources(&graph, &HashSet::new(), *gpu.properties(), false);
            Ok::<_, PyErr>((gpu, Arc::new(compiler.ahead(&texts))))
        };
        let gpu = py.detach(|| device.map(opened_gpu).transpose())?;
        let ops = Arc::new(PythonOps(prepare));
        let program = Program { graph, device, threads, ops, gpu, compiled: Mutex::default() };
        let streams = program.streams(py);
        py.detach(|| {
            let engine = program.engine()?;
            let stream = engine.stream().map_err(engine_error)?;
            let compiled = program.compile(engine)?;
            lock(&streams).insert(stream.0, compiled);
            Ok::<_, PyErr>(())
        })?;
        Ok(program)
    }

    /// Runs once: tensors of the types that the graph declares, in order. On a GPU the results are there when the stream gets
    /// there.
    fn run<'py>(&self, py: Python<'py>, inputs: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let inputs = taken(inputs)?;
        let streams = self.streams(py);
        let outputs = py.detach(move || self.run_taken(&streams, &inputs))?;
        given(py, &outputs.iter().collect::<Vec<_>>())
    }
}

impl Program {
    fn engine(&self) -> PyResult<Engine> {
        let torch = &opened()?.torch;
        Ok(match self.device {
            None => Engine::cpu(torch, self.threads, self.ops.clone()),
            Some(number) => Engine::gpu(torch, number, self.ops.clone()),
        })
    }

    fn compile(&self, engine: Engine) -> PyResult<Compiled> {
        let context = match &self.gpu {
            None => Context::cpu(engine),
            Some((gpu, compiler)) => {
                Context::gpu(gpu, compiler, |_| Ok::<_, passhost_runtime::Cause>(engine)).map_err(engine_error)?
            }
        };
        Compiled::compile(&self.graph, Mode::Declared, &Hints::default(), &Arc::new(context)).map_err(engine_error)
    }

    /// What this process compiled. What another thread ran during a fork is nobody's in the child.
    pub(crate) fn streams(&self, _: Python<'_>) -> Streams {
        let (mut compiled, process) = (lock(&self.compiled), std::process::id());
        if compiled.0 != process {
            compiled.0 = process;
            if matches!(compiled.1.try_lock(), Err(TryLockError::WouldBlock)) {
                std::mem::forget(std::mem::take(&mut compiled.1));
            }
        }
        compiled.1.clone()
    }

    /// Programs of one graph run one after the other: their runs share an arena.
    pub(crate) fn run_taken(&self, streams: &Streams, inputs: &[Tensor]) -> PyResult<Vec<Tensor>> {
        let engine = self.engine()?;
        let stream = engine.stream().map_err(engine_error)?.0;
        let mut all = lock(streams);
        let compiled = match all.entry(stream) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(self.compile(engine)?),
        };
        compiled.run(inputs).map_err(engine_error)
    }
}
