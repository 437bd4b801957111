//! Maps whose inputs are read along other neighbours than those of their outputs.

use super::index::number_type;
use super::work::LaneWork;
use super::{CudaEmitter, IndexContext, LANE, count, lanes, of};
use crate::cuda::claims::ClaimAccess;
use crate::cuda::loops::{
    BLOCK, CudaType, Expression, MemorySpace, SHARED, THREAD, ThreadStep, Unroll, Variable, binary, number,
};
use crate::cuda::space::Address;
use crate::cuda::tiles::{TiledLoad, Tiles, WARPS};
use crate::cuda::types::{from_storage, storage};
use passhost_ir::kernel::Reg;

/// Where a thread stands in a square: its lane in the warp, and the first row that it has of the square.
const COLUMN: Variable = Variable::named("column");
const FIRST: Variable = Variable::named("first");
/// Where the square begins along its two sides, and the number of the point there.
const A0: Variable = Variable::named("a0");
const B0: Variable = Variable::named("b0");
const CORNER: Variable = Variable::named("corner");

/// The row of a square that a thread has in iteration `n`.
fn warp_row() -> Expression {
    FIRST + Variable::named("n") * WARPS
}

/// Whether positions along the sides of a square are those of points.
fn inside(tiles: &Tiles, along: Expression, across: Expression) -> Expression {
    let below = |at: Expression, extent: i64| binary("<", at, number(extent, "u32"));
    binary("&&", below(along, tiles.along), below(across, tiles.across))
}

