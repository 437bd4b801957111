//! Asks for types without end.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|_| loop {
    use passhost_hostile_plugins::passhost::pass::{host::infer, types::OpName};
    let _ = infer(&OpName { name: "aten::relu".into(), overload: String::new() }, &[]);
});
