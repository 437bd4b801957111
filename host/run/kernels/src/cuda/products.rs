//! Which kernels are contractions, and by which tiles they are computed.

use super::chooser::Chooser;
use super::contraction::{Contraction, Factor, HIDDEN, OF_THREADS, OF_WARPGROUPS, OF_WARPS, SHARED_TERMS, SumTile};
use super::schedule::Schedule;
use super::space::{Address, AxisDomain, Lanes, MemoryAccess};
use crate::access::{AxisSet, axes_in_store_order};
use passhost_ir::Dtype;
use passhost_ir::kernel::effort::cost;
use passhost_ir::kernel::{Binary, IndexId, Op, ReduceOp, Reg, Scalar, limits};

/// The shortest side of a matrix of sums that is computed by tiles: others are no better than vectors.
const SHORTEST_SIDE: u64 = 4;
/// A sum of fewer terms is not computed by tiles.
const FEWEST_TERMS: u64 = 8;
/// Shared memory of the multiprocessors that multiply matrices as these kernels do: all of compute capability 8 and later
/// have so much, and none of before.
const SHARED_OF_TENSOR_CORES: u32 = 100 << 10;
/// Sides of the tiles of which there are to be enough.
const SHARED_SIDE: u64 = 32;
/// A distance that is not known.
const FAR: u64 = 1 << 40;

