//! Returns a graph with one output less.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|mut graph| {
    graph.outputs.pop();
    Ok(graph)
});
