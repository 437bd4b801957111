//! Inputs outside the comfortable middle: what a program must still get right when they are zeros, constant, infinite, or
//! of another scale. Drawn one input at a time, the others as they always are.

use crate::device::BenchDevice;
use crate::held::HeldTensor;
use crate::inputs::{DrawError, Round, draw, write_elements};
use crate::on_device::draws;
use passhost_ir::{Draw, Dtype, InputSpec, Structure};
use std::fmt;

mod everywhere;

use everywhere::one_period;

/// Scale of a large draw, and of one whose values are recorded as next to nothing.
const LARGE: f64 = 1e4;
const TINY: f64 = 1e-3;
/// Scale of a small draw.
const SMALL: f64 = 1.0 / 64.0;
/// A mean, by the deviation.
const OFFSET: f64 = 1e3;
/// The numbers at the ends of rows, by the deviation.
const AT_ENDS: f64 = 32.0;
/// Rows that have such.
const ROWS_WITH_ENDS: usize = 16;
/// What activations compare with or bound by without a graph that says so.
const LITERALS: [f64; 6] = [0.0, 0.5, 1.0, 3.0, 6.0, 20.0];

/// What is unusual about an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeCaseDraw {
    /// Every element is zero.
    Zeros,
    /// One row of the last dimension has a single value.
    ConstantRow,
    /// One row of a mask is masked throughout.
    MaskedRow,
    /// Infinities, one to a row.
    Infinities,
    /// NaNs, one to a row.
    NotNumbers,
    /// Negative zero, subnormals, the least normal number and large ones, one to a row.
    Extremes,
    /// A 64th of its scale, around zero.
    Small,
    /// Ten thousand times its scale, around zero.
    Large,
    /// Above zero everywhere.
    Positive,
    /// Below zero everywhere.
    Negative,
    /// A mean a thousand times its scale.
    Offset,
    /// Each row has a mean of its own, up to a thousand times its scale on both sides, and every other row is in order.
    OwnMeans,
    /// Multiples of a quarter of its scale: halves that are rounded, and numbers that are equal.
    FewNumbers,
    /// One row of minus infinities.
    InfiniteRow,
    /// One row of NaNs.
    NoNumberRow,
    /// Numbers that the graph compares with or bounds by, those next to them, and negated, in single places.
    Literals,
    /// A mask that masks nothing.
    Open,
    /// A mask of which nothing is left.
    Closed,
    /// A mask that leaves the first of each row.
    FirstAlone,
    /// A mask that leaves the last of each row.
    LastAlone,
    /// A mask that leaves up to three of each row, anywhere.
    FewLeft,
    /// A mask that masks up to three of each row, anywhere.
    FewMasked,
    /// Integers of a recorded range of which nothing else holds that does of the recorded ones.
    Unstructured,
    /// The ends of a range of integers; beyond them too where no index is made of them.
    Ends,
    /// One integer everywhere.
    Repeated,
    /// Integers in ascending order.
    Sorted,
    /// Integers that take more than 16 or 32 bits, in single places and in one row.
    Wide,
    /// Any rows of the tables that it is an index of, the first and the last among them; from behind where that counts.
    Rows,
    /// Every row of the last dimension is the same.
    EqualRows,
    /// Inputs of one type are the same.
    EqualInputs,
    /// Numbers that tell in what is made of a row, at both ends of some.
    LargeEnds,
    /// Square matrices that are symmetric.
    Symmetric,
    /// A mask that is added, with other numbers than zero where it masks nothing.
    MaskedValues,
}

/// An input that is to be unusual.
#[derive(Debug, Clone, Copy)]
pub struct UnusualInput<'a> {
    /// The input.
    pub spec: &'a InputSpec,
    /// Whether it must stay in the range that is recorded of it.
    pub bounded: bool,
    /// The least and the largest index that it may be, if it is one.
    pub rows: Option<(i64, i64)>,
    /// What its graph compares with.
    pub literals: &'a [f64],
    /// What decides where it is unusual.
    pub key: u64,
}