impl Chooser<'_> {
    /// The schedule of a kernel where nothing else is asked for.
    pub(super) fn schedule(&self) -> Schedule {
        self.by_tiles().into_iter().next().unwrap_or_else(|| self.choose())
    }

    /// The schedules of a contraction by all tiles that it may be computed by: each adds up a sum in the same order.
    pub(super) fn by_tiles(&self) -> Vec<Schedule> {
        self.contractions().into_iter().map(|contraction| self.contracted(contraction)).collect()
    }

    fn contracted(&self, contraction: Contraction) -> Schedule {
        Schedule::contracted(contraction.rows(self.kernel), self.terms(), contraction)
    }

    /// The axes of the terms, outermost first: these are added up in the kernel's order.
    fn terms(&self) -> AxisDomain {
        let parallel = self.kernel.parallel.len();
        AxisDomain::new(self.kernel, (parallel..parallel + self.kernel.reduce.len()).collect())
    }

    /// The tiles that a kernel may be computed by, if it is a contraction and they are worth it: the fastest first.
    fn contractions(&self) -> Vec<Contraction> {
        let Some(mut products) = Products::of(self) else { return vec![] };
        let (kernel, parallel) = (self.kernel, self.kernel.parallel.len());
        let terms = self.terms();
        let follows = products.follows(self);
        let order = axes_in_store_order(kernel, |axis| axis < parallel && kernel.parallel[axis] != 1);
        let among = |wanted: [bool; 2]| -> Vec<usize> {
            let is_wanted = |axis: &usize| follows.map(|set| set >> axis & 1 != 0) == wanted;
            order.iter().copied().filter(is_wanted).collect()
        };
        let (batches, mut sides) = (among([true, true]), [among([true, false]), among([false, true])]);
        // Results lie along the second side.
        let mut guarded = 0;
        if order.last().is_some_and(|last| sides[0].contains(last)) {
            sides.swap(0, 1);
            products.factors.swap(0, 1);
            guarded = 1;
        }
        let inside = products.inside.map(|inside| (guarded, inside));
        let points = |axes: &[usize]| AxisDomain::new(kernel, axes.to_vec()).points();
        let lengths = [points(&sides[0]), points(&sides[1])];
        let is_small = points(&order).max(terms.points()) <= limits::TILED;
        let is_worth_it = lengths.iter().all(|side| *side >= SHORTEST_SIDE) && terms.points() >= FEWEST_TERMS;
        if !among([false, false]).is_empty() || !is_small || !is_worth_it {
            return vec![];
        }
        let factors = [0, 1].map(|at| {
            let rows = AxisDomain::new(kernel, [&batches[..], &sides[at][..]].concat());
            let guard = inside.filter(|(guarded, _)| *guarded == at).map(|(_, inside)| inside);
            self.factor((products.factors[at], guard), (rows, lengths[at]), &terms)
        });
        let matrices = points(&batches);
        let parts =
            if inside.is_none() { self.parts(&products, [matrices, lengths[0], lengths[1]], &terms) } else { 1 };
        let of_tile = |tile: &SumTile| {
            let (batches, terms) = (matrices, terms.points());
            let Products { reduce, types, .. } = products;
            // What is put into a block's memory at once are 16 bytes.
            let lanes = 16 / types[0].size() as u32;
            let factors = [0, 1].map(|at| factors[at].clone().in_tile(tile, at, lanes));
            Contraction { reduce, factors, inside, batches, terms, parts, types, tile: *tile }
        };
        let tiles = match products.types[0].size() {
            // What takes more than a share of a multiprocessor's memory is a launch of its own.
            2 if self.may_share => [&OF_WARPS[..], &OF_WARPGROUPS].concat(),
            2 => OF_WARPS.to_vec(),
            _ => OF_THREADS.to_vec(),
        };
        let mut fitting: Vec<Contraction> = tiles.iter().map(of_tile).collect();
        fitting.retain(|one| one.fits(self.device));
        fitting.sort_by_key(|one| one.cycles(self.device));
        fitting
    }

    /// How many blocks share the terms of a tile: as many as keep the device busy where there are few tiles. Those of tensor
    /// cores have all, for the order in which libraries add up. It is the same for all tiles: so is the order of a sum.
    fn parts(&self, products: &Products, [matrices, rows, columns]: [u64; 3], terms: &AxisDomain) -> u32 {
        if !self.may_share || products.types[0].size() == 2 {
            return 1;
        }
        let blocks = matrices * rows.div_ceil(SHARED_SIDE) * columns.div_ceil(SHARED_SIDE);
        let most = HIDDEN * u64::from(self.device.multiprocessors);
        let fits = |parts: &u32| {
            blocks * u64::from(*parts) <= most && terms.points().is_multiple_of(SHARED_TERMS * u64::from(*parts))
        };
        (1..=self.device.cluster_blocks.ilog2()).map(|power| 1 << power).rfind(fits).unwrap_or(1)
    }

    /// A factor, with the condition under which it counts, as the layout suggests to read it.
    fn factor(
        &self,
        (element, guard): (Reg, Option<Reg>),
        (rows, side): (AxisDomain, u64),
        terms: &AxisDomain,
    ) -> Factor {
        let insts = self.closure([element].into_iter().chain(guard).collect());
        let accesses: Vec<MemoryAccess> = insts.iter().filter_map(|reg| self.load_access(*reg)).collect();
        let is_one_side = |lanes: &u32| side.is_multiple_of(u64::from(*lanes));
        let by_rows =
            [8, 4, 2, 1].into_iter().filter(is_one_side).find(|lanes| *lanes <= self.widest(&accesses, &rows, terms));
        let [by_rows, by_terms] = [by_rows.unwrap_or(1), self.widest(&accesses, terms, &rows)];
        // Where nothing is read together, neighbouring threads read what lies closest, in the longest runs.
        let step = |along: &AxisDomain| accesses.iter().map(|access| self.step(access, along)).sum::<u64>();
        let run = |along: &AxisDomain| along.extents.iter().rev().find(|extent| **extent > 1).copied().unwrap_or(1);
        let is_closer = (step(terms), -run(terms)) <= (step(&rows), -run(&rows));
        let is_by_terms = by_terms > by_rows || by_terms == by_rows && is_closer;
        let lanes = if is_by_terms { by_terms } else { by_rows };
        let along = if is_by_terms { (terms, &rows) } else { (&rows, terms) };
        let is_run = |access: &MemoryAccess| {
            matches!(access.address, Address::Affine(_)) && self.common_along(along, access, lanes) == Lanes::Neighbours
        };
        let is_read = insts == [element] && accesses.iter().any(is_run);
        let operations = self.operations(&insts);
        Factor { element, insts, rows, side, by_terms: is_by_terms, lanes, operations, is_read }
    }

    /// What these values are made of, up to reductions, themselves included, in order.
    pub(super) fn closure(&self, roots: Vec<Reg>) -> Vec<Reg> {
        let (mut wanted, mut stack) = (vec![false; self.kernel.body.len()], roots);
        while let Some(reg) = stack.pop() {
            let is_new = !std::mem::replace(&mut wanted[reg.0 as usize], true);
            if is_new && !matches!(self.op(reg), Op::Reduce(..)) {
                stack.extend(self.analysis.reads(self.kernel, reg));
            }
        }
        let is_computed = |reg: &Reg| wanted[reg.0 as usize] && !matches!(self.op(*reg), Op::Reduce(..));
        (0..).map(Reg).take(wanted.len()).filter(is_computed).collect()
    }

    /// Operations of some values at a point, about, with what it takes to compute indices.
    pub(super) fn operations(&self, insts: &[Reg]) -> u64 {
        insts.iter().map(|reg| cost(self.op(*reg))).sum::<u64>() + self.kernel.index.len() as u64
    }

    /// How far elements of neighbouring points lie apart, as far as that is known.
    fn step(&self, access: &MemoryAccess, along: &AxisDomain) -> u64 {
        let Some(axis) = along.innermost() else { return 0 };
        match &access.address {
            Address::Affine(offset) => offset.slopes[axis].unsigned_abs(),
            Address::Indexed { index, strides } => {
                let slope = |(id, stride): (&IndexId, &i64)| {
                    let slope = self.analysis.forms[id.0 as usize].slopes[axis];
                    slope.map_or(FAR, |slope| slope.saturating_mul(*stride).unsigned_abs())
                };
                index.iter().zip(strides).map(slope).fold(0, u64::saturating_add).min(FAR)
            }
        }
    }
}

