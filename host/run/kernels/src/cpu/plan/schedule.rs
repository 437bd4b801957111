//! From the list of steps to schedules: segments between reductions, and buffers for the values in them.

use super::build::{PlanBuilder, StepNode};
use super::{Action, Place, SPARE, Schedule, Segment, SlotPlan, Step};
use crate::cpu::chain::BLOCK;
use crate::cpu::compute::Code;
use crate::cpu::contraction::MOST_BEHIND;
use passhost_ir::Dtype;
use passhost_ir::kernel::Binary;
use std::collections::HashMap;

/// Which steps a schedule runs, and where: numbers of nodes.
struct ChosenSteps {
    once: Vec<usize>,
    /// Of each segment, steps on rows and steps on points.
    segments: Vec<(Vec<usize>, Vec<usize>)>,
    /// Whether a node's result is kept for later segments.
    kept: Vec<bool>,
}

impl PlanBuilder<'_> {
    /// The schedule for whole rows, or parts of long ones.
    pub(super) fn schedule(&self) -> Schedule {
        let (strip, rows) = (self.tuning.strip as i64, self.rows.max(1));
        let whole = self.length <= strip;
        let mut chosen = self.choose(true, whole);
        if !whole && self.length.saturating_mul(self.kept_bytes(&chosen)) > self.tuning.kept_bytes as i64 {
            chosen = self.choose(false, whole);
        }
        if !whole {
            // Strips of about one length, and some rows in a tile if none is visited twice.
            let strips = ((self.length + strip / 2) / strip).max(1);
            let strip = (self.length + strips - 1) / strips;
            let once = chosen.segments.iter().filter(|(_, points)| !points.is_empty()).count() == 1;
            let tile_rows = if once { (rows / 64).clamp(1, 16) } else { 1 };
            return self.allocate(&chosen, false, (1, tile_rows), (strip + 15) / 16 * 16);
        }
        let length = self.length.max(1);
        let mut strip_rows = strip / length;
        // Whole vectors where that costs little.
        let even = 16 >> length.trailing_zeros().min(4);
        if strip_rows > 2 * even {
            strip_rows -= strip_rows % even;
        }
        let strip_rows = strip_rows.min(rows);
        let tile_rows = (self.tuning.tile as i64 / (strip_rows * length)).max(1) * strip_rows;
        self.allocate(&chosen, false, (strip_rows, tile_rows.min(rows)), strip_rows * length)
    }

    /// The schedule for rows side by side, for a kernel that reduces and does not scan.
    pub(super) fn columns(&self) -> Option<Schedule> {
        let has = |wanted: fn(&Action) -> bool| self.nodes.iter().any(|node| wanted(&node.step.action));
        if !has(|action| matches!(action, Action::Reduce(..))) || has(|action| matches!(action, Action::Scan(..))) {
            return None;
        }
        // Few rows are shared by threads. Those of a strip are neighbours along the last axis.
        let most = (self.rows / 4).max(64).min(self.tuning.strip as i64).min(self.rows.max(1));
        let parts = (self.last_row + most - 1) / most;
        let strip_rows = if self.last_row < 64 { most } else { (self.last_row + parts - 1) / parts };
        Some(self.allocate(&self.choose(false, false), true, (strip_rows, strip_rows), strip_rows))
    }

    /// The schedule for what follows the sums of a contraction.
    pub(super) fn behind(&self) -> Schedule {
        let rows = MOST_BEHIND.min(self.rows);
        self.allocate(&self.choose(false, false), true, (rows, rows), rows)
    }

    /// What a row of kept values takes.
    fn kept_bytes(&self, chosen: &ChosenSteps) -> i64 {
        let kept = self.values.iter().filter(|value| chosen.kept[value.node]);
        kept.map(|value| value.dtype.size() as i64).sum()
    }

    /// Chooses the steps of each segment: those that its results need, but for what is `keep`t of an earlier one. With
    /// `whole` rows, what does not depend on the row runs once.
    fn choose(&self, keep: bool, whole: bool) -> ChosenSteps {
        let nodes = &self.nodes;
        let count = nodes.iter().map(|node| node.phase + 1).max().unwrap_or(0);
        let is_result = |node: &StepNode| {
            node.step.into.is_some() || matches!(node.step.action, Action::Reduce(..) | Action::Store(_))
        };
        let mut invariant = vec![];
        for node in nodes {
            let scans = matches!(node.step.action, Action::Scan(..));
            let alone = node.phase == 0 && node.depends & self.row_set == 0 && (whole || !node.point);
            let of_such = node.step.sources.iter().filter_map(|place| self.computing(*place)).all(|at| invariant[at]);
            invariant.push(alone && of_such && !scans && !is_result(node));
        }
        let mut chosen = ChosenSteps { once: vec![], segments: vec![], kept: vec![false; nodes.len()] };
        let (mut wanted, mut computed) = (vec![false; nodes.len()], vec![false; nodes.len()]);
        for phase in 0..count {
            let mut wanted_here = vec![false; nodes.len()];
            let mut points = vec![];
            for (at, node) in nodes.iter().enumerate().rev().filter(|(at, node)| node.point && !invariant[*at]) {
                let ends_here = is_result(node) && node.phase == phase;
                if !wanted_here[at] && !ends_here {
                    continue;
                }
                points.push(at);
                for place in &node.step.sources {
                    let Some(source) = self.computing(*place) else { continue };
                    wanted[source] = true;
                    if keep && computed[source] && matches!(place, Place::Point(_)) && !self.is_cheap(source) {
                        chosen.kept[source] = true;
                    } else {
                        // A row's value is there, whatever step computed it.
                        wanted_here[source] |= matches!(place, Place::Point(_));
                    }
                }
            }
            points.reverse();
            points.iter().for_each(|at| computed[*at] = true);
            chosen.segments.push((vec![], points));
        }
        for (at, node) in nodes.iter().enumerate().rev().filter(|(at, node)| !node.point || invariant[*at]) {
            if !wanted[at] && !is_result(node) {
                continue;
            }
            node.step.sources.iter().filter_map(|place| self.computing(*place)).for_each(|at| wanted[at] = true);
            let list = if invariant[at] { &mut chosen.once } else { &mut chosen.segments[node.phase].0 };
            list.insert(0, at);
        }
        chosen
    }

    /// The node that computes what lies at a place.
    pub(super) fn computing(&self, place: Place) -> Option<usize> {
        match place {
            Place::Const(_) => None,
            Place::Row(value) | Place::Point(value) | Place::Kept(value) => Some(self.values[value].node),
        }
    }

    /// Whether computing the result of a node anew costs no more than reading it from a larger buffer.
    fn is_cheap(&self, at: usize) -> bool {
        let (step, phase) = (&self.nodes[at].step, self.nodes[at].phase);
        match step.action {
            Action::Spread | Action::Positions(_) => true,
            Action::Load(number) => self.loads[number].guarded.is_empty(),
            Action::Compute(Code::Convert(..) | Code::Truth) if step.round.is_none() => {
                self.computing(step.sources[0]).is_none_or(|source| {
                    matches!(self.nodes[source].step.action, Action::Load(_)) && self.is_cheap(source)
                })
            }
            // Its operand was kept for it to be computed at all.
            Action::Compute(Code::Binary(Binary::Sub, Dtype::F32) | Code::Narrow(Binary::Sub, _, [_, _, false])) => {
                let earlier = |place: &Place| self.computing(*place).is_none_or(|node| self.nodes[node].phase < phase);
                let (spread, others): (Vec<Place>, Vec<Place>) =
                    step.sources.iter().partition(|place| self.spread(**place).is_some());
                step.round.is_none() && !spread.is_empty() && others.iter().all(earlier)
            }
            _ => false,
        }
    }

    /// Gives values buffers. Those of a strip serve one value after the other.
    fn allocate(
        &self,
        chosen: &ChosenSteps,
        columns: bool,
        (strip_rows, tile_rows): (i64, i64),
        strip: i64,
    ) -> Schedule {
        let tile = if columns { strip } else { tile_rows * self.length };
        let mut slots =
            SlotList { slots: vec![], strip: strip as usize, tile_rows: tile_rows as usize, tile: tile as usize };
        let mut held: HashMap<usize, Place> = HashMap::new();
        let node = |at: &usize| self.nodes[*at].step.clone();
        let own = |slots: &mut SlotList, held: &mut HashMap<usize, Place>, step: &Step, kept: bool| {
            for place in [Some(step.target), step.places].into_iter().flatten() {
                if let Place::Row(value) | Place::Point(value) = place
                    && !matches!(step.action, Action::Store(_))
                {
                    held.entry(value).or_insert_with(|| slots.make(place, kept, self.values[value].dtype.size()));
                }
            }
        };
        let once: Vec<Step> = chosen.once.iter().map(node).collect();
        once.iter().for_each(|step| own(&mut slots, &mut held, step, false));
        for (rows, points) in &chosen.segments {
            for at in rows.iter().chain(points) {
                let step = &self.nodes[*at].step;
                let alone = matches!(step.action, Action::Reduce(..) | Action::Spread);
                if !self.nodes[*at].point || alone || chosen.kept[*at] {
                    own(&mut slots, &mut held, step, chosen.kept[*at]);
                }
            }
        }
        let resolve = |held: &HashMap<usize, Place>, step: &mut Step| {
            let of = |place: Place| match place {
                Place::Row(value) | Place::Point(value) => held[&value],
                place => place,
            };
            step.target = of(step.target);
            step.places = step.places.map(of);
            step.sources.iter_mut().for_each(|place| *place = of(*place));
        };
        let finish = |steps: Vec<Step>, held: &HashMap<usize, Place>| -> Vec<Step> {
            let all = steps.into_iter().map(|mut step| {
                resolve(held, &mut step);
                step
            });
            all.collect()
        };
        let segments = chosen.segments.iter().map(|(rows, points)| {
            let row = finish(rows.iter().map(node).collect(), &held);
            let mut steps = points.iter().map(node).collect();
            if !columns && (self.inner_set == 0 || self.length >= BLOCK as i64) {
                steps = self.chained(steps, &chosen.kept);
            }
            Segment { row, point: self.reuse(steps, &held, &mut slots, resolve) }
        });
        let segments = segments.collect();
        let mut split = Segment::default();
        for (step, at) in finish(once, &held).into_iter().zip(&chosen.once) {
            if self.nodes[*at].point { &mut split.point } else { &mut split.row }.push(step);
        }
        let (strip_rows, tile_rows) = (strip_rows as usize, tile_rows as usize);
        Schedule { columns, strip_rows, tile_rows, strip: strip as usize, once: split, segments, slots: slots.slots }
    }

    /// The steps on points of a segment, with buffers that are used again as soon as nothing reads what is in them.
    fn reuse(
        &self,
        mut steps: Vec<Step>,
        held: &HashMap<usize, Place>,
        slots: &mut SlotList,
        resolve: impl Fn(&HashMap<usize, Place>, &mut Step),
    ) -> Vec<Step> {
        let mut last_use = HashMap::new();
        for (position, step) in steps.iter().enumerate() {
            last_use.extend(step.sources.iter().map(|place| (*place, position)));
        }
        let (mut here, mut free) = (held.clone(), (0..slots.slots.len()).collect::<Vec<usize>>());
        let taken: Vec<usize> = held.values().map(|place| place.number()).collect();
        free.retain(|slot| !taken.contains(slot));
        for (position, step) in steps.iter_mut().enumerate() {
            let sources = step.sources.clone();
            if let (Place::Point(value), false) = (step.target, matches!(step.action, Action::Store(_)))
                && !here.contains_key(&value)
            {
                let size = self.values[value].dtype.size();
                let fits = free.iter().rposition(|slot| slots.slots[*slot].size as u64 == size);
                let place = match fits {
                    Some(at) => Place::Point(free.remove(at)),
                    None => slots.make(step.target, false, size),
                };
                here.insert(value, place);
            }
            resolve(&here, step);
            for place in sources.iter().filter(|place| last_use.get(place) == Some(&position)) {
                if let Place::Point(value) = place
                    && !held.contains_key(value)
                    && let Some(place) = here.remove(value)
                {
                    free.push(place.number());
                }
            }
        }
        steps
    }
}

/// Buffers in the making.
struct SlotList {
    slots: Vec<SlotPlan>,
    strip: usize,
    tile_rows: usize,
    tile: usize,
}

impl SlotList {
    /// A new buffer for a value that has been at a place.
    fn make(&mut self, place: Place, kept: bool, size: u64) -> Place {
        let number = self.slots.len();
        let (lanes, place) = match place {
            Place::Row(_) => (self.tile_rows, Place::Row(number)),
            _ if kept => (self.tile, Place::Kept(number)),
            _ => (self.strip, Place::Point(number)),
        };
        self.slots.push(SlotPlan { lanes: lanes + SPARE, size: size as usize });
        place
    }
}

impl Place {
    /// The number of the constant, value or buffer.
    pub(crate) fn number(self) -> usize {
        let (Place::Const(number) | Place::Row(number) | Place::Point(number) | Place::Kept(number)) = self;
        number
    }
}
