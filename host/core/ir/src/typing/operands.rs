//! The arguments of a call, as rules ask for them.

use crate::dims::wrap;
use crate::{Arg, Dtype, MAX_RANK, OpName, Schema, TensorType};

/// What a rule says: the types of the results, or what is wrong with the operands.
pub type ResultTypes = Result<Vec<TensorType>, String>;

/// What the meta kernel of an op says, whether or not the op is on a list.
pub type Meta<'a> = dyn Fn(&OpName, &[Arg<TensorType>]) -> ResultTypes + 'a;

/// The arguments of a call, in schema order.
pub(super) struct Operands<'a> {
    schema: &'a Schema,
    args: &'a [Arg<TensorType>],
    meta: &'a Meta<'a>,
}

impl<'a> Operands<'a> {
    pub(super) fn new(schema: &'a Schema, args: &'a [Arg<TensorType>], meta: &'a Meta<'a>) -> Operands<'a> {
        Operands { schema, args, meta }
    }

    /// The op without its namespace and without the `_` of in-place variants.
    pub(super) fn op(&self) -> &'a str {
        self.schema.op.name.trim_start_matches("aten::").trim_end_matches('_')
    }

    /// What the op's own meta kernel says.
    pub(super) fn ask_itself(&self) -> ResultTypes {
        (self.meta)(&self.schema.op, self.args)
    }

    /// What the meta kernel of another op says, which stands for a part of what this one does.
    pub(super) fn ask(&self, op: &str, args: &[Arg<TensorType>]) -> ResultTypes {
        (self.meta)(&OpName::parse(op), args)
    }

    /// The only result of [`Operands::ask`].
    pub(super) fn ask_one(&self, op: &str, args: &[Arg<TensorType>]) -> Result<TensorType, String> {
        match <[TensorType; 1]>::try_from(self.ask(op, args)?) {
            Ok([ty]) => Ok(ty),
            Err(types) => Err(format!("{op} returns {} tensors, expected one", types.len())),
        }
    }

    pub(super) fn is_in_place(&self) -> bool {
        self.schema.is_in_place()
    }

    pub(super) fn arg(&self, position: usize) -> Result<&'a Arg<TensorType>, String> {
        self.args.get(position).ok_or_else(|| format!("there is no argument {}", position + 1))
    }

    /// All arguments, for asking the meta kernel of another op that takes the same ones.
    pub(super) fn all(&self) -> &'a [Arg<TensorType>] {
        self.args
    }

    fn name(&self, position: usize) -> &'a str {
        self.schema.args.get(position).map_or("an argument", |arg| &arg.name)
    }

    fn wrong(&self, position: usize, expected: &str) -> String {
        format!("`{}` must be {expected}", self.name(position))
    }

    /// An argument of one kind.
    fn needed<T>(
        &self,
        position: usize,
        read: impl FnOnce(&'a Arg<TensorType>) -> Option<T>,
        expected: &str,
    ) -> Result<T, String> {
        self.args.get(position).and_then(read).ok_or_else(|| self.wrong(position, expected))
    }

    /// The same of one that may be absent.
    fn optional<T>(
        &self,
        position: usize,
        read: impl FnOnce(&'a Arg<TensorType>) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>, String> {
        if self.args.get(position) == Some(&Arg::None) {
            Ok(None)
        } else {
            self.needed(position, read, expected).map(Some)
        }
    }

    pub(super) fn tensor(&self, position: usize) -> Result<&'a TensorType, String> {
        self.needed(position, Arg::as_value, "a tensor")
    }

    pub(super) fn optional_tensor(&self, position: usize) -> Result<Option<&'a TensorType>, String> {
        self.optional(position, Arg::as_value, "a tensor")
    }

    /// A tensor of one of these ranks.
    pub(super) fn tensor_of_rank(&self, position: usize, ranks: &[usize]) -> Result<&'a TensorType, String> {
        let ty = self.tensor(position)?;
        if ranks.contains(&ty.rank()) {
            return Ok(ty);
        }
        let expected: Vec<String> = ranks.iter().map(usize::to_string).collect();
        Err(format!("`{}` has rank {}, expected {}", self.name(position), ty.rank(), expected.join(" or ")))
    }

    pub(super) fn tensors(&self, position: usize) -> Result<&'a [TensorType], String> {
        self.needed(position, Arg::as_values, "a list of tensors")
    }

    pub(super) fn optional_tensors(&self, position: usize) -> Result<Vec<Option<&'a TensorType>>, String> {
        match self.args.get(position) {
            Some(Arg::OptionalValues(types)) => Ok(types.iter().map(Option::as_ref).collect()),
            Some(Arg::Values(types)) => Ok(types.iter().map(Some).collect()),
            _ => Err(self.wrong(position, "a list of tensors")),
        }
    }

    pub(super) fn int(&self, position: usize) -> Result<i64, String> {
        self.needed(position, Arg::as_int, "an integer")
    }

    pub(super) fn optional_int(&self, position: usize) -> Result<Option<i64>, String> {
        self.optional(position, Arg::as_int, "an integer")
    }

    pub(super) fn ints(&self, position: usize) -> Result<&'a [i64], String> {
        self.optional_ints(position)?.ok_or_else(|| self.wrong(position, "a list of integers"))
    }

    pub(super) fn optional_ints(&self, position: usize) -> Result<Option<&'a [i64]>, String> {
        let read = |arg: &'a Arg<TensorType>| match arg {
            Arg::Int(value) => Some(std::slice::from_ref(value)),
            arg => arg.as_ints(),
        };
        self.optional(position, read, "a list of integers")
    }

    /// A list of `count` integers; a single one stands for all.
    pub(super) fn expanded_ints(&self, position: usize, count: usize) -> Result<Vec<i64>, String> {
        match self.ints(position)? {
            &[one] => Ok(vec![one; count]),
            values if values.len() == count => Ok(values.to_vec()),
            values => Err(format!("`{}` has {} entries, expected {count}", self.name(position), values.len())),
        }
    }

    pub(super) fn bool(&self, position: usize) -> Result<bool, String> {
        self.needed(position, Arg::as_bool, "a bool")
    }

    pub(super) fn text(&self, position: usize) -> Result<&'a str, String> {
        self.needed(position, Arg::as_str, "a string")
    }

    pub(super) fn dtype(&self, position: usize) -> Result<Option<Dtype>, String> {
        self.optional(position, Arg::as_dtype, "an element type")
    }

    /// A dimension of a tensor of `rank`, counted from the front.
    pub(super) fn dim(&self, position: usize, rank: usize) -> Result<usize, String> {
        front(self.int(position)?, rank)
    }

    /// Dimensions of a tensor of `rank`, counted from the front and each named once.
    pub(super) fn dims(&self, position: usize, rank: usize) -> Result<Vec<usize>, String> {
        distinct(self.ints(position)?, rank)
    }
}

