//! From pieces to tasks: pieces of one op sequence, wired alike, are the variants of one task.

use super::piece::Piece;
use passhost_ir::Dtype;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Where a piece comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The position of the model among those that were decomposed.
    pub model: usize,
    /// The first node of the model's program, the one behind its last, and the number of the piece among those of its
    /// kind.
    pub place: (usize, usize, usize),
}

/// A piece with what is known of where it occurs.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The first occurrence.
    pub piece: Piece,
    /// What the first occurrence is called by, as [`Model::label`](super::Model::label) has it.
    pub label: String,
    /// Where that is.
    pub origin: Origin,
    /// How often the same graph occurs, in how many models.
    pub occurrences: usize,
    /// The models.
    pub models: BTreeSet<usize>,
}

/// Pieces of one op sequence.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its variants, the one that occurs first in front.
    pub variants: Vec<Variant>,
    /// How often pieces of it occur, those left out included.
    pub occurrences: usize,
    /// The models that have some.
    pub models: BTreeSet<usize>,
    /// Different graphs, those left out included.
    pub graphs: usize,
}

/// Collects the pieces of one kind from any number of models, in any order.
#[derive(Debug, Default)]
pub struct Tasks {
    by_hash: HashMap<String, Variant>,
    /// The hash of each piece by the key of its draft.
    by_key: HashMap<[u8; 32], String>,
}

impl Tasks {
    /// Counts a draft whose piece is known from an earlier place. False if it is not: it must be read and added.
    pub fn count(&mut self, key: &[u8; 32], origin: &Origin) -> bool {
        match self.by_key.get(key).and_then(|hash| self.by_hash.get_mut(hash)) {
            Some(known) if known.origin <= *origin => {
                known.occurrences += 1;
                known.models.insert(origin.model);
                true
            }
            _ => false,
        }
    }

    /// Adds the piece of a draft with this key. Of pieces with the same graph the first counts, by origin.
    pub fn add(&mut self, key: [u8; 32], piece: Piece, label: String, origin: Origin) {
        self.by_key.insert(key, piece.hash.clone());
        let models = BTreeSet::from([origin.model]);
        match self.by_hash.get_mut(&piece.hash) {
            None => {
                self.by_hash.insert(piece.hash.clone(), Variant { piece, label, origin, occurrences: 1, models });
            }
            Some(known) => {
                known.occurrences += 1;
                known.models.extend(models);
                if origin < known.origin {
                    (known.piece, known.label, known.origin) = (piece, label, origin);
                }
            }
        }
    }

    /// Different graphs so far.
    pub fn graphs(&self) -> usize {
        self.by_hash.len()
    }

    /// The tasks in the order of their first occurrence, each with so many variants at most.
    pub fn finish(self, most_variants: usize) -> Vec<Task> {
        let mut by_skeleton: BTreeMap<String, Vec<Variant>> = BTreeMap::new();
        for variant in self.by_hash.into_values() {
            by_skeleton.entry(variant.piece.skeleton.clone()).or_default().push(variant);
        }
        let mut tasks: Vec<Task> =
            by_skeleton.into_values().map(|variants| Task::of(variants, most_variants)).collect();
        tasks.sort_unstable_by(|a, b| a.variants[0].origin.cmp(&b.variants[0].origin));
        tasks
    }
}

impl Task {
    fn of(mut variants: Vec<Variant>, most: usize) -> Task {
        variants.sort_unstable_by(|a, b| a.origin.cmp(&b.origin));
        let occurrences = variants.iter().map(|variant| variant.occurrences).sum();
        let models = variants.iter().flat_map(|variant| variant.models.clone()).collect();
        let graphs = variants.len();
        Task { variants: chosen(variants, most), occurrences, models, graphs }
    }

    /// The names of its ops.
    pub fn ops(&self) -> &[String] {
        &self.variants[0].piece.ops
    }
}

/// At most so many: of each element type in turn, the first ones first.
fn chosen(variants: Vec<Variant>, most: usize) -> Vec<Variant> {
    let mut rounds: HashMap<Dtype, usize> = HashMap::new();
    let mut ordered: Vec<(usize, Variant)> = variants
        .into_iter()
        .map(|variant| {
            let round = rounds.entry(variant.piece.dtype).or_default();
            *round += 1;
            (*round, variant)
        })
        .collect();
    ordered.sort_by_key(|(round, _)| *round);
    ordered.truncate(most);
    let mut chosen: Vec<Variant> = ordered.into_iter().map(|(_, variant)| variant).collect();
    chosen.sort_unstable_by(|a, b| a.origin.cmp(&b.origin));
    chosen
}

/// The positions of at most `count` tasks that cover as many pairs of neighbouring ops as they can, rare pairs first;
/// where all are covered, those of models that have the fewest chosen so far. In ascending order.
pub fn covering(tasks: &[&Task], count: usize) -> Vec<usize> {
    let pairs: Vec<BTreeSet<(&str, &str)>> = tasks.iter().map(|task| pairs(task.ops())).collect();
    let mut frequency: HashMap<(&str, &str), usize> = HashMap::new();
    pairs.iter().flatten().for_each(|pair| *frequency.entry(*pair).or_default() += 1);
    let mut covered: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut of_model: HashMap<usize, usize> = HashMap::new();
    let mut chosen = BTreeSet::new();
    while chosen.len() < count.min(tasks.len()) {
        let worth = |position: usize| -> u64 {
            let fresh = pairs[position].iter().filter(|pair| !covered.contains(*pair));
            fresh.map(|pair| 1_000_000 / frequency.get(pair).copied().unwrap_or(1) as u64).sum()
        };
        let rank = |&position: &usize| {
            let task = tasks[position];
            let crowd = of_model.get(&task.variants[0].origin.model).copied().unwrap_or(0);
            (worth(position), std::cmp::Reverse(crowd), task.occurrences, std::cmp::Reverse(position))
        };
        let Some(best) = (0..tasks.len()).filter(|position| !chosen.contains(position)).max_by_key(rank) else { break };
        covered.extend(pairs[best].iter().copied());
        *of_model.entry(tasks[best].variants[0].origin.model).or_default() += 1;
        chosen.insert(best);
    }
    chosen.into_iter().collect()
}

/// Neighbouring ops; for a single op, that op.
fn pairs(ops: &[String]) -> BTreeSet<(&str, &str)> {
    match ops {
        [one] => BTreeSet::from([(one.as_str(), "")]),
        ops => ops.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect(),
    }
}
