//! Writing the instructions of a region: each value where it is read, at the coordinates at which it is read.

use super::analysis::Analysis;
use super::call::{Call, Elements, Operand, Window, convert};
use super::moves::{self, Move, Part};
use super::recipe::{Reading, Recipe, readings};
use super::rules::{Align, Footprint, Rule};
use super::space::{Place, Space, tensors};
use super::{KernelBuilder, LowerError};
use crate::args::Args;
use crate::index::Index;
use crate::view;
use fixedbitset::FixedBitSet;
use passhost_ir::kernel::{Binary, Compare, PaddingMode, Reg, Scalar};
use passhost_ir::{NodeKind, ValueId};
use std::cell::RefCell;

/// A kernel that is being written.
pub(super) struct Emitter<'a> {
    analysis: &'a Analysis<'a>,
    members: &'a FixedBitSet,
    space: &'a Space,
    pub(super) kernel: KernelBuilder,
    /// The tensors it reads, one per input.
    pub(super) inputs: Vec<ValueId>,
    /// Elements there are already, by tensor and place.
    emitted: Vec<(ValueId, Place, Reg)>,
    /// The members calculated so far, and how many leading axes each place follows.
    pub(super) calculated: Vec<(usize, usize)>,
    /// The rows for which members were reduced.
    reduced: Vec<(ValueId, Place)>,
    /// The leading axes that costly values smaller than the space follow.
    pub(super) row_axes: usize,
}

