//! What is known of a change of sizes: the symbol that changes, and which extents of tensors have followed it so far.

use crate::constraints::Constraints;
use std::collections::{BTreeSet, HashMap};

/// Different extents that one extent has become; more than that say nothing.
const KINDS: usize = 4;

/// One symbol gets another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeStep {
    /// Its position among the symbols.
    pub symbol: usize,
    /// Its value before.
    pub from: i64,
    /// Its value now.
    pub to: i64,
    /// The values of all other symbols.
    others: Vec<i64>,
}

/// Which extents tensors had before and have now.
#[derive(Debug, Default)]
pub struct Extents {
    /// By rank, dimension and extent.
    placed: HashMap<(usize, usize, i64), Seen>,
    anywhere: HashMap<i64, Seen>,
}

/// Where an extent stands in a tensor: the rank, and the dimension from the front.
pub type At = (usize, usize);

#[derive(Debug, Default)]
struct Seen {
    kept: bool,
    became: BTreeSet<i64>,
}

impl SizeStep {
    /// The change of the symbol at this position to `to`.
    pub fn new(constraints: &Constraints, symbol: usize, to: i64) -> SizeStep {
        let from = constraints.symbols[symbol].1;
        let others = constraints.symbols.iter().enumerate().filter(|(position, _)| *position != symbol);
        SizeStep { symbol, from, to, others: others.map(|(_, (_, value))| *value).collect() }
    }

    /// Whether no other symbol has the same value, so that a number of that value can only mean this one.
    pub fn is_alone(&self) -> bool {
        !self.others.contains(&self.from)
    }

    /// What a number in the text that counts elements becomes, if that is clear: it is the value of the symbol and of no
    /// other one, or an extent of tensors that has always become the same other extent. A number of 1 may mean anything.
    pub fn follow(&self, number: i64, at: Option<At>, extents: &Extents) -> Option<i64> {
        if number <= 1 || self.from <= 1 {
            return None;
        }
        if number == self.from { self.is_alone().then_some(self.to) } else { extents.became(number, at) }
    }

    /// As [`SizeStep::follow`], and also for one more or one less than the value of the symbol where nothing else has such an
    /// extent: lengths with a class token, or without the last element.
    pub fn follow_nearly(&self, number: i64, at: Option<At>, extents: &Extents) -> Option<i64> {
        let exact = self.follow(number, at, extents);
        let difference = number.checked_sub(self.from)?;
        let taken = self.others.contains(&number) || extents.anywhere.contains_key(&number);
        if exact.is_some() || difference.abs() != 1 || taken || number <= 1 || self.from <= 1 || !self.is_alone() {
            return exact;
        }
        Some(self.to + difference).filter(|&to| to > 0)
    }
}

impl Extents {
    /// Takes note of a tensor's shape before and now.
    pub fn note(&mut self, before: &[i64], now: &[i64]) {
        if before.len() != now.len() {
            return;
        }
        for (dim, (&old, &new)) in before.iter().zip(now).enumerate() {
            for seen in
                [self.placed.entry((before.len(), dim, old)).or_default(), self.anywhere.entry(old).or_default()]
            {
                if old == new {
                    seen.kept = true;
                } else if seen.became.len() < KINDS {
                    seen.became.insert(new);
                }
            }
        }
    }

    /// What this extent has always become: at this place of a tensor, or anywhere where it is not known there.
    fn became(&self, extent: i64, at: Option<At>) -> Option<i64> {
        let placed = at.and_then(|(rank, dim)| self.placed.get(&(rank, dim, extent)));
        let seen = placed.or_else(|| self.anywhere.get(&extent))?;
        match seen.became.iter().collect::<Vec<_>>()[..] {
            [&one] if !seen.kept => Some(one),
            _ => None,
        }
    }

    /// Everything that this extent has become, itself left out.
    pub fn ever(&self, extent: i64) -> impl Iterator<Item = i64> {
        self.anywhere.get(&extent).into_iter().flat_map(|seen| seen.became.iter().copied())
    }
}
