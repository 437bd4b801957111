//! Sums of products, tile by tile.

use super::index::number_type;
use super::work::LaneWork;
use super::{CudaEmitter, IndexContext, LANE, count, lanes, of};
use crate::cuda::claims::Claims;
use crate::cuda::contraction::{Contraction, Factor, THREADS, pitch};
use crate::cuda::loops::{
    BLOCK, CudaType, Expression, LoopRange, MemorySpace, SHARED, THREAD, ThreadStep, Unroll, Variable, binary, number,
};
use crate::cuda::schedule::{Schedule, ScheduleForm};
use crate::cuda::space::{AxisDomain, MemoryAccess};
use crate::cuda::types::storage;
use passhost_ir::Dtype;
use passhost_ir::kernel::Reg;
use passhost_ir::kernel::effort::cost;

/// Which matrix of sums a block has a tile of.
const BATCH: Variable = Variable::named("batch");
/// The number of a tile of terms.
const STEP: Variable = Variable::named("step");
/// Some neighbouring elements that a thread reads, and the number of these among all of a tile.
const PIECE: Variable = Variable::named("t");
const NUMBER: Variable = Variable::named("e");
/// Whether a product counts, for each lane.
const COUNTS: Variable = Variable::named("counts");

/// The numbers of the row and the term.
const P: Variable = Variable::named("p");
const R: Variable = Variable::named("r");

/// Operations up to which the pieces of a thread are written one behind the other, so that what it reads stays in registers.
/// More would take long to compile.
const MOST_UNROLLED: u64 = 1 << 14;

/// Where the tile begins along a side.
fn corner(side: usize) -> Variable {
    Variable::of("corner", side as u32)
}

/// A factor's tiles.
fn tile(factor: usize) -> Variable {
    Variable::of("tile", factor as u32)
}

/// What a thread has read of a factor.
fn read(factor: usize) -> Variable {
    Variable::of("f", factor as u32)
}

fn below(at: impl Into<Expression>, end: u64) -> Expression {
    binary("<", at, number(end, "u32"))
}

fn defined(name: Variable, value: Expression) -> ThreadStep {
    ThreadStep::Let("u32".into(), vec![(name, value)])
}

/// What a function of `matrices.cu` gives, a template of these.
fn template(name: &'static str, of: Vec<Expression>, arguments: Vec<Expression>) -> ThreadStep {
    ThreadStep::Call(Expression::Call(name, of, arguments))
}

