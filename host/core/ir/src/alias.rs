//! Which results share memory with which operands.
//!
//! A schema says what *may* alias: `aten::reshape` returns a view or a copy. The types of a call decide which.

use crate::ops::Shows;
use crate::schema::BaseType;
use crate::{Arg, Graph, Node, NodeKind, OpRow, OpTable, Schema, TensorType, ValueId};

/// How the results of a node relate to its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aliasing {
    /// Fresh memory.
    None,
    /// The only result is this operand under another name: same memory, same type.
    Identity(ValueId),
    /// The results are views of these operands.
    View(Vec<ValueId>),
    /// The op calculates, but for some operands it returns a view of them.
    Possible(Vec<ValueId>),
}

impl Aliasing {
    /// The operands whose memory the results may share.
    pub fn sources(&self) -> &[ValueId] {
        match self {
            Aliasing::None => &[],
            Aliasing::Identity(source) => std::slice::from_ref(source),
            Aliasing::View(sources) | Aliasing::Possible(sources) => sources,
        }
    }
}

/// What is known of a node of a graph whose structure is verified. An op that is on no list is taken to alias all its
/// operands. In-place ops are identities of what they write to.
pub fn aliasing(graph: &Graph, node: &Node, ops: &OpTable) -> Aliasing {
    let NodeKind::Aten { op, args } = &node.kind else { return Aliasing::None };
    let Some(schema) = ops.get(op) else { return Aliasing::Possible(node.operands()) };
    let shows = OpRow::of(op).and_then(|row| row.shows);
    let sources = sources(schema, shows, args);
    if shows == Some(Shows::Einsum) {
        return einsum(graph, node, sources);
    }
    let ([source], [result]) = (&sources[..], &node.outputs[..]) else {
        return if sources.is_empty() { Aliasing::None } else { Aliasing::View(sources) };
    };
    if schema.is_in_place() {
        return Aliasing::Identity(*source);
    }
    let (from, to) = (graph.ty(*source), graph.ty(*result));
    let flag = |name: &str| schema.position(name).is_some_and(|p| matches!(args.get(p), Some(Arg::Bool(true))));
    match shows {
        // These return their operand if it already is what they should make of it, and a copy otherwise.
        Some(Shows::Converted) => {
            if same_layout(from, to) && !flag("copy") {
                Aliasing::Identity(*source)
            } else {
                Aliasing::None
            }
        }
        Some(Shows::Reshaped) => {
            let view = view_strides(from, &to.shape).map(|strides| TensorType { strides, ..to.clone() });
            match view {
                Some(view) if same_layout(&view, to) && same_layout(from, to) => Aliasing::Identity(*source),
                Some(view) if same_layout(&view, to) => Aliasing::View(sources),
                _ => Aliasing::None,
            }
        }
        Some(Shows::Same | Shows::SameInInference) => Aliasing::Identity(*source),
        // A slice or a select that is as large as its operand must be all of it; so must a view of the same layout.
        Some(Shows::Shape | Shows::Bits | Shows::Spread | Shows::Slice | Shows::Narrow | Shows::Real)
            if from == to && from.numel() > 0 =>
        {
            Aliasing::Identity(*source)
        }
        // Without an offset it begins where its operand does.
        Some(Shows::Addressed) if from == to && from.numel() > 0 && matches!(args.get(3), Some(Arg::None)) => {
            Aliasing::Identity(*source)
        }
        _ => Aliasing::View(sources),
    }
}

/// Whether a node does nothing but to make views of its operands: it runs no kernel.
pub fn only_views(graph: &Graph, node: &Node, ops: &OpTable) -> bool {
    let NodeKind::Aten { op, .. } = &node.kind else { return false };
    let writes = ops.get(op).is_none_or(Schema::is_in_place);
    !writes && matches!(aliasing(graph, node, ops), Aliasing::Identity(_) | Aliasing::View(_))
}

/// Whether every result of an op shares memory with an operand, whatever it is called with: it moves no element.
pub fn never_copies(schema: &Schema) -> bool {
    match OpRow::of(&schema.op).and_then(|row| row.shows) {
        None | Some(Shows::Copied | Shows::Converted | Shows::Reshaped | Shows::SameInInference | Shows::Einsum) => {
            false
        }
        // Of some of them the schema does not say so.
        Some(_) => true,
    }
}

