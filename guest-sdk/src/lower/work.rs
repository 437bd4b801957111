//! What a kernel or an op has to do: bytes, operations, and how many of them at a time.

use super::analysis::GraphAnalysis;
use super::constants::{Constants, PRODUCT};
use super::contraction::tile::Tile;
use super::kernel_axes::{KernelAxes, innermost};
use super::rule::{Recipe, Rule};
use passhost_ir::kernel::effort::LOAD;
use passhost_ir::kernel::{Inst, Op, ReduceOp};
use passhost_ir::{Dtype, Graph, Kernel, TensorType, ValueId, numel};

/// What a kernel or an op has to do.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkEstimate {
    /// Bytes that each tensor costs that is read, as if they were read in order; by tensor.
    pub(super) reads: Vec<(ValueId, f64)>,
    /// Bytes that are written.
    pub(super) writes: f64,
    /// Operations, those of `repeated` not counted.
    pub(super) operations: f64,
    /// Operations of costly ops that are done again for further elements.
    pub(super) repeated: f64,
    /// Independent points or, where something is reduced, rows.
    pub(super) rows: u64,
    /// Points of a row; 1 where nothing is reduced, or a library finds its own way to do that.
    pub(super) row_length: u64,
    /// Whether each row stays with one multiprocessor, however long it is: kernels that go over points in their order keep
    /// it there, and a library's norms do.
    pub(super) undivided: bool,
    /// How many times as long reading takes because rows lie across memory, where that is more than 1.
    pub(super) across: f64,
    /// Products that it adds up in tiles; `operations` has none of them.
    pub(super) tile: Option<Tile>,
}

/// What a kernel costs beyond reading its operands and writing its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KernelEffort {
    /// How often costly ops are calculated beyond once for each element of their results, where that is often.
    pub(super) repeated: u64,
    /// The most places at which one member is calculated.
    pub(super) places: usize,
}

impl WorkEstimate {
    /// Points of the space.
    pub(super) fn points(&self) -> u64 {
        self.rows.saturating_mul(self.row_length)
    }

    /// The one whose space both have in one kernel.
    pub(super) fn wider<'w>(&'w self, other: &'w WorkEstimate) -> &'w WorkEstimate {
        let size = |work: &WorkEstimate| (work.row_length > 1, work.points());
        if size(self) >= size(other) { self } else { other }
    }

    /// Whether no result has an element for each point: rows come to something, and nobody goes over them again to write.
    pub(super) fn ends_in_rows(&self) -> bool {
        self.writes < self.points() as f64
    }

    pub(super) fn bytes(&self) -> f64 {
        self.reads.iter().map(|(_, bytes)| bytes).sum::<f64>() + self.writes
    }

    /// What an op by itself is as a kernel, given what it is as a library does it.
    pub(super) fn as_kernel(
        &self,
        analysis: &GraphAnalysis<'_>,
        constants: &Constants,
        position: usize,
    ) -> WorkEstimate {
        let mut work = WorkEstimate { undivided: false, row_length: 1, ..self.clone() };
        if let Ok(Some(footprint)) = analysis.footprint(position, 0)
            && !footprint.is_listed()
        {
            (work.rows, work.row_length) = (numel(&footprint.rows), numel(&footprint.window));
            if let Ok(Recipe::Rule(rule, _)) = analysis.recipe(position) {
                work.undivided = rule.scans;
                let step = |axis: usize| footprint.at.last().and_then(|at| at.step_along(axis)).unwrap_or(0);
                // Whole numbers of floats are positions.
                let gives_numbers = analysis.graph.ty(analysis.node(position).outputs[0]).dtype == Dtype::I64;
                let reduced = analysis.reduced(position).map(|value| analysis.graph.ty(value).dtype);
                let size = reduced.filter(|dtype| gives_numbers && dtype.is_float()).map_or(0, |dtype| dtype.size());
                work.across = constants.across(&step, (&footprint.rows, &footprint.window), size);
            }
        } else {
            work.rows = analysis.graph.ty(analysis.node(position).outputs[0]).numel();
        }
        work.tile = analysis.tile(position).copied();
        if let (Ok(Recipe::Contraction(contraction)), None) = (analysis.recipe(position), &work.tile) {
            let products = numel(&contraction.rows).saturating_mul(numel(&contraction.window));
            work.operations += products as f64 * PRODUCT;
        }
        work
    }

