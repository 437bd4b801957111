//! Joining regions, the pair that saves most first.

use super::order::MergeOrder;
use super::reads::{TensorRead, dependencies, is_reduced_next, reads_of};
use crate::lower::LowerError;
use crate::lower::analysis::GraphAnalysis;
use crate::lower::boundary::read_outside;
use crate::lower::contraction::tile::{ALONE, Tile};
use crate::lower::cost::Model;
use crate::lower::library::Calls;
use crate::lower::region::{Lowered, lower};
use crate::lower::rule::{Align, Recipe};
use crate::lower::work::WorkEstimate;
use fixedbitset::FixedBitSet;
use passhost_ir::ValueId;
use passhost_ir::kernel::limits;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// The most places at which one op is calculated.
const MOST_PLACES: usize = 16;

/// Regions stop growing here; a typical op is four instructions.
const MOST_NODES: usize = limits::BODY / 4;

/// A pair that was refused is looked at again when one of its regions has changed, until its tries add up to this.
const MOST_TRIES: u8 = 12;

/// What some joins save is divided by this before it is compared with what others do.
const LATER: u64 = 8;

/// What an estimate adds to that, and a lowering.
const TRY: [u8; 2] = [2, 4];

/// Nodes that become one kernel.
struct Region {
    members: FixedBitSet,
    /// All of its ops go over one shape, read each other element by element, and normalise along the same dimensions if any
    /// does: they lower whatever they are.
    is_plain: bool,
    /// A node that normalises, of a plain region.
    norm: Option<usize>,
    /// It adds up products along reduce axes, which the reduction that follows does not share with it.
    is_product: bool,
    shape: Vec<i64>,
    /// What of it is read elsewhere.
    results: Vec<ValueId>,
    work: WorkEstimate,
    /// The estimate, in nanoseconds, for the kernel or for the calls of ATen, whichever is less.
    time: f64,
    /// The kernel, where it has been written; `work` is its.
    kernel: Option<Lowered>,
    /// How often it has changed.
    version: u32,
    /// The pairs that it is part of.
    pairs: Vec<usize>,
}

/// Two nodes whose regions may join.
struct Pair {
    /// The one that calculates what the other reads, or both read the same tensor.
    nodes: [usize; 2],
    /// The versions of the regions at the last estimate.
    versions: [u32; 2],
    is_queued: bool,
    /// What the tries so far add up to.
    tries: u8,
    /// Why they have not joined.
    obstacle: Option<String>,
    /// What they become together, where it has been written already for these versions.
    joined: Option<Box<Region>>,
}

/// What a pair would be if both were read and written in order.
struct Rough {
    members: FixedBitSet,
    results: Vec<ValueId>,
    work: WorkEstimate,
}

/// A pair in the queue. Of those that save about as much, the smaller come first, which leaves less to be lowered again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct QueuedPair {
    /// Twice the logarithm of what it saves.
    rank: u32,
    nodes: Reverse<usize>,
    number: Reverse<usize>,
    /// Picoseconds that it saves.
    saved: u64,
}

impl QueuedPair {
    fn of(saved: u64, nodes: usize, number: usize) -> QueuedPair {
        let doubled = saved.saturating_mul(saved);
        QueuedPair { rank: doubled.max(1).ilog2(), nodes: Reverse(nodes), number: Reverse(number), saved }
    }
}

/// Nodes as a kernel, what it has to do, and the most places at which it calculates one of them.
pub(super) fn written(
    analysis: &GraphAnalysis<'_>,
    model: &Model,
    members: &FixedBitSet,
) -> Result<(Lowered, WorkEstimate, usize), LowerError> {
    let (lowered, effort) = lower(analysis, members)?;
    let Lowered { kernel, inputs, .. } = &lowered;
    let tile = members.ones().find_map(|member| analysis.tile(member));
    let tile = tile.map(|tile| Tile::of_kernel(kernel, tile.kind)).transpose()?;
    let work = WorkEstimate::of_kernel(analysis.graph, &model.constants, kernel, inputs, effort.repeated, tile);
    Ok((lowered, work, effort.places))
}

