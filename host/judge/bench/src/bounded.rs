//! What a graph says of its inputs: which must stay in a range, and which numbers they are compared with.

use passhost_ir::ops::{Range as ValueRange, Shows};
use passhost_ir::verify::index_argument;
use passhost_ir::{Arg, Dtype, Graph, Node, NodeKind, OpName, OpRow, OpTable, Schema, ValueId, alias};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The numbers that a graph compares with, or bounds by.
pub fn literals(program: &Graph) -> Vec<f64> {
    const COMPARING: [&str; 12] =
        ["gt", "ge", "lt", "le", "eq", "ne", "clamp", "clamp_min", "clamp_max", "threshold", "hardtanh", "where"];
    let mut found: Vec<f64> = vec![];
    for node in &program.nodes {
        let NodeKind::Aten { op, args } = &node.kind else { continue };
        if COMPARING.contains(&op.name.trim_start_matches("aten::").trim_end_matches('_')) {
            found.extend(args.iter().filter_map(|arg| match arg {
                Arg::Float(value) => Some(*value),
                Arg::Int(value) => Some(*value as f64),
                _ => None,
            }));
        }
    }
    found.retain(|value| value.is_finite());
    found.sort_by(f64::total_cmp);
    found.dedup();
    found
}

/// For each input whether an index, or anything else that must stay in a range, is made of it: out of that range a kernel
/// of CUDA's takes the whole process down, or, where it divides or shifts integers, gives anything.
pub fn bounded_inputs(program: &Graph) -> Vec<bool> {
    let bounded = bounded_values(program);
    program.inputs.iter().map(|input| bounded.contains(input)).collect()
}

/// The same of all values.
fn bounded_values(program: &Graph) -> HashSet<ValueId> {
    let ops = OpTable::sample();
    let mut bounded: HashSet<ValueId> = HashSet::new();
    // Written through a view, a value may be bounded that is defined before what bounds it.
    let memory = memories(program, ops);
    loop {
        let before = bounded.len();
        for node in program.nodes.iter().rev() {
            let NodeKind::Aten { op, .. } = &node.kind else { continue };
            let written = ops.get(op).is_some_and(Schema::writes);
            let shared = |output: &ValueId| {
                let own = memory[output.index()];
                written && bounded.iter().any(|value| memory[value.index()] == own)
            };
            let reaching: Vec<&ValueId> =
                node.outputs.iter().filter(|output| bounded.contains(output) || shared(output)).collect();
            bounded.extend(bounded_by(program, node));
            bounded.extend(
                node.operands()
                    .into_iter()
                    .filter(|&operand| reaching.iter().any(|&&output| hands_on(program, op, operand, output))),
            );
        }
        if bounded.len() == before {
            return bounded;
        }
    }
}

/// The operands of a node that must stay in a range.
fn bounded_by(program: &Graph, node: &Node) -> Vec<ValueId> {
    let NodeKind::Aten { op, args } = &node.kind else { return vec![] };
    let range = OpRow::of(op).and_then(|row| row.range);
    if matches!(range, Some(ValueRange::Operands | ValueRange::Probabilities)) {
        node.operands()
    } else if let Some(index) = index_argument(op).and_then(|position| args.get(position)) {
        index.values().copied().collect()
    } else if range == Some(ValueRange::Second) {
        let second = args.get(1).into_iter().flat_map(Arg::values).copied();
        second.filter(|value| !program.ty(*value).dtype.is_float()).collect()
    } else {
        vec![]
    }
}

/// For each input the integers, from the least to the largest, of which a graph makes indices that eager takes, if it makes
/// others of none and each of one element alone: rows of tables, positions of which something is taken away, and rows from
/// behind where these count.
pub fn indexed_rows(program: &Graph) -> Vec<Option<(i64, i64)>> {
    let bounded = bounded_values(program);
    let is_index = |input: &ValueId| bounded.contains(input) && is_integer(program, *input);
    let rows = |input: &ValueId| if is_index(input) { rows_of(program, *input, &bounded) } else { None };
    program.inputs.iter().map(rows).collect()
}

/// Rows of the largest table for which all indices are tried.
const MOST_ROWS: i64 = 1 << 16;