/// That a tensor holds floats.
pub(super) fn floats(ty: &TensorType) -> Result<(), String> {
    if ty.dtype.is_float() { Ok(()) } else { Err(format!("`self` is {}, expected floats", ty.dtype)) }
}

/// The extent of the dimension of channels, behind that of the batch.
pub(super) fn channels(ty: &TensorType) -> Result<i64, String> {
    ty.shape.get(1).copied().ok_or_else(|| format!("`input` has rank {}, expected at least 2", ty.rank()))
}

/// That channels fall into so many groups.
pub(super) fn divides(groups: i64, channels: i64) -> Result<(), String> {
    match groups > 0 && channels % groups == 0 {
        true => Ok(()),
        false => Err(format!("{groups} groups of {channels} channels, expected a divisor of them")),
    }
}

/// A dimension counted from the front. A tensor without dimensions takes 0 and -1, as everywhere in ATen.
pub(super) fn front(dim: i64, rank: usize) -> Result<usize, String> {
    let range = i64::try_from(rank.max(1)).unwrap_or(i64::MAX);
    let wrong = || format!("dimension {dim} is out of range, expected one of {} to {}", -range, range - 1);
    wrap(dim, rank.max(1)).ok_or_else(wrong)
}

/// Dimensions counted from the front, of which none may be named twice.
pub(super) fn distinct(dims: &[i64], rank: usize) -> Result<Vec<usize>, String> {
    let mut seen = [false; MAX_RANK];
    dims.iter()
        .map(|&dim| {
            let front = front(dim, rank)?;
            match seen.get_mut(front) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(format!("dimension {dim} is named twice")),
            }
            Ok(front)
        })
        .collect()
}
