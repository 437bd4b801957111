//! Claims, evaluated thread by thread.

use super::meaning::{Meaning, Place};
use crate::random::Random;
use passhost_ir::kernel::Reg;
use passhost_kernels::cuda::{Claim, ClaimAccess, Claims, Term};

/// The widest access of a GPU, in bytes.
const WIDEST: i128 = 16;
/// What 32 bits hold.
const NARROW: std::ops::RangeInclusive<i128> = -(1 << 31)..=(1 << 31) - 1;

/// A lane of a thread: the numbers of its row and its point, its coordinates along all axes, and the index expressions
/// there.
struct Lane {
    row: i64,
    point: i64,
    at: Vec<i64>,
    indices: Vec<Option<i128>>,
}

/// Evaluates all claims for every thread of a launch, or for `most` of them that are drawn.
///
/// # Errors
///
/// If one does not hold, with where.
pub fn check(meaning: &Meaning<'_>, claims: &Claims, most: u64, random: &mut Random) -> Result<(), String> {
    let points = |axes: &[usize]| axes.iter().map(|axis| meaning.extent(*axis)).product::<i64>();
    let (rows, points) = (points(&claims.rows), points(&claims.points));
    if (rows as u64) > claims.reach.0 || (points as u64) > claims.reach.1 {
        return Err(format!("threads reach {:?} of {rows} rows of {points} points", claims.reach));
    }
    let lanes = i64::from(claims.lanes);
    let (along, other) = if claims.along_rows { (rows, points) } else { (points, rows) };
    if along % lanes != 0 {
        return Err(format!("{lanes} lanes do not divide {along} points"));
    }
    let threads = (along / lanes) as u64 * other as u64;
    let mut claimed = claims.list.clone();
    claimed.dedup();
    for number in 0..threads.min(most) {
        let number = if threads <= most { number } else { random.bits() % threads };
        let (first, other) =
            ((number % (along / lanes) as u64) as i64 * lanes, (number / (along / lanes) as u64) as i64);
        // A part of a kernel that goes over some of the axes may be anywhere along the others: nothing depends on them.
        let axes = 0..meaning.axes();
        let others: Vec<i64> = axes.map(|axis| random.between(0, (meaning.extent(axis) - 1).max(0))).collect();
        let thread: Vec<Lane> = (first..first + lanes)
            .map(|number| {
                let (row, point) = if claims.along_rows { (number, other) } else { (other, number) };
                lane(meaning, claims, (row, point), &others)
            })
            .collect();
        for claim in &claimed {
            holds(meaning, claim, &thread).map_err(|wrong| format!("{claim:?}: {wrong}, at {:?}", thread[0].at))?;
        }
    }
    Ok(())
}

fn lane(meaning: &Meaning<'_>, claims: &Claims, (row, point): (i64, i64), others: &[i64]) -> Lane {
    let mut at = others.to_vec();
    for (axes, number) in [(&claims.rows, row), (&claims.points, point)] {
        let mut rest = number;
        for axis in axes.iter().rev() {
            at[*axis] = rest % meaning.extent(*axis);
            rest /= meaning.extent(*axis);
        }
    }
    let indices = meaning.indices(&at);
    Lane { row, point, at, indices }
}

fn holds(meaning: &Meaning<'_>, claim: &Claim, thread: &[Lane]) -> Result<(), String> {
    match claim {
        Claim::OneElement(access) => one_element(meaning, *access, thread),
        Claim::Neighbours(access) => neighbours(meaning, *access, thread),
        Claim::Inside { load, dim } => thread.iter().try_for_each(|lane| inside(meaning, *load, *dim, lane)),
        Claim::Offset { access, base, terms, narrow } => {
            thread.iter().try_for_each(|lane| offset(meaning, *access, (*base, terms, *narrow), lane))
        }
        Claim::Narrow(load) => thread.iter().try_for_each(|lane| {
            let (_, products) = meaning.place(ClaimAccess::Load(*load), &lane.at, &lane.indices);
            fits(products.into_iter())
        }),
        Claim::OneValue(reg) => one_value(meaning, *reg, thread),
        Claim::Together { of_row, inner, extent } => together(*of_row, (*inner, *extent), thread),
        Claim::OneSide(side) => one_side(*side, thread),
    }
}

