//! Draws tensors with kernels that compute what [`crate::inputs`] says, element for element and bit for bit.

use super::formula::{Formula, FormulaTerm};
use super::{CHUNK, DrawRule, OnDeviceError, OwnKernels, Purpose, memory, part, uploaded};
use crate::counter::{FIRST_FACTOR, SECOND_FACTOR, STEP};
use crate::inputs::{self, DrawError, ROW_KEY, Round, TAIL_MASK, TAIL_SCALE};
use crate::quantiles::{QUANTILES, quantiles};
use passhost_ir::kernel::{Binary, Compare};
use passhost_ir::{Draw, Dtype, InputSpec, Kernel, TensorType};
use passhost_torch::{Context, Tensor};

/// Numbers of a range that a product in 64 bits is exact for.
const MOST_NUMBERS: u64 = 1 << 31;
/// Integers that a launch is told: those of [`LaunchParameters`], and some for alignment.
const INTEGERS: usize = 8;
/// Floats that it is told.
const FLOATS: usize = 4;

/// What the launches of one draw are told: kernels depend on nothing but the rule and the element type.
struct LaunchParameters {
    rule: DrawRule,
    key: u64,
    /// Elements of a row.
    row: u64,
    /// The smallest of a range of integers, and how many it has.
    low: i64,
    count: u64,
    /// The mean, or the value that masks, and the deviation.
    floats: [f64; 2],
    /// The table that is looked up, if there is one.
    table: Option<Vec<f64>>,
}

impl LaunchParameters {
    /// `None` where the CPU draws.
    fn of(spec: &InputSpec, position: usize, round: Round) -> Option<LaunchParameters> {
        let scale = round.scale(position);
        let row = inputs::row(&spec.ty);
        let parameters = LaunchParameters {
            rule: DrawRule::Mask,
            key: inputs::key(round, &spec.name),
            row,
            low: 0,
            count: 2,
            floats: [0.0; 2],
            table: None,
        };
        match spec.draw {
            Draw::Normal { mean, std } => {
                let table = quantiles().iter().map(|&z| f64::from(z)).collect();
                Some(LaunchParameters {
                    rule: DrawRule::Normal,
                    floats: [mean, std * scale],
                    table: Some(table),
                    ..parameters
                })
            }
            Draw::LogNormal { median, sigma } => {
                // Exponentials differ between devices: the CPU's are looked up.
                let value = |&z: &f32| median * scale * (sigma * f64::from(z)).exp();
                Some(LaunchParameters {
                    rule: DrawRule::LogNormal,
                    table: Some(quantiles().iter().map(value).collect()),
                    ..parameters
                })
            }
            Draw::Uniform { low, high } if low <= high => {
                let count = high.abs_diff(low).checked_add(1).filter(|&count| count <= MOST_NUMBERS)?;
                Some(LaunchParameters { rule: DrawRule::Uniform, low, count, ..parameters })
            }
            Draw::Mask => Some(parameters),
            Draw::FloatMask { low } => {
                Some(LaunchParameters { rule: DrawRule::FloatMask, floats: [low, 0.0], ..parameters })
            }
            _ => None,
        }
    }

    /// Whether no element can be NaN: what a bound makes of one differs.
    fn has_numbers(&self) -> bool {
        self.floats.iter().all(|number| number.is_finite()) && !self.table.iter().flatten().any(|entry| entry.is_nan())
    }

    /// The integers of the chunk that begins at an element.
    fn integers(&self, first: usize) -> [i64; INTEGERS] {
        let row_key = self.key ^ ROW_KEY;
        [first as i64, self.key as i64, row_key as i64, self.row as i64, self.low, self.count as i64, 0, 0]
    }
}

