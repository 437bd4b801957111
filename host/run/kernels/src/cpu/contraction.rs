//! Sums of products whose factors follow different rows: products of matrices, convolutions and the like.
//!
//! Rows are matrices of sums. One factor follows the rows of a matrix, the other one its columns, which are the last axes of
//! the visit; axes that both follow tell matrices apart. A tile of a matrix needs a part of either input, which is copied to
//! an *image*: as `f32`, with what is outside of the input, and with neighbouring columns side by side. Windows that overlap in an input do so in its image. Where a product lies in both images is the sum of a place for
//! its row or column and one for its term, whatever the tile is.

use super::lanes::literal;
use crate::access::{Affine, AxisSet, KernelAnalysis};
use passhost_ir::kernel::{Binary, Compare, IndexId, Op, PaddingMode, ReduceOp, Reg, Scalar};
use passhost_ir::{Dtype, Kernel};

/// Lanes that are calculated with together.
pub(crate) const LANES: usize = 16;
/// Rows, columns and terms that a tile takes at a time, at most, and sums that it has.
const MOST_ROWS: i64 = 96;
const MOST_COLUMNS: i64 = 2048;
const MOST_TERMS: i64 = 256;
const MOST_SUMS: i64 = 1 << 15;
/// Tiles that there should be, where each has so many products.
const TILES: i64 = 8;
const FEWEST_PRODUCTS: i64 = 1 << 19;
/// Sums of a tile that is not made smaller.
const FEWEST_SUMS: i64 = 8 * 32;
/// Elements of an image, and places along a dimension of an input.
const MOST_ELEMENTS: i64 = 1 << 19;
const MOST_PLACES: i128 = 1 << 40;
/// How often each element of an image should be read.
const FEWEST_READS: i64 = 2;
/// Sums that are handed on together, at most.
pub(crate) const MOST_BEHIND: i64 = MOST_COLUMNS;

/// Axes in blocks: so many positions along each. AxisBlocks are counted with the last axis first.
#[derive(Debug, Clone)]
pub(crate) struct AxisBlocks {
    /// Number, extent and positions of a block.
    axes: Vec<(usize, i64, i64)>,
}

/// A kernel that adds up products, as tiles.
#[derive(Debug, Clone)]
pub(crate) struct ContractionPlan {
    /// The factor that the rows of a matrix follow, and the one that its columns follow.
    pub(crate) factors: [FactorPlan; 2],
    pub(crate) matrices: AxisBlocks,
    pub(crate) rows: AxisBlocks,
    pub(crate) columns: AxisBlocks,
    pub(crate) terms: AxisBlocks,
    /// Columns of a block that lie side by side.
    pub(crate) run: usize,
    /// Whether products outside of an input do not count.
    pub(crate) guarded: bool,
}

/// A factor: the elements of an input.
#[derive(Debug, Clone)]
pub(crate) struct FactorPlan {
    pub(crate) input: usize,
    pub(crate) dtype: Dtype,
    /// The element outside.
    pub(crate) pad: u64,
    /// The dimensions, in the order of the image.
    pub(crate) dims: Vec<FactorDim>,
    /// Neighbouring columns lie so far apart in the last dimension: for each remainder an image has a part of its own.
    pub(crate) step: i64,
    pub(crate) parts: usize,
    /// Elements of a part.
    pub(crate) elements: usize,
    /// Where in the image rows, or vectors of columns, of a block lie, and terms of one.
    pub(crate) lines: Vec<u32>,
    pub(crate) terms: Vec<u32>,
}

/// A dimension of an input.
#[derive(Debug, Clone)]
pub(crate) struct FactorDim {
    pub(crate) number: usize,
    pub(crate) size: i64,
    pub(crate) index: Affine,
    /// What a block adds to an index at least.
    pub(crate) least: i64,
    /// Its extent in an image.
    pub(crate) extent: i64,
}

impl AxisBlocks {
    /// AxisBlocks of about the same size, of at most so many points; whole inner axes come first.
    fn new(axes: &[usize], extents: &[i64], most: i64) -> AxisBlocks {
        let mut room = most;
        let block = |axis: &usize| {
            let extent = extents[*axis];
            let parts = (extent + room - 1) / room;
            let step = (extent + parts - 1) / parts;
            room = if step == extent { (room / extent).max(1) } else { 1 };
            (*axis, extent, step)
        };
        let mut axes: Vec<(usize, i64, i64)> = axes.iter().rev().map(block).collect();
        axes.reverse();
        AxisBlocks { axes }
    }

