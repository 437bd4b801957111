//! Edge cases of which every element follows from its place alone.

use super::{EdgeCaseDraw, OFFSET, UnusualInput, hash_at, rows_of, unit};
use crate::element::Number;
use crate::inputs::{Round, fill, hash_of};
use passhost_ir::{Draw, Dtype};

/// About how many elements an input has before it repeats itself where nothing of its usual draw is left: the CPU draws
/// those.
const PERIOD: usize = 1 << 22;
/// The numbers of a mask where it masks nothing lie between zero and this below.
const MOST_UNMASKED: f64 = 3.0;
/// Numbers that a draw of few ones takes for each deviation.
const FEW: f64 = 4.0;

/// The elements of one period, where one has nothing of its usual draw: whole rows and an even number of them, as every
/// other one may differ, or all of them.
pub(super) fn one_period(input: UnusualInput<'_>, domain: EdgeCaseDraw) -> Option<Vec<u8>> {
    let ty = &input.spec.ty;
    let (row, rows) = rows_of(input.spec);
    let period = match PERIOD / (2 * row) * 2 {
        fewer if fewer > 0 && fewer < rows && domain != EdgeCaseDraw::Sorted => (fewer * row) as u64,
        _ => ty.numel(),
    };
    let element = everywhere(input, domain)?;
    Some(fill(ty.dtype, 0..period, |place| Number::Float(element(place as usize))))
}

/// What every element is, where one has nothing of its usual draw.
fn everywhere<'a>(
    UnusualInput { spec, bounded, rows, literals, key }: UnusualInput<'a>,
    domain: EdgeCaseDraw,
) -> Option<Box<dyn Fn(usize) -> f64 + Sync + 'a>> {
    let (row, count) = (rows_of(spec).0, spec.ty.numel());
    Some(match (domain, &spec.draw) {
        (EdgeCaseDraw::Open | EdgeCaseDraw::Closed | EdgeCaseDraw::FirstAlone | EdgeCaseDraw::LastAlone, draw)
        | (EdgeCaseDraw::FewLeft | EdgeCaseDraw::FewMasked, draw) => {
            let (masked, left) = if let Draw::FloatMask { low } = draw { (*low, 0.0) } else { (0.0, 1.0) };
            Box::new(move |place| if stays(domain, key, place, row) { left } else { masked })
        }
        (EdgeCaseDraw::Rows, _) => {
            let (low, high) = rows?;
            let count = (high - low + 1).unsigned_abs();
            Box::new(move |place| match hash_at(!key, place) % 4 {
                0 => high as f64,
                1 => low as f64,
                _ => low.saturating_add_unsigned(hash_at(key, place) % count) as f64,
            })
        }
        (EdgeCaseDraw::MaskedValues, Draw::FloatMask { low }) => Box::new(move |place| masked_or_not(key, place, *low)),
        (EdgeCaseDraw::OwnMeans, Draw::Normal { std, .. }) => {
            Box::new(move |place| std * about_own_mean(key, place, row))
        }
        (EdgeCaseDraw::FewNumbers, Draw::Normal { std, .. }) => {
            let step = std.log2().round().exp2() / FEW;
            // Where several inputs are so at once, every other row has the same in all.
            let keys = [key, hash_of(Round { seed: key, number: 0, scaled: None }, &spec.name, 0)];
            Box::new(move |place| step * (4.0 * FEW * (unit(keys[place / row % 2], place) - 0.5)).round())
        }
        (EdgeCaseDraw::Ends | EdgeCaseDraw::Repeated | EdgeCaseDraw::Sorted, &Draw::Uniform { low, high }) => {
            let values = ends(low, high, bounded, spec.ty.dtype, literals);
            let step = high.abs_diff(low) as f64 / (count.max(2) - 1) as f64;
            Box::new(move |place| match domain {
                EdgeCaseDraw::Ends => values[(hash_at(key, place) % values.len() as u64) as usize] as f64,
                EdgeCaseDraw::Repeated => values[(key % values.len() as u64) as usize] as f64,
                _ => low.saturating_add_unsigned((step * place as f64) as u64).min(high) as f64,
            })
        }
        _ => return None,
    })
}

/// Whether a mask leaves this element.
fn stays(domain: EdgeCaseDraw, key: u64, place: usize, row: usize) -> bool {
    let is_one_of_few = || {
        let few = 1 + hash_at(key, place / row) as usize % 3;
        (0..few).any(|number| hash_at(!key, place / row * 3 + number) as usize % row == place % row)
    };
    match domain {
        EdgeCaseDraw::Open => true,
        EdgeCaseDraw::FirstAlone => place.is_multiple_of(row),
        EdgeCaseDraw::LastAlone => place % row == row - 1,
        EdgeCaseDraw::FewLeft => is_one_of_few(),
        EdgeCaseDraw::FewMasked => !is_one_of_few(),
        _ => false,
    }
}

/// What a mask that is added has: the number that masks, or another one.
fn masked_or_not(key: u64, place: usize, low: f64) -> f64 {
    if hash_at(!key, place).is_multiple_of(2) { low } else { -MOST_UNMASKED * unit(key, place) }
}

/// An element of a row with a mean of its own, in deviations. Every other row is in order.
fn about_own_mean(key: u64, place: usize, row: usize) -> f64 {
    let (number, at) = (place / row, place % row);
    let within = if number.is_multiple_of(2) { unit(key, place) } else { (at as f64 + 0.5) / row as f64 };
    OFFSET * (2.0 * unit(!key, number) - 1.0) + 4.0 * within - 2.0
}

/// The ends of a range, and what a graph compares with; with what lies just beyond, and around zero, if nothing keeps the
/// integers inside.
fn ends(low: i64, high: i64, bounded: bool, dtype: Dtype, literals: &[f64]) -> Vec<i64> {
    let (first, last) = if bounded { (low, high) } else { dtype.integer_range().unwrap_or((low, high)) };
    let literals = literals.iter().map(|&literal| literal as i64).filter(|literal| (first..=last).contains(literal));
    if bounded {
        return [low, high].into_iter().chain(literals).collect();
    }
    let (least, most) = match dtype {
        Dtype::Bool | Dtype::U8 => (0, 255),
        Dtype::I8 => (-128, 127),
        _ => (-32_768, 32_767),
    };
    let beyond = [low, high, 0, 1, -1, low.saturating_sub(1), high.saturating_add(1)];
    let mut values: Vec<i64> = beyond.into_iter().filter(|value| (least..=most).contains(value)).collect();
    values.extend([low, high].into_iter().chain(literals));
    values.sort_unstable();
    values.dedup();
    values
}
