//! Inserts an op that libtorch refuses when it runs: an index behind the end.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|mut graph| {
    use passhost_hostile_plugins::build::{insert_op, largest_input, replace_output_by_op};
    use passhost_hostile_plugins::passhost::pass::types::{Arg, Dtype};
    let (input, dtype, count) = largest_input(&graph);
    let mut at = 0;
    let flat = insert_op(
        &mut graph,
        &mut at,
        ("aten::reshape", ""),
        vec![Arg::Value(input), Arg::Ints(vec![1, count])],
        dtype,
        &[1, count],
    );
    let args = vec![Arg::Value(flat), Arg::Int(1), Arg::Boolean(false)];
    let largest = insert_op(&mut graph, &mut at, ("aten::argmax", ""), args, Dtype::I64, &[1]);
    let args = vec![Arg::Value(largest), Arg::Int(count), Arg::Int(1)];
    let behind = insert_op(&mut graph, &mut at, ("aten::add", "Scalar"), args, Dtype::I64, &[1]);
    let args = vec![Arg::Value(flat), Arg::Int(1), Arg::Value(behind)];
    let element = insert_op(&mut graph, &mut at, ("aten::index_select", ""), args, dtype, &[1, 1]);
    Ok(replace_output_by_op(graph, "aten::add", "Tensor", vec![Arg::Value(input), Arg::Value(element), Arg::Int(1)]))
});
