//! Products of matrices and vectors.

use super::{Addend, Contraction, ContractionOp, Find, Only, ProductFactor, call, tensor};
use crate::args::Args;
use crate::index::Index;
use crate::lower::call::Uncovered;
use crate::view::broadcast;
use passhost_ir::{Graph, Node, ValueId};

pub(super) const OPS: &[ContractionOp] = &[
    as_mm("aten::linear", linear),
    as_mm("aten::matmul", plain),
    ContractionOp {
        only: Only::calls("with a short side, and few products for each element that is read or written"),
        ..as_mm("aten::mm", plain)
    },
    as_mm("aten::bmm", plain),
    as_mm("aten::mv", plain),
    as_mm("aten::dot", plain),
    as_mm("aten::addmm", added),
    as_mm("aten::addmv", added),
    as_mm("aten::baddbmm", added),
    ContractionOp { only: Only::NOTHING, ..as_mm("aten::outer", outer) },
    ContractionOp { only: Only::calls("as mm, of two tensors"), ..as_mm("aten::einsum", einsum) },
];

const fn as_mm(name: &'static str, find: Find) -> ContractionOp {
    ContractionOp { name, overloads: &[""], only: Only::calls("as mm"), find }
}

fn plain(graph: &Graph, node: &Node) -> Result<Contraction, Uncovered> {
    matmul(graph, node, [0, 1])
}

/// Two factors without anything else.
fn product(rows: &[i64], window: Vec<i64>, factors: [(ValueId, Vec<Index>); 2]) -> Contraction {
    let factors = factors.map(|(tensor, at)| ProductFactor { tensor, at });
    let (rows, guard) = (rows.to_vec(), vec![]);
    Contraction { rows, window, factors, guard, scale: 1.0, addend: None, is_stored: false, convolves: false }
}

/// `(input, weight, bias)`, the weight with a row for each element of the result's last dimension.
fn linear(graph: &Graph, node: &Node) -> Result<Contraction, Uncovered> {
    let (args, rows) = call(graph, node)?;
    let (input, weight) = (tensor(args, 0)?, tensor(args, 1)?);
    let &length = graph.ty(input).shape.last().ok_or("multiplies a number")?;
    let axes = Index::axes(&[rows, &[length]].concat());
    let (own_axes, within) = axes.split_at(rows.len());
    // A weight of one dimension is a single row, which the result has no dimension for.
    let (outer, own) = match graph.ty(weight).rank() {
        2 => own_axes.split_at(rows.len().saturating_sub(1)),
        _ => own_axes.split_at(rows.len()),
    };
    let factors = [(input, [outer, within].concat()), (weight, [own, within].concat())];
    let addend = args.tensor(2).map(|bias| {
        let at = broadcast(&graph.ty(bias).shape, rows).ok_or("has a bias of another shape")?;
        Ok::<Addend, Uncovered>(Addend { tensor: bias, at, scale: 1.0 })
    });
    // Batches that do not lie behind each other are multiplied first.
    let is_stored = graph.ty(input).rank() > 2 && !graph.ty(input).is_contiguous();
    Ok(Contraction { addend: addend.transpose()?, is_stored, ..product(rows, vec![length], factors) })
}

/// Matrices in the last two dimensions of the tensors at two places, all others broadcast; vectors are a row and a column.
fn matmul(graph: &Graph, node: &Node, places: [usize; 2]) -> Result<Contraction, Uncovered> {
    let (args, rows) = call(graph, node)?;
    let [left, right] = [tensor(args, places[0])?, tensor(args, places[1])?];
    let [left_shape, right_shape] = [&graph.ty(left).shape[..], &graph.ty(right).shape[..]];
    let &length = left_shape.last().ok_or("multiplies a number")?;
    let axes = Index::axes(&[rows, &[length]].concat());
    let (own, within) = axes.split_at(rows.len());
    let columns = usize::from(right_shape.len() > 1);
    let inner = usize::from(left_shape.len() > 1) + columns;
    let batches = &rows[..rows.len().checked_sub(inner).ok_or("has a result of too few dimensions")?];
    let batched = |shape: &[i64]| {
        let outer = &shape[..shape.len().saturating_sub(2)];
        broadcast(outer, batches).ok_or_else(|| "has batches that do not fit".to_owned())
    };
    let (row, column) = own[batches.len()..].split_at(inner - columns);
    let left_at = [&batched(left_shape)?[..], row, within].concat();
    let right_at = [&batched(right_shape)?[..], within, column].concat();
    Ok(product(rows, vec![length], [(left, left_at), (right, right_at)]))
}

