//! Components and modules as wasm-smith draws them: valid, and like nothing that a compiler makes.

use crate::random::Random;
use arbitrary::Unstructured;
use wasm_smith::{Component, Config, Module};

/// Bytes that a module or a component is drawn from.
const ENTROPY: usize = 2048;

/// A component. It imports and exports what no plugin does.
pub(crate) fn component(random: &mut Random) -> Vec<u8> {
    let (config, bytes) = (config(random), random.bytes(ENTROPY));
    Component::new(config, &mut Unstructured::new(&bytes)).map_or(bytes, |component| component.to_bytes())
}

/// A module of any kind, which is no component.
pub(crate) fn module(random: &mut Random) -> Vec<u8> {
    let (config, bytes) = (config(random), random.bytes(ENTROPY));
    Module::new(config, &mut Unstructured::new(&bytes)).map_or(bytes, |module| module.to_bytes())
}

/// A module that stands by itself: it can be instantiated where there is nothing to import, and its start function runs
/// then.
pub(crate) fn core_module(random: &mut Random) -> Vec<u8> {
    let config = Config { max_imports: 0, allow_start_export: true, min_funcs: 1, ..config(random) };
    let bytes = random.bytes(ENTROPY);
    let empty = || b"\0asm\x01\0\0\0".to_vec();
    Module::new(config, &mut Unstructured::new(&bytes)).map_or_else(|_| empty(), |module| module.to_bytes())
}

/// Mostly without what the host's engine refuses at once.
fn config(random: &mut Random) -> Config {
    let all = random.chance(10);
    Config {
        gc_enabled: all,
        exceptions_enabled: all,
        threads_enabled: all,
        memory64_enabled: all,
        relaxed_simd_enabled: all || random.chance(50),
        allow_invalid_funcs: random.chance(5),
        max_memory32_bytes: if random.chance(70) { 1 << 20 } else { 1 << 32 },
        max_table_elements: if random.chance(70) { 1000 } else { 1_000_000 },
        max_type_size: 200,
        ..Config::default()
    }
}