    pub(crate) fn count(&self) -> usize {
        self.axes.iter().map(|(_, extent, step)| (extent + step - 1) / step).product::<i64>() as usize
    }

    /// Points of a block.
    pub(crate) fn points(&self) -> i64 {
        self.axes.iter().map(|(.., step)| step).product()
    }

    /// Sets the first position of a block; returns how many points it has.
    pub(crate) fn start(&self, mut number: usize, positions: &mut [i64]) -> usize {
        let mut points = 1;
        for &(axis, extent, step) in self.axes.iter().rev() {
            let count = ((extent + step - 1) / step) as usize;
            positions[axis] = (number % count) as i64 * step;
            number /= count;
            points *= step.min(extent - positions[axis]);
        }
        points as usize
    }

    /// All points that there are.
    pub(crate) fn all(&self) -> i64 {
        self.axes.iter().map(|(_, extent, _)| extent).product()
    }

    /// What the positions of each point of a block add to an index, in order.
    fn places(&self, index: &Affine) -> Vec<i64> {
        let mut places = vec![0];
        for &(axis, _, step) in &self.axes {
            let slope = index.slopes[axis];
            places = places.iter().flat_map(|at| (0..step).map(move |i| at + i * slope)).collect();
        }
        places
    }
}

/// A factor as the kernel says it.
#[derive(Clone)]
struct FoundFactor<'a> {
    input: usize,
    dtype: Dtype,
    shape: &'a [i64],
    index: Vec<&'a Affine>,
    /// Of each index, its least and its largest value.
    ranges: Vec<(i128, i128)>,
    padding: PaddingMode,
    follows: AxisSet,
}

impl ContractionPlan {
    /// Tiles of all matrices.
    pub(crate) fn tiles(&self) -> usize {
        self.matrices.count() * self.rows.count() * self.columns.count()
    }

    /// Lanes of the sums of a row of a tile.
    pub(crate) fn pitch(&self) -> usize {
        self.factors[1].lines.len() * LANES
    }

    /// None where a kernel is something else, or by rows as fast.
    pub(crate) fn of(kernel: &Kernel, analysis: &KernelAnalysis, axes: [&[usize]; 2], extents: &[i64]) -> Option<Self> {
        let is_fold = |at: &usize| analysis.needed[*at] && matches!(kernel.body[*at].op, Op::Reduce(..) | Op::Scan(..));
        let folds: Vec<usize> = (0..kernel.body.len()).filter(is_fold).collect();
        let &[reduce] = &folds[..] else { return None };
        let op = |reg: Reg| &kernel.body[reg.0 as usize].op;
        let Op::Reduce(ReduceOp::Sum, mut added) = kernel.body[reduce].op else { return None };
        let mut condition = None;
        if let Op::Select(inside, product, nothing) = *op(added) {
            let Op::Const(Scalar::Float(0.0)) = op(nothing) else { return None };
            (condition, added) = (Some(inside), product);
        }
        let &Op::Binary(Binary::Mul, a, b) = op(added) else { return None };
        let stores_rows = kernel.stores.iter().all(|store| store.order.len() == kernel.parallel.len());
        if kernel.body[reduce].dtype != Dtype::F32 || !stores_rows || axes[1].is_empty() {
            return None;
        }
        let load = |reg| if let Op::Cast(from) = *op(reg) { from } else { reg };
        let find = |reg| FoundFactor::of(kernel, analysis, extents, load(reg));
        let mut found = [find(a)?, find(b)?];
        if let Some(condition) = condition {
            if let Some(guarded) = found[0].clone().guard(kernel, analysis, condition) {
                found[0] = guarded;
            } else {
                found[1] = found[1].clone().guard(kernel, analysis, condition)?;
            }
        }
        // Elements that are clamped are others than those of an image.
        let is_clamped = |factor: &FoundFactor<'_>| factor.padding == PaddingMode::Clamp && !factor.is_inside();
        if found.iter().any(is_clamped) || extents.contains(&0) {
            return None;
        }
        let along = |axis: usize| [0, 1].map(|at: usize| found[at].follows >> axis & 1 != 0);
        let order: Vec<usize> = axes[0].iter().copied().filter(|axis| extents[*axis] != 1).collect();
        let second = along(*order.last()?);
        let run = |end: usize, wanted: [bool; 2]| {
            order[..end].iter().rposition(|axis| along(*axis) != wanted).map_or(0, |at| at + 1)
        };
        if second[0] == second[1] {
            return None;
        }
        let columns = run(order.len(), second);
        let rows = run(columns, [second[1], second[0]]);
        if second[0] {
            found.swap(0, 1);
        }
        let axes = [&order[..rows], &order[rows..columns], &order[columns..], axes[1]];
        ContractionPlan::in_blocks(&found, axes, extents, condition.is_some())
    }

