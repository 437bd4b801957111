//! Inserts ops that need far more memory than the sample: outer products that are all alive at once.
#[cfg(target_arch = "wasm32")]
passhost_hostile_plugins::hostile!(|mut graph| {
    use passhost_hostile_plugins::build::{insert_op, largest_input, replace_output_by_op};
    use passhost_hostile_plugins::passhost::pass::types::Arg;
    let (input, dtype, count) = largest_input(&graph);
    // The sample's sizes are multiples of it.
    let (n, mut at) = (12_544, 0);
    let mut call =
        |op: (&str, &str), args: Vec<Arg>, shape: &[i64]| insert_op(&mut graph, &mut at, op, args, dtype, shape);
    let flat_shape = [count / n, n];
    let flat = call(("aten::reshape", ""), vec![Arg::Value(input), Arg::Ints(flat_shape.to_vec())], &flat_shape);
    let sum_args = vec![Arg::Value(flat), Arg::Ints(vec![0]), Arg::Boolean(false), Arg::None];
    let row = call(("aten::sum", "dim_IntList"), sum_args, &[n]);
    let column = call(("aten::reshape", ""), vec![Arg::Value(row), Arg::Ints(vec![n, 1])], &[n, 1]);
    let products: Vec<u32> =
        (0..8).map(|_| call(("aten::mul", "Tensor"), vec![Arg::Value(column), Arg::Value(row)], &[n, n])).collect();
    let sums: Vec<u32> =
        products.iter().map(|&product| call(("aten::sum", ""), vec![Arg::Value(product), Arg::None], &[])).collect();
    let mut total = sums[0];
    for &sum in &sums[1..] {
        total = call(("aten::add", "Tensor"), vec![Arg::Value(total), Arg::Value(sum), Arg::Int(1)], &[]);
    }
    Ok(replace_output_by_op(graph, "aten::add", "Tensor", vec![Arg::Value(input), Arg::Value(total), Arg::Int(1)]))
});
