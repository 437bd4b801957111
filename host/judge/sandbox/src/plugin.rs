//! Loading a plugin, calling it, and saying what happened.

use crate::bindings::exports::passhost::pass::pass as wit;
use crate::bindings::{Plugin as Bindings, PluginPre};
use crate::check::{check, cut};
use crate::convert;
use crate::failure::{MESSAGE, Phase, classify};
use crate::imports::{ImportState, linker};
use crate::meter::Meter;
use crate::watchdog::Watchdog;
use passhost_ir::verify::check_counts;
use passhost_ir::{Arg, DeviceFacts, Graph, Infer, InferError, NodeId, OpName, TensorType};
use passhost_protocol::guest::{GuestFailure, GuestRewrite, Limit};
use passhost_result::{GuestLimits, GuestUsage, PassInfo, Refusal};
use std::time::{Duration, Instant};
use wasmtime::component::Component;
use wasmtime::{Engine, Store};

/// The longest name, description or reason that is passed on, in characters.
const LINE: usize = 1000;

/// Streams and the like that a plugin may hold at a time.
const HANDLES: usize = 1000;

/// A compiled plugin that may be called any number of times. Each call has a fresh instance, so that nothing is
/// remembered from one to the next.
pub struct CompiledPlugin {
    engine: Engine,
    pre: PluginPre<ImportState>,
    limits: GuestLimits,
    watchdog: Watchdog,
}

/// A plugin that passed the checks and is compiled. None of its code has run.
pub struct LoadedComponent {
    /// Ready to be called.
    pub plugin: CompiledPlugin,
    /// The machine code, if it was made now and not taken from an artefact.
    pub artefact: Option<Vec<u8>>,
}

impl Drop for CompiledPlugin {
    fn drop(&mut self) {
        self.watchdog.stop();
    }
}

impl CompiledPlugin {
    /// Checks `wasm` and compiles it, or loads `artefact` instead of compiling. An artefact that does not load is
    /// ignored.
    ///
    /// # Safety
    /// An artefact is machine code that will run outside of any sandbox: it must be what [`LoadedComponent::artefact`] gave for
    /// the same `wasm`, unchanged.
    pub unsafe fn load(
        wasm: &[u8],
        artefact: Option<&[u8]>,
        limits: GuestLimits,
    ) -> Result<LoadedComponent, GuestFailure> {
        let started = Instant::now();
        check(wasm, &limits)?;
        let host = |error: wasmtime::Error| GuestFailure::Host(format!("{error:#}"));
        let engine = crate::engine::new(limits.stack).map_err(host)?;
        // SAFETY: the caller vouches for the artefact.
        let known = artefact.and_then(|artefact| unsafe { Component::deserialize(&engine, artefact) }.ok());
        let (component, artefact) = match known {
            Some(component) => (component, None),
            None => {
                let component = Component::new(&engine, wasm)
                    .map_err(|error| GuestFailure::Compile(cut(&format!("{error:#}"), MESSAGE)))?;
                let artefact = component.serialize().map_err(host)?;
                (component, Some(artefact))
            }
        };
        // The compiler cannot be interrupted. The supervisor ends the process when it takes much longer than this.
        if artefact.is_some() && started.elapsed() > Duration::from_millis(limits.compile_ms) {
            return Err(GuestFailure::Limit { limit: Limit::Compile, value: limits.compile_ms });
        }
        let pre = linker(&engine)
            .map_err(host)?
            .instantiate_pre(&component)
            .and_then(PluginPre::new)
            .map_err(|error| GuestFailure::Compile(cut(&format!("{error:#}"), MESSAGE)))?;
        let watchdog = Watchdog::start(&engine)
            .map_err(|error| GuestFailure::Host(format!("cannot start the watchdog thread: {error}")))?;
        Ok(LoadedComponent { plugin: CompiledPlugin { engine, pre, limits, watchdog }, artefact })
    }

