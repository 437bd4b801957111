//! What a GPU draws and compares by itself, against the CPU.

use anyhow::{Context as _, Result, ensure};
use passhost_bench::counter;
use passhost_bench::decided::decide;
use passhost_bench::device::BenchDevice;
use passhost_bench::edge_cases::{self, UnusualInput, draw_edge_case, draw_edge_case_held};
use passhost_bench::held::HeldTensor;
use passhost_bench::inputs::{self, Round};
use passhost_bench::judge::{ElementJudge, float_kind};
use passhost_bench::on_device::contested::{Around, Contested};
use passhost_bench::on_device::{self, LEAST};
use passhost_ir::{Draw, Dtype, InputSpec, TensorType};
use passhost_torch::Tensor;
use std::ops::Range;
use std::time::Instant;

const FLOATS: [Dtype; 4] = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64];
const INTEGERS: [Dtype; 6] = [Dtype::Bool, Dtype::U8, Dtype::I8, Dtype::I16, Dtype::I32, Dtype::I64];
/// Elements of the tensors whose times are printed.
const LARGE: i64 = 1 << 27;

/// Draws a tensor for each seed on both, changes some elements, and compares the two on both. Returns how many
/// tensors there were.
pub(crate) fn run(device: &BenchDevice, seeds: Range<u64>) -> Result<u64> {
    let count = seeds.end - seeds.start;
    for seed in seeds {
        check(device, seed).with_context(|| format!("seed {seed}"))?;
    }
    Ok(count)
}

/// A number below `bound` that depends on the seed.
fn random(seed: u64, purpose: u64, bound: u64) -> u64 {
    counter::hash(seed, purpose) % bound
}

fn check(device: &BenchDevice, seed: u64) -> Result<()> {
    let spec = random_spec(seed);
    let scaled = (random(seed, 0, 2) == 0).then_some(0);
    let round = Round { seed, number: random(seed, 1, 9) as u32, scaled };
    let drawn = draw(device, &spec, round)?;
    let mut bytes = drawn.to_bytes();
    let expected = inputs::draw(&spec, 0, round)?;
    let size = spec.ty.dtype.size() as usize;
    let wrong = bytes.chunks(size).zip(expected.chunks(size)).position(|(found, expected)| found != expected);
    ensure!(wrong.is_none() && bytes.len() == expected.len(), "{:?} of {}: element {wrong:?}", spec.draw, spec.ty);

    unusual(device, &spec, round, &drawn, &expected)?;
    change(&mut bytes, &spec.ty, seed);
    let changed = Tensor::from_bytes(device.target(), &spec.ty, &bytes)?;
    compare(device, &spec.ty, [&changed, &drawn], [bytes, expected])?;
    let mut bytes = drawn.to_bytes();
    change(&mut bytes, &spec.ty, !seed);
    judge(device, &spec.ty, [&changed, &drawn, &Tensor::from_bytes(device.target(), &spec.ty, &bytes)?.upcast()])
}

/// Who is right of a rewrite, eager and a run in double precision, and where unusual inputs contest it, on both.
fn judge(device: &BenchDevice, ty: &TensorType, three: [&Tensor; 3]) -> Result<()> {
    let Some(kind) = float_kind(ty.dtype) else { return Ok(()) };
    let there = three.map(|tensor| HeldTensor::of(device, tensor));
    let here = three.map(|tensor| HeldTensor::host(tensor.ty().dtype, tensor.to_bytes()));
    let (found, expected) = (decide(there.each_ref()), decide(here.each_ref()));
    ensure!(found == expected, "decided on the GPU {found:?}, on the CPU {expected:?}");
    let (allowed, doubles) = (-4, here.each_ref().map(|held| held.elements().to_f64()));
    let tolerance = passhost_score::tolerance(kind, f64::from(allowed));
    let found = on_device::contested::contested(three, None, tolerance)?;
    let around = on_device::contested::around(ty.dtype, [three[1], three[2]], tolerance)?;
    let expected = Around::of((ty, allowed), [&doubles[1], &doubles[2]], tolerance);
    ensure!(around == expected, "around on the GPU {around:?}, on the CPU {expected:?}");
    let expected = Contested::of(doubles, None, tolerance);
    ensure!(format!("{found:?}") == format!("{expected:?}"), "the GPU contests other elements than the CPU");
    Ok(())
}

/// Draws the edge cases of an input on both.
fn unusual(device: &BenchDevice, spec: &InputSpec, round: Round, usual: &Tensor, expected: &[u8]) -> Result<()> {
    let usual = HeldTensor::of(device, usual);
    for &domain in edge_cases::draws(spec, false) {
        let input = UnusualInput { spec, bounded: false, rows: None, literals: &[2.5], key: round.seed };
        let held = draw_edge_case_held(device, input, 0, round, domain, &usual)?;
        ensure!(held.tensor().is_some(), "{:?} of {} that {domain} is left to the CPU", spec.draw, spec.ty);
        let is_same = held.elements().bytes == draw_edge_case(input, 0, round, domain, expected)?;
        ensure!(is_same, "{:?} of {} that {domain} differs", spec.draw, spec.ty);
    }
    Ok(())
}

