//! Draws tensors with kernels that compute what [`crate::inputs`] says, element for element and bit for bit.

use super::formula::{Formula, FormulaTerm};
use super::ops::{VALUE, call};
use super::{CHUNKS, DrawRule, OnDeviceError, OwnKernels, Purpose, chunks, memory, part, uploaded};
use crate::counter::{FIRST_FACTOR, SECOND_FACTOR, STEP};
use crate::inputs::{self, DrawError, ROW_KEY, Round, TAIL_MASK, TAIL_SCALE};
use crate::quantiles::{QUANTILES, quantiles};
use passhost_ir::kernel::{Binary, Compare};
use passhost_ir::{Arg, Draw, Dtype, InputSpec, Kernel, TensorType};
use passhost_torch::{Context, Tensor};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

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
    /// What a table that is looked up has.
    table: Option<Table>,
}

/// What a table has for each quantile of the normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Table {
    /// The quantile.
    Quantiles,
    /// The exponential of so many times the quantile. They differ between devices: the CPU's are looked up.
    Exponentials(f64),
}

/// Tables that were needed, by their bits.
#[derive(Default)]
pub struct Tables(RefCell<HashMap<Option<u64>, Rc<[u8]>>>);

/// How many are kept.
const MOST_TABLES: usize = 16;

impl Tables {
    fn bytes(&self, table: Table) -> Rc<[u8]> {
        let key = if let Table::Exponentials(sigma) = table { Some(sigma.to_bits()) } else { None };
        let mut tables = self.0.borrow_mut();
        if tables.len() >= MOST_TABLES && !tables.contains_key(&key) {
            tables.clear();
        }
        let make = || match table {
            Table::Quantiles => quantiles().iter().flat_map(|z| z.to_le_bytes()).collect(),
            Table::Exponentials(sigma) => {
                quantiles().iter().flat_map(|&z| (sigma * f64::from(z)).exp().to_le_bytes()).collect()
            }
        };
        tables.entry(key).or_insert_with(make).clone()
    }
}

