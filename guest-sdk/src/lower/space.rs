//! The space a kernel goes over, and where in it each tensor of a region lies.
//!
//! The space comes from one node, the *anchor*: the rows of the largest reduction become parallel axes and what it reduces
//! the reduce axes; without a reduction the dimensions of the first result become parallel axes. From there the place of
//! every other tensor that has as many elements follows through the ops between, and where a reshape divides a dimension,
//! its axis is divided.

use super::analysis::GraphAnalysis;
use super::footprint::Footprint;
use super::moves::{Move, Otherwise};
use super::recipe::RuleReading;
use super::rule::{Align, Recipe, Rule};
use crate::args::Args;
use crate::index::Index;
use crate::view::{self, View};
use fixedbitset::FixedBitSet;
use passhost_ir::{Graph, NodeKind, TensorType, ValueId, numel};
use std::collections::BTreeMap;

/// The coordinates of an element, one per dimension of its tensor, over the axes of a kernel.
pub(super) type Coordinates = Vec<Index>;

/// The space of products, and where each factor lies in it.
pub(super) type DividedSpace = (KernelSpace, [Coordinates; 2]);

/// Where the space comes from.
#[derive(Debug, Clone)]
pub(super) struct Anchor {
    /// The tensor that is reduced, or else the first result.
    value: ValueId,
    /// The node that reduces, the number of its result, and what it reduces.
    reduction: Option<(usize, usize, Footprint)>,
    /// Extents of the rows, then of the window, each as factors, outermost first.
    factors: Vec<Vec<i64>>,
    /// How many of them are rows.
    rows: usize,
    /// The rows, then the window, each in the order in which they lie in memory.
    order: Vec<usize>,
}

impl Anchor {
    /// The largest reduction among the members, or else the first of `results`.
    pub(super) fn find(analysis: &GraphAnalysis<'_>, members: &FixedBitSet, results: &[ValueId]) -> Option<Anchor> {
        let graph = analysis.graph;
        let mut largest: Option<(usize, usize, Footprint)> = None;
        for position in members.ones() {
            let node = &graph.nodes[position];
            for output in 0..node.outputs.len() {
                let Ok(Some(footprint)) = analysis.footprint(position, output) else { continue };
                let rows = |footprint: &Footprint| numel(&footprint.rows);
                let is_larger = largest.as_ref().is_none_or(|(.., known)| rows(known) < rows(footprint));
                if !footprint.is_listed() && is_larger {
                    largest = Some((position, output, footprint.clone()));
                }
            }
        }
        match largest {
            Some((position, output, footprint)) => {
                let (value, is_tiled) = (analysis.reduced(position)?, footprint.is_tiled);
                let mut anchor = Anchor::of_reduction(graph.ty(value), value, (position, output, footprint));
                (!is_tiled || anchor.divide(analysis, members).is_some()).then_some(anchor)
            }
            None => {
                let &value = results.first()?;
                let ty = graph.ty(value);
                let order = ty.memory_order().unwrap_or_else(|| (0..ty.rank()).collect());
                let factors = ty.shape.iter().map(|&extent| vec![extent]).collect();
                Some(Anchor { value, reduction: None, factors, rows: ty.rank(), order })
            }
        }
    }

    pub(super) fn of_reduction(ty: &TensorType, value: ValueId, reduction: (usize, usize, Footprint)) -> Anchor {
        let footprint = &reduction.2;
        let rows = footprint.rows.len();
        let extents = footprint.rows.iter().chain(footprint.divided_window().0);
        let factors: Vec<Vec<i64>> = extents.map(|&extent| vec![extent]).collect();
        let stride = |axis: usize| {
            let along = |(at, stride): (&Index, &i64)| at.step_along(axis).map(|step| step * stride);
            footprint.at.iter().zip(&ty.strides).find_map(along).unwrap_or(0)
        };
        let mut order = vec![];
        for axis in 0..factors.len() {
            let first = if axis < rows { 0 } else { rows };
            let outer = |&outer: &usize| ty.is_contiguous() || stride(outer) >= stride(axis);
            order.insert(first + order[first..].partition_point(outer), axis);
        }
        Anchor { value, reduction: Some(reduction), factors, rows, order }
    }

