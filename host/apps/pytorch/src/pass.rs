//! Passes, and what they make of graphs.

use crate::{PassError, convert, engine_error};
use passhost_child::guest::GuestError;
use passhost_child::{Confinement, LoadedPlugin, Plugin, guest_failure};
use passhost_ir::verify::{check_counts, check_own_calls, verify_rewrite};
use passhost_ir::{Arg, DeviceFacts, Graph, Infer, InferError, NodeKind, OpName, OpTable, TensorType, verify_graph};
use passhost_policy::{Inserted, Policy};
use passhost_protocol::encode;
use passhost_protocol::guest::GuestRewrite;
use passhost_result::GuestLimits;
use passhost_result::document::{Failure, inserts_calls};
use passhost_result::untrusted::one_line;
use passhost_runtime::{Gpu, cpu_facts};
use pyo3::prelude::*;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A pass, loaded in a child of its own.
#[pyclass(frozen, module = "passhost._engine")]
pub(crate) struct Pass {
    plugin: Mutex<LoadedPlugin>,
    policy: Policy,
    limits: GuestLimits,
    /// What the pass says it is called.
    #[pyo3(get)]
    name: String,
}

/// A verified rewrite.
#[pyclass(frozen, get_all, module = "passhost._engine")]
pub(crate) struct Rewrite {
    /// As text.
    graph: String,
    kernels: usize,
    /// Whether anything that counts is other than it was.
    changed: bool,
    /// Why the pass left nodes alone.
    refusals: Vec<String>,
}

/// Characters of a name, and of a reason or an error, that Python gets.
const NAME: usize = 80;
const TEXT: usize = 600;

/// An error in words of which some may be the pass's: fit for a terminal.
fn pass_error(text: &str) -> PyErr {
    PassError::new_err(one_line(text, TEXT))
}

fn refused(failure: &Failure) -> PyErr {
    pass_error(&format!("{}; {}", failure.message, failure.hint))
}

#[pymethods]
impl Pass {
    #[new]
    #[pyo3(signature = (path, policy = "open"))]
    fn new(py: Python<'_>, path: PathBuf, policy: &str) -> PyResult<Pass> {
        let policy = Policy::built_in(policy).map_err(engine_error)?;
        let limits = GuestLimits::default();
        let plugin = Plugin::read(&path, limits.wasm).map_err(engine_error)?;
        let load = || LoadedPlugin::load(plugin, limits, None, Confinement::default());
        let mut plugin = py.detach(load);
        plugin.guest().map_err(refused)?;
        let name = plugin.info().map_or_else(|| "?".into(), |info| one_line(&info.name, NAME));
        Ok(Pass { plugin: Mutex::new(plugin), policy, limits, name })
    }

    /// What the pass makes of a graph in text form for a GPU, or for a CPU where `device` is None, where kernels run on
    /// `threads` threads. `types` says what ops return.
    #[pyo3(signature = (graph, device, types, threads = 1))]
    fn rewrite(
        &self,
        py: Python<'_>,
        graph: &str,
        device: Option<u32>,
        types: Py<PyAny>,
        threads: u32,
    ) -> PyResult<Rewrite> {
        let graph = Graph::parse(graph).map_err(engine_error)?;
        verify_graph(&graph, OpTable::sample()).map_err(engine_error)?;
        py.detach(|| {
            let facts = match device {
                None => cpu_facts(threads),
                Some(number) => Gpu::open(number).and_then(|gpu| gpu.facts()).map_err(engine_error)?,
            };
            let left = Duration::from_millis(self.limits.answers_ms);
            self.verified(&graph, facts, &mut PythonTypes { ask: types, left })
        })
    }
}

