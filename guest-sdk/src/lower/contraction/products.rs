//! Products of matrices and vectors.

use super::{Addend, Contraction, ProductFactor};
use crate::index::Index;
use crate::lower::call::Uncovered;
use crate::lower::node_call::NodeCall;
use crate::lower::rule::Rule;
use crate::view::broadcast;
use passhost_ir::ValueId;

pub(in crate::lower) const RULES: &[Rule] = &[
    Rule::products("aten::linear", &[""], linear).only("as mm"),
    Rule::products("aten::matmul", &[""], plain).only("as mm"),
    Rule::products("aten::mm", &[""], plain)
        .only("with a short side, and few products for each element that is read or written"),
    Rule::products("aten::bmm", &[""], plain).only("as mm"),
    Rule::products("aten::mv", &[""], plain).only("as mm"),
    Rule::products("aten::dot", &[""], plain).only("as mm"),
    Rule::products("aten::addmm", &[""], added).only("as mm"),
    Rule::products("aten::addmv", &[""], added).only("as mm"),
    Rule::products("aten::baddbmm", &[""], added).only("as mm"),
    Rule::products("aten::outer", &[""], outer),
    Rule::products("aten::einsum", &[""], einsum).only("as mm, of two tensors"),
];

fn plain(call: &NodeCall<'_>) -> Result<Contraction, Uncovered> {
    matmul(call, [0, 1])
}

/// Two factors without anything else.
fn product(rows: &[i64], window: Vec<i64>, factors: [(ValueId, Vec<Index>); 2]) -> Contraction {
    let factors = factors.map(|(tensor, at)| ProductFactor { tensor, at });
    let (rows, guard) = (rows.to_vec(), vec![]);
    let (scale, addend, is_stored, convolves, is_as_in_libraries) = (1.0, None, false, false, true);
    Contraction { rows, window, factors, guard, scale, addend, is_stored, convolves, is_as_in_libraries }
}

/// `(input, weight, bias)`, the weight with a row for each element of the result's last dimension.
fn linear(call: &NodeCall<'_>) -> Result<Contraction, Uncovered> {
    let mut contraction = plain(call)?;
    contraction.factors[1].at.reverse();
    if let Some(tensor) = call.args.tensor(2) {
        let at = broadcast(call.shape(tensor), &contraction.rows).ok_or("has a bias of another shape")?;
        contraction.addend = Some(Addend { tensor, at, scale: 1.0 });
    }
    // Batches that do not lie behind each other are multiplied first.
    let input = call.graph.ty(call.tensor(0)?);
    contraction.is_stored = input.rank() > 2 && !input.is_contiguous();
    Ok(contraction)
}

/// Matrices in the last two dimensions of the tensors at two places, all others broadcast; vectors are a row and a column.
fn matmul(call: &NodeCall<'_>, places: [usize; 2]) -> Result<Contraction, Uncovered> {
    let rows = &call.result()?.shape[..];
    let [left, right] = [call.tensor(places[0])?, call.tensor(places[1])?];
    let [left_shape, right_shape] = [call.shape(left), call.shape(right)];
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
fn added(call: &NodeCall<'_>) -> Result<Contraction, Uncovered> {
    let contraction = matmul(call, [1, 2])?;
    let tensor = call.tensor(0)?;
    let at = broadcast(call.shape(tensor), &contraction.rows).ok_or("adds a tensor of another shape")?;
    let [beta, alpha] = [3, 4].map(|place| call.args.number(place).unwrap_or(1.0));
    // Without a share in the result it is not read, whatever it holds.
    let addend = (beta != 0.0).then_some(Addend { tensor, at, scale: beta });
    Ok(Contraction { scale: alpha, addend, ..contraction })
}

fn outer(call: &NodeCall<'_>) -> Result<Contraction, Uncovered> {
    let rows = &call.result()?.shape[..];
    let &[first, second] = rows else { return Err("has a result of other than two dimensions".to_owned()) };
    let at = |axis: usize, extent: i64| vec![Index::axis(axis, extent)];
    Ok(product(rows, vec![1], [(call.tensor(0)?, at(0, first)), (call.tensor(1)?, at(1, second))]))
}

/// `(equation, tensors)`, of two tensors whose dimensions the equation names letter by letter.
fn einsum(call: &NodeCall<'_>) -> Result<Contraction, Uncovered> {
    let rows = &call.result()?.shape[..];
    let equation: String = call.args.text(0).unwrap_or_default().split_whitespace().collect();
    let Some(&[left, right]) = call.args.tensors(1) else { return Err("is not of two tensors".to_owned()) };
    let names = equation.split_once("->").and_then(|(terms, result)| Some((terms.split_once(',')?, result)));
    let Some(((first, second), result)) = names.filter(|_| !equation.contains('.')) else {
        return Err(format!("has the equation {equation}; two terms and a result without dots are covered"));
    };
    let mut letters: Vec<char> = vec![];
    for letter in result.chars().chain(first.chars()).chain(second.chars()) {
        if !letters.contains(&letter) {
            letters.push(letter);
        }
    }
    let terms = [(first, left), (second, right)];
    let extent = |letter: &char| {
        let of = |(term, tensor): &(&str, ValueId)| {
            let dims = term.chars().zip(call.shape(*tensor));
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
        (tensor, term.chars().zip(call.shape(tensor)).map(axis).collect())
    };
    let window = if extents.len() > rows.len() { extents[rows.len()..].to_vec() } else { vec![1] };
    Ok(product(rows, window, terms.map(at)))
}