impl CudaEmitter<'_> {
    /// A block computes a tile of sums, then what comes behind them.
    pub(super) fn contracted(&mut self, contraction: &Contraction) {
        self.tiles(contraction);
        let steps = contraction.terms.div_ceil(contraction.tile.terms.into());
        // The tiles of a step are read while those of the step before are multiplied.
        let is_read = || Some(below(STEP, steps));
        self.each(count("u32", STEP.stem, 0..steps + 1, None), |this| {
            this.when(is_read(), |this| this.fetch(contraction));
            this.when(Some(binary(">", STEP, 0)), |this| this.multiply(contraction));
            this.when(is_read(), |this| this.put(contraction));
            this.steps.push(ThreadStep::Barrier);
        });
        self.gather(contraction);
        if contraction.inside.is_some() {
            self.one_by_one(contraction);
        }
        self.results(contraction);
    }

    /// Where the tile of a block lies, its memory and its sums.
    fn tiles(&mut self, contraction: &Contraction) {
        let [rows, columns] = contraction.tiles();
        let count = |tiles: u64| number(tiles, "u32");
        let [height, width] = contraction.tile.sides;
        self.define("u32", corner(0), BLOCK / count(columns) % count(rows) * height);
        self.define("u32", corner(1), BLOCK % count(columns) * width);
        self.define("u32", BATCH, BLOCK / count(rows * columns));
        let (mut byte, [element, sum]) = (0, contraction.types);
        for factor in 0..2 {
            let pointer = CudaType::Pointer(storage(element));
            self.begin(pointer, tile(factor), &[], (SHARED + byte).cast(pointer));
            byte += 2 * contraction.elements(factor) * element.size();
            let Factor { lanes, .. } = contraction.factors[factor];
            let pieces = self.pieces(contraction, factor);
            self.declare(MemorySpace::Aligned, storage(element), read(factor), &[pieces, lanes.into()]);
        }
        let [high, wide] = contraction.tile.part().map(u64::from);
        let extents = if contraction.is_of_warps() { vec![high / 16, wide / 8, 4] } else { vec![high, wide] };
        self.begin(storage(sum), of("acc", contraction.reduce), &extents, Expression::List(None, vec![]));
    }

    /// How many pieces of a factor's tile a thread reads.
    fn pieces(&self, contraction: &Contraction, factor: usize) -> u64 {
        let elements = contraction.tile.sides[factor] * contraction.tile.terms;
        u64::from(elements / contraction.factors[factor].lanes / THREADS)
    }

    /// The pieces of a thread, for each lane of which it computes some values.
    fn pieces_of(&self, pieces: u64, width: u32, insts: &[Reg]) -> LoopRange {
        let indices = self.of.kernel.index.len() as u64;
        let operations = insts.iter().map(|reg| cost(self.of.op(*reg))).sum::<u64>() + indices;
        let is_short = pieces * u64::from(width) * operations <= MOST_UNROLLED;
        count("u32", PIECE.stem, 0..pieces, Some(if is_short { Unroll::All } else { Unroll::By(1) }))
    }

    /// The number of a piece, and where it begins in a tile, along its side and along the terms.
    fn piece(&self, contraction: &Contraction, factor: usize) -> (Expression, [Expression; 2]) {
        let Factor { by_terms, lanes, .. } = contraction.factors[factor];
        let along = if by_terms { contraction.tile.terms } else { contraction.tile.sides[factor] };
        let (across, along) = (NUMBER / (along / lanes), NUMBER % (along / lanes) * lanes);
        (PIECE * THREADS + THREAD, if by_terms { [across, along] } else { [along, across] })
    }

    /// Reads what a thread has of the tiles of a step.
    fn fetch(&mut self, contraction: &Contraction) {
        for factor in 0..2 {
            let Factor { element, insts, rows, side, by_terms, lanes: width } = &contraction.factors[factor];
            let guard = contraction.inside.filter(|(guarded, _)| *guarded == factor).map(|(_, inside)| inside);
            let terms = AxisDomain::new(self.of.kernel, self.schedule.points.axes.clone());
            let around = self.over(rows.clone(), terms, *by_terms, *width);
            let (piece, [at_side, at_term]) = self.piece(contraction, factor);
            let first = STEP * contraction.tile.terms;
            let range = self.pieces_of(self.pieces(contraction, factor), *width, insts);
            self.each(range, |this| {
                this.steps.push(defined(NUMBER, piece));
                let [row, term, inside] = ["m", "k", "in"].map(Variable::named);
                this.steps.push(defined(row, corner(factor) + at_side));
                this.steps.push(defined(term, first + at_term));
                let ty = number_type(rows.points());
                let row = if side.is_multiple_of(contraction.tile.sides[factor].into()) {
                    row.into()
                } else {
                    // Past the edge the first row is read, and what comes of it is stored nowhere.
                    below(row, *side).select(row, 0).group()
                };
                this.define(ty, P, BATCH * number(*side, ty) + row);
                let is_ragged = !contraction.terms.is_multiple_of(contraction.tile.terms.into());
                if is_ragged {
                    this.define("bool", inside, below(term, contraction.terms));
                }
                let term = if is_ragged { Expression::from(inside).select(term, 0) } else { term.into() };
                this.define(number_type(contraction.terms), R, term);
                let place = read(factor).at(PIECE).at(LANE);
                let mut keep = vec![(*element, place.clone())];
                if let Some(guard) = guard {
                    this.declare(MemorySpace::Registers, "bool", COUNTS, &[(*width).into()]);
                    keep.push((guard, COUNTS.at(LANE)));
                }
                this.work(&IndexContext::at(0), LaneWork { keep, ..LaneWork::new(insts) });
                let counts = is_ragged.then(|| inside.into()).into_iter().chain(guard.map(|_| COUNTS.at(LANE)));
                if let Some(counts) = counts.reduce(|a: Expression, b| binary("&&", a, b)) {
                    let counted = counts.select(place.clone(), Expression::Bits(contraction.types[0], 0));
                    this.steps.push(ThreadStep::Each(lanes(*width), Box::new(ThreadStep::Assign(place, counted))));
                }
            });
            self.back(around);
        }
    }

    /// Puts what a thread has read where all threads of the block find it.
    fn put(&mut self, contraction: &Contraction) {
        for factor in 0..2 {
            let Factor { by_terms, lanes: width, .. } = contraction.factors[factor];
            let (piece, [at_side, at_term]) = self.piece(contraction, factor);
            let (pitch, by_terms_there) = (contraction.pitch(factor), contraction.lies_by_terms(factor));
            let to = tile(factor) + STEP % 2 * contraction.elements(factor);
            let place =
                if by_terms_there { at_side.group() * pitch + at_term } else { at_term.group() * pitch + at_side };
            self.each(self.pieces_of(self.pieces(contraction, factor), 1, &[]), |this| {
                this.steps.push(defined(NUMBER, piece));
                let from = read(factor).at(PIECE);
                this.steps.push(if by_terms == by_terms_there {
                    ThreadStep::Store(to + place, from)
                } else {
                    let to = (to + place + LANE * pitch).group().at(0);
                    ThreadStep::Each(lanes(width), Box::new(ThreadStep::Assign(to, from.at(LANE))))
                });
            });
        }
    }

    /// Multiplies the tiles of the step before.
    fn multiply(&mut self, contraction: &Contraction) {
        let ([rows, columns], terms) = (contraction.tile.sides, contraction.tile.terms);
        let [high, wide] = contraction.tile.parts;
        let tiles = [0, 1].map(|factor| tile(factor) + (STEP + 1).group() % 2 * contraction.elements(factor));
        let arguments = [of("acc", contraction.reduce).into()].into_iter().chain(tiles).collect();
        self.steps.push(if contraction.is_of_warps() {
            let lies = [0, 1].map(|factor| Expression::Bits(Dtype::Bool, contraction.lies_by_terms(factor).into()));
            let of = [rows, columns, terms, high, wide].map(Expression::from).into_iter().chain(lies);
            template("multiply_halves", of.collect(), arguments)
        } else {
            template("multiply_tile", [rows, columns, terms].map(Expression::from).to_vec(), arguments)
        });
    }

    /// Brings sums to where the threads find them that go on with them.
    fn gather(&mut self, contraction: &Contraction) {
        let ([rows, columns], [high, wide]) = (contraction.tile.sides, contraction.tile.parts);
        let pointer = CudaType::Pointer(storage(contraction.types[1]));
        let sums = of("sums", contraction.reduce);
        self.begin(pointer, sums, &[], Expression::from(SHARED).cast(pointer));
        let arguments = vec![sums.into(), of("acc", contraction.reduce).into()];
        self.steps.push(if contraction.is_of_warps() {
            template("gather_halves", [rows, columns, high, wide].map(Expression::from).to_vec(), arguments)
        } else {
            template("gather_tile", [rows, columns].map(Expression::from).to_vec(), arguments)
        });
    }

    /// The element of the tile of sums at a place.
    fn sum_at(&self, contraction: &Contraction, row: Expression, column: Expression) -> Expression {
        let pitch = pitch(contraction.tile.sides[1], contraction.types[1]);
        of("sums", contraction.reduce) + row * pitch + column
    }

    /// Steps for some neighbouring sums, if they are of the matrix: `e` is their number, `row` and `column` say where they
    /// lie in the tile.
    fn sum(&mut self, contraction: &Contraction, width: u32, write: impl FnOnce(&mut Self)) {
        let [height, wide] = contraction.tile.sides;
        let [row, column, m, n] = ["row", "column", "m", "n"].map(Variable::named);
        let [rows, columns] = contraction.factors.each_ref().map(|factor| factor.side);
        self.steps.push(defined(NUMBER, PIECE * THREADS + THREAD));
        self.steps.push(defined(row, NUMBER / (wide / width)));
        self.steps.push(defined(column, NUMBER % (wide / width) * width));
        self.steps.push(defined(m, corner(0) + row));
        self.steps.push(defined(n, corner(1) + column));
        let is_whole = |side: u64, of: u32| side.is_multiple_of(of.into());
        let edges = [(m, rows, height), (n, columns, wide)].into_iter().filter(|(_, side, of)| !is_whole(*side, *of));
        let inside = edges.map(|(at, side, _)| below(at, side)).reduce(|a, b| binary("&&", a, b));
        self.when(inside, |this| {
            let ty = number_type(this.schedule.rows.points());
            let row = (BATCH * number(rows, ty) + m).group();
            this.define(ty, P, row * number(columns, ty) + n);
            write(this);
        });
    }

    /// Where a sum is NaN, adds up its products one after the other, without those that do not count: zero times an infinite
    /// factor is NaN.
    fn one_by_one(&mut self, contraction: &Contraction) {
        let reduce = contraction.reduce;
        let insts = self.of.closure(self.of.op(reduce).operands());
        let terms = self.schedule.points.clone();
        let around = self.over(contraction.rows(self.of.kernel), terms, false, 1);
        let pieces = u64::from(contraction.tile.sides.iter().product::<u32>() / THREADS);
        self.each(count("u32", PIECE.stem, 0..pieces, None), |this| {
            this.sum(contraction, 1, |this| {
                let [row, column] = ["row", "column"].map(Variable::named);
                let place = this.sum_at(contraction, row.into(), column.into()).group().at(0);
                this.when(Some(binary("!=", place.clone(), place.clone())), |this| {
                    let (ty, terms) = (storage(contraction.types[1]), contraction.terms);
                    this.begin(ty, of("acc", reduce), &[1], Expression::List(None, vec![]));
                    this.each(count(number_type(terms), R.stem, 0..terms, None), |this| {
                        this.work(&IndexContext::at(0), LaneWork { reduces: &[reduce], ..LaneWork::new(&insts) });
                    });
                    this.assign(place, of("acc", reduce).at(0));
                });
            });
        });
        self.steps.push(ThreadStep::Barrier);
        self.back(around);
    }

    /// Computes and stores what comes behind the sums.
    fn results(&mut self, contraction: &Contraction) {
        let (kernel, reduce, [height, wide]) = (self.of.kernel, contraction.reduce, contraction.tile.sides);
        let insts = self.of.closure(kernel.stores.iter().map(|store| store.value).collect());
        let stores: Vec<usize> = (0..kernel.stores.len()).collect();
        let (rows, terms) = (contraction.rows(kernel), self.schedule.points.clone());
        let loads = insts.iter().filter_map(|reg| self.of.load_access(*reg));
        let accesses: Vec<MemoryAccess> =
            loads.chain(stores.iter().map(|store| self.of.store_access(*store))).collect();
        let mut width = self.of.widest(&accesses, &rows, &AxisDomain::default());
        let fits = |width: u32| {
            contraction.factors[1].side.is_multiple_of(width.into()) && (height * wide / width).is_multiple_of(THREADS)
        };
        while !fits(width) {
            width /= 2;
        }
        let around = self.over(rows, terms, false, width);
        let range = self.pieces_of(u64::from(height * wide / width / THREADS), width, &insts);
        self.each(range, |this| {
            this.sum(contraction, width, |this| {
                let sum = of("sum", reduce);
                this.declare(MemorySpace::Aligned, storage(contraction.types[1]), sum, &[width.into()]);
                let [row, column] = ["row", "column"].map(Variable::named);
                let from = this.sum_at(contraction, row.into(), column.into());
                this.steps.push(ThreadStep::Load(sum.into(), from, None));
                this.work(&IndexContext::at(0), LaneWork { stores: &stores, ..LaneWork::new(&insts) });
            });
        });
        self.back(around);
    }

    /// Goes on over other rows and points, with so many lanes along one of them. Returns what was before.
    fn over(&mut self, rows: AxisDomain, points: AxisDomain, by_points: bool, lanes: u32) -> Schedule {
        let form = if by_points {
            ScheduleForm::Rows { threads: 1, rows: 1, lanes, turns: 1, kept: false }
        } else {
            ScheduleForm::Columns { wide: THREADS, deep: 1, lanes }
        };
        let schedule = Schedule { contraction: None, ..Schedule::whole(form, rows, points) };
        self.claims.push(Claims::everywhere(&schedule));
        let before = std::mem::replace(&mut self.schedule, schedule);
        self.shared = self.shared_values();
        before
    }

    fn back(&mut self, before: Schedule) {
        self.schedule = before;
        self.shared = self.shared_values();
    }
}