    /// Divides the axes of products as their factors are divided in memory, and says where in the tensors that are loaded
    /// each factor lies. `None` if no products are reduced.
    pub(super) fn divide(&mut self, analysis: &GraphAnalysis<'_>, members: &FixedBitSet) -> Option<DividedSpace> {
        let Ok(Recipe::Contraction(contraction)) = analysis.recipe(self.reduction.as_ref()?.0) else { return None };
        loop {
            let space = KernelSpace::of(self);
            let axes = [&space.rows[..], &space.window(&contraction.window)?].concat();
            let within = |at: &Index| at.within(&axes);
            let factors = contraction.factors.each_ref();
            let mut loaded =
                factors.map(|factor| loaded(analysis, members, factor.tensor, factor.at.iter().map(within).collect()));
            loaded[0].extend(contraction.guard.iter().map(|(index, _)| within(index)));
            let split = loaded.iter().find_map(|places| wanted_split(places));
            if !split.is_some_and(|(axis, inner)| self.split(axis, inner)) {
                return Some((space, loaded));
            }
        }
    }

    /// Divides an axis of the space into two, the inner one of extent `inner`. False if that is impossible.
    pub(super) fn split(&mut self, axis: usize, inner: i64) -> bool {
        let mut number = 0;
        for &dim in &self.order {
            let long = (0..self.factors[dim].len()).filter(|&at| self.factors[dim][at] != 1).collect::<Vec<_>>();
            if let Some(&at) = axis.checked_sub(number).and_then(|digit| long.get(digit)) {
                let extent = self.factors[dim][at];
                let is_proper = inner > 1 && inner < extent && extent % inner == 0;
                if is_proper {
                    self.factors[dim].splice(at..=at, [extent / inner, inner]);
                }
                return is_proper;
            }
            number += long.len();
        }
        false
    }
}

/// The axes of a kernel. Extents of 1 have none.
#[derive(Debug, Clone)]
pub(super) struct KernelSpace {
    /// Extents of the parallel axes.
    pub(super) parallel: Vec<i64>,
    /// Extents of the reduce axes; one at least if anything is reduced.
    pub(super) reduce: Vec<i64>,
    /// Where each dimension of the anchor's rows lies.
    rows: Vec<Index>,
    /// Extent and place of each dimension of the anchor's window that is longer than 1.
    window: Vec<(i64, Index)>,
}

impl KernelSpace {
    pub(super) fn of(anchor: &Anchor) -> KernelSpace {
        let mut extents = [vec![], vec![]];
        let mut places = vec![Index::constant(0); anchor.factors.len()];
        for &dim in &anchor.order {
            for &extent in anchor.factors[dim].iter().filter(|&&extent| extent != 1) {
                let axis = Index::axis(extents[0].len() + extents[1].len(), extent);
                places[dim] = places[dim].times(extent).plus(&axis);
                extents[usize::from(dim >= anchor.rows)].push(extent);
            }
        }
        let [parallel, mut reduce] = extents;
        if anchor.reduction.is_some() && reduce.is_empty() {
            reduce.push(1);
        }
        let lengths: Vec<i64> = anchor.factors.iter().map(|factors| factors.iter().product()).collect();
        let window = lengths.into_iter().zip(places.iter().cloned()).skip(anchor.rows);
        let window = window.filter(|(extent, _)| *extent != 1).collect();
        places.truncate(anchor.rows);
        KernelSpace { parallel, reduce, rows: places, window }
    }

    /// Whether nothing of an index changes within a row.
    pub(super) fn is_row(&self, index: &Index) -> bool {
        KernelSpace::axes_used(std::slice::from_ref(index)) <= self.parallel.len()
    }

    /// One more than the last axis that a place follows.
    pub(super) fn axes_used(place: &[Index]) -> usize {
        let mut used = 0;
        place.iter().for_each(|index| index.each_axis(&mut |axis| used = used.max(axis + 1)));
        used
    }

    /// The reduce axes as the dimensions of a window; `None` if they have other extents.
    pub(super) fn window(&self, extents: &[i64]) -> Option<Coordinates> {
        let mut axes = self.window.iter();
        let place = extents.iter().map(|&extent| match extent {
            1 => Some(Index::constant(0)),
            _ => axes.next().filter(|(found, _)| *found == extent).map(|(_, axis)| axis.clone()),
        });
        let place: Option<Coordinates> = place.collect();
        place.filter(|_| axes.next().is_none())
    }

