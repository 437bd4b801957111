//! A product of two matrices of `f16` on tensor cores, written by hand as a loop form: what a schedule for contractions
//! will make. It shows tiles, fragments, copies that run ahead of the products, guards at ragged edges and an epilogue.

use passhost_kernels::cuda::loops::{
    BLOCK, CudaType, DeviceFunction, Expression, FunctionRole, LoopRange, MemorySpace, SHARED, THREAD, ThreadStep,
    Unroll, Variable, binary, call,
};

/// Rows and columns of the product, and the contracted extent, of which none is a multiple of a tile's.
pub const SIZES: [u32; 3] = [200, 136, 72];
/// Threads of a block: four warps, which have a quarter of the block's tile each.
pub const THREADS: u32 = 128;
/// Rows, and columns, of the tile that a block computes.
const TILE: u32 = 64;
/// What it contracts at a time.
const DEPTH: u32 = 32;
/// Elements from one row of a tile to the next: eight more than there are, so that eight rows lie in all banks.
const PITCHES: [u32; 2] = [DEPTH + 8, TILE + 8];
/// Elements of a stage of both factors, of which there are two: one is multiplied while the other is copied.
const STAGES: [u32; 2] = [TILE * PITCHES[0], DEPTH * PITCHES[1]];

/// Blocks of the grid.
#[allow(dead_code, reason = "one of the tests that have this file launches nothing")]
pub fn blocks() -> u32 {
    SIZES[0].div_ceil(TILE) * SIZES[1].div_ceil(TILE)
}

const A: Variable = Variable::named("a");
const B: Variable = Variable::named("b");
const SUMS: Variable = Variable::named("acc");
const LANE: Variable = Variable::named("lane");
const WARP: Variable = Variable::named("warp");
const STEP: Variable = Variable::named("step");
const SLICE: Variable = Variable::named("slice");
const ROW0: Variable = Variable::named("row0");
const COLUMN0: Variable = Variable::named("column0");
const M: Variable = Variable::named("m");
const N: Variable = Variable::named("n");

fn define(name: Variable, value: Expression) -> ThreadStep {
    ThreadStep::Let("u32".into(), vec![(name, value)])
}

fn array(ty: &'static str, name: Variable, extents: &[u64]) -> ThreadStep {
    ThreadStep::Declare(MemorySpace::Registers, ty.into(), name, extents.to_vec(), None)
}

fn each(variable: Variable, end: u32, unroll: Option<Unroll>, steps: Vec<ThreadStep>) -> ThreadStep {
    ThreadStep::Loop(LoopRange { ty: "u32", variable, range: 0..end.into(), unroll }, steps)
}

fn inside(row: impl Into<Expression>, rows: u32, column: impl Into<Expression>, columns: u32) -> Expression {
    binary("&&", binary("<", row, rows), binary("<", column, columns))
}

/// Begins to copy a tile of a factor: the rows from `first` on, of which each has `width` of the factor's `extents`.
fn copies(
    (tensor, tile): (Variable, Expression),
    (first_row, first_column): (Expression, Expression),
    (width, pitch): (u32, u32),
    extents: [u32; 2],
) -> ThreadStep {
    let [piece, row, column, is_inside] = ["piece", "r", "c", "inside"].map(Variable::named);
    // Eight elements are 16 bytes.
    let of_row = width / 8;
    let (at_row, at_column) = (first_row + row, first_column + column);
    let offset = (at_row.clone() * extents[1] + at_column.clone()).group();
    let from = tensor + Expression::from(is_inside).select(offset, 0);
    let pieces = Variable::named("t") * THREADS + THREAD;
    let steps = vec![
        define(piece, pieces),
        define(row, piece / of_row),
        define(column, piece % of_row * 8),
        ThreadStep::Let("bool".into(), vec![(is_inside, inside(at_row, extents[0], at_column, extents[1]))]),
        ThreadStep::CopyAsync(tile + row * pitch + column, from, is_inside.into()),
    ];
    let count = TILE * DEPTH / 8 / THREADS;
    each(Variable::named("t"), count, Some(Unroll::All), steps)
}

/// Begins to copy what is multiplied in a step into its stage.
fn stage(step: Expression) -> Vec<ThreadStep> {
    let [rows, columns, depth] = SIZES;
    let tile = |of: Variable, factor: usize| of + step.clone() % 2 * STAGES[factor];
    let k = step.clone() * DEPTH;
    vec![
        copies((Variable::of("x", 0), tile(A, 0)), (ROW0.into(), k.clone()), (DEPTH, PITCHES[0]), [rows, depth]),
        copies((Variable::of("x", 1), tile(B, 1)), (k, COLUMN0.into()), (TILE, PITCHES[1]), [depth, columns]),
    ]
}

