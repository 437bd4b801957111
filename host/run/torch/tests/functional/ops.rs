//! Every in-place op on targets of every layout.

use crate::run::{check, runs};
use passhost_ir::schema::BaseType;
use passhost_ir::{Arg, Dtype, Graph, Node, NodeId, NodeKind, OpTable, Schema, TensorType};

/// Of the elements of inputs.
const SEED: u64 = 3;

/// The layouts of targets: types, and whether they have gaps.
fn targets(dtype: Dtype) -> Vec<TensorType> {
    let strided =
        |shape: &[i64], strides: &[i64]| TensorType { dtype, shape: shape.to_vec(), strides: strides.to_vec() };
    vec![
        TensorType::contiguous(dtype, [4, 6]),
        strided(&[4, 6], &[1, 4]),
        strided(&[4, 6], &[12, 2]),
        strided(&[4, 6], &[2, 9]),
        strided(&[2, 3, 4, 5], &[60, 1, 15, 3]),
        strided(&[2, 3, 4, 5], &[120, 1, 30, 6]),
        strided(&[2, 1, 4], &[4, 4, 1]),
        strided(&[2, 1, 4], &[4, 9, 1]),
        strided(&[3, 4, 6], &[1, 18, 3]),
        TensorType::contiguous(dtype, [4]),
        strided(&[4], &[2]),
        TensorType::contiguous(dtype, []),
    ]
}

/// Types of the tensors that an op takes beside its target.
fn operands(dtype: Dtype, target: &TensorType) -> Vec<TensorType> {
    let reversed = {
        let mut ty = TensorType::contiguous(dtype, target.shape.iter().rev().copied().collect::<Vec<_>>());
        ty.shape.reverse();
        ty.strides.reverse();
        ty
    };
    let last: Vec<i64> = target.shape.last().copied().into_iter().collect();
    let mut types = vec![
        TensorType { dtype, ..target.clone() },
        TensorType::contiguous(dtype, target.shape.clone()),
        reversed,
        TensorType::contiguous(dtype, last),
    ];
    types.dedup();
    types
}

/// A call of `schema` on a target and operands of these types; `None` for ops that take matrices or indices.
fn elementwise(schema: &Schema, target: &TensorType, operand: &TensorType) -> Option<(Graph, Vec<Arg>)> {
    let mut graph = Graph::default();
    let mut args = vec![];
    for (position, declared) in schema.args.iter().enumerate() {
        let is_tensor = declared.ty.base == BaseType::Tensor && declared.ty.list.is_none();
        args.push(match (declared.name.as_str(), &declared.default) {
            _ if position == 0 => tensor(&mut graph, target.clone()),
            ("mask", _) => tensor(&mut graph, TensorType { dtype: Dtype::Bool, ..operand.clone() }),
            ("value", _) if is_tensor => tensor(&mut graph, TensorType::contiguous(target.dtype, [])),
            ("index" | "mat" | "mat1" | "batch1" | "indices" | "source", _) => return None,
            ("train" | "accumulate" | "non_blocking", _) => Arg::Bool(false),
            ("rounding_mode", _) => Arg::Str("floor".into()),
            _ if is_tensor => tensor(&mut graph, operand.clone()),
            (_, Some(default)) => default.map(|never| match *never {}),
            ("p", _) => Arg::Float(0.5),
            ("dim" | "decimals", _) => Arg::Int(0),
            _ => Arg::Int(2),
        });
    }
    Some((graph, args))
}

fn tensor(graph: &mut Graph, ty: TensorType) -> Arg {
    let id = graph.add_value(graph.fresh_name(), ty);
    graph.inputs.push(id);
    Arg::Value(id)
}