/// `(self, left, right, beta, alpha)`: `beta * self + alpha * (left @ right)`.
fn added(graph: &Graph, node: &Node) -> Result<Contraction, Uncovered> {
    let contraction = matmul(graph, node, [1, 2])?;
    let (args, rows) = call(graph, node)?;
    let own = tensor(args, 0)?;
    let at = broadcast(&graph.ty(own).shape, rows).ok_or("adds a tensor of another shape")?;
    let [scale, alpha] = [factor(args, 3), factor(args, 4)];
    // Without a share in the result it is not read, whatever it holds.
    let addend = (scale != 0.0).then_some(Addend { tensor: own, at, scale });
    Ok(Contraction { scale: alpha, addend, ..contraction })
}

fn factor(args: Args<'_>, place: usize) -> f64 {
    args.number(place).unwrap_or(1.0)
}

fn outer(graph: &Graph, node: &Node) -> Result<Contraction, Uncovered> {
    let (args, rows) = call(graph, node)?;
    let &[first, second] = rows else { return Err("has a result of other than two dimensions".to_owned()) };
    let at = |axis: usize, extent: i64| vec![Index::axis(axis, extent)];
    Ok(product(rows, vec![1], [(tensor(args, 0)?, at(0, first)), (tensor(args, 1)?, at(1, second))]))
}

/// `(equation, tensors)`, of two tensors whose dimensions the equation names letter by letter.
fn einsum(graph: &Graph, node: &Node) -> Result<Contraction, Uncovered> {
    let (args, rows) = call(graph, node)?;
    let equation: String = args.text(0).unwrap_or_default().split_whitespace().collect();
    let Some(&[left, right]) = args.tensors(1) else { return Err("is not of two tensors".to_owned()) };
    let names = equation.split_once("->").and_then(|(terms, result)| Some((terms.split_once(',')?, result)));
    let Some(((first, second), result)) = names.filter(|_| !equation.contains('.')) else {
        return Err(format!("has the equation {equation}; two terms and a result without dots are covered"));
    };
    let mut letters: Vec<char> = result.chars().collect();
    letters.extend(first.chars().chain(second.chars()));
    let mut known = Vec::new();
    letters.retain(|letter| {
        !known.contains(letter) && {
            known.push(*letter);
            true
        }
    });
    let terms = [(first, left), (second, right)];
    let extent = |letter: &char| {
        let of = |(term, tensor): &(&str, ValueId)| {
            let dims = term.chars().zip(&graph.ty(*tensor).shape);
            dims.filter(|(name, _)| name == letter).map(|(_, &extent)| extent).max()
        };
        terms.iter().filter_map(of).max().unwrap_or(1)
    };
    let extents: Vec<i64> = letters.iter().map(extent).collect();
    if extents.get(..rows.len()) != Some(rows) || result.chars().count() != rows.len() {
        return Err(format!("has the equation {equation}, which does not give its result"));
    }
    let at = |(term, tensor): (&str, ValueId)| {
        let axis = |(letter, &own): (char, &i64)| {
            let axis = letters.iter().position(|known| *known == letter).unwrap_or(0);
            Index::axis(axis, own)
        };
        (tensor, term.chars().zip(&graph.ty(tensor).shape).map(axis).collect())
    };
    let window = match &extents[rows.len()..] {
        [] => vec![1],
        window => window.to_vec(),
    };
    Ok(product(rows, window, terms.map(at)))
}
