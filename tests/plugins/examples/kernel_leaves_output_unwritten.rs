//! Returns a kernel that writes half of its output.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|graph| {
    use passhost_hostile_plugins::build::replace_output_by_copy;
    Ok(replace_output_by_copy(graph, |kernel| kernel.parallel[0] = (kernel.parallel[0] / 2).max(2)))
});
