//! Arguments of calls as keys: what is equal here is the same call.

use crate::Arg;
use std::fmt::Debug;

/// An argument as a text that only the same one has, bit by bit: zeros of two signs are two numbers, and NaN is NaN.
pub(crate) fn exact<V: Debug>(arg: &Arg<V>) -> String {
    format!("{arg:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_arguments_are_one_key_and_others_are_none() {
        let all: Vec<Arg<u32>> = vec![
            Arg::None,
            Arg::Bool(true),
            Arg::Int(0),
            Arg::Float(0.0),
            Arg::Float(-0.0),
            Arg::Float(f64::NAN),
            Arg::Str("0".into()),
            Arg::Ints(vec![0]),
            Arg::Floats(vec![0.0]),
            Arg::Floats(vec![-0.0]),
            Arg::Floats(vec![0.0, f64::NAN]),
            Arg::Bools(vec![false]),
            Arg::Value(0),
            Arg::Values(vec![0]),
            Arg::OptionalValues(vec![Some(0)]),
            Arg::OptionalValues(vec![None]),
        ];
        for (position, one) in all.iter().enumerate() {
            for (other_position, other) in all.iter().enumerate() {
                assert_eq!(exact(one) == exact(other), position == other_position, "{one:?} {other:?}");
            }
        }
        assert_eq!(exact(&Arg::<()>::Float(f64::NAN)), exact(&Arg::<()>::Float(-f64::NAN)));
    }
}