    /// Chooses blocks.
    fn in_blocks(found: &[FoundFactor<'_>; 2], axes: [&[usize]; 4], extents: &[i64], guarded: bool) -> Option<Self> {
        let [matrices, terms] = [(0, 1), (3, MOST_TERMS)].map(|(at, most)| AxisBlocks::new(axes[at], extents, most));
        let mut most = [MOST_ROWS, MOST_COLUMNS];
        let (rows, columns) = loop {
            let rows = AxisBlocks::new(axes[1], extents, most[0]);
            let columns = AxisBlocks::new(axes[2], extents, most[1].min(MOST_SUMS / rows.points()));
            let sums = rows.points() * columns.points();
            let tiles = matrices.count() * rows.count() * columns.count();
            let is_small = sums <= FEWEST_SUMS || sums.saturating_mul(terms.all()) < 2 * FEWEST_PRODUCTS;
            if is_small || tiles as i64 >= TILES {
                break (rows, columns);
            }
            let longer = usize::from(columns.points() > 2 * rows.points());
            most[longer] = [rows.points(), columns.points()][longer] / 2;
        };
        let first = FactorPlan::new(&found[0], [&rows, &terms], None)?;
        let mut second = FactorPlan::new(&found[1], [&columns, &terms], axes[2].last())?;
        let places = std::mem::take(&mut second.lines);
        let run = (1..places.len()).find(|at| places[*at] != places[at - 1] + 1).unwrap_or(places.len());
        second.lines = places.chunks(run).flat_map(|run| run.iter().step_by(LANES)).copied().collect();
        let factors = [first, second];
        let elements = factors.iter().map(|factor| (factor.elements * factor.parts) as i64).sum::<i64>();
        let products = rows.points() * columns.points() * terms.points();
        let made = ContractionPlan { factors, matrices, rows, columns, terms, run, guarded };
        (products >= FEWEST_READS * elements).then_some(made)
    }
}

impl<'a> FoundFactor<'a> {
    fn of(kernel: &'a Kernel, analysis: &'a KernelAnalysis, extents: &[i64], load: Reg) -> Option<FoundFactor<'a>> {
        let Op::Load { input, index, padding } = &kernel.body[load.0 as usize].op else { return None };
        let (input, padding, dtype) = (*input as usize, *padding, kernel.body[load.0 as usize].dtype);
        let shape = &kernel.inputs[input].shape;
        let form = |id: &IndexId| analysis.forms[id.0 as usize].affine.as_ref();
        let index: Vec<&Affine> = index.iter().map(form).collect::<Option<_>>()?;
        let ranges: Vec<(i128, i128)> = index.iter().map(|form| form.range(extents)).collect();
        let most = ranges.iter().map(|(low, high)| low.abs().max(high.abs()));
        let most = most.chain(shape.iter().map(|size| i128::from(*size))).max();
        if !dtype.is_float() || dtype.size() > 4 || most > Some(MOST_PLACES) {
            return None;
        }
        let moves = |axis: &usize| extents[*axis] > 1 && index.iter().any(|form| form.slopes[*axis] != 0);
        let follows = (0..extents.len()).filter(moves).fold(0, |set, axis| set | 1 << axis);
        Some(FoundFactor { input, dtype, shape, index, ranges, padding, follows })
    }

    /// Whether it is an element of the input everywhere.
    fn is_inside(&self) -> bool {
        self.ranges.iter().zip(self.shape).all(|((low, high), size)| *low >= 0 && *high < i128::from(*size))
    }