/// Input `position`, drawn where it is needed: whole chunks on the device, the rest on the CPU. `None` where the CPU draws
/// all of it.
pub fn draw(
    context: &Context,
    kernels: &OwnKernels,
    (spec, position): (&InputSpec, usize),
    round: Round,
) -> Result<Option<Tensor>, OnDeviceError> {
    let Some(parameters) = LaunchParameters::of(spec, position, round).filter(LaunchParameters::has_numbers) else {
        return Ok(None);
    };
    let (dtype, count) = (spec.ty.dtype, spec.ty.numel() as usize);
    let Ok((least, most)) = bounds(spec, parameters.rule) else { return Ok(None) };
    let chunks = count / CHUNK;
    let integers: Vec<i64> = (0..chunks).flat_map(|chunk| parameters.integers(chunk * CHUNK)).collect();
    let integers = uploaded(context, Dtype::I64, &integers, i64::to_le_bytes)?.as_bytes()?;
    let floats =
        uploaded(context, Dtype::F64, &[parameters.floats[0], parameters.floats[1], least, most], f64::to_le_bytes)?;
    let table =
        parameters.table.as_ref().map(|table| uploaded(context, Dtype::F64, table, f64::to_le_bytes)).transpose()?;
    let drawn = memory(context, dtype, count)?;
    for chunk in 0..chunks {
        let integers = part(&integers, Dtype::I64, chunk * INTEGERS, [INTEGERS as i64])?;
        let output = part(&drawn, dtype, chunk * CHUNK, [CHUNK as i64])?;
        let mut read = vec![&integers, &floats];
        read.extend(&table);
        // SAFETY: the output is a chunk of the kernel's type in memory that only this function has, and the inputs are
        // others.
        unsafe { kernels.run(context, Purpose::Draw(parameters.rule, dtype), &read, &[&output])? };
    }
    let left = chunks * CHUNK..count;
    if !left.is_empty() {
        let bytes = inputs::draw_part(spec, position, round, left.start as u64..left.end as u64);
        let Ok(bytes) = bytes else { return Ok(None) };
        let ty = TensorType::contiguous(dtype, [left.len() as i64]);
        let rest = Tensor::from_bytes(context.engine(), &ty, &bytes)?;
        part(&drawn, dtype, left.start, [left.len() as i64])?.copy_from(&rest)?;
    }
    Ok(Some(drawn.reinterpret(0, &TensorType::contiguous(dtype, spec.ty.shape.clone()))?))
}

/// Zeros.
pub fn zeros(context: &Context, ty: &TensorType) -> Result<Tensor, OnDeviceError> {
    let mut zeros = memory(context, ty.dtype, ty.numel() as usize)?;
    zeros.fill(0);
    Ok(zeros.reinterpret(0, &TensorType::contiguous(ty.dtype, ty.shape.clone()))?)
}

/// A copy of a tensor with other values in some places, given in ascending order.
pub fn altered(tensor: &Tensor, places: &[(usize, f64)]) -> Result<Tensor, OnDeviceError> {
    let copy = tensor.copied()?;
    let (bytes, dtype) = (copy.as_bytes()?, tensor.ty().dtype);
    for run in places.chunk_by(|one, next| one.0 + 1 == next.0) {
        let mut values = vec![0; run.len() * dtype.size() as usize];
        inputs::write_elements(dtype, &mut values, &mut run.iter().map(|(_, value)| *value).enumerate());
        let ty = TensorType::contiguous(dtype, [run.len() as i64]);
        part(&bytes, dtype, run[0].0, [run.len() as i64])?.copy_from(&Tensor::from_bytes(
            tensor.target(),
            &ty,
            &values,
        )?)?;
    }
    Ok(copy)
}

/// A tensor of rows of so many elements, each of them the chosen one.
pub fn of_equal_rows(tensor: &Tensor, row: usize, chosen: usize) -> Result<Tensor, OnDeviceError> {
    let copy = tensor.copied()?;
    let (bytes, dtype) = (copy.as_bytes()?, tensor.ty().dtype);
    let extents = [tensor.ty().numel() as i64 / row as i64, row as i64];
    let one = part(&bytes, dtype, chosen * row, [1, row as i64])?.copied()?;
    part(&bytes, dtype, 0, extents)?.copy_from(&one)?;
    Ok(copy)
}

