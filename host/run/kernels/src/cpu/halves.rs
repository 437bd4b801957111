//! Floats of 16 bits: to `f32`, and rounded from it, some at a time.
//!
//! Rust has no stable `f16` type that loops could be vectorised over, and the crate `half` decides element by element. So
//! `f16` takes the processor's instructions where it has them. `bf16` needs none.

use super::lanes::Element;
use half::{bf16, f16};

/// Elements that are converted together.
pub(super) const GROUP: usize = 16;

/// The conversions of an instruction set.
///
/// # Safety
/// For all functions: the machine has the instructions.
pub(super) trait Instructions {
    unsafe fn widen(elements: [f16; GROUP]) -> [f32; GROUP];
    /// Rounds to nearest even.
    unsafe fn narrow(lanes: [f32; GROUP]) -> [f16; GROUP];
    /// The low halves, where the high ones are 0.
    unsafe fn low(words: [u32; GROUP]) -> [u16; GROUP];
}

/// Those of any processor.
pub(super) enum Portable {}

impl Instructions for Portable {
    #[inline(always)]
    unsafe fn widen(elements: [f16; GROUP]) -> [f32; GROUP] {
        elements.map(f16::to_f32)
    }

    #[inline(always)]
    unsafe fn narrow(lanes: [f32; GROUP]) -> [f16; GROUP] {
        lanes.map(f16::from_f32)
    }

    #[inline(always)]
    unsafe fn low(words: [u32; GROUP]) -> [u16; GROUP] {
        words.map(|word| word as u16)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_op_in_unsafe_fn, reason = "each function does what its name says under the trait's contract")]
mod x86 {
    use crate::cpu::halves::{GROUP, Instructions};
    use half::f16;
    use std::arch::x86_64::*;
    use std::mem::transmute;

    /// Eight elements by F16C.
    pub(in crate::cpu) enum Avx2 {}

    impl Instructions for Avx2 {
        #[inline(always)]
        unsafe fn widen(elements: [f16; GROUP]) -> [f32; GROUP] {
            let [a, b] = transmute::<[f16; GROUP], [__m128i; 2]>(elements);
            transmute::<[__m256; 2], [f32; GROUP]>([_mm256_cvtph_ps(a), _mm256_cvtph_ps(b)])
        }

        #[inline(always)]
        unsafe fn narrow(lanes: [f32; GROUP]) -> [f16; GROUP] {
            let [a, b] = transmute::<[f32; GROUP], [__m256; 2]>(lanes);
            let (a, b) =
                (_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(a), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(b));
            transmute::<[__m128i; 2], [f16; GROUP]>([a, b])
        }

        #[inline(always)]
        unsafe fn low(words: [u32; GROUP]) -> [u16; GROUP] {
            let [a, b] = transmute::<[u32; GROUP], [__m256i; 2]>(words);
            transmute::<__m256i, [u16; GROUP]>(_mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(a, b)))
        }
    }

    /// Sixteen elements by AVX-512 F.
    pub(in crate::cpu) enum Avx512 {}

    impl Instructions for Avx512 {
        #[inline(always)]
        unsafe fn widen(elements: [f16; GROUP]) -> [f32; GROUP] {
            transmute::<__m512, [f32; GROUP]>(_mm512_cvtph_ps(transmute::<[f16; GROUP], __m256i>(elements)))
        }

        #[inline(always)]
        unsafe fn narrow(lanes: [f32; GROUP]) -> [f16; GROUP] {
            let wide = transmute::<[f32; GROUP], __m512>(lanes);
            transmute::<__m256i, [f16; GROUP]>(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(wide))
        }

        #[inline(always)]
        unsafe fn low(words: [u32; GROUP]) -> [u16; GROUP] {
            let words = transmute::<[u32; GROUP], __m512i>(words);
            transmute::<__m256i, [u16; GROUP]>(_mm512_cvtepi32_epi16(words))
        }
    }
}

/// The nearest `bf16`. Free of branches, unlike the library's, so that loops over it vectorise.
#[inline(always)]
pub(super) fn to_bf16(x: f32) -> bf16 {
    bf16::from_bits(bf16_word(x) as u16)
}

#[inline(always)]
fn bf16_word(x: f32) -> u32 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    (if x.is_nan() { bits | 0x0040_0000 } else { rounded }) >> 16
}

