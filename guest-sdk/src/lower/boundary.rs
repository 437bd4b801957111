//! Where a set of nodes ends.

use super::analysis::GraphAnalysis;
use fixedbitset::FixedBitSet;
use passhost_ir::ValueId;
use std::collections::BTreeMap;

/// What of a set of nodes is visible from outside.
pub(super) struct Boundary {
    /// Results of members that something else reads.
    pub(super) results: Vec<ValueId>,
    /// Views between members that nothing else reads.
    pub(super) covered: Vec<usize>,
}

impl Boundary {
    pub(super) fn of(analysis: &GraphAnalysis<'_>, members: &FixedBitSet) -> Boundary {
        let mut walk = ReaderWalk { analysis, members, views: BTreeMap::new(), is_thorough: true };
        let outputs = members.ones().flat_map(|member| &analysis.node(member).outputs).copied();
        let results = outputs.filter(|&output| walk.is_read_outside(output)).collect();
        let covered = walk.views.into_iter().filter(|(_, stays)| !stays).map(|(position, _)| position).collect();
        Boundary { results, covered }
    }
}

/// Those of `values`, results of members, that something but members reads.
pub(super) fn read_outside(analysis: &GraphAnalysis<'_>, members: &FixedBitSet, values: &[ValueId]) -> Vec<ValueId> {
    let mut walk = ReaderWalk { analysis, members, views: BTreeMap::new(), is_thorough: false };
    values.iter().copied().filter(|&value| walk.is_read_outside(value)).collect()
}

/// Following what members define to who reads it.
struct ReaderWalk<'a> {
    analysis: &'a GraphAnalysis<'a>,
    members: &'a FixedBitSet,
    /// For each view of a member's result whether something outside reads it.
    views: BTreeMap<usize, bool>,
    /// Whether all views are wanted, and not only an answer.
    is_thorough: bool,
}

impl ReaderWalk<'_> {
    /// Whether anything but members reads a value, or a view of it.
    fn is_read_outside(&mut self, value: ValueId) -> bool {
        let uses = &self.analysis.links.uses;
        let mut found = uses.is_output(value);
        for &reader in uses.readers(value) {
            if found && !self.is_thorough {
                return true;
            }
            found |= !self.members.contains(reader) && (!self.analysis.is_view(reader) || self.stays(reader));
        }
        found
    }

    /// Whether anything but members reads a result of a view.
    fn stays(&mut self, position: usize) -> bool {
        if let Some(&known) = self.views.get(&position) {
            return known;
        }
        let mut stays = false;
        for &output in &self.analysis.node(position).outputs {
            stays |= self.is_read_outside(output);
        }
        self.views.insert(position, stays);
        stays
    }
}
