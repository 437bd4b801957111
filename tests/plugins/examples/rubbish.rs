//! Returns ids that do not exist.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|mut graph| {
    graph.outputs = vec![u32::MAX];
    graph.nodes[0].outputs = vec![4_000_000_000];
    Ok(graph)
});
