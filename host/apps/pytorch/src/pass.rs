//! Passes, and what they make of graphs.

use crate::rewrite::{PythonTypes, Rewrite, TEXT, graph_of, pass_error};
use crate::{engine_error, opened};
use passhost_cache::{Cache, CacheKey, user};
use passhost_child::guest::GuestError;
use passhost_child::{Confinement, LoadedPlugin, Plugin, guest_failure};
use passhost_ir::verify::check_counts;
use passhost_ir::{DeviceFacts, Graph, OpTable};
use passhost_policy::Policy;
use passhost_protocol::guest::GuestRewrite;
use passhost_protocol::{decode, encode};
use passhost_result::GuestLimits;
use passhost_result::document::{Failure, inserts_calls};
use passhost_result::untrusted::one_line;
use passhost_runtime::{Gpu, cpu_facts};
use pyo3::prelude::*;
use serde::Serialize;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A pass, loaded in a child of its own, once it has to run.
#[pyclass(frozen, module = "passhost._engine")]
pub(crate) struct Pass {
    file: Plugin,
    loaded: Mutex<Option<Loaded>>,
    policy: Policy,
    limits: GuestLimits,
    /// Of compiled plugins, and of rewrites.
    caches: (Option<Cache>, Option<Cache>),
    /// The policy by name.
    policy_name: String,
    /// What the pass says it is called.
    #[pyo3(get)]
    name: String,
}

/// A loaded plugin, and the process that did it: a fork has no part in what its parent and a child say to each other.
struct Loaded {
    plugin: LoadedPlugin,
    process: u32,
}

/// Characters of a name that Python gets.
const NAME: usize = 80;

fn refused(failure: &Failure) -> PyErr {
    pass_error(&format!("{}; {}", failure.message, failure.hint))
}

fn load(file: Plugin, limits: GuestLimits, cache: Option<&Cache>) -> Loaded {
    let plugin = LoadedPlugin::load(file, limits, cache, Confinement::default());
    Loaded { plugin, process: std::process::id() }
}

#[pymethods]
impl Pass {
    #[new]
    #[pyo3(signature = (path, policy = "open"))]
    fn new(py: Python<'_>, path: PathBuf, policy: &str) -> PyResult<Pass> {
        let (policy, policy_name) = (Policy::built_in(policy).map_err(engine_error)?, policy.to_owned());
        let limits = GuestLimits::default();
        let file = Plugin::read(&path, limits.wasm).map_err(engine_error)?;
        let caches = (user::open(user::PLUGINS).ok(), user::open(user::REWRITES).ok());
        let key = CacheKey::of(&[b"name of a pass", file.sha256.as_bytes(), &bytes(&limits)?]);
        let kept = caches.1.as_ref().and_then(|cache| String::from_utf8(cache.get(&key)?).ok());
        let (name, loaded) = match kept {
            Some(name) => (name, None),
            None => {
                let mut loaded = py.detach(|| load(file.clone(), limits, caches.0.as_ref()));
                loaded.plugin.guest().map_err(refused)?;
                let name = loaded.plugin.info().map_or_else(|| "?".into(), |info| one_line(&info.name, NAME));
                caches.1.as_ref().map(|cache| cache.put(&key, name.as_bytes()));
                (name, Some(loaded))
            }
        };
        Ok(Pass { file, loaded: Mutex::new(loaded), policy, limits, caches, policy_name, name })
    }

    /// What the pass makes of a graph in text form for a GPU, whose kernels may be captured in a CUDA graph, or for a CPU
    /// where `device` is None, where kernels run on `threads` threads. `types` says what ops return.
    #[pyo3(signature = (graph, device, types, threads = 1, captured = false))]
    fn rewrite(
        &self,
        py: Python<'_>,
        graph: &str,
        device: Option<u32>,
        types: Py<PyAny>,
        threads: u32,
        captured: bool,
    ) -> PyResult<Rewrite> {
        let graph = graph_of(graph, OpTable::all())?;
        py.detach(|| {
            let facts = match device {
                None => cpu_facts(threads),
                Some(number) => Gpu::open(number).and_then(|gpu| gpu.facts(captured)).map_err(engine_error)?,
            };
            let mut infer = PythonTypes::new(types, &self.limits);
            let key = self.key(&graph, facts)?;
            if let Some(rewrite) = self.kept(&key, &graph, &mut infer) {
                return Ok(rewrite);
            }
            let rewrite = self.verified(&graph, facts, &mut infer)?;
            if let Some(cache) = &self.caches.1 {
                cache.put(&key, &bytes(&(&rewrite.graph, &rewrite.refusals))?);
            }
            Ok(rewrite)
        })
    }

    /// Whether the pass was loaded: nobody else knew what it is called, or makes of a graph.
    #[getter]
    fn is_loaded(&self, py: Python<'_>) -> bool {
        // Who has the lock may wait for Python.
        py.detach(|| self.lock().is_some())
    }
}

fn bytes(of: &impl Serialize) -> PyResult<Vec<u8>> {
    encode(of).map_err(engine_error)
}

impl Pass {
    fn lock(&self) -> MutexGuard<'_, Option<Loaded>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that a rewrite depends on.
    fn key(&self, graph: &Graph, facts: DeviceFacts) -> PyResult<CacheKey> {
        Ok(CacheKey::of(&[
            b"rewrite of a graph",
            env!("CARGO_PKG_VERSION").as_bytes(),
            opened()?.version.as_bytes(),
            self.file.sha256.as_bytes(),
            self.policy_name.as_bytes(),
            &bytes(&self.limits)?,
            &bytes(&facts)?,
            graph.to_string().as_bytes(),
        ]))
    }

    /// What was kept of another run, verified again.
    fn kept(&self, key: &CacheKey, graph: &Graph, infer: &mut PythonTypes) -> Option<Rewrite> {
        let kept = self.caches.1.as_ref()?.get(key)?;
        let (text, refusals): (String, Vec<String>) = decode(&kept).ok()?;
        let rewrite = Rewrite::verified(graph, &Graph::parse(&text).ok()?, &self.policy, infer).ok()?;
        Some(Rewrite { refusals, is_kept: true, ..rewrite })
    }

    /// Runs the pass twice and verifies what it returned.
    fn verified(&self, graph: &Graph, facts: DeviceFacts, infer: &mut PythonTypes) -> PyResult<Rewrite> {
        let mut guard = self.lock();
        if guard.as_ref().is_some_and(|loaded| loaded.process != std::process::id()) {
            // Its pipes are the parent's, and its threads are not here.
            std::mem::forget(guard.take());
        }
        let plugin =
            &mut guard.get_or_insert_with(|| load(self.file.clone(), self.limits, self.caches.0.as_ref())).plugin;
        let first = self.run(plugin, graph, facts, infer)?;
        let second = self.run(plugin, graph, facts, infer)?;
        drop(guard);
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
                plugin.reload(self.limits, self.caches.0.as_ref());
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
                plugin.reload(self.limits, self.caches.0.as_ref());
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
