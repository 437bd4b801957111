//! What a graph says of its inputs: which must stay in a range, and which numbers they are compared with.

use passhost_ir::ops::{Range, Shows};
use passhost_ir::verify::index_argument;
use passhost_ir::{Arg, Dtype, Graph, NodeKind, OpName, OpRow, OpTable, Schema, ValueId, alias};
use std::collections::HashSet;

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
            let NodeKind::Aten { op, args } = &node.kind else { continue };
            let written = ops.get(op).is_some_and(Schema::writes);
            let shared = |output: &ValueId| {
                let own = memory[output.index()];
                written && bounded.iter().any(|value| memory[value.index()] == own)
            };
            let reaching: Vec<&ValueId> =
                node.outputs.iter().filter(|output| bounded.contains(output) || shared(output)).collect();
            let range = OpRow::of(op).and_then(|row| row.range);
            if matches!(range, Some(Range::Operands | Range::Probabilities)) {
                bounded.extend(node.operands());
            } else if let Some(index) = index_argument(op).and_then(|position| args.get(position)) {
                bounded.extend(index.values());
            } else if range == Some(Range::Second) {
                let second = args.get(1).into_iter().flat_map(Arg::values);
                bounded.extend(second.filter(|&&value| !program.ty(value).dtype.is_float()));
            }
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

/// For each input the indices that a graph takes of it, from the least to the largest, if it makes no other ones of it: rows
/// of tables, and rows from behind where every op counts these.
pub fn indexed_rows(program: &Graph) -> Vec<Option<(i64, i64)>> {
    let bounded = bounded_values(program);
    let rows = |input: &ValueId| if bounded.contains(input) { rows_of(program, *input, &bounded) } else { None };
    program.inputs.iter().map(rows).collect()
}

fn rows_of(program: &Graph, input: ValueId, bounded: &HashSet<ValueId>) -> Option<(i64, i64)> {
    const SAME_ELEMENTS: [&str; 9] =
        ["view", "reshape", "expand", "unsqueeze", "squeeze", "transpose", "permute", "contiguous", "clone"];
    let ops = OpTable::sample();
    let (mut made, mut range) = (HashSet::from([input]), None);
    for node in &program.nodes {
        let NodeKind::Aten { op, args } = &node.kind else { continue };
        let used = node.operands().iter().any(|operand| made.contains(operand));
        if !used {
            continue;
        }
        if ops.get(op).is_some_and(Schema::writes) {
            return None;
        }
        let name = op.name.trim_start_matches("aten::");
        if SAME_ELEMENTS.contains(&name) {
            made.extend(&node.outputs);
        } else if let Some(table) = args.first().and_then(Arg::as_value).filter(|table| !made.contains(table))
            && let Some(index) = index_argument(op).and_then(|position| args.get(position))
        {
            let dim = match (name, args.get(1)) {
                ("embedding", _) => 0,
                ("index_select" | "gather", Some(Arg::Int(dim))) => *dim,
                // A mask has the place of several dimensions.
                ("index", Some(Arg::OptionalValues(of)))
                    if index.values().all(|at| program.ty(*at).dtype != Dtype::Bool) =>
                {
                    of.iter().position(|value| value.is_some_and(|value| made.contains(&value)))? as i64
                }
                _ => return None,
            };
            let ty = program.ty(*table);
            let extent = *ty.shape.get(dim.rem_euclid(ty.rank().max(1) as i64) as usize)?;
            let (low, high) = range.unwrap_or((i64::MIN, i64::MAX));
            range = Some((low.max(if name == "index" { -extent } else { 0 }), high.min(extent - 1)));
        } else if node.outputs.iter().any(|output| bounded.contains(output)) {
            return None;
        }
    }
    range.filter(|(low, high)| low < high)
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
        assert_eq!(rows(&format!("{one}{next}  return (%e, %f)\n"))[0], None, "another index is made of it");
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
