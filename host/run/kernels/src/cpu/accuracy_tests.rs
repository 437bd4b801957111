//! How far the elementary functions of `f32` are from the truth, over a sample of all arguments.

use super::compute::{Code, compute};
use super::isa::Isa;
use super::lanes::{Buffer, bytes_of, lanes};
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Unary};

/// Every how many bit patterns one is tried. A prime, so that mantissas vary in all bits.
const STRIDE: u32 = 499;
const BLOCK: usize = 4096;

/// Distance in units in the last place of the nearest `f32`; infinite where one is NaN or infinite and the other not.
fn distance(found: f32, truth: f64) -> f64 {
    let rounded = truth as f32;
    if found.is_nan() || rounded.is_nan() {
        return if found.is_nan() && rounded.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if found == rounded {
        return if found == 0.0 && found.is_sign_negative() != rounded.is_sign_negative() {
            f64::INFINITY
        } else {
            0.0
        };
    }
    if found.is_infinite() || rounded.is_infinite() {
        // The largest finite number is next to infinity.
        let (large, other) = if found.is_infinite() { (found, rounded) } else { (rounded, found) };
        return if other == f32::MAX.copysign(large) { 1.0 } else { f64::INFINITY };
    }
    let exponent = (i64::from(rounded.to_bits() >> 23 & 0xff)).max(1) - 150;
    (f64::from(found) - truth).abs() / 2f64.powi(exponent as i32)
}

fn worst(
    isa: Isa,
    code: Code,
    arguments: impl Iterator<Item = (f32, f32)>,
    truth: impl Fn(f64, f64) -> f64,
) -> (f64, (f32, f32)) {
    let mut worst = (0.0, (0.0, 0.0));
    let mut arguments = arguments.peekable();
    let (mut x, mut y, mut z) = (vec![0f32; BLOCK], vec![0f32; BLOCK], Buffer::zeroed(4 * BLOCK));
    while arguments.peek().is_some() {
        let mut count = 0;
        for (a, b) in arguments.by_ref().take(BLOCK) {
            (x[count], y[count]) = (a, b);
            count += 1;
        }
        let sources = [&x[..count], &y[..count]].map(bytes_of);
        compute(isa, code, None, &mut z.bytes_mut()[..4 * count], &[sources[0], sources[1], &[]]);
        let found = lanes::<f32>(&z.bytes_mut()[..4 * count]);
        for i in 0..count {
            let ulp = distance(found[i], truth(x[i].into(), y[i].into()));
            if ulp > worst.0 {
                worst = (ulp, (x[i], y[i]));
            }
        }
    }
    worst
}

#[test]
fn every_function_of_one_operand_is_within_two_ulp_for_all_arguments() {
    type Truth = fn(f64) -> f64;
    let functions: [(Unary, Truth); 19] = [
        (Unary::Exp, f64::exp),
        (Unary::Exp2, f64::exp2),
        (Unary::Expm1, f64::exp_m1),
        (Unary::Log, f64::ln),
        (Unary::Log2, f64::log2),
        (Unary::Log10, f64::log10),
        (Unary::Log1p, f64::ln_1p),
        (Unary::Sqrt, f64::sqrt),
        (Unary::Rsqrt, |x| 1.0 / x.sqrt()),
        (Unary::Sin, f64::sin),
        (Unary::Cos, f64::cos),
        (Unary::Tan, f64::tan),
        (Unary::Atan, f64::atan),
        (Unary::Sinh, f64::sinh),
        (Unary::Cosh, f64::cosh),
        (Unary::Tanh, f64::tanh),
        (Unary::Erf, libm::erf),
        (Unary::Round, f64::round_ties_even),
        (Unary::Trunc, f64::trunc),
    ];
    let mut failures = vec![];
    for isa in Isa::available() {
        // The narrow sets differ in fused operations and conversions only; a thinner sample covers those.
        let stride = if isa == Isa::best() { STRIDE } else { STRIDE * 97 };
        for (op, truth) in functions {
            let arguments =
                (0..=u32::MAX / stride).map(|i| (f32::from_bits(i * stride), 0.0)).chain(SPECIAL.map(|x| (x, 0.0)));
            let (ulp, (at, _)) = worst(isa, Code::Unary(op, Dtype::F32), arguments, |x, _| truth(x));
            println!("{isa:?} {op}: {ulp:.3} ulp at {at:e}");
            let exact = matches!(op, Unary::Sqrt | Unary::Round | Unary::Trunc);
            if ulp > if exact { 0.5 } else { 2.0 } {
                failures.push(format!("{isa:?} {op}: {ulp} ulp at {at:e}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

const SPECIAL: [f32; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    3.0,
    -3.0,
    1e-45,
    -1e-45,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    88.72284,
    88.7229,
    -87.336_55,
    -103.972_08,
    127.999_99,
];

#[test]
fn functions_of_two_operands_are_within_two_ulp() {
    type Truth = fn(f64, f64) -> f64;
    let functions: [(Binary, Truth); 3] =
        [(Binary::Pow, f64::powf), (Binary::Atan2, f64::atan2), (Binary::Rem, |x, y| x % y)];
    for isa in Isa::available() {
        for (op, truth) in functions {
            let pairs = SPECIAL.iter().flat_map(|x| SPECIAL.iter().map(|y| (*x, *y)));
            // Powers that neither vanish nor overflow need moderate operands.
            let moderate = (0..200_000u32).map(|i| {
                let x = f32::from_bits(0x3000_0000 + i.wrapping_mul(2_654_435_761) % 0x2000_0000);
                let y = ((i.wrapping_mul(40_503) % 20_011) as f32 - 10_005.0) / 100.0;
                (if i % 3 == 0 { -x } else { x }, if i % 2 == 0 { y.round() } else { y })
            });
            let (ulp, at) = worst(isa, Code::Binary(op, Dtype::F32), pairs.chain(moderate), truth);
            println!("{isa:?} {op}: {ulp:.3} ulp at {at:?}");
            assert!(ulp <= if op == Binary::Rem { 0.0 } else { 2.0 }, "{isa:?} {op}: {ulp} ulp at {at:?}");
        }
    }
}
