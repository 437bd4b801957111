//! An order of regions that merging keeps: so that a cycle is found by looking between two of them only.

use std::collections::BTreeSet;

/// A directed graph without cycles whose vertices merge.
///
/// Each vertex has a place in a topological order. Two may merge where no path leads from one to the other through a third;
/// such a path can only run between their places. After a merge the vertices between are put in order again, as by Pearce
/// and Kelly ("A dynamic topological sort algorithm for directed acyclic graphs", 2006).
pub(super) struct MergeOrder {
    /// For each vertex what it became part of; itself if nothing.
    merged_into: Vec<usize>,
    successors: Vec<BTreeSet<usize>>,
    predecessors: Vec<BTreeSet<usize>>,
    /// For each vertex its place.
    place: Vec<usize>,
    /// For each place its vertex.
    vertex_at: Vec<usize>,
}

impl MergeOrder {
    /// Vertices in a topological order, with the vertices that each of them reads.
    pub(super) fn of(reads: Vec<BTreeSet<usize>>) -> MergeOrder {
        let mut successors = vec![BTreeSet::new(); reads.len()];
        for (vertex, sources) in reads.iter().enumerate() {
            for &source in sources {
                successors[source].insert(vertex);
            }
        }
        let places: Vec<usize> = (0..reads.len()).collect();
        let [merged_into, vertex_at] = [places.clone(), places.clone()];
        MergeOrder { merged_into, successors, predecessors: reads, place: places, vertex_at }
    }

    /// The vertex that a vertex has become part of.
    pub(super) fn find(&self, vertex: usize) -> usize {
        let mut vertex = vertex;
        while self.merged_into[vertex] != vertex {
            vertex = self.merged_into[vertex];
        }
        vertex
    }

    /// Whether one of two vertices reads the other.
    pub(super) fn are_neighbours(&self, a: usize, b: usize) -> bool {
        self.successors[a].contains(&b) || self.successors[b].contains(&a)
    }

    /// Whether no path between two vertices leads through another.
    pub(super) fn may_merge(&self, a: usize, b: usize) -> bool {
        let (first, last) = if self.place[a] < self.place[b] { (a, b) } else { (b, a) };
        self.between(first, last).is_some()
    }

    /// Merges two vertices, and returns which of them stands for both; `None` if a path between them leads through
    /// another.
    pub(super) fn merge(&mut self, a: usize, b: usize) -> Option<usize> {
        let (first, last) = if self.place[a] < self.place[b] { (a, b) } else { (b, a) };
        let behind = self.between(first, last)?;
        self.reorder(first, last, behind);
        let (successors, predecessors) =
            (std::mem::take(&mut self.successors[first]), std::mem::take(&mut self.predecessors[first]));
        for &successor in &successors {
            self.predecessors[successor].remove(&first);
            if successor != last {
                self.predecessors[successor].insert(last);
            }
        }
        for &predecessor in &predecessors {
            self.successors[predecessor].remove(&first);
            self.successors[predecessor].insert(last);
        }
        self.successors[last].extend(successors.into_iter().filter(|&vertex| vertex != last));
        self.predecessors[last].extend(predecessors);
        self.predecessors[last].remove(&first);
        self.merged_into[first] = last;
        Some(last)
    }

    /// What `first` leads to before the place of `last`; `None` if one of these leads to `last`.
    fn between(&self, first: usize, last: usize) -> Option<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = self.successors[first].iter().copied().filter(|&vertex| vertex != last).collect();
        while let Some(vertex) = open.pop() {
            if vertex == last {
                return None;
            }
            if self.place[vertex] < self.place[last] && found.insert(vertex) {
                open.extend(&self.successors[vertex]);
            }
        }
        Some(found)
    }

    /// What leads to `last` behind the place of `first`.
    fn leading(&self, first: usize, last: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = self.predecessors[last].iter().copied().collect();
        while let Some(vertex) = open.pop() {
            if self.place[vertex] > self.place[first] && found.insert(vertex) {
                open.extend(&self.predecessors[vertex]);
            }
        }
        found
    }

    /// Gives both the place of `last`, between what leads to them and what is `behind` them. Others keep their places.
    fn reorder(&mut self, first: usize, last: usize, behind: BTreeSet<usize>) {
        let before = if behind.is_empty() { BTreeSet::new() } else { self.leading(first, last) };
        let places_of = |vertices: BTreeSet<usize>| {
            let mut places: Vec<usize> = vertices.into_iter().map(|vertex| self.place[vertex]).collect();
            places.sort_unstable();
            places
        };
        let (before, behind) = (places_of(before), places_of(behind));
        let order = [&before[..], &[self.place[first], self.place[last]], &behind].concat();
        let vertices: Vec<usize> = order.iter().map(|&place| self.vertex_at[place]).collect();
        let mut places = order;
        places.sort_unstable();
        for (vertex, place) in vertices.into_iter().zip(places) {
            self.place[vertex] = place;
            self.vertex_at[place] = vertex;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(reads: &[&[usize]]) -> MergeOrder {
        let reads: Vec<BTreeSet<usize>> = reads.iter().map(|sources| sources.iter().copied().collect()).collect();
        MergeOrder::of(reads)
    }

    #[test]
    fn neighbours_merge_and_a_path_through_a_third_forbids_it() {
        // 0 -> 1 -> 2, and 0 -> 2.
        let mut diamond = order(&[&[], &[0], &[0, 1]]);
        assert!(!diamond.may_merge(0, 2));
        assert_eq!(diamond.merge(0, 2), None);
        assert_eq!(diamond.merge(1, 2), Some(2));
        assert_eq!(diamond.merge(0, 2), Some(2));
        assert_eq!(diamond.find(0), 2);
    }

    #[test]
    fn what_lies_between_moves_to_the_side_it_belongs_to() {
        // 0 -> 1, 0 -> 3, 2 -> 3: 1 must move behind the merged vertex, 2 stay before it.
        let mut fork = order(&[&[], &[0], &[], &[0, 2]]);
        assert_eq!(fork.merge(0, 3), Some(3));
        assert!(fork.place[2] < fork.place[3] && fork.place[3] < fork.place[1]);
    }

    #[test]
    fn siblings_merge_unless_one_leads_to_the_other() {
        // 0 -> 1 -> 2 -> 3, and 0 -> 4.
        let mut siblings = order(&[&[], &[0], &[1], &[2], &[0]]);
        assert_eq!(siblings.merge(1, 4), Some(4));
        // 4 is now in front of 2, so that it cannot be one with 3.
        assert_eq!(siblings.merge(4, 3), None);
        assert_eq!(siblings.merge(4, 2), Some(2));
    }

    #[test]
    fn every_sequence_of_merges_leaves_a_topological_order() {
        let count = 40;
        let mut state = 7u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let reads: Vec<BTreeSet<usize>> =
            (0..count).map(|vertex| (0..vertex.min(3)).map(|_| draw(vertex)).collect()).collect();
        let mut order = MergeOrder::of(reads.clone());
        let mut merges = 0;
        for _ in 0..400 {
            let (a, b) = (order.find(draw(count)), order.find(draw(count)));
            merges += usize::from(a != b && order.merge(a, b).is_some());
            for (vertex, sources) in reads.iter().enumerate() {
                let (to, from) = (order.find(vertex), sources.iter().map(|&source| order.find(source)));
                assert!(from.into_iter().all(|from| from == to || order.place[from] < order.place[to]));
            }
        }
        assert!(merges > 10, "only {merges} merges");
    }
}