impl Table {
    fn dtype(self) -> Dtype {
        if self == Table::Quantiles { Dtype::F32 } else { Dtype::F64 }
    }
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
                let floats = [mean, std * scale];
                Some(LaunchParameters { rule: DrawRule::Normal, floats, table: Some(Table::Quantiles), ..parameters })
            }
            Draw::LogNormal { median, sigma } => {
                let (floats, table) = ([median * scale, sigma], Some(Table::Exponentials(sigma)));
                Some(LaunchParameters { rule: DrawRule::LogNormal, floats, table, ..parameters })
            }
            Draw::Uniform { low, high } if low <= high => {
                let count = high.abs_diff(low).checked_add(1).filter(|&count| count <= MOST_NUMBERS)?;
                Some(LaunchParameters { rule: DrawRule::Uniform, low, count, ..parameters })
            }
            Draw::Mask => (!inputs::is_of_single_bools(&spec.ty)).then_some(parameters),
            Draw::FloatMask { low } => {
                Some(LaunchParameters { rule: DrawRule::FloatMask, floats: [low, 0.0], ..parameters })
            }
            _ => None,
        }
    }

    /// Whether no element can be NaN: what a bound makes of one differs.
    fn has_numbers(&self) -> bool {
        let is_lost = self.rule == DrawRule::LogNormal && self.floats[0] == 0.0;
        self.floats.iter().all(|number| number.is_finite()) && !is_lost
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
    let (chunks, left) = chunks(count, CHUNKS);
    let integers: Vec<i64> = chunks.iter().flat_map(|chunk| parameters.integers(chunk.start)).collect();
    let integers = uploaded(context, Dtype::I64, &integers, i64::to_le_bytes)?.as_bytes()?;
    let floats =
        uploaded(context, Dtype::F64, &[parameters.floats[0], parameters.floats[1], least, most], f64::to_le_bytes)?;
    let table = parameters.table.map(|table| {
        let ty = TensorType::contiguous(table.dtype(), [QUANTILES as i64]);
        Tensor::from_bytes(context.engine(), &ty, &kernels.tables.bytes(table))
    });
    let table = table.transpose()?;
    let drawn = memory(context, dtype, count)?;
    for (number, chunk) in chunks.into_iter().enumerate() {
        let integers = part(&integers, Dtype::I64, number * INTEGERS, [INTEGERS as i64])?;
        let output = part(&drawn, dtype, chunk.start, [chunk.len() as i64])?;
        let mut read = vec![&integers, &floats];
        read.extend(&table);
        // SAFETY: the output is a chunk of the kernel's type in memory that only this function has, and the inputs are
        // others.
        unsafe { kernels.run(context, (Purpose::Draw(parameters.rule, dtype), chunk.len()), &read, &[&output])? };
    }
    let left = left..count;
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

/// A copy of a tensor with other values in some places; of those given for one place, the last.
pub fn altered(tensor: &Tensor, places: &[(usize, f64)]) -> Result<Tensor, OnDeviceError> {
    let (copy, dtype) = (tensor.copied()?, tensor.ty().dtype);
    let places: BTreeMap<usize, f64> = places.iter().copied().collect();
    let mut values = vec![0; places.len() * dtype.size() as usize];
    inputs::write_elements(dtype, &mut values, &mut places.values().copied().enumerate());
    let extent = |count: usize| TensorType::contiguous(dtype, [count as i64]);
    let values = Tensor::from_bytes(tensor.target(), &extent(places.len()), &values)?;
    let indices: Vec<u8> = places.keys().flat_map(|&place| (place as i64).to_le_bytes()).collect();
    let ty = TensorType { dtype: Dtype::I64, ..extent(places.len()) };
    let indices = Tensor::from_bytes(tensor.target(), &ty, &indices)?;
    let elements = copy.reinterpret(0, &extent(copy.ty().numel() as usize))?;
    call("scatter_", "src", &[VALUE, Arg::Int(0), VALUE, VALUE], &[&elements, &indices, &values])?;
    Ok(copy)
}

/// A tensor of rows of so many elements, each of them the chosen one.
pub fn of_equal_rows(tensor: &Tensor, row: usize, chosen: usize) -> Result<Tensor, OnDeviceError> {
    let copy = tensor.copied()?;
    let one = part(&copy.as_bytes()?, tensor.ty().dtype, chosen * row, [1, row as i64])?.copied()?;
    fill_with(&copy, &one)?;
    Ok(copy)
}

/// A tensor that repeats such elements.
pub fn repeated(context: &Context, ty: &TensorType, bytes: &[u8]) -> Result<Tensor, OnDeviceError> {
    let drawn = memory(context, ty.dtype, ty.numel() as usize)?;
    let extents = [1, bytes.len() as i64 / ty.dtype.size() as i64];
    fill_with(&drawn, &Tensor::from_bytes(context.engine(), &TensorType::contiguous(ty.dtype, extents), bytes)?)?;
    Ok(drawn.reinterpret(0, &TensorType::contiguous(ty.dtype, ty.shape.clone()))?)
}

/// Writes one row again and again, the last time as much of it as is left.
fn fill_with(tensor: &Tensor, one: &Tensor) -> Result<(), OnDeviceError> {
    let (dtype, bytes) = (one.ty().dtype, tensor.as_bytes()?);
    let [count, row] = [&bytes, &one.as_bytes()?].map(|bytes| bytes.ty().numel() / dtype.size());
    let [whole, left] = [count / row, count % row].map(|count| count as i64);
    part(&bytes, dtype, 0, [whole, row as i64])?.copy_from(one)?;
    if left > 0 {
        let first = part(&one.as_bytes()?, dtype, 0, [1, left])?;
        part(&bytes, dtype, (count - left as u64) as usize, [1, left])?.copy_from(&first)?;
    }
    Ok(())
}

/// Square matrices with what is above their diagonal below it too.
pub fn mirrored(tensor: &Tensor) -> Result<Tensor, OnDeviceError> {
    let size = tensor.ty().shape.last().copied().unwrap_or(1);
    let mut mask = Tensor::empty(tensor.target(), &TensorType::contiguous(Dtype::Bool, [size, size]))?;
    mask.fill(1);
    let below = call("tril", "", &[VALUE, Arg::Int(-1)], &[&mask])?;
    let turned = call("transpose", "int", &[VALUE, Arg::Int(-2), Arg::Int(-1)], &[tensor])?;
    call("where", "self", &[VALUE, VALUE, VALUE], &[&below, &turned, tensor])
}

/// What floats are held between; anything for integers.
fn bounds(spec: &InputSpec, rule: DrawRule) -> Result<(f64, f64), DrawError> {
    match rule {
        DrawRule::Uniform | DrawRule::Mask => Ok((0.0, 0.0)),
        DrawRule::Normal | DrawRule::LogNormal | DrawRule::FloatMask => inputs::bounds(spec),
    }
}

/// Draws a chunk.
pub(super) fn kernel(rule: DrawRule, dtype: Dtype, chunk: usize) -> Kernel {
    let f = Formula::over(&[chunk as i64], &[]);
    let [first, key, row_key, row, low, count, ..] = f.parameters::<INTEGERS>(Dtype::I64);
    let [middle, deviation, least, most] = f.parameters::<FLOATS>(Dtype::F64);
    let index = first + f.position(0);
    let bits = hash(key, index);
    // The table's entry for the upper 16 bits.
    let entry = |table: Table| f.looked_up(table.dtype(), QUANTILES, shifted(bits, 48)).cast(Dtype::F64);
    let bounded = |value| FormulaTerm::binary(value, Binary::Min, most).binary(Binary::Max, least);
    let value = match rule {
        DrawRule::Normal => bounded(middle + deviation * entry(Table::Quantiles) * tail(bits)),
        DrawRule::LogNormal => bounded(middle * entry(Table::Exponentials(0.0))),
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
