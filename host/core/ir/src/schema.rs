//! Schemas of ATen ops: what they take and return, and how arguments are fitted to that.

mod notation;

use crate::text::cursor::{Cursor, Quoted};
use crate::{Arg, OpName, TextError};
use std::convert::Infallible;
use std::fmt;

/// What an op takes and returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Which op.
    pub op: OpName,
    /// Arguments in order; those behind the `*` come last.
    pub args: Vec<SchemaArg>,
    /// Results in order.
    pub returns: Vec<Return>,
    /// As the dispatcher prints it.
    text: String,
}

/// An argument of a [`Schema`].
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaArg {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub ty: ArgType,
    /// What an omitted argument stands for. No default is a tensor.
    pub default: Option<Arg<Infallible>>,
    /// Whether it can only be given by name.
    pub kwarg_only: bool,
    /// Whether results may share its memory, and whether the op writes to it.
    pub alias: Option<AliasUse>,
}

/// A result of a [`Schema`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Return {
    /// What is returned.
    pub ty: ArgType,
    /// Whether it may share memory with an argument, and whether the op writes to that.
    pub alias: Option<AliasUse>,
}

/// What an alias annotation says of the memory of an argument or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasUse {
    /// `(a)`, `(a -> *)`: it is shared.
    Shared,
    /// `(a!)`: it is written to as well.
    Written,
}

/// The type of an argument: a base type, possibly optional, possibly in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgType {
    /// The type, of an element if there is a list.
    pub base: BaseType,
    /// Whether elements of the list may be absent: `Tensor?[]`.
    pub optional_elements: bool,
    /// Whether it is a list.
    pub list: Option<ListLength>,
    /// Whether the whole argument may be `None`.
    pub optional: bool,
}

/// The length in a list type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListLength {
    /// `int[]`.
    Any,
    /// `int[2]`: a single integer stands for a list that repeats it.
    Expands(u32),
}