fn rows_of(program: &Graph, input: ValueId, bounded: &HashSet<ValueId>) -> Option<(i64, i64)> {
    let lookups = program.nodes.iter().filter_map(|node| Some((node, looked_up(program, node)?)));
    let most = lookups.clone().flat_map(|(_, of)| of).map(|(_, range)| range.end).max()?;
    if most > MOST_ROWS {
        return None;
    }
    let tried: Vec<i64> = (-2 * most..2 * most).collect();
    let mut is_right = vec![true; tried.len()];
    let mut indexes = false;
    let mut made = HashMap::from([(input, tried.clone())]);
    for node in &program.nodes {
        let NodeKind::Aten { op, args } = &node.kind else { continue };
        if !node.operands().iter().any(|operand| made.contains_key(operand)) {
            continue;
        }
        if OpTable::sample().get(op).is_some_and(Schema::writes) {
            return None;
        }
        let indices = looked_up(program, node).unwrap_or_default();
        let of_this: Vec<_> = indices.iter().filter_map(|(index, range)| Some((made.get(index)?, range))).collect();
        if bounded_by(program, node).iter().any(|operand| made.contains_key(operand)) {
            let is_table = args.first().and_then(Arg::as_value).is_some_and(|table| made.contains_key(table));
            if of_this.is_empty() || is_table {
                return None;
            }
            indexes = true;
            for (values, range) in of_this {
                is_right.iter_mut().zip(values).for_each(|(is_right, value)| *is_right &= range.contains(value));
            }
        } else if let ([output], Some(values)) = (node.outputs.as_slice(), element_wise(program, node, &made)) {
            made.insert(*output, values);
        } else if node.outputs.iter().any(|output| bounded.contains(output)) {
            return None;
        }
    }
    let runs = is_right.chunk_by(|one, next| one == next).scan(0, |first, run| {
        *first += run.len();
        Some((run[0], *first - run.len(), *first - 1))
    });
    let longest = runs.filter(|(is_right, ..)| *is_right && indexes).max_by_key(|(_, first, last)| last - first);
    longest.map(|(_, first, last)| (tried[first], tried[last])).filter(|(low, high)| low < high)
}

/// Whether the integers that are tried fit a type, and what is calculated of them does not wrap around.
fn is_integer(program: &Graph, value: ValueId) -> bool {
    matches!(program.ty(value).dtype, Dtype::I32 | Dtype::I64)
}

/// The indices of an op that looks rows up, and what each must be.
fn looked_up(program: &Graph, node: &Node) -> Option<Vec<(ValueId, Range<i64>)>> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let shape = &program.ty(*args.first()?.as_value()?).shape;
    let rows = |dim: i64| shape.get(dim.rem_euclid(shape.len().max(1) as i64) as usize).copied();
    let value = |position: usize| args.get(position)?.as_value().copied();
    match (op.name.trim_start_matches("aten::"), args.get(1)?) {
        ("embedding", Arg::Value(index)) => Some(vec![(*index, 0..rows(0)?)]),
        ("index_select" | "gather", Arg::Int(dim)) => Some(vec![(value(2)?, 0..rows(*dim)?)]),
        ("index", Arg::OptionalValues(indices)) => {
            // A mask has the place of several dimensions.
            let has_masks = indices.iter().flatten().any(|index| program.ty(*index).dtype == Dtype::Bool);
            let indices = indices.iter().enumerate().filter(|_| !has_masks);
            let all = indices.filter_map(|(dim, index)| Some(((*index)?, dim as i64)));
            Some(all.filter_map(|(index, dim)| rows(dim).map(|rows| (index, -rows..rows))).collect())
        }
        _ => None,
    }
}

