//! Everything that a plugin can call: the functions of `passhost:pass/host`, and as much of WASI as Rust's standard
//! library imports, answering that there is nothing there.
//!
//! The stubs are written out instead of taken from a WASI implementation, because this page is then all of a plugin's
//! view of the world: no table of resources, no clock, no random numbers, no file ever behind any of them. A stream is
//! one of the numbers below, and the two that write append to the bounded log.

use crate::bindings::passhost::pass::types::{OpName, TensorType, TypedArg};
use crate::check::{INTERFACE_VERSION, WASI_VERSION};
use crate::meter::{LogSource, Meter};
use crate::watchdog::Watchdog;
use passhost_ir::{Arg, Infer};
use passhost_protocol::guest::Limit;
use wasmtime::component::{ComponentType, Linker, LinkerInstance, Lower, Resource, ResourceType};
use wasmtime::{AsContextMut, Engine, Result, StoreContextMut};

/// Fuel for one `infer` call, about what the host's answer costs in instructions.
pub(crate) const INFER_FUEL: u64 = 10_000;
/// Bytes that a stream takes at once.
const CHUNK: u64 = 4096;

const STDOUT: u32 = 1;
const STDERR: u32 = 2;

/// What the imports of one call work on.
pub(crate) struct ImportState {
    pub(crate) meter: Meter,
    pub(crate) infer: Box<dyn Infer + Send>,
    pub(crate) watchdog: Watchdog,
}

/// The plugin called `exit`.
#[derive(Debug, thiserror::Error)]
#[error("the plugin called exit; a pass returns an error instead")]
pub(crate) struct Exited;

struct InputStream;
struct OutputStream;
struct StreamFailure;
struct Pollable;
struct TerminalInput;
struct TerminalOutput;

#[derive(ComponentType, Lower)]
#[component(variant)]
#[allow(dead_code, reason = "the type must be complete, but no stream here ever fails with an error")]
enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<StreamFailure>),
    #[component(name = "closed")]
    Closed,
}

#[derive(ComponentType, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

/// A linker with all of it.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<ImportState>> {
    let mut linker = Linker::new(engine);
    host(linker.instance(&format!("passhost:pass/host@{INTERFACE_VERSION}"))?)?;
    let mut wasi = |interface: &str, define: fn(LinkerInstance<'_, ImportState>) -> Result<()>| {
        define(linker.instance(&format!("wasi:{interface}@{WASI_VERSION}"))?)
    };
    wasi("cli/environment", environment)?;
    wasi("cli/exit", |mut it| it.func_wrap("exit", |_, _: (Result<(), ()>,)| -> Result<()> { Err(Exited.into()) }))?;
    wasi("cli/stdin", |mut it| it.func_wrap("get-stdin", |_, ()| Ok((Resource::<InputStream>::new_own(0),))))?;
    wasi("cli/stdout", |mut it| it.func_wrap("get-stdout", |_, ()| Ok((Resource::<OutputStream>::new_own(STDOUT),))))?;
    wasi("cli/stderr", |mut it| it.func_wrap("get-stderr", |_, ()| Ok((Resource::<OutputStream>::new_own(STDERR),))))?;
    wasi("cli/terminal-input", |mut it| resource::<TerminalInput>(&mut it, "terminal-input"))?;
    wasi("cli/terminal-output", |mut it| resource::<TerminalOutput>(&mut it, "terminal-output"))?;
    wasi("cli/terminal-stdin", |mut it| it.func_wrap("get-terminal-stdin", |_, ()| Ok((none::<TerminalInput>(),))))?;
    wasi("cli/terminal-stdout", |mut it| it.func_wrap("get-terminal-stdout", |_, ()| Ok((none::<TerminalOutput>(),))))?;
    wasi("cli/terminal-stderr", |mut it| it.func_wrap("get-terminal-stderr", |_, ()| Ok((none::<TerminalOutput>(),))))?;
    wasi("clocks/monotonic-clock", |mut it| {
        it.func_wrap("now", |_, ()| Ok((0u64,)))?;
        it.func_wrap("resolution", |_, ()| Ok((1u64,)))
    })?;
    wasi("clocks/wall-clock", |mut it| {
        it.func_wrap("now", |_, ()| Ok((Datetime { seconds: 0, nanoseconds: 0 },)))?;
        it.func_wrap("resolution", |_, ()| Ok((Datetime { seconds: 1, nanoseconds: 0 },)))
    })?;
    wasi("io/error", |mut it| {
        resource::<StreamFailure>(&mut it, "error")?;
        it.func_wrap("[method]error.to-debug-string", |_, _: (Resource<StreamFailure>,)| Ok((String::new(),)))
    })?;
    wasi("io/poll", poll)?;
    wasi("io/streams", streams)?;
    wasi("random/insecure-seed", |mut it| it.func_wrap("insecure-seed", |_, ()| Ok(((0u64, 0u64),))))?;
    Ok(linker)
}