/// Calls of ops that take matrices, indices or dimensions, on a target `%x` of four rows and six columns, or of a vector
/// or a batch where that is named.
const OTHERS: &[(&str, &[i64], &str, &str)] = &[
    ("aten::clamp_", &[4, 6], "", "%x, 0, 1.5"),
    ("aten::clip_", &[4, 6], "", "%x, 0, 1"),
    ("aten::addmm_", &[4, 6], "", "%x, %m, %n"),
    ("aten::baddbmm_", &[3, 4, 6], "", "%x, %b, %c"),
    ("aten::addmv_", &[4], "", "%x, %m, %v"),
    ("aten::masked_scatter_", &[4, 6], "%k: bool[4,6] = aten::gt.Scalar(%s, 0)", "%x, %k, %s"),
    ("aten::index_put_", &[4, 6], "%k: i64[2] = aten::arange(2)", "%x, [%k], %r"),
    ("aten::index_put_", &[4, 6], "%k: i64[2] = aten::arange(2)", "%x, [none, %k], %q, true"),
    ("aten::index_add_", &[4, 6], "%k: i64[2] = aten::arange(2)", "%x, 0, %k, %r"),
    ("aten::index_copy_", &[4, 6], "%k: i64[2] = aten::arange(2)", "%x, 0, %k, %r"),
    ("aten::index_fill_.int_Scalar", &[4, 6], "%k: i64[2] = aten::arange(2)", "%x, 1, %k, 2"),
    ("aten::index_fill_.int_Tensor", &[4, 6], "%k: i64[2] = aten::arange(2)", "%x, 1, %k, %o"),
    ("aten::index_reduce_", &[4, 6], "%k: i64[2] = aten::arange(2)", "%x, 0, %k, %r, \"amax\""),
    (
        "aten::scatter_.reduce",
        &[4, 6],
        "%k: i64[2,6] = aten::zeros([2, 6], dtype=i64)",
        "%x, 0, %k, %s, reduce=\"add\"",
    ),
    (
        "aten::scatter_.value_reduce",
        &[4, 6],
        "%k: i64[2,6] = aten::zeros([2, 6], dtype=i64)",
        "%x, 0, %k, 2, reduce=\"multiply\"",
    ),
    ("aten::scatter_.src", &[4, 6], "%k: i64[2,6] = aten::zeros([2, 6], dtype=i64)", "%x, 0, %k, %s"),
    ("aten::scatter_.value", &[4, 6], "%k: i64[2,6] = aten::zeros([2, 6], dtype=i64)", "%x, 0, %k, 2"),
    ("aten::scatter_add_", &[4, 6], "%k: i64[2,6] = aten::zeros([2, 6], dtype=i64)", "%x, 0, %k, %s"),
    ("aten::scatter_reduce_.two", &[4, 6], "%k: i64[2,6] = aten::zeros([2, 6], dtype=i64)", "%x, 0, %k, %s, \"amax\""),
];

/// The graphs of [`OTHERS`] for an op and a target.
fn others(schema: &Schema, target: &TensorType) -> Vec<Graph> {
    let op = schema.op.to_string();
    let calls = OTHERS.iter().filter(|(name, shape, ..)| *name == op && *shape == target.shape);
    let text = |(_, _, before, args): &(&str, &[i64], &str, &str)| {
        let d = target.dtype;
        format!(
            "graph(%x: {target}, %m: {d}[4,2], %n: {d}[2,6], %b: {d}[3,4,2], %c: {d}[3,2,6], %v: {d}[2], %s: {d}[4,6],
              %r: {d}[2,6], %q: {d}[4,2], %u: {d}[4], %w: {d}[6], %o: {d}[]) {{
                {before} %y: {target} = {op}({args}) return (%y, %x) }}"
        )
    };
    calls.map(|call| Graph::parse(&text(call)).unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// The graph with the call added.
fn complete((mut graph, args): (Graph, Vec<Arg>), schema: &Schema) -> Option<Graph> {
    let first = *args[0].values().next()?;
    let result = graph.add_value("r", graph.ty(first).clone());
    let kind = NodeKind::Aten { op: schema.op.clone(), args };
    graph.nodes.push(Node { id: NodeId(0), kind, outputs: vec![result] });
    graph.outputs.extend([result, first]);
    Some(graph)
}

#[test]
fn counterparts_return_what_in_place_ops_write_in_every_layout() {
    crate::start();
    let mut untested = vec![];
    for schema in OpTable::sample().iter().filter(|schema| schema.is_in_place()) {
        let mut count = 0;
        for (dtype, other) in [
            (Dtype::F32, Dtype::F32),
            (Dtype::F16, Dtype::F32),
            (Dtype::Bf16, Dtype::F16),
            (Dtype::I64, Dtype::I64),
            (Dtype::I32, Dtype::I64),
            (Dtype::Bool, Dtype::Bool),
        ] {
            for target in targets(dtype) {
                let calls = operands(other, &target).into_iter().filter_map(|ty| elementwise(schema, &target, &ty));
                let calls: Vec<Graph> = calls.filter_map(|call| complete(call, schema)).collect();
                let calls = calls.into_iter().chain(others(schema, &target));
                for program in calls.filter(|program| runs(program, SEED)) {
                    let title = format!("{} on {target}", schema.op);
                    check(&program, &title, SEED).unwrap_or_else(|error| panic!("{title}: {error}"));
                    count += 1;
                }
            }
        }
        if count == 0 {
            untested.push(schema.op.to_string());
        }
    }
    assert_eq!(untested, Vec::<String>::new());
}