/// What an op makes of integers, element by element.
fn element_wise(program: &Graph, node: &Node, made: &HashMap<ValueId, Vec<i64>>) -> Option<Vec<i64>> {
    let NodeKind::Aten { op, args } = &node.kind else { return None };
    let is_counted = |value: &ValueId| is_integer(program, *value) || program.ty(*value).dtype == Dtype::Bool;
    if op.overload == "dtype" || !node.outputs.iter().all(is_counted) {
        return None;
    }
    let count = made.values().next()?.len();
    let operand = |position: usize| match args.get(position)? {
        Arg::Int(number) => Some(vec![*number; count]),
        Arg::Value(value) => made.get(value).cloned(),
        _ => None,
    };
    let is_plain = args.get(2).is_none_or(|alpha| matches!(alpha, Arg::Int(1)));
    let both = |f: fn(i64, i64) -> i64| -> Option<Vec<i64>> {
        Some(operand(0)?.into_iter().zip(operand(1)?).map(|(a, b)| f(a, b)).collect())
    };
    match op.name.trim_start_matches("aten::") {
        "view" | "reshape" | "expand" | "unsqueeze" | "squeeze" | "transpose" | "permute" | "contiguous" | "clone" => {
            operand(0)
        }
        "add" if is_plain => both(i64::wrapping_add),
        "sub" if is_plain => both(i64::wrapping_sub),
        "maximum" | "clamp_min" => both(i64::max),
        "minimum" | "clamp_max" => both(i64::min),
        "lt" => both(|a, b| (a < b).into()),
        "le" => both(|a, b| (a <= b).into()),
        "gt" => both(|a, b| (a > b).into()),
        "ge" => both(|a, b| (a >= b).into()),
        "eq" => both(|a, b| (a == b).into()),
        "ne" => both(|a, b| (a != b).into()),
        "where" => {
            let (a, b) = (operand(1)?, operand(2)?);
            Some(
                operand(0)?
                    .into_iter()
                    .zip(a.into_iter().zip(b))
                    .map(|(c, (a, b))| if c != 0 { a } else { b })
                    .collect(),
            )
        }
        _ => None,
    }
}

/// Whether a result leaves a range where an operand does. Positions that are found among floats do not; a comparison may,
/// as what is counted of it may be an index less one.
fn hands_on(program: &Graph, op: &OpName, operand: ValueId, output: ValueId) -> bool {
    let (from, to) = (program.ty(operand).dtype, program.ty(output).dtype);
    let converts =
        || op.name.ends_with("::_to_copy") || OpRow::of(op).and_then(|row| row.shows) == Some(Shows::Converted);
    !from.is_float() || to.is_float() || to == Dtype::Bool || converts()
}