impl CudaEmitter<'_> {
    /// A block takes a square of points, computes them and brings them by way of shared memory to where they belong.
    pub(super) fn tiled_map(&mut self, tiles: &Tiles) {
        self.corner(tiles);
        if tiles.transposed.is_empty() { self.tiled(tiles) } else { self.transposed(tiles) }
    }

    /// Where the square of a block begins.
    fn corner(&mut self, tiles: &Tiles) {
        let (side, (along, across)) = (tiles.side(), tiles.counts());
        let ty = number_type(self.schedule.rows.points());
        let count = |squares: i64| number(squares, "u32");
        let rest = Variable::named("rest");
        let thread = vec![(COLUMN, THREAD % 32), (FIRST, THREAD / 32)];
        self.steps.push(ThreadStep::Let("u32".into(), thread));
        self.define("u32", A0, BLOCK % count(along) * side);
        self.define("u32", B0, BLOCK / count(along) % count(across) * side);
        self.define(ty, rest, BLOCK / count(along * across));
        let [between, outer, along] =
            [tiles.between(), tiles.inner * tiles.across, tiles.along].map(|points| number(points, ty));
        self.define(ty, CORNER, rest / between.clone() * outer + rest % between * along);
    }

    /// Reads elements into shared memory, then computes points along the outputs' neighbours.
    fn tiled(&mut self, tiles: &Tiles) {
        let (width, pair, passes) = (tiles.lanes, tiles.pair, self.of.passes);
        self.read_ahead(tiles);
        self.steps.push(ThreadStep::Barrier);
        let turns = tiles.side() / i64::from(WARPS) / i64::from(pair);
        let at = |b: Expression, this: &mut Self| {
            this.place(tiles, (COLUMN * width, b), |this| {
                for pass in &passes.list {
                    let insts: Vec<Reg> = pass.row.iter().copied().filter(|reg| !tiles.has(*reg)).collect();
                    let work = LaneWork { stores: &pass.row_stores, ..LaneWork::new(&insts) };
                    this.work(&IndexContext::at(0), work);
                }
            });
        };
        self.each(count("u32", "n", 0..turns.unsigned_abs(), Some(Unroll::By(4))), |this| {
            if pair == 1 {
                return at(warp_row(), this);
            }
            for load in &tiles.loads {
                let (pairs, ty) = (of("pairs", load.reg), storage(this.dtype(load.reg)));
                this.declare(MemorySpace::Aligned, ty, pairs, &[width.into(), pair.into()]);
                let from = of("tile", load.reg) + (COLUMN * width + LANE) * tiles.pitch() + warp_row() * pair;
                let read = ThreadStep::Load(pairs.at(LANE), from, None);
                this.steps.push(ThreadStep::Each(lanes(width), Box::new(read)));
            }
            this.each(count("u32", "h", 0..pair.into(), Some(Unroll::All)), |this| {
                at(warp_row() * pair + Variable::named("h"), this);
            });
        });
    }

    /// Where a value lies that was read ahead, for the point that is computed.
    pub(super) fn in_tile(&self, reg: Reg) -> Expression {
        let Some(tiles) = &self.schedule.tiles else { return of("v", reg).into() };
        let place = match tiles.pair {
            1 => of("tile", reg).at((COLUMN * tiles.lanes + LANE) * tiles.pitch() + warp_row()),
            _ => of("pairs", reg).at(LANE).at(Variable::named("h")),
        };
        from_storage(self.dtype(reg), place).group()
    }

    /// Computes points along the inputs' neighbours into shared memory, then writes them along the outputs'.
    fn transposed(&mut self, tiles: &Tiles) {
        let (turns, pitch, passes) = (tiles.side() / i64::from(WARPS), tiles.pitch(), self.of.passes);
        let values: Vec<Reg> = self.of.kernel.stores.iter().map(|store| store.value).collect();
        let tile = |store: usize| Variable::of("tile", store as u32);
        for (store, value) in values.iter().enumerate() {
            self.tile_at(tile(store), storage(self.dtype(*value)), tiles.place(store));
        }
        let range = || count("u32", "n", 0..turns.unsigned_abs(), Some(Unroll::All));
        self.each(range(), |this| {
            this.place(tiles, (warp_row(), COLUMN.into()), |this| {
                for pass in &passes.list {
                    let stored = |store: &usize| (values[*store], tile(*store).at(warp_row() * pitch + COLUMN));
                    let keep = pass.row_stores.iter().map(stored).collect();
                    this.work(&IndexContext::at(0), LaneWork { keep, ..LaneWork::new(&pass.row) });
                }
            });
        });
        self.steps.push(ThreadStep::Barrier);
        self.each(range(), |this| {
            this.place(tiles, (COLUMN.into(), warp_row()), |this| {
                for store in 0..values.len() {
                    let to = this.stored(store, &IndexContext::at(0));
                    this.assign(to, tile(store).at(COLUMN * pitch + warp_row()));
                }
            });
        });
    }

    /// Steps for the point at a place along the sides of the square, if there is one.
    fn place(&mut self, tiles: &Tiles, (a, b): (Expression, Expression), write: impl FnOnce(&mut Self)) {
        let ty = number_type(self.schedule.rows.points());
        let [along, across] = ["a", "b"].map(Variable::named);
        self.steps.push(ThreadStep::Let("u32".into(), vec![(along, A0 + a), (across, B0 + b)]));
        self.when(Some(inside(tiles, along.into(), across.into())), |this| {
            this.define(ty, Variable::named("p"), CORNER + across * number(tiles.inner, ty) + along);
            write(this);
        });
    }

    /// A tile in a block's memory.
    fn tile_at(&mut self, tile: Variable, ty: &'static str, place: u64) {
        let pointer = CudaType::Pointer(ty);
        self.begin(pointer, tile, &[], (SHARED + place).cast(pointer));
    }

    /// Reads the elements of a square, row by row of the inputs' neighbours.
    fn read_ahead(&mut self, tiles: &Tiles) {
        let (side, pair) = (tiles.side(), tiles.pair);
        let column = if pair > 1 { COLUMN * pair } else { COLUMN.into() };
        let corner = IndexContext { row: CORNER.into(), ..IndexContext::at(0) };
        for (position, load) in tiles.loads.iter().enumerate() {
            self.tile_at(of("tile", load.reg), storage(self.dtype(load.reg)), tiles.place(position));
            let Address::Affine(offset) = self.address(load.reg) else {
                unreachable!("only loads that are always inside are read ahead")
            };
            let at = self.offset(ClaimAccess::Load(load.reg), &offset, &corner);
            let along = (A0 + FIRST).cast("i64") * number(load.slope, "i64");
            self.define("i64", of("from", load.reg), at + along + (B0 + column.clone()).group());
        }
        let [n, l] = ["n", "l"].map(Variable::named);
        let rows = count("u32", "n", 0..side.unsigned_abs() / u64::from(WARPS), Some(Unroll::All));
        let columns = count("u32", "l", 0..(tiles.lanes / pair).into(), Some(Unroll::All));
        let inside = inside(tiles, A0 + warp_row(), B0 + column.clone() + l * 32);
        let read = |this: &mut Self, load: &TiledLoad| {
            let (tile, from) = (of("tile", load.reg), of("from", load.reg));
            let to = warp_row() * tiles.pitch() + column.clone() + l * 32;
            let step = number(load.slope * i64::from(WARPS), "i64");
            let from = from + n * step + l * 32;
            if pair > 1 {
                let ty = storage(this.dtype(load.reg));
                this.steps.push(ThreadStep::Copy(pair, ty, [tile + to, this.input(load.reg) + from]));
            } else {
                this.assign(tile.at(to), this.input(load.reg).at(from));
            }
        };
        self.each(rows, |this| {
            this.each(columns, |this| {
                this.when(Some(inside), |this| tiles.loads.iter().for_each(|load| read(this, load)));
            });
        });
    }
}
