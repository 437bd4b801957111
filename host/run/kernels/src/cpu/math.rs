//! Elementary functions of `f32`, one lane at a time, free of branches so that a loop over them vectorises.
//!
//! Each is within 2 ulp of the true value for every argument; the tests measure it. `exp`, `exp2`, `tanh` and `erf`
//! stay in `f32`, as they are what activations are made of. The others work in `f64`, where half the lanes buy an
//! accuracy of half an ulp and conversions that handle overflow and subnormal numbers. Polynomials are Chebyshev
//! interpolants, which come within a few per cent of minimax. The periodic functions and `pow` leave rare arguments to
//! the standard library: see [`needs_scalar_trigonometry`] and [`needs_scalar_pow`].

/// The smaller of two floats; NaN if either is.
macro_rules! nan_min {
    ($a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        let smaller = if a < b { a } else { b };
        if a.is_nan() { a } else { smaller }
    }};
}

/// The larger of two floats; NaN if either is.
macro_rules! nan_max {
    ($a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        let larger = if a > b { a } else { b };
        if a.is_nan() { a } else { larger }
    }};
}
pub(crate) use {nan_max, nan_min};

/// 1.5 * 2^23: adding it rounds a small `f32` to an integer that can be read from the low bits.
const ROUND_F32: f32 = 12_582_912.0;
/// 1.5 * 2^52, likewise for `f64`.
const ROUND_F64: f64 = 6_755_399_441_055_744.0;

const LN_2_HIGH: f32 = f32::from_bits(0x3f31_7218);
const LN_2_LOW: f32 = -1.904_654_3e-9;

/// Evaluates `c[0] + c[1] x + ...` by Horner's rule.
#[inline(always)]
fn poly32<const N: usize>(x: f32, c: [f32; N]) -> f32 {
    c[..N - 1].iter().rev().fold(c[N - 1], |sum, c| sum.mul_add(x, *c))
}

/// Evaluates `c[0] + c[1] x + ...` by Horner's rule.
#[inline(always)]
fn poly64<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    c[..N - 1].iter().rev().fold(c[N - 1], |sum, c| sum.mul_add(x, *c))
}

/// Clamps, and lets NaN through.
#[inline(always)]
fn clamp32(x: f32, low: f32, high: f32) -> f32 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// Clamps, and lets NaN through.
#[inline(always)]
fn clamp64(x: f64, low: f64, high: f64) -> f64 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// `e^r` for `|r| <= ln(2) / 2`.
#[inline(always)]
fn exp_core(r: f32) -> f32 {
    let q = poly32(r, [0.5, 0.166_666_67, 0.041_666_457, 0.008_333_31, 0.001_393_454_2, 0.000_198_919_82]);
    q.mul_add(r * r, r) + 1.0
}

/// `p * 2^n`, where `n` was rounded by adding [`ROUND_F32`] and `|n| <= 252`.
#[inline(always)]
fn scale(p: f32, rounded: f32) -> f32 {
    let n = (rounded.to_bits() as i32).wrapping_sub(ROUND_F32.to_bits() as i32);
    // Two steps, as 2^n itself may overflow or be subnormal where the product is not.
    let half = n >> 1;
    let first = f32::from_bits(((half + 127) << 23) as u32);
    let second = f32::from_bits(((n - half + 127) << 23) as u32);
    p * first * second
}

/// `e^x`
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let x = clamp32(x, -105.0, 89.0);
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUND_F32);
    let n = rounded - ROUND_F32;
    scale(exp_core((-n).mul_add(LN_2_LOW, (-n).mul_add(LN_2_HIGH, x))), rounded)
}

/// `e^r - 1` and `2^n` for which `e^x` is `e^r 2^n`, for `|x| <= 80`: the way to `e^x - 1` that loses no digits near 0.
#[inline(always)]
fn expm1_parts(x: f32) -> (f32, f32) {
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUND_F32);
    let r = (ROUND_F32 - rounded).mul_add(LN_2_HIGH, x);
    let q = poly32(r, [0.5, 0.166_665_44, 0.041_667_2, 0.008_366_514, 0.001_388_251_7]);
    let bits = (rounded.to_bits() as i32).wrapping_sub(ROUND_F32.to_bits() as i32);
    (q.mul_add(r * r, r), f32::from_bits((bits.wrapping_add(127) << 23) as u32))
}

/// `2^x`
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    let x = clamp32(x, -151.0, 129.0);
    let rounded = x + ROUND_F32;
    let r = x - (rounded - ROUND_F32);
    scale(exp_core(r * std::f32::consts::LN_2), rounded)
}

