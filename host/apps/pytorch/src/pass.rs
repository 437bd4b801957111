//! Passes, and what they make of graphs.

use crate::engine_error;
use crate::rewrite::{PythonTypes, Rewrite, TEXT, graph_of, pass_error};
use passhost_child::guest::GuestError;
use passhost_child::{Confinement, LoadedPlugin, Plugin, guest_failure};
use passhost_ir::verify::check_counts;
use passhost_ir::{DeviceFacts, Graph};
use passhost_policy::Policy;
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

/// Characters of a name that Python gets.
const NAME: usize = 80;

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
        let graph = graph_of(graph)?;
        py.detach(|| {
            let facts = match device {
                None => cpu_facts(threads),
                Some(number) => Gpu::open(number).and_then(|gpu| gpu.facts()).map_err(engine_error)?,
            };
            self.verified(&graph, facts, &mut PythonTypes::new(types, &self.limits))
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
        let mut rewrite = Rewrite::verified(graph, &first.graph, &self.policy, infer).map_err(|error| wrong(&error))?;
        rewrite.refusals = first.refusals.into_iter().map(|refusal| one_line(&refusal.reason, TEXT)).collect();
        Ok(rewrite)
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