    /// A place for a tensor with an element for each row or for each point, where none follows from the ops: in the order of
    /// its memory, or else, in a map, in that of its dimensions if the `first` result has the same.
    pub(super) fn any_place(&self, ty: &TensorType, first: &TensorType) -> Option<Coordinates> {
        let is_rows = ty.numel() == numel(&self.parallel);
        let axes: Vec<i64> = self.parallel.iter().chain(self.reduce.iter().filter(|_| !is_rows)).copied().collect();
        let alike = || (self.reduce.is_empty() && ty.shape == first.shape).then(|| self.rows.clone());
        along_memory(ty, &axes).or_else(alike)
    }

    /// The axes along which a tensor that lies at `place` is written, outermost first, where its dimensions lie in
    /// memory in the order `dims`. `None` if it has not exactly one element for each row or for each point.
    pub(super) fn order(&self, place: &[Index], shape: &[i64], dims: &[usize]) -> Option<Vec<u32>> {
        let extents: Vec<i64> = self.parallel.iter().chain(&self.reduce).copied().collect();
        let mut order = Vec::new();
        for &dim in dims {
            let digits = place[dim].digits()?;
            if digits.iter().map(|&axis| extents[axis]).product::<i64>() != shape[dim] {
                return None;
            }
            order.extend(digits);
        }
        let written: FixedBitSet = order.iter().copied().collect();
        let is_whole = [self.parallel.len(), extents.len()].contains(&order.len())
            && (0..order.len()).all(|axis| written.contains(axis));
        is_whole.then(|| order.into_iter().filter_map(|axis| u32::try_from(axis).ok()).collect())
    }
}

/// The place of a tensor whose elements, in the order of memory, lie along axes of these extents.
fn along_memory(ty: &TensorType, axes: &[i64]) -> Option<Coordinates> {
    let mut axes = axes.iter().copied().enumerate();
    let mut place = vec![Index::constant(0); ty.rank()];
    for dim in ty.memory_order()? {
        let mut covered = 1;
        while covered < ty.shape[dim] {
            let (axis, extent) = axes.next()?;
            place[dim] = place[dim].times(extent).plus(&Index::axis(axis, extent));
            covered *= extent;
        }
    }
    axes.next().is_none().then_some(place)
}

/// For each value the place at which the space goes over it, where one follows from the anchor; of others than `results`
/// as far as they had to be looked at.
pub(super) fn places(
    analysis: &GraphAnalysis<'_>,
    members: &FixedBitSet,
    anchor: &Anchor,
    space: &KernelSpace,
    results: &[ValueId],
) -> BTreeMap<ValueId, Coordinates> {
    let graph = analysis.graph;
    let mut found = KnownPlaces { places: BTreeMap::new() };
    let followed = followed(analysis, members);
    match &anchor.reduction {
        None => found.set(anchor.value, || Some(space.rows.clone())),
        Some((.., footprint)) if footprint.slides => {}
        Some((.., footprint)) => found.set(anchor.value, || {
            let window = space.window(&footprint.window)?;
            let axes = [&space.rows[..], &window].concat();
            Some(footprint.at.iter().map(|at| at.within(&axes)).collect())
        }),
    };
    if let Some((position, output, footprint)) = &anchor.reduction
        && !footprint.elementwise
    {
        let result = graph.nodes[*position].outputs[*output];
        found.set(result, || invert(&footprint.row_of, &space.rows, &graph.ty(result).shape));
    }
    loop {
        let before = found.places.len();
        // Places are carried both ways, so that one round does for a chain.
        let both_ways = followed.iter().rev().chain(&followed);
        both_ways.for_each(|&position| found.follow(analysis, members, space, position));
        let are_found = || results.iter().all(|&result| found.get(result).is_some());
        if found.places.len() == before || are_found() {
            return found.places;
        }
    }
}

