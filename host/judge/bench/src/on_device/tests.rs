#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{CHUNKS, FULL, LEAST};
use crate::device::BenchDevice;
use crate::edge_cases::{self, UnusualInput, draw_edge_case, draw_edge_case_held};
use crate::held::HeldTensor;
use crate::inputs::{self, Round};
use crate::judge::{ElementJudge, Stretch, float_kind};
use crate::on_device::contested::{Around, Contested};
use crate::on_device::sides::TrivialAnswer;
use crate::precision::{is_as_precise, judge};
use crate::session::tests::alone;
use passhost_ir::{Draw, Dtype, InputSpec, TensorType};
use passhost_score::{FloatKind, Tolerance, tolerance};
use passhost_torch::Tensor;

const ROUND: Round = Round { seed: 7, number: 3, scaled: None };
/// A chunk of each size but the largest, and some elements after them.
const COUNT: usize = CHUNKS[1] + CHUNKS[2] + CHUNKS[3] + 1000;

fn spec(dtype: Dtype, shape: &[i64], draw: Draw) -> InputSpec {
    InputSpec { name: "x".into(), ty: TensorType::contiguous(dtype, shape), draw, min: None, max: None }
}

fn on_device(device: &BenchDevice, spec: &InputSpec, round: Round) -> Option<Tensor> {
    super::draws::draw(device.context(), device.on_device(&spec.ty)?, (spec, 0), round).unwrap()
}

/// Draws on the device and on the CPU.
fn check_draw(device: &BenchDevice, spec: &InputSpec, round: Round) {
    let drawn = on_device(device, spec, round).unwrap().to_bytes();
    let expected = inputs::draw(spec, 0, round).unwrap();
    let size = spec.ty.dtype.size() as usize;
    let wrong = drawn.chunks(size).zip(expected.chunks(size)).position(|(found, expected)| found != expected);
    assert_eq!((drawn.len(), wrong), (expected.len(), None), "{:?} of {}", spec.draw, spec.ty);
}

#[test]
fn a_device_draws_what_the_cpu_draws() {
    let _alone = alone();
    let device = BenchDevice::cpu_like_a_gpu();
    let row = 1 << 10;
    let shape = [COUNT as i64 / row + 1, row];
    let normal = Draw::Normal { mean: 0.3, std: 1.7 };
    for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64] {
        check_draw(&device, &spec(dtype, &shape, normal.clone()), ROUND);
        check_draw(&device, &spec(dtype, &shape, Draw::FloatMask { low: -1e4 }), ROUND);
    }
    for dtype in [Dtype::Bool, Dtype::U8, Dtype::I16, Dtype::I32, Dtype::I64, Dtype::F16] {
        check_draw(&device, &spec(dtype, &shape, Draw::Uniform { low: -3, high: 70_000 }), ROUND);
    }
    check_draw(&device, &spec(Dtype::I64, &[3, 350_003], Draw::Mask), ROUND);
    check_draw(&device, &spec(Dtype::F32, &shape, Draw::LogNormal { median: 0.02, sigma: 1.1 }), ROUND);
    let widest = Draw::Uniform { low: i64::MIN, high: i64::MIN + i64::from(i32::MAX) };
    check_draw(&device, &spec(Dtype::I64, &shape, widest), ROUND);
    let bounded = InputSpec { min: Some(-0.5), max: Some(2.0), ..spec(Dtype::F16, &shape, normal) };
    check_draw(&device, &bounded, Round { scaled: Some(0), ..ROUND });
}

#[test]
fn the_largest_chunks_are_drawn_compared_and_digested_as_others_are() {
    let _alone = alone();
    let device = BenchDevice::cpu_like_a_gpu();
    let count = CHUNKS[0] + LEAST + 1000;
    let spec = spec(Dtype::F16, &[count as i64], Draw::Uniform { low: -3, high: 70 });
    check_draw(&device, &spec, ROUND);
    let drawn = on_device(&device, &spec, ROUND).unwrap();
    for place in [0, CHUNKS[0] - 1, CHUNKS[0] + LEAST + 999] {
        let changed = super::draws::altered(&drawn, &[(place, 90.0)]).unwrap();
        let bytes = [&changed, &drawn].map(|tensor| tensor.as_bytes().unwrap());
        let kernels = device.on_device(&spec.ty).unwrap();
        let judge = ElementJudge::new(Dtype::F16);
        let found = super::compare::compare(device.context(), kernels, &judge, Dtype::F16, bytes.each_ref()).unwrap();
        let first = found.first_wrong.map(|(at, value, _)| (at, value));
        assert_eq!((found.different, found.wrong, first), (1, 1, Some((place, 90.0))));
        let digests = bytes.map(|bytes| device.digests(5, &[bytes]));
        assert_ne!(digests[0], digests[1], "element {place}");
    }
}

