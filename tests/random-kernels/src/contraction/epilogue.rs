//! What is calculated from the sums, and where it is written.

use crate::Builder;
use passhost_ir::Dtype;
use passhost_ir::kernel::{Binary, Op, Reg, Scalar, Store, Unary};

impl Builder {
    /// Up to three steps behind a sum, and up to three stores: of the last value, and of any.
    pub(super) fn epilogue(&mut self, sum: Reg) {
        let mut values = vec![sum];
        let mut last = sum;
        for _ in 0..self.random.pick(&[0, 1, 1, 2, 3]) {
            last = self.step_behind(last);
            values.push(last);
        }
        let others: Vec<Reg> = (1..self.random.pick(&[1, 1, 1, 2, 3])).map(|_| self.random.pick(&values)).collect();
        for value in [&[last], &others[..]].concat() {
            let dtype = self.random.pick(&[
                Dtype::F16,
                Dtype::F16,
                Dtype::Bf16,
                Dtype::F32,
                Dtype::F32,
                Dtype::F32,
                Dtype::F64,
            ]);
            let value = self.converted(dtype, value);
            let mut order = self.parallel_axes();
            if self.random.chance(25) {
                self.random.shuffle(&mut order);
            }
            let shape = self.shape(&order);
            self.kernel.stores.push(Store { value, order, shape });
        }
    }

    fn parallel_axes(&self) -> Vec<u32> {
        (0..self.kernel.parallel.len() as u32).collect()
    }

    fn step_behind(&mut self, value: Reg) -> Reg {
        let dtype = self.kernel.body[value.0 as usize].dtype;
        let axes = self.parallel_axes();
        match self.random.below(8) {
            // A bias.
            0 | 1 if !axes.is_empty() => {
                let axis = self.random.pick(&axes);
                let bias = self.along(&[axis], dtype);
                self.push(dtype, Op::Binary(Binary::Add, value, bias))
            }
            // A residual.
            2 => {
                let residual = self.along(&axes, dtype);
                self.push(dtype, Op::Binary(Binary::Add, value, residual))
            }
            // A gate.
            3 => {
                let gate = self.along(&axes, dtype);
                let gate = self.push(dtype, Op::Unary(Unary::Tanh, gate));
                self.push(dtype, Op::Binary(Binary::Mul, value, gate))
            }
            4 => self.with_constant(Binary::Max, value, 0.0),
            5 => {
                let scaled = self.with_constant(Binary::Mul, value, std::f64::consts::FRAC_1_SQRT_2);
                let erf = self.push(dtype, Op::Unary(Unary::Erf, scaled));
                let share = self.with_constant(Binary::Add, erf, 1.0);
                let doubled = self.push(dtype, Op::Binary(Binary::Mul, value, share));
                self.with_constant(Binary::Mul, doubled, 0.5)
            }
            6 => {
                let narrow = self.random.pick(&[Dtype::F16, Dtype::Bf16]);
                let narrow = self.push(narrow, Op::Cast(value));
                self.push(dtype, Op::Cast(narrow))
            }
            _ => self.with_constant(Binary::Mul, value, 0.3),
        }
    }

    fn with_constant(&mut self, op: Binary, value: Reg, constant: f64) -> Reg {
        let dtype = self.kernel.body[value.0 as usize].dtype;
        let constant = self.push(dtype, Op::Const(Scalar::Float(constant)));
        self.push(dtype, Op::Binary(op, value, constant))
    }
}