macro_rules! base_types {
    ($($(#[$doc:meta])* $variant:ident = $text:literal),* $(,)?) => {
        /// The types that occur in the schemas of the ops on the lists.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum BaseType { $($(#[$doc])* $variant),* }

        impl BaseType {
            /// The name in a schema.
            pub const fn name(self) -> &'static str {
                match self { $(BaseType::$variant => $text),* }
            }

            fn from_name(name: &str) -> Option<BaseType> {
                match name { $($text => Some(BaseType::$variant),)* _ => None }
            }
        }
    };
}

base_types! {
    /// A tensor.
    Tensor = "Tensor",
    /// An integer.
    Int = "int",
    /// An integer that may be symbolic elsewhere; here it never is.
    SymInt = "SymInt",
    /// A float.
    Float = "float",
    /// A bool.
    Bool = "bool",
    /// A number of any kind.
    Scalar = "Scalar",
    /// A string.
    Str = "str",
    /// An element type.
    ScalarType = "ScalarType",
    /// A memory format.
    MemoryFormat = "MemoryFormat",
    /// A layout; the only one is strided.
    Layout = "Layout",
    /// A device; the only one is the device of the evaluation.
    Device = "Device",
    /// A source of random numbers; only `None` is ever given.
    Generator = "Generator",
}

/// Why arguments do not fit the schema of an op.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` {1}")]
pub struct CallError(String, String);

impl Schema {
    /// Reads the dispatcher's notation, such as
    /// `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.
    pub fn parse(text: &str) -> Result<Schema, TextError> {
        Ok(Schema { text: text.trim().to_owned(), ..Cursor::whole(text, notation::parse)? })
    }

    /// Whether an argument is written and returned, as `aten::relu_` does.
    pub fn is_in_place(&self) -> bool {
        self.returns.iter().any(|result| result.alias == Some(AliasUse::Written))
    }

    /// Whether the op writes to any of its arguments.
    pub fn writes(&self) -> bool {
        self.args.iter().any(|arg| arg.alias == Some(AliasUse::Written))
    }

    /// Whether a result may share memory with an argument that the op does not write to. [`crate::alias`] says whether
    /// a given call does.
    pub fn is_view(&self) -> bool {
        self.returns.iter().any(|result| result.alias == Some(AliasUse::Shared))
    }

    /// The position of the argument called `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.args.iter().position(|arg| arg.name == name)
    }

    /// One argument per schema argument, in schema order: defaults filled in, and values converted where PyTorch
    /// converts them (an integer for a float, an integer for `int[2]`, a list of tensors for a list of optional ones).
    pub fn normalise<V>(
        &self,
        positional: Vec<Arg<V>>,
        keyword: Vec<(String, Arg<V>)>,
    ) -> Result<Vec<Arg<V>>, CallError> {
        let limit = self.args.iter().filter(|arg| !arg.kwarg_only).count();
        if positional.len() > limit {
            return Err(self.refuse(format!("takes {limit} positional arguments, found {}", positional.len())));
        }
        let mut given: Vec<Option<Arg<V>>> = positional.into_iter().map(Some).collect();
        given.resize_with(self.args.len(), || None);
        for (name, arg) in keyword {
            let Some(position) = self.position(&name) else {
                let known: Vec<&str> = self.args.iter().map(|arg| arg.name.as_str()).collect();
                return Err(self.refuse(format!("has no argument `{name}`; it has {}", known.join(", "))));
            };
            if given[position].replace(arg).is_some() {
                return Err(self.refuse(format!("is given `{name}` twice")));
            }
        }
        self.args.iter().zip(given).map(|(declared, given)| self.fill(declared, given)).collect()
    }

    fn fill<V>(&self, declared: &SchemaArg, given: Option<Arg<V>>) -> Result<Arg<V>, CallError> {
        match given {
            Some(arg) => declared.ty.convert(arg).map_err(|arg| self.mismatch(declared, &arg)),
            None => match &declared.default {
                Some(default) => Ok(default.map(|&never| match never {})),
                None => Err(self.refuse(format!("needs `{declared}`, which is missing"))),
            },
        }
    }

    /// Whether there is one argument of the right type per schema argument, as [`Schema::normalise`] returns them.
    pub fn check_args<V>(&self, args: &[Arg<V>]) -> Result<(), CallError> {
        if args.len() != self.args.len() {
            let (expected, found) = (self.args.len(), args.len());
            return Err(self.refuse(format!("has {expected} arguments, defaults included, found {found}")));
        }
        match self.args.iter().zip(args).find(|(declared, arg)| !declared.ty.accepts(arg)) {
            Some((declared, arg)) => Err(self.mismatch(declared, arg)),
            None => Ok(()),
        }
    }

    fn mismatch<V>(&self, declared: &SchemaArg, arg: &Arg<V>) -> CallError {
        self.refuse(format!("takes `{declared}`, found {}", describe(arg)))
    }

    fn refuse(&self, why: String) -> CallError {
        CallError(self.op.to_string(), why)
    }
}

/// What an argument is, for a message.
fn describe<V>(arg: &Arg<V>) -> String {
    match arg {
        Arg::None => "none".into(),
        Arg::Bool(value) => format!("the bool {value}"),
        Arg::Int(value) => format!("the integer {value}"),
        Arg::Float(value) => format!("the float {value:?}"),
        Arg::Str(value) => format!("the string {}", Quoted(&value.chars().take(40).collect::<String>())),
        Arg::Dtype(value) => format!("the element type {value}"),
        Arg::MemoryFormat(_) => "a memory format".into(),
        Arg::Strided => "a layout".into(),
        Arg::Device => "a device".into(),
        Arg::Value(_) => "a tensor".into(),
        Arg::Values(values) => format!("a list of {} tensors", values.len()),
        Arg::OptionalValues(values) => format!("a list of {} optional tensors", values.len()),
        Arg::Ints(values) => format!("a list of {} integers", values.len()),
        Arg::Floats(values) => format!("a list of {} floats", values.len()),
        Arg::Bools(values) => format!("a list of {} bools", values.len()),
    }
}

