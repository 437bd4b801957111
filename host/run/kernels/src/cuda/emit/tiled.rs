//! Maps whose inputs are read along other neighbours than those of their outputs.

use super::index::{bound, number_type};
use super::work::LaneWork;
use super::{CudaEmitter, IndexContext};
use crate::cuda::claims::ClaimAccess;
use crate::cuda::space::Address;
use crate::cuda::text::{from_storage, storage};
use crate::cuda::tiles::{Tiles, WARPS};
use passhost_ir::kernel::{Op, Reg};

impl CudaEmitter<'_> {
    /// A block takes a square of points, computes them and brings them by way of shared memory to where they belong.
    pub(super) fn tiled_map(&mut self, tiles: &Tiles) {
        let ty = self.corner(tiles);
        if tiles.transposed.is_empty() { self.tiled(tiles, ty) } else { self.transposed(tiles, ty) }
    }

    /// Where the square of a block begins, and the type of the numbers of points.
    fn corner(&mut self, tiles: &Tiles) -> &'static str {
        let (side, (along, across)) = (tiles.side(), tiles.counts());
        let ty = number_type(self.schedule.rows.points());
        let number = |value: i64| bound(value.unsigned_abs(), ty);
        self.text.line("const u32 column = threadIdx.x % 32, first = threadIdx.x / 32;");
        self.text.line(format_args!("const u32 a0 = blockIdx.x % {along}u * {side};"));
        self.text.line(format_args!("const u32 b0 = blockIdx.x / {along}u % {across}u * {side};"));
        self.text.line(format_args!("const {ty} rest = blockIdx.x / {}u;", along * across));
        // The number of the point at the beginning of both sides.
        let (between, outer) = (tiles.between(), tiles.inner * tiles.across);
        self.text.line(format_args!(
            "const {ty} corner = rest / {0} * {1} + rest % {0} * {2};",
            number(between),
            number(outer),
            number(tiles.along)
        ));
        ty
    }

    /// Reads elements into shared memory, then computes points along the outputs' neighbours.
    fn tiled(&mut self, tiles: &Tiles, ty: &str) {
        let side = tiles.side();
        let number = |value: i64| bound(value.unsigned_abs(), ty);
        self.read_ahead(tiles);
        self.text.line("__syncthreads();");
        self.text.line("#pragma unroll 4");
        let (lanes, pair) = (tiles.lanes, tiles.pair);
        self.text.open(format_args!("for (u32 n = 0; n < {}; ++n)", side / i64::from(WARPS) / i64::from(pair)));
        if pair > 1 {
            self.pairs(tiles);
        }
        let b = if pair > 1 { format!("(first + n * {WARPS}) * {pair} + h") } else { format!("first + n * {WARPS}") };
        self.text.line(format_args!("const u32 a = a0 + column * {lanes}, b = b0 + {b};"));
        self.text.open(format_args!("if (a < {}u && b < {}u)", tiles.along, tiles.across));
        self.text.line(format_args!("const {ty} p = corner + b * {} + a;", number(tiles.inner)));
        for load in &tiles.loads {
            let place = match pair {
                1 => format!("tile{}[(column * {lanes} + v) * {} + {b}]", load.reg.0, tiles.pitch()),
                _ => format!("pairs{}[v][h]", load.reg.0),
            };
            let element = from_storage(self.dtype(load.reg), &place);
            self.names.insert(load.reg, format!("({element})"));
        }
        let passes = self.passes;
        let context = IndexContext { row: "p".into(), point: "r".into() };
        for pass in &passes.list {
            let insts: Vec<_> = pass.row.iter().copied().filter(|reg| !tiles.has(*reg)).collect();
            let stores = &pass.row_stores;
            self.work(
                &context,
                LaneWork { insts: &insts, reduces: &[], stores, keep: vec![], store_if: None, sums: "v" },
            );
        }
        self.text.close();
        self.text.close();
        if pair > 1 {
            self.text.close();
        }
    }

    /// Computes points along the inputs' neighbours into shared memory, then writes them along the outputs'.
    fn transposed(&mut self, tiles: &Tiles, ty: &str) {
        let (turns, pitch) = (tiles.side() / i64::from(WARPS), tiles.pitch());
        let turn = format!("first + n * {WARPS}");
        let values: Vec<Reg> = self.kernel.stores.iter().map(|store| store.value).collect();
        for (store, value) in values.iter().enumerate() {
            let (element, place) = (storage(self.dtype(*value)), tiles.place(store));
            self.text.line(format_args!("{element} *tile{store} = ({element} *)(shared + {place});"));
        }
        let passes = self.passes;
        let context = IndexContext { row: "p".into(), point: "r".into() };
        self.tile(tiles, ty, turns, (&turn, "column"));
        for pass in &passes.list {
            let stored = |store: usize| (values[store], format!("tile{store}[({turn}) * {pitch} + column]"));
            let keep = pass.row_stores.iter().map(|store| stored(*store)).collect();
            self.work(
                &context,
                LaneWork { insts: &pass.row, reduces: &[], stores: &[], keep, store_if: None, sums: "v" },
            );
        }
        self.text.close();
        self.text.close();
        self.text.line("__syncthreads();");
        self.tile(tiles, ty, turns, ("column", &turn));
        for store in 0..values.len() {
            let offset = self.store_offset(store, &context);
            self.text.line(format_args!("y{store}[{offset}] = tile{store}[column * {pitch} + {turn}];"));
        }
        self.text.close();
        self.text.close();
    }

    /// Opens a loop over the turns of a thread in which it takes the points of a square at these places along its sides.
    fn tile(&mut self, tiles: &Tiles, ty: &str, turns: i64, (a, b): (&str, &str)) {
        self.text.line("#pragma unroll");
        self.text.open(format_args!("for (u32 n = 0; n < {turns}; ++n)"));
        self.text.line(format_args!("const u32 a = a0 + {a}, b = b0 + {b};"));
        self.text.open(format_args!("if (a < {}u && b < {}u)", tiles.along, tiles.across));
        self.text.line(format_args!("const {ty} p = corner + b * {} + a;", bound(tiles.inner.unsigned_abs(), ty)));
    }

    /// Takes pairs of the inputs' neighbours out of shared memory, and opens a loop over the two.
    fn pairs(&mut self, tiles: &Tiles) {
        let (lanes, pair, pitch) = (tiles.lanes, tiles.pair, tiles.pitch());
        for load in &tiles.loads {
            let (number, ty) = (load.reg.0, storage(self.dtype(load.reg)));
            self.text.line(format_args!("__align__(16) {ty} pairs{number}[{lanes}][{pair}];"));
            self.text.line("#pragma unroll");
            self.text.line(format_args!(
                "for (int v = 0; v < {lanes}; ++v) read(pairs{number}[v], tile{number} + (column * {lanes} + v) * {pitch} + \
                 (first + n * {WARPS}) * {pair});"
            ));
        }
        self.text.line("#pragma unroll");
        self.text.open(format_args!("for (u32 h = 0; h < {pair}; ++h)"));
    }

    /// Reads the elements of a square, row by row of the inputs' neighbours.
    fn read_ahead(&mut self, tiles: &Tiles) {
        let (side, pair) = (tiles.side(), tiles.pair);
        let column = if pair > 1 { format!("column * {pair}") } else { "column".to_owned() };
        let corner = IndexContext { row: "corner".into(), point: "r".into() };
        for (position, load) in tiles.loads.iter().enumerate() {
            let (number, ty) = (load.reg.0, storage(self.dtype(load.reg)));
            self.text.line(format_args!("{ty} *tile{number} = ({ty} *)(shared + {});", tiles.place(position)));
            let (Address::Affine(offset), _) = self.load_lanes(load.reg, 1) else {
                unreachable!("only loads that are always inside are read ahead")
            };
            let text = self.offset(ClaimAccess::Load(load.reg), offset.base, &offset.slopes, &corner);
            self.text.line(format_args!(
                "const i64 from{number} = {text} + (i64)(a0 + first) * {}ll + (b0 + {column});",
                load.slope
            ));
        }
        self.text.line("#pragma unroll");
        self.text.open(format_args!("for (u32 n = 0; n < {}; ++n)", side / i64::from(WARPS)));
        self.text.line("#pragma unroll");
        self.text.open(format_args!("for (u32 l = 0; l < {}; ++l)", tiles.lanes / pair));
        self.text.open(format_args!(
            "if (a0 + first + n * {WARPS} < {}u && b0 + {column} + l * 32 < {}u)",
            tiles.along, tiles.across
        ));
        for load in &tiles.loads {
            let (number, step) = (load.reg.0, load.slope * i64::from(WARPS));
            let Op::Load { input, .. } = self.kernel.body[number as usize].op else { continue };
            let to = format!("(first + n * {WARPS}) * {} + {column} + l * 32", tiles.pitch());
            let from = format!("from{number} + n * {step}ll + l * 32");
            if pair > 1 {
                let ty = storage(self.dtype(load.reg));
                self.text.line(format_args!("copy<{pair}, {ty}>(tile{number} + {to}, x{input} + {from});"));
            } else {
                self.text.line(format_args!("tile{number}[{to}] = x{input}[{from}];"));
            }
        }
        self.text.close();
        self.text.close();
        self.text.close();
    }
}
