//! What follows from the row and the column of an element in a matrix.

use super::super::call::{Call, Emitted};
use super::super::quantity::Quantity;
use super::Rule;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Compare, Unary};

pub(super) const RULES: &[Rule] = &[
    Rule::cheap("aten::tril", &[""], |c| kept(c, Compare::Le)),
    Rule::cheap("aten::triu", &[""], |c| kept(c, Compare::Ge)),
    Rule {
        reads: 0,
        ..Rule::cheap("aten::eye", &["", "m"], |c| {
            let is_on = c.position(0)?.compare(Compare::Eq, c.position(1)?);
            Ok(is_on.cast(c.math(c.result)?))
        })
    },
    Rule { reads: 0, ..Rule::costly("aten::tril_indices", &[""], lower_places) },
    Rule { reads: 0, ..Rule::costly("aten::triu_indices", &[""], upper_places) },
];

/// The elements on one side of a diagonal, zeros on the other.
fn kept<'k>(c: &Call<'k>, side: Compare) -> Emitted<'k> {
    let rank = c.place.len();
    if rank < 2 {
        return Err("has no rows and columns".to_owned());
    }
    let diagonal = c.position(rank - 1)? - c.position(rank - 2)?;
    let x = c.first()?;
    Ok(diagonal.compare(side, c.number(1)?).select(x, x.literal(0.0)))
}

/// Rows, columns and offset of a triangle.
fn matrix(c: &Call<'_>) -> Result<[i64; 3], String> {
    let number = |place| c.args.int(place).ok_or_else(|| format!("has no number as argument {place}"));
    Ok([number(0)?, number(1)?, number(2)?])
}

/// The first result row is the row of each place, the second its column.
fn either<'k>(c: &Call<'k>, row: Quantity<'k>, column: Quantity<'k>) -> Emitted<'k> {
    let place = c.position(0)?.compare(Compare::Eq, 0.0).select(row, column);
    Ok(place.cast(c.math(c.result)?))
}

/// The places on and below a diagonal: rows that grow by one, then whole rows. As in ATen's CUDA kernel, the row of a
/// place follows from how many are in front of it by a root, in `f64`.
fn lower_places<'k>(c: &Call<'k>) -> Emitted<'k> {
    let [rows, columns, offset] = matrix(c)?;
    let number = c.position(1)?;
    let first = if offset > 0 { columns.min(1 + offset) } else { i64::from(rows + offset > 0) };
    let skipped = (-offset).max(0);
    let growing = (columns - first + 1).min(rows - skipped).max(0);
    let whole = skipped + growing;
    let in_growing = growing * (2 * first + growing - 1) / 2;

    let twice = (2 * first - 1) as f64;
    let root = (number.cast(Dtype::F64) * 8.0 + twice * twice).unary(Unary::Sqrt);
    let row = ((root - twice) / 2.0).unary(Unary::Floor).cast(Dtype::I64);
    let before = (row + twice) * row / 2.0;
    let rest = number - in_growing as f64;
    let is_growing = number.compare(Compare::Lt, in_growing as f64);
    let row_there = row + skipped as f64;
    let column_there = number - before;
    either(
        c,
        is_growing.select(row_there, rest / columns as f64 + whole as f64),
        is_growing.select(column_there, rest % columns as f64),
    )
}

/// The places on and above a diagonal: whole rows, then rows that shrink by one.
fn upper_places<'k>(c: &Call<'k>) -> Emitted<'k> {
    let [rows, columns, offset] = matrix(c)?;
    let number = c.position(1)?;
    let first = if offset > 0 { (columns - offset).max(0) } else { columns };
    let whole = (-offset).clamp(0, rows);
    let in_whole = whole * columns;

    let rest = (number - in_whole as f64).max(0.0);
    let twice = (2 * first + 1) as f64;
    let root = (twice * twice - rest.cast(Dtype::F64) * 8.0).unary(Unary::Sqrt);
    let row = ((twice - root) / 2.0).unary(Unary::Floor).cast(Dtype::I64);
    let before = (twice - row) * row / 2.0;
    let is_whole = number.compare(Compare::Lt, in_whole as f64);
    let row_there = row + whole as f64;
    let column_there = rest - before + row + offset.max(0) as f64;
    either(
        c,
        is_whole.select(number / columns as f64, row_there),
        is_whole.select(number.binary(Binary::Rem, columns as f64), column_there),
    )
}