#[test]
fn what_only_the_cpu_draws_is_left_to_it() {
    let _alone = alone();
    let device = BenchDevice::cpu_like_a_gpu();
    let count = COUNT as i64;
    let cases = [
        spec(Dtype::F32, &[LEAST as i64 - 1], Draw::Normal { mean: 0.0, std: 1.0 }),
        spec(Dtype::I64, &[count], Draw::Uniform { low: 0, high: 1 << 31 }),
        spec(Dtype::I64, &[count], Draw::Normal { mean: 0.0, std: 1.0 }),
        spec(Dtype::F32, &[count], Draw::Floats(vec![1.0])),
        spec(Dtype::F32, &[count], Draw::Normal { mean: 0.0, std: f64::INFINITY }),
    ];
    for spec in cases {
        assert!(on_device(&device, &spec, ROUND).is_none(), "{:?} of {}", spec.draw, spec.ty);
    }
    let ty = TensorType::contiguous(Dtype::F32, [count]);
    assert!(BenchDevice::cpu().on_device(&ty).is_none(), "the CPU has its own elements at hand");
}

#[test]
fn unusual_inputs_are_the_same_on_a_device() {
    let _alone = alone();
    let device = BenchDevice::cpu_like_a_gpu();
    let specs = [
        spec(Dtype::F16, &[1100, 1000], Draw::Normal { mean: 1.0, std: 0.5 }),
        spec(Dtype::F32, &[1100, 1000], Draw::LogNormal { median: 1.0, sigma: 0.5 }),
        spec(Dtype::F32, &[1100, 1000], Draw::FloatMask { low: -1e4 }),
        spec(Dtype::I32, &[1100, 1000], Draw::Uniform { low: 2, high: 40 }),
        spec(Dtype::F16, &[3, 600, 600], Draw::Normal { mean: 1.0, std: 0.5 }),
        // Several periods, and a part of one.
        spec(Dtype::I8, &[9_000_001], Draw::Uniform { low: 2, high: 40 }),
        spec(Dtype::F16, &[9001, 1001], Draw::FloatMask { low: -1e4 }),
    ];
    for spec in specs {
        let usual = HeldTensor::of(&device, &on_device(&device, &spec, ROUND).unwrap());
        for &domain in edge_cases::draws(&spec, false) {
            let input = UnusualInput { spec: &spec, bounded: false, rows: None, literals: &[2.5], key: 5 };
            let held = draw_edge_case_held(&device, input, 0, ROUND, domain, &usual).unwrap();
            let expected = draw_edge_case(input, 0, ROUND, domain, usual.elements().bytes).unwrap();
            assert!(held.elements().bytes == expected, "{:?} that {domain}", spec.draw);
            assert!(held.tensor().is_some(), "{domain}");
        }
    }
}

fn bytes_of(dtype: Dtype, values: &[f64]) -> Vec<u8> {
    let mut bytes = vec![0; values.len() * dtype.size() as usize];
    inputs::write_elements(dtype, &mut bytes, &mut values.iter().copied().enumerate());
    bytes
}

/// The same elements on the device and on the host.
fn both(device: &BenchDevice, dtype: Dtype, values: &[f64]) -> [HeldTensor; 2] {
    let bytes = bytes_of(dtype, values);
    let ty = TensorType::contiguous(dtype, [values.len() as i64]);
    let tensor = Tensor::from_bytes(device.target(), &ty, &bytes).unwrap();
    let there = HeldTensor::of(device, &tensor);
    assert!(there.tensor().is_some());
    [there, HeldTensor::host(dtype, bytes)]
}

