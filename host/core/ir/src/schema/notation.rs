//! Schemas in the dispatcher's own notation.

use super::{AliasUse, ArgType, BaseType, ListLength, Return, Schema, SchemaArg};
use crate::text::cursor::{Cursor, NumberToken, Parsed};
use crate::{Arg, Dtype, MemoryFormat, OpName};
use std::convert::Infallible;
use std::fmt;

/// More elements than any list type of a schema has; a bound for what `int[n]` may expand to.
const MAX_EXPANSION: u32 = 16;

pub(super) fn parse(cursor: &mut Cursor<'_>) -> Parsed<Schema> {
    let op = OpName::parse(cursor.run(|c| c.is_ascii_alphanumeric() || "_:.".contains(c)));
    let mut kwarg_only = false;
    let items = cursor.list("(", ")", |cursor| {
        if cursor.eat("*") {
            kwarg_only = true;
            return Ok(None);
        }
        let (ty, alias) = parse_type(cursor)?;
        let name = cursor.word("the name of an argument")?.to_owned();
        let default = if cursor.eat("=") { Some(parse_default(cursor, ty)?) } else { None };
        Ok(Some(SchemaArg { name, ty, default, kwarg_only, alias }))
    })?;
    cursor.expect("->")?;
    let returns =
        if cursor.peek() == Some('(') { cursor.list("(", ")", parse_return)? } else { vec![parse_return(cursor)?] };
    Ok(Schema { op, args: items.into_iter().flatten().collect(), returns, text: String::new() })
}

fn parse_return(cursor: &mut Cursor<'_>) -> Parsed<Return> {
    let (ty, alias) = parse_type(cursor)?;
    // Some have a name.
    cursor.run(|c| c.is_ascii_alphanumeric() || c == '_');
    Ok(Return { ty, alias })
}

fn parse_type(cursor: &mut Cursor<'_>) -> Parsed<(ArgType, Option<AliasUse>)> {
    let before = cursor.clone();
    let base =
        BaseType::from_name(cursor.word("a type")?).ok_or_else(|| before.unexpected("a type of an op on the lists"))?;
    let mut alias = None;
    if cursor.eat("(") {
        cursor.run(|c| c.is_ascii_alphanumeric() || c == '|');
        alias = Some(if cursor.eat("!") { AliasUse::Written } else { AliasUse::Shared });
        // Each element of a list that is returned.
        if cursor.eat("->") {
            cursor.expect("*")?;
        }
        cursor.expect(")")?;
    }
    let mut ty = ArgType { base, optional_elements: false, list: None, optional: cursor.eat("?") };
    if cursor.eat("[") {
        ty.optional_elements = ty.optional;
        ty.list = Some(if cursor.peek() == Some(']') {
            ListLength::Any
        } else {
            let before = cursor.clone();
            match cursor.unsigned("a length")? {
                n if n <= MAX_EXPANSION => ListLength::Expands(n),
                _ => return Err(before.unexpected(format_args!("a length of at most {MAX_EXPANSION}"))),
            }
        });
        cursor.expect("]")?;
        ty.optional = cursor.eat("?");
    }
    Ok((ty, alias))
}

fn parse_default(cursor: &mut Cursor<'_>, ty: ArgType) -> Parsed<Arg<Infallible>> {
    let before = cursor.clone();
    let wrong = || before.unexpected(format_args!("a default of type `{ty}`"));
    let default = match cursor.peek() {
        Some('"') => Arg::Str(cursor.string()?),
        Some('[') => {
            let integer = |number| match number {
                NumberToken::Int(x) => Ok(x),
                NumberToken::Float(_) => Err(wrong()),
            };
            let numbers = cursor.list("[", "]", Cursor::number)?;
            Arg::Ints(numbers.into_iter().map(integer).collect::<Parsed<_>>()?)
        }
        Some(c) if c.is_ascii_alphabetic() && !["inf", "nan"].contains(&cursor.peek_word()) => {
            match cursor.word("a default")? {
                "None" => Arg::None,
                "True" => Arg::Bool(true),
                "False" => Arg::Bool(false),
                "contiguous_format" => Arg::MemoryFormat(MemoryFormat::Contiguous),
                "preserve_format" => Arg::MemoryFormat(MemoryFormat::Preserve),
                "strided" => Arg::Strided,
                "Mean" => Arg::Int(1),
                name => Arg::Dtype(Dtype::from_torch_name(name).ok_or_else(wrong)?),
            }
        }
        _ => match cursor.number()? {
            NumberToken::Float(x) => Arg::Float(x),
            // The dispatcher prints enumerations as their numbers.
            NumberToken::Int(x) => match ty.base {
                BaseType::MemoryFormat => {
                    let format = usize::try_from(x).ok().and_then(|code| MemoryFormat::ALL.get(code));
                    Arg::MemoryFormat(*format.ok_or_else(wrong)?)
                }
                BaseType::ScalarType => {
                    let found = Dtype::ALL.into_iter().find(|dtype| dtype.torch_code() == x);
                    Arg::Dtype(found.ok_or_else(wrong)?)
                }
                BaseType::Layout if x == 0 => Arg::Strided,
                _ => Arg::Int(x),
            },
        },
    };
    ty.convert(default).map_err(|_| wrong())
}

impl fmt::Display for ArgType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.base.name(), if self.optional_elements { "?" } else { "" })?;
        match self.list {
            Some(ListLength::Any) => f.write_str("[]")?,
            Some(ListLength::Expands(n)) => write!(f, "[{n}]")?,
            None => {}
        }
        if self.optional { f.write_str("?") } else { Ok(()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_form_is_understood_and_prints_back() {
        for text in [
            "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "aten::relu_(Tensor(a!) self) -> Tensor(a!)",
            "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
            "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
            "aten::fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
            "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
            "aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
            "aten::x(Tensor self, float[]? s, float a=1.0000000000000001e-05, float b=-0.5, float c=inf, float d=0., str e=\"no\\\"ne\", *, Generator? generator=None) -> (Tensor values, Tensor indices)",
            "aten::y(Tensor(a!)? self, int[2] s=[0, 1], bool[3] m) -> ()",
            "aten::w() -> (Tensor out)",
        ] {
            assert_eq!(schema(text).to_string(), text);
        }
    }

    #[test]
    fn names_of_enumerators_are_understood() {
        let schema = schema(
            "aten::x(int reduction=Mean, MemoryFormat f=contiguous_format, Layout l=strided, ScalarType d=long) -> Tensor",
        );
        let defaults: Vec<_> = schema.args.iter().map(|arg| arg.default.clone().unwrap()).collect();
        let expected = [Arg::Int(1), Arg::MemoryFormat(MemoryFormat::Contiguous), Arg::Strided, Arg::Dtype(Dtype::I64)];
        assert_eq!(defaults, expected);
    }

    #[test]
    fn broken_schemas_are_refused_at_the_right_column() {
        for (text, column) in [
            ("aten::x(Tensor self -> Tensor", 21),
            ("aten::x(Tensor) -> Tensor", 15),
            ("aten::x(Storage self) -> Tensor", 9),
            ("aten::x(int[999] self) -> Tensor", 13),
            ("aten::x(int a=\"q\") -> Tensor", 15),
            ("aten::x() -> Tensor Tensor more", 28),
        ] {
            let error = Schema::parse(text).unwrap_err();
            assert_eq!(error.column, column, "{text}: {error}");
        }
    }
}