/// The members, and the views through which they read, in graph order.
fn followed(analysis: &GraphAnalysis<'_>, members: &FixedBitSet) -> Vec<usize> {
    let mut followed = members.clone();
    followed.grow(analysis.graph.nodes.len());
    let mut operands: Vec<ValueId> =
        members.ones().flat_map(|member| &analysis.links.operands[member]).copied().collect();
    while let Some(operand) = operands.pop() {
        if let Some(position) = analysis.links.definitions[operand.index()]
            && analysis.is_view(position)
            && !followed.put(position)
        {
            operands.extend(&analysis.links.operands[position]);
        }
    }
    followed.ones().collect()
}

/// Where in the tensors that are loaded for an element they are read.
fn loaded(analysis: &GraphAnalysis<'_>, members: &FixedBitSet, value: ValueId, place: Coordinates) -> Coordinates {
    let (mut read, mut found, mut loaded) = (vec![(value, place)], 0, vec![]);
    while let Some((value, place)) = read.get(found).cloned() {
        found += 1;
        let position = analysis.links.definitions[value.index()].filter(|&position| members.contains(position));
        let mut sources: Vec<(ValueId, Coordinates)> =
            match (position.map(|at| (at, analysis.recipe(at))), analysis.step(value)) {
                (Some((_, Ok(Recipe::Move(step)))), _) => {
                    step.views().iter().map(|view| (view.source, view.at(&place))).collect()
                }
                (Some((position, _)), _) => {
                    let at = |coordinates: &[Index]| coordinates.iter().map(|index| index.within(&place)).collect();
                    analysis.readings(position, 0).iter().map(|read| (read.operand, at(&read.coordinates))).collect()
                }
                (None, Some(view)) => vec![(view.source, view.at(&place))],
                (None, None) => {
                    loaded.extend(place);
                    continue;
                }
            };
        sources.retain(|source| !read.contains(source));
        read.append(&mut sources);
    }
    loaded
}

struct KnownPlaces {
    places: BTreeMap<ValueId, Coordinates>,
}

impl KnownPlaces {
    fn get(&self, value: ValueId) -> Option<&Coordinates> {
        self.places.get(&value)
    }

    /// Records a place where none is known.
    fn set(&mut self, value: ValueId, place: impl FnOnce() -> Option<Coordinates>) {
        if self.get(value).is_none()
            && let Some(place) = place()
        {
            self.places.insert(value, place);
        }
    }

    /// Carries places over one node, from operands to results and back.
    fn follow(&mut self, analysis: &GraphAnalysis<'_>, members: &FixedBitSet, space: &KernelSpace, position: usize) {
        let graph = analysis.graph;
        let node = analysis.node(position);
        if !members.contains(position) && !analysis.is_view(position) {
            return;
        }
        let NodeKind::Aten { op, .. } = &node.kind else { return };
        for (number, &output) in node.outputs.iter().enumerate() {
            if let Some(view) = analysis.step(output) {
                self.map(graph, view, output, &op.name);
                continue;
            }
            match analysis.recipe(position) {
                Ok(Recipe::Move(step)) => match step {
                    // What is gathered does not say where the tensor behind it lies.
                    Move::Map(view) if !view.coordinates.iter().any(Index::is_gathered) => {
                        self.map(graph, view, output, &op.name)
                    }
                    Move::Map(view) => self.unrelated(graph, view.source, output),
                    Move::Guarded { otherwise: Otherwise::Element(base), .. } => self.same(graph, base.source, output),
                    _ => {}
                },
                Ok(Recipe::Contraction(contraction)) => {
                    self.unrelated(graph, contraction.factors[0].tensor, output);
                }
                Ok(Recipe::Rule(rule, _)) => match analysis.footprint(position, number) {
                    Ok(Some(footprint)) => {
                        for (_, source) in Args::of(node).single_tensors().take(rule.folds) {
                            self.reduction(graph, space, footprint, source, output);
                        }
                    }
                    _ => self.operands(analysis, rule, position, number),
                },
                _ => {}
            }
        }
    }

    /// The operands of a pointwise op, and one of its results.
    fn operands(&mut self, analysis: &GraphAnalysis<'_>, rule: &Rule, position: usize, number: usize) {
        let (graph, result) = (analysis.graph, analysis.node(position).outputs[number]);
        for RuleReading { operand, coordinates, .. } in analysis.readings(position, number) {
            let is_in_place = || *coordinates == Index::axes(&graph.ty(result).shape);
            let is_open = self.get(*operand).is_some() != self.get(result).is_some();
            if is_open && (!matches!(rule.align, Align::At(_)) || is_in_place()) {
                self.same(graph, *operand, result);
            }
        }
    }