fn one_element(meaning: &Meaning<'_>, access: ClaimAccess, thread: &[Lane]) -> Result<(), String> {
    let place = |lane: &Lane| meaning.place(access, &lane.at, &lane.indices).0;
    let first = place(&thread[0]);
    match thread.iter().map(place).find(|place| *place != first) {
        Some(other) if first != Place::Unknown && other != Place::Unknown => Err(format!("{first:?} and {other:?}")),
        _ => Ok(()),
    }
}

fn neighbours(meaning: &Meaning<'_>, access: ClaimAccess, thread: &[Lane]) -> Result<(), String> {
    let (size, alignment) = meaning.element(access);
    let width = (size * thread.len() as i128).min(WIDEST);
    let places: Vec<Place> = thread.iter().map(|lane| meaning.place(access, &lane.at, &lane.indices).0).collect();
    if alignment < width {
        return Err(format!("{width} bytes at once of a tensor that is aligned to {alignment}"));
    }
    match places[0] {
        Place::At(first) => {
            if first * size % width != 0 {
                return Err(format!("{width} bytes at byte {}", first * size));
            }
            let next = |(lane, place): (usize, &Place)| *place == Place::At(first + lane as i128);
            if places.iter().enumerate().all(next) { Ok(()) } else { Err(format!("{places:?}")) }
        }
        Place::Outside if places.iter().all(|place| *place == Place::Outside) => Ok(()),
        Place::Unknown => Ok(()),
        Place::Outside => Err(format!("{places:?}")),
    }
}

fn inside(meaning: &Meaning<'_>, load: Reg, dim: usize, lane: &Lane) -> Result<(), String> {
    match meaning.dimension(load, dim, &lane.indices) {
        Some((at, extent)) if !(0..extent).contains(&at) => Err(format!("index {at} of {extent}")),
        _ => Ok(()),
    }
}

fn offset(
    meaning: &Meaning<'_>,
    access: ClaimAccess,
    (base, terms, narrow): (i64, &[Term], bool),
    lane: &Lane,
) -> Result<(), String> {
    if let ClaimAccess::Load(load) = access {
        (0..meaning.rank(load)).try_for_each(|dim| inside(meaning, load, dim, lane))?;
    }
    let term = |term: &Term| {
        let number = if term.of_row { lane.row } else { lane.point };
        i128::from(term.slope) * i128::from(number / term.inner % term.extent)
    };
    let found = i128::from(base) + terms.iter().map(term).sum::<i128>();
    match meaning.place(access, &lane.at, &lane.indices).0 {
        Place::At(expected) if expected != found => return Err(format!("offset {found}, expected {expected}")),
        Place::Outside => return Err("it lies outside".into()),
        _ => {}
    }
    if narrow { fits(terms.iter().map(term).chain([i128::from(base)])) } else { Ok(()) }
}

/// Whether numbers and their sum, taken one after the other, fit 32 bits.
fn fits(numbers: impl Iterator<Item = i128>) -> Result<(), String> {
    let mut sum = 0;
    for number in numbers {
        sum += number;
        if !NARROW.contains(&number) || !NARROW.contains(&sum) {
            return Err(format!("{number} or {sum} needs more than 32 bits"));
        }
    }
    Ok(())
}

fn one_value(meaning: &Meaning<'_>, reg: Reg, thread: &[Lane]) -> Result<(), String> {
    let known: Vec<u64> = thread.iter().filter_map(|lane| meaning.value(reg, &lane.at)).collect();
    if known.windows(2).all(|two| two[0] == two[1]) { Ok(()) } else { Err(format!("{known:x?}")) }
}

fn together(of_row: bool, (inner, extent): (i64, i64), thread: &[Lane]) -> Result<(), String> {
    let position = |lane: &Lane| if of_row { lane.row } else { lane.point } / inner % extent;
    let positions: Vec<i64> = thread.iter().map(position).collect();
    let step = i64::from(inner == 1);
    let is_behind = |(lane, position): (i64, &i64)| *position == positions[0] + lane * step;
    if (0..).zip(&positions).all(is_behind) { Ok(()) } else { Err(format!("positions {positions:?}")) }
}

fn one_side(side: u64, thread: &[Lane]) -> Result<(), String> {
    let rows: Vec<u64> = thread.iter().map(|lane| lane.row as u64).collect();
    if rows.iter().all(|row| row / side == rows[0] / side) { Ok(()) } else { Err(format!("rows {rows:?}")) }
}
