//! Each limit has a plugin that keeps it and one that breaks it.

use crate::child::Guest;
use crate::component::{core, from_text, plugin, writes_stderr};
use passhost_ir::Graph;
use passhost_protocol::guest::{FromGuest, GuestFailure, Limit};
use passhost_result::GuestLimits;

/// Runs the plugin on an empty graph.
#[track_caller]
fn run(wasm: &[u8], limits: GuestLimits) -> Result<(), GuestFailure> {
    let mut guest = Guest::with(wasm, limits);
    let (rewrite, usage) = guest.run(&Graph::default(), limits.infer_calls);
    if let Err(failure) = &rewrite {
        // The child outlives the failure, and the next call starts anew.
        assert_eq!(guest.run(&Graph::default(), limits.infer_calls).0.unwrap_err(), *failure);
    }
    assert!(usage.fuel <= limits.fuel && usage.memory <= limits.memory && usage.log.len() as u64 <= limits.log);
    let (status, stderr) = guest.finish();
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    rewrite.map(drop)
}

/// `keeps` stays within the limit and `breaks` does not.
#[track_caller]
fn check(limit: Limit, value: u64, limits: GuestLimits, keeps: &[u8], breaks: &[u8]) {
    assert_eq!(run(keeps, limits), Ok(()));
    assert_eq!(run(breaks, limits), Err(GuestFailure::Limit { limit, value }));
}

fn counts_to(turns: u64) -> Vec<u8> {
    plugin(
        "",
        &format!(
            "(local $i i64) (loop $again (local.set $i (i64.add (local.get $i) (i64.const 1)))
               (br_if $again (i64.ne (local.get $i) (i64.const {turns}))))"
        ),
    )
}

const FOREVER: &str = "(loop $again (br $again))";

#[test]
fn fuel() {
    let limits = GuestLimits { fuel: 100_000, ..GuestLimits::default() };
    check(Limit::Fuel, 100_000, limits, &counts_to(1000), &plugin("", FOREVER));
}

#[test]
fn fuel_covers_start_functions() {
    let limits = GuestLimits { fuel: 100_000, ..GuestLimits::default() };
    let start = |body| plugin(&format!("(func $begin {body}) (start $begin)"), "");
    check(Limit::Fuel, 100_000, limits, &start(""), &start(FOREVER));
}

#[test]
fn deadline() {
    // The plugin that keeps it must do so on a machine under load as well, hence two values.
    let limits = |deadline_ms| GuestLimits { fuel: u64::MAX, deadline_ms, ..GuestLimits::default() };
    assert_eq!(run(&counts_to(1000), limits(600_000)), Ok(()));
    let failure = GuestFailure::Limit { limit: Limit::Deadline, value: 50 };
    assert_eq!(run(&plugin("", FOREVER), limits(50)), Err(failure));
}

#[test]
fn memory_that_grows() {
    let limits = GuestLimits { memory: 1 << 20, ..GuestLimits::default() };
    let grows = |pages| plugin("", &format!("(drop (memory.grow (i32.const {pages})))"));
    // The module starts with 2 pages of 64 KiB; 16 are allowed.
    check(Limit::Memory, 1 << 20, limits, &grows(14), &grows(15));
}

#[test]
fn memory_that_an_instance_starts_with() {
    let limits = GuestLimits { memory: 1 << 20, ..GuestLimits::default() };
    let starts = |pages| {
        let text =
            core("", "").replace("(memory (export \"memory\") 2)", &format!("(memory (export \"memory\") {pages})"));
        from_text("plugin", &text)
    };
    check(Limit::Memory, 1 << 20, limits, &starts(16), &starts(17));
}

#[test]
fn growth_beyond_the_plugins_own_maximum_is_its_own_affair() {
    let text = core("", "(if (i32.ne (memory.grow (i32.const 9)) (i32.const -1)) (then unreachable))")
        .replace("(memory (export \"memory\") 2)", "(memory (export \"memory\") 2 4)");
    assert_eq!(run(&from_text("plugin", &text), GuestLimits::default()), Ok(()));
}

#[test]
fn a_very_large_memory_does_not_take_the_process_down() {
    let hungry =
        plugin("", "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 256)) (i32.const -1)))) unreachable");
    let limits = GuestLimits::default();
    let failure = GuestFailure::Limit { limit: Limit::Memory, value: limits.memory };
    assert_eq!(run(&hungry, limits), Err(failure));
}

#[test]
fn tables() {
    let limits = GuestLimits { tables: 1000, ..GuestLimits::default() };
    let grows = |elements| {
        plugin("(table $t 10 funcref)", &format!("(drop (table.grow $t (ref.null func) (i32.const {elements})))"))
    };
    check(Limit::Tables, 1000, limits, &grows(500), &grows(2000));
}

#[test]
fn stack() {
    let limits = GuestLimits { stack: 256 << 10, ..GuestLimits::default() };
    let recurses = |depth| {
        plugin(
            "(func $deep (param i32) (result i32) (if (result i32) (local.get 0)
               (then (i32.add (i32.const 1) (call $deep (i32.sub (local.get 0) (i32.const 1))))) (else (i32.const 0))))",
            &format!("(drop (call $deep (i32.const {depth})))"),
        )
    };
    check(Limit::Stack, 256 << 10, limits, &recurses(100), &recurses(100_000_000));
}

