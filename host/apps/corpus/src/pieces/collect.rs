//! Cuts models, several at a time, and collects the pieces.

use super::graph_net::Provenance;
use crate::decompose::{Kind, Model, Origin, Refusal, Task, Tasks};
use crate::outcome::Failure;
use crate::worker::Worker;
use passhost_ir::Infer;
use passhost_sample::{Reading, SampleText};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The ranges of typical pieces, by the position of the sample and that of its variant.
pub type Typical = HashMap<(usize, usize), Vec<Range<usize>>>;

/// What became of one model.
#[derive(Debug, Default, Serialize)]
pub struct Cuts {
    /// Calls that compute something.
    pub calls: u64,
    /// By category.
    pub kinds: BTreeMap<&'static str, KindCuts>,
}

/// What became of the ranges of one kind.
#[derive(Debug, Default, Clone, Serialize)]
pub struct KindCuts {
    /// Ranges that the rule found.
    pub ranges: u64,
    /// Calls in them.
    pub calls: u64,
    /// Those that are samples of their own.
    pub pieces: u64,
    /// The others, by reason.
    pub refused: BTreeMap<String, u64>,
    /// One of each reason, with all its details.
    pub examples: BTreeMap<String, String>,
    /// The nodes of the model's program that each range begins with and ends before; left out for single ops.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<[usize; 2]>,
}

/// The pieces of all models so far.
pub struct Collector {
    kinds: BTreeSet<Kind>,
    positions: HashMap<PathBuf, usize>,
    typical: Typical,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    tasks: BTreeMap<Kind, Tasks>,
    models: BTreeMap<usize, Provenance>,
}

impl Collector {
    /// For samples at `paths`.
    pub fn new(kinds: BTreeSet<Kind>, paths: &[PathBuf], typical: Typical) -> Collector {
        let positions = paths.iter().enumerate().map(|(position, path)| (path.clone(), position)).collect();
        Collector { kinds, positions, typical, found: Mutex::default() }
    }

    /// Cuts one variant of a sample.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn cut(&self, worker: &mut Worker, sample: &SampleText, index: usize) -> Result<Cuts, Failure> {
        worker.read(sample, index, |reading, infer| self.cut_reading(sample, index, &reading, infer))
    }

    /// The tasks of each kind with so many variants at most, and where the models with pieces come from.
    pub fn finish(self, most_variants: usize) -> (BTreeMap<Kind, Vec<Task>>, BTreeMap<usize, Provenance>) {
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let tasks = self.kinds.iter().map(|kind| (*kind, Tasks::default()));
        let tasks = tasks.chain(found.tasks).collect::<BTreeMap<Kind, Tasks>>();
        (tasks.into_iter().map(|(kind, tasks)| (kind, tasks.finish(most_variants))).collect(), found.models)
    }

    fn cut_reading(&self, sample: &SampleText, index: usize, reading: &Reading, infer: &mut dyn Infer) -> Cuts {
        let model = Model::of(reading);
        let position = self.position(sample.path());
        // Variants of one sample are models of their own.
        let number = model_number(position, index);
        self.found(|found| found.models.insert(number, Provenance::of(sample, index)));
        let mut cuts = Cuts { calls: model.ops().len() as u64, ..Cuts::default() };
        for &kind in &self.kinds {
            let ranges = match kind {
                Kind::SoleOp => model.sole_ops(),
                Kind::Typical => self.typical.get(&(position, index)).cloned().unwrap_or_default(),
                Kind::Fusible => model.fusible(),
            };
            let mut kind_cuts = KindCuts { ranges: ranges.len() as u64, ..KindCuts::default() };
            if kind != Kind::SoleOp {
                let nodes = ranges.iter().map(|range| model.nodes(range));
                kind_cuts.nodes = nodes.map(|nodes| [nodes.start, nodes.end]).collect();
            }
            for (place, range) in ranges.into_iter().enumerate() {
                kind_cuts.calls += range.len() as u64;
                match self.piece(&model, kind, range, (number, place), infer) {
                    Ok(()) => kind_cuts.pieces += 1,
                    Err(refusal) => {
                        *kind_cuts.refused.entry(refusal.kind().to_owned()).or_default() += 1;
                        kind_cuts.examples.entry(refusal.kind().to_owned()).or_insert_with(|| refusal.to_string());
                    }
                }
            }
            cuts.kinds.insert(kind.category(), kind_cuts);
        }
        cuts
    }

    fn piece(
        &self,
        model: &Model<'_>,
        kind: Kind,
        range: Range<usize>,
        (number, place): (usize, usize),
        infer: &mut dyn Infer,
    ) -> Result<(), Refusal> {
        let draft = model.cut(range.clone())?;
        let (key, nodes) = (draft.key(), draft.nodes());
        let origin = Origin { model: number, place: (nodes.start, nodes.end, place) };
        if self.found(|found| found.tasks.entry(kind).or_default().count(&key, &origin)) {
            return Ok(());
        }
        let piece = draft.read(infer)?;
        self.found(|found| found.tasks.entry(kind).or_default().add(key, piece, model.label(&range), origin));
        Ok(())
    }

    fn position(&self, path: &Path) -> usize {
        self.positions.get(path).copied().unwrap_or(usize::MAX >> 32)
    }

    fn found<T>(&self, change: impl FnOnce(&mut Found) -> T) -> T {
        // Nothing that holds the lock can leave the maps half changed.
        change(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Samples in their order, and the variants of each in theirs.
fn model_number(sample: usize, variant: usize) -> usize {
    sample.saturating_mul(1 << 20).saturating_add(variant)
}
