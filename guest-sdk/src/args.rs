//! Typed access to the arguments of a call.

use passhost_ir::{Arg, Node, NodeKind, ValueId};

/// The arguments of a call, by their place in the schema.
#[derive(Debug, Clone, Copy)]
pub struct Args<'a>(&'a [Arg]);

impl<'a> Args<'a> {
    /// Of a node.
    pub fn new(args: &'a [Arg]) -> Args<'a> {
        Args(args)
    }

    /// Of a node; a kernel has none.
    pub(crate) fn of(node: &'a Node) -> Args<'a> {
        match &node.kind {
            NodeKind::Aten { args, .. } => Args(args),
            NodeKind::Kernel { .. } => Args(&[]),
        }
    }

    /// The arguments that are single tensors, with their places.
    pub(crate) fn single_tensors(self) -> impl Iterator<Item = (usize, ValueId)> {
        (0..self.0.len()).filter_map(move |place| Some((place, self.tensor(place)?)))
    }

    /// The argument at a place.
    pub fn get(self, place: usize) -> Option<&'a Arg> {
        self.0.get(place)
    }

    /// A tensor.
    pub fn tensor(self, place: usize) -> Option<ValueId> {
        self.get(place)?.as_value().copied()
    }

    /// A bool.
    pub fn bool(self, place: usize) -> Option<bool> {
        self.get(place)?.as_bool()
    }

    /// An integer.
    pub fn int(self, place: usize) -> Option<i64> {
        self.get(place)?.as_int()
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
        self.get(place)?.as_ints()
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
        self.get(place)?.as_values()
    }

    /// A string.
    pub fn text(self, place: usize) -> Option<&'a str> {
        self.get(place)?.as_str()
    }
}

/// Arguments of an op, in schema order: values, numbers, bools, text, types and lists of values or integers.
///
/// ```
/// use passhost_guest_sdk::{args, ir::{Arg, ValueId}};
///
/// let x = ValueId(0);
/// let arguments = args![x, [1, 2], 0.5, true, Arg::None];
/// assert_eq!(arguments[1], Arg::Ints(vec![1, 2]));
/// ```
#[macro_export]
macro_rules! args {
    ($($arg:expr),* $(,)?) => { ::std::vec![$($crate::ir::Arg::from($arg)),*] };
}