/// Compares on the device and on the CPU.
fn check_comparison(dtype: Dtype, rewritten: &[f64], eager: &[f64]) -> Stretch {
    let device = BenchDevice::cpu_like_a_gpu();
    let (rewritten, eager) = (both(&device, dtype, rewritten), both(&device, dtype, eager));
    let kernels = device.on_device(&TensorType::contiguous(dtype, [COUNT as i64])).unwrap();
    let bytes = [&rewritten[0], &eager[0]].map(|held| held.bytes_on_device().unwrap());
    let judge = ElementJudge::new(dtype);
    let found = super::compare::compare(device.context(), kernels, &judge, dtype, bytes.each_ref()).unwrap();
    let expected = judge.all(rewritten[1].elements(), eager[1].elements());
    // In words, in which a NaN is equal to itself.
    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{dtype}");
    found
}

/// Numbers around 1, of both signs.
fn numbers(key: u64) -> Vec<f64> {
    (0..COUNT as u64).map(|at| (crate::counter::hash(key, at) >> 40) as f64 / f64::from(1 << 23) - 1.0).collect()
}

#[test]
fn a_device_compares_as_the_cpu_does() {
    let _alone = alone();
    for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64] {
        let eager = numbers(1);
        assert_eq!(check_comparison(dtype, &eager, &eager).different, 0);
        for (off, from) in [(1e-9, 0), (1e-4, 5_000), (0.3, FULL + 10), (0.3, COUNT - 100)] {
            let mut rewritten = eager.clone();
            rewritten.iter_mut().skip(from).step_by(7).for_each(|value| *value *= 1.0 + off);
            check_comparison(dtype, &rewritten, &eager);
        }
        let mut special = eager.clone();
        let values = [f64::NAN, f64::INFINITY, -0.0, f64::NEG_INFINITY, 0.0, 1e30];
        special.iter_mut().step_by(9_999).zip(values.iter().cycle()).for_each(|(value, special)| *value = *special);
        let report = check_comparison(dtype, &special, &eager);
        assert!(report.non_finite > 0 && report.passes_at.is_none() && matches!(report.first_wrong, Some((0, ..))));
        check_comparison(dtype, &eager, &special);
    }
}

#[test]
fn a_device_compares_integers_as_the_cpu_does() {
    let _alone = alone();
    for dtype in [Dtype::Bool, Dtype::U8, Dtype::I8, Dtype::I16, Dtype::I32, Dtype::I64] {
        let eager: Vec<f64> = numbers(2).iter().map(|value| (value * 100.0).abs().floor()).collect();
        assert_eq!(check_comparison(dtype, &eager, &eager).different, 0);
        let mut rewritten = eager.clone();
        rewritten
            .iter_mut()
            .skip(70_000)
            .step_by(70_001)
            .for_each(|value| *value = if *value == 0.0 { 1.0 } else { 0.0 });
        let report = check_comparison(dtype, &rewritten, &eager);
        assert_eq!((report.wrong, report.first_wrong.map(|first| first.0)), (19, Some(70_000)), "{dtype}");
    }
}

