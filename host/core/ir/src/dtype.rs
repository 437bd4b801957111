//! Element types, named as PyTorch's text forms name them.

use std::fmt;
use std::str::FromStr;

/// The element type of a tensor or of a value in a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Dtype {
    /// One byte, 0 or 1.
    Bool,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits: PyTorch's index type.
    I64,
    /// IEEE binary16.
    F16,
    /// bfloat16: the upper half of an IEEE binary32.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// Two binary32: real and imaginary part. Legal in graphs, not in kernels.
    C64,
    /// Two binary64: real and imaginary part. Legal in graphs, not in kernels.
    C128,
}

impl Dtype {
    /// Every element type, narrow before wide within a kind.
    pub const ALL: [Dtype; 12] = [
        Dtype::Bool,
        Dtype::U8,
        Dtype::I8,
        Dtype::I16,
        Dtype::I32,
        Dtype::I64,
        Dtype::F16,
        Dtype::Bf16,
        Dtype::F32,
        Dtype::F64,
        Dtype::C64,
        Dtype::C128,
    ];

    /// The short name, PyTorch's name, PyTorch's number (`c10::ScalarType`) and the bytes per element.
    const fn row(self) -> (&'static str, &'static str, i64, u64) {
        match self {
            Dtype::Bool => ("bool", "bool", 11, 1),
            Dtype::U8 => ("u8", "uint8", 0, 1),
            Dtype::I8 => ("i8", "int8", 1, 1),
            Dtype::I16 => ("i16", "int16", 2, 2),
            Dtype::I32 => ("i32", "int32", 3, 4),
            Dtype::I64 => ("i64", "int64", 4, 8),
            Dtype::F16 => ("f16", "float16", 5, 2),
            Dtype::Bf16 => ("bf16", "bfloat16", 15, 2),
            Dtype::F32 => ("f32", "float32", 6, 4),
            Dtype::F64 => ("f64", "float64", 7, 8),
            Dtype::C64 => ("c64", "complex64", 9, 8),
            Dtype::C128 => ("c128", "complex128", 10, 16),
        }
    }

    /// The short name used in the text form: `f16`, `i64`, `bool`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// PyTorch's name: `float16`, `int64`, `bool`.
    pub const fn torch_name(self) -> &'static str {
        self.row().1
    }

    /// PyTorch's number, `c10::ScalarType`.
    pub const fn torch_code(self) -> i64 {
        self.row().2
    }

    /// Bytes per element.
    pub const fn size(self) -> u64 {
        self.row().3
    }

    /// The type that PyTorch calls `name`, aliases such as `half` and `long` included.
    pub fn from_torch_name(name: &str) -> Option<Dtype> {
        Some(match name {
            "half" => Dtype::F16,
            "float" => Dtype::F32,
            "double" => Dtype::F64,
            "short" => Dtype::I16,
            "int" => Dtype::I32,
            "long" => Dtype::I64,
            "cfloat" => Dtype::C64,
            "cdouble" => Dtype::C128,
            _ => return Dtype::ALL.into_iter().find(|d| d.torch_name() == name),
        })
    }

    /// `f16`, `bf16`, `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64)
    }

    /// `c64` or `c128`.
    pub const fn is_complex(self) -> bool {
        matches!(self, Dtype::C64 | Dtype::C128)
    }

    /// An integer type; `bool` is not one.
    pub const fn is_integer(self) -> bool {
        matches!(self, Dtype::U8 | Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64)
    }

    /// Types that kernels calculate in. The others are for storage: a kernel casts when it loads and stores.
    pub const fn is_compute(self) -> bool {
        matches!(self, Dtype::Bool | Dtype::I32 | Dtype::I64 | Dtype::F32 | Dtype::F64)
    }

    /// The closed range of an integer type or of `bool`, `None` for others.
    pub const fn integer_range(self) -> Option<(i64, i64)> {
        match self {
            Dtype::Bool => Some((0, 1)),
            Dtype::U8 => Some((0, u8::MAX as i64)),
            Dtype::I8 => Some((i8::MIN as i64, i8::MAX as i64)),
            Dtype::I16 => Some((i16::MIN as i64, i16::MAX as i64)),
            Dtype::I32 => Some((i32::MIN as i64, i32::MAX as i64)),
            Dtype::I64 => Some((i64::MIN, i64::MAX)),
            _ => None,
        }
    }

    /// The largest finite value of a float type; that of `f64` for other types.
    pub fn largest(self) -> f64 {
        match self {
            Dtype::F16 => 65_504.0,
            Dtype::Bf16 => f64::from(f32::from_bits(0x7f7f_0000)),
            Dtype::F32 => f64::from(f32::MAX),
            _ => f64::MAX,
        }
    }

    /// The spacing of the values of a float type at `x`: one unit in the last place, never below that of the smallest
    /// normal number's binade. That of `f64` for other types.
    pub fn ulp(self, x: f64) -> f64 {
        let (mantissa_bits, least_exponent) = match self {
            Dtype::F16 => (10, -14),
            Dtype::Bf16 => (7, -126),
            Dtype::F32 => (23, -126),
            _ => (52, -1022),
        };
        let exponent = if x == 0.0 || !x.is_finite() {
            least_exponent
        } else {
            // The exponent field, which for doubles below 2^-1022 is 0 and thus below every type's least exponent.
            (((x.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(least_exponent)
        };
        libm::ldexp(1.0, exponent - mantissa_bits)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the short name of an element type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no element type; expected one of bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, c64, c128")]
pub struct UnknownDtype(pub String);

impl FromStr for Dtype {
    type Err = UnknownDtype;

    fn from_str(text: &str) -> Result<Dtype, UnknownDtype> {
        Dtype::ALL.into_iter().find(|d| d.name() == text).ok_or_else(|| UnknownDtype(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for dtype in Dtype::ALL {
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(Dtype::from_torch_name(dtype.torch_name()), Some(dtype));
        }
        assert_eq!("float16".parse::<Dtype>(), Err(UnknownDtype("float16".into())));
        assert_eq!(Dtype::from_torch_name("long"), Some(Dtype::I64));
    }

    #[test]
    fn one_ulp_is_the_distance_to_the_next_value() {
        let cases = [
            (Dtype::F32, 1.0, f64::from(f32::EPSILON)),
            (Dtype::F32, -1.5, f64::from(f32::EPSILON)),
            (Dtype::F16, 1000.0, 0.5),
            (Dtype::Bf16, 1.0, 2f64.powi(-7)),
            (Dtype::F16, 0.0, 2f64.powi(-24)),
            (Dtype::F64, 1.0, f64::EPSILON),
            (Dtype::F64, 0.0, f64::from_bits(1)),
        ];
        for (dtype, x, expected) in cases {
            assert_eq!(dtype.ulp(x), expected, "{dtype} {x}");
        }
    }
}