/// Exactly.
#[inline(always)]
pub(super) fn from_bf16(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// A float type that computations widen to `f32`.
pub(super) trait Half: Element {
    /// Exactly.
    fn widen<I: Instructions>(elements: [Self; GROUP]) -> [f32; GROUP];
    /// To nearest even.
    fn narrow<I: Instructions>(lanes: [f32; GROUP]) -> [Self; GROUP];
}

impl Half for f16 {
    #[inline(always)]
    fn widen<I: Instructions>(elements: [f16; GROUP]) -> [f32; GROUP] {
        // SAFETY: `multiversion` names instructions only where the machine has them.
        unsafe { I::widen(elements) }
    }

    #[inline(always)]
    fn narrow<I: Instructions>(lanes: [f32; GROUP]) -> [f16; GROUP] {
        // SAFETY: as above.
        unsafe { I::narrow(lanes) }
    }
}

impl Half for f32 {
    #[inline(always)]
    fn widen<I: Instructions>(elements: [f32; GROUP]) -> [f32; GROUP] {
        elements
    }

    #[inline(always)]
    fn narrow<I: Instructions>(lanes: [f32; GROUP]) -> [f32; GROUP] {
        lanes
    }
}

impl Half for bf16 {
    #[inline(always)]
    fn widen<I: Instructions>(elements: [bf16; GROUP]) -> [f32; GROUP] {
        elements.map(from_bf16)
    }

    #[inline(always)]
    fn narrow<I: Instructions>(lanes: [f32; GROUP]) -> [bf16; GROUP] {
        // SAFETY: as above.
        unsafe { I::low(lanes.map(bf16_word)) }.map(bf16::from_bits)
    }
}

/// Applies a function to some lanes at a time, the last ones in an array that is filled up.
#[inline(always)]
pub(super) fn in_arrays<A: Element, B: Element, D: Element>(
    out: &mut [D],
    a: &[A],
    b: &[B],
    f: impl Fn([A; GROUP], [B; GROUP]) -> [D; GROUP],
) {
    let len = out.len();
    let (arrays, rest) = out.as_chunks_mut::<GROUP>();
    let ((a, a_rest), (b, b_rest)) = (a[..len].as_chunks::<GROUP>(), b[..len].as_chunks::<GROUP>());
    for ((out, a), b) in arrays.iter_mut().zip(a).zip(b) {
        *out = f(*a, *b);
    }
    if !rest.is_empty() {
        let (mut last_a, mut last_b) = ([A::default(); GROUP], [B::default(); GROUP]);
        last_a[..rest.len()].copy_from_slice(a_rest);
        last_b[..rest.len()].copy_from_slice(b_rest);
        rest.copy_from_slice(&f(last_a, last_b)[..rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::compute::{Code, compute};
    use crate::cpu::isa::Isa;
    use crate::cpu::lanes::{Buffer, lanes, lanes_mut};
    use passhost_ir::Dtype;

    fn convert<A: Element, D: Element>(isa: Isa, from: Dtype, to: Dtype, elements: &[A]) -> Vec<D> {
        let mut source = Buffer::zeroed(size_of_val(elements));
        lanes_mut::<A>(&mut source.bytes_mut()[..size_of_val(elements)]).copy_from_slice(elements);
        let mut target = Buffer::zeroed(elements.len() * size_of::<D>());
        let out = &mut target.bytes_mut()[..elements.len() * size_of::<D>()];
        compute(isa, Code::Convert(from, to), None, out, &[&source.bytes_mut()[..size_of_val(elements)], &[], &[]]);
        lanes::<D>(out).to_vec()
    }

    #[test]
    fn all_halves_widen_and_narrow_as_the_portable_conversion_does() {
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        for isa in Isa::available() {
            // Lengths that leave every remainder.
            for len in (halves.len() - GROUP)..=halves.len() {
                let wide: Vec<f32> = convert(isa, Dtype::F16, Dtype::F32, &halves[..len]);
                let narrowed: Vec<f16> = convert(isa, Dtype::F32, Dtype::F16, &wide);
                for (i, half) in halves[..len].iter().enumerate() {
                    if half.is_nan() {
                        assert!(wide[i].is_nan() && narrowed[i].is_nan(), "{:#x}", half.to_bits());
                    } else {
                        assert_eq!(wide[i].to_bits(), half.to_f32().to_bits());
                        assert_eq!(narrowed[i].to_bits(), half.to_bits());
                    }
                }
            }
        }
    }

    #[test]
    fn floats_between_halves_round_to_even() {
        let floats: Vec<f32> = (0..200_000u32).map(|i| f32::from_bits(i * 21_467)).filter(|x| !x.is_nan()).collect();
        for isa in Isa::available() {
            let narrowed: Vec<f16> = convert(isa, Dtype::F32, Dtype::F16, &floats);
            for (narrowed, x) in narrowed.iter().zip(&floats) {
                assert_eq!(narrowed.to_bits(), f16::from_f32_const(*x).to_bits(), "{x:e}");
            }
        }
    }
}
