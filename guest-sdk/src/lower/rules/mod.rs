//! The ops that lower to scalar code and reductions, one table per family, and those that interpolate.
//!
//! A rule says how eager's own kernel calculates one element. It works in the math type of the tensor type
//! ([`math`](super::math::math)); the result is rounded to the tensor type once, at the end of the op. Formulas, their
//! order of evaluation and fused multiply-adds are those of ATen 2.11; where its CPU and CUDA kernels differ, a rule
//! follows the CUDA one and says so.

pub(super) mod activation;
pub(super) mod arithmetic;
pub(super) mod bits;
pub(super) mod classification;
pub(super) mod conversion;
pub(super) mod creation;
pub(super) mod inverse;
pub(super) mod length;
pub(super) mod logarithmic;
pub(super) mod logic;
pub(super) mod loss;
pub(super) mod normalization;
pub(super) mod pooling;
pub(super) mod reduction;
pub(super) mod resampling;
pub(super) mod rounding;
pub(super) mod scan;
pub(super) mod spread;
pub(super) mod transcendental;
pub(super) mod triangle;
