//! Writing the instructions of a region: each value where it is read, at the coordinates at which it is read.

mod contract;
mod resample;
mod window;

use super::analysis::GraphAnalysis;
use super::call::{OpCall, OperandElement};
use super::footprint::IndexGuard;
use super::moves::{self, JoinedPart, Move, Otherwise};
use super::recipe::RuleReading;
use super::rule::{Align, Emit, Recipe, Rule};
use super::space::{Coordinates, KernelSpace};
use super::{KernelBuilder, LowerError};
use crate::args::Args;
use crate::index::Index;
use crate::view::View;
use fixedbitset::FixedBitSet;
use passhost_ir::kernel::{Binary, Compare, IndexId, PaddingMode, Reg, Scalar};
use passhost_ir::{Dtype, NodeKind, TensorType, ValueId};
use std::borrow::Cow;

/// A kernel that is being written.
pub(super) struct RegionEmitter<'a> {
    analysis: &'a GraphAnalysis<'a>,
    members: &'a FixedBitSet,
    space: &'a KernelSpace,
    pub(super) kernel: KernelBuilder,
    /// The tensors it reads, one per input.
    pub(super) inputs: Vec<ValueId>,
    /// Elements there are already, by tensor and place.
    emitted: Vec<(ValueId, Coordinates, Reg)>,
    /// The members calculated so far, and how many leading axes each place follows.
    pub(super) calculated: Vec<(usize, usize)>,
    /// The rows for which members were reduced.
    reduced: Vec<(ValueId, Coordinates)>,
    /// The leading axes that costly values smaller than the space follow.
    pub(super) row_axes: usize,
}

