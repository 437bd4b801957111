//! A kernel with storage: how each load and store finds its elements there.

use super::arena::BlockBuffers;
use super::load::{BoundLoad, LoadAccess};
use super::memory::{InputView, OutputView};
use super::plan::{CpuPlan, CpuSchedule, LoadPlan, VisitMode};
use super::store::BoundStore;
use super::strided::Strided;
use super::threads::for_ranges;
use super::tile_space::TileSpace;
use super::{CpuKernel, ThreadPool};
use crate::access::{BindError, BoundInput, BoundOutput, Offset, check, effective_strides, prefers_columns};
use passhost_ir::kernel::Store;
use passhost_ir::numel;

/// A kernel with the storage it runs on.
#[derive(Debug)]
pub struct Bound<'a> {
    kernel: &'a CpuKernel,
    binding: Binding,
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
        Ok(Bound { kernel, binding: Binding::new(kernel, inputs, outputs)? })
    }

    /// Computes the outputs, on as many of `threads` as the work is worth.
    pub fn run(&mut self, threads: &dyn ThreadPool) {
        // SAFETY: whoever bound the storage promised that it can be used while this lives, and nobody else runs on it.
        unsafe { self.binding.run(self.kernel, threads) }
    }
}

/// How the loads and stores of a kernel find their elements in storage.
#[derive(Debug)]
pub(super) struct Binding {
    columns: bool,
    pub(super) loads: Vec<BoundLoad>,
    pub(super) stores: Vec<BoundStore<'static>>,
}

impl Binding {
    /// Checks storage. Nothing is read or written before [`Binding::run`].
    pub(super) fn new(
        kernel: &CpuKernel,
        inputs: &[BoundInput<'_>],
        outputs: &[BoundOutput],
    ) -> Result<Binding, BindError> {
        let reaches = check(kernel.kernel(), inputs, outputs)?;
        let plan = &kernel.plan;
        let columns = plan.columns.is_some() && (plan.tuning.always_columns || lies_in_columns(plan, inputs));
        let loads = plan.loads.iter().map(|load| {
            let input = &inputs[load.input];
            // SAFETY: `check` found the pointer aligned and the storage as long as the reach. The view is used in `run`
            // only, whose caller vouches that the storage can be read and is not written to.
            let view = unsafe { InputView::new(input.pointer, reaches[load.input], input.dtype) };
            let strides = effective_strides(input.shape, input.strides);
            let access = access(plan, load, input.shape, &strides, columns);
            BoundLoad { view, shape: input.shape.to_vec(), strides, access }
        });
        let stores = kernel.kernel().stores.iter().zip(outputs).map(|(store, output)| {
            let dtype = kernel.kernel().body[store.value.0 as usize].dtype;
            // SAFETY: `check` found the pointer aligned and the size that of the elements. The view is used in `run` only,
            // whose caller vouches that nobody else accesses the storage.
            let view = unsafe { OutputView::new(output.pointer, numel(&store.shape) as usize, dtype) };
            bound_store(plan, store, view, columns)
        });
        Ok(Binding { columns, loads: loads.collect(), stores: stores.collect() })
    }

    /// Computes the outputs of the kernel that this was made for.
    ///
    /// # Safety
    /// Until this returns, each input's storage can be read and is written to by nobody, and each output's can be written
    /// and is accessed by nobody else.
    pub(super) unsafe fn run(&mut self, kernel: &CpuKernel, threads: &dyn ThreadPool) {
        let plan = &kernel.plan;
        if plan.rows == 0 || plan.length == 0 {
            return;
        }
        let schedule = plan.columns.as_ref().filter(|_| self.columns).unwrap_or(&plan.schedule);
        let space = TileSpace {
            isa: kernel.isa,
            plan,
            schedule,
            walks: &kernel.walks,
            loads: &self.loads,
            stores: &self.stores,
        };
        let (per_tile, rows) = (schedule.rows_per_tile(), plan.rows as usize);
        let tiles = rows.div_ceil(per_tile);
        let work = (plan.rows as u64).saturating_mul(plan.length as u64).saturating_mul(plan.cost.max(1));
        let grain = if work < plan.tuning.parallel_cost { tiles } else { (tiles / (threads.count() * 8)).max(1) };
        let arenas = kernel.arenas(self.columns);
        for_ranges(threads, tiles, grain, || {
            let mut arena = arenas.lend(|| BlockBuffers::new(plan, schedule));
            let space = &space;
            move |from, to| {
                for tile in from..to {
                    let first = tile * per_tile;
                    // SAFETY: tiles are disjoint sets of rows, `for_ranges` gives each to one thread, and the caller
                    // keeps everyone else away from these outputs.
                    unsafe { space.run_tile(&mut arena, first as i64, per_tile.min(rows - first)) };
                }
            }
        });
    }
}

/// Extents and changes along the axes of the load's or store's domain, outermost first.
fn domain_axes<'a>(plan: &'a CpuPlan, over_inner: bool, slopes: &'a [i64]) -> impl Iterator<Item = (i64, i64)> + 'a {
    let inner = if over_inner { plan.inner_axes.as_slice() } else { &[] };
    plan.row_axes.iter().chain(inner).map(|axis| (plan.extents[*axis], slopes[*axis]))
}

/// [`LoadAccess::Blocks`] over as many of the innermost axes as possible, if that is worth it.
fn blocks(plan: &CpuPlan, load: &LoadPlan, shape: &[i64], strides: &[i64], domain: &[usize]) -> Option<LoadAccess> {
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
    Some(LoadAccess::Blocks { points, offsets: Strided::new(0, axes) })
}

fn access(plan: &CpuPlan, load: &LoadPlan, shape: &[i64], strides: &[i64], columns: bool) -> LoadAccess {
    let over_inner = load.inner && !columns;
    if let Some(Offset { base, slopes }) = plain_offset(plan, load, strides) {
        let fixed = load.inner && columns;
        let inner = if fixed { plan.inner_axes.iter().map(|axis| slopes[*axis]).collect() } else { vec![] };
        return LoadAccess::Plain { offsets: Strided::new(base, domain_axes(plan, over_inner, &slopes)), inner };
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
            return LoadAccess::Runs { extent: plan.extents[*axis], slopes };
        }
    }
    LoadAccess::General
}