#[test]
fn a_device_judges_precision_as_the_cpu_does() {
    let _alone = alone();
    let device = BenchDevice::cpu_like_a_gpu();
    let close = |one: f64, other: f64| one == other || ((one - other) / other).abs() < 1e-9;
    for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64] {
        let ty = TensorType::contiguous(dtype, [FULL as i64 / 100 + 1, 100]);
        let count = ty.numel() as usize;
        let mut truth: Vec<f64> = numbers(3).into_iter().cycle().take(count).collect();
        (truth[5], truth[70]) = (f64::NAN, f64::INFINITY);
        for (off, special) in [(0.0, 2.0), (1e-3, 2.0), (0.1, f64::INFINITY)] {
            let mut eager = truth.clone();
            eager[99_999] = special;
            let rewritten: Vec<f64> = eager.iter().map(|value| value * (1.0 + off)).collect();
            let held = |dtype, values: &[f64]| {
                let bytes = bytes_of(dtype, values);
                let ty = TensorType { dtype, ..ty.clone() };
                [
                    HeldTensor::of(&device, &Tensor::from_bytes(device.target(), &ty, &bytes).unwrap()),
                    HeldTensor::host(dtype, bytes),
                ]
            };
            let (rewritten, eager, exact) = (held(dtype, &rewritten), held(dtype, &eager), held(Dtype::F64, &truth));
            let there =
                super::precision::judge(&ty, [&rewritten[0], &eager[0], &exact[0]].map(|held| held.tensor().unwrap()));
            let (worse, found) = there.unwrap();
            let (also_worse, expected) = judge(&ty, [&rewritten[1], &eager[1], &exact[1]]);
            let place = format!("{dtype} off by {off}");
            assert_eq!(worse.map(|worse| worse.0), also_worse.map(|worse| worse.0), "{place}");
            assert_eq!(
                (found.eager_p999, found.rewritten_p999, found.eager_passes, found.excluded),
                (expected.eager_p999, expected.rewritten_p999, expected.eager_passes, expected.excluded),
                "{place}"
            );
            assert!(close(found.eager_rms, expected.eager_rms), "{place}: {found:?} {expected:?}");
            assert!(close(found.rewritten_rms, expected.rewritten_rms), "{place}: {found:?} {expected:?}");
        }
    }
}

/// A rewrite, eager and a truth that differ here and there, on the device and on the host; with special values if asked for.
fn three(device: &BenchDevice, dtype: Dtype, has_specials: bool) -> [[HeldTensor; 2]; 3] {
    let whole = |value: f64| if dtype.is_float() { value } else { (value * 100.0).floor() };
    let truth: Vec<f64> = numbers(5).into_iter().map(|value| whole(value * 3.0)).collect();
    let off = |every: usize, by: f64| {
        let change = |(at, &value): (usize, &f64)| if at % every == 1 { whole(value * (1.0 + by)) } else { value };
        truth.iter().enumerate().map(change).collect::<Vec<f64>>()
    };
    let (mut rewritten, mut eager) = (off(9_973, 0.4), off(7_919, 0.3));
    let mut truth = truth.clone();
    if has_specials {
        let [nan, infinity] = [f64::NAN, f64::INFINITY];
        let specials = [
            [nan, 1.0, 1.0],
            [nan, nan, 1.0],
            [infinity; 3],
            [-infinity, infinity, infinity],
            [1.0, infinity, infinity],
            [1.0, nan, nan],
            [1.0, 1.0, infinity],
        ];
        for (at, [own, eagers, exact]) in specials.into_iter().enumerate() {
            let at = COUNT - 1 - at * 100_003;
            (rewritten[at], eager[at], truth[at]) = (own, eagers, exact);
        }
    }
    let exact = if dtype.is_float() { Dtype::F64 } else { dtype };
    [both(device, dtype, &rewritten), both(device, dtype, &eager), both(device, exact, &truth)]
}

#[test]
fn a_device_says_what_the_cpu_would_look_at() {
    let _alone = alone();
    let device = BenchDevice::cpu_like_a_gpu();
    for (dtype, has_specials) in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64]
        .map(|dtype| (dtype, true))
        .into_iter()
        .chain([(Dtype::F32, false), (Dtype::I16, false)])
    {
        let ty = TensorType::contiguous(dtype, [COUNT as i64]);
        let allowed = -4;
        let exactly = Tolerance { rtol: 0.0, atol: 0.0 };
        let tolerance = float_kind(dtype).map_or(exactly, |kind| tolerance(kind, f64::from(allowed)));
        let three = three(&device, dtype, has_specials);
        let shaken = both(&device, Dtype::F64, &numbers(6));
        let tensors = three.each_ref().map(|held| held[0].tensor().unwrap());
        let doubles = three.each_ref().map(|held| held[1].elements().to_f64());
        let found = super::contested::contested(tensors, shaken[0].tensor(), tolerance).unwrap();
        let expected = Contested::of(doubles.clone(), Some(shaken[1].elements().to_f64()), tolerance);
        // In words, in which a NaN is equal to itself.
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{dtype}");
        assert!(found.places.len() > 100, "{dtype}: {}", found.places.len());
        let around = super::contested::around(dtype, [tensors[1], tensors[2]], tolerance).unwrap();
        let expected = Around::of((&ty, allowed), [&doubles[1], &doubles[2]], tolerance);
        let scale = if dtype.is_float() { around.scale } else { 0.0 };
        assert_eq!(Around { scale, ..around }, expected, "{dtype}");
        assert!(around.strays > 50, "{dtype}: {around:?}");
    }
}