/// For each value a number that it has in common with those whose memory it may share.
fn memories(program: &Graph, ops: &OpTable) -> Vec<usize> {
    let mut memory: Vec<usize> = (0..program.values.len()).collect();
    for node in &program.nodes {
        for source in alias::aliasing(program, node, ops).sources() {
            let shared = memory[source.index()];
            for output in &node.outputs {
                let own = memory[output.index()];
                memory.iter_mut().filter(|memory| **memory == own).for_each(|memory| *memory = shared);
            }
        }
    }
    memory
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_indices_are_made_of_is_bounded() {
        let program = Graph::parse(
            "graph(%i: i64[4], %j: i64[4], %w: f32[9,3], %x: f32[4,3]) {
  %k: i64[4] = aten::add.Tensor(%i, %i)
  %e: f32[4,3] = aten::embedding(%w, %k)
  %y: f32[4,3] = aten::mul.Tensor(%x, %e)
  return (%y, %j)
}
",
        )
        .unwrap();
        assert_eq!(bounded_inputs(&program), [true, false, false, false]);
    }

    #[test]
    fn an_input_that_is_an_index_takes_the_rows_of_its_tables() {
        let rows = |body: &str| {
            let text = format!(
                "graph(%i: i64[2,3], %w: f32[9,3], %v: f32[7,3]) {{\n  %j: i64[6] = aten::reshape(%i, [6])\n{body}}}\n"
            );
            indexed_rows(&Graph::parse(&text).unwrap())
        };
        let one = "  %e: f32[2,3,3] = aten::embedding(%w, %i)\n";
        assert_eq!(rows(&format!("{one}  return (%e)\n")), [Some((0, 8)), None, None]);
        let both = format!("{one}  %f: f32[6,3] = aten::index_select(%v, 0, %j)\n  return (%e, %f)\n");
        assert_eq!(rows(&both)[0], Some((0, 6)), "the smaller table");
        let behind = "  %f: f32[6,3] = aten::index.Tensor(%v, [%j])\n  return (%f)\n";
        assert_eq!(rows(behind)[0], Some((-7, 6)));
        let next = "  %n: i64[6] = aten::add.Scalar(%j, 1)\n  %f: f32[6,3] = aten::index_select(%v, 0, %n)\n";
        assert_eq!(rows(&format!("{one}{next}  return (%e, %f)\n"))[0], Some((0, 5)), "another index is made of it");
        let all = "  %n: i64[6] = aten::cumsum(%j, 0)\n  %f: f32[6,3] = aten::index_select(%v, 0, %n)\n";
        assert_eq!(rows(&format!("{one}{all}  return (%e, %f)\n"))[0], None, "one is made of all");
        let put = "  %f: f32[7,3] = aten::scatter.src(%v, 0, %i, %v)\n";
        assert_eq!(rows(&format!("{one}{put}  return (%e, %f)\n"))[0], None, "what is written to is not known here");
        let wrapped = "  %b: bool[6] = aten::lt.Scalar(%j, 0)\n  %p: i64[6] = aten::add.Scalar(%j, 7)\n  %n: i64[6] = aten::where.self(%b, %p, %j)\n  %f: f32[6,3] = aten::index_select(%v, 0, %n)\n  return (%f)\n";
        assert_eq!(rows(wrapped)[0], Some((-7, 6)), "the graph counts from behind itself");
        let shown = "  %n: i64[6] = aten::add.Scalar(%j, 1)\n";
        assert_eq!(rows(&format!("{one}{shown}  return (%e, %n)\n"))[0], Some((0, 8)));
    }

    #[test]
    fn divisors_and_counts_of_shifts_are_bounded_where_they_are_integers() {
        let program = Graph::parse(
            "graph(%a: i64[4], %b: i64[4], %n: i64[4], %x: f32[4]) {
  %q: i64[4] = aten::floor_divide(%a, %b)
  %r: i64[4] = aten::bitwise_left_shift.Tensor(%q, %n)
  %y: f32[4] = aten::div.Tensor(%x, %x)
  return (%r, %y)
}
",
        )
        .unwrap();
        assert_eq!(bounded_inputs(&program), [false, true, true, false]);
    }

    #[test]
    fn floats_are_not_bounded_by_positions_among_them_or_by_what_is_written_elsewhere() {
        let program = Graph::parse(
            "graph(%i: i64[4], %j: i64[4], %w: f32[9,3], %x: f32[4,3], %s: f32[4,9]) {
  %v: i64[4] = aten::view(%i, [4])
  %a: i64[4] = aten::add_.Tensor(%v, %j)
  %e: f32[4,3] = aten::embedding(%w, %i)
  %m: i64[4] = aten::argmax(%s, 1)
  %f: f32[4,3] = aten::embedding(%w, %m)
  %y: f32[4,3] = aten::mul_.Tensor(%x, %e)
  return (%y, %f)
}
",
        )
        .unwrap();
        assert_eq!(bounded_inputs(&program), [true, true, false, false, false]);
    }

    #[test]
    fn what_is_counted_for_an_index_is_bounded() {
        let program = Graph::parse(
            "graph(%mask: i64[4,8], %x: f32[4,8], %t: f32[8,3]) {
  %a: bool[4,8] = aten::eq.Scalar(%mask, 1)
  %b: bool[4,8] = aten::gt.Scalar(%x, 0.5)
  %c: bool[4,8] = aten::logical_and(%a, %b)
  %n: i64[4] = aten::sum.dim_IntList(%c, [1])
  %last: i64[4] = aten::sub.Scalar(%n, 1)
  %e: f32[4,3] = aten::embedding(%t, %last)
  return (%e)
}
",
        )
        .unwrap();
        assert_eq!(bounded_inputs(&program), [true, true, false]);
    }

    #[test]
    fn numbers_that_are_compared_with_are_found() {
        let program = Graph::parse(
            "graph(%x: f32[4]) {
  %a: bool[4] = aten::gt.Scalar(%x, 0.25)
  %b: f32[4] = aten::clamp(%x, -2, 7.5)
  %c: f32[4] = aten::mul.Scalar(%b, 100)
  return (%a, %c)
}
",
        )
        .unwrap();
        assert_eq!(literals(&program), [-2.0, 0.25, 7.5]);
    }
}
