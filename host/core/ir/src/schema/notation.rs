//! Schemas in the dispatcher's own notation.

use super::{Alias, ArgType, BaseType, ListLength, Return, Schema, SchemaArg};
use crate::text::cursor::{Cursor, Joined, Number, Parsed, Quoted};
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
    Ok(Schema { op, args: items.into_iter().flatten().collect(), returns })
}

fn parse_return(cursor: &mut Cursor<'_>) -> Parsed<Return> {
    let (ty, alias) = parse_type(cursor)?;
    let name = cursor.run(|c| c.is_ascii_alphanumeric() || c == '_');
    Ok(Return { name: (!name.is_empty()).then(|| name.to_owned()), ty, alias })
}

fn parse_type(cursor: &mut Cursor<'_>) -> Parsed<(ArgType, Option<Alias>)> {
    let before = cursor.clone();
    let base =
        BaseType::from_name(cursor.word("a type")?).ok_or_else(|| before.unexpected("a type of an op on the lists"))?;
    let mut alias = None;
    if cursor.eat("(") {
        let set = cursor.run(|c| c.is_ascii_alphanumeric() || c == '|').to_owned();
        let write = cursor.eat("!");
        let into_list = cursor.eat("->") && cursor.eat("*");
        cursor.expect(")")?;
        alias = Some(Alias { set, write, into_list });
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
                Number::Int(x) => Ok(x),
                Number::Float(_) => Err(wrong()),
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
            Number::Float(x) => Arg::Float(x),
            // The dispatcher prints enumerations as their numbers.
            Number::Int(x) => match ty.base {
                BaseType::MemoryFormat => {
                    let format = usize::try_from(x).ok().and_then(|code| MEMORY_FORMATS.get(code));
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

/// The memory formats in the order of their numbers in `c10::MemoryFormat`.
const MEMORY_FORMATS: [MemoryFormat; 4] =
    [MemoryFormat::Contiguous, MemoryFormat::Preserve, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d];

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.op)?;
        let mut kwarg_only = false;
        for (position, arg) in self.args.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            if arg.kwarg_only && !kwarg_only {
                f.write_str("*, ")?;
                kwarg_only = true;
            }
            arg.ty.print(f, arg.alias.as_ref())?;
            write!(f, " {}", arg.name)?;
            if let Some(default) = &arg.default {
                f.write_str("=")?;
                print_default(f, default)?;
            }
        }
        f.write_str(") -> ")?;
        let parenthesised = !matches!(&self.returns[..], [Return { name: None, .. }]);
        if parenthesised {
            f.write_str("(")?;
        }
        for (position, result) in self.returns.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            result.ty.print(f, result.alias.as_ref())?;
            if let Some(name) = &result.name {
                write!(f, " {name}")?;
            }
        }
        if parenthesised { f.write_str(")") } else { Ok(()) }
    }
}

fn print_default(f: &mut fmt::Formatter<'_>, default: &Arg<Infallible>) -> fmt::Result {
    match default {
        Arg::None => f.write_str("None"),
        Arg::Bool(x) => f.write_str(if *x { "True" } else { "False" }),
        Arg::Int(x) => write!(f, "{x}"),
        Arg::Float(x) => f.write_str(&iostream_float(*x)),
        Arg::Str(x) => write!(f, "{}", Quoted(x)),
        Arg::Dtype(x) => write!(f, "{}", x.torch_code()),
        Arg::MemoryFormat(x) => write!(f, "{}", MEMORY_FORMATS.iter().take_while(|format| *format != x).count()),
        Arg::Strided => f.write_str("0"),
        Arg::Ints(x) => write!(f, "[{}]", Joined(x, ", ")),
        Arg::Floats(x) => write!(f, "[{}]", Joined(&x.iter().map(|x| iostream_float(*x)).collect::<Vec<_>>(), ", ")),
        Arg::Bools(x) => write!(f, "[{}]", Joined(x, ", ")),
        Arg::Values(_) | Arg::OptionalValues(_) => f.write_str("[]"),
        Arg::Device => f.write_str("device"),
        Arg::Value(never) => match *never {},
    }
}

/// A float as c10 prints one: `1.` for integers, else 17 significant digits in the manner of C's `%g`.
fn iostream_float(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".into() } else { value.to_string() };
    }
    if value == value.trunc() && value.abs() < 1e9 {
        return format!("{value:.0}.");
    }
    let scientific = format!("{value:.16e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let strip = |digits: &str| digits.trim_end_matches('0').trim_end_matches('.').to_owned();
    if (-4..17).contains(&exponent) {
        strip(&format!("{value:.*}", usize::try_from(16 - exponent).unwrap_or(0)))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", strip(mantissa), exponent.abs())
    }
}

impl ArgType {
    /// `alias` stands between the base type and the rest: `Tensor(a)[]`.
    fn print(&self, f: &mut fmt::Formatter<'_>, alias: Option<&Alias>) -> fmt::Result {
        f.write_str(self.base.name())?;
        if let Some(alias) = alias {
            let write = if alias.write { "!" } else { "" };
            write!(f, "({}{write}{})", alias.set, if alias.into_list { " -> *" } else { "" })?;
        }
        if self.optional_elements {
            f.write_str("?")?;
        }
        match self.list {
            Some(ListLength::Any) => f.write_str("[]")?,
            Some(ListLength::Expands(n)) => write!(f, "[{n}]")?,
            None => {}
        }
        if self.optional { f.write_str("?") } else { Ok(()) }
    }
}

impl fmt::Display for ArgType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, None)
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
    fn schemas_print_back() {
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
