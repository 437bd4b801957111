//! The instruction set that inner loops are compiled for, chosen once at run time.
//!
//! Loops are plain Rust that the compiler vectorises. [`multiversion`] compiles one loop nest three times, each with
//! other target features, and picks by [`Isa`]. Everything a versioned function calls must be `#[inline(always)]`,
//! otherwise it would be compiled once, for the baseline.

use std::sync::LazyLock;

/// A set of target features that this machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isa {
    /// The baseline of the target.
    Portable,
    /// AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ and VL besides.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The widest set that this machine has.
    pub(crate) fn best() -> Isa {
        static BEST: LazyLock<Isa> = LazyLock::new(|| Isa::available().last().copied().unwrap_or(Isa::Portable));
        *BEST
    }

    /// All sets that this machine has, narrow before wide.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn available() -> Vec<Isa> {
        let mut sets = vec![Isa::Portable];
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        if avx2 && is_x86_feature_detected!("f16c") {
            sets.push(Isa::Avx2);
            let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
            if wide && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
                sets.push(Isa::Avx512);
            }
        }
        sets
    }

    /// All sets that this machine has, narrow before wide.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn available() -> Vec<Isa> {
        vec![Isa::Portable]
    }
}

/// Has bytes that are used soon fetched into the second-level cache. Streams that take turns are fetched late otherwise.
#[inline(always)]
pub(crate) fn prefetch(from: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every x86-64 has it, it reads nothing that a program could see, and it faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}

/// Declares `fn name(isa: Isa, args...)`, which runs `body::<I>(args...)` compiled for `isa`, where `I` are its
/// [`Instructions`](super::halves::Instructions).
macro_rules! multiversion {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $(<$($generic:ident: $bound:ident),*>)? ($($arg:ident: $ty:ty),* $(,)?) = $body:ident;) => {
        $(#[$meta])*
        $vis fn $name$(<$($generic: $bound),*>)?(isa: crate::cpu::isa::Isa, $($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c")]
            fn avx2$(<$($generic: $bound),*>)?($($arg: $ty),*) {
                $body::<crate::cpu::halves::Avx2 $($(, $generic)*)?>($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
            fn avx512$(<$($generic: $bound),*>)?($($arg: $ty),*) {
                $body::<crate::cpu::halves::Avx512 $($(, $generic)*)?>($($arg),*)
            }

            match isa {
                // SAFETY: `Isa::available` names a set only where the machine has its features, and nothing else makes one.
                #[cfg(target_arch = "x86_64")]
                crate::cpu::isa::Isa::Avx512 => unsafe { avx512$(::<$($generic),*>)?($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                crate::cpu::isa::Isa::Avx2 => unsafe { avx2$(::<$($generic),*>)?($($arg),*) },
                crate::cpu::isa::Isa::Portable => $body::<crate::cpu::halves::Portable $($(, $generic)*)?>($($arg),*),
            }
        }
    };
}
pub(crate) use multiversion;
