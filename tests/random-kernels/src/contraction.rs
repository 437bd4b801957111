//! Random contractions: sums of products of two factors that follow different axes, with what is computed before and
//! behind them.

mod epilogue;
mod factors;
mod matrices;
mod windows;

use super::inputs::{self, Draw};
use super::prng::Prng;
use super::{Builder, RandomKernel};
use passhost_ir::Dtype;
use passhost_ir::kernel::scalar::Num;
use passhost_ir::kernel::{IndexExpr, IndexId, InputDecl, Kernel, Op, PaddingMode, Reg, Tensor};

/// Products that a contraction may have; most have far fewer.
pub const MOST_PRODUCTS: i64 = 400_000;

/// Of so many seeds one has infinities and NaNs among its inputs.
const SEEDS_FOR_NONFINITE: u64 = 4;

/// Where a factor is read at a point of all axes.
struct Factor {
    /// The extent of each dimension of its tensor, and the index along it.
    dims: Vec<(i64, IndexId)>,
    /// Axes that its elements follow: a value that it is scaled by may lie along one of them.
    axes: Vec<u32>,
}

/// What is multiplied at a point of the axes.
struct Products {
    factors: [Factor; 2],
    /// A product counts where each of these indices is at least 0 and below its extent.
    inside: Vec<(IndexId, i64)>,
}

impl RandomKernel {
    /// A verified kernel and one tensor for each of its inputs. A seed always gives the same.
    ///
    /// The kernel has one sum, of products of two factors: of matrices, with batches and either factor transposed, or of
    /// a convolution, with all that one may have. Some products count only where a tensor says so, and some factors are read at
    /// positions that a tensor holds. At most [`MOST_PRODUCTS`] products are taken. A quarter of the seeds
    /// has a few infinities and NaNs among the inputs.
    pub fn contraction(seed: u64) -> (Kernel, Vec<Tensor>) {
        let random = Prng::new(seed.wrapping_mul(0xa076_1d64_78bd_642f));
        let mut builder = Builder { random, kernel: Kernel::default(), draws: Vec::new() };
        let most = builder.random.pick(&[1_000, 10_000, 30_000, 60_000, 60_000, 100_000, 100_000, MOST_PRODUCTS]);
        let products = if builder.random.chance(60) { builder.matrices(most) } else { builder.windows(most) };
        let sum = builder.sum(&products);
        builder.epilogue(sum);
        let Builder { mut random, kernel, draws } = builder;
        let declared = kernel.inputs.iter().zip(draws);
        let mut tensors: Vec<Tensor> =
            declared.map(|(decl, draw)| inputs::draw(&mut random, decl, draw, false)).collect();
        if seed % SEEDS_FOR_NONFINITE == SEEDS_FOR_NONFINITE - 1 {
            tensors.iter_mut().for_each(|tensor| put_nonfinite(&mut random, tensor));
        }
        (kernel, tensors)
    }
}

/// Makes at most two elements of a tensor of floats infinite or NaN: more would leave nothing else in the sums.
fn put_nonfinite(random: &mut Prng, tensor: &mut Tensor) {
    if !tensor.dtype.is_float() || tensor.is_empty() {
        return;
    }
    for _ in 0..random.below(3) {
        let position = random.below(tensor.len());
        tensor.set(position, Num::Float(random.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY])));
    }
}

/// Halves the largest extent until a product of all is small enough.
fn fit(extents: &mut [i64], most: i64) {
    while extents.iter().product::<i64>() > most {
        let Some(largest) = extents.iter_mut().max() else { return };
        *largest /= 2;
    }
}

impl Builder {
    /// Axes of these extents, whose index expressions have their numbers.
    fn axes(&mut self, parallel: Vec<i64>, reduce: Vec<i64>) {
        self.kernel.index = (0..(parallel.len() + reduce.len()) as u32).map(IndexExpr::Axis).collect();
        (self.kernel.parallel, self.kernel.reduce) = (parallel, reduce);
    }

    /// An element of a new input.
    fn element(&mut self, dtype: Dtype, dims: &[(i64, IndexId)], padding: PaddingMode) -> Reg {
        let (shape, index) = dims.iter().copied().unzip();
        self.kernel.inputs.push(InputDecl { dtype, shape });
        self.draws.push(Draw::Numbers);
        self.push(dtype, Op::Load { input: self.kernel.inputs.len() as u32 - 1, index, padding })
    }

    /// An element of a new input that lies along these axes, as a float that is calculated with, or as a condition.
    fn along(&mut self, axes: &[u32], math: Dtype) -> Reg {
        let dims: Vec<(i64, IndexId)> =
            axes.iter().map(|&axis| (self.kernel.extent(axis).unwrap_or(1), IndexId(axis))).collect();
        let floats = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F32, math];
        let dtype = if math.is_float() { self.random.pick(&floats) } else { math };
        let element = self.element(dtype, &dims, PaddingMode::Clamp);
        self.converted(math, element)
    }

    /// A value in a type: itself, or a cast.
    fn converted(&mut self, dtype: Dtype, value: Reg) -> Reg {
        if self.kernel.body[value.0 as usize].dtype == dtype { value } else { self.push(dtype, Op::Cast(value)) }
    }
}
