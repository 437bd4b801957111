//! Sums of products, tile by tile.

use super::index::number_type;
use super::work::LaneWork;
use super::{CudaEmitter, IndexContext, LANE, count, lanes, of};
use crate::cuda::claims::{Claim, ClaimAccess, Claims};
use crate::cuda::contraction::{Contraction, Factor, PartOf, SHARED_TERMS, pitch};
use crate::cuda::loops::{
    BLOCK, CudaType, Expression, LoopRange, MemorySpace, SHARED, THREAD, ThreadStep, Unroll, Variable, binary, call,
    number,
};
use crate::cuda::schedule::{Schedule, ScheduleForm};
use crate::cuda::space::{AxisDomain, MemoryAccess};
use crate::cuda::types::storage;
use passhost_ir::Dtype;
use passhost_ir::kernel::Reg;

/// Which matrix of sums a block has a tile of.
const BATCH: Variable = Variable::named("batch");
/// The first row of those whose sums lie in a block's memory.
const FIRST: Variable = Variable::named("first");
/// The number of a tile of terms.
const STEP: Variable = Variable::named("step");
/// Which part of the terms a block has.
const PART: Variable = Variable::named("share");
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
        if contraction.is_copied() {
            self.copied(contraction)
        } else {
            self.fetched(contraction)
        }
        let (rows, at_a_time) = (contraction.tile.sides[0], contraction.rows_at_a_time());
        if contraction.parts > 1 {
            return self.finish_together(contraction);
        }
        if at_a_time == rows {
            return self.finish(contraction, None);
        }
        self.each(count("u32", "part", 0..u64::from(rows / at_a_time), None), |this| {
            this.steps.push(defined(FIRST, Variable::named("part") * at_a_time));
            this.finish(contraction, Some(FIRST));
            this.steps.push(ThreadStep::Barrier);
        });
    }

    /// Goes on with the sums of the tile, or of some of its rows from one on.
    fn finish(&mut self, contraction: &Contraction, first: Option<Variable>) {
        self.gather(contraction, first);
        if contraction.inside.is_some() {
            self.one_by_one(contraction, first);
        }
        self.results(contraction, first);
    }

    /// The blocks of a cluster go on with a part of the tile each, of which they add up what all of them have.
    fn finish_together(&mut self, contraction: &Contraction) {
        let barrier = |this: &mut Self| {
            this.call(call("__cluster_barrier_arrive", []));
            this.call(call("__cluster_barrier_wait", []));
        };
        self.gather(contraction, None);
        barrier(self);
        self.results(contraction, None);
        // None ends while others read its memory.
        barrier(self);
    }

    /// The tiles of a step are read while those of the step before are multiplied.
    fn fetched(&mut self, contraction: &Contraction) {
        let steps = contraction.steps();
        let is_read = || Some(below(STEP, steps));
        self.each(count("u32", STEP.stem, 0..steps + 1, None), |this| {
            this.when(is_read(), |this| (0..2).for_each(|factor| this.fetch(contraction, factor)));
            this.when(Some(binary(">", STEP, 0)), |this| this.multiply(contraction, 1));
            if contraction.parts > 1 {
                let [all, sums] = ["all", "acc"].map(|stem| of(stem, contraction.reduce).into());
                let is_whole = binary("==", STEP % (SHARED_TERMS / u64::from(contraction.tile.terms)), 0);
                this.when(Some(is_whole), |this| this.call(call("move_sums", [all, sums])));
            }
            this.when(is_read(), |this| this.put(contraction));
            this.steps.push(ThreadStep::Barrier);
        });
    }

    /// The tiles of some steps arrive while those of the step before them are multiplied.
    fn copied(&mut self, contraction: &Contraction) {
        let (steps, ahead, by_warpgroups) =
            (contraction.steps(), contraction.ahead(), contraction.tile.by == PartOf::Warpgroup);
        let wait = if by_warpgroups { "wait_for_groups_of_warpgroups" } else { "wait_for_groups" };
        let has_arrived = || Some(binary(">=", STEP, number(ahead, "u32")));
        self.each(count("u32", STEP.stem, 0..steps + ahead, None), |this| {
            let wait = template(wait, vec![(ahead - 1).into()], vec![]);
            this.when(has_arrived(), |this| this.steps.push(wait));
            this.when(Some(below(STEP, steps)), |this| (0..2).for_each(|factor| this.copy(contraction, factor)));
            this.call(call("end_group", []));
            this.when(has_arrived(), |this| this.multiply(contraction, ahead));
        });
        if by_warpgroups {
            self.call(call("wait_for_products", [of("acc", contraction.reduce).into()]));
        }
        self.steps.push(ThreadStep::Barrier);
    }

    /// Where the tile of a block lies, its memory and its sums.
    fn tiles(&mut self, contraction: &Contraction) {
        let [rows, columns] = contraction.tiles();
        let count = |tiles: u64| number(tiles, "u32");
        let [height, width] = contraction.tile.sides;
        let block = match contraction.parts {
            1 => BLOCK.into(),
            parts => {
                self.define("u32", PART, BLOCK % parts);
                BLOCK / parts
            }
        };
        let (row, column) = match contraction.rows_together() {
            1 => (block.clone() / count(columns) % count(rows), block.clone() % count(columns)),
            together => {
                let others = block.clone() / count(columns * together) % count(rows / together);
                let column = block.clone() / count(together) % count(columns);
                ((others * count(together) + block.clone() % count(together)).group(), column)
            }
        };
        self.define("u32", corner(0), row * height);
        self.define("u32", corner(1), column * width);
        self.define("u32", BATCH, block / count(rows * columns));
        let (mut byte, [element, sum]) = (0, contraction.types);
        for factor in 0..2 {
            let pointer = CudaType::Pointer(storage(element));
            self.begin(pointer, tile(factor), &[], (SHARED + byte).cast(pointer));
            byte += contraction.stages() * contraction.elements(factor) * element.size();
            if !contraction.is_copied() {
                let (pieces, lanes) = (self.pieces(contraction, factor), contraction.factors[factor].lanes);
                self.declare(MemorySpace::Aligned, storage(element), read(factor), &[pieces, lanes.into()]);
            }
        }
        let [high, wide] = contraction.tile.part().map(u64::from);
        let extents = match contraction.tile.by {
            PartOf::Thread => vec![high, wide],
            PartOf::Warp => vec![high / 16, wide / 8, 4],
            PartOf::Warpgroup => vec![high / 64, wide / 128, 64],
        };
        let stems = if contraction.parts > 1 { &["acc", "all"][..] } else { &["acc"] };
        for stem in stems {
            self.begin(storage(sum), of(stem, contraction.reduce), &extents, Expression::List(None, vec![]));
        }
    }

    /// How many pieces of a factor's tile a thread reads.
    fn pieces(&self, contraction: &Contraction, factor: usize) -> u64 {
        let elements = contraction.tile.sides[factor] * contraction.tile.terms;
        u64::from(elements / contraction.factors[factor].lanes / contraction.tile.threads())
    }

    /// The pieces of a thread, for each lane of which it computes some values.
    fn pieces_of(&self, pieces: u64, width: u32, insts: &[Reg]) -> LoopRange {
        let is_short = pieces * u64::from(width) * self.of.operations(insts) <= MOST_UNROLLED;
        count("u32", PIECE.stem, 0..pieces, Some(if is_short { Unroll::All } else { Unroll::By(1) }))
    }

    /// The number of a piece, and where it begins in a tile, along its side and along the terms.
    fn piece(&self, contraction: &Contraction, factor: usize) -> (Expression, [Expression; 2]) {
        let Factor { by_terms, lanes, .. } = contraction.factors[factor];
        let along = if by_terms { contraction.tile.terms } else { contraction.tile.sides[factor] };
        let (across, along) = (NUMBER / (along / lanes), NUMBER % (along / lanes) * lanes);
        (PIECE * contraction.tile.threads() + THREAD, if by_terms { [across, along] } else { [along, across] })
    }

    /// Steps for each piece that a thread has of a factor's tile: `p` and `r` say which row and term it begins with. Gets
    /// whether these are terms, if that is a question.
    fn each_piece(
        &mut self,
        contraction: &Contraction,
        factor: usize,
        write: impl FnOnce(&mut Self, Option<Expression>),
    ) {
        let Factor { insts, rows, side, by_terms, lanes: width, .. } = &contraction.factors[factor];
        let terms = AxisDomain::new(self.of.kernel, self.schedule.points.axes.clone());
        let around = self.go_over(contraction.tile.threads(), [rows.clone(), terms], *by_terms, *width);
        self.claim(Claim::OneSide(*side));
        let (piece, [at_side, at_term]) = self.piece(contraction, factor);
        let range = self.pieces_of(self.pieces(contraction, factor), *width, insts);
        self.each(range, |this| {
            this.steps.push(defined(NUMBER, piece));
            let [row, term, inside] = ["m", "k", "in"].map(Variable::named);
            this.steps.push(defined(row, corner(factor) + at_side));
            let step = match contraction.parts {
                1 => STEP.into(),
                _ => (PART * number(contraction.steps(), "u32") + STEP).group(),
            };
            this.steps.push(defined(term, step * contraction.tile.terms + at_term));
            let ty = number_type(rows.points());
            let row = if side.is_multiple_of(contraction.tile.sides[factor].into()) {
                row.into()
            } else {
                // Past the edge the first row is read, and what comes of it is stored nowhere.
                below(row, *side).select(row, 0).group()
            };
            this.define(ty, P, BATCH * number(*side, ty) + row);
            let is_ragged = !contraction.terms.is_multiple_of(contraction.tile.terms.into());
            let inside = is_ragged.then(|| {
                this.define("bool", inside, below(term, contraction.terms));
                Expression::from(inside)
            });
            let term = inside.clone().map_or(term.into(), |inside| inside.select(term, 0));
            this.define(number_type(contraction.terms), R, term);
            write(this, inside);
        });
        self.go_back(around);
    }

    /// Reads what a thread has of a factor's tile.
    fn fetch(&mut self, contraction: &Contraction, factor: usize) {
        let Factor { element, insts, lanes: width, .. } = &contraction.factors[factor];
        let guard = contraction.inside.filter(|(guarded, _)| *guarded == factor).map(|(_, inside)| inside);
        self.each_piece(contraction, factor, |this, inside| {
            let place = read(factor).at(PIECE).at(LANE);
            let mut keep = vec![(*element, place.clone())];
            if let Some(guard) = guard {
                this.declare(MemorySpace::Registers, "bool", COUNTS, &[(*width).into()]);
                keep.push((guard, COUNTS.at(LANE)));
            }
            this.work(&IndexContext::at(0), LaneWork { keep, ..LaneWork::new(insts) });
            let counts = inside.into_iter().chain(guard.map(|_| COUNTS.at(LANE)));
            if let Some(counts) = counts.reduce(|a: Expression, b| binary("&&", a, b)) {
                let counted = counts.select(place.clone(), Expression::Bits(contraction.types[0], 0));
                this.steps.push(ThreadStep::Each(lanes(*width), Box::new(ThreadStep::Assign(place, counted))));
            }
        });
    }

    /// Asks for a factor's tile, piece by piece.
    fn copy(&mut self, contraction: &Contraction, factor: usize) {
        let element = contraction.factors[factor].element;
        self.each_piece(contraction, factor, |this, inside| {
            this.claim(Claim::Neighbours(ClaimAccess::Load(element)));
            let (_, offset) = this.guard(element, &IndexContext::at(0));
            let to = this.piece_place(contraction, factor, STEP % contraction.stages());
            let inside = inside.unwrap_or(Expression::Bits(Dtype::Bool, 1));
            this.call(call("copy_later", [to, this.input(element) + offset, inside]));
        });
    }

    /// Where a piece lies in one of a factor's tiles.
    fn piece_place(&self, contraction: &Contraction, factor: usize, stage: Expression) -> Expression {
        let (_, [at_side, at_term]) = self.piece(contraction, factor);
        let (pitch, by_terms) = (contraction.pitch(factor), contraction.lies_by_terms(factor));
        let (row, column) = if by_terms { (at_side, at_term) } else { (at_term, at_side) };
        let tile = tile(factor) + stage * contraction.elements(factor);
        let (function, of) = match contraction.tile.by {
            PartOf::Thread => ("spot", vec![pitch.into(), (16 / contraction.types[0].size()).into()]),
            PartOf::Warp => ("place", vec![pitch.into()]),
            PartOf::Warpgroup => ("place_by_64", vec![(contraction.elements(factor) / pitch).into()]),
        };
        tile + Expression::Call(function, of, vec![row, column])
    }

    /// Puts what a thread has read where all threads of the block find it.
    fn put(&mut self, contraction: &Contraction) {
        for factor in 0..2 {
            let Factor { by_terms, lanes: width, .. } = contraction.factors[factor];
            let (piece, _) = self.piece(contraction, factor);
            let to = self.piece_place(contraction, factor, STEP % 2);
            let (pitch, by_terms_there) = (contraction.pitch(factor), contraction.lies_by_terms(factor));
            self.each(self.pieces_of(self.pieces(contraction, factor), 1, &[]), |this| {
                this.steps.push(defined(NUMBER, piece));
                let from = read(factor).at(PIECE);
                this.steps.push(if by_terms == by_terms_there {
                    ThreadStep::Store(to, from)
                } else {
                    let to = (to + LANE * pitch).group().at(0);
                    ThreadStep::Each(lanes(width), Box::new(ThreadStep::Assign(to, from.at(LANE))))
                });
            });
        }
    }

    /// Multiplies the tiles of so many steps before.
    fn multiply(&mut self, contraction: &Contraction, before: u64) {
        let ([rows, columns], terms) = (contraction.tile.sides, contraction.tile.terms);
        let [high, wide] = contraction.tile.parts;
        let stages = contraction.stages();
        let stage = || (STEP + (stages - before)).group() % stages;
        let tiles = [0, 1].map(|factor| tile(factor) + stage() * contraction.elements(factor));
        let arguments = [of("acc", contraction.reduce).into()].into_iter().chain(tiles).collect();
        self.steps.push(if contraction.uses_tensor_cores() {
            let lies = [0, 1].map(|factor| Expression::Bits(Dtype::Bool, contraction.lies_by_terms(factor).into()));
            let of = [rows, columns, terms, high, wide].map(Expression::from).into_iter().chain(lies);
            let by_warps = contraction.tile.by == PartOf::Warp;
            template(if by_warps { "multiply_halves" } else { "multiply_warpgroups" }, of.collect(), arguments)
        } else {
            template("multiply_tile", [rows, columns, terms].map(Expression::from).to_vec(), arguments)
        });
    }

    /// Brings sums to where the threads find them that go on with them.
    fn gather(&mut self, contraction: &Contraction, first: Option<Variable>) {
        let ([rows, columns], [high, wide]) = (contraction.tile.sides, contraction.tile.parts);
        let pointer = CudaType::Pointer(storage(contraction.types[1]));
        let sums = of("sums", contraction.reduce);
        self.begin(pointer, sums, &[], Expression::from(SHARED).cast(pointer));
        let stem = if contraction.parts > 1 { "all" } else { "acc" };
        let mut arguments = vec![sums.into(), of(stem, contraction.reduce).into()];
        let (function, of) = match contraction.tile.by {
            PartOf::Thread => ("gather_tile", vec![rows, columns]),
            PartOf::Warp => {
                arguments.push(first.map_or(0.into(), Expression::from));
                ("gather_halves", vec![rows, columns, high, wide, contraction.rows_at_a_time()])
            }
            PartOf::Warpgroup => ("gather_warpgroups", vec![rows, columns, high, wide]),
        };
        self.steps.push(template(function, of.into_iter().map(Expression::from).collect(), arguments));
    }

    /// The element of the tile of sums at a place.
    fn sum_at(&self, contraction: &Contraction, row: Expression, column: Expression) -> Expression {
        let pitch = pitch(contraction.tile.sides[1], contraction.types[1]);
        of("sums", contraction.reduce) + row * pitch + column
    }

    /// Steps for some neighbouring sums, if they are of the matrix: `e` is their number, `row` and `column` say where they
    /// lie in the tile.
    fn sum(
        &mut self,
        contraction: &Contraction,
        (first, width): (Option<Variable>, u32),
        write: impl FnOnce(&mut Self),
    ) {
        let [height, wide] = contraction.tile.sides;
        let [row, column, m, n] = ["row", "column", "m", "n"].map(Variable::named);
        let [rows, columns] = contraction.factors.each_ref().map(|factor| factor.side);
        let piece = match contraction.parts {
            1 => PIECE.into(),
            parts => (PIECE * parts + PART).group(),
        };
        self.steps.push(defined(NUMBER, piece * contraction.tile.threads() + THREAD));
        self.steps.push(defined(row, NUMBER / (wide / width)));
        self.steps.push(defined(column, NUMBER % (wide / width) * width));
        let corner_of_these = first.map_or(corner(0).into(), |first| corner(0) + first);
        self.steps.push(defined(m, corner_of_these + row));
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
    fn one_by_one(&mut self, contraction: &Contraction, first: Option<Variable>) {
        let reduce = contraction.reduce;
        let insts = self.of.closure(self.of.op(reduce).operands());
        let terms = self.schedule.points.clone();
        let around = self.go_over(contraction.tile.threads(), [contraction.rows(self.of.kernel), terms], false, 1);
        let pieces = u64::from(contraction.rows_at_a_time() * contraction.tile.sides[1] / contraction.tile.threads());
        self.each(count("u32", PIECE.stem, 0..pieces, None), |this| {
            this.sum(contraction, (first, 1), |this| {
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
        self.go_back(around);
    }

    /// Computes and stores what comes behind the sums.
    fn results(&mut self, contraction: &Contraction, first: Option<Variable>) {
        let (kernel, reduce, [_, wide]) = (self.of.kernel, contraction.reduce, contraction.tile.sides);
        let height = contraction.rows_at_a_time();
        let insts = self.of.closure(kernel.stores.iter().map(|store| store.value).collect());
        let stores: Vec<usize> = (0..kernel.stores.len()).collect();
        let (rows, terms) = (contraction.rows(kernel), self.schedule.points.clone());
        let loads = insts.iter().filter_map(|reg| self.of.load_access(*reg));
        let accesses: Vec<MemoryAccess> =
            loads.chain(stores.iter().map(|store| self.of.store_access(*store))).collect();
        let mut width = self.of.widest(&accesses, &rows, &AxisDomain::default());
        let fits = |width: u32| {
            contraction.factors[1].side.is_multiple_of(width.into())
                && (height * wide / width).is_multiple_of(contraction.tile.threads() * contraction.parts)
        };
        while !fits(width) {
            width /= 2;
        }
        let around = self.go_over(contraction.tile.threads(), [rows, terms], false, width);
        self.claim(Claim::OneSide(contraction.factors[1].side));
        let range = self.pieces_of(
            u64::from(height * wide / width / contraction.tile.threads() / contraction.parts),
            width,
            &insts,
        );
        self.each(range, |this| {
            this.sum(contraction, (first, width), |this| {
                let sum = of("sum", reduce);
                this.declare(MemorySpace::Aligned, storage(contraction.types[1]), sum, &[width.into()]);
                let [row, column] = ["row", "column"].map(Variable::named);
                let from = this.sum_at(contraction, row.into(), column.into());
                this.steps.push(match contraction.parts {
                    1 => ThreadStep::Load(sum.into(), from, None),
                    parts => template("add_parts", vec![parts.into()], vec![sum.into(), from]),
                });
                this.work(&IndexContext::at(0), LaneWork { stores: &stores, ..LaneWork::new(&insts) });
            });
        });
        self.go_back(around);
    }

    /// Goes on over other rows and points, with so many lanes along one of them. Returns what was before.
    fn go_over(&mut self, threads: u32, [rows, points]: [AxisDomain; 2], by_points: bool, lanes: u32) -> Schedule {
        let form = if by_points {
            ScheduleForm::Rows { threads: 1, rows: 1, lanes, turns: 1, kept: false }
        } else {
            ScheduleForm::Columns { wide: threads, deep: 1, lanes }
        };
        let schedule = Schedule { contraction: None, ..Schedule::whole(form, rows, points) };
        self.claims.push(Claims::everywhere(&schedule));
        let before = std::mem::replace(&mut self.schedule, schedule);
        self.shared = self.shared_values();
        before
    }

    fn go_back(&mut self, before: Schedule) {
        self.schedule = before;
        self.shared = self.shared_values();
    }
}