impl fmt::Display for EdgeCaseDraw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EdgeCaseDraw::Zeros => "is all zeros",
            EdgeCaseDraw::ConstantRow => "has a constant row",
            EdgeCaseDraw::MaskedRow => "has a row that is masked throughout",
            EdgeCaseDraw::Infinities => "has infinities in single places",
            EdgeCaseDraw::NotNumbers => "has NaNs in single places",
            EdgeCaseDraw::Extremes => "has negative zeros, subnormals and large numbers in single places",
            EdgeCaseDraw::Small => "is drawn around zero at a 64th of its scale",
            EdgeCaseDraw::Large => "is drawn around zero at 10,000 times its scale",
            EdgeCaseDraw::Positive => "is above zero everywhere",
            EdgeCaseDraw::Negative => "is below zero everywhere",
            EdgeCaseDraw::Offset => "has a mean 1,000 times its scale",
            EdgeCaseDraw::OwnMeans => "has rows with means of their own, half of them in order",
            EdgeCaseDraw::FewNumbers => "has multiples of a quarter of its scale",
            EdgeCaseDraw::InfiniteRow => "has a row of minus infinities",
            EdgeCaseDraw::NoNumberRow => "has a row of NaNs",
            EdgeCaseDraw::Literals => "has numbers that the graph compares with in single places",
            EdgeCaseDraw::Open => "masks nothing",
            EdgeCaseDraw::Closed => "masks everything",
            EdgeCaseDraw::FirstAlone => "leaves the first of each row",
            EdgeCaseDraw::LastAlone => "leaves the last of each row",
            EdgeCaseDraw::FewLeft => "leaves up to three of each row",
            EdgeCaseDraw::FewMasked => "masks up to three of each row",
            EdgeCaseDraw::Unstructured => "has any integers of its range",
            EdgeCaseDraw::Ends => "takes the ends of its range",
            EdgeCaseDraw::Repeated => "repeats one value",
            EdgeCaseDraw::Sorted => "is sorted",
            EdgeCaseDraw::Wide => "has integers of many bits in single places and a row",
            EdgeCaseDraw::Rows => "takes any rows of what it indexes",
            EdgeCaseDraw::EqualRows => "has equal rows",
            EdgeCaseDraw::EqualInputs => "are equal",
            EdgeCaseDraw::LargeEnds => "has large numbers at both ends of some rows",
            EdgeCaseDraw::Symmetric => "is symmetric",
            EdgeCaseDraw::MaskedValues => "has other numbers than zero where it masks nothing",
        })
    }
}

