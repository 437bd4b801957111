//! Sets of small integers: node positions and value ids. A third of the size, in a component, of the ordered sets of the
//! standard library.

/// A set of positions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    pub(crate) fn insert(&mut self, position: usize) {
        if position / 64 >= self.0.len() {
            self.0.resize(position / 64 + 1, 0);
        }
        self.0[position / 64] |= 1 << (position % 64);
    }

    pub(crate) fn contains(&self, position: usize) -> bool {
        self.0.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
    }

    /// The members, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let in_word = |(index, &word): (usize, &u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(in_word)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    pub(crate) fn last(&self) -> Option<usize> {
        let index = self.0.iter().rposition(|&word| word != 0)?;
        Some(index * 64 + 63 - self.0[index].leading_zeros() as usize)
    }

    pub(crate) fn union(&self, other: &BitSet) -> BitSet {
        let (long, short) = if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let mut union = long.clone();
        for (word, other) in union.0.iter_mut().zip(&short.0) {
            *word |= other;
        }
        union
    }

    pub(crate) fn intersects(&self, other: &BitSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
}

impl FromIterator<usize> for BitSet {
    fn from_iter<I: IntoIterator<Item = usize>>(positions: I) -> BitSet {
        let mut set = BitSet::default();
        for position in positions {
            set.insert(position);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back_in_order_across_words() {
        let set: BitSet = [130, 3, 64, 63, 3].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 63, 64, 130]);
        assert_eq!((set.first(), set.last(), set.len()), (Some(3), Some(130), 4));
        assert!(set.contains(64) && !set.contains(65) && !set.contains(1000));
    }

    #[test]
    fn union_and_intersection_take_sets_of_different_lengths() {
        let (low, high): (BitSet, BitSet) = ([1, 2].into_iter().collect(), [2, 200].into_iter().collect());
        assert_eq!(low.union(&high).iter().collect::<Vec<_>>(), [1, 2, 200]);
        assert_eq!(low.union(&high), high.union(&low));
        assert!(low.intersects(&high));
        assert!(!low.intersects(&[300].into_iter().collect()));
        assert_eq!(BitSet::default().last(), None);
    }
}