impl ArgType {
    /// Whether an argument has this type as it stands.
    pub fn accepts<V>(&self, arg: &Arg<V>) -> bool {
        let (bases, is_list): (&[BaseType], bool) = match arg {
            Arg::None => return self.optional,
            Arg::Bool(_) => (&[BaseType::Bool, BaseType::Scalar], false),
            Arg::Int(_) => (&[BaseType::Int, BaseType::SymInt, BaseType::Scalar], false),
            Arg::Float(_) => (&[BaseType::Float, BaseType::Scalar], false),
            Arg::Str(_) => (&[BaseType::Str], false),
            Arg::Dtype(_) => (&[BaseType::ScalarType], false),
            Arg::MemoryFormat(_) => (&[BaseType::MemoryFormat], false),
            Arg::Strided => (&[BaseType::Layout], false),
            Arg::Device => (&[BaseType::Device], false),
            Arg::Value(_) => (&[BaseType::Tensor], false),
            Arg::Values(_) if self.optional_elements => return false,
            Arg::OptionalValues(_) if !self.optional_elements => return false,
            Arg::Values(_) | Arg::OptionalValues(_) => (&[BaseType::Tensor], true),
            Arg::Ints(_) => (&[BaseType::Int, BaseType::SymInt, BaseType::Scalar], true),
            Arg::Floats(_) => (&[BaseType::Float, BaseType::Scalar], true),
            Arg::Bools(_) => (&[BaseType::Bool, BaseType::Scalar], true),
        };
        self.list.is_some() == is_list && bases.contains(&self.base)
    }

    /// The argument in this type, converted as PyTorch's own argument parser does; back as it was if it cannot be.
    fn convert<V>(&self, arg: Arg<V>) -> Result<Arg<V>, Arg<V>> {
        if self.accepts(&arg) {
            return Ok(arg);
        }
        let is_empty = match &arg {
            Arg::Values(x) => x.is_empty(),
            Arg::OptionalValues(x) => x.is_empty(),
            Arg::Ints(x) => x.is_empty(),
            Arg::Floats(x) => x.is_empty(),
            Arg::Bools(x) => x.is_empty(),
            _ => false,
        };
        match (self.list, self.base, arg) {
            (None, BaseType::Float, Arg::Int(x)) => Ok(Arg::Float(x as f64)),
            (Some(_), BaseType::Tensor, _) if is_empty => {
                Ok(if self.optional_elements { Arg::OptionalValues(vec![]) } else { Arg::Values(vec![]) })
            }
            (Some(_), BaseType::Int | BaseType::SymInt, _) if is_empty => Ok(Arg::Ints(vec![])),
            (Some(_), BaseType::Float, _) if is_empty => Ok(Arg::Floats(vec![])),
            (Some(_), BaseType::Bool, _) if is_empty => Ok(Arg::Bools(vec![])),
            (Some(_), BaseType::Tensor, Arg::Values(x)) if self.optional_elements => {
                Ok(Arg::OptionalValues(x.into_iter().map(Some).collect()))
            }
            (Some(_), BaseType::Float, Arg::Ints(x)) => Ok(Arg::Floats(x.into_iter().map(|x| x as f64).collect())),
            (Some(ListLength::Expands(n)), BaseType::Int | BaseType::SymInt, Arg::Int(x)) => {
                Ok(Arg::Ints(vec![x; n as usize]))
            }
            (Some(ListLength::Expands(n)), BaseType::Float, Arg::Int(x)) => Ok(Arg::Floats(vec![x as f64; n as usize])),
            (Some(ListLength::Expands(n)), BaseType::Float, Arg::Float(x)) => Ok(Arg::Floats(vec![x; n as usize])),
            (Some(ListLength::Expands(n)), BaseType::Bool, Arg::Bool(x)) => Ok(Arg::Bools(vec![x; n as usize])),
            (_, _, arg) => Err(arg),
        }
    }
}

