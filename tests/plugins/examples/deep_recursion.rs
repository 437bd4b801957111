//! Recurses without end, in frames that WebAssembly's own stack holds.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|graph| {
    // Not a sum or a product: the compiler would make a loop of that.
    fn deeper(depth: u64) -> u64 {
        if depth == u64::MAX { 0 } else { deeper(depth + 1).rotate_left(3) ^ depth }
    }
    Err(format!("{} {}", deeper(graph.nodes.len() as u64), graph.nodes.len()))
});
