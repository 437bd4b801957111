//! Draws tensors with kernels that compute what [`crate::inputs`] says, element for element and bit for bit.

use super::formula::Formula;
use super::{CHUNK, OnDeviceError, OwnKernels, Purpose, memory, part, uploaded};
use crate::counter::{FIRST_FACTOR, SECOND_FACTOR, STEP};
use crate::inputs::{self, DrawError, ROW_KEY, Round, TAIL_MASK, TAIL_SCALE};
use crate::quantiles::{QUANTILES, quantiles};
use passhost_ir::kernel::{Binary, Compare, Reg};
use passhost_ir::{Draw, Dtype, InputSpec, Kernel, TensorType};
use passhost_runtime::{Context, Tensor};

/// Numbers of a range that a product in 64 bits is exact for.
const MOST_NUMBERS: u64 = 1 << 31;
/// Integers that a launch is told: those of [`Told`], and some for alignment.
const INTEGERS: usize = 8;
/// Floats that it is told.
const FLOATS: usize = 4;

/// How an element follows from its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// [`Draw::Normal`].
    Normal,
    /// [`Draw::LogNormal`].
    LogNormal,
    /// [`Draw::Uniform`].
    Uniform,
    /// [`Draw::Mask`].
    Mask,
    /// [`Draw::FloatMask`].
    FloatMask,
}

