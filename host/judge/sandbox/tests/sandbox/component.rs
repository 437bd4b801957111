//! Components for the tests, made from the text of a core module.

use std::collections::BTreeMap;
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{LiftLowerAbi, ManglingAndAbi, Resolve, WorldId, WorldItem, WorldKey};

const PASS_WIT: &str = include_str!("../../../../../wit/pass.wit");
const WASI_WIT: &str = include_str!("wasi.wit");

fn resolve(pass_wit: &str, world: &str) -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let pass = resolve.push_str("pass.wit", pass_wit).unwrap();
    let package = match world {
        "plugin" => pass,
        _ => resolve.push_str("wasi.wit", WASI_WIT).unwrap(),
    };
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    (resolve, world)
}

fn encode(mut core: Vec<u8>, resolve: &Resolve, world: WorldId) -> Vec<u8> {
    embed_component_metadata(&mut core, resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().validate(true).module(&core).unwrap().encode().unwrap()
}

/// A component of `world` with the functions of a core module in text form.
pub(crate) fn from_text(world: &str, core: &str) -> Vec<u8> {
    let (resolve, id) = resolve(PASS_WIT, world);
    encode(wat::parse_str(core).unwrap_or_else(|error| panic!("{error}\n{core}")), &resolve, id)
}

/// A component that imports all of `world` and traps whatever is called.
pub(crate) fn dummy(world: &str) -> Vec<u8> {
    dummy_of(PASS_WIT, world)
}

/// The same for an interface text of another version.
pub(crate) fn dummy_of_version(version: &str) -> Vec<u8> {
    dummy_of(&PASS_WIT.replace("passhost:pass@0.2.1", &format!("passhost:pass@{version}")), "plugin")
}

fn dummy_of(pass_wit: &str, world: &str) -> Vec<u8> {
    let (resolve, id) = resolve(pass_wit, world);
    encode(dummy_module(&resolve, id, ManglingAndAbi::Legacy(LiftLowerAbi::Sync)), &resolve, id)
}

/// The functions that `world` imports, by interface without version.
pub(crate) fn imported_functions(world: &str) -> BTreeMap<String, Vec<String>> {
    let (resolve, id) = resolve(PASS_WIT, world);
    let import = |(key, item): (&WorldKey, &WorldItem)| match item {
        WorldItem::Interface { id, .. } => {
            let name = resolve.name_world_key(key).split('@').next().unwrap().to_owned();
            Some((name, resolve.interfaces[*id].functions.keys().cloned().collect()))
        }
        _ => None,
    };
    resolve.worlds[id].imports.iter().filter_map(import).collect()
}

/// A core module of a plugin. `items` are module fields, imports first; `run` is put before the code of `run` that
/// returns the graph it was given.
pub(crate) fn core(items: &str, run: &str) -> String {
    format!(
        r#"(module
  {items}
  (memory (export "memory") 2)
  (global $free (mut i32) (i32.const 1024))
  (data (i32.const 16) "testguest")
  (data (i32.const 64) "\10\00\00\00\04\00\00\00" "\14\00\00\00\05\00\00\00" "\10\00\00\00\09\00\00\00")
  ;; A bump allocator over memory that grows on demand.
  (func $allocate (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32)
    (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
    (global.set $free (i32.add (local.get $at) (local.get $size)))
    (block $fits
      (loop $more
        (br_if $fits (i32.le_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))))
        (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
      unreachable)
    (local.get $at))
  (func (export "passhost:pass/pass@0.2.1#describe") (result i32) (i32.const 64))
  ;; The parameters are the four lists of the graph and the facts of the device. At 128 lies what `run` returns: ok, the four lists of the graph, no refusals.
  (func (export "passhost:pass/pass@0.2.1#run")
    (param i32 i32 i32 i32 i32 i32 i32 i32) (param i32 i32 i64 i64 i32) (result i32)
    {run}
    (i64.store (i32.const 128) (i64.const 0))
    (i32.store (i32.const 132) (local.get 0)) (i32.store (i32.const 136) (local.get 1))
    (i32.store (i32.const 140) (local.get 2)) (i32.store (i32.const 144) (local.get 3))
    (i32.store (i32.const 148) (local.get 4)) (i32.store (i32.const 152) (local.get 5))
    (i32.store (i32.const 156) (local.get 6)) (i32.store (i32.const 160) (local.get 7))
    (i64.store (i32.const 164) (i64.const 0))
    (i32.const 128)))"#
    )
}

/// A plugin without WASI.
pub(crate) fn plugin(items: &str, run: &str) -> Vec<u8> {
    from_text("plugin", &core(items, run))
}

/// A plugin that writes `text`, at most 200 bytes, to standard error before it runs `then`.
pub(crate) fn writes_stderr(text: &str, then: &str) -> Vec<u8> {
    let items = format!(
        r#"(import "wasi:cli/stderr@0.2.6" "get-stderr" (func $stderr (result i32)))
  (import "wasi:io/streams@0.2.6" "[method]output-stream.blocking-write-and-flush"
    (func $write (param i32 i32 i32 i32)))
  (data (i32.const 512) "{}")"#,
        text.replace('\n', "\\n")
    );
    let run = format!("(call $write (call $stderr) (i32.const 512) (i32.const {}) (i32.const 480)) {then}", text.len());
    from_text("with-std", &core(&items, &run))
}
