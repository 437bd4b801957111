//! Logs without end.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|_| loop {
    passhost_hostile_plugins::passhost::pass::host::log(&"x".repeat(1000));
});