fn random_spec(seed: u64) -> InputSpec {
    let float = FLOATS[random(seed, 2, 4) as usize];
    let integer = INTEGERS[random(seed, 3, 6) as usize];
    let unit = |purpose| random(seed, purpose, 1 << 20) as f64 / f64::from(1 << 20);
    let low = random(seed, 4, 1 << 40) as i64 - (1 << 39);
    let (draw, dtype) = match random(seed, 5, 5) {
        0 => (Draw::Normal { mean: unit(6) - 0.5, std: 4.0 * unit(7) + 1e-3 }, float),
        1 => (Draw::LogNormal { median: unit(6) + 1e-3, sigma: unit(7) + 1e-3 }, float),
        2 => (Draw::FloatMask { low: -1e4 * unit(6) }, float),
        3 => (Draw::Mask, integer),
        _ => (Draw::Uniform { low, high: low + (random(seed, 6, 1 << 31) >> random(seed, 7, 31)) as i64 }, integer),
    };
    let row = 1 + random(seed, 8, 5000) as i64;
    // A few have the largest chunks.
    let most = if seed % 16 == 3 { 40 << 20 } else { 2 << 20 };
    let rows = LEAST as i64 / row + 1 + random(seed, 9, most) as i64 / row;
    let ty = TensorType::contiguous(dtype, [rows, row]);
    let is_bounded = random(seed, 10, 3) == 0;
    InputSpec { name: "x".into(), ty, draw, min: is_bounded.then_some(-0.5), max: is_bounded.then_some(1.5) }
}

/// Moves some elements by a few last places, and gives some others any bits.
fn change(bytes: &mut [u8], ty: &TensorType, seed: u64) {
    let size = ty.dtype.size() as usize;
    let elements = ty.numel();
    for number in 0..random(seed, 11, 1000) {
        let place = random(seed, 1000 + number, elements) as usize * size;
        let bits = counter::hash(!seed, number).to_le_bytes();
        match (ty.dtype, random(seed, 12, 3)) {
            (Dtype::Bool, _) => bytes[place] ^= 1,
            (_, 0) => bytes[place..place + size].copy_from_slice(&bits[..size]),
            _ => bytes[place] ^= 1 << random(seed, number, 7),
        }
    }
}

fn compare(device: &BenchDevice, ty: &TensorType, there: [&Tensor; 2], here: [Vec<u8>; 2]) -> Result<()> {
    let kernels = device.on_device(ty).context("the device leaves it to the CPU")?;
    let [changed, drawn] = there;
    let bytes = [changed.as_bytes()?, drawn.as_bytes()?];
    let judging = ElementJudge::new(ty.dtype);
    let found = on_device::compare::compare(device.context(), kernels, &judging, ty.dtype, [&bytes[0], &bytes[1]])?;
    let [changed_here, drawn_here] = here.map(|bytes| HeldTensor::host(ty.dtype, bytes));
    let expected = judging.all(changed_here.elements(), drawn_here.elements());
    // In words, in which a NaN is equal to itself.
    let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
    ensure!(found == expected, "compared on the GPU {found}, on the CPU {expected}");
    Ok(())
}

fn draw(device: &BenchDevice, spec: &InputSpec, round: Round) -> Result<Tensor> {
    let kernels = device.on_device(&spec.ty).context("the device leaves it to the CPU")?;
    let drawn = on_device::draws::draw(device.context(), kernels, (spec, 0), round)?;
    drawn.with_context(|| format!("{:?} of {} is left to the CPU", spec.draw, spec.ty))
}

/// Prints how long a large tensor takes.
pub(crate) fn print_times(device: &BenchDevice) -> Result<()> {
    let ty = TensorType::contiguous(Dtype::F32, [1024, LARGE / 1024]);
    let draw_of = |mean| Draw::Normal { mean, std: 1.0 };
    let spec = |mean| InputSpec { name: "x".into(), ty: ty.clone(), draw: draw_of(mean), min: None, max: None };
    let round = Round { seed: 1, number: 0, scaled: None };
    let kernels = device.on_device(&ty).context("the device leaves it to the CPU")?;
    let (first, second) = (draw(device, &spec(0.0), round)?, draw(device, &spec(1e-6), round)?);
    let timed = |what: &str, work: &dyn Fn() -> Result<()>| -> Result<()> {
        work()?;
        device.context().synchronize()?;
        let start = Instant::now();
        work()?;
        device.context().synchronize()?;
        println!("{what} {LARGE} elements of f32: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
        Ok(())
    };
    timed("drawing", &|| draw(device, &spec(0.0), round).map(drop))?;
    let bytes = [first.as_bytes()?, second.as_bytes()?];
    let judging = ElementJudge::new(Dtype::F32);
    let both = [&bytes[0], &bytes[1]];
    timed("comparing", &|| {
        Ok(on_device::compare::compare(device.context(), kernels, &judging, Dtype::F32, both).map(drop)?)
    })
}