    /// Asks the plugin who it is.
    pub fn describe(&self) -> (Result<PassInfo, GuestFailure>, GuestUsage) {
        let (info, usage) =
            self.call(0, Box::new(NoTypes), |plugin, store| plugin.passhost_pass_pass().call_describe(store));
        let info = info.map(|info| PassInfo {
            name: cut(&info.name, LINE),
            version: cut(&info.version, LINE),
            description: cut(&info.description, LINE),
        });
        (info, usage)
    }

    /// Runs the pass on a graph for a device. `infer` answers its questions, at most `infer_calls` of them.
    pub fn run(
        &self,
        graph: &Graph,
        device: DeviceFacts,
        infer_calls: u64,
        infer: Box<dyn Infer + Send>,
    ) -> (Result<GuestRewrite, GuestFailure>, GuestUsage) {
        let given = convert::graph(graph.clone());
        let (returned, usage) = self.call(infer_calls, infer, |plugin, store| {
            plugin.passhost_pass_pass().call_run(store, &given, device.into())
        });
        let rewrite = returned.and_then(|returned| match returned {
            Err(reason) => Err(GuestFailure::Refused(cut(&reason, MESSAGE))),
            Ok(rewrite) => rewrite_of(graph, rewrite),
        });
        (rewrite, usage)
    }

    fn call<R>(
        &self,
        infer_calls: u64,
        infer: Box<dyn Infer + Send>,
        function: impl FnOnce(&Bindings, &mut Store<ImportState>) -> wasmtime::Result<R>,
    ) -> (Result<R, GuestFailure>, GuestUsage) {
        let started = Instant::now();
        let limits = GuestLimits { infer_calls, ..self.limits };
        let state = ImportState { meter: Meter::new(limits), infer, watchdog: self.watchdog.clone() };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(usize::try_from(limits.output).unwrap_or(usize::MAX));
        store.set_max_component_handles(HANDLES);
        // The next epoch is the one that the watchdog starts.
        store.set_epoch_deadline(1);
        let mut phase = Phase::Instantiate;
        self.watchdog.set(Some(started + Duration::from_millis(limits.deadline_ms)));
        let result = store.set_fuel(limits.fuel).and_then(|()| self.pre.instantiate(&mut store)).and_then(|instance| {
            phase = Phase::Call;
            function(&instance, &mut store)
        });
        self.watchdog.set(None);
        let result = result.map_err(|error| classify(&error, phase, &store.data().meter, &limits));
        let fuel = limits.fuel - store.get_fuel().unwrap_or(limits.fuel).min(limits.fuel);
        let meter = store.into_data().meter;
        let usage = GuestUsage {
            fuel,
            memory: meter.memory,
            infer_calls: meter.infer_calls,
            wall_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
            log: String::from_utf8_lossy(&meter.log).into_owned(),
        };
        (result, usage)
    }
}

/// What a pass returned for a graph, if it is a graph and not out of all proportion.
fn rewrite_of(original: &Graph, returned: wit::Rewrite) -> Result<GuestRewrite, GuestFailure> {
    let malformed = |error: &dyn std::fmt::Display| GuestFailure::Malformed(error.to_string());
    let graph = convert::graph_of(returned.graph).map_err(|error| malformed(&error))?;
    check_counts(original, &graph).map_err(|error| malformed(&error))?;
    let refusals = returned.refusals.into_iter().map(|refusal| Refusal {
        nodes: refusal.nodes.into_iter().map(NodeId).collect(),
        reason: cut(&refusal.reason, LINE),
    });
    let mut rewrite = GuestRewrite { graph, refusals: refusals.collect(), refusals_left_out: 0 };
    rewrite.bound_refusals();
    Ok(rewrite)
}

/// There is no graph to ask about.
struct NoTypes;

impl Infer for NoTypes {
    fn infer(&mut self, _: &OpName, _: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        Err(InferError::Unavailable("`describe` has no graph to ask about".into()))
    }
}
