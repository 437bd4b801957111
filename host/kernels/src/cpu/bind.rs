//! Checking storage against a kernel's declarations.

use super::arena::Arena;
use super::exec::Space;
use super::load::{Access, BoundLoad};
use super::memory::{BoundInput, BoundOutput, InputView, OutputView};
use super::plan::{LoadPlan, Mode, Plan, Schedule};
use super::store::BoundStore;
use super::strided::Strided;
use super::threads::for_ranges;
use super::{CpuKernel, Threads};
use passhost_ir::kernel::Store;
use passhost_ir::{Dtype, Kernel, contiguous_strides, numel};

/// Storage that does not fit a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// Another number of inputs.
    #[error("the kernel has {expected} inputs, {found} were bound")]
    InputCount {
        /// Inputs declared.
        expected: usize,
        /// Inputs bound.
        found: usize,
    },
    /// Another number of outputs.
    #[error("the kernel has {expected} outputs, {found} were bound")]
    OutputCount {
        /// Outputs declared.
        expected: usize,
        /// Outputs bound.
        found: usize,
    },
    /// An input of another type.
    #[error("input {input} of the kernel is {expected}, a tensor of {found} was bound to it")]
    InputDtype {
        /// The input.
        input: usize,
        /// Type declared.
        expected: Dtype,
        /// Type bound.
        found: Dtype,
    },
    /// An input of another shape.
    #[error("input {input} of the kernel has shape {expected:?}, a tensor of shape {found:?} was bound to it")]
    InputShape {
        /// The input.
        input: usize,
        /// Shape declared.
        expected: Vec<i64>,
        /// Shape bound.
        found: Vec<i64>,
    },
    /// Strides of another rank than the shape, or a negative one.
    #[error("input {input} was bound with strides {strides:?}; expected {rank} strides of at least 0")]
    InputStrides {
        /// The input.
        input: usize,
        /// Strides bound.
        strides: Vec<i64>,
        /// Dimensions of the input.
        rank: usize,
    },
    /// Elements beyond the end of the storage.
    #[error("input {input} reaches {needed} bytes into its storage, which ends after {bytes}")]
    InputReach {
        /// The input.
        input: usize,
        /// Bytes that its shape and strides reach, saturated.
        needed: u64,
        /// Bytes there are.
        bytes: usize,
    },
    /// An address that is no multiple of the element size.
    #[error("input {input} starts at an address that is no multiple of {alignment} bytes, the size of its elements")]
    InputAlignment {
        /// The input.
        input: usize,
        /// Bytes per element.
        alignment: u64,
    },
    /// An output of another size.
    #[error("output {output} takes {needed} bytes, {bytes} were bound to it")]
    OutputSize {
        /// The output.
        output: usize,
        /// Bytes of its elements.
        needed: u64,
        /// Bytes bound.
        bytes: usize,
    },
    /// An address that is no multiple of the element size.
    #[error("output {output} starts at an address that is no multiple of {alignment} bytes, the size of its elements")]
    OutputAlignment {
        /// The output.
        output: usize,
        /// Bytes per element.
        alignment: u64,
    },
    /// An output that would overwrite an input while it is read.
    #[error("output {output} overlaps input {input}; give it storage of its own")]
    OutputOverlapsInput {
        /// The output.
        output: usize,
        /// The input.
        input: usize,
    },
    /// Two outputs in one place.
    #[error("outputs {first} and {second} overlap; give each storage of its own")]
    OutputsOverlap {
        /// The first of the two.
        first: usize,
        /// The second.
        second: usize,
    },
}

/// A kernel with the storage it runs on.
#[derive(Debug)]
pub struct Bound<'a> {
    kernel: &'a CpuKernel,
    columns: bool,
    loads: Vec<BoundLoad>,
    stores: Vec<BoundStore<'a>>,
}