    /// Of an op by itself as a library does it.
    pub(super) fn of_node(analysis: &GraphAnalysis<'_>, constants: &Constants, position: usize) -> WorkEstimate {
        let (graph, node) = (analysis.graph, analysis.node(position));
        let results: Vec<&TensorType> = node.outputs.iter().map(|&output| graph.ty(output)).collect();
        let mut work = WorkEstimate { row_length: 1, ..WorkEstimate::default() };
        let mut read_at_once = 0;
        // What moves elements reads one for each of its result, wherever they lie: a lookup does not read its whole table.
        let most_read = match analysis.recipe(position) {
            Ok(Recipe::Move(_)) => results.iter().map(|ty| ty.numel()).sum(),
            _ => u64::MAX,
        };
        for &operand in &analysis.links.operands[position] {
            let ty = graph.ty(operand);
            let factor =
                if results.first().is_none_or(|result| is_in_order(ty, result)) { 1.0 } else { constants.strided };
            let source = analysis.root(operand).source;
            let bytes = bytes(ty, distinct(ty).min(graph.ty(source).numel()).min(most_read)) * factor;
            let known = work.read(source);
            *known = known.max(bytes);
            read_at_once = read_at_once.max(ty.numel().min(most_read));
        }
        work.writes = results.iter().map(|ty| bytes(ty, ty.numel())).sum();
        let written = results.iter().map(|ty| ty.numel()).max().unwrap_or(0);
        let [norm, costly, cheap, reduction] = constants.rule;
        let each = match analysis.recipe(position) {
            Ok(Recipe::Rule(Rule { footprint: Some(_), .. }, _)) => match analysis.footprint(position, 0) {
                Ok(Some(footprint)) if footprint.reads_once() => reduction,
                _ => norm,
            },
            Ok(Recipe::Rule(Rule { costly: true, .. }, _)) => costly,
            _ => cheap,
        };
        work.rows = written.max(read_at_once);
        work.operations = work.rows as f64 * (each + LOAD as f64 * work.reads.len() as f64);
        work.of_rows(analysis, constants, position);
        work
    }

    /// What a library does row by row: norms, and scans but for that of a single row.
    fn of_rows(&mut self, analysis: &GraphAnalysis<'_>, constants: &Constants, position: usize) {
        let Ok(Some(footprint)) = analysis.footprint(position, 0) else { return };
        let (rows, row_length) = (numel(&footprint.rows), numel(&footprint.window));
        let scans = matches!(analysis.recipe(position), Ok(Recipe::Rule(Rule { scans: true, .. }, _)));
        if !footprint.elementwise || scans && rows == 1 {
            return;
        }
        (self.rows, self.row_length, self.undivided) = (rows, row_length, true);
        let is_read_twice = !scans && row_length > constants.kept_row;
        if let Some(reduced) = analysis.reduced(position).filter(|_| is_read_twice) {
            *self.read(analysis.root(reduced).source) *= 2.0;
        }
    }

    /// Of a copy of a tensor.
    pub(super) fn of_copy(analysis: &GraphAnalysis<'_>, value: ValueId) -> WorkEstimate {
        let ty = analysis.graph.ty(value);
        let bytes = bytes(ty, ty.numel());
        WorkEstimate {
            reads: vec![(value, bytes)],
            writes: bytes,
            rows: ty.numel(),
            row_length: 1,
            ..WorkEstimate::default()
        }
    }

    /// Bytes of a tensor that is read.
    fn read(&mut self, source: ValueId) -> &mut f64 {
        let at = match self.reads.binary_search_by_key(&source, |(known, _)| *known) {
            Ok(at) => at,
            Err(at) => {
                self.reads.insert(at, (source, 0.0));
                at
            }
        };
        &mut self.reads[at].1
    }