/// The state of the search.
pub(in crate::lower) struct FusionSearch<'a> {
    analysis: &'a GraphAnalysis<'a>,
    model: &'a Model,
    /// For each node what it reads.
    reads: Vec<Vec<TensorRead>>,
    order: MergeOrder,
    /// For each vertex of the order, which is a node's position, its region.
    regions: Vec<Option<Region>>,
    pairs: Vec<Pair>,
    queue: BinaryHeap<QueuedPair>,
}

impl<'a> FusionSearch<'a> {
    /// Joins regions, of every node that is not `refused` one at first, until that saves nothing.
    pub(in crate::lower) fn run(
        analysis: &'a GraphAnalysis<'a>,
        model: &'a Model,
        calls: &Calls,
        refused: &[Option<LowerError>],
    ) -> FusionSearch<'a> {
        let graph = analysis.graph;
        let mut search = FusionSearch {
            analysis,
            model,
            reads: vec![vec![]; graph.nodes.len()],
            order: MergeOrder::of(dependencies(analysis)),
            regions: vec![],
            pairs: vec![],
            queue: BinaryHeap::new(),
        };
        for (position, node) in graph.nodes.iter().enumerate() {
            let recipe = analysis.recipe(position).ok().filter(|_| refused[position].is_none());
            search.regions.push(recipe.map(|recipe| {
                let work = calls.works[position].as_kernel(analysis, &model.constants, position);
                let footprint = analysis.footprint(position, 0).ok().flatten();
                let is_norm = footprint.is_some_and(|footprint| footprint.elementwise);
                Region {
                    members: FixedBitSet::from_iter([position]),
                    is_plain: matches!(recipe, Recipe::Rule(rule, _) if !rule.scans && !matches!(rule.align, Align::At(_)))
                        && (footprint.is_none() || is_norm)
                        && node.outputs.len() == 1,
                    norm: is_norm.then_some(position),
                    is_product: matches!(recipe, Recipe::Contraction(_))
                        && footprint.is_some_and(|footprint| !footprint.is_listed() && !footprint.is_tiled)
                        && is_reduced_next(analysis, node.outputs[0]),
                    shape: graph.ty(node.outputs[0]).shape.clone(),
                    results: node.outputs.clone(),
                    time: model.kernel(&work).min(calls.behind_kernel[position]),
                    work,
                    kernel: None,
                    version: 0,
                    pairs: vec![],
                }
            }));
            if let Some(recipe) = recipe {
                search.reads[position] = reads_of(analysis, position, recipe);
            }
        }
        search.pair_up();
        search.join_pairs();
        search
    }

    /// Pairs of nodes of which one reads the other, and neighbours among the readers of one tensor.
    fn pair_up(&mut self) {
        let mut readers: BTreeMap<ValueId, Vec<usize>> = BTreeMap::new();
        let mut pairs = BTreeSet::new();
        for (position, reads) in self.reads.iter().enumerate() {
            for read in reads {
                let producer = self.analysis.links.definitions[read.source.index()];
                if let Some(producer) = producer.filter(|&producer| self.may_read(position, producer)) {
                    pairs.insert([producer, position]);
                }
                let known = readers.entry(read.source).or_default();
                if known.last() != Some(&position) {
                    known.push(position);
                }
            }
        }
        for readers in readers.values() {
            pairs.extend(readers.windows(2).map(|pair| [pair[0], pair[1]]));
        }
        for nodes in pairs {
            let number = self.pairs.len();
            for node in nodes {
                self.regions[node].iter_mut().for_each(|region| region.pairs.push(number));
            }
            let pair = Pair { nodes, versions: [0; 2], is_queued: false, tries: 0, obstacle: None, joined: None };
            self.pairs.push(pair);
            self.enqueue(number);
        }
    }

    /// Whether a reader of a region may become part of it: of products in tiles, with as many elements as they have.
    fn may_read(&self, reader: usize, producer: usize) -> bool {
        let size = |position: usize| self.analysis.graph.ty(self.analysis.node(position).outputs[0]).numel();
        self.regions[producer]
            .as_ref()
            .is_some_and(|region| region.work.tile.is_none() || size(reader) == size(producer))
    }

    /// Joins pairs until none saves anything.
    fn join_pairs(&mut self) {
        while let Some(entry) = self.queue.pop() {
            let number = entry.number.0;
            self.pairs[number].is_queued = false;
            let Some(regions) = self.apart(number) else { continue };
            // What has changed since is estimated anew.
            if self.pairs[number].versions != self.versions(regions) {
                self.enqueue(number);
                continue;
            }
            match self.join(entry, regions) {
                Ok(Some(joined)) => self.look_again(joined),
                Ok(None) => {}
                Err(obstacle) => {
                    let pair = &mut self.pairs[number];
                    pair.tries += TRY[1];
                    pair.obstacle = Some(obstacle);
                    pair.joined = None;
                }
            }
        }
    }

    /// The regions of a pair, if they are two.
    fn apart(&self, number: usize) -> Option<[usize; 2]> {
        let regions = self.pairs[number].nodes.map(|node| self.order.find(node));
        (regions[0] != regions[1]).then_some(regions)
    }

    fn versions(&self, regions: [usize; 2]) -> [u32; 2] {
        regions.map(|region| self.regions[region].as_ref().map_or(0, |region| region.version))
    }

    /// Estimates a pair and puts it in the queue if it saves anything.
    fn enqueue(&mut self, number: usize) {
        let Some(regions) = self.apart(number) else { return };
        let estimate = self.estimate(regions);
        let versions = self.versions(regions);
        let pair = &mut self.pairs[number];
        pair.versions = versions;
        pair.joined = None;
        match estimate {
            Ok((saved, nodes)) => {
                pair.is_queued = true;
                self.queue.push(QueuedPair::of(saved, nodes, number));
            }
            Err(obstacle) => {
                pair.tries += TRY[0];
                pair.obstacle = Some(obstacle);
            }
        }
    }

    /// Puts the pairs of a region that has grown in the queue that are not there.
    fn look_again(&mut self, region: usize) {
        let Some(found) = &mut self.regions[region] else { return };
        let mut pairs = std::mem::take(&mut found.pairs);
        pairs.retain(|&number| self.apart(number).is_some());
        for &number in &pairs {
            if !self.pairs[number].is_queued && self.pairs[number].tries < MOST_TRIES {
                self.enqueue(number);
            }
        }
        if let Some(found) = &mut self.regions[region] {
            found.pairs = pairs;
        }
    }

    fn of_pair(&self, regions: [usize; 2]) -> impl Iterator<Item = &Region> {
        regions.into_iter().filter_map(|region| self.regions[region].as_ref())
    }

    /// What a pair would be if both were read and written in order.
    fn rough(&self, regions: [usize; 2]) -> Result<Rough, String> {
        let [Some(a), Some(b)] = regions.map(|region| self.regions[region].as_ref()) else { return Err(String::new()) };
        let members = &a.members | &b.members;
        if a.work.tile.is_some() && b.work.row_length > 1 || b.work.tile.is_some() && a.work.row_length > 1 {
            return Err(ALONE.to_string());
        }
        if members.count_ones(..) > MOST_NODES {
            return Err("the kernel would be too large".to_owned());
        }
        let graph = self.analysis.graph;
        let results = read_outside(self.analysis, &members, &[&a.results[..], &b.results].concat());
        let wide = a.work.wider(&b.work);
        let [rows, points] = [wide.rows, wide.points()];
        let mut sizes = results.iter().map(|&result| graph.ty(result).numel());
        // Without rows, all have the size of the first.
        let sizes_allowed = if rows == points { [sizes.next().unwrap_or(0); 2] } else { [rows, points] };
        if !sizes.all(|size| sizes_allowed.contains(&size)) {
            return Err("both have results that are read elsewhere, and of different sizes".to_owned());
        }
        let is_within = |value: ValueId| self.defined_in(value, &members);
        let work = a.work.joined(&b.work, graph, is_within, &results);
        if work.reads.len() > limits::INPUTS || results.len() > limits::STORES {
            return Err("the kernel would be too large".to_owned());
        }
        Ok(Rough { members, results, work })
    }

    fn defined_in(&self, value: ValueId, members: &FixedBitSet) -> bool {
        self.analysis.links.definitions[value.index()].is_some_and(|position| members.contains(position))
    }

    /// Picoseconds that joining two regions saves, about, and how many nodes they have; an error where it saves nothing.
    fn estimate(&self, regions: [usize; 2]) -> Result<(u64, usize), String> {
        let rough = self.rough(regions)?;
        Ok((self.saved(regions, &rough.work)?, rough.members.count_ones(..)))
    }

    /// Picoseconds that one kernel with this work saves against two regions; an error where it saves nothing. Those of
    /// products count little, so that what follows them becomes part of other reductions first; so do those of regions that
    /// only read the same, so that each becomes part of what reads it first.
    fn saved(&self, regions: [usize; 2], work: &WorkEstimate) -> Result<u64, String> {
        let apart: f64 = self.of_pair(regions).map(|region| region.time).sum();
        let together = self.model.kernel(work);
        let saved = ((apart - together) * 1e3) as u64;
        if saved > 0 {
            let has_product = self.of_pair(regions).any(|found| found.is_product);
            let waits = has_product || !self.order.are_neighbours(regions[0], regions[1]);
            return Ok(if waits { saved.div_ceil(LATER) } else { saved });
        }
        let us = |ns: f64| format!("{:.1} us", ns / 1e3);
        Err(if work.repeated > 0.0 {
            format!(
                "costly ops would be repeated: one kernel is estimated at {}, both apart at {}",
                us(together),
                us(apart)
            )
        } else if self.model.fills(work) {
            format!("one kernel is estimated at {}, both apart at {}", us(together), us(apart))
        } else {
            format!("{} rows of {} elements would not fill a device", work.rows, work.row_length)
        })
    }

    /// Joins the regions of a pair if that saves as much as was estimated; otherwise puts it back in the queue, or says
    /// what is in the way.
    fn join(&mut self, entry: QueuedPair, regions: [usize; 2]) -> Result<Option<usize>, String> {
        let number = entry.number.0;
        let crossed = || "a path between them leads through other nodes".to_owned();
        if !self.order.may_merge(regions[0], regions[1]) {
            return Err(crossed());
        }
        let joined = match self.pairs[number].joined.take() {
            Some(joined) => joined,
            None => Box::new(self.together(regions)?),
        };
        let saved = self.saved(regions, &joined.work)?;
        let again = QueuedPair::of(saved, entry.nodes.0, number);
        if again.rank < entry.rank && self.queue.peek().is_some_and(|next| again < *next) {
            let pair = &mut self.pairs[number];
            (pair.joined, pair.is_queued) = (Some(joined), true);
            self.queue.push(again);
            return Ok(None);
        }
        let region = self.order.merge(regions[0], regions[1]).ok_or_else(crossed)?;
        let [first, second] = regions.map(|region| self.regions[region].take());
        let mut joined = *joined;
        for part in [first, second].into_iter().flatten() {
            joined.version = joined.version.max(part.version + 1);
            joined.pairs.extend(part.pairs);
        }
        joined.pairs.sort_unstable();
        joined.pairs.dedup();
        self.regions[region] = Some(joined);
        Ok(Some(region))
    }

    /// Two regions as one, with its kernel where that has to be written to know of it.
    fn together(&self, regions: [usize; 2]) -> Result<Region, String> {
        let Rough { members, results, work } = self.rough(regions)?;
        let [Some(a), Some(b)] = regions.map(|region| self.regions[region].as_ref()) else { return Err(String::new()) };
        let is_plain = self.are_plain(a, b);
        let (work, kernel) = if is_plain || self.continues(a, b) || self.continues(b, a) || self.feeds(a, b, &results) {
            (work, None)
        } else {
            let (lowered, work, places) =
                written(self.analysis, self.model, &members).map_err(|error| error.to_string())?;
            if places > MOST_PLACES {
                return Err(format!("an op would be calculated at {places} places"));
            }
            (work, Some(lowered))
        };
        let time = self.model.kernel(&work);
        let shape = if a.work.points() >= b.work.points() { a.shape.clone() } else { b.shape.clone() };
        let norm = a.norm.or(b.norm);
        let is_product = a.is_product || b.is_product;
        Ok(Region {
            members,
            is_plain,
            norm,
            is_product,
            shape,
            results,
            work,
            time,
            kernel,
            version: 0,
            pairs: vec![],
        })
    }

    /// Whether two regions are one that lowers whatever its ops are.
    fn are_plain(&self, a: &Region, b: &Region) -> bool {
        let footprint = |node: usize| self.analysis.footprint(node, 0).ok().flatten();
        let is_along = a.norm.zip(b.norm).is_none_or(|(a, b)| footprint(a) == footprint(b));
        let are_alike = a.is_plain && b.is_plain && a.shape == b.shape && is_along;
        are_alike && self.reads_whole(a, b) && self.reads_whole(b, a)
    }

    /// Whether `reader` goes on element by element with what `producer` writes, and needs nothing else of it: wherever
    /// that is written, the results of `reader` can be.
    fn continues(&self, producer: &Region, reader: &Region) -> bool {
        let is_read = |value: &&ValueId| {
            let readers = self.analysis.links.uses.readers(**value);
            readers.iter().any(|&position| reader.members.contains(position))
        };
        let mut read = producer.results.iter().filter(is_read).peekable();
        let has_shape = |value: &ValueId| self.analysis.graph.ty(*value).shape == reader.shape;
        reader.is_plain
            && reader.norm.is_none()
            && read.peek().is_some()
            && read.all(has_shape)
            && self.reads_whole(reader, producer)
    }

    /// Whether `reader` takes all that `producer` calculates element by element, and each element about once: wherever it
    /// is read, it can be calculated.
    fn feeds(&self, producer: &Region, reader: &Region, results: &[ValueId]) -> bool {
        let is_inner = || producer.results.iter().all(|result| !results.contains(result));
        let is_as_large = producer.work.points() == reader.work.points();
        producer.is_plain && producer.norm.is_none() && is_as_large && is_inner() && self.reads_whole(reader, producer)
    }

    /// Whether all that `reader` reads of `producer` it reads element by element.
    fn reads_whole(&self, reader: &Region, producer: &Region) -> bool {
        let reads = reader.members.ones().flat_map(|member| &self.reads[member]);
        reads.filter(|read| self.defined_in(read.source, &producer.members)).all(|read| read.is_whole)
    }

    /// The nodes of each region, and its kernel and what that has to do where it has been written. No region is left.
    pub(in crate::lower) fn take_regions(&mut self) -> Vec<(FixedBitSet, Option<(Lowered, WorkEstimate)>)> {
        let regions = self.regions.iter_mut().filter_map(Option::take);
        let kernel = |region: Region| (region.members, region.kernel.map(|kernel| (kernel, region.work)));
        regions.map(kernel).collect()
    }

    /// The pairs that did not join, and why.
    pub(in crate::lower) fn obstacles(&self) -> impl Iterator<Item = ([usize; 2], &str)> {
        let apart = (0..self.pairs.len()).filter(|&number| self.apart(number).is_some());
        apart.filter_map(|number| Some((self.pairs[number].nodes, self.pairs[number].obstacle.as_deref()?)))
    }
}