impl Pass {
    /// Runs the pass twice and verifies what it returned.
    fn verified(&self, graph: &Graph, facts: DeviceFacts, infer: &mut PythonTypes) -> PyResult<Rewrite> {
        let mut plugin = self.plugin.lock().unwrap_or_else(PoisonError::into_inner);
        let first = self.run(&mut plugin, graph, facts, infer)?;
        let second = self.run(&mut plugin, graph, facts, infer)?;
        drop(plugin);
        let wrong = |what: &dyn Display| pass_error(&format!("the pass `{}`: {what}", self.name));
        if !matches!((encode(&first), encode(&second)), (Ok(first), Ok(second)) if first == second) {
            return Err(wrong(&"two runs on the same graph gave different rewrites"));
        }
        let summary = verify_rewrite(graph, &first.graph, OpTable::insert(), infer).map_err(|error| wrong(&error))?;
        if self.policy.rules().inserted != Inserted::Listed {
            check_own_calls(graph, &first.graph).map_err(|error| wrong(&error))?;
        }
        let is_kernel = |kind: &NodeKind| matches!(kind, NodeKind::Kernel { .. });
        Ok(Rewrite {
            graph: first.graph.to_string(),
            kernels: first.graph.nodes.iter().filter(|node| is_kernel(&node.kind)).count(),
            changed: !summary.pass_miss,
            refusals: first.refusals.into_iter().map(|refusal| one_line(&refusal.reason, TEXT)).collect(),
        })
    }

    /// One run. A child that dies is replaced once: a pass that kills it twice has done it itself.
    fn run(
        &self,
        plugin: &mut LoadedPlugin,
        graph: &Graph,
        facts: DeviceFacts,
        infer: &mut PythonTypes,
    ) -> PyResult<GuestRewrite> {
        // Questions that a pass may ask: ten for each node on top of the limit.
        let calls = 10 * graph.nodes.len() as u64 + self.limits.infer_calls;
        let inserts = inserts_calls(&self.policy);
        let mut once = |plugin: &mut LoadedPlugin| match plugin.guest() {
            Ok(guest) => guest.run(graph, facts, inserts, calls, infer),
            Err(failure) => {
                Err(GuestError::Plugin(passhost_protocol::guest::GuestFailure::Host(failure.message.clone())))
            }
        };
        let answer = match once(plugin) {
            Err(GuestError::Child(_)) => {
                plugin.reload(self.limits, None);
                once(plugin)
            }
            answer => answer,
        };
        let refused = |error| {
            let Failure { message, hint, .. } = guest_failure("rewrite", error);
            pass_error(&format!("the pass `{}`: {message}; {hint}", self.name))
        };
        let rewrite = match answer {
            Ok((rewrite, _)) => rewrite.map_err(|failure| refused(GuestError::Plugin(failure)))?,
            Err(error) => {
                // Whatever state the child is in, the next graph gets a fresh one.
                plugin.reload(self.limits, None);
                return Err(refused(error));
            }
        };
        let mut rewrite = rewrite;
        rewrite.bound_refusals();
        check_counts(graph, &rewrite.graph)
            .map_err(|error| pass_error(&format!("the pass `{}`: {error}", self.name)))?;
        Ok(rewrite)
    }
}

/// Tensors and numbers in one question about types, at most.
const OPERANDS: u64 = 10_000;

/// Types that a function of Python knows, as long as there is time for answers.
struct PythonTypes {
    ask: Py<PyAny>,
    left: Duration,
}

impl Infer for PythonTypes {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        let Some(schema) = OpTable::sample().get(op) else { return Err(InferError::NotAllowed(op.to_string())) };
        let refused = |message: String| InferError::Refused { op: op.to_string(), message };
        let operands: u64 = args.iter().map(Arg::size).sum();
        if operands > OPERANDS {
            return Err(refused(format!("{operands} operands and numbers; at most {OPERANDS} are answered")));
        }
        if self.left.is_zero() {
            return Err(InferError::Unavailable("the time for answers is used up".into()));
        }
        schema.check_args(args).map_err(|error| refused(error.to_string()))?;
        let asked = Instant::now();
        let ask = |py: Python<'_>| {
            let name = op.name.trim_start_matches("aten::");
            let answer = self.ask.bind(py).call1((name, &op.overload, convert::arguments(py, args)?))?;
            let types: Vec<(String, Vec<i64>, Vec<i64>)> = answer.extract()?;
            types.into_iter().map(convert::tensor_type).collect::<PyResult<Vec<TensorType>>>()
        };
        let answer = Python::attach(ask).map_err(|error| refused(error.to_string()));
        self.left = self.left.saturating_sub(asked.elapsed());
        answer
    }

    fn may_insert(&mut self, op: &OpName) -> bool {
        OpTable::insert().get(op).is_some()
    }
}