#[test]
fn a_device_decides_as_the_cpu_does() {
    let _alone = alone();
    let device = BenchDevice::cpu_like_a_gpu();
    for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64] {
        for has_specials in [false, true] {
            let three = three(&device, dtype, has_specials);
            let [there, here] = [0, 1].map(|which| three.each_ref().map(|held| &held[which]));
            let kind = float_kind(dtype).unwrap();
            let found = super::sides::decide(kind, there.map(|held| held.tensor().unwrap())).unwrap();
            assert_eq!(Some(found), crate::decided::decide(here), "{dtype}");
            assert_eq!(found.passes_at.is_none(), has_specials, "{dtype}: {found:?}");
        }
    }
}

#[test]
fn a_device_knows_whether_a_rewrite_is_as_precise_as_the_cpu_does() {
    let _alone = alone();
    let device = BenchDevice::cpu_like_a_gpu();
    let mut answers = vec![];
    for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64] {
        let ty = TensorType::contiguous(dtype, [COUNT as i64]);
        let end = dtype.largest().min(1e150);
        let exact: Vec<f64> = numbers(7).into_iter().map(|value| value * end * 1.4).collect();
        let rounded = |off: f64, every: usize| {
            let value = |(at, &exact): (usize, &f64)| if at % every == 0 { exact * (1.0 + off) } else { exact };
            exact.iter().enumerate().map(value).collect::<Vec<f64>>()
        };
        let eager = rounded(1e-3, 50);
        let (mut none, mut lost) = (rounded(1e-3, 50), rounded(1e-3, 50));
        none.iter_mut().skip(3).step_by(40_000).for_each(|value| *value = f64::NAN);
        lost.iter_mut().skip(3).step_by(40_000).for_each(|value| *value = -*value * 3.0);
        for rewritten in [rounded(1e-3, 51), rounded(0.1, 3), rounded(0.4, 1), none, lost, eager.clone()] {
            let three =
                [both(&device, dtype, &rewritten), both(&device, dtype, &eager), both(&device, Dtype::F64, &exact)];
            let [there, here] = [0, 1].map(|which| three.each_ref().map(|held| &held[which]));
            let found = super::precision::is_as_precise(&ty, 0, there.map(|held| held.tensor().unwrap())).unwrap();
            assert_eq!(found, is_as_precise(&ty, 0, here), "{dtype}");
            answers.push(found);
        }
    }
    let right = answers.iter().filter(|&&answer| answer).count();
    assert!((8..20).contains(&right), "{answers:?}");
}

#[test]
fn a_device_knows_answers_that_nobody_computes() {
    let _alone = alone();
    let device = BenchDevice::cpu_like_a_gpu();
    let tolerance = tolerance(FloatKind::F32, -2.0);
    let mut values = vec![3.0; COUNT];
    let held = |values: &[f64]| both(&device, Dtype::F32, values);
    let (near, far) = (held(&values), TrivialAnswer::Number(3.3));
    let is_met =
        |output: &[HeldTensor; 2], by| super::sides::is_met(output[0].tensor().unwrap(), by, tolerance).unwrap();
    assert!(is_met(&near, TrivialAnswer::Number(3.001)) && !is_met(&near, far));
    values[COUNT - 1] = 3.3;
    let late = held(&values);
    assert!(!is_met(&late, TrivialAnswer::Number(3.0)), "the last element counts");
    assert!(is_met(&late, TrivialAnswer::Copy(late[0].tensor().unwrap())));
    assert!(!is_met(&late, TrivialAnswer::Copy(near[0].tensor().unwrap())));
    let trivial = |output: &HeldTensor, input| crate::trivial::trivial_answer(std::slice::from_ref(output), &[input]);
    for (output, input) in [(&near, &late), (&late, &near), (&late, &late)] {
        assert_eq!(trivial(&output[0], &input[0]), trivial(&output[1], &input[1]));
    }
}