fn bound_store(plan: &CpuPlan, store: &Store, view: OutputView<'static>, columns: bool) -> BoundStore<'static> {
    let Offset { slopes, .. } = Offset::of_store(&store.order, &plan.extents);
    let over_inner =
        !plan.inner_axes.is_empty() && plan.inner_axes.iter().all(|axis| store.order.contains(&(*axis as u32)));
    let fixed = over_inner && columns;
    let inner = if fixed { plan.inner_axes.iter().map(|axis| slopes[*axis]).collect() } else { vec![] };
    BoundStore { view, offsets: Strided::new(0, domain_axes(plan, over_inner && !columns, &slopes)), inner }
}

/// The offset of a load whose indices are all affine and in bounds everywhere.
fn plain_offset(plan: &CpuPlan, load: &LoadPlan, strides: &[i64]) -> Option<Offset> {
    if load.plain { Offset::of_load(&plan.forms, &load.index, strides, &plan.extents) } else { None }
}

/// Whether most inputs lie in memory such that neighbouring rows, not neighbouring inner points, are side by side.
fn lies_in_columns(plan: &CpuPlan, inputs: &[BoundInput<'_>]) -> bool {
    let last = |axes: &[usize]| axes.iter().rfind(|axis| plan.extents[**axis] > 1).copied();
    let (Some(row), Some(inner)) = (last(&plan.row_axes), last(&plan.inner_axes)) else { return false };
    if plan.extents[row] < 16 {
        return false;
    }
    let offsets: Vec<Offset> = plan
        .loads
        .iter()
        .filter(|load| load.inner)
        .filter_map(|load| {
            let input = &inputs[load.input];
            plain_offset(plan, load, &effective_strides(input.shape, input.strides))
        })
        .collect();
    prefers_columns(offsets.iter().map(|offset| (offset.slopes.as_slice(), 1)), row, inner)
}

impl CpuSchedule {
    /// Rows that a tile has at most.
    pub(super) fn rows_per_tile(&self) -> usize {
        match self.mode {
            VisitMode::Tiles(rows) | VisitMode::Columns(rows) => rows,
            VisitMode::Chunks(_) => 1,
        }
    }
}