/// The only sum of a kernel, and what it adds up.
struct Products {
    reduce: Reg,
    factors: [Reg; 2],
    inside: Option<Reg>,
    /// Of the factors and of the sum.
    types: [Dtype; 2],
}

impl Products {
    fn of(chooser: &Chooser<'_>) -> Option<Products> {
        let [first, second] = &chooser.passes.list[..] else { return None };
        if chooser.scans() {
            return None;
        }
        let (&[reduce], true) = (&first.reduces[..], first.stores.is_empty() && second.stores.is_empty()) else {
            return None;
        };
        let Op::Reduce(ReduceOp::Sum, mut added) = *chooser.op(reduce) else { return None };
        let mut inside = None;
        if let Op::Select(condition, product, nothing) = *chooser.op(added) {
            let Op::Const(Scalar::Float(0.0)) = *chooser.op(nothing) else { return None };
            (inside, added) = (Some(condition), product);
        }
        let Op::Binary(Binary::Mul, a, b) = *chooser.op(added) else { return None };
        let sum = chooser.dtype(reduce);
        // A conversion to a type that holds all of another's values is made when they are multiplied.
        let narrow = [a, b].map(|factor| match *chooser.op(factor) {
            Op::Cast(from) => from,
            _ => factor,
        });
        let [one, other] = narrow.map(|factor| chooser.dtype(factor));
        let has_tensor_cores = chooser.device.shared_bytes_per_multiprocessor >= SHARED_OF_TENSOR_CORES;
        let is_multiplied = match (one, sum) {
            (Dtype::F16 | Dtype::Bf16, Dtype::F32) => has_tensor_cores,
            (Dtype::F32, Dtype::F64) => true,
            _ => false,
        };
        let factors = if one == other && is_multiplied { narrow } else { [a, b] };
        let types = [chooser.dtype(factors[0]), sum];
        if !matches!(sum, Dtype::F32 | Dtype::F64) || chooser.dtype(factors[1]) != types[0] {
            return None;
        }
        Some(Products { reduce, factors, inside, types })
    }

    /// The axes that both factors follow, the first one together with the condition: that is one of its own, if it can be.
    fn follows(&mut self, chooser: &Chooser<'_>) -> [AxisSet; 2] {
        let depends = |reg: Reg| chooser.analysis.depends[reg.0 as usize];
        let inside = self.inside.map_or(0, depends);
        if inside & !depends(self.factors[0]) != 0 && inside & !depends(self.factors[1]) == 0 {
            self.factors.swap(0, 1);
        }
        [depends(self.factors[0]) | inside, depends(self.factors[1])]
    }
}
