//! Which sizes of a reshape follow when the tensor that it takes has changed.

use super::extents::{Extents, SizeStep};

/// Combinations of sizes that are tried.
const COMBINATIONS: usize = 4096;

/// A size in the text of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A literal, or -1.
    Literal(i64),
    /// A number that the program gets from elsewhere, with its value now.
    Known(i64),
}

impl Size {
    /// As a number.
    pub fn number(&self) -> i64 {
        let (Size::Literal(number) | Size::Known(number)) = self;
        *number
    }
}

/// A reshape of a tensor that has changed.
#[derive(Debug)]
pub struct Reshape<'a> {
    /// Shape of the operand before.
    pub from: &'a [i64],
    /// Shape of the operand now.
    pub to: &'a [i64],
    /// The sizes as they are written.
    pub sizes: &'a [Size],
    /// Shape of the result before.
    pub result: &'a [i64],
}

/// Sizes that would fit, with what speaks for them.
struct Solution {
    sizes: Vec<i64>,
    /// Of two, the larger one is the better guess.
    merit: (bool, usize, usize),
}

impl Reshape<'_> {
    /// The sizes for the new operand.
    ///
    /// A reshape keeps elements in their order, so that wherever the extents of the operand and of the result had the
    /// same product from the front, they must have the same product again. Among the sizes for which that holds, the
    /// first of these that give any decide:
    ///
    /// 1. only literals that are the value of the symbol change, to its new value, and -1 takes the rest;
    /// 2. literals may also become what an extent of their value became in the operand, or in any tensor before;
    /// 3. a single literal takes the whole change.
    ///
    /// In 1 and 2 the best one counts: in it most extents of the result are extents of the operand that changed in the
    /// same way, in the same order. Before that, in a batch of one, a leading 1 is the batch rather than that -1 takes it
    /// over: `view(1, -1, 768)`. If two are equally good, or 3 gives several, it is not clear what follows.
    pub fn follow(&self, step: &SizeStep, extents: &Extents) -> Result<Vec<i64>, String> {
        let symbol = |size: i64| if size == step.from { vec![size, step.to] } else { vec![size] };
        let seen = |size: i64| {
            let mut options = symbol(size);
            let changed = self.from.iter().zip(self.to).filter(|(old, _)| **old == size).map(|(_, new)| *new);
            for option in changed.chain(extents.ever(size)) {
                if !options.contains(&option) {
                    options.push(option);
                }
            }
            options
        };
        for options in [&symbol as &dyn Fn(i64) -> Vec<i64>, &seen] {
            let solutions = self.solutions(options, step)?;
            if !solutions.is_empty() {
                return self.best(solutions);
            }
        }
        self.scaled().ok_or_else(|| self.unclear(None))
    }

    /// All sizes that fit where each literal takes one of its options.
    fn solutions(&self, options: &dyn Fn(i64) -> Vec<i64>, step: &SizeStep) -> Result<Vec<Solution>, String> {
        let options: Vec<Vec<i64>> = self
            .sizes
            .iter()
            .map(|size| match *size {
                Size::Literal(size @ 0..) => options(size),
                Size::Literal(size) | Size::Known(size) => vec![size],
            })
            .collect();
        let combinations = options.iter().fold(1usize, |product, options| product.saturating_mul(options.len()));
        if combinations > COMBINATIONS {
            return Err(format!("{combinations} combinations of sizes are possible"));
        }
        let mut solutions = vec![];
        for mut combination in 0..combinations {
            let mut sizes = Vec::with_capacity(options.len());
            for options in &options {
                sizes.push(options[combination % options.len()]);
                combination /= options.len();
            }
            if let Some(result) = self.fits(&sizes, step) {
                let merit = self.merit(&sizes, &result, step);
                solutions.push(Solution { sizes, merit });
            }
        }
        Ok(solutions)
    }

    fn best(&self, mut solutions: Vec<Solution>) -> Result<Vec<i64>, String> {
        solutions.sort_by_key(|solution| solution.merit);
        let best = solutions.pop().ok_or_else(|| self.unclear(None))?;
        match solutions.pop() {
            Some(second) if second.merit == best.merit => Err(self.unclear(Some((&best.sizes, &second.sizes)))),
            _ => Ok(best.sizes),
        }
    }

    /// The sizes where one literal takes the whole change, if the order of the elements leaves only that one.
    fn scaled(&self) -> Option<Vec<i64>> {
        let mut sizes: Vec<i64> = self.sizes.iter().map(Size::number).collect();
        let (old, new) = (product(self.from), product(self.to));
        // Everything is scaled by the old number of elements, so that nothing is rounded.
        let operand: Vec<(i128, i128)> =
            products(self.from).zip(products(self.to).map(|product| product.saturating_mul(old))).collect();
        let could_take = |position: &usize| {
            let factor = |at: usize| if at > *position { new } else { old };
            let result = products(self.result).enumerate();
            let result: Vec<_> = result.map(|(at, before)| (before, before.saturating_mul(factor(at)))).collect();
            matches!(self.sizes[*position], Size::Literal(1..)) && same_order(&operand, &result)
        };
        let candidates: Vec<usize> = (0..sizes.len()).filter(could_take).collect();
        let [position] = candidates[..] else { return None };
        let scaled = i128::from(sizes[position]).checked_mul(new)?;
        sizes[position] = i64::try_from(scaled.checked_div(old).filter(|_| scaled % old == 0)?).ok()?;
        Some(sizes)
    }

    /// The shape of the result with these sizes, if it has the elements of the operand in the same order.
    fn fits(&self, sizes: &[i64], step: &SizeStep) -> Option<Vec<i64>> {
        let total = product(self.to);
        let mut result = sizes.to_vec();
        if let Some(open) = sizes.iter().position(|&size| size == -1) {
            let known = product(sizes).checked_neg().filter(|&known| known > 0)?;
            result[open] = i64::try_from(total / known).ok()?;
            // It grows when the symbol does.
            let change = i128::from(result[open]) - i128::from(*self.result.get(open)?);
            if change.signum() * (i128::from(step.to) - i128::from(step.from)).signum() < 0 {
                return None;
            }
        }
        let operand: Vec<(i128, i128)> = products(self.from).zip(products(self.to)).collect();
        let pairs: Vec<(i128, i128)> = products(self.result).zip(products(&result)).collect();
        (product(&result) == total && same_order(&operand, &pairs)).then_some(result)
    }

    fn merit(&self, sizes: &[i64], result: &[i64], step: &SizeStep) -> (bool, usize, usize) {
        let operand: Vec<(i64, i64)> = self.from.iter().copied().zip(self.to.iter().copied()).collect();
        let pairs: Vec<(i64, i64)> = self.result.iter().copied().zip(result.iter().copied()).collect();
        // -1 has taken over what a literal could have taken.
        let unchanged = sizes.iter().zip(self.sizes).all(|(size, before)| Size::Literal(*size) == *before);
        let is_symbol = |(position, size): (usize, &i64)| *size == step.from && (position == 0 || step.from > 1);
        let taken_over = unchanged && sizes.iter().enumerate().any(is_symbol);
        let in_place = operand.iter().zip(&pairs).filter(|(operand, result)| operand == result).count();
        (!taken_over, common(&operand, &pairs), in_place)
    }

    fn unclear(&self, both: Option<(&[i64], &[i64])>) -> String {
        let sizes: Vec<i64> = self.sizes.iter().map(Size::number).collect();
        let operand = format!("its operand becomes {:?} instead of {:?}", self.to, self.from);
        match both {
            Some((one, other)) => format!("{operand}, and the sizes {sizes:?} could become {one:?} or {other:?}"),
            None => format!("{operand}, and none of the sizes {sizes:?} follows clearly"),
        }
    }
}

/// Whether products from the front that were the same before, and are given with what they are now, are the same again.
/// Extents of 1 give several products that were the same; one pair of them must meet.
fn same_order(operand: &[(i128, i128)], result: &[(i128, i128)]) -> bool {
    operand.iter().all(|(before, _)| {
        let now = |(old, new): &(i128, i128)| (old == before).then_some(*new);
        let result: Vec<i128> = result.iter().filter_map(now).collect();
        result.is_empty() || operand.iter().filter_map(now).any(|product| result.contains(&product))
    })
}

/// The products of the first 0, 1, 2, ... extents.
fn products(extents: &[i64]) -> impl Iterator<Item = i128> {
    let mut product = 1i128;
    std::iter::once(1).chain(extents.iter().map(move |&extent| {
        product = product.saturating_mul(i128::from(extent));
        product
    }))
}

fn product(extents: &[i64]) -> i128 {
    products(extents).last().unwrap_or(1)
}

/// The length of the longest sequence that both have, with gaps.
fn common(a: &[(i64, i64)], b: &[(i64, i64)]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[b.len()]
}
