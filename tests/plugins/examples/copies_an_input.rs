//! Returns an input where the answer should be: a valid rewrite, a wrong answer.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|graph| {
    Ok(passhost_hostile_plugins::build::replace_output_by_copy(graph, |_| ()))
});
