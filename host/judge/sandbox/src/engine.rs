//! The configuration that all machine code here is made with.

use std::hash::{DefaultHasher, Hash, Hasher};
use wasmtime::{Config, Engine, OptLevel, WasmFeatures};

/// Linear memory is reserved in steps of this many bytes, so that small guests never move and the address space of the
/// process can be limited.
const MEMORY_STEP: u64 = 64 << 20;

/// Proposals that make results differ between machines or runs, or that Rust's guests have no use for.
const REFUSED: WasmFeatures = WasmFeatures::THREADS
    .union(WasmFeatures::SHARED_EVERYTHING_THREADS)
    .union(WasmFeatures::RELAXED_SIMD)
    .union(WasmFeatures::MEMORY64)
    .union(WasmFeatures::MULTI_MEMORY)
    .union(WasmFeatures::CUSTOM_PAGE_SIZES);

/// An engine whose guests have `stack` bytes of stack. Engines that differ in that alone load each other's artefacts.
pub fn new(stack: u64) -> wasmtime::Result<Engine> {
    let stack = usize::try_from(stack)?.max(1);
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        .cranelift_nan_canonicalization(true)
        // A pass is compiled for longer than it runs.
        .cranelift_opt_level(OptLevel::None)
        .wasm_features(REFUSED, false)
        .max_wasm_stack(stack)
        // Nothing here is asynchronous, but the one may not be above the other.
        .async_stack_size(stack)
        .memory_reservation(MEMORY_STEP)
        .memory_reservation_for_growth(MEMORY_STEP)
        .memory_guard_size(64 << 10)
        .memory_may_move(true)
        // An image for copy-on-write is a file, and the process may not write any. Copying a few pages is as fast.
        .memory_init_cow(false);
    Engine::new(&config)
}

/// Changes whenever an artefact of one engine would not load in the other: with the version of wasmtime, the
/// configuration, and the processor's features.
pub fn identity(engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    // The exact version of wasmtime is part of what is hashed.
    format!("wasmtime-48-{:016x}", hasher.finish())
}
