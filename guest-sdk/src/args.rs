//! Typed access to the arguments of a call.

use passhost_ir::{Arg, ValueId};

/// The arguments of a call, by their place in the schema.
#[derive(Debug, Clone, Copy)]
pub struct Args<'a>(&'a [Arg]);

impl<'a> Args<'a> {
    /// Of a node.
    pub fn new(args: &'a [Arg]) -> Args<'a> {
        Args(args)
    }

    /// The argument at a place.
    pub fn get(self, place: usize) -> Option<&'a Arg> {
        self.0.get(place)
    }

    /// A tensor.
    pub fn tensor(self, place: usize) -> Option<ValueId> {
        match self.get(place)? {
            Arg::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// A bool.
    pub fn bool(self, place: usize) -> Option<bool> {
        match self.get(place)? {
            Arg::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// An integer.
    pub fn int(self, place: usize) -> Option<i64> {
        match self.get(place)? {
            Arg::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// A number of any kind, as a float.
    pub fn number(self, place: usize) -> Option<f64> {
        match self.get(place)? {
            Arg::Bool(value) => Some(f64::from(u8::from(*value))),
            Arg::Int(value) => Some(*value as f64),
            Arg::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// A list of integers.
    pub fn ints(self, place: usize) -> Option<&'a [i64]> {
        match self.get(place)? {
            Arg::Ints(values) => Some(values),
            _ => None,
        }
    }

    /// A list of `count` integers, one for each of as many dimensions; a single one stands for all.
    pub fn ints_each(self, place: usize, count: usize) -> Option<Vec<i64>> {
        match self.get(place)? {
            Arg::Int(one) => Some(vec![*one; count]),
            Arg::Ints(list) if list.len() == 1 => Some(vec![list[0]; count]),
            Arg::Ints(list) if list.len() == count => Some(list.clone()),
            _ => None,
        }
    }

    /// A list of tensors.
    pub fn tensors(self, place: usize) -> Option<&'a [ValueId]> {
        match self.get(place)? {
            Arg::Values(tensors) => Some(tensors),
            _ => None,
        }
    }

    /// A string.
    pub fn text(self, place: usize) -> Option<&'a str> {
        match self.get(place)? {
            Arg::Str(value) => Some(value),
            _ => None,
        }
    }
}
