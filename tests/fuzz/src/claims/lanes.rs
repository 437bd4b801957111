//! Kernels that tempt a generator to wide accesses: extents with many factors, indices that are multiples of something
//! and may be clamped, selections between joined tensors.

use crate::random::Random;
use passhost_ir::kernel::operations::Binary;
use passhost_ir::kernel::{
    Compare, IndexExpr, IndexId, InputDecl, Inst, Op, PaddingMode, ReduceOp, Reg, Scalar, Store, verify,
};
use passhost_ir::{Dtype, Kernel};

/// Extents of axes.
const EXTENTS: [i64; 11] = [1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 32];

/// A kernel that passes the verifier.
pub(super) fn kernel(random: &mut Random) -> Kernel {
    loop {
        let kernel = draw(random);
        if verify(&kernel).is_ok() {
            return kernel;
        }
    }
}

fn draw(random: &mut Random) -> Kernel {
    let axes = |random: &mut Random, most: usize| -> Vec<i64> {
        (0..random.below(most + 1)).map(|_| *random.pick(&EXTENTS)).collect()
    };
    let mut kernel = Kernel { parallel: axes(random, 3), reduce: axes(random, 2), ..Kernel::default() };
    if kernel.parallel.is_empty() {
        kernel.parallel.push(*random.pick(&EXTENTS));
    }
    let mut values: Vec<Reg> = (0..=random.below(2)).map(|_| load(&mut kernel, random)).collect();
    if random.chance(40) {
        let chosen = select(&mut kernel, random);
        values.push(chosen);
    }
    let mut total = values[0];
    for value in &values[1..] {
        total = push(&mut kernel, Dtype::F32, Op::Binary(Binary::Add, total, *value));
    }
    let all = (0..(kernel.parallel.len() + kernel.reduce.len()) as u32).collect::<Vec<_>>();
    let rows = (0..kernel.parallel.len() as u32).collect::<Vec<_>>();
    if !kernel.reduce.is_empty() && random.chance(70) {
        let sum = push(&mut kernel, Dtype::F32, Op::Reduce(ReduceOp::Sum, total));
        store(&mut kernel, sum, rows, random);
        if random.chance(50) {
            let scaled = push(&mut kernel, Dtype::F32, Op::Binary(Binary::Mul, total, sum));
            store(&mut kernel, scaled, all, random);
        }
    } else {
        store(&mut kernel, total, all, random);
    }
    kernel
}

fn push(kernel: &mut Kernel, dtype: Dtype, op: Op) -> Reg {
    kernel.body.push(Inst { dtype, op });
    Reg(kernel.body.len() as u32 - 1)
}

fn expr(kernel: &mut Kernel, expr: IndexExpr) -> IndexId {
    kernel.index.push(expr);
    IndexId(kernel.index.len() as u32 - 1)
}

fn store(kernel: &mut Kernel, value: Reg, mut order: Vec<u32>, random: &mut Random) {
    for last in (1..order.len()).rev() {
        if random.chance(25) {
            let other = random.below(last + 1);
            order.swap(last, other);
        }
    }
    let dtype = *random.pick(&[Dtype::F32, Dtype::F16, Dtype::U8, Dtype::F64]);
    let value = push(kernel, dtype, Op::Cast(value));
    let shape = order.iter().map(|&axis| kernel.extent(axis).unwrap_or(1)).collect();
    kernel.stores.push(Store { value, order, shape });
}

