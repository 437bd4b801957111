//! Vectors of `f32` lanes in processor registers, one type for each instruction set.
//!
//! Loops over slices are left to the compiler elsewhere; here an expression over several operands has to stay in
//! registers from its loads to its store, conversions to and from 16-bit floats included.

use super::compute::{nan_max, nan_min};
use super::element::{Element, round_to_bf16};
use half::{bf16, f16};

/// Some `f32` lanes.
///
/// # Safety
/// For all functions: the machine has the instruction set, and pointers may be read or written for [`Simd::LANES`]
/// elements. Pointers need no alignment beyond that of their elements.
pub(super) trait Simd: Copy {
    const LANES: usize;

    unsafe fn load_f32(elements: *const f32) -> Self;
    unsafe fn load_f16(elements: *const f16) -> Self;
    unsafe fn load_bf16(elements: *const bf16) -> Self;
    unsafe fn store_f32(self, elements: *mut f32);
    /// Rounds to nearest even, as all that narrows here.
    unsafe fn store_f16(self, elements: *mut f16);
    unsafe fn store_bf16(self, elements: *mut bf16);
    unsafe fn round_to_f16(self) -> Self;
    unsafe fn round_to_bf16(self) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    unsafe fn div(self, other: Self) -> Self;
    /// NaN if either is.
    unsafe fn min(self, other: Self) -> Self;
    /// NaN if either is.
    unsafe fn max(self, other: Self) -> Self;
}

/// Eight lanes, for any processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable([f32; 8]);

impl Portable {
    #[inline(always)]
    fn with(self, other: Portable, f: impl Fn(f32, f32) -> f32) -> Portable {
        Portable(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "each function does what its name says under the trait's contract")]
impl Simd for Portable {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load_f32(elements: *const f32) -> Self {
        Portable(*elements.cast())
    }

    #[inline(always)]
    unsafe fn load_f16(elements: *const f16) -> Self {
        Portable((*elements.cast::<[f16; 8]>()).map(f16::to_f32))
    }

    #[inline(always)]
    unsafe fn load_bf16(elements: *const bf16) -> Self {
        Portable((*elements.cast::<[bf16; 8]>()).map(Element::widen))
    }

    #[inline(always)]
    unsafe fn store_f32(self, elements: *mut f32) {
        *elements.cast() = self.0;
    }

    #[inline(always)]
    unsafe fn store_f16(self, elements: *mut f16) {
        *elements.cast() = self.0.map(f16::from_f32);
    }

    #[inline(always)]
    unsafe fn store_bf16(self, elements: *mut bf16) {
        *elements.cast() = self.0.map(<bf16 as Element>::narrow);
    }

    #[inline(always)]
    unsafe fn round_to_f16(self) -> Self {
        Portable(self.0.map(|lane| f16::from_f32(lane).to_f32()))
    }

    #[inline(always)]
    unsafe fn round_to_bf16(self) -> Self {
        Portable(self.0.map(round_to_bf16))
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }

    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        self.with(other, |a, b| a / b)
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        self.with(other, |a, b| nan_min!(a, b))
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        self.with(other, |a, b| nan_max!(a, b))
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_op_in_unsafe_fn, reason = "each function does what its name says under the trait's contract")]
mod x86 {
    use crate::cpu::simd::Simd;
    use half::{bf16, f16};
    use std::arch::x86_64::*;

    /// Eight lanes by AVX2 and F16C.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::cpu) struct Avx2(__m256);

    /// Sixteen lanes by AVX-512 F.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::cpu) struct Avx512(__m512);

