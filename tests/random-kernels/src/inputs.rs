//! Tensors for random kernels: mostly ordinary numbers, some heavy, some special.

use super::prng::Prng;
use passhost_ir::Dtype;
use passhost_ir::kernel::scalar::Num;
use passhost_ir::kernel::{InputDecl, Tensor};

/// What the elements of an input are for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Draw {
    /// To calculate with.
    Numbers,
    /// To gather by from a dimension of this extent; some lie outside.
    Positions(i64),
}

/// Draws one tensor. `special` admits NaN and infinities.
pub(super) fn draw(random: &mut Prng, decl: &InputDecl, draw: Draw, special: bool) -> Tensor {
    Tensor::from_fn(decl.dtype, decl.shape.clone(), |_| match draw {
        Draw::Positions(extent) => Num::Int(random.between(-2, extent + 1)),
        Draw::Numbers if decl.dtype.is_float() => Num::Float(float(random, special)),
        Draw::Numbers => Num::Int(integer(random, decl.dtype)),
    })
}

fn float(random: &mut Prng, special: bool) -> f64 {
    if special && random.chance(4) {
        return random.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    }
    match random.below(200) {
        0..4 => random.pick(&[0.0, -0.0]),
        4..6 => random.normal() * 1e-6,
        6..12 => random.normal() * 50.0,
        12..20 => random.between(-4, 4) as f64,
        _ => random.normal(),
    }
}

fn integer(random: &mut Prng, dtype: Dtype) -> i64 {
    if dtype == Dtype::Bool {
        return random.between(0, 1);
    }
    // The tensor wraps what its type does not hold.
    match random.below(50) {
        0 => random.bits() as i64,
        1 => random.pick(&[i64::MIN, i64::MAX, i32::MIN.into(), i32::MAX.into()]),
        _ => random.between(-9, 20),
    }
}