/// What floats are held between; anything for integers.
fn bounds(spec: &InputSpec, rule: DrawRule) -> Result<(f64, f64), DrawError> {
    match rule {
        DrawRule::Uniform | DrawRule::Mask => Ok((0.0, 0.0)),
        DrawRule::Normal | DrawRule::LogNormal | DrawRule::FloatMask => inputs::bounds(spec),
    }
}

/// Draws a chunk.
pub(super) fn kernel(rule: DrawRule, dtype: Dtype) -> Kernel {
    let f = Formula::over(&[CHUNK as i64], &[]);
    let [first, key, row_key, row, low, count, ..] = f.parameters::<INTEGERS>(Dtype::I64);
    let [middle, deviation, least, most] = f.parameters::<FLOATS>(Dtype::F64);
    let index = first + f.position(0);
    let bits = hash(key, index);
    // The table's entry for the upper 16 bits.
    let quantile = || f.looked_up(Dtype::F64, QUANTILES, shifted(bits, 48));
    let bounded = |value| FormulaTerm::binary(value, Binary::Min, most).binary(Binary::Max, least);
    let value = match rule {
        DrawRule::Normal => bounded(middle + deviation * quantile() * tail(bits)),
        DrawRule::LogNormal => bounded(quantile()),
        DrawRule::Uniform => low + upper_product(bits, count),
        DrawRule::Mask => mask_bit((bits, index), row_key, row).cast(Dtype::I64),
        DrawRule::FloatMask => bounded(mask_bit((bits, index), row_key, row).select(0.0, middle)),
    };
    value.cast(dtype).output();
    f.into_kernel()
}

/// [`counter::hash`](crate::counter::hash).
pub(super) fn hash<'f>(key: FormulaTerm<'f>, counter: FormulaTerm<'f>) -> FormulaTerm<'f> {
    let mut x = key + counter * STEP as i64;
    for (shift, factor) in [(30, FIRST_FACTOR), (27, SECOND_FACTOR)] {
        x = (x ^ shifted(x, shift)) * factor as i64;
    }
    x ^ shifted(x, 31)
}

/// Shifted right as an unsigned number.
fn shifted(x: FormulaTerm<'_>, by: u32) -> FormulaTerm<'_> {
    (x >> i64::from(by)) & (u64::MAX >> by) as i64
}

fn tail(bits: FormulaTerm<'_>) -> FormulaTerm<'_> {
    (bits & TAIL_MASK as i64).is(Compare::Eq, 0).select(TAIL_SCALE, 1.0)
}

/// The upper 64 bits of the product of an unsigned number and one up to [`MOST_NUMBERS`].
fn upper_product<'f>(bits: FormulaTerm<'f>, count: FormulaTerm<'f>) -> FormulaTerm<'f> {
    let lower = (bits & 0xffff_ffff) * count;
    shifted(shifted(bits, 32) * count + shifted(lower, 32), 32)
}

/// [`inputs::mask_bit`].
fn mask_bit<'f>(
    (bits, index): (FormulaTerm<'f>, FormulaTerm<'f>),
    row_key: FormulaTerm<'f>,
    row: FormulaTerm<'f>,
) -> FormulaTerm<'f> {
    let always = unsigned_remainder(hash(row_key, index / row), row);
    (index % row).is(Compare::Eq, always) | bits.is(Compare::Lt, 0)
}

/// Of an unsigned number and a positive one below 2^62: by way of its half, which is positive as a signed number.
fn unsigned_remainder<'f>(x: FormulaTerm<'f>, by: FormulaTerm<'f>) -> FormulaTerm<'f> {
    let half = shifted(x, 1) % by;
    (half + half + (x & 1)) % by
}