    impl Avx2 {
        /// The bits of the nearest `bf16` in the upper half of each lane, and anything in the lower.
        #[inline(always)]
        unsafe fn bf16_bits(self) -> __m256i {
            let bits = _mm256_castps_si256(self.0);
            let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
            let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
            let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x0040_0000));
            let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(self.0, self.0));
            _mm256_blendv_epi8(rounded, quiet, nan)
        }

        /// `a` where it is NaN, `b` elsewhere.
        #[inline(always)]
        unsafe fn nan_or(a: __m256, b: __m256) -> Avx2 {
            Avx2(_mm256_blendv_ps(b, a, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, a)))
        }
    }

    impl Simd for Avx2 {
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn load_f32(elements: *const f32) -> Self {
            Avx2(_mm256_loadu_ps(elements))
        }

        #[inline(always)]
        unsafe fn load_f16(elements: *const f16) -> Self {
            Avx2(_mm256_cvtph_ps(_mm_loadu_si128(elements.cast())))
        }

        #[inline(always)]
        unsafe fn load_bf16(elements: *const bf16) -> Self {
            let bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(elements.cast()));
            Avx2(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits)))
        }

        #[inline(always)]
        unsafe fn store_f32(self, elements: *mut f32) {
            _mm256_storeu_ps(elements, self.0);
        }

        #[inline(always)]
        unsafe fn store_f16(self, elements: *mut f16) {
            _mm_storeu_si128(elements.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0));
        }

        #[inline(always)]
        unsafe fn store_bf16(self, elements: *mut bf16) {
            let bits = _mm256_srli_epi32::<16>(self.bf16_bits());
            // Packing works in each half of the register alone.
            let packed = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi32(bits, bits));
            _mm_storeu_si128(elements.cast(), _mm256_castsi256_si128(packed));
        }

        #[inline(always)]
        unsafe fn round_to_f16(self) -> Self {
            Avx2(_mm256_cvtph_ps(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)))
        }

        #[inline(always)]
        unsafe fn round_to_bf16(self) -> Self {
            let upper = _mm256_set1_epi32(0xffff_0000_u32 as i32);
            Avx2(_mm256_castsi256_ps(_mm256_and_si256(self.bf16_bits(), upper)))
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            Avx2(_mm256_add_ps(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn sub(self, other: Self) -> Self {
            Avx2(_mm256_sub_ps(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            Avx2(_mm256_mul_ps(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn div(self, other: Self) -> Self {
            Avx2(_mm256_div_ps(self.0, other.0))
        }

        // The instructions for minimum and maximum give the second operand where either is NaN.

        #[inline(always)]
        unsafe fn min(self, other: Self) -> Self {
            Avx2::nan_or(self.0, _mm256_min_ps(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn max(self, other: Self) -> Self {
            Avx2::nan_or(self.0, _mm256_max_ps(self.0, other.0))
        }
    }

    impl Avx512 {
        /// As for [`Avx2`].
        #[inline(always)]
        unsafe fn bf16_bits(self) -> __m512i {
            let bits = _mm512_castps_si512(self.0);
            let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
            let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
            let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self.0, self.0);
            _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x0040_0000))
        }

        /// As for [`Avx2`].
        #[inline(always)]
        unsafe fn nan_or(a: __m512, b: __m512) -> Avx512 {
            Avx512(_mm512_mask_mov_ps(b, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, a), a))
        }
    }

    impl Simd for Avx512 {
        const LANES: usize = 16;

        #[inline(always)]
        unsafe fn load_f32(elements: *const f32) -> Self {
            Avx512(_mm512_loadu_ps(elements))
        }

        #[inline(always)]
        unsafe fn load_f16(elements: *const f16) -> Self {
            Avx512(_mm512_cvtph_ps(_mm256_loadu_si256(elements.cast())))
        }

        #[inline(always)]
        unsafe fn load_bf16(elements: *const bf16) -> Self {
            let bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(elements.cast()));
            Avx512(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits)))
        }

        #[inline(always)]
        unsafe fn store_f32(self, elements: *mut f32) {
            _mm512_storeu_ps(elements, self.0);
        }

        #[inline(always)]
        unsafe fn store_f16(self, elements: *mut f16) {
            _mm256_storeu_si256(elements.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0));
        }

        #[inline(always)]
        unsafe fn store_bf16(self, elements: *mut bf16) {
            let bits = _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(self.bf16_bits()));
            _mm256_storeu_si256(elements.cast(), bits);
        }

        #[inline(always)]
        unsafe fn round_to_f16(self) -> Self {
            Avx512(_mm512_cvtph_ps(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)))
        }

        #[inline(always)]
        unsafe fn round_to_bf16(self) -> Self {
            let upper = _mm512_set1_epi32(0xffff_0000_u32 as i32);
            Avx512(_mm512_castsi512_ps(_mm512_and_si512(self.bf16_bits(), upper)))
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            Avx512(_mm512_add_ps(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn sub(self, other: Self) -> Self {
            Avx512(_mm512_sub_ps(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            Avx512(_mm512_mul_ps(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn div(self, other: Self) -> Self {
            Avx512(_mm512_div_ps(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn min(self, other: Self) -> Self {
            Avx512::nan_or(self.0, _mm512_min_ps(self.0, other.0))
        }

        #[inline(always)]
        unsafe fn max(self, other: Self) -> Self {
            Avx512::nan_or(self.0, _mm512_max_ps(self.0, other.0))
        }
    }
}
