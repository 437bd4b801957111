//! Returns far more than the graph it was given.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|mut graph| {
    let value = graph.values[0].clone();
    graph.values.extend((0..200_000).map(|_| value.clone()));
    Ok(graph)
});