/// Multiplies the stage of a step: a warp has 32 rows in two fragments, and 32 columns in four.
fn multiply() -> ThreadStep {
    let [fragments_a, fragments_b] = ["fa", "fb"].map(Variable::named);
    // Thread n names the address of row n % 16 of a 16x16 part, in its left or right half.
    let (row, half) = ((LANE % 16).group(), (LANE / 16 * 8).group());
    let (part, slice) = (Variable::named("i"), SLICE * 16);
    let from_a = A + STEP % 2 * STAGES[0] + (WARP / 2 * 32 + part * 16 + row.clone()) * PITCHES[0];
    let from_b = B + STEP % 2 * STAGES[1] + (slice.clone() + row) * PITCHES[1];
    let load_a = ThreadStep::LoadMatrices(fragments_a.at(part), from_a + slice + half.clone());
    let load_b = ThreadStep::LoadTransposed(fragments_b.at(part), from_b + WARP % 2 * 32 + part * 16 + half);
    let factors = [fragments_a.at(M), fragments_b.at(N / 2) + N % 2 * 2];
    let product = ThreadStep::MultiplyMatrices(SUMS.at(M).at(N), factors);
    let products = each(M, 2, Some(Unroll::All), vec![each(N, 4, Some(Unroll::All), vec![product])]);
    let steps = vec![
        array("u32", fragments_a, &[2, 4]),
        array("u32", fragments_b, &[2, 4]),
        each(part, 2, Some(Unroll::All), vec![load_a, load_b]),
        products,
    ];
    each(SLICE, DEPTH / 16, Some(Unroll::All), steps)
}

/// Stores the sums, a pair of columns at a time: a thread has two pairs of a fragment, eight rows apart.
fn epilogue() -> ThreadStep {
    let [rows, columns, _] = SIZES;
    let [half, row, column, pair, element] = ["h", "row", "column", "o", "v"].map(Variable::named);
    let fill = ThreadStep::Each(
        LoopRange { ty: "int", variable: element, range: 0..2, unroll: Some(Unroll::All) },
        Box::new(ThreadStep::Assign(pair.at(element), SUMS.at(M).at(N).at(half * 2 + element))),
    );
    let store = ThreadStep::Store(Variable::of("y", 0) + row * columns + column, pair.into());
    let steps = vec![
        define(row, ROW0 + WARP / 2 * 32 + M * 16 + half * 8 + LANE / 4),
        define(column, COLUMN0 + WARP % 2 * 32 + N * 8 + LANE % 4 * 2),
        ThreadStep::Declare(MemorySpace::Aligned, "float".into(), pair, vec![2], None),
        fill,
        store.guarded(Some(inside(row, rows, column, columns))),
    ];
    let halves = each(half, 2, Some(Unroll::All), steps);
    each(M, 2, Some(Unroll::All), vec![each(N, 4, Some(Unroll::All), vec![halves])])
}

/// The function that is launched. Its parameters are the two factors and the product, all of them dense.
pub fn function() -> DeviceFunction {
    let tile = |name, byte: u32| {
        let pointer = CudaType::Pointer("f16");
        let at = (SHARED + byte).cast(pointer);
        ThreadStep::Declare(MemorySpace::Registers, pointer, name, vec![], Some(at))
    };
    let bytes = 2 * 2 * (STAGES[0] + STAGES[1]);
    let across = SIZES[1].div_ceil(TILE);
    let steps = SIZES[2].div_ceil(DEPTH);
    let zero = ThreadStep::Assign(SUMS.at(M).at(N).at(Variable::named("v")), 0.into());
    let zero = each(Variable::named("v"), 4, Some(Unroll::All), vec![zero]);
    let next = ThreadStep::If(binary("<", STEP + 1, steps), stage((STEP + 1).group()), vec![]);
    let mut body = vec![
        ThreadStep::Declare(MemorySpace::SharedAligned, "u8".into(), SHARED, vec![bytes.into()], None),
        ThreadStep::Call(call("begin", [])),
        ThreadStep::Let("u32".into(), vec![(LANE, THREAD % 32), (WARP, THREAD / 32)]),
        define(ROW0, BLOCK / across * TILE),
        define(COLUMN0, BLOCK % across * TILE),
        tile(A, 0),
        tile(B, 2 * 2 * STAGES[0]),
        array("float", SUMS, &[2, 4, 4]),
        each(M, 2, Some(Unroll::All), vec![each(N, 4, Some(Unroll::All), vec![zero])]),
    ];
    body.extend(stage(0.into()));
    body.push(ThreadStep::CommitCopies);
    let step = vec![
        next,
        ThreadStep::CommitCopies,
        // All but what was just begun.
        ThreadStep::AwaitCopies(1),
        ThreadStep::Barrier,
        multiply(),
        // None copies into a stage that another still multiplies.
        ThreadStep::Barrier,
    ];
    body.extend([each(STEP, steps, None, step), epilogue()]);
    let inputs = vec![("f16", Variable::of("x", 0)), ("f16", Variable::of("x", 1))];
    let outputs = vec![("float", Variable::of("y", 0))];
    DeviceFunction { role: FunctionRole::Entry { threads: THREADS, cluster: 1 }, inputs, outputs, body }
}