    /// The same where nothing outside counts, if a condition has the bounds of the input, and no others.
    fn guard(mut self, kernel: &Kernel, analysis: &KernelAnalysis, condition: Reg) -> Option<Self> {
        let (mut stack, op) = (vec![condition], |reg: Reg| &kernel.body[reg.0 as usize].op);
        while let Some(condition) = stack.pop() {
            if let Op::Binary(Binary::And, a, b) = *op(condition) {
                stack.extend([a, b]);
                continue;
            }
            let (index, bound, is_below) = match *op(condition) {
                Op::Compare(Compare::Ge, index, bound) | Op::Compare(Compare::Le, bound, index) => {
                    (index, bound, false)
                }
                Op::Compare(Compare::Lt, index, bound) => (index, bound, true),
                _ => return None,
            };
            let (Op::Index(id), Op::Const(Scalar::Int(bound))) = (op(index), op(bound)) else { return None };
            let form = analysis.forms[id.0 as usize].affine.as_ref()?;
            let dim = self.index.iter().position(|index| *index == form)?;
            let (range, size) = (&mut self.ranges[dim], self.shape[dim]);
            match is_below {
                true if *bound == size => range.1 = range.1.min(i128::from(size) - 1),
                false if *bound == 0 => range.0 = range.0.max(0),
                _ => return None,
            }
        }
        self.padding = PaddingMode::Pad(Scalar::Float(0.0));
        self.is_inside().then_some(self)
    }
}

impl FactorPlan {
    /// What blocks of a side and of terms reach. Columns along `last` are side by side.
    fn new(found: &FoundFactor<'_>, blocks: [&AxisBlocks; 2], last: Option<&usize>) -> Option<FactorPlan> {
        let dim = |(number, (index, size)): (usize, (&&Affine, &i64))| {
            let axes = blocks.iter().flat_map(|blocks| &blocks.axes);
            let reaches = || axes.clone().map(|(axis, _, step)| index.slopes[*axis] * (step - 1));
            let least = reaches().filter(|reach| *reach < 0).sum();
            let extent = 1 + reaches().map(i64::abs).sum::<i64>();
            FactorDim { number, size: *size, index: (*index).clone(), least, extent }
        };
        let mut dims: Vec<FactorDim> = found.index.iter().zip(found.shape).enumerate().map(dim).collect();
        let (mut step, mut parts) = (1, 1);
        if let Some(&last) = last {
            let moving: Vec<usize> = (0..dims.len()).filter(|at| dims[*at].index.slopes[last] != 0).collect();
            let &[at] = &moving[..] else { return None };
            let mut dim = dims.remove(at);
            step = Some(dim.index.slopes[last]).filter(|step| *step > 0)?;
            parts = step.min(dim.extent);
            dim.extent = (dim.extent + step - 1) / step;
            // Lines of an image that are a power of two apart would share few places of a cache.
            if dim.extent > 8 * LANES as i64 {
                dim.extent = (((dim.extent + LANES as i64 - 1) / LANES as i64) | 1) * LANES as i64;
            }
            dims.push(dim);
        }
        let elements = dims.iter().try_fold(parts, |all, dim| all.checked_mul(dim.extent))?;
        let elements = Some(elements).filter(|all| *all <= MOST_ELEMENTS)? / parts;
        let pad = match found.padding {
            PaddingMode::Pad(pad) => literal(found.dtype, pad),
            PaddingMode::Clamp => 0,
        };
        let [parts, elements] = [parts, elements].map(|count| count as usize);
        let (input, dtype, lines, terms) = (found.input, found.dtype, vec![], vec![]);
        let made = FactorPlan { input, dtype, pad, dims, step, parts, elements, lines, terms };
        let (lines, terms) = (made.table(blocks[0], true)?, made.table(blocks[1], false)?);
        Some(FactorPlan { lines, terms, ..made })
    }

    /// Where the points of a block lie, beside what others add; none where those of a side are no multiples of the step.
    fn table(&self, blocks: &AxisBlocks, is_side: bool) -> Option<Vec<u32>> {
        let (mut places, mut pitch) = (vec![0; blocks.points() as usize], 1);
        for (at, dim) in self.dims.iter().enumerate().rev() {
            let along = blocks.places(&dim.index);
            let least = along.iter().copied().min().unwrap_or(0);
            let step = if at + 1 == self.dims.len() { self.step } else { 1 };
            for (place, along) in places.iter_mut().zip(along) {
                let (whole, rest) = ((along - least) / step, (along - least) % step);
                if is_side && rest != 0 {
                    return None;
                }
                *place += whole * pitch + rest * self.elements as i64;
            }
            pitch *= dim.extent;
        }
        places.into_iter().map(|place| u32::try_from(place).ok()).collect()
    }
}
