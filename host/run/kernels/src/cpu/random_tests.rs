//! Random kernels against the interpreter, in every mode of execution, on storage of every kind.

use super::isa::Isa;
use super::plan::StripSizes;
use super::storage::{Stored, run};
use super::{CallingThread, CpuKernel, NewThreads};
use passhost_ir::kernel::{Mode, Tensor, interpret, verify};
use passhost_ir::{Kernel, contiguous_strides};
use passhost_random_kernels::RandomKernel;
use passhost_random_kernels::{Stats, check_against};

const SEEDS: std::ops::Range<u64> = 0..500;

/// A few bits that depend on their arguments only.
fn hash(seed: u64, salt: u64) -> u64 {
    let x = (seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ x >> 29).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32
}

/// Makes a tensor equal along some dimensions, and stores it with those strides 0, the others permuted and spaced out.
fn scatter(tensor: &mut Tensor, seed: u64) -> Stored {
    let rank = tensor.shape.len();
    let repeated: Vec<bool> = (0..rank).map(|dim| hash(seed, dim as u64).is_multiple_of(4)).collect();
    let dense = contiguous_strides(&tensor.shape);
    let original = tensor.clone();
    for position in 0..tensor.len() {
        let source: i64 = (0..rank)
            .map(|dim| if repeated[dim] { 0 } else { position as i64 / dense[dim] % tensor.shape[dim] * dense[dim] })
            .sum();
        tensor.set(position, original.get(source as usize));
    }
    let mut order: Vec<usize> = (0..rank).collect();
    order.sort_by_key(|dim| hash(seed, 100 + *dim as u64));
    let mut strides = vec![0; rank];
    let mut next = 1 + (hash(seed, 200) % 2) as i64;
    for dim in order {
        if !repeated[dim] {
            strides[dim] = next;
            next *= tensor.shape[dim].max(1) + (hash(seed, 300 + dim as u64) % 2) as i64;
        }
    }
    Stored::strided(tensor, strides)
}

#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
fn check(seed: u64, kernel: &Kernel, compiled: &CpuKernel, tensors: &[Tensor], stored: &[Stored], what: &str) -> Stats {
    let facts = verify(kernel).unwrap();
    let expected = interpret(kernel, &facts, tensors, Mode::Declared);
    let one = run(compiled, stored, &CallingThread).unwrap();
    let mut stats = Stats::default();
    for (number, (expected, actual)) in expected.iter().zip(&one).enumerate() {
        match check_against(expected, actual) {
            Ok(found) => stats.merge(found),
            Err(mismatch) => panic!("seed {seed}, {what}, output {number}: {mismatch}\n{kernel}"),
        }
    }
    let three = run(compiled, stored, &NewThreads(3)).unwrap();
    assert!(one == three, "seed {seed}, {what}: three threads give another result than one");
    stats
}

#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn check_one(
    seed: u64,
    (kernel, mut tensors): (Kernel, Vec<Tensor>),
    what: &str,
    tuning: StripSizes,
    isa: Isa,
    scattered: bool,
) -> Stats {
    let mut compiled = CpuKernel::compile_tuned(&kernel, tuning).unwrap();
    compiled.isa = isa;
    let stored: Vec<Stored> = tensors
        .iter_mut()
        .enumerate()
        .map(
            |(input, tensor)| {
                if scattered { scatter(tensor, seed * 64 + input as u64) } else { Stored::dense(tensor) }
            },
        )
        .collect();
    check(seed, &kernel, &compiled, &tensors, &stored, what)
}

fn check_all(what: &str, tuning: StripSizes, isa: Isa, scattered: bool) {
    let mut stats = Stats::default();
    for seed in SEEDS {
        let drawn = match seed % 5 {
            3 => RandomKernel::transposed(seed),
            4 => RandomKernel::concatenated(seed),
            _ => RandomKernel::generate(seed),
        };
        stats.merge(check_one(seed, drawn, what, tuning, isa, scattered));
    }
    println!("{what}: {stats:?}");
    assert!(stats.checked > 100_000 && stats.unknown < stats.checked / 2, "{stats:?}");
}

/// Threads get to work on kernels of any size.
fn eager() -> StripSizes {
    StripSizes { parallel_cost: 0, ..StripSizes::default() }
}

#[test]
fn random_kernels_equal_the_interpreter() {
    check_all("dense", eager(), Isa::best(), false);
}

#[test]
fn random_kernels_equal_the_interpreter_on_strided_and_broadcast_inputs() {
    check_all("strided", eager(), Isa::best(), true);
}

#[test]
fn random_kernels_equal_the_interpreter_when_rows_are_cut_into_chunks() {
    check_all("chunks", StripSizes { strip: 24, tile: 50, kept_bytes: 64, ..eager() }, Isa::best(), true);
}

#[test]
fn random_kernels_equal_the_interpreter_when_rows_are_columns() {
    check_all("columns", StripSizes { strip: 48, always_columns: true, ..eager() }, Isa::best(), true);
}

#[test]
fn random_kernels_equal_the_interpreter_on_narrower_processors() {
    for isa in Isa::available() {
        check_all(&format!("{isa:?}"), StripSizes { strip: 32, tile: 100, ..eager() }, isa, false);
    }
}

#[test]
fn random_contractions_equal_the_interpreter() {
    let (mut stats, sets) = (Stats::default(), Isa::available());
    for seed in 0..100 {
        let chunks = StripSizes { strip: 24, tile: 50, kept_bytes: 64, ..eager() };
        let tuning = if seed % 3 == 0 { chunks } else { eager() };
        let drawn = RandomKernel::contraction(seed);
        stats.merge(check_one(seed, drawn, "contraction", tuning, sets[seed as usize / 2 % sets.len()], seed % 2 == 1));
    }
    println!("contractions: {stats:?}");
    assert!(stats.checked > 100_000 && stats.unknown < stats.checked / 100, "{stats:?}");
}