impl<'a> Bound<'a> {
    /// Checks and binds.
    ///
    /// # Safety
    /// As for [`CpuKernel::bind`].
    pub(super) unsafe fn new(
        kernel: &'a CpuKernel,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<Bound<'a>, BindError> {
        let reaches = check(kernel.kernel(), inputs, outputs)?;
        let plan = &kernel.plan;
        let columns = plan.columns.is_some() && (plan.tuning.always_columns || prefers_columns(plan, inputs));
        let loads = plan.loads.iter().map(|load| {
            let input = &inputs[load.input];
            // SAFETY: `check` found the pointer aligned and the storage as long as the reach; the caller promises that
            // the storage can be read, and is not written to, while this `Bound` lives.
            let view = unsafe { InputView::new(input.pointer, reaches[load.input], input.dtype) };
            let strides = effective_strides(input);
            let access = access(plan, load, input.shape, &strides, columns);
            BoundLoad { view, shape: input.shape.to_vec(), strides, access }
        });
        let stores = kernel.kernel().stores.iter().zip(outputs).map(|(store, output)| {
            let dtype = kernel.kernel().body[store.value.0 as usize].dtype;
            // SAFETY: `check` found the pointer aligned and the size that of the elements; the caller promises that nobody
            // else accesses the storage while this `Bound` lives.
            let view = unsafe { OutputView::new(output.pointer, numel(&store.shape) as usize, dtype) };
            bound_store(plan, store, view, columns)
        });
        Ok(Bound { kernel, columns, loads: loads.collect(), stores: stores.collect() })
    }

    /// Computes the outputs, on as many of `threads` as the work is worth.
    pub fn run(&mut self, threads: &dyn Threads) {
        let plan = &self.kernel.plan;
        if plan.rows == 0 || plan.length == 0 {
            return;
        }
        let schedule = self.schedule();
        let space = Space {
            isa: self.kernel.isa,
            plan,
            schedule,
            walks: &self.kernel.walks,
            loads: &self.loads,
            stores: &self.stores,
        };
        let (per_tile, rows) = (schedule.rows_per_tile(), plan.rows as usize);
        let tiles = rows.div_ceil(per_tile);
        let work = (plan.rows as u64).saturating_mul(plan.length as u64).saturating_mul(plan.cost.max(1));
        let grain = if work < plan.tuning.parallel_cost { tiles } else { (tiles / (threads.count() * 8)).max(1) };
        let arenas = self.kernel.arenas(self.columns);
        for_ranges(threads, tiles, grain, || {
            let mut arena = arenas.lend(|| Arena::new(plan, schedule));
            let space = &space;
            move |from, to| {
                for tile in from..to {
                    let first = tile * per_tile;
                    // SAFETY: tiles are disjoint sets of rows, `for_ranges` gives each to one thread, and `&mut self` keeps
                    // other runs away from these outputs.
                    unsafe { space.run_tile(&mut arena, first as i64, per_tile.min(rows - first)) };
                }
            }
        });
    }

    fn schedule(&self) -> &'a Schedule {
        let plan = &self.kernel.plan;
        plan.columns.as_ref().filter(|_| self.columns).unwrap_or(&plan.schedule)
    }
}

