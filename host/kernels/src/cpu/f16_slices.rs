//! Conversions between slices of `f16` and of `f32`, by the processor's instructions where it has them.
//!
//! Rust has no stable `f16` type that loops could be vectorised over, and the crate `half` decides element by element.

use half::f16;

/// Widens slices of equal length.
pub(crate) fn widen(lanes: &mut [f32], elements: &[f16]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") && is_x86_feature_detected!("f16c") {
        // SAFETY: the features are there.
        return unsafe { x86::widen(lanes, elements) };
    }
    for (lane, element) in lanes.iter_mut().zip(elements) {
        *lane = element.to_f32();
    }
}

/// Rounds to slices of equal length.
pub(crate) fn narrow(elements: &mut [f16], lanes: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") && is_x86_feature_detected!("f16c") {
        // SAFETY: the features are there.
        return unsafe { x86::narrow(elements, lanes) };
    }
    for (element, lane) in elements.iter_mut().zip(lanes) {
        *element = f16::from_f32(*lane);
    }
}

/// Rounds each lane to the nearest `f16`; slices of equal length.
pub(crate) fn round(lanes: &mut [f32], source: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") && is_x86_feature_detected!("f16c") {
        // SAFETY: the features are there.
        return unsafe { x86::round(lanes, source) };
    }
    for (lane, source) in lanes.iter_mut().zip(source) {
        *lane = f16::from_f32(*source).to_f32();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use half::f16;
    use std::arch::x86_64::{__m128i, __m256, _MM_FROUND_TO_NEAREST_INT, _mm256_cvtph_ps, _mm256_cvtps_ph};

    #[inline]
    #[target_feature(enable = "avx,f16c")]
    fn widen_eight(elements: [f16; 8]) -> [f32; 8] {
        // SAFETY: both are 128 bits of plain numbers.
        let packed: __m128i = unsafe { std::mem::transmute(elements) };
        // SAFETY: both are eight `f32`.
        unsafe { std::mem::transmute::<__m256, [f32; 8]>(_mm256_cvtph_ps(packed)) }
    }

    #[inline]
    #[target_feature(enable = "avx,f16c")]
    fn narrow_eight(lanes: [f32; 8]) -> [f16; 8] {
        // SAFETY: both are eight `f32`.
        let wide: __m256 = unsafe { std::mem::transmute(lanes) };
        // SAFETY: both are 128 bits of plain numbers.
        unsafe { std::mem::transmute::<__m128i, [f16; 8]>(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(wide)) }
    }

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn widen(lanes: &mut [f32], elements: &[f16]) {
        let (lanes, lanes_rest) = lanes.as_chunks_mut::<8>();
        let (elements, elements_rest) = elements.as_chunks::<8>();
        for (lanes, elements) in lanes.iter_mut().zip(elements) {
            *lanes = widen_eight(*elements);
        }
        let mut last = [f16::ZERO; 8];
        last[..elements_rest.len()].copy_from_slice(elements_rest);
        lanes_rest.copy_from_slice(&widen_eight(last)[..lanes_rest.len()]);
    }

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn narrow(elements: &mut [f16], lanes: &[f32]) {
        let (elements, elements_rest) = elements.as_chunks_mut::<8>();
        let (lanes, lanes_rest) = lanes.as_chunks::<8>();
        for (elements, lanes) in elements.iter_mut().zip(lanes) {
            *elements = narrow_eight(*lanes);
        }
        let mut last = [0.0; 8];
        last[..lanes_rest.len()].copy_from_slice(lanes_rest);
        elements_rest.copy_from_slice(&narrow_eight(last)[..elements_rest.len()]);
    }

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn round(lanes: &mut [f32], source: &[f32]) {
        let (lanes, lanes_rest) = lanes.as_chunks_mut::<8>();
        let (source, source_rest) = source.as_chunks::<8>();
        for (lanes, source) in lanes.iter_mut().zip(source) {
            *lanes = widen_eight(narrow_eight(*source));
        }
        let mut last = [0.0; 8];
        last[..source_rest.len()].copy_from_slice(source_rest);
        lanes_rest.copy_from_slice(&widen_eight(narrow_eight(last))[..lanes_rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_halves_widen_and_narrow_as_the_portable_conversion_does() {
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        // Lengths that leave every remainder.
        for len in (halves.len() - 9)..=halves.len() {
            let mut wide = vec![0.0; len];
            widen(&mut wide, &halves[..len]);
            let mut narrowed = vec![f16::ZERO; len];
            narrow(&mut narrowed, &wide);
            let mut rounded = vec![0.0; len];
            round(&mut rounded, &wide);
            for (i, half) in halves[..len].iter().enumerate() {
                if half.is_nan() {
                    assert!(wide[i].is_nan() && narrowed[i].is_nan() && rounded[i].is_nan(), "{:#x}", half.to_bits());
                } else {
                    assert_eq!(wide[i].to_bits(), half.to_f32().to_bits());
                    assert_eq!(narrowed[i].to_bits(), half.to_bits());
                    assert_eq!(rounded[i].to_bits(), wide[i].to_bits());
                }
            }
        }
    }

    #[test]
    fn floats_between_halves_round_to_even() {
        let floats: Vec<f32> = (0..200_000u32).map(|i| f32::from_bits(i * 21_467)).filter(|x| !x.is_nan()).collect();
        let mut narrowed = vec![f16::ZERO; floats.len()];
        narrow(&mut narrowed, &floats);
        for (narrowed, x) in narrowed.iter().zip(&floats) {
            assert_eq!(narrowed.to_bits(), f16::from_f32_const(*x).to_bits(), "{x:e}");
        }
    }
}