/// An index along an axis, and an extent that holds all of it.
fn index(kernel: &mut Kernel, axis: u32, random: &mut Random) -> (IndexId, i64) {
    let extent = kernel.extent(axis).unwrap_or(1);
    let at = expr(kernel, IndexExpr::Axis(axis));
    // The last axis is mostly walked as it is: then there is something to make wide.
    let last = kernel.parallel.len() + kernel.reduce.len() - 1;
    match if axis as usize == last && random.chance(60) { 9 } else { random.below(10) } {
        0..3 => {
            let factor = *random.pick(&[2, 2, 3, 4, 8]);
            (expr(kernel, IndexExpr::Mul(at, factor)), (extent - 1) * factor + 1)
        }
        3 => {
            let (by, sign) = (*random.pick(&[1, 2, 4]), random.chance(50));
            let by = expr(kernel, IndexExpr::Const(by));
            (expr(kernel, if sign { IndexExpr::Add(at, by) } else { IndexExpr::Sub(at, by) }), extent)
        }
        4 => {
            let divisor = *random.pick(&[2, 4, 8]);
            (expr(kernel, IndexExpr::FloorDiv(at, divisor)), (extent + divisor - 1) / divisor)
        }
        5 => {
            let divisor = *random.pick(&[2, 4, 6, 8]);
            (expr(kernel, IndexExpr::Mod(at, divisor)), divisor.min(extent))
        }
        6 => {
            // A row of tiles, and a place in a tile.
            let (factor, other) = (*random.pick(&[2, 4, 8]), axis_of(kernel, random));
            let tile = expr(kernel, IndexExpr::Axis(other));
            let tile = expr(kernel, IndexExpr::Mul(tile, factor));
            let reach = (kernel.extent(other).unwrap_or(1) - 1) * factor + extent;
            (expr(kernel, IndexExpr::Add(tile, at)), reach)
        }
        _ => (at, extent),
    }
}

fn axis_of(kernel: &Kernel, random: &mut Random) -> u32 {
    random.below(kernel.parallel.len() + kernel.reduce.len()) as u32
}

/// A load as `f32`. A dimension may be shorter than what its index takes, so that some of it is clamped or padded.
fn load(kernel: &mut Kernel, random: &mut Random) -> Reg {
    let (mut indices, mut shape) = (vec![], vec![]);
    for axis in 0..(kernel.parallel.len() + kernel.reduce.len()) as u32 {
        if random.chance(75) {
            let (id, natural) = index(kernel, axis, random);
            let extent = match random.below(6) {
                0 | 1 => random.between(1, 9),
                2 => natural + *random.pick(&[1, 2, 4]),
                _ => natural,
            };
            indices.push(id);
            shape.push(extent);
        }
    }
    let dtype = *random.pick(&[Dtype::F32, Dtype::F32, Dtype::F16, Dtype::U8, Dtype::F64]);
    let input = kernel.inputs.len() as u32;
    kernel.inputs.push(InputDecl { dtype, shape });
    let zero = if dtype == Dtype::U8 { Scalar::Int(0) } else { Scalar::Float(0.0) };
    let padding = if random.chance(60) { PaddingMode::Clamp } else { PaddingMode::Pad(zero) };
    let value = push(kernel, dtype, Op::Load { input, index: indices, padding });
    push(kernel, Dtype::F32, Op::Cast(value))
}

/// Two tensors joined along an axis: a selection between loads by where the axis stands.
fn select(kernel: &mut Kernel, random: &mut Random) -> Reg {
    let axis = axis_of(kernel, random);
    let at = expr(kernel, IndexExpr::Axis(axis));
    let bound = random.between(0, kernel.extent(axis).unwrap_or(1));
    let (position, bound) =
        (push(kernel, Dtype::I64, Op::Index(at)), push(kernel, Dtype::I64, Op::Const(Scalar::Int(bound))));
    let condition = push(kernel, Dtype::Bool, Op::Compare(Compare::Lt, position, bound));
    let part = |kernel: &mut Kernel, random: &mut Random| {
        let value = load(kernel, random);
        // The load itself, so that the selection may be made by address.
        match kernel.body[value.0 as usize].op {
            Op::Cast(from) if kernel.body[from.0 as usize].dtype == Dtype::F32 => from,
            _ => value,
        }
    };
    let (a, b) = (part(kernel, random), part(kernel, random));
    push(kernel, Dtype::F32, Op::Select(condition, a, b))
}
