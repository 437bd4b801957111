//! Never returns.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|_| loop {
    std::hint::black_box(());
});