#[test]
fn a_deep_stack_is_given_when_it_is_allowed() {
    let limits = GuestLimits { stack: 64 << 20, ..GuestLimits::default() };
    let recurses = plugin(
        "(func $deep (param i32) (result i32) (if (result i32) (local.get 0)
           (then (i32.add (i32.const 1) (call $deep (i32.sub (local.get 0) (i32.const 1))))) (else (i32.const 0))))",
        "(drop (call $deep (i32.const 500000)))",
    );
    assert_eq!(run(&recurses, limits), Ok(()));
}

#[test]
fn log() {
    let limits = GuestLimits { log: 1000, ..GuestLimits::default() };
    let logs = |lines| {
        plugin(
            r#"(import "passhost:pass/host@0.2.1" "log" (func $log (param i32 i32)))"#,
            &format!(
                "(local $i i32) (loop $again (call $log (i32.const 16) (i32.const 9))
                   (local.set $i (i32.add (local.get $i) (i32.const 1)))
                   (br_if $again (i32.ne (local.get $i) (i32.const {lines}))))"
            ),
        )
    };
    // A line has nine letters and its end.
    check(Limit::Log, 1000, limits, &logs(100), &logs(101));
}

#[test]
fn log_counts_standard_error() {
    let limits = GuestLimits { log: 100, ..GuestLimits::default() };
    let writes = |length| writes_stderr(&"x".repeat(length), "");
    check(Limit::Log, 100, limits, &writes(100), &writes(101));
}

#[test]
fn output() {
    let limits = GuestLimits { output: 100_000, ..GuestLimits::default() };
    // An error text of so many bytes.
    let returns = |length| {
        let run = format!(
            "(i64.store (i32.const 128) (i64.const 1)) (i32.store (i32.const 132) (i32.const 1024))
             (i32.store (i32.const 136) (i32.const {length})) (return (i32.const 128))"
        );
        plugin("", &run)
    };
    assert!(matches!(run(&returns(90_000), limits), Err(GuestFailure::Refused(_))));
    let failure = GuestFailure::Limit { limit: Limit::Output, value: 100_000 };
    assert_eq!(run(&returns(110_000), limits), Err(failure.clone()));
    // Values without name and shape take 28 bytes in the plugin and several times that in the host, which counts.
    let graph = |values| plugin("", &format!("(local.set 0 (i32.const 1024)) (local.set 1 (i32.const {values}))"));
    assert_eq!(run(&graph(100), limits), Ok(()));
    assert_eq!(run(&graph(3000), limits), Err(failure));
}

const INFER: &str = r#"(import "passhost:pass/host@0.2.1" "infer" (func $infer (param i32 i32 i32 i32 i32 i32 i32)))"#;

fn infers(calls: u32) -> Vec<u8> {
    let zeros = "(i32.const 0) ".repeat(6);
    plugin(
        INFER,
        &format!(
            "(local $i i32) (loop $again (call $infer {zeros} (i32.const 480))
               (local.set $i (i32.add (local.get $i) (i32.const 1)))
               (br_if $again (i32.ne (local.get $i) (i32.const {calls}))))"
        ),
    )
}

#[test]
fn infer_calls() {
    let limits = GuestLimits { infer_calls: 5, ..GuestLimits::default() };
    check(Limit::InferCalls, 5, limits, &infers(5), &infers(6));
}

#[test]
fn infer_costs_fuel() {
    let limits = GuestLimits { fuel: 55_000, ..GuestLimits::default() };
    check(Limit::Fuel, 55_000, limits, &infers(5), &infers(6));
}

#[test]
fn wasm_size() {
    let wasm = plugin("", "");
    let limits = GuestLimits { wasm: wasm.len() as u64, ..GuestLimits::default() };
    assert_eq!(run(&wasm, limits), Ok(()));
    let limits = GuestLimits { wasm: wasm.len() as u64 - 1, ..limits };
    let failure = GuestFailure::Limit { limit: Limit::Wasm, value: limits.wasm };
    assert_eq!(Guest::start().load(&wasm, None, limits), FromGuest::Failed(failure));
}

#[test]
fn compile_time() {
    let wasm = plugin("", "");
    let limits = GuestLimits { compile_ms: 0, ..GuestLimits::default() };
    let failure = GuestFailure::Limit { limit: Limit::Compile, value: 0 };
    assert_eq!(Guest::start().load(&wasm, None, limits), FromGuest::Failed(failure));
    assert_eq!(run(&wasm, GuestLimits { compile_ms: 600_000, ..limits }), Ok(()));
}

#[test]
fn instances() {
    // Core instances inside one component; the plugin around them is never reached.
    let many = format!(
        r#"(component (core module $m) {} (core module $n (func (export "f")))
             (instance $pass) (export "passhost:pass/pass@0.2.1" (instance $pass)))"#,
        "(core instance (instantiate $m))".repeat(100)
    );
    let wasm = wat::parse_str(many).unwrap();
    let reply = Guest::start().load(&wasm, None, GuestLimits::default());
    assert!(matches!(reply, FromGuest::Failed(GuestFailure::Compile(_))), "{reply:?}");
}
