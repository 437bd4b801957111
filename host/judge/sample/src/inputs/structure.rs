//! What holds of recorded integers, so that others are drawn in their place of which the same holds. A pass that knows the
//! recorded ones by heart then knows nothing.

use passhost_ir::{Draw, Structure, TensorType};
use std::collections::HashSet;

/// How integers like these are drawn. `None` where there are no others of the same range: a single number, or many
/// equal ones.
pub fn like(ty: &TensorType, data: &[i64]) -> Option<Draw> {
    let (&low, &high) = (data.iter().min()?, data.iter().max()?);
    let last = ty.shape.iter().rev().find(|&&extent| extent > 1).copied()?;
    let row = usize::try_from(last).ok()?;
    if data.len() as u64 != ty.numel() || !data.len().is_multiple_of(row) {
        return None;
    }
    let like = |structure, row: usize| Draw::Like { structure, row: row as u64, low, high };
    if (0..=1).contains(&low) && high == 1 {
        let structure = of_mask(&data.chunks_exact(row).collect::<Vec<_>>());
        return Some(structure.map_or(Draw::Mask, |structure| like(structure, row)));
    }
    if low == high {
        return None;
    }
    for row in [data.len(), row] {
        if let Some(structure) = of_numbers(&data.chunks_exact(row).collect::<Vec<_>>(), low, high) {
            return Some(like(structure, row));
        }
    }
    Some(Draw::Uniform { low, high })
}

/// What holds of each row of zeros and ones.
fn of_mask(rows: &[&[i64]]) -> Option<Structure> {
    let ones = |row: &[i64]| row.iter().filter(|&&value| value == 1).count();
    let all = |holds: &dyn Fn(&[i64]) -> bool| rows.iter().all(|row| ones(row) > 0 && holds(row));
    if all(&|row| row.is_sorted_by(|one, next| one >= next)) && rows.iter().any(|row| ones(row) > 1) {
        Some(Structure::PaddedAtEnd)
    } else if all(&|row| row.is_sorted()) && rows.iter().any(|row| ones(row) > 1) {
        Some(Structure::PaddedAtStart)
    } else if all(&|row| ones(row) == 1) {
        Some(Structure::OneHot)
    } else {
        None
    }
}

/// What holds of each row of numbers between these, both of which every row has.
fn of_numbers(rows: &[&[i64]], low: i64, high: i64) -> Option<Structure> {
    let is_whole = |row: &&[i64]| row.contains(&low) && row.contains(&high);
    if rows[0].len() < 2 || !rows.iter().all(is_whole) {
        return None;
    }
    let distinct = rows.iter().all(|row| row.iter().collect::<HashSet<_>>().len() == row.len());
    let is_every_number = high.abs_diff(low) == rows[0].len() as u64 - 1;
    match (distinct, rows.iter().all(|row| row.is_sorted())) {
        // Numbers that count up have no others in the same order.
        (true, true) if !is_every_number => Some(Structure::Ascending { distinct }),
        (true, _) => Some(Structure::Distinct),
        (false, true) if rows[0].len() > 2 => Some(Structure::Ascending { distinct }),
        (false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::Dtype;

    fn of(shape: &[i64], data: &[i64]) -> Option<Draw> {
        like(&TensorType::contiguous(Dtype::I64, shape), data)
    }

    fn structure(shape: &[i64], data: &[i64]) -> Option<(Structure, u64)> {
        match of(shape, data) {
            Some(Draw::Like { structure, row, .. }) => Some((structure, row)),
            _ => None,
        }
    }

    #[test]
    fn structures_are_found() {
        let ascending = |distinct| Structure::Ascending { distinct };
        for (shape, data, expected) in [
            (vec![5], vec![0, 1, 2, 3, 4], (Structure::Distinct, 5)),
            (vec![2, 3], vec![0, 1, 2, 0, 1, 2], (Structure::Distinct, 3)),
            (vec![2, 3], vec![0, 1, 2, 3, 4, 5], (Structure::Distinct, 6)),
            (vec![3], vec![9, 2, 4], (Structure::Distinct, 3)),
            (vec![4], vec![0, 3, 9, 12], (ascending(true), 4)),
            (vec![5], vec![0, 0, 1, 1, 2], (ascending(false), 5)),
            (vec![2, 3], vec![1, 1, 1, 1, 1, 0], (Structure::PaddedAtEnd, 3)),
            (vec![1, 4, 1], vec![1, 1, 1, 1], (Structure::PaddedAtEnd, 4)),
            (vec![1, 4], vec![0, 1, 1, 1], (Structure::PaddedAtStart, 4)),
            (vec![2, 3], vec![0, 1, 0, 0, 0, 1], (Structure::OneHot, 3)),
        ] {
            assert_eq!(structure(&shape, &data), Some(expected), "{data:?}");
        }
    }

    #[test]
    fn what_has_none_is_drawn_from_its_range() {
        assert_eq!(of(&[5], &[3, 1, 3, 0, 2]), Some(Draw::Uniform { low: 0, high: 3 }));
        assert_eq!(of(&[4], &[1, 0, 1, 1]), Some(Draw::Mask));
        assert_eq!(of(&[2, 2], &[5, 9, 5, 5]), Some(Draw::Uniform { low: 5, high: 9 }));
    }

    #[test]
    fn what_has_no_others_stays() {
        assert_eq!(of(&[], &[7]), None);
        assert_eq!(of(&[1], &[1]), None);
        assert_eq!(of(&[3], &[0, 0, 0]), None);
        assert_eq!(of(&[2], &[7, 7]), None);
        assert_eq!(of(&[0], &[]), None);
    }
}
