//! Gives up with an error of its own.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|_| Err("this pass does not feel like it".into()));
