//! Conversions between slices of `f16` and of `f32`, by the processor's instructions where it has them.
//!
//! Rust has no stable `f16` type that loops could be vectorised over, and the crate `half` decides element by element.

use half::f16;

/// Calls a conversion by the widest instructions that there are; `else` is for processors that have none.
macro_rules! by_instructions {
    ($conversion:ident($($argument:ident),*) else $portable:block) => {
        #[cfg(target_arch = "x86_64")]
        match Width::best() {
            // SAFETY: the features are there.
            Width::Sixteen => return unsafe { sixteen::$conversion($($argument),*) },
            // SAFETY: the features are there.
            Width::Eight => return unsafe { eight::$conversion($($argument),*) },
            Width::One => {}
        }
        $portable
    };
}

/// Widens slices of equal length.
pub(crate) fn widen(lanes: &mut [f32], elements: &[f16]) {
    by_instructions!(widen(lanes, elements) else {
        for (lane, element) in lanes.iter_mut().zip(elements) {
            *lane = element.to_f32();
        }
    });
}

/// Rounds to slices of equal length.
pub(crate) fn narrow(elements: &mut [f16], lanes: &[f32]) {
    by_instructions!(narrow(elements, lanes) else {
        for (element, lane) in elements.iter_mut().zip(lanes) {
            *element = f16::from_f32(*lane);
        }
    });
}

/// Rounds each lane to the nearest `f16`.
pub(crate) fn round(lanes: &mut [f32]) {
    by_instructions!(round(lanes) else {
        for lane in lanes {
            *lane = f16::from_f32(*lane).to_f32();
        }
    });
}

/// How many elements an instruction converts.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
enum Width {
    One,
    Eight,
    Sixteen,
}

#[cfg(target_arch = "x86_64")]
impl Width {
    #[inline(always)]
    fn best() -> Width {
        if is_x86_feature_detected!("avx512f") {
            Width::Sixteen
        } else if is_x86_feature_detected!("avx") && is_x86_feature_detected!("f16c") {
            Width::Eight
        } else {
            Width::One
        }
    }
}

/// The conversions by instructions that take `$width` elements.
#[cfg(target_arch = "x86_64")]
macro_rules! conversions {
    ($module:ident, $features:literal, $width:literal, $packed:ident, $wide:ident, $widen:ident, $narrow:ident) => {
        mod $module {
            use half::f16;
            use std::arch::x86_64::{_MM_FROUND_TO_NEAREST_INT, $narrow, $packed, $wide, $widen};

            #[inline]
            #[target_feature(enable = $features)]
            fn widen_some(elements: [f16; $width]) -> [f32; $width] {
                // SAFETY: both are plain numbers of the same size.
                let packed = unsafe { std::mem::transmute::<[f16; $width], $packed>(elements) };
                // SAFETY: as above.
                unsafe { std::mem::transmute::<$wide, [f32; $width]>($widen(packed)) }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn narrow_some(lanes: [f32; $width]) -> [f16; $width] {
                // SAFETY: as above.
                let wide = unsafe { std::mem::transmute::<[f32; $width], $wide>(lanes) };
                // SAFETY: as above.
                unsafe { std::mem::transmute::<$packed, [f16; $width]>($narrow::<_MM_FROUND_TO_NEAREST_INT>(wide)) }
            }

            #[target_feature(enable = $features)]
            pub(super) fn widen(lanes: &mut [f32], elements: &[f16]) {
                let (lanes, lanes_rest) = lanes.as_chunks_mut::<$width>();
                let (elements, elements_rest) = elements.as_chunks::<$width>();
                for (lanes, elements) in lanes.iter_mut().zip(elements) {
                    *lanes = widen_some(*elements);
                }
                if !elements_rest.is_empty() {
                    let mut last = [f16::ZERO; $width];
                    last[..elements_rest.len()].copy_from_slice(elements_rest);
                    lanes_rest.copy_from_slice(&widen_some(last)[..lanes_rest.len()]);
                }
            }

            #[target_feature(enable = $features)]
            pub(super) fn narrow(elements: &mut [f16], lanes: &[f32]) {
                let (elements, elements_rest) = elements.as_chunks_mut::<$width>();
                let (lanes, lanes_rest) = lanes.as_chunks::<$width>();
                for (elements, lanes) in elements.iter_mut().zip(lanes) {
                    *elements = narrow_some(*lanes);
                }
                if !lanes_rest.is_empty() {
                    let mut last = [0.0; $width];
                    last[..lanes_rest.len()].copy_from_slice(lanes_rest);
                    elements_rest.copy_from_slice(&narrow_some(last)[..elements_rest.len()]);
                }
            }

            #[target_feature(enable = $features)]
            pub(super) fn round(lanes: &mut [f32]) {
                let (lanes, rest) = lanes.as_chunks_mut::<$width>();
                for lanes in lanes {
                    *lanes = widen_some(narrow_some(*lanes));
                }
                if !rest.is_empty() {
                    let mut last = [0.0; $width];
                    last[..rest.len()].copy_from_slice(rest);
                    rest.copy_from_slice(&widen_some(narrow_some(last))[..rest.len()]);
                }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
conversions!(eight, "avx,f16c", 8, __m128i, __m256, _mm256_cvtph_ps, _mm256_cvtps_ph);
#[cfg(target_arch = "x86_64")]
conversions!(sixteen, "avx512f", 16, __m256i, __m512, _mm512_cvtph_ps, _mm512_cvtps_ph);

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
            let mut rounded = wide.clone();
            round(&mut rounded);
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
