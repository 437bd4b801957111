//! Tensors that follow from numbers and places.

use crate::lower::call::{Emitted, OpCall};
use crate::lower::rule::{Align, Emit, Rule};
use passhost_ir::Dtype;
use passhost_ir::kernel::Compare;

pub(in crate::lower) const RULES: &[Rule] = &[
    filled("aten::zeros", &[""], |c| number(c, 0.0)),
    filled("aten::ones", &[""], |c| number(c, 1.0)),
    filled("aten::full", &[""], |c| c.operand(1, c.result)),
    filled("aten::zeros_like", &[""], |c| number(c, 0.0)),
    filled("aten::ones_like", &[""], |c| number(c, 1.0)),
    filled("aten::full_like", &[""], |c| c.operand(1, c.result)),
    filled("aten::new_zeros", &[""], |c| number(c, 0.0)),
    filled("aten::new_ones", &[""], |c| number(c, 1.0)),
    filled("aten::new_full", &[""], |c| c.operand(2, c.result)),
    filled("aten::zero", &[""], |c| number(c, 0.0)),
    filled("aten::fill", &["Scalar"], |c| c.operand(1, c.result)),
    filled("aten::scalar_tensor", &[""], |c| c.operand(0, c.result)),
    // The number is a tensor without dimensions.
    Rule { align: Align::At(|_| Ok(vec![(1, vec![])])), ..Rule::cheap("aten::fill", &["Tensor"], |c| c.first()) },
    filled("aten::arange", &[""], |c| steps(c, 0.0, 1.0)),
    filled("aten::arange", &["start"], |c| steps(c, c.number(0)?, 1.0)),
    filled("aten::arange", &["start_step"], |c| steps(c, c.number(0)?, c.number(2)?)),
    filled("aten::linspace", &[""], between).only("to f32 or f64"),
];

const fn filled(name: &'static str, overloads: &'static [&'static str], emit: Emit) -> Rule {
    Rule { reads: 0, ..Rule::cheap(name, overloads, emit) }
}

fn number<'k>(c: &OpCall<'k>, value: f64) -> Emitted<'k> {
    Ok(c.literal(c.math(c.result)?, value))
}

/// `start + step * i`, the product fused into the sum, with numbers of the math type as in ATen's CUDA kernel.
fn steps<'k>(c: &OpCall<'k>, start: f64, step: f64) -> Emitted<'k> {
    let at = c.position(0)?.cast(c.math(c.result)?);
    if !at.dtype().is_float() {
        let (start, step) = (start.trunc(), step.trunc());
        let scaled = if step == 1.0 { at } else { at * step };
        return Ok(if start == 0.0 { scaled } else { scaled + start });
    }
    Ok(match (start, step) {
        (0.0, 1.0) => at,
        (_, 1.0) => at + start,
        _ => at.literal(step).fma(at, at.literal(start)),
    })
}

/// Equal steps from a start to an end, counted from the nearer of both.
fn between<'k>(c: &OpCall<'k>) -> Emitted<'k> {
    if !matches!(c.result, Dtype::F32 | Dtype::F64) {
        return Err(format!("has a result of type {}; f32 and f64 are covered", c.result));
    }
    let (start, end) = (c.number(0)?, c.number(1)?);
    let count = c.args.int(2).ok_or("has no number of steps")?;
    if count <= 1 {
        return number(c, start);
    }
    let step = match c.result {
        Dtype::F32 => f64::from((end as f32 - start as f32) / (count - 1) as f32),
        _ => (end - start) / (count - 1) as f64,
    };
    let place = c.position(0)?;
    let at = place.cast(c.result);
    let behind = (((count - 1) as f64) - place).cast(c.result);
    let from_start = at.literal(step).fma(at, at.literal(start));
    let from_end = at.literal(-step).fma(behind, at.literal(end));
    Ok(place.compare(Compare::Lt, (count / 2) as f64).select(from_start, from_end))
}
