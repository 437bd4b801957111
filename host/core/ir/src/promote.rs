//! PyTorch's type promotion, as `TensorIterator` does it.

use crate::Dtype;

/// The type that values of two types are brought to before a common op. `c10::promoteTypes`.
pub fn promote(a: Dtype, b: Dtype) -> Dtype {
    match (a, b) {
        (Dtype::C64, Dtype::F64) | (Dtype::F64, Dtype::C64) => Dtype::C128,
        (Dtype::F16, Dtype::Bf16) | (Dtype::Bf16, Dtype::F16) => Dtype::F32,
        (Dtype::U8, Dtype::I8) | (Dtype::I8, Dtype::U8) => Dtype::I16,
        // The rest is ordered as `Dtype` declares it: bool, integers by width, floats by width, complex types.
        _ => a.max(b),
    }
}

/// How a value takes part in promotion: weaker kinds count only where they are of a higher category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// A Python number: its category counts, its width does not.
    Number,
    /// A tensor without dimensions.
    Scalar,
    /// A tensor with dimensions.
    Tensor,
}

/// The common type of all operands of an op. Python numbers count as `bool`, `i64` or `f64` and bring the default type
/// of their category: `f32` where all else is integer.
pub fn common(operands: impl Iterator<Item = (Dtype, Strength)> + Clone) -> Option<Dtype> {
    let of = |strength| {
        let same = operands.clone().filter(move |&(_, found)| found == strength);
        same.map(|(dtype, _)| if strength == Strength::Number { default(dtype) } else { dtype }).reduce(promote)
    };
    // A weaker group decides only with a category above that of the stronger ones.
    let decided = |strong, weak| if category(weak) > category(strong) { promote(strong, weak) } else { strong };
    [Strength::Tensor, Strength::Scalar, Strength::Number].map(of).into_iter().flatten().reduce(decided)
}

fn default(number: Dtype) -> Dtype {
    if number == Dtype::F64 { Dtype::F32 } else { number }
}

fn category(dtype: Dtype) -> u8 {
    match dtype {
        Dtype::Bool => 0,
        _ if dtype.is_integer() => 1,
        _ if dtype.is_float() => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Dtype::{Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8};
    use Strength::{Number, Scalar, Tensor};

    #[test]
    fn pairs_promote_as_in_pytorch() {
        for (a, b, expected) in [
            (F16, Bf16, F32),
            (F16, F32, F32),
            (I64, F16, F16),
            (U8, I8, I16),
            (U8, I32, I32),
            (I16, I8, I16),
            (Bool, U8, U8),
            (F64, F32, F64),
            (I64, I32, I64),
        ] {
            assert_eq!(promote(a, b), expected, "{a} {b}");
            assert_eq!(promote(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn weaker_operands_decide_only_with_a_higher_category() {
        for (operands, expected) in [
            (vec![(F16, Tensor), (F64, Number)], F16),
            (vec![(I32, Tensor), (F64, Number)], F32),
            (vec![(Bool, Tensor), (I64, Number)], I64),
            (vec![(F16, Tensor), (F32, Scalar)], F16),
            (vec![(I64, Tensor), (F16, Scalar)], F16),
            (vec![(F16, Scalar), (F32, Scalar)], F32),
            (vec![(U8, Tensor), (I64, Number)], U8),
        ] {
            assert_eq!(common(operands.iter().copied()), Some(expected), "{operands:?}");
        }
    }
}