/// An einsum of several operands multiplies them. Of one, it sums or takes a diagonal, both of which cost a dimension, or
/// it permutes: `ij->ji`.
fn einsum(graph: &Graph, node: &Node, sources: Vec<ValueId>) -> Aliasing {
    match (&sources[..], &node.outputs[..]) {
        ([source], [result]) if graph.ty(*source).rank() == graph.ty(*result).rank() => Aliasing::View(sources),
        ([_], _) => Aliasing::Possible(sources),
        _ => Aliasing::None,
    }
}

/// The operands that an op may return, or show parts of: those of which its schema says so, or else the first.
fn sources(schema: &Schema, shows: Option<Shows>, args: &[Arg]) -> Vec<ValueId> {
    let train = schema.position("train").and_then(|position| args.get(position));
    let trains = shows == Some(Shows::SameInInference) && train == Some(&Arg::Bool(true));
    let is_quiet = !matches!(shows, None | Some(Shows::Copied))
        && !trains
        && schema.args.iter().all(|declared| declared.alias.is_none());
    let first = schema.args.iter().position(|declared| declared.ty.base == BaseType::Tensor).filter(|_| is_quiet);
    let declared = schema.args.iter().zip(args).enumerate();
    let counts = |position: usize, is_aliased: bool| is_aliased || first == Some(position);
    let sources = declared.filter(|(position, (declared, _))| counts(*position, declared.alias.is_some()));
    sources.flat_map(|(_, (_, arg))| arg.values().copied()).collect()
}

/// The same element type, shape and addresses: strides of dimensions of extent 1 do not matter, nor do any strides of
/// an empty tensor.
pub fn same_layout(a: &TensorType, b: &TensorType) -> bool {
    let same_strides = || {
        let mut strides = a.shape.iter().zip(a.strides.iter().zip(&b.strides));
        a.strides.len() == b.strides.len() && strides.all(|(&extent, (x, y))| extent == 1 || x == y)
    };
    a.dtype == b.dtype && a.shape == b.shape && (a.numel() == 0 || same_strides())
}

