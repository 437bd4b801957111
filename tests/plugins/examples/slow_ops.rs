//! Inserts products of large matrices that keep libtorch busy for minutes.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|mut graph| {
    use passhost_hostile_plugins::build::{insert_op, largest_input, replace_output_by_op};
    use passhost_hostile_plugins::passhost::pass::types::Arg;
    let (input, dtype, count) = largest_input(&graph);
    // The sample's sizes are multiples of it.
    let (n, mut at) = (6272, 0);
    let reshape = |graph: &mut _, at: &mut usize, shape: [i64; 2]| {
        insert_op(graph, at, ("aten::reshape", ""), vec![Arg::Value(input), Arg::Ints(shape.to_vec())], dtype, &shape)
    };
    let tall = reshape(&mut graph, &mut at, [n, count / n]);
    let wide = reshape(&mut graph, &mut at, [count / n, n]);
    let product = |graph: &mut _, at: &mut usize, a, b| {
        insert_op(graph, at, ("aten::mm", ""), vec![Arg::Value(a), Arg::Value(b)], dtype, &[n, n])
    };
    let mut square = product(&mut graph, &mut at, tall, wide);
    for _ in 0..40 {
        square = product(&mut graph, &mut at, square, square);
    }
    let sum = insert_op(&mut graph, &mut at, ("aten::sum", ""), vec![Arg::Value(square), Arg::None], dtype, &[]);
    Ok(replace_output_by_op(graph, "aten::add", "Tensor", vec![Arg::Value(input), Arg::Value(sum), Arg::Int(1)]))
});
