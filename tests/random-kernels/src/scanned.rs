//! Random kernels that scan few long rows: so long that a GPU gives a row to several blocks.

use super::{Builder, FEW_ROWS, MOST_LONG_WORK};
use crate::prng::Prng;
use passhost_ir::kernel::Kernel;

/// One or two rows with as many points as a kernel may span.
pub(crate) fn space(random: &mut Prng) -> Kernel {
    let points = random.between(MOST_LONG_WORK * 9 / 10, MOST_LONG_WORK) / FEW_ROWS;
    // Lanes of a thread share what is a multiple of them.
    let points = if random.chance(60) { points & !63 } else { points };
    Kernel { parallel: vec![random.between(1, FEW_ROWS)], reduce: vec![points], ..Kernel::default() }
}

impl Builder {
    /// Scans of elements, of each other and of what was calculated with them.
    pub(crate) fn scanned_body(&mut self) {
        self.load_points();
        self.scan();
        for _ in 0..self.random.below(5) {
            match self.random.below(5) {
                0 => self.load_points(),
                1 => self.unary(),
                2 => self.binary(),
                _ => self.scan(),
            };
        }
    }
}