/// `tanh(x)`
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let (e, power) = expm1_parts(-2.0 * if a > 10.0 { 10.0 } else { a });
    (e.mul_add(power, power - 1.0) / e.mul_add(power, power + 1.0)).copysign(x)
}

/// The error function, as `1 - e^-r`, where a polynomial that loses no digits near 0 gives `r`.
#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    let a = x.abs();
    let t = if a > 4.0 { 4.0 } else { a };
    let r = poly32(
        t,
        [
            0.128_379_17,
            0.636_619_4,
            0.102_777_824,
            -0.019_153_047,
            -0.000_160_427_03,
            0.001_667_058_2,
            -0.000_632_853_7,
            0.000_117_646_04,
            -9.256_806e-6,
        ],
    );
    let (e, power) = expm1_parts(-r.mul_add(t, t));
    e.mul_add(power, power - 1.0).copysign(x)
}

/// `1 / sqrt(x)`, the two rounded one after the other, as eager computes it.
#[inline(always)]
pub(crate) fn rsqrt(x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// `2^n` as an `f64`, where `n` was rounded by adding [`ROUND_F64`] and `|n| <= 1022`.
#[inline(always)]
fn power_of_two(rounded: f64) -> f64 {
    let n = rounded.to_bits().wrapping_sub(ROUND_F64.to_bits());
    f64::from_bits(n.wrapping_add(1023) << 52)
}

/// `e^x - 1` in `f64`, to about 1e-11 of its value, for `|x| <= 700`.
#[inline(always)]
fn expm1_wide(x: f64) -> f64 {
    let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUND_F64);
    let n = rounded - ROUND_F64;
    let r = (-n).mul_add(std::f64::consts::LN_2, x);
    let q = poly64(
        r,
        [
            0.9999999999951367,
            0.49999999999951383,
            0.16666666793674462,
            0.04166666679362806,
            0.008333281514799859,
            0.0013888837087667207,
            0.0001990890397190586,
            2.486920416652337e-05,
        ],
    );
    let power = power_of_two(rounded);
    (q * r).mul_add(power, power - 1.0)
}

/// `e^x - 1`
#[inline(always)]
pub(crate) fn expm1(x: f32) -> f32 {
    let e = expm1_wide(clamp64(f64::from(x), -60.0, 100.0)) as f32;
    // The true value is next to `x` here, and a zero keeps its sign.
    if x.abs() < 1e-8 { x } else { e }
}

/// Splits a positive normal number into `m 2^e` with `m` in `[sqrt(1/2), sqrt(2))`; returns `(m - 1, e)`.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    const OFFSET: u64 = 0x3fe6_a09e_667f_3bcd;
    let shifted = x.to_bits().wrapping_sub(OFFSET);
    let e = (shifted as i64) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((e as u64) << 52));
    // `e` is small: its `f64` is read off by the rounding trick, as AVX2 has no conversion from 64-bit integers.
    let e = f64::from_bits((e as u64).wrapping_add(ROUND_F64.to_bits())) - ROUND_F64;
    (m - 1.0, e)
}

/// `ln(1 + f) / f`, to about 1e-12, for `1 + f` in `[sqrt(1/2), sqrt(2)]`.
#[inline(always)]
fn log_core(f: f64) -> f64 {
    poly64(
        f,
        [
            1.0000000000002431,
            -0.4999999999839899,
            0.33333333309148516,
            -0.25000000459964683,
            0.20000004133783703,
            -0.16666630642446495,
            0.14285440739786678,
            -0.1250110497740887,
            0.11119834232093706,
            -0.0998740540881382,
            0.08949610124866071,
            -0.08311738185994073,
            0.08766825198933213,
            -0.08506234965088114,
            0.04292246698372614,
        ],
    )
}

/// Natural logarithm.
#[inline(always)]
pub(crate) fn log(x: f32) -> f32 {
    let (f, e) = split(f64::from(x));
    let y = e.mul_add(std::f64::consts::LN_2, f * log_core(f));
    let y = if x == f32::INFINITY { f64::INFINITY } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    (if x >= 0.0 { y } else { f64::NAN }) as f32
}

/// `ln(1 + x)`
#[inline(always)]
pub(crate) fn log1p(x: f32) -> f32 {
    let wide = f64::from(x);
    let u = 1.0 + wide;
    let (f, e) = split(u);
    let y = e.mul_add(std::f64::consts::LN_2, f * log_core(f));
    let y = if x == f32::INFINITY { f64::INFINITY } else { y };
    let y = if x == -1.0 { f64::NEG_INFINITY } else { y };
    let y = (if x >= -1.0 { y } else { f64::NAN }) as f32;
    // `1 + x` loses bits of a tiny `x`, whose logarithm is next to `x` itself.
    if x.abs() < 1e-8 { x } else { y }
}

