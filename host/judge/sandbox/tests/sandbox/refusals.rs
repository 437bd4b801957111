//! Files that are no plugin for this host, and plugins that fail by their own doing.

use crate::child::Guest;
use crate::component::{self, core, dummy, dummy_of_version, from_text, plugin, writes_stderr};
use passhost_ir::Graph;
use passhost_protocol::guest::{FromGuest, GuestFailure, ToGuest};
use passhost_result::GuestLimits;

#[track_caller]
fn refusal(wasm: &[u8]) -> GuestFailure {
    let mut guest = Guest::start();
    match guest.load(wasm, None, GuestLimits::default()) {
        FromGuest::Failed(failure) => {
            let (status, stderr) = guest.finish();
            assert_eq!((status, stderr.as_str()), (Some(0), ""));
            failure
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[track_caller]
fn failure(wasm: &[u8]) -> GuestFailure {
    let mut guest = Guest::with(wasm, GuestLimits::default());
    let failure = guest.run(&Graph::default(), 0).0.unwrap_err();
    assert_eq!(guest.finish(), (Some(0), String::new()));
    failure
}

#[track_caller]
fn message(wasm: &[u8]) -> String {
    match failure(wasm) {
        GuestFailure::Trap(message) => message,
        other => panic!("expected a trap, got {other:?}"),
    }
}

#[test]
fn a_core_module_is_told_how_to_be_built() {
    let core = wat::parse_str("(module)").unwrap();
    let text = refusal(&core).to_string();
    assert_eq!(text, "not a WebAssembly component: this is a core module; build for wasm32-wasip2");
}

#[test]
fn bytes_that_are_no_component() {
    let whole = plugin("", "");
    let cases: [(&str, Vec<u8>); 5] = [
        ("empty", vec![]),
        ("text", b"#!/bin/sh\n".to_vec()),
        ("half a header", whole[..6].to_vec()),
        ("a header and garbage", [&whole[..8], &[0xff; 100]].concat()),
        ("an unknown version", [b"\0asm", &[9, 0, 7, 0][..]].concat()),
    ];
    for (name, bytes) in cases {
        let failure = refusal(&bytes);
        assert!(matches!(failure, GuestFailure::NotComponent(_)), "{name}: {failure:?}");
    }
}

#[test]
fn a_component_cut_anywhere_is_refused_and_one_damaged_anywhere_does_no_harm() {
    let whole = plugin("", "");
    let limits = GuestLimits::default();
    for end in (0..whole.len()).step_by(7) {
        let result = passhost_sandbox::check::check(&whole[..end], &limits);
        assert!(result.is_err(), "cut at {end} of {}", whole.len());
    }
    for position in (0..whole.len()).step_by(3) {
        let mut damaged = whole.clone();
        damaged[position] ^= 0x55;
        // SAFETY: there is no artefact.
        let loaded = unsafe { passhost_sandbox::CompiledPlugin::load(&damaged, None, limits) };
        if let Ok(loaded) = loaded {
            // A name or a constant was hit; the call ends one way or the other.
            let _ = loaded.plugin.describe();
        }
    }
}

#[test]
fn another_version_of_the_interface_is_named() {
    for found in ["0.1.0", "1.0.0", "0.2.0-rc.1"] {
        let expected = GuestFailure::Version { found: found.into(), wanted: "0.2.1".into() };
        assert_eq!(refusal(&dummy_of_version(found)), expected);
    }
}

#[test]
fn another_patch_level_is_accepted() {
    for found in ["0.2.0", "0.2.9"] {
        let mut guest = Guest::with(&dummy_of_version(found), GuestLimits::default());
        assert!(matches!(guest.describe().0, Err(GuestFailure::Trap(_))), "{found}");
    }
}

#[test]
fn a_missing_export_is_named() {
    let expected = GuestFailure::MissingExport("passhost:pass/pass@0.2.1".into());
    assert_eq!(refusal(&dummy("without-pass")), expected);
    assert_eq!(refusal(&wat::parse_str("(component)").unwrap()), expected);
}

#[test]
fn an_export_of_another_shape_does_not_link() {
    let empty = r#"(component (instance $pass) (export "passhost:pass/pass@0.2.1" (instance $pass)))"#;
    let failure = refusal(&wat::parse_str(empty).unwrap());
    assert!(matches!(&failure, GuestFailure::Compile(text) if text.contains("describe")), "{failure:?}");
}

#[test]
fn a_forbidden_import_is_named() {
    let import = |text: &str| {
        let pass = r#"(instance $pass) (export "passhost:pass/pass@0.2.1" (instance $pass))"#;
        wat::parse_str(format!("(component {text} {pass})")).unwrap()
    };
    let cases: [(Vec<u8>, &str); 7] = [
        (dummy("with-files"), "wasi:filesystem/preopens@0.2.6"),
        (dummy("with-secure-random"), "wasi:random/random@0.2.6"),
        (import(r#"(import "wasi:io/poll@0.3.0" (instance))"#), "wasi:io/poll@0.3.0"),
        (import(r#"(import "wasi:io/poll" (instance))"#), "wasi:io/poll"),
        (import(r#"(import "clock" (func))"#), "clock"),
        (
            import(r#"(import "wasi:io/streams@0.2.6" (instance (export "splice" (func))))"#),
            "wasi:io/streams@0.2.6#splice",
        ),
        (
            import(r#"(import "passhost:pass/host@0.2.1" (instance (export "open" (func))))"#),
            "passhost:pass/host@0.2.1#open",
        ),
    ];
    for (wasm, expected) in cases {
        match refusal(&wasm) {
            GuestFailure::ForbiddenImport(name) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[test]
fn a_long_import_name_is_cut() {
    let wasm = wat::parse_str(format!(r#"(component (import "{}" (func)))"#, "a".repeat(5000))).unwrap();
    match refusal(&wasm) {
        GuestFailure::ForbiddenImport(name) => assert!(name.len() < 300, "{} bytes", name.len()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_allow_list_is_what_the_linker_offers() {
    let mut allowed: Vec<(&str, Vec<&str>)> =
        passhost_sandbox::check::ALLOWED.iter().map(|(name, functions)| (*name, functions.to_vec())).collect();
    let imported = component::imported_functions("with-std");
    let mut imported: Vec<(&str, Vec<&str>)> = imported
        .iter()
        .map(|(name, functions)| (name.as_str(), functions.iter().map(String::as_str).collect()))
        .collect();
    for list in [&mut allowed, &mut imported] {
        list.iter_mut().for_each(|(_, functions)| functions.sort());
        list.sort();
    }
    assert_eq!(imported, allowed);
    // A component that imports all of it loads, and is instantiated.
    let mut guest = Guest::with(&dummy("with-std"), GuestLimits::default());
    assert!(matches!(guest.describe().0, Err(GuestFailure::Trap(_))));
}

#[test]
fn a_panic_gives_its_message() {
    let stderr = "thread '<unnamed>' (1) panicked at src/lib.rs:3:5:\nno such node: 7\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
    assert_eq!(message(&writes_stderr(stderr, "unreachable")), "panicked at src/lib.rs:3:5:\nno such node: 7");
}

#[test]
fn traps_are_named() {
    assert_eq!(message(&plugin("", "unreachable")), "`unreachable` executed without a message");
    assert!(message(&plugin("", "(drop (i32.load (i32.const -4)))")).contains("out of bounds memory access"));
    assert!(message(&plugin("", "(drop (i32.div_s (i32.const 1) (i32.const 0)))")).contains("divide by zero"));
    let indirect = plugin("(table 1 funcref) (type $f (func))", "(call_indirect (type $f) (i32.const 0))");
    assert!(message(&indirect).contains("uninitialized element"));
}

#[test]
fn exit_ends_the_call_and_not_the_process() {
    let exits = from_text(
        "with-std",
        &core(r#"(import "wasi:cli/exit@0.2.6" "exit" (func $exit (param i32)))"#, "(call $exit (i32.const 0))"),
    );
    assert!(message(&exits).contains("exit"));
}

#[test]
fn what_is_returned_must_decode() {
    let returns = |store: &str| plugin("", &format!("{store} (return (i32.const 128))"));
    for (name, store) in [
        ("an unknown case", "(i32.store8 (i32.const 128) (i32.const 7))"),
        (
            "a text that is no UTF-8",
            "(i32.store8 (i32.const 128) (i32.const 1)) (i32.store8 (i32.const 512) (i32.const 255))
             (i32.store (i32.const 132) (i32.const 512)) (i32.store (i32.const 136) (i32.const 1))",
        ),
        (
            "a list outside of memory",
            "(i32.store8 (i32.const 128) (i32.const 0)) (i32.store (i32.const 132) (i32.const -16))
             (i32.store (i32.const 136) (i32.const 1000))",
        ),
        ("an unaligned result", "(return (i32.const 129))"),
        ("a result outside of memory", "(return (i32.const -4))"),
    ] {
        let failure = failure(&returns(store));
        assert!(matches!(failure, GuestFailure::Malformed(_)), "{name}: {failure:?}");
    }
}

#[test]
fn an_error_of_the_pass_is_passed_on() {
    let refuses = plugin(
        "",
        "(i32.store8 (i32.const 128) (i32.const 1)) (i32.store (i32.const 132) (i32.const 20))
         (i32.store (i32.const 136) (i32.const 5)) (return (i32.const 128))",
    );
    assert_eq!(failure(&refuses), GuestFailure::Refused("guest".into()));
}

#[test]
fn messages_out_of_turn_end_the_child_with_a_sentence() {
    let mut early = Guest::start();
    early.send(&ToGuest::Describe);
    let (status, stderr) = early.finish();
    assert!(status == Some(1) && stderr.contains("expected Load"), "{status:?} {stderr}");

    let mut twice = Guest::with(&plugin("", ""), GuestLimits::default());
    twice.send(&ToGuest::Load { wasm: vec![], artefact: None, limits: GuestLimits::default() });
    let (status, stderr) = twice.finish();
    assert!(status == Some(1) && stderr.contains("expected Describe or Run"), "{status:?} {stderr}");
}
