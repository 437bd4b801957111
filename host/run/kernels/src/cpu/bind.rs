//! A kernel with storage: where each load and store finds its elements there.

use super::arena::Arena;
use super::contraction::ContractionPlan;
use super::domain::Domain;
use super::exec::Execution;
use super::load::{Access, BoundLoad, Guard};
use super::memory::{InputView, OutputView};
use super::plan::{CpuPlan, LoadPlan};
use super::store::BoundStore;
use super::threads::share;
use super::{CpuKernel, ThreadPool};
use crate::access::{BindError, BoundInput, BoundOutput, Offset, check, effective_strides, prefers_columns};
use passhost_ir::numel;

/// How the loads and stores of a kernel find their elements in storage.
#[derive(Debug)]
pub(super) struct Binding {
    columns: bool,
    pub(super) inputs: Vec<InputView>,
    pub(super) loads: Vec<BoundLoad>,
    pub(super) positions: Vec<Access>,
    pub(super) stores: Vec<BoundStore>,
    /// Of each input.
    pub(super) strides: Vec<Vec<i64>>,
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
        let strides: Vec<Vec<i64>> = inputs.iter().map(|input| effective_strides(input.shape, input.strides)).collect();
        let offsets: Vec<Vec<Offset>> = plan.loads.iter().map(|load| piece_offsets(plan, load, &strides)).collect();
        let columns = plan.contraction.is_some()
            || plan.columns.is_some() && (plan.tuning.always_columns || lies_in_columns(plan, &offsets));
        let domain = Domain::new(plan, columns, &offsets);
        let load = |(load, offsets): (&LoadPlan, &Vec<Offset>)| BoundLoad {
            pieces: load
                .pieces
                .iter()
                .zip(offsets)
                .map(|(piece, offset)| (piece.input, domain.access(offset, Some(&piece.limits), load.point)))
                .collect(),
            guards: load
                .guarded
                .iter()
                .map(|dim| {
                    let input = load.pieces[0].input;
                    Guard { size: inputs[input].shape[*dim], stride: strides[input][*dim] }
                })
                .collect(),
            pad: load.pad,
            covered: load.covers(&plan.extents),
            size: load.size,
        };
        let stores = kernel.kernel().stores.iter().zip(outputs).map(|(store, output)| {
            let size = kernel.kernel().body[store.value.0 as usize].dtype.size() as usize;
            let point = store.order.len() == plan.extents.len();
            // SAFETY: `check` found the pointer aligned and the size that of the elements. The view is used in `run` only,
            // whose caller vouches that nobody else accesses the storage.
            let view = unsafe { OutputView::new(output.pointer, numel(&store.shape) as usize * size) };
            BoundStore {
                view,
                access: domain.access(&Offset::of_store(&store.order, &plan.extents), None, point),
                size,
            }
        });
        let positions = plan.positions.iter().map(|(id, point)| {
            let affine = plan.forms[id.0 as usize].affine.as_ref();
            let offset = affine.map(|form| Offset { base: form.constant, slopes: form.slopes.clone() });
            domain.access(&offset.unwrap_or(Offset { base: 0, slopes: vec![0; plan.extents.len()] }), None, *point)
        });
        let views = inputs.iter().zip(&reaches).map(|(input, reach)| {
            // SAFETY: `check` found the pointer aligned and the storage as long as the reach. The view is used in `run`
            // only, whose caller vouches that the storage can be read and is not written to.
            unsafe { InputView::new(input.pointer, reach * input.dtype.size() as usize) }
        });
        Ok(Binding {
            columns,
            inputs: views.collect(),
            positions: positions.collect(),
            stores: stores.collect(),
            loads: plan.loads.iter().zip(&offsets).map(load).collect(),
            strides,
        })
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
        let execution = Execution { isa: kernel.isa, plan, schedule, binding: self };
        let (per_tile, rows) = (schedule.tile_rows, plan.rows as usize);
        let contraction = plan.contraction.as_ref();
        let tiles = contraction.map_or(rows.div_ceil(per_tile), ContractionPlan::tiles);
        let work = (plan.rows as u64).saturating_mul(plan.length as u64).saturating_mul(plan.cost.max(1));
        let grain = if work < plan.tuning.parallel_cost { tiles } else { (tiles / (threads.count() * 8)).max(1) };
        let arenas = kernel.arenas(self.columns);
        share(threads, tiles, grain, |tiles| {
            arenas.lend(
                || Arena::new(plan, schedule),
                |arena| {
                    execution.run_once(arena);
                    for tile in tiles {
                        if let Some(contraction) = contraction {
                            // SAFETY: tiles are disjoint sets of rows, as below.
                            unsafe { execution.run_sums(arena, contraction, tile) };
                            continue;
                        }
                        let first = tile * per_tile;
                        // SAFETY: tiles are disjoint sets of rows, `share` gives each to one thread, and the caller keeps
                        // everyone else away from these outputs.
                        unsafe { execution.run_tile(arena, first as i64, per_tile.min(rows - first)) };
                    }
                },
            );
        });
    }
}

/// Where the affine part of each piece of a load lies.
fn piece_offsets(plan: &CpuPlan, load: &LoadPlan, strides: &[Vec<i64>]) -> Vec<Offset> {
    let of = |piece: &super::plan::PiecePlan| {
        let (mut base, mut slopes) = (0i64, vec![0i64; plan.extents.len()]);
        for (dim, id) in &piece.affine {
            let (Some(form), stride) = (&plan.forms[id.0 as usize].affine, strides[piece.input][*dim]) else {
                continue;
            };
            base = base.wrapping_add(form.constant.wrapping_mul(stride));
            for (total, slope) in slopes.iter_mut().zip(&form.slopes) {
                *total = total.wrapping_add(slope.wrapping_mul(stride));
            }
        }
        // An axis with one position changes nothing.
        for (slope, extent) in slopes.iter_mut().zip(&plan.extents) {
            *slope = if *extent > 1 { *slope } else { 0 };
        }
        Offset { base, slopes }
    };
    load.pieces.iter().map(of).collect()
}

/// Whether most inputs lie in memory such that neighbouring rows, not neighbouring inner points, are side by side.
fn lies_in_columns(plan: &CpuPlan, offsets: &[Vec<Offset>]) -> bool {
    let last = |axes: &[usize]| axes.iter().rfind(|axis| plan.extents[**axis] > 1).copied();
    let (Some(row), Some(inner)) = (last(&plan.row_axes), last(&plan.inner_axes)) else { return false };
    if plan.extents[row] < 16 {
        return false;
    }
    let plain = plan.loads.iter().zip(offsets).filter(|(load, _)| load.point && load.guarded.is_empty());
    let weighted = plain.map(|(_, offsets)| {
        let slopes = offsets[0].slopes.as_slice();
        let elements = slopes.iter().zip(&plan.extents).filter(|(slope, _)| **slope != 0).map(|(_, extent)| *extent);
        (slopes, elements.product::<i64>() as u64)
    });
    prefers_columns(weighted, row, inner)
}
