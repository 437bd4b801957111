//! Dimensions as the arguments of ops name them.

use crate::Arg;
use crate::ops::Shows;

/// The position of a dimension that may count from the end; `None` outside of a tensor of this rank.
pub fn wrap(dim: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    usize::try_from(if dim < 0 { dim.checked_add(rank)? } else { dim }).ok().filter(|&dim| (dim as i64) < rank)
}

/// For each dimension of the result of an op that only permutes, the dimension of its operand; `None` for what shows anything
/// else.
pub fn permutation(shows: Shows, args: &[Arg], rank: usize) -> Option<Vec<usize>> {
    let ints = |position: usize| match args.get(position) {
        Some(Arg::Ints(dims)) => dims.iter().map(|&dim| wrap(dim, rank)).collect::<Option<Vec<usize>>>(),
        Some(Arg::Int(dim)) => wrap(*dim, rank).map(|dim| vec![dim]),
        _ => None,
    };
    let mut order: Vec<usize> = (0..rank).collect();
    match shows {
        Shows::Reversed => order.reverse(),
        Shows::SwappedLast => order.swap(rank.checked_sub(2)?, rank - 1),
        Shows::Swapped if rank == 0 => {}
        Shows::Swapped => {
            let (&[first], &[second]) = (&ints(1)?[..], &ints(2)?[..]) else { return None };
            order.swap(first, second);
        }
        Shows::Permuted => order = ints(1)?,
        Shows::Moved => {
            let (from, to) = (ints(1)?, ints(2)?);
            let mut rest = (0..rank).filter(|dim| !from.contains(dim));
            let moved = |place: usize| to.iter().position(|&to| to == place).and_then(|index| from.get(index)).copied();
            order = (0..rank).map(|place| moved(place).or_else(|| rest.next())).collect::<Option<_>>()?;
        }
        _ => return None,
    }
    let mut seen = vec![false; rank];
    let is_new = |dim: &usize| seen.get_mut(*dim).is_some_and(|seen| !std::mem::replace(seen, true));
    (order.len() == rank && order.iter().all(is_new)).then_some(order)
}