fn host(mut it: LinkerInstance<'_, ImportState>) -> Result<()> {
    it.func_wrap("infer", |mut store: StoreContextMut<'_, ImportState>, (op, args): (OpName, Vec<TypedArg>)| {
        let fuel = store.get_fuel()?;
        let Some(rest) = fuel.checked_sub(INFER_FUEL) else {
            store.set_fuel(0)?;
            return Err(store.data_mut().meter.exceeded(Limit::Fuel));
        };
        store.set_fuel(rest)?;
        let ImportState { meter, infer, watchdog } = store.data_mut();
        meter.count_infer()?;
        let args: Vec<Arg<passhost_ir::TensorType>> = args.into_iter().map(Arg::from).collect();
        let answer = watchdog.suspended(|| infer.infer(&op.into(), &args));
        let answer: Result<Vec<TensorType>, String> = match answer {
            Ok(types) => Ok(types.into_iter().map(TensorType::from).collect()),
            Err(error) => Err(error.to_string()),
        };
        Ok((answer,))
    })?;
    it.func_wrap("may-insert", |mut store: StoreContextMut<'_, ImportState>, (op,): (OpName,)| {
        Ok((store.data_mut().infer.may_insert(&op.into()),))
    })?;
    it.func_wrap("log", |mut store: StoreContextMut<'_, ImportState>, (mut message,): (String,)| {
        message.push('\n');
        store.data_mut().meter.write(LogSource::Log, message.as_bytes())
    })
}

fn environment(mut it: LinkerInstance<'_, ImportState>) -> Result<()> {
    it.func_wrap("get-environment", |_, ()| Ok((Vec::<(String, String)>::new(),)))?;
    it.func_wrap("get-arguments", |_, ()| Ok((Vec::<String>::new(),)))?;
    it.func_wrap("initial-cwd", |_, ()| Ok((None::<String>,)))
}

/// Nothing is ever waited for.
fn poll(mut it: LinkerInstance<'_, ImportState>) -> Result<()> {
    resource::<Pollable>(&mut it, "pollable")?;
    it.func_wrap("[method]pollable.ready", |_, _: (Resource<Pollable>,)| Ok((true,)))?;
    it.func_wrap("[method]pollable.block", |_, _: (Resource<Pollable>,)| Ok(()))?;
    it.func_wrap("poll", |_, (pollables,): (Vec<Resource<Pollable>>,)| {
        Ok(((0u32..).take(pollables.len()).collect::<Vec<u32>>(),))
    })
}

fn streams(mut it: LinkerInstance<'_, ImportState>) -> Result<()> {
    resource::<InputStream>(&mut it, "input-stream")?;
    resource::<OutputStream>(&mut it, "output-stream")?;
    for name in ["[method]input-stream.read", "[method]input-stream.blocking-read"] {
        it.func_wrap(name, |_, _: (Resource<InputStream>, u64)| Ok((Err::<Vec<u8>, _>(StreamError::Closed),)))?;
    }
    it.func_wrap("[method]input-stream.subscribe", |_, _: (Resource<InputStream>,)| {
        Ok((Resource::<Pollable>::new_own(0),))
    })?;
    it.func_wrap("[method]output-stream.subscribe", |_, _: (Resource<OutputStream>,)| {
        Ok((Resource::<Pollable>::new_own(0),))
    })?;
    it.func_wrap("[method]output-stream.check-write", |_, _: (Resource<OutputStream>,)| {
        Ok((Ok::<u64, StreamError>(CHUNK),))
    })?;
    for name in ["[method]output-stream.write", "[method]output-stream.blocking-write-and-flush"] {
        it.func_wrap(name, |mut store, (stream, contents): (Resource<OutputStream>, Vec<u8>)| {
            let source = if stream.rep() == STDERR { LogSource::Stderr } else { LogSource::Log };
            store.as_context_mut().data_mut().meter.write(source, &contents)?;
            Ok((Ok::<(), StreamError>(()),))
        })?;
    }
    for name in ["[method]output-stream.flush", "[method]output-stream.blocking-flush"] {
        it.func_wrap(name, |_, _: (Resource<OutputStream>,)| Ok((Ok::<(), StreamError>(()),)))?;
    }
    Ok(())
}

/// Defines a resource type. Its handles are plain numbers, so that nothing is left to free.
fn resource<T: 'static>(it: &mut LinkerInstance<'_, ImportState>, name: &str) -> Result<()> {
    it.resource(name, ResourceType::host::<T>(), |_, _| Ok(()))
}

fn none<T: 'static>() -> Option<Resource<T>> {
    None
}