/// Beyond this magnitude the reduction by multiples of a half turn loses accuracy.
const TRIGONOMETRY_LIMIT: f32 = 1e6;

/// Whether [`sin`] and [`cos`] are not accurate at `x`.
#[inline(always)]
pub(crate) fn needs_scalar_trigonometry(x: f32) -> bool {
    x.abs() > TRIGONOMETRY_LIMIT
}

/// Reduces to `(r, quadrant)` with `|r| <= pi / 4`; the quadrant sits in the low bits.
#[inline(always)]
fn reduce_quadrant(x: f64) -> (f64, u64) {
    const HALF_PI_HIGH: f64 = std::f64::consts::FRAC_PI_2;
    const HALF_PI_LOW: f64 = 6.123_233_995_736_766e-17;
    let x = if x.abs() <= f64::from(TRIGONOMETRY_LIMIT) { x } else { 0.0 };
    let rounded = x.mul_add(std::f64::consts::FRAC_2_PI, ROUND_F64);
    let n = rounded - ROUND_F64;
    let r = (-n).mul_add(HALF_PI_LOW, (-n).mul_add(HALF_PI_HIGH, x));
    (r, rounded.to_bits())
}

/// The sine of an angle in quadrant `quadrant`.
#[inline(always)]
fn sin_core(r: f64, quadrant: u64) -> f64 {
    let s = r * r;
    let sin = r * poly64(
        s,
        [
            0.9999999999952214,
            -0.16666666628692411,
            0.008333328503400293,
            -0.00019839118624483405,
            2.716579170156218e-06,
        ],
    );
    let cos = poly64(
        s,
        [
            0.9999999999999374,
            -0.49999999999283373,
            0.04166666653376648,
            -0.0013888879872854993,
            2.479882127519233e-05,
            -2.7165763610993195e-07,
        ],
    );
    let y = if quadrant & 1 == 0 { sin } else { cos };
    f64::from_bits(y.to_bits() ^ ((quadrant & 2) << 62))
}

/// Sine, where [`needs_scalar_trigonometry`] is false.
#[inline(always)]
pub(crate) fn sin(x: f32) -> f32 {
    let (r, quadrant) = reduce_quadrant(f64::from(x));
    let y = sin_core(r, quadrant) as f32;
    let y = if x.abs() < 1e-8 { x } else { y };
    if x.is_nan() { x } else { y }
}

/// Cosine, where [`needs_scalar_trigonometry`] is false.
#[inline(always)]
pub(crate) fn cos(x: f32) -> f32 {
    let (r, quadrant) = reduce_quadrant(f64::from(x));
    let y = sin_core(r, quadrant.wrapping_add(1)) as f32;
    if x.is_nan() { x } else { y }
}

/// Whether [`pow`] is not defined at these arguments: zeros, infinities, NaN.
#[inline(always)]
pub(crate) fn needs_scalar_pow(x: f32, y: f32) -> bool {
    let usual = |v: f32| v.abs() < f32::INFINITY;
    !(usual(x) & usual(y) & (x != 0.0))
}

/// `x^y`, where [`needs_scalar_pow`] is false.
#[inline(always)]
pub(crate) fn pow(x: f32, y: f32) -> f32 {
    let wide = f64::from(y);
    let (f, e) = split(f64::from(x).abs());
    let log2 = (f * log_core(f)).mul_add(std::f64::consts::LOG2_E, e);
    let power = clamp64(wide * log2, -300.0, 300.0);
    let rounded = power + ROUND_F64;
    let r = power - (rounded - ROUND_F64);
    let q = poly64(
        r,
        [
            0.9999999999562088,
            0.6931471805565743,
            0.24022651245369198,
            0.05550410908778885,
            0.00961802140583381,
            0.0013333475235376947,
            0.00015471062302062388,
            1.5304726715749116e-05,
        ],
    );
    let magnitude = (q * power_of_two(rounded)) as f32;
    let integer = wide.floor() == wide;
    let half = 0.5 * wide;
    let odd = integer & (half.floor() != half);
    let signed = if odd { -magnitude } else { magnitude };
    let negative = if integer { signed } else { f32::NAN };
    if x < 0.0 { negative } else { magnitude }
}