/// The unusual draws of an input. `bounded` ones must stay in the range that is recorded of them. None where every draw
/// is the same anyway.
pub fn draws(spec: &InputSpec, bounded: bool) -> &'static [EdgeCaseDraw] {
    use EdgeCaseDraw::{
        Closed, ConstantRow, Ends, EqualRows, Extremes, FewLeft, FewMasked, FewNumbers, FirstAlone, InfiniteRow,
        Infinities, Large, LargeEnds, LastAlone, Literals, MaskedRow, MaskedValues, Negative, NoNumberRow, NotNumbers,
        Offset, Open, OwnMeans, Positive, Repeated, Small, Sorted, Symmetric, Unstructured, Wide, Zeros,
    };
    let is_wide = matches!(spec.ty.dtype, Dtype::I32 | Dtype::I64);
    // Bounded on both sides are random numbers of the model's own, and what is drawn as published.
    let is_given = spec.min.is_some() && spec.max.is_some();
    if spec.is_fixed() || is_given || spec.ty.numel() == 0 {
        return &[];
    }
    match (&spec.draw, bounded) {
        (Draw::Uniform { .. }, false) if is_wide => &[Ends, Repeated, Sorted, Wide],
        (Draw::Uniform { .. }, _) => &[Ends, Repeated, Sorted],
        (Draw::Like { structure: Structure::Distinct, .. }, true) => &[Unstructured],
        (_, true) => &[],
        (Draw::Mask, _) if is_wide => &[MaskedRow, Open, Closed, FirstAlone, LastAlone, FewLeft, FewMasked, Wide],
        (Draw::FloatMask { .. }, _) => {
            &[MaskedRow, Open, Closed, FirstAlone, LastAlone, FewLeft, FewMasked, MaskedValues]
        }
        (Draw::Mask, _) => &[MaskedRow, Open, Closed, FirstAlone, LastAlone, FewLeft, FewMasked],
        (Draw::Like { structure: Structure::PaddedAtEnd, .. }, _) => {
            &[MaskedRow, Open, Closed, FirstAlone, Unstructured]
        }
        (Draw::Like { structure: Structure::PaddedAtStart, .. }, _) => {
            &[MaskedRow, Open, Closed, LastAlone, Unstructured]
        }
        (Draw::Like { .. }, _) => &[Unstructured],
        (Draw::LogNormal { .. }, _) => &[Zeros, Small, Large, Negative, NotNumbers],
        (Draw::Normal { .. }, _) if spec.ty.dtype.is_float() => {
            let of_rows = spec.ty.rank() > 1 && spec.ty.shape.last().is_some_and(|&row| (row as u64) < spec.ty.numel());
            let is_square = matches!(spec.ty.shape[..], [.., rows, columns] if rows == columns && rows > 1);
            let all: &[EdgeCaseDraw] = &[
                Symmetric,
                EqualRows,
                LargeEnds,
                Zeros,
                ConstantRow,
                Small,
                Large,
                Positive,
                Negative,
                Offset,
                OwnMeans,
                FewNumbers,
                Literals,
                Extremes,
                Infinities,
                InfiniteRow,
                NotNumbers,
                NoNumberRow,
            ];
            &all[if is_square { 0 } else { 1 + usize::from(!of_rows) }..]
        }
        _ => &[],
    }
}

/// The elements of input `position`, row-major, as little-endian bytes: those of `usual`, which is its draw of `round`, but
/// for what is unusual.
pub fn draw_edge_case(
    input: UnusualInput<'_>,
    position: usize,
    round: Round,
    domain: EdgeCaseDraw,
    usual: &[u8],
) -> Result<Vec<u8>, DrawError> {
    let spec = input.spec;
    if let Some(redrawn) = redrawn(spec, domain) {
        return draw(&redrawn, position, round);
    }
    if domain == EdgeCaseDraw::Zeros {
        return Ok(vec![0; usual.len()]);
    }
    if domain == EdgeCaseDraw::EqualRows {
        let (row, rows) = rows_of(spec);
        let (bytes, chosen) = (row * spec.ty.dtype.size() as usize, input.key as usize % rows);
        return Ok(usual[chosen * bytes..(chosen + 1) * bytes].repeat(rows));
    }
    if let Some(bytes) = one_period(input, domain) {
        let mut repeated = bytes.repeat(usual.len().div_ceil(bytes.len()));
        repeated.truncate(usual.len());
        return Ok(repeated);
    }
    let mut bytes = usual.to_vec();
    if domain == EdgeCaseDraw::Symmetric {
        mirror(&mut bytes, rows_of(spec).0, spec.ty.dtype.size() as usize);
    }
    alter(input, domain, |places| write_elements(spec.ty.dtype, &mut bytes, places));
    Ok(bytes)
}

/// The same, of elements that may be on a device: drawn there if most of them are as usual or follow from a distribution.
pub fn draw_edge_case_held(
    device: &BenchDevice,
    input: UnusualInput<'_>,
    position: usize,
    round: Round,
    domain: EdgeCaseDraw,
    usual: &HeldTensor,
) -> Result<HeldTensor, DrawError> {
    let spec = input.spec;
    if let (Some(tensor), Some(kernels)) = (usual.tensor(), device.on_device(&spec.ty)) {
        let drawn = match (redrawn(spec, domain), domain) {
            (Some(redrawn), _) => draws::draw(device.context(), kernels, (&redrawn, position), round),
            (None, EdgeCaseDraw::Zeros) => draws::zeros(device.context(), &spec.ty).map(Some),
            (None, EdgeCaseDraw::Symmetric) => draws::mirrored(tensor).map(Some),
            (None, EdgeCaseDraw::EqualRows) => {
                let (row, rows) = rows_of(spec);
                draws::of_equal_rows(tensor, row, input.key as usize % rows).map(Some)
            }
            (None, _) => match one_period(input, domain) {
                Some(bytes) => draws::repeated(device.context(), &spec.ty, &bytes).map(Some),
                None => {
                    let mut places = vec![];
                    alter(input, domain, |some| places.extend(some));
                    draws::altered(tensor, &places).map(Some)
                }
            },
        };
        if let Ok(Some(tensor)) = drawn {
            return Ok(HeldTensor::of(device, &tensor));
        }
    }
    let bytes = draw_edge_case(input, position, round, domain, usual.elements().bytes)?;
    Ok(HeldTensor::brought(device, &spec.ty, bytes))
}