    /// A tensor that is reduced, and the result.
    fn reduction(
        &mut self,
        graph: &Graph,
        space: &KernelSpace,
        footprint: &Footprint,
        source: ValueId,
        result: ValueId,
    ) {
        if footprint.elementwise {
            self.same(graph, source, result);
        } else if footprint.slides {
            self.unrelated(graph, source, result);
        } else {
            self.rows(graph, space, footprint, source, result);
        }
    }

    /// Records the place of one of two tensors where that of the other is known.
    fn carry(
        &mut self,
        (source, result): (ValueId, ValueId),
        forth: impl FnOnce(&[Index]) -> Option<Coordinates>,
        back: impl FnOnce(&[Index]) -> Option<Coordinates>,
    ) {
        let found = match (self.get(source), self.get(result)) {
            (Some(place), None) => forth(place).map(|place| (result, place)),
            (None, Some(place)) => back(place).map(|place| (source, place)),
            _ => None,
        };
        self.places.extend(found);
    }

    /// Two tensors with the same elements in the same order, but for leading dimensions of extent 1.
    fn same(&mut self, graph: &Graph, operand: ValueId, result: ValueId) {
        let (from, to) = (graph.ty(operand), graph.ty(result));
        let missing = || to.rank().checked_sub(from.rank()).filter(|_| from.numel() == to.numel());
        self.carry(
            (operand, result),
            |place| Some([&vec![Index::constant(0); missing()?][..], place].concat()),
            |place| Some(place[missing()?..].to_vec()),
        );
    }

    /// A tensor, and one whose elements come from anywhere in it: where the shape is the same, so is the place, as any will
    /// do that holds all elements.
    fn unrelated(&mut self, graph: &Graph, source: ValueId, result: ValueId) {
        if graph.ty(source).shape == graph.ty(result).shape {
            self.same(graph, source, result);
        }
    }

    /// A tensor and a rearrangement of all of it.
    fn map(&mut self, graph: &Graph, view: &View, result: ValueId, op: &str) {
        let (from, to) = (&graph.ty(view.source).shape, &graph.ty(result).shape);
        if matches!(op, "aten::roll" | "aten::flip") {
            return self.unrelated(graph, view.source, result);
        }
        let is_whole = || numel(from) == numel(to) && numel(to) > 0;
        self.carry(
            (view.source, result),
            |place| match view::is_regroup(op) {
                _ if !is_whole() => None,
                true => Some(Index::ravel(place, from).unravel(to)),
                false => invert(&view.coordinates, place, to),
            },
            |place| is_whole().then(|| view.at(place)),
        );
    }

    /// A tensor and the rows it is reduced to.
    fn rows(&mut self, graph: &Graph, space: &KernelSpace, footprint: &Footprint, source: ValueId, result: ValueId) {
        self.carry(
            (source, result),
            |place| {
                let rows = invert(&footprint.at, place, &footprint.rows)?;
                invert(&footprint.row_of, &rows, &graph.ty(result).shape)
            },
            |place| {
                let rows = footprint.row_of.iter().map(|row| row.within(place));
                let axes: Coordinates = rows.chain(space.window(&footprint.window)?).collect();
                Some(footprint.at.iter().map(|at| at.within(&axes)).collect())
            },
        );
    }
}

/// Where the axes of some coordinates lie, given where the coordinates do. `None` if one of them cannot be read off.
fn invert(coordinates: &[Index], place: &[Index], extents: &[i64]) -> Option<Coordinates> {
    let axis = |(axis, &extent): (usize, &i64)| {
        if extent == 1 {
            return Some(Index::constant(0));
        }
        let read = |(coordinate, at): (&Index, &Index)| {
            coordinate.digits()?;
            Some(at.div(coordinate.step_along(axis)?).rem(extent))
        };
        coordinates.iter().zip(place).find_map(read)
    };
    extents.iter().enumerate().map(axis).collect()
}

/// An axis that has to be divided, and the extent of the inner part, before a tensor that lies at `place` can be written.
pub(super) fn wanted_split(place: &[Index]) -> Option<(usize, i64)> {
    place.iter().find_map(Index::wants_split)
}