    /// Of two sets of ops in one kernel, as if all were read and written in order. `is_within` says what of the tensors
    /// that are read they calculate, and `results` are read outside.
    pub(super) fn joined(
        &self,
        other: &WorkEstimate,
        graph: &Graph,
        is_within: impl Fn(ValueId) -> bool,
        results: &[ValueId],
    ) -> WorkEstimate {
        let wide = self.wider(other);
        let mut joined = WorkEstimate {
            reads: self.reads.iter().copied().filter(|&(value, _)| !is_within(value)).collect(),
            writes: results.iter().map(|&result| bytes(graph.ty(result), graph.ty(result).numel())).sum(),
            operations: self.operations + other.operations,
            repeated: self.repeated + other.repeated,
            rows: wide.rows,
            row_length: wide.row_length,
            undivided: self.undivided || other.undivided,
            across: self.across.max(other.across),
            tile: self.tile.or(other.tile),
        };
        for &(value, bytes) in other.reads.iter().filter(|&&(value, _)| !is_within(value)) {
            let known = joined.read(value);
            *known = known.max(bytes);
        }
        joined
    }

    /// Of a kernel.
    pub(super) fn of_kernel(
        graph: &Graph,
        constants: &Constants,
        kernel: &Kernel,
        inputs: &[ValueId],
        repeated: u64,
        tile: Option<Tile>,
    ) -> WorkEstimate {
        let axes = KernelAxes::of(kernel);
        let undivided = kernel.body.iter().any(|inst| matches!(inst.op, Op::Scan(..)));
        let mut work =
            WorkEstimate { rows: kernel.rows(), row_length: kernel.row_length(), undivided, ..WorkEstimate::default() };
        let reduces = undivided || kernel.body.iter().any(|inst| matches!(inst.op, Op::Reduce(..)));
        if !reduces {
            (work.rows, work.row_length) = (kernel.work(), 1);
        }
        let fast = axes.fast(kernel);
        let is_position = |inst: &Inst| matches!(inst.op, Op::Reduce(ReduceOp::Argmax | ReduceOp::Argmin, _));
        let positions = u64::from(reduces && kernel.body.iter().any(is_position));
        let passes = if kernel.row_length() > constants.kept_row { axes.passes(kernel) } else { 1.0 };
        for inst in &kernel.body {
            if let Op::Load { input, index, .. } = &inst.op {
                let source = inputs[*input as usize];
                let ty = graph.ty(source);
                let read = axes.read(ty, index, fast, constants);
                let is_element = axes.is_element(axes.of_load(index));
                let factor = if is_element { passes } else { 1.0 };
                if is_element && tile.is_none() && fast.is_none() {
                    let across = axes.across(ty, index, constants, positions * ty.dtype.size());
                    work.across = work.across.max(across);
                }
                let known = work.read(source);
                let whole = bytes(ty, ty.numel()) * constants.strided.max(passes);
                *known = (*known + read * factor).min(whole);
            }
        }
        for store in &kernel.stores {
            let size = kernel.body[store.value.0 as usize].dtype.size() as f64;
            let is_in_order = fast.is_none()
                || store.order.last().map(|&axis| axis as usize) == fast
                || store.order.len() <= kernel.parallel.len() && reduces;
            work.writes += numel(&store.shape) as f64 * size * if is_in_order { 1.0 } else { constants.strided };
        }
        work.repeated = repeated as f64 * constants.rule[1];
        work.operations = (axes.operations(kernel, constants, tile.is_some()) - work.repeated).max(0.0);
        work.tile = tile;
        work
    }
}

/// Bytes of so many elements.
fn bytes(ty: &TensorType, count: u64) -> f64 {
    count as f64 * ty.dtype.size() as f64
}

/// Elements of a tensor that are not repeated by strides of 0.
fn distinct(ty: &TensorType) -> u64 {
    let extents = ty.shape.iter().zip(&ty.strides).filter(|(_, stride)| **stride != 0);
    extents.map(|(&extent, _)| extent.unsigned_abs()).product()
}

/// Whether the dimension of the result whose elements are neighbours in memory is that of the operand, or the operand
/// has none of it.
fn is_in_order(operand: &TensorType, result: &TensorType) -> bool {
    let Some(inner) = innermost(result) else { return true };
    let Some(dim) = (inner + operand.rank()).checked_sub(result.rank()) else { return true };
    operand.shape.get(dim).is_none_or(|&extent| extent == 1) || operand.strides[dim] <= 1
}