/// The strides of a view of shape `shape` over a tensor, or `None` if only a copy can have that shape. After
/// `at::detail::computeStride`.
pub fn view_strides(from: &TensorType, shape: &[i64]) -> Option<Vec<i64>> {
    if from.numel() != crate::numel(shape) || from.shape.len() != from.strides.len() {
        return None;
    }
    if from.numel() == 0 {
        return Some(if from.shape == shape { from.strides.clone() } else { crate::contiguous_strides(shape) });
    }
    let mut strides = vec![1; shape.len()];
    if from.rank() == 0 {
        return Some(strides);
    }
    let mut wanted = shape.len();
    let mut base_stride = from.strides.last().copied().unwrap_or(1);
    let (mut chunk, mut seen) = (1i64, 1i64);
    // Walk both shapes from the inside; a chunk is a run of dimensions of `from` that lie as one.
    for dim in (0..from.rank()).rev() {
        chunk = chunk.saturating_mul(from.shape[dim]);
        let ends = dim == 0 || (from.shape[dim - 1] != 1 && from.strides[dim - 1] != chunk.saturating_mul(base_stride));
        if !ends {
            continue;
        }
        while wanted > 0 && (seen < chunk || shape[wanted - 1] == 1) {
            wanted -= 1;
            strides[wanted] = seen.saturating_mul(base_stride);
            seen = seen.saturating_mul(shape[wanted]);
        }
        if seen != chunk {
            return None;
        }
        if dim > 0 {
            base_stride = from.strides[dim - 1];
            (chunk, seen) = (1, 1);
        }
    }
    (wanted == 0).then_some(strides)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn aliasing_follows_from_op_and_types() {
        let x = ValueId(0);
        for (op, expected) in [
            ("aten::relu(%x)", Aliasing::None),
            ("aten::relu_(%x)", Aliasing::Identity(x)),
            ("aten::dropout(%x, 0.1, false)", Aliasing::Identity(x)),
            ("aten::contiguous(%x)", Aliasing::Identity(x)),
            ("aten::to.dtype(%x, f32)", Aliasing::Identity(x)),
            ("aten::to.dtype(%x, f32, copy=true)", Aliasing::None),
            ("aten::clone(%x)", Aliasing::None),
            ("aten::view(%x, [2, 3])", Aliasing::Identity(x)),
            ("aten::as_strided(%x, [2, 3], [3, 1])", Aliasing::Identity(x)),
            ("aten::as_strided(%x, [2, 3], [3, 1], 0)", Aliasing::View(vec![x])),
            (r#"aten::einsum("ij,ij->ij", [%x, %x])"#, Aliasing::None),
        ] {
            let text = format!("graph(%x: f32[2,3]) {{\n  %1: f32[2,3] = {op}\n  return (%1)\n}}\n");
            let graph = Graph::parse(&text).unwrap();
            assert_eq!(aliasing(&graph, &graph.nodes[0], OpTable::sample()), expected, "{op}");
        }
        for (from, to, op, views) in [
            ("f32[2,3]", "f32[3,2]{1,3}", "aten::t(%x)", true),
            ("f32[2,3]", "f32[6]", "aten::reshape(%x, [6])", true),
            ("f32[2,3]{1,2}", "f32[6]", "aten::reshape(%x, [6])", false),
            ("f32[2,3]{1,2}", "f32[2,3]", "aten::contiguous(%x)", false),
            ("f32[2,3]", "f16[2,3]", "aten::to.dtype(%x, f16)", false),
            ("f32[2,3]", "f32[3]", "aten::select.int(%x, 0, 1)", true),
            ("f32[2,3]", "f32[3,2]{1,3}", r#"aten::einsum("ij->ji", [%x])"#, true),
        ] {
            let text = format!("graph(%x: {from}) {{\n  %1: {to} = {op}\n  return (%1)\n}}\n");
            let graph = Graph::parse(&text).unwrap();
            let expected = if views { Aliasing::View(vec![x]) } else { Aliasing::None };
            assert_eq!(aliasing(&graph, &graph.nodes[0], OpTable::sample()), expected, "{op}");
        }
    }

    #[test]
    fn what_writes_or_may_copy_is_more_than_a_view() {
        for (from, to, op, expected) in [
            ("f32[2,3]", "f32[3,2]{1,3}", "aten::t(%x)", true),
            ("f32[2,3]", "f32[2,3]", "aten::contiguous(%x)", true),
            ("f32[2,3]{1,2}", "f32[2,3]", "aten::contiguous(%x)", false),
            ("f32[2,3]{1,2}", "f32[6]", "aten::reshape(%x, [6])", false),
            ("f32[2,3]", "f32[2,3]", "aten::relu_(%x)", false),
            ("f32[2,3]", "f32[2,3]", "aten::relu(%x)", false),
            ("f32[2,3]", "f32[2,3]", "aten::on_no_list(%x)", false),
        ] {
            let text = format!("graph(%x: {from}) {{\n  %1: {to} = {op}\n  return (%1)\n}}\n");
            let graph = Graph::parse(&text).unwrap();
            assert_eq!(only_views(&graph, &graph.nodes[0], OpTable::sample()), expected, "{op} of {from}");
        }
    }

    #[test]
    fn what_never_copies_is_known_of_every_op_that_a_rewrite_may_insert() {
        let views = OpTable::insert().iter().filter(|schema| never_copies(schema));
        let mut names: Vec<&str> = views.map(|schema| schema.op.name.trim_start_matches("aten::")).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(
            names.join(" "),
            "_unsafe_view alias broadcast_tensors broadcast_to chunk detach diagonal dsplit expand expand_as hsplit imag \
             lift_fresh mT meshgrid moveaxis movedim narrow numpy_T permute positive real select slice split \
             split_with_sizes squeeze swapaxes swapdims t tensor_split transpose unbind unflatten unfold unsqueeze view \
             view_as view_as_complex view_as_real vsplit"
        );
    }

    #[test]
    fn view_strides_agree_with_pytorch() {
        let ty = |shape: &[i64], strides: &[i64]| TensorType {
            dtype: crate::Dtype::F32,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        };
        for (from, shape, expected) in [
            (ty(&[2, 3, 4], &[12, 4, 1]), vec![6, 4], Some(vec![4, 1])),
            (ty(&[2, 3, 4], &[12, 4, 1]), vec![2, 1, 12], Some(vec![12, 12, 1])),
            (ty(&[2, 3, 4], &[12, 1, 3]), vec![2, 12], None),
            (ty(&[2, 3, 4], &[12, 1, 3]), vec![2, 3, 2, 2], Some(vec![12, 1, 6, 3])),
            (ty(&[4, 1, 2], &[2, 99, 1]), vec![8], Some(vec![1])),
            (ty(&[], &[]), vec![1, 1], Some(vec![1, 1])),
            (ty(&[3], &[0]), vec![3, 1], Some(vec![0, 0])),
            (ty(&[2, 3], &[3, 1]), vec![5], None),
        ] {
            assert_eq!(view_strides(&from, &shape), expected, "{from} as {shape:?}");
        }
    }
}