/// What the launches of one draw are told: kernels depend on nothing but the rule and the element type.
struct Told {
    rule: Rule,
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

impl Told {
    /// `None` where the CPU draws.
    fn of(spec: &InputSpec, position: usize, round: Round) -> Option<Told> {
        let scale = round.scale(position);
        let row = inputs::row(&spec.ty);
        let told = Told {
            rule: Rule::Mask,
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
                Some(Told { rule: Rule::Normal, floats: [mean, std * scale], table: Some(table), ..told })
            }
            Draw::LogNormal { median, sigma } => {
                // Exponentials differ between devices: the CPU's are looked up.
                let value = |&z: &f32| median * scale * (sigma * f64::from(z)).exp();
                Some(Told { rule: Rule::LogNormal, table: Some(quantiles().iter().map(value).collect()), ..told })
            }
            Draw::Uniform { low, high } if low <= high => {
                let count = high.abs_diff(low).checked_add(1).filter(|&count| count <= MOST_NUMBERS)?;
                Some(Told { rule: Rule::Uniform, low, count, ..told })
            }
            Draw::Mask => Some(told),
            Draw::FloatMask { low } => Some(Told { rule: Rule::FloatMask, floats: [low, 0.0], ..told }),
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
    let Some(told) = Told::of(spec, position, round).filter(Told::has_numbers) else { return Ok(None) };
    let (dtype, count) = (spec.ty.dtype, spec.ty.numel() as usize);
    let Ok((least, most)) = bounds(spec, told.rule) else { return Ok(None) };
    let chunks = count / CHUNK;
    let integers: Vec<i64> = (0..chunks).flat_map(|chunk| told.integers(chunk * CHUNK)).collect();
    let integers = uploaded(context, Dtype::I64, &integers, i64::to_le_bytes)?.as_bytes()?;
    let floats = uploaded(context, Dtype::F64, &[told.floats[0], told.floats[1], least, most], f64::to_le_bytes)?;
    let table = told.table.as_ref().map(|table| uploaded(context, Dtype::F64, table, f64::to_le_bytes)).transpose()?;
    let drawn = memory(context, dtype, count)?;
    for chunk in 0..chunks {
        let integers = part(&integers, Dtype::I64, chunk * INTEGERS, [INTEGERS as i64])?;
        let output = part(&drawn, dtype, chunk * CHUNK, [CHUNK as i64])?;
        let mut read = vec![&integers, &floats];
        read.extend(&table);
        // SAFETY: the output is a chunk of the kernel's type in memory that only this function has, and the inputs are
        // others.
        unsafe { kernels.run(context, Purpose::Draw(told.rule, dtype), &read, &[&output])? };
    }
    let left = chunks * CHUNK..count;
    if !left.is_empty() {
        let bytes = inputs::draw_part(spec, position, round, left.start as u64..left.end as u64);
        let Ok(bytes) = bytes else { return Ok(None) };
        let ty = TensorType::contiguous(dtype, [left.len() as i64]);
        let rest = Tensor::from_bytes(context.target(), &ty, &bytes)?;
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

/// What floats are held between; anything for integers.
fn bounds(spec: &InputSpec, rule: Rule) -> Result<(f64, f64), DrawError> {
    match rule {
        Rule::Uniform | Rule::Mask => Ok((0.0, 0.0)),
        Rule::Normal | Rule::LogNormal | Rule::FloatMask => inputs::bounds(spec),
    }
}

/// Draws a chunk.
pub(super) fn kernel(rule: Rule, dtype: Dtype) -> Kernel {
    let mut f = Formula::over(&[CHUNK as i64], &[]);
    let [first, key, row_key, row, low, count, ..] = f.parameters::<INTEGERS>(Dtype::I64);
    let [middle, deviation, least, most] = f.parameters::<FLOATS>(Dtype::F64);
    let position = f.position(0);
    let index = f.binary(Binary::Add, first, position);
    let bits = hash(&mut f, key, index);
    let value = match rule {
        Rule::Normal => {
            let z = quantile(&mut f, bits);
            let tail = tail(&mut f, bits);
            let scaled = f.binary(Binary::Mul, deviation, z);
            let far = f.binary(Binary::Mul, scaled, tail);
            let value = f.binary(Binary::Add, middle, far);
            bounded(&mut f, value, (least, most))
        }
        Rule::LogNormal => {
            let value = quantile(&mut f, bits);
            bounded(&mut f, value, (least, most))
        }
        Rule::Uniform => {
            let offset = upper_product(&mut f, bits, count);
            f.binary(Binary::Add, low, offset)
        }
        Rule::Mask => {
            let set = mask_bit(&mut f, (bits, index), row_key, row);
            f.cast(Dtype::I64, set)
        }
        Rule::FloatMask => {
            let set = mask_bit(&mut f, (bits, index), row_key, row);
            let zero = f.float(0.0);
            let value = f.select(set, zero, middle);
            bounded(&mut f, value, (least, most))
        }
    };
    let value = f.cast(dtype, value);
    f.output(value);
    f.into_kernel()
}

fn bounded(f: &mut Formula, value: Reg, (least, most): (Reg, Reg)) -> Reg {
    let value = f.binary(Binary::Min, value, most);
    f.binary(Binary::Max, value, least)
}

/// [`counter::hash`](crate::counter::hash).
pub(super) fn hash(f: &mut Formula, key: Reg, counter: Reg) -> Reg {
    let step = f.integer(STEP as i64);
    let product = f.binary(Binary::Mul, counter, step);
    let mut x = f.binary(Binary::Add, key, product);
    for (shift, factor) in [(30, FIRST_FACTOR), (27, SECOND_FACTOR)] {
        let mixed = xor_shifted(f, x, shift);
        let factor = f.integer(factor as i64);
        x = f.binary(Binary::Mul, mixed, factor);
    }
    xor_shifted(f, x, 31)
}

fn xor_shifted(f: &mut Formula, x: Reg, by: u32) -> Reg {
    let shifted = shifted(f, x, by);
    f.binary(Binary::Xor, x, shifted)
}

/// Shifted right as an unsigned number.
fn shifted(f: &mut Formula, x: Reg, by: u32) -> Reg {
    let by_value = f.integer(i64::from(by));
    let shifted = f.binary(Binary::Shr, x, by_value);
    let kept = f.integer((u64::MAX >> by) as i64);
    f.binary(Binary::And, shifted, kept)
}

/// The table's entry for the upper 16 bits.
fn quantile(f: &mut Formula, bits: Reg) -> Reg {
    let place = shifted(f, bits, 48);
    f.looked_up(Dtype::F64, QUANTILES, place)
}

fn tail(f: &mut Formula, bits: Reg) -> Reg {
    let mask = f.integer(TAIL_MASK as i64);
    let masked = f.binary(Binary::And, bits, mask);
    let zero = f.integer(0);
    let is_far = f.compare(Compare::Eq, masked, zero);
    let (far, near) = (f.float(TAIL_SCALE), f.float(1.0));
    f.select(is_far, far, near)
}

/// The upper 64 bits of the product of an unsigned number and one up to [`MOST_NUMBERS`].
fn upper_product(f: &mut Formula, bits: Reg, count: Reg) -> Reg {
    let mask = f.integer(0xffff_ffff);
    let lower = f.binary(Binary::And, bits, mask);
    let lower = f.binary(Binary::Mul, lower, count);
    let carried = shifted(f, lower, 32);
    let upper = shifted(f, bits, 32);
    let upper = f.binary(Binary::Mul, upper, count);
    let sum = f.binary(Binary::Add, upper, carried);
    shifted(f, sum, 32)
}

/// [`inputs::mask_bit`].
fn mask_bit(f: &mut Formula, (bits, index): (Reg, Reg), row_key: Reg, row: Reg) -> Reg {
    let number = f.binary(Binary::Div, index, row);
    let place = f.binary(Binary::Rem, index, row);
    let always = hash(f, row_key, number);
    let always = unsigned_remainder(f, always, row);
    let is_always = f.compare(Compare::Eq, place, always);
    let zero = f.integer(0);
    let coin = f.compare(Compare::Lt, bits, zero);
    f.binary(Binary::Or, is_always, coin)
}

/// Of an unsigned number and a positive one below 2^62: by way of its half, which is positive as a signed number.
fn unsigned_remainder(f: &mut Formula, x: Reg, by: Reg) -> Reg {
    let half = shifted(f, x, 1);
    let half = f.binary(Binary::Rem, half, by);
    let one = f.integer(1);
    let last = f.binary(Binary::And, x, one);
    let twice = f.binary(Binary::Add, half, half);
    let sum = f.binary(Binary::Add, twice, last);
    f.binary(Binary::Rem, sum, by)
}