/// Checks everything; returns how many elements each input's strides reach.
pub(crate) fn check(
    kernel: &Kernel,
    inputs: &[BoundInput<'_>],
    outputs: &[BoundOutput],
) -> Result<Vec<usize>, BindError> {
    if inputs.len() != kernel.inputs.len() {
        return Err(BindError::InputCount { expected: kernel.inputs.len(), found: inputs.len() });
    }
    if outputs.len() != kernel.stores.len() {
        return Err(BindError::OutputCount { expected: kernel.stores.len(), found: outputs.len() });
    }
    let mut reaches = Vec::with_capacity(inputs.len());
    for (input, (decl, bound)) in kernel.inputs.iter().zip(inputs).enumerate() {
        if bound.dtype != decl.dtype {
            return Err(BindError::InputDtype { input, expected: decl.dtype, found: bound.dtype });
        }
        if bound.shape != decl.shape {
            return Err(BindError::InputShape { input, expected: decl.shape.clone(), found: bound.shape.to_vec() });
        }
        if bound.strides.len() != decl.shape.len() || bound.strides.iter().any(|stride| *stride < 0) {
            let (strides, rank) = (bound.strides.to_vec(), decl.shape.len());
            return Err(BindError::InputStrides { input, strides, rank });
        }
        let (reach, size) = (reach(bound), decl.dtype.size());
        let needed = reach.saturating_mul(size);
        if needed > bound.bytes as u64 || needed > isize::MAX as u64 {
            return Err(BindError::InputReach { input, needed, bytes: bound.bytes });
        }
        if reach > 0 && !(bound.pointer as u64).is_multiple_of(size) {
            return Err(BindError::InputAlignment { input, alignment: size });
        }
        reaches.push(reach as usize);
    }
    let range = |pointer: *const u8, bytes: u64| (pointer as u64, (pointer as u64).saturating_add(bytes));
    let overlap = |a: (u64, u64), b: (u64, u64)| a.0.max(b.0) < a.1.min(b.1);
    let mut written: Vec<(u64, u64)> = vec![];
    for (output, (store, bound)) in kernel.stores.iter().zip(outputs).enumerate() {
        let size = kernel.body[store.value.0 as usize].dtype.size();
        let needed = numel(&store.shape).saturating_mul(size);
        if needed != bound.bytes as u64 {
            return Err(BindError::OutputSize { output, needed, bytes: bound.bytes });
        }
        if needed > 0 && !(bound.pointer as u64).is_multiple_of(size) {
            return Err(BindError::OutputAlignment { output, alignment: size });
        }
        let place = range(bound.pointer, needed);
        for (input, bound) in inputs.iter().enumerate() {
            let bytes = reaches[input] as u64 * bound.dtype.size();
            if overlap(place, range(bound.pointer, bytes)) {
                return Err(BindError::OutputOverlapsInput { output, input });
            }
        }
        if let Some(first) = written.iter().position(|other| overlap(*other, place)) {
            return Err(BindError::OutputsOverlap { first, second: output });
        }
        written.push(place);
    }
    Ok(reaches)
}

/// Elements from the first to the last that shape and strides reach, saturated; 0 for an empty tensor.
fn reach(input: &BoundInput<'_>) -> u64 {
    if input.shape.contains(&0) {
        return 0;
    }
    input
        .shape
        .iter()
        .zip(input.strides)
        .fold(1u64, |reach, (extent, stride)| reach.saturating_add((*extent as u64 - 1).saturating_mul(*stride as u64)))
}

/// The strides, 0 where a dimension has no second element: such a stride means nothing and may be huge.
fn effective_strides(input: &BoundInput<'_>) -> Vec<i64> {
    input.shape.iter().zip(input.strides).map(|(extent, stride)| if *extent > 1 { *stride } else { 0 }).collect()
}

/// The offset's constant and its change along each axis, for a plain load.
fn offsets(plan: &Plan, load: &LoadPlan, strides: &[i64]) -> (i64, Vec<i64>) {
    let (mut base, mut slopes) = (0, vec![0i64; plan.extents.len()]);
    for (id, stride) in load.index.iter().zip(strides) {
        if let Some(affine) = &plan.forms[id.0 as usize].affine {
            base += affine.constant * stride;
            for (total, slope) in slopes.iter_mut().zip(&affine.slopes) {
                // An axis with one position may have any slope; it is dropped below.
                *total = total.wrapping_add(slope.wrapping_mul(*stride));
            }
        }
    }
    // An axis with one position changes nothing.
    for (slope, extent) in slopes.iter_mut().zip(&plan.extents) {
        if *extent <= 1 {
            *slope = 0;
        }
    }
    (base, slopes)
}

/// Extents and changes along the axes of the load's or store's domain, outermost first.
fn domain_axes<'a>(plan: &'a Plan, over_inner: bool, slopes: &'a [i64]) -> impl Iterator<Item = (i64, i64)> + 'a {
    let inner = if over_inner { plan.inner_axes.as_slice() } else { &[] };
    plan.row_axes.iter().chain(inner).map(|axis| (plan.extents[*axis], slopes[*axis]))
}

/// [`Access::Blocks`] over as many of the innermost axes as possible, if that is worth it.
fn blocks(plan: &Plan, load: &LoadPlan, shape: &[i64], strides: &[i64], domain: &[usize]) -> Option<Access> {
    let affine = |dim: usize| plan.forms[load.index[dim].0 as usize].affine.as_ref();
    let forms: Vec<_> = (0..shape.len()).map(affine).collect::<Option<_>>()?;
    let proven: Vec<bool> = forms.iter().zip(shape).map(|(form, size)| form.within(&plan.extents, *size)).collect();
    let moves_guarded = |axis: usize| {
        plan.extents[axis] > 1 && forms.iter().zip(&proven).any(|(form, proven)| !proven && form.slopes[axis] != 0)
    };
    let first = domain.iter().rposition(|axis| moves_guarded(*axis)).map_or(0, |at| at + 1);
    let block = &domain[first..];
    let points: i64 = block.iter().map(|axis| plan.extents[*axis].max(1)).product();
    let innermost = block.iter().rfind(|axis| plan.extents[**axis] > 1).map_or(1, |axis| plan.extents[*axis]);
    // Along one axis alone, a run does as well.
    if points < 8 || (points == innermost && innermost >= 8) {
        return None;
    }
    let change = |axis: usize| {
        // What changes is within its dimension everywhere, so that this cannot overflow; an axis with one position
        // changes nothing.
        let changes = forms.iter().zip(strides).map(|(form, stride)| form.slopes[axis].wrapping_mul(*stride));
        if plan.extents[axis] > 1 { changes.fold(0, i64::wrapping_add) } else { 0 }
    };
    let axes = block.iter().map(|axis| (plan.extents[*axis], change(*axis)));
    Some(Access::Blocks { points, offsets: Strided::new(0, axes) })
}

fn access(plan: &Plan, load: &LoadPlan, shape: &[i64], strides: &[i64], columns: bool) -> Access {
    let over_inner = load.inner && !columns;
    if load.plain {
        let (base, slopes) = offsets(plan, load, strides);
        let fixed = load.inner && columns;
        let inner = if fixed { plan.inner_axes.iter().map(|axis| slopes[*axis]).collect() } else { vec![] };
        return Access::Plain { offsets: Strided::new(base, domain_axes(plan, over_inner, &slopes)), inner };
    }
    let inner = if over_inner { plan.inner_axes.as_slice() } else { &[] };
    let domain: Vec<usize> = plan.row_axes.iter().chain(inner).copied().collect();
    if let Some(blocks) = blocks(plan, load, shape, strides, &domain) {
        return blocks;
    }
    let innermost = plan.row_axes.iter().chain(inner).rfind(|axis| plan.extents[**axis] > 1);
    // For short runs it is cheaper to evaluate the indices of many points together.
    if let Some(axis) = innermost.filter(|axis| plan.extents[**axis] >= 8) {
        let slopes = load.index.iter().map(|id| plan.forms[id.0 as usize].slopes[*axis]).collect::<Option<Vec<_>>>();
        if let Some(slopes) = slopes {
            return Access::Runs { extent: plan.extents[*axis], slopes };
        }
    }
    Access::General
}

fn bound_store<'a>(plan: &Plan, store: &Store, view: OutputView<'a>, columns: bool) -> BoundStore<'a> {
    let extents: Vec<i64> = store.order.iter().map(|axis| plan.extents[*axis as usize]).collect();
    let mut slopes = vec![0; plan.extents.len()];
    for (axis, stride) in store.order.iter().zip(contiguous_strides(&extents)) {
        slopes[*axis as usize] = stride;
    }
    let over_inner =
        !plan.inner_axes.is_empty() && plan.inner_axes.iter().all(|axis| store.order.contains(&(*axis as u32)));
    let fixed = over_inner && columns;
    let inner = if fixed { plan.inner_axes.iter().map(|axis| slopes[*axis]).collect() } else { vec![] };
    BoundStore { view, offsets: Strided::new(0, domain_axes(plan, over_inner && !columns, &slopes)), inner }
}

/// Whether most inputs lie in memory such that neighbouring rows, not neighbouring inner points, are side by side.
fn prefers_columns(plan: &Plan, inputs: &[BoundInput<'_>]) -> bool {
    let last = |axes: &[usize]| axes.iter().rfind(|axis| plan.extents[**axis] > 1).copied();
    let (Some(row), Some(inner)) = (last(&plan.row_axes), last(&plan.inner_axes)) else { return false };
    if plan.extents[row] < 16 {
        return false;
    }
    let votes = plan.loads.iter().filter(|load| load.inner && load.plain).map(|load| {
        let (_, slopes) = offsets(plan, load, &effective_strides(&inputs[load.input]));
        i32::from(slopes[row] == 1 && slopes[inner] > 1) - i32::from(slopes[inner] == 1)
    });
    votes.sum::<i32>() > 0
}

impl Schedule {
    /// Rows that a tile has at most.
    pub(super) fn rows_per_tile(&self) -> usize {
        match self.mode {
            Mode::Tiles(rows) | Mode::Columns(rows) => rows,
            Mode::Chunks(_) => 1,
        }
    }
}