/// The distribution at another scale, of one sign or far from zero, without bounds. What must be positive stays so. `None`
/// where single elements are unusual.
fn redrawn(spec: &InputSpec, domain: EdgeCaseDraw) -> Option<InputSpec> {
    let draw = match (domain, &spec.draw) {
        (EdgeCaseDraw::Small, Draw::LogNormal { median, sigma }) => {
            Draw::LogNormal { median: median * SMALL, sigma: *sigma }
        }
        (EdgeCaseDraw::Large, Draw::LogNormal { median, sigma }) => {
            Draw::LogNormal { median: median * LARGE, sigma: *sigma }
        }
        (EdgeCaseDraw::Small, Draw::Normal { std, .. }) => Draw::Normal { mean: 0.0, std: std * SMALL },
        (EdgeCaseDraw::Large, Draw::Normal { std, .. }) if *std < TINY => Draw::Normal { mean: 0.0, std: 1.0 },
        (EdgeCaseDraw::Large, Draw::Normal { std, .. }) => Draw::Normal { mean: 0.0, std: std * LARGE },
        (EdgeCaseDraw::Positive, Draw::Normal { std, .. }) => Draw::LogNormal { median: *std, sigma: 0.5 },
        (EdgeCaseDraw::Negative, Draw::Normal { std, .. }) => Draw::LogNormal { median: -std, sigma: 0.5 },
        (EdgeCaseDraw::Negative, Draw::LogNormal { median, sigma }) => {
            Draw::LogNormal { median: -median, sigma: *sigma }
        }
        (EdgeCaseDraw::Unstructured, Draw::Like { low, high, .. }) => Draw::Uniform { low: *low, high: *high },
        (EdgeCaseDraw::Offset, Draw::Normal { std, .. }) => Draw::Normal { mean: std * OFFSET, std: *std },
        _ => return None,
    };
    Some(InputSpec { draw, min: None, max: None, ..spec.clone() })
}