impl<'a> RegionEmitter<'a> {
    /// An empty kernel over a space.
    pub(super) fn new(
        analysis: &'a GraphAnalysis<'a>,
        members: &'a FixedBitSet,
        space: &'a KernelSpace,
    ) -> RegionEmitter<'a> {
        RegionEmitter {
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
    pub(super) fn value(&mut self, value: ValueId, place: Coordinates) -> Result<Reg, LowerError> {
        if let Some((.., element)) = self.emitted.iter().find(|(known, at, _)| *known == value && *at == place) {
            return Ok(*element);
        }
        let element = match self.analysis.links.definitions[value.index()] {
            Some(position) if self.members.contains(position) => self.node(position, value, &place)?,
            _ => match self.analysis.step(value) {
                Some(view) => self.value(view.source, view.at(&place))?,
                None => self.load(value, &place, None)?,
            },
        };
        self.emitted.push((value, place, element));
        Ok(element)
    }

    /// The element of a tensor at a place that may lie outside of it, or that a guard keeps it from: there it is `pad`.
    fn padded(
        &mut self,
        value: ValueId,
        place: Coordinates,
        guard: &IndexGuard,
        pad: Scalar,
    ) -> Result<Reg, LowerError> {
        let graph = self.analysis.graph;
        let ty = graph.ty(value);
        let is_loaded = self.analysis.links.definitions[value.index()]
            .is_none_or(|position| !self.members.contains(position) && self.analysis.step(value).is_none());
        if is_loaded && guard.is_empty() {
            return self.load(value, &place, Some(pad));
        }
        let Some(inside) = self.inside(&place, &ty.shape, guard)? else { return self.value(value, place) };
        let element = self.value(value, place)?;
        let outside = self.kernel.constant(ty.dtype, pad);
        Ok(self.kernel.select(inside, element, outside))
    }

    /// Whether a place lies inside of a shape and a guard lets it pass; `None` if it always does.
    fn inside(&mut self, place: &[Index], shape: &[i64], guard: &IndexGuard) -> Result<Option<Reg>, LowerError> {
        let mut inside = None;
        let guarded = guard.iter().map(|(index, extent)| (index, *extent));
        for (index, extent) in place.iter().zip(shape.iter().copied()).chain(guarded) {
            let (low, high) = index.range();
            for (is_open, op, bound) in [(low < 0, Compare::Ge, 0), (high >= extent, Compare::Lt, extent)] {
                if is_open {
                    let test = self.compared(index, op, bound)?;
                    inside = Some(match inside {
                        None => test,
                        Some(inside) => self.kernel.binary(Binary::And, inside, test),
                    });
                }
            }
        }
        Ok(inside)
    }

    fn compared(&mut self, index: &Index, op: Compare, bound: i64) -> Result<Reg, LowerError> {
        let position = self.position(index)?;
        let bound = self.kernel.int(Dtype::I64, bound);
        Ok(self.kernel.compare(op, position, bound))
    }

    /// An index expression as a value.
    fn position(&mut self, index: &Index) -> Result<Reg, LowerError> {
        let index = self.index(index)?;
        Ok(self.kernel.position(index))
    }

    /// An index expression, with the elements of tensors that it is gathered from.
    fn index(&mut self, index: &Index) -> Result<IndexId, LowerError> {
        if !index.is_gathered() {
            return Ok(index.emit(&self.kernel));
        }
        let resolved = self.resolved(index)?;
        Ok(resolved.emit(&self.kernel))
    }

    /// An index expression in which elements of tensors that it is gathered from are values.
    fn resolved(&mut self, index: &Index) -> Result<Index, LowerError> {
        index.resolved(&mut |tensor, place: &[Index], along| {
            let element = self.value(tensor, place.to_vec())?;
            Ok::<Reg, LowerError>(self.kernel.position_along(element, along))
        })
    }

    fn load(&mut self, value: ValueId, place: &[Index], pad: Option<Scalar>) -> Result<Reg, LowerError> {
        let ty = self.analysis.graph.ty(value);
        let input = match self.inputs.iter().position(|&known| known == value) {
            Some(known) => u32::try_from(known).unwrap_or(u32::MAX),
            None => {
                self.inputs.push(value);
                self.kernel.input(ty.dtype, ty.shape.clone())
            }
        };
        let is_inside = place.iter().zip(&ty.shape).all(|(index, &extent)| index.lies_within(extent));
        // A load that clamps does what is asked of the indices.
        let place = place.iter().zip(&ty.shape);
        let index = place.map(|(index, &extent)| self.index(if is_inside { index.unclamped(extent) } else { index }));
        let index = index.collect::<Result<_, _>>()?;
        // Outside of a tensor without padding nothing is used of what is read: a select has decided before.
        let padding = match pad {
            _ if is_inside => PaddingMode::Clamp,
            Some(pad) => PaddingMode::Pad(pad),
            None => PaddingMode::Pad(moves::literal(ty.dtype, 0.0)),
        };
        Ok(self.kernel.load(input, index, padding))
    }

    fn node(&mut self, position: usize, value: ValueId, place: &[Index]) -> Result<Reg, LowerError> {
        self.calculated.push((position, KernelSpace::axes_used(place)));
        let dtype = self.analysis.graph.ty(value).dtype;
        let element = match self.analysis.recipe(position).map_err(Clone::clone)? {
            Recipe::Rule(rule, emit) => self.rule(rule, *emit, position, value, place)?,
            Recipe::Move(Move::Map(view)) => self.value(view.source, view.at(place))?,
            Recipe::Move(Move::Join { dim, parts }) => self.part(&place[*dim], parts, value, place)?,
            Recipe::Move(Move::Guarded { view, guard, otherwise }) => {
                self.guarded(view, guard, otherwise, value, place)?
            }
            Recipe::Contraction(contraction) => self.contraction(contraction, position, value, place)?,
            Recipe::Resample(resample) => self.resample(resample, place)?,
        };
        // The rounding that eager's store does.
        Ok(self.kernel.converted(dtype, element))
    }

    /// The element of a tensor, or another where the place lies outside of it or a guard keeps it from there.
    fn guarded(
        &mut self,
        view: &View,
        guard: &IndexGuard,
        otherwise: &Otherwise,
        value: ValueId,
        place: &[Index],
    ) -> Result<Reg, LowerError> {
        let graph = self.analysis.graph;
        let dtype = graph.ty(value).dtype;
        let guard: IndexGuard = guard.iter().map(|(index, extent)| (index.within(place), *extent)).collect();
        let base = match otherwise {
            Otherwise::Constant(pad) => return self.padded(view.source, view.at(place), &guard, *pad),
            Otherwise::Element(base) => base,
        };
        let inside = self.inside(&view.at(place), &graph.ty(view.source).shape, &guard)?;
        let element = self.value(view.source, view.at(place))?;
        let element = self.kernel.converted(dtype, element);
        let Some(inside) = inside else { return Ok(element) };
        let base = self.value(base.source, base.at(place))?;
        let base = self.kernel.converted(dtype, base);
        Ok(self.kernel.select(inside, element, base))
    }

    /// The element of the part in which the position along the joined dimension lies.
    fn part(&mut self, at: &Index, parts: &[JoinedPart], value: ValueId, place: &[Index]) -> Result<Reg, LowerError> {
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
        // Outside of all parts is what nobody uses.
        if reachable.is_empty() {
            reachable.extend(parts.last());
        }
        for part in reachable.into_iter().rev() {
            let element = self.value(part.view.source, part.view.at(place))?;
            let element = self.kernel.converted(dtype, element);
            chosen = Some(match chosen {
                None => element,
                Some(later) => {
                    let is_here = self.compared(at, Compare::Lt, part.end)?;
                    self.kernel.select(is_here, element, later)
                }
            });
        }
        chosen.ok_or(LowerError::Unread)
    }

    fn rule(
        &mut self,
        rule: &'static Rule,
        emit: Emit,
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
        let footprint = self.analysis.footprint(position, output).map_err(Clone::clone)?;
        let reduces = footprint.is_some();
        let result = graph.ty(value);
        if rule.costly && !reduces {
            self.wants_row(place);
        }
        let window = match footprint {
            Some(footprint) => Some(self.window(rule, footprint, (position, value), place)?),
            None => None,
        };
        // An op may ask for its place, and elements of tensors that that is gathered from are read before.
        let at = match place.iter().any(Index::is_gathered) {
            true => Cow::Owned(place.iter().map(|index| self.resolved(index)).collect::<Result<Coordinates, _>>()?),
            false => Cow::Borrowed(place),
        };
        let mut operands = Vec::new();
        let is_pointwise = footprint.is_none_or(|footprint| footprint.elementwise && !rule.scans);
        let readings = if is_pointwise { self.analysis.readings(position, output) } else { &[] };
        for &RuleReading { place: number, operand, ref coordinates } in readings {
            let source: Coordinates = coordinates.iter().map(|coordinate| coordinate.within(place)).collect();
            if matches!(rule.align, Align::Channels) && number > 0 && !reduces {
                self.wants_row(&source);
            }
            let value = self.value(operand, source)?;
            operands.resize(operands.len().max(number + 1), None);
            let ty = graph.ty(operand);
            let is_packed = number == 0 && matches!(rule.align, Align::Channels) && is_packed(ty);
            operands[number] = Some(OperandElement { value, has_dimensions: ty.rank() > 0, is_packed });
        }
        let args = Args::new(args);
        let device = self.analysis.device;
        let (place, result) = (&*at, result.dtype);
        let call = OpCall { kernel: &self.kernel, args, operands: &operands, place, result, output, device, window };
        let element = emit(&call).map(|element| element.reg);
        element.map_err(|reason| LowerError::NotCovered(op.to_string(), reason))
    }

    /// Notes that a costly value varies along few axes only.
    fn wants_row(&mut self, place: &[Index]) {
        let axes = KernelSpace::axes_used(place);
        if axes < self.space.parallel.len() {
            self.row_axes = self.row_axes.max(axes);
        }
    }
}

/// Whether a tensor is dense, in rows or with channels last, as images and volumes may have them.
fn is_packed(ty: &TensorType) -> bool {
    let channels_last = || [0].into_iter().chain(2..ty.rank()).chain([1]);
    let has_channels_last = || ty.memory_order().is_some_and(|order| channels_last().eq(order));
    ty.is_contiguous() || (4..=5).contains(&ty.rank()) && has_channels_last()
}
