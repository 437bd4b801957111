//! Where a tensor is sampled that is enlarged or shrunk.

use crate::lower::KernelBuilder;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, IndexId, Reg};

/// From where a tensor is sampled for a position of the result, calculated with floats as ATen does: its compilers fuse
/// the product and the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sampling {
    /// `F32` or `F64`.
    dtype: Dtype,
    /// Bits of the distance between samples, an `f64`.
    scale: u64,
    pub(crate) centre: Centre,
}

/// Which point of an element the position of a sample means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Centre {
    /// `scale * position`.
    Corner,
    /// `scale * (position + 0.5)`.
    Middle,
    /// `scale * (position + 0.5) - 0.5`.
    MiddleToMiddle,
    /// The same, not below 0.
    MiddleToMiddleInside,
}

impl Sampling {
    /// Samples `scale` apart; the type is `F32` or `F64`.
    pub(crate) fn new(dtype: Dtype, scale: f64, centre: Centre) -> Sampling {
        let scale = if dtype == Dtype::F64 { scale } else { f64::from(scale as f32) };
        Sampling { dtype, scale: scale.to_bits(), centre }
    }

    /// How far samples lie apart.
    pub(crate) fn scale(self) -> f64 {
        f64::from_bits(self.scale)
    }

    /// Where the sample for `position` lies.
    fn at(self, position: i64) -> f64 {
        let round = |x: f64| if self.dtype == Dtype::F64 { x } else { f64::from(x as f32) };
        let scale = self.scale();
        let corner = round(position as f64);
        let middle = round(corner + 0.5);
        // A product of two `f32` is exact in `f64`, and their fused sum rounds once.
        let shifted =
            || round(if self.dtype == Dtype::F64 { scale.mul_add(middle, -0.5) } else { scale * middle - 0.5 });
        match self.centre {
            Centre::Corner => round(scale * corner),
            Centre::Middle => round(scale * middle),
            Centre::MiddleToMiddle => shifted(),
            Centre::MiddleToMiddleInside => shifted().max(0.0),
        }
    }

    /// The same, rounded down.
    pub(crate) fn floor(self, position: i64) -> i64 {
        self.at(position).floor() as i64
    }

    /// The same as a value of a kernel, not rounded.
    pub(crate) fn emit(self, kernel: &KernelBuilder, position: IndexId) -> Reg {
        let position = kernel.position(position);
        let mut sample = kernel.cast(self.dtype, position);
        if self.centre != Centre::Corner {
            let half = kernel.float(self.dtype, 0.5);
            sample = kernel.binary(Binary::Add, sample, half);
        }
        let scale = kernel.float(self.dtype, self.scale());
        sample = match self.centre {
            Centre::Corner | Centre::Middle => kernel.binary(Binary::Mul, scale, sample),
            Centre::MiddleToMiddle | Centre::MiddleToMiddleInside => {
                let back = kernel.float(self.dtype, -0.5);
                kernel.fma(scale, sample, back)
            }
        };
        if self.centre == Centre::MiddleToMiddleInside {
            let zero = kernel.float(self.dtype, 0.0);
            sample = kernel.binary(Binary::Max, sample, zero);
        }
        sample
    }
}
