//! Random kernels whose rows lie side by side and are read in several passes, as those of a softmax over channels.

use super::{Builder, MOST_WORK};
use crate::prng::Prng;
use passhost_ir::kernel::Kernel;

/// Some rows, with points that a few threads have registers for.
pub(crate) fn space(random: &mut Prng) -> Kernel {
    let rows = if random.chance(70) { 8 * random.between(1, 16) } else { random.between(3, 130) };
    let points = random.between(2, 300).min(MOST_WORK / rows);
    Kernel { parallel: vec![rows], reduce: vec![points], ..Kernel::default() }
}

impl Builder {
    /// Elements, and what is left of them without what their column is reduced to.
    pub(crate) fn columns_body(&mut self) {
        self.load_points();
        for _ in 0..self.random.below(4) {
            match self.random.below(3) {
                0 => self.load_points(),
                1 => self.unary(),
                _ => self.binary(),
            };
        }
        for _ in 0..self.random.between(1, 2) {
            self.centred();
        }
    }
}