impl<'a> Emitter<'a> {
    /// An empty kernel over a space.
    pub(super) fn new(analysis: &'a Analysis<'a>, members: &'a FixedBitSet, space: &'a Space) -> Emitter<'a> {
        Emitter {
            analysis,
            members,
            space,
            kernel: KernelBuilder::new(space.parallel.clone(), space.reduce.clone()),
            inputs: vec![],
            emitted: vec![],
            calculated: vec![],
            reduced: vec![],
            row_axes: 0,
        }
    }

    /// The element of a tensor at a place, in the tensor's own type.
    pub(super) fn value(&mut self, value: ValueId, place: Place) -> Result<Reg, LowerError> {
        if let Some((.., element)) = self.emitted.iter().find(|(known, at, _)| *known == value && *at == place) {
            return Ok(*element);
        }
        let graph = self.analysis.graph;
        let element = match self.analysis.definitions[value.index()] {
            Some(position) if self.members.contains(position) => self.node(position, value, &place)?,
            Some(position) => match view::step(graph, &graph.nodes[position], value) {
                Some(view) => self.value(view.source, view.at(&place))?,
                None => self.load(value, &place, None),
            },
            None => self.load(value, &place, None),
        };
        self.emitted.push((value, place, element));
        Ok(element)
    }

    /// The element of a tensor at a place that may lie outside of it, where the element is `pad`.
    fn padded(&mut self, value: ValueId, place: Place, pad: Scalar) -> Result<Reg, LowerError> {
        let graph = self.analysis.graph;
        let ty = graph.ty(value);
        let is_loaded = self.analysis.definitions[value.index()].is_none_or(|position| {
            !self.members.contains(position) && view::step(graph, &graph.nodes[position], value).is_none()
        });
        if is_loaded {
            return Ok(self.load(value, &place, Some(pad)));
        }
        let Some(inside) = self.inside(&place, &ty.shape) else { return self.value(value, place) };
        let element = self.value(value, place)?;
        let outside = self.kernel.constant(ty.dtype, pad);
        Ok(self.kernel.select(inside, element, outside))
    }

    /// Whether a place lies inside of a shape; `None` if it always does.
    fn inside(&mut self, place: &[Index], shape: &[i64]) -> Option<Reg> {
        let mut inside = None;
        for (index, &extent) in place.iter().zip(shape) {
            let (low, high) = index.range();
            for (is_open, op, bound) in [(low < 0, Compare::Ge, 0), (high >= extent, Compare::Lt, extent)] {
                if is_open {
                    let test = self.compared(index, op, bound);
                    inside = Some(match inside {
                        None => test,
                        Some(inside) => self.kernel.binary(Binary::And, inside, test),
                    });
                }
            }
        }
        inside
    }

    fn compared(&mut self, index: &Index, op: Compare, bound: i64) -> Reg {
        let index = index.emit(&mut self.kernel);
        let position = self.kernel.position(index);
        let bound = self.kernel.int(passhost_ir::Dtype::I64, bound);
        self.kernel.compare(op, position, bound)
    }

    fn load(&mut self, value: ValueId, place: &[Index], pad: Option<Scalar>) -> Reg {
        let ty = self.analysis.graph.ty(value);
        let input = match self.inputs.iter().position(|&known| known == value) {
            Some(known) => u32::try_from(known).unwrap_or(u32::MAX),
            None => {
                self.inputs.push(value);
                self.kernel.input(ty.dtype, ty.shape.clone())
            }
        };
        let is_inside = place.iter().zip(&ty.shape).all(|(index, &extent)| index.lies_within(extent));
        let index = place.iter().map(|index| index.emit(&mut self.kernel)).collect();
        // PaddingMode of a tensor without padding nothing is used of what is read: a select has decided before.
        let padding = match pad {
            _ if is_inside => PaddingMode::Clamp,
            Some(pad) => PaddingMode::Pad(pad),
            None => PaddingMode::Pad(moves::literal(ty.dtype, 0.0)),
        };
        self.kernel.load(input, index, padding)
    }

    fn node(&mut self, position: usize, value: ValueId, place: &[Index]) -> Result<Reg, LowerError> {
        self.calculated.push((position, Space::axes_used(place)));
        let dtype = self.analysis.graph.ty(value).dtype;
        let element = match self.analysis.recipe(position)? {
            Recipe::Rule(rule) => self.rule(rule, position, value, place)?,
            Recipe::Move(Move::Map(view)) => self.value(view.source, view.at(place))?,
            Recipe::Move(Move::Join { dim, parts }) => self.part(&place[*dim], parts, value, place)?,
            Recipe::Move(Move::Pad { view, value: pad }) => self.padded(view.source, view.at(place), *pad)?,
        };
        // The rounding that eager's store does.
        Ok(convert(&mut self.kernel, element, dtype))
    }

    /// The element of the part in which the position along the joined dimension lies.
    fn part(&mut self, at: &Index, parts: &[Part], value: ValueId, place: &[Index]) -> Result<Reg, LowerError> {
        let dtype = self.analysis.graph.ty(value).dtype;
        let (low, high) = at.range();
        let mut chosen = None;
        let mut start = 0;
        let mut reachable = Vec::new();
        for part in parts {
            if low < part.end && high >= start {
                reachable.push(part);
            }
            start = part.end;
        }
        // PaddingMode of all parts is what nobody uses.
        if reachable.is_empty() {
            reachable.extend(parts.last());
        }
        for part in reachable.into_iter().rev() {
            let element = self.value(part.view.source, part.view.at(place))?;
            let element = convert(&mut self.kernel, element, dtype);
            chosen = Some(match chosen {
                None => element,
                Some(later) => {
                    let is_here = self.compared(at, Compare::Lt, part.end);
                    self.kernel.select(is_here, element, later)
                }
            });
        }
        chosen.ok_or(LowerError::Unread)
    }

    fn rule(
        &mut self,
        rule: &'static Rule,
        position: usize,
        value: ValueId,
        place: &[Index],
    ) -> Result<Reg, LowerError> {
        let graph = self.analysis.graph;
        let node = &graph.nodes[position];
        let NodeKind::Aten { op, args } = &node.kind else {
            return Err(LowerError::NoLowering("a kernel".to_owned()));
        };
        let output = node.outputs.iter().position(|&output| output == value).unwrap_or(0);
        let footprint = self.analysis.footprint(position, output)?;
        let reduces = footprint.is_some();
        let result = graph.ty(value);
        if rule.costly && !reduces {
            self.wants_row(place);
        }
        let window = match &footprint {
            Some(footprint) => Some(self.window(rule, footprint, (position, value), place)?),
            None => None,
        };
        let mut operands = Vec::new();
        let is_pointwise = footprint.as_ref().is_none_or(|footprint| footprint.elementwise && !rule.scans);
        let readings = if is_pointwise { readings(graph, rule, node, value) } else { vec![] };
        for Reading { place: number, operand, coordinates } in readings {
            let source: Place = coordinates.iter().map(|coordinate| coordinate.within(place)).collect();
            if matches!(rule.align, Align::Channels) && number > 0 && !reduces {
                self.wants_row(&source);
            }
            let value = self.value(operand, source)?;
            operands.resize(operands.len().max(number + 1), None);
            operands[number] = Some(Operand { value, has_dimensions: graph.ty(operand).rank() > 0 });
        }
        let kernel = RefCell::new(std::mem::take(&mut self.kernel));
        let args = Args::new(args);
        let call = Call { kernel: &kernel, args, operands: &operands, place, result: result.dtype, output, window };
        let element = (rule.emit)(&call).map(|element| element.reg);
        self.kernel = kernel.into_inner();
        element.map_err(|reason| LowerError::NotCovered { op: op.to_string(), reason })
    }

    /// Notes that a costly value varies along few axes only.
    fn wants_row(&mut self, place: &[Index]) {
        let axes = Space::axes_used(place);
        if axes < self.space.parallel.len() {
            self.row_axes = self.row_axes.max(axes);
        }
    }

    /// The elements that a member reduces for the result at `place`.
    fn window(
        &mut self,
        rule: &Rule,
        footprint: &Footprint,
        (position, value): (usize, ValueId),
        place: &[Index],
    ) -> Result<Window, LowerError> {
        let graph = self.analysis.graph;
        let node = &graph.nodes[position];
        let name = || match &node.kind {
            NodeKind::Aten { op, .. } => op.to_string(),
            NodeKind::Kernel { .. } => "a kernel".to_owned(),
        };
        let count = footprint.window.iter().product();
        let mut sources = tensors(node).map(|(_, source)| source).take(rule.folds);
        let Some(source) = sources.next() else { return Err(LowerError::NoLowering(name())) };
        let rows: Place = footprint.row_of.iter().map(|row| row.within(place)).collect();
        if footprint.is_listed() {
            let mut elements = Vec::new();
            for at in (0..count).map(|at| Index::constant(at).unravel(&footprint.window)) {
                elements.push(self.reduced_element(footprint, source, &[&rows[..], &at].concat())?);
            }
            let elements = Elements::Listed(elements);
            return Ok(Window { elements, beside: vec![], at: vec![], extents: vec![], count });
        }
        let axes = self.space.window(&footprint.window).ok_or_else(|| LowerError::Window {
            op: name(),
            found: footprint.window.clone(),
            expected: self.space.reduce.clone(),
        })?;
        let known = self.reduced.iter().find(|(known, _)| *known == value);
        if known.is_some_and(|(_, known)| *known != rows) || !rows.iter().all(|row| self.space.is_row(row)) {
            return Err(LowerError::OtherRow(name()));
        }
        let row: Place = [&rows[..], &axes].concat();
        if rule.scans && !self.goes_through(footprint, place, &row, &axes) {
            return Err(LowerError::OtherRow(name()));
        }
        self.reduced.push((value, rows));
        let elements = Elements::OverAxes(self.reduced_element(footprint, source, &row)?);
        let beside = sources.map(|source| self.reduced_element(footprint, source, &row)).collect::<Result<_, _>>()?;
        Ok(Window { elements, beside, at: axes, extents: footprint.window.clone(), count })
    }

    /// Whether an element of a result lies where its row is gone through, along the last reduce axis alone.
    fn goes_through(&self, footprint: &Footprint, place: &[Index], row: &[Index], axes: &[Index]) -> bool {
        let (parallel, reduce) = (self.space.parallel.len(), &self.space.reduce);
        let [extent] = reduce[..] else { return false };
        let here = footprint.at.iter().map(|at| at.within(row));
        axes == [Index::axis(parallel, extent)] && here.eq(place.iter().cloned())
    }

    fn reduced_element(&mut self, footprint: &Footprint, source: ValueId, axes: &[Index]) -> Result<Reg, LowerError> {
        let at = footprint.at.iter().map(|at| at.within(axes)).collect();
        match footprint.outside {
            Some(outside) => {
                let pad = moves::literal(self.analysis.graph.ty(source).dtype, outside);
                self.padded(source, at, pad)
            }
            None => self.value(source, at),
        }
    }
}