impl fmt::Display for SchemaArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.name)
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::ValueId;

    fn schema(text: &str) -> Schema {
        Schema::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn effects_are_read_off_the_annotations() {
        for (text, in_place, view, writes) in [
            ("aten::relu(Tensor self) -> Tensor", false, false, false),
            ("aten::relu_(Tensor(a!) self) -> Tensor(a!)", true, false, true),
            ("aten::t(Tensor(a) self) -> Tensor(a)", false, true, false),
            ("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", false, true, false),
            ("aten::set_data(Tensor(a!) self, Tensor new_data) -> ()", false, false, true),
        ] {
            let schema = schema(text);
            assert_eq!((schema.is_in_place(), schema.is_view(), schema.writes()), (in_place, view, writes), "{text}");
        }
    }

    #[test]
    fn arguments_are_normalised() {
        let s = schema(
            "aten::f(Tensor self, int[2] stride, float p=0.5, Tensor[] rest=[], *, Scalar alpha=1, bool? flag=None) -> Tensor",
        );
        let x = || Arg::Value(ValueId(0));
        let full = |stride, p, rest, alpha, flag| vec![x(), stride, p, rest, alpha, flag];
        let none = || Arg::Values(vec![]);
        assert_eq!(
            s.normalise(vec![x(), Arg::Int(3)], vec![]).unwrap(),
            full(Arg::Ints(vec![3, 3]), Arg::Float(0.5), none(), Arg::Int(1), Arg::None)
        );
        let keyword = vec![
            ("alpha".to_owned(), Arg::Bool(true)),
            ("p".to_owned(), Arg::Int(2)),
            ("stride".to_owned(), Arg::Floats(vec![])),
            ("flag".to_owned(), Arg::Bool(false)),
        ];
        let normal = s.normalise(vec![x()], keyword).unwrap();
        assert_eq!(normal, full(Arg::Ints(vec![]), Arg::Float(2.0), none(), Arg::Bool(true), Arg::Bool(false)));
        assert_eq!(s.check_args(&normal), Ok(()));
    }

    #[test]
    fn wrong_calls_name_the_argument() {
        let s = schema("aten::f(Tensor self, int dim, *, str mode=\"none\") -> Tensor");
        let x = || Arg::Value(ValueId(0));
        let name = |name: &str, arg| vec![(name.to_owned(), arg)];
        for (positional, keyword, expected) in [
            (vec![x(), Arg::Int(1), Arg::Int(2)], vec![], "`aten::f` takes 2 positional arguments, found 3"),
            (vec![x()], vec![], "`aten::f` needs `int dim`, which is missing"),
            (vec![x(), Arg::Int(1)], name("dim", Arg::Int(1)), "`aten::f` is given `dim` twice"),
            (vec![x()], name("axis", Arg::Int(1)), "`aten::f` has no argument `axis`; it has self, dim, mode"),
            (vec![x(), Arg::Float(1.0)], vec![], "`aten::f` takes `int dim`, found the float 1.0"),
            (vec![x(), Arg::Int(1)], name("mode", Arg::None), "`aten::f` takes `str mode`, found none"),
        ] {
            assert_eq!(s.normalise(positional, keyword).unwrap_err().to_string(), expected);
        }
        let checked = |args: &[Arg<ValueId>]| s.check_args(args).unwrap_err().to_string();
        assert_eq!(checked(&[x()]), "`aten::f` has 3 arguments, defaults included, found 1");
        assert_eq!(checked(&[x(), x(), x()]), "`aten::f` takes `int dim`, found a tensor");
    }
}
