//! Panics, with escapes in the message.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|graph| panic!("\u{1b}[2Jno idea what to do with {} nodes", graph.nodes.len()));
