//! Recurses without end.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|graph| {
    fn deeper(depth: u64) -> u64 {
        if depth == u64::MAX {
            return 0;
        }
        let frame = std::hint::black_box([depth; 64]);
        frame[(depth % 64) as usize] + deeper(depth + 1)
    }
    Err(format!("{} {}", deeper(0), graph.nodes.len()))
});