/// Says which single elements and rows are unusual, and what they are.
fn alter(
    UnusualInput { spec, literals, key, .. }: UnusualInput<'_>,
    domain: EdgeCaseDraw,
    mut write: impl FnMut(&mut dyn Iterator<Item = (usize, f64)>),
) {
    let (row, rows) = rows_of(spec);
    let count = spec.ty.numel() as usize;
    let chosen = key as usize % rows;
    let dtype = spec.ty.dtype;
    let whole_row = |value: f64| (chosen * row..(chosen + 1) * row).map(move |place| (place, value));
    match (domain, &spec.draw) {
        (EdgeCaseDraw::MaskedRow, Draw::FloatMask { low }) => write(&mut whole_row(*low)),
        (EdgeCaseDraw::MaskedRow, _) => write(&mut whole_row(0.0)),
        (EdgeCaseDraw::Literals, _) => {
            let near = |literal: &f64| {
                let step = dtype.ulp(*literal);
                [*literal, literal + step, literal - step, -literal]
            };
            let values: Vec<f64> = LITERALS.iter().chain(literals).flat_map(near).collect();
            // Each in two places, so that one hides none.
            let places = (0..2 * values.len()).map(|number| hash_at(key, number) as usize % count);
            write(&mut places.zip(values.iter().cycle().copied()));
            // The first element may decide alone.
            write(&mut literals.get(key as usize % literals.len().max(1)).map(|&literal| (0, literal)).into_iter());
        }
        // A power of two: sums of it are exact in any order.
        (EdgeCaseDraw::ConstantRow, Draw::Normal { std, .. }) => write(&mut whole_row(std.log2().round().exp2())),
        (EdgeCaseDraw::LargeEnds, Draw::Normal { std, .. }) => {
            // Of two signs, so that a maximum is at one end and a minimum at the other. Each is written by itself.
            let some = rows.min(ROWS_WITH_ENDS);
            write(&mut (0..some).flat_map(|number| {
                let sign = if (number as u64 ^ key).is_multiple_of(2) { AT_ENDS } else { -AT_ENDS };
                let first = number * rows / some * row;
                [(first, std * sign), (first + row - 1, -1.5 * std * sign)].into_iter().take(row)
            }));
        }
        (EdgeCaseDraw::InfiniteRow, _) => write(&mut whole_row(f64::NEG_INFINITY)),
        (EdgeCaseDraw::NoNumberRow, _) => write(&mut whole_row(f64::NAN)),
        (EdgeCaseDraw::Infinities, _) => write(&mut scattered(&[f64::INFINITY, f64::NEG_INFINITY], key, rows, row)),
        (EdgeCaseDraw::NotNumbers, _) => write(&mut scattered(&[f64::NAN; 2], key, rows, row)),
        (EdgeCaseDraw::Wide, _) => {
            let most = if dtype == Dtype::I64 { (1i64 << 33) + 5 } else { (1 << 24) + 1 };
            write(&mut whole_row(most as f64));
            write(&mut scattered(&[131_075.0, -131_075.0, most as f64], key, rows, row));
        }
        (EdgeCaseDraw::Extremes, _) => {
            let (least, subnormal, large) = limits(dtype);
            write(&mut scattered(&[-0.0, subnormal, least, large, -subnormal, -large], key, rows, row));
        }
        _ => {}
    }
}

/// Writes what is above the diagonal of square matrices below it.
fn mirror(bytes: &mut [u8], row: usize, size: usize) {
    for matrix in bytes.chunks_exact_mut(row * row * size) {
        for (below, above) in (1..row).flat_map(|y| (0..y).map(move |x| (y * row + x, x * row + y))) {
            matrix.copy_within(above * size..(above + 1) * size, below * size);
        }
    }
}

/// Elements of a row, and how many rows there are: one at least.
fn rows_of(spec: &InputSpec) -> (usize, usize) {
    let row = spec.ty.shape.last().map_or(1, |&extent| extent.max(1).unsigned_abs() as usize);
    (row, (spec.ty.numel() as usize / row).max(1))
}

fn hash_at(key: u64, place: usize) -> u64 {
    crate::counter::hash(key, place as u64)
}

/// A number from 0 up to 1.
fn unit(key: u64, place: usize) -> f64 {
    (hash_at(key, place) >> 11) as f64 / (1u64 << 53) as f64
}

/// Values in places of their own, one to a row at most, beginning with any of them.
fn scattered(values: &[f64], key: u64, rows: usize, row: usize) -> impl Iterator<Item = (usize, f64)> {
    let count = values.len().min(rows);
    (0..count).map(move |number| {
        let first = number * rows / count + hash_at(key, number) as usize % (rows / count).max(1);
        let value = values[(number + key as usize % values.len()) % values.len()];
        (first.min(rows - 1) * row + hash_at(!key, number) as usize % row, value)
    })
}

/// The least normal number of a type, one below it, and one whose square is still far from the largest: which of two
/// equal formulas overflows first is nobody's mistake.
fn limits(dtype: Dtype) -> (f64, f64, f64) {
    match dtype {
        Dtype::F16 => (2f64.powi(-14), 2f64.powi(-20), 2f64.powi(5)),
        Dtype::F64 => (f64::MIN_POSITIVE, f64::MIN_POSITIVE / 16.0, 2f64.powi(400)),
        _ => (2f64.powi(-126), 2f64.powi(-130), 2f64.powi(55)),
    }
}

#[cfg(test)]
mod tests;
