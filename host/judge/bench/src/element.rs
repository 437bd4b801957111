//! Reading tensor elements from bytes, and writing them.

use half::{bf16, f16};
use passhost_ir::Dtype;
use rayon::prelude::*;

/// Elements that one task converts.
const CHUNK: usize = 1 << 15;

/// The elements of a contiguous tensor on the host.
#[derive(Debug, Clone, Copy)]
pub struct HostElements<'a> {
    /// Element type.
    pub dtype: Dtype,
    /// Row-major, little-endian.
    pub bytes: &'a [u8],
}

impl<'a> HostElements<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.dtype.size() as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A stretch of them.
    pub fn slice(&self, range: std::ops::Range<usize>) -> HostElements<'a> {
        let size = self.dtype.size() as usize;
        HostElements { dtype: self.dtype, bytes: &self.bytes[range.start * size..range.end * size] }
    }

    /// The bytes of one.
    pub fn raw(&self, index: usize) -> &'a [u8] {
        let size = self.dtype.size() as usize;
        &self.bytes[index * size..][..size]
    }

    /// Calls `f` with each element in double precision. Integers beyond 2^53 round; complex numbers give their parts
    /// one after the other.
    pub fn for_each(&self, f: impl FnMut(f64)) {
        fn each<const N: usize>(bytes: &[u8], convert: impl Fn([u8; N]) -> f64, mut f: impl FnMut(f64)) {
            for chunk in bytes.chunks_exact(N) {
                let mut element = [0; N];
                element.copy_from_slice(chunk);
                f(convert(element));
            }
        }
        match self.dtype {
            Dtype::Bool | Dtype::U8 => each(self.bytes, |[b]| f64::from(b), f),
            Dtype::I8 => each(self.bytes, |b| f64::from(i8::from_le_bytes(b)), f),
            Dtype::I16 => each(self.bytes, |b| f64::from(i16::from_le_bytes(b)), f),
            Dtype::I32 => each(self.bytes, |b| f64::from(i32::from_le_bytes(b)), f),
            Dtype::I64 => each(self.bytes, |b| i64::from_le_bytes(b) as f64, f),
            Dtype::F16 => each(self.bytes, |b| f16::from_le_bytes(b).to_f64(), f),
            Dtype::Bf16 => each(self.bytes, |b| bf16::from_le_bytes(b).to_f64(), f),
            Dtype::F32 | Dtype::C64 => each(self.bytes, |b| f64::from(f32::from_le_bytes(b)), f),
            Dtype::F64 | Dtype::C128 => each(self.bytes, f64::from_le_bytes, f),
        }
    }

    /// All elements in double precision.
    pub fn to_f64(self) -> Vec<f64> {
        let parts = if self.dtype.is_complex() { 2 } else { 1 };
        let mut values = vec![0.0; self.len() * parts];
        values.par_chunks_mut(CHUNK * parts).enumerate().for_each(|(chunk, slots)| {
            let first = chunk * CHUNK;
            let mut slots = slots.iter_mut();
            self.slice(first..(first + CHUNK).min(self.len())).for_each(|value| {
                if let Some(slot) = slots.next() {
                    *slot = value;
                }
            });
        });
        values
    }

    /// One element in double precision; the real part of a complex one.
    pub fn get(&self, index: usize) -> f64 {
        let mut first = f64::NAN;
        let mut seen = false;
        self.slice(index..index + 1).for_each(|value| {
            if !seen {
                (first, seen) = (value, true);
            }
        });
        first
    }
}

/// A number that becomes an element of some type.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// Whole.
    Integer(i64),
    /// Any.
    Float(f64),
}

impl Number {
    /// Writes it as an element of a type that is not complex.
    pub fn write(self, dtype: Dtype, slot: &mut [u8]) {
        // By way of `f32`, as kernels round: else what is drawn would depend on the processor's instructions.
        let (integer, single, double) = match self {
            Number::Integer(number) => (number, number as f32, number as f64),
            Number::Float(number) => (number as i64, number as f32, number),
        };
        match dtype {
            Dtype::Bool => slot[0] = u8::from(double != 0.0),
            Dtype::U8 => slot[0] = integer as u8,
            Dtype::I8 => slot.copy_from_slice(&(integer as i8).to_le_bytes()),
            Dtype::I16 => slot.copy_from_slice(&(integer as i16).to_le_bytes()),
            Dtype::I32 => slot.copy_from_slice(&(integer as i32).to_le_bytes()),
            Dtype::I64 => slot.copy_from_slice(&integer.to_le_bytes()),
            Dtype::F16 => slot.copy_from_slice(&f16::from_f32(single).to_le_bytes()),
            Dtype::Bf16 => slot.copy_from_slice(&bf16::from_f32(single).to_le_bytes()),
            Dtype::F32 => slot.copy_from_slice(&single.to_le_bytes()),
            Dtype::F64 => slot.copy_from_slice(&double.to_le_bytes()),
            Dtype::C64 | Dtype::C128 => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_convert_to_double_precision() {
        let bytes = [0x00, 0x3c, 0x00, 0xc0];
        let elements = HostElements { dtype: Dtype::F16, bytes: &bytes };
        assert_eq!(elements.to_f64(), [1.0, -2.0]);
        assert_eq!(elements.get(1), -2.0);
        assert_eq!(HostElements { dtype: Dtype::I16, bytes: &[0xff, 0xff] }.get(0), -1.0);
        let many: Vec<u8> = (0..CHUNK as u32 + 3).flat_map(|number| (number as f32).to_le_bytes()).collect();
        for (dtype, count) in [(Dtype::F32, CHUNK + 3), (Dtype::C64, CHUNK + 2)] {
            let values = HostElements { dtype, bytes: &many[..4 * count] }.to_f64();
            assert!(values.iter().copied().eq((0..count).map(|number| number as f64)), "{dtype}");
        }
    }
}
