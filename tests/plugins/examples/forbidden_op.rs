//! Inserts an op that leaves its output unwritten.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|graph| {
    use passhost_hostile_plugins::{build::replace_output_by_op, passhost::pass::types::Arg};
    let like = Arg::Value(graph.inputs[0]);
    let args = vec![like, Arg::None, Arg::None, Arg::None, Arg::None, Arg::None];
    Ok(replace_output_by_op(graph, "aten::empty_like", "", args))
});
