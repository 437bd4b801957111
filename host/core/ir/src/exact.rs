//! Arguments of calls as keys: what is equal here is the same call.

use crate::Arg;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// An argument that is compared bit by bit: zeros of two signs are two numbers, and NaN is NaN.
#[derive(Debug, Clone)]
pub(crate) struct Exact<V>(pub Arg<V>);

/// The bits of a float, the same for every NaN.
fn bits(number: f64) -> u64 {
    if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() }
}

impl<V: PartialEq> PartialEq for Exact<V> {
    fn eq(&self, other: &Exact<V>) -> bool {
        match (&self.0, &other.0) {
            (Arg::Float(one), Arg::Float(other)) => bits(*one) == bits(*other),
            (Arg::Floats(one), Arg::Floats(other)) => one.iter().copied().map(bits).eq(other.iter().copied().map(bits)),
            (one, other) => one == other,
        }
    }
}

impl<V: Eq> Eq for Exact<V> {}

impl<V: Hash> Hash for Exact<V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(&self.0).hash(state);
        match &self.0 {
            Arg::Bool(flag) => flag.hash(state),
            Arg::Int(number) => number.hash(state),
            Arg::Float(number) => bits(*number).hash(state),
            Arg::Str(text) => text.hash(state),
            Arg::Dtype(dtype) => dtype.hash(state),
            Arg::Ints(numbers) => numbers.hash(state),
            Arg::Floats(numbers) => numbers.iter().for_each(|number| bits(*number).hash(state)),
            Arg::Bools(flags) => flags.hash(state),
            Arg::Value(value) => value.hash(state),
            Arg::Values(values) => values.hash(state),
            Arg::OptionalValues(values) => values.hash(state),
            Arg::None | Arg::MemoryFormat(_) | Arg::Strided | Arg::Device => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{BuildHasher as _, RandomState};

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
        let hashes = RandomState::new();
        for (position, one) in all.iter().enumerate() {
            for (other_position, other) in all.iter().enumerate() {
                let (one, other) = (Exact(one.clone()), Exact(other.clone()));
                assert_eq!(one == other, position == other_position, "{one:?} {other:?}");
                assert!(one != other || hashes.hash_one(&one) == hashes.hash_one(&other));
            }
        }
        assert_eq!(Exact(Arg::<()>::Float(f64::NAN)), Exact(Arg::Float(-f64::NAN)));
    }
}
