//! Calls of ATen ops in the text form: `aten::mean.dim(%1, [2, 3], keepdim=true)`.

use super::cursor::{Cursor, Joined, NumberToken, OneLine, Parsed, Quoted, Real};
use crate::{Arg, Dtype, MemoryFormat, OpName, OpTable};
use std::convert::Infallible;
use std::fmt;

/// Prints a call. `name` says what a tensor is called.
pub(crate) fn print_call<V>(
    f: &mut fmt::Formatter<'_>,
    op: &OpName,
    args: &[Arg<V>],
    name: &dyn Fn(&V) -> String,
) -> fmt::Result {
    write!(f, "{}(", OneLine(&op.to_string()))?;
    let schema = OpTable::all().get(op).filter(|schema| schema.check_args(args).is_ok());
    let (mut first, mut by_name) = (true, false);
    for (position, arg) in args.iter().enumerate() {
        let declared = schema.map(|schema| &schema.args[position]);
        by_name |= declared.is_some_and(|declared| declared.kwarg_only || declared.default.is_some());
        if declared.and_then(|declared| declared.default.as_ref()).is_some_and(|default| is_default(arg, default)) {
            continue;
        }
        if !first {
            f.write_str(", ")?;
        }
        first = false;
        if let Some(declared) = declared.filter(|_| by_name) {
            write!(f, "{}=", declared.name)?;
        }
        print_arg(f, arg, name)?;
    }
    f.write_str(")")
}

fn is_default<V>(arg: &Arg<V>, default: &Arg<Infallible>) -> bool {
    // No default is a tensor, so that comparing without tensors is comparing. Floats compare by their bits: `-0.0` is
    // not the default `0.0`.
    if let (Arg::Float(a), Arg::Float(b)) = (arg, default) {
        return a.to_bits() == b.to_bits();
    }
    arg.values().next().is_none() && arg.map(|_| ()) == default.map(|&never| match never {})
}

fn print_arg<V>(f: &mut fmt::Formatter<'_>, arg: &Arg<V>, name: &dyn Fn(&V) -> String) -> fmt::Result {
    match arg {
        Arg::None => f.write_str("none"),
        Arg::Bool(x) => write!(f, "{x}"),
        Arg::Int(x) => write!(f, "{x}"),
        Arg::Float(x) => write!(f, "{}", Real(*x)),
        Arg::Str(x) => write!(f, "{}", Quoted(x)),
        Arg::Dtype(x) => write!(f, "{x}"),
        Arg::MemoryFormat(x) => f.write_str(x.name()),
        Arg::Strided => f.write_str("strided"),
        Arg::Device => f.write_str("device"),
        Arg::Value(v) => f.write_str(&name(v)),
        Arg::Values(vs) => write!(f, "[{}]", Joined(&vs.iter().map(name).collect::<Vec<_>>(), ", ")),
        Arg::OptionalValues(vs) => {
            let names = vs.iter().map(|value| value.as_ref().map_or("none".to_owned(), name));
            write!(f, "[{}]", Joined(&names.collect::<Vec<_>>(), ", "))
        }
        Arg::Ints(x) => write!(f, "[{}]", Joined(x, ", ")),
        Arg::Floats(x) => write!(f, "[{}]", Joined(&x.iter().map(|x| Real(*x)).collect::<Vec<_>>(), ", ")),
        Arg::Bools(x) => write!(f, "[{}]", Joined(x, ", ")),
    }
}

/// Reads a call. `value` reads a tensor, which begins with `%`. The arguments of an op on a list are normalised
/// by its schema, others stay as they are.
pub(super) fn parse_call<V>(
    cursor: &mut Cursor<'_>,
    mut value: impl FnMut(&mut Cursor<'_>) -> Parsed<V>,
) -> Parsed<(OpName, Vec<Arg<V>>)> {
    let before = cursor.clone();
    let op = cursor.run(|c| c.is_ascii_alphanumeric() || "_:.".contains(c));
    if !op.contains("::") {
        return Err(before.unexpected("`kernel` or the full name of an op, such as `aten::add.Tensor`"));
    }
    let op = OpName::parse(op);
    let mut keyword: Vec<(String, Arg<V>)> = Vec::new();
    let mut positional = Vec::new();
    cursor.list("(", ")", |cursor| {
        let mut ahead = cursor.clone();
        let name = ahead.word("").unwrap_or_default();
        if !name.is_empty() && ahead.eat("=") {
            *cursor = ahead;
            keyword.push((name.to_owned(), parse_arg(cursor, &mut value)?));
        } else if keyword.is_empty() {
            positional.push(parse_arg(cursor, &mut value)?);
        } else {
            return Err(cursor.unexpected("an argument with its name, because it comes after one"));
        }
        Ok(())
    })?;
    match OpTable::all().get(&op) {
        Some(schema) => {
            // An unlisted or ill-typed call is printed by position with nothing left out: one argument per schema
            // argument, keyword-only ones included.
            let args = if keyword.is_empty() && schema.check_args(&positional).is_ok() {
                positional
            } else {
                schema.normalise(positional, keyword).map_err(|error| before.error(error.to_string()))?
            };
            Ok((op, args))
        }
        None if keyword.is_empty() => Ok((op, positional)),
        None => {
            Err(before.error(format!("`{op}` is on no list of ops, so that its arguments cannot be given by name")))
        }
    }
}

fn parse_arg<V>(cursor: &mut Cursor<'_>, value: &mut impl FnMut(&mut Cursor<'_>) -> Parsed<V>) -> Parsed<Arg<V>> {
    match cursor.peek() {
        Some('%') => return Ok(Arg::Value(value(cursor)?)),
        Some('"') => return Ok(Arg::Str(cursor.string()?)),
        Some('[') => return parse_list(cursor, value),
        Some(c) if c.is_ascii_alphabetic() => {}
        _ => return number(cursor),
    }
    let word = cursor.peek_word();
    let arg = match word {
        "inf" | "nan" => return number(cursor),
        "none" => Arg::None,
        "true" => Arg::Bool(true),
        "false" => Arg::Bool(false),
        "strided" => Arg::Strided,
        "device" => Arg::Device,
        _ => match (word.parse::<Dtype>(), MemoryFormat::from_name(word)) {
            (Ok(dtype), _) => Arg::Dtype(dtype),
            (_, Some(format)) => Arg::MemoryFormat(format),
            _ => return Err(cursor.unexpected("an argument")),
        },
    };
    cursor.expect_word(word)?;
    Ok(arg)
}

fn number<V>(cursor: &mut Cursor<'_>) -> Parsed<Arg<V>> {
    let before = cursor.clone();
    Ok(match cursor.number().map_err(|_| before.unexpected("an argument"))? {
        NumberToken::Int(x) => Arg::Int(x),
        NumberToken::Float(x) => Arg::Float(x),
    })
}

/// A list of things of one kind, told by its first item. An empty one is a list of integers until a schema says
/// otherwise.
fn parse_list<V>(cursor: &mut Cursor<'_>, value: &mut impl FnMut(&mut Cursor<'_>) -> Parsed<V>) -> Parsed<Arg<V>> {
    let mut ahead = cursor.clone();
    ahead.expect("[")?;
    match ahead.peek() {
        Some('%') | Some('n') if ahead.peek_word() != "nan" => {
            let items = cursor
                .list("[", "]", |cursor| if cursor.eat_word("none") { Ok(None) } else { value(cursor).map(Some) })?;
            if items.iter().any(Option::is_none) {
                Ok(Arg::OptionalValues(items))
            } else {
                Ok(Arg::Values(items.into_iter().flatten().collect()))
            }
        }
        Some('t' | 'f') => cursor
            .list("[", "]", |cursor| {
                if cursor.eat_word("true") { Ok(true) } else { cursor.expect_word("false").map(|()| false) }
            })
            .map(Arg::Bools),
        Some(']') => cursor.list("[", "]", |cursor| cursor.integer("an integer")).map(Arg::Ints),
        _ => {
            let numbers = cursor.list("[", "]", Cursor::number)?;
            let ints: Option<Vec<i64>> =
                numbers.iter().map(|number| if let NumberToken::Int(x) = number { Some(*x) } else { None }).collect();
            let float = |number| match number {
                NumberToken::Int(x) => x as f64,
                NumberToken::Float(x) => x,
            };
            Ok(ints.map_or_else(|| Arg::Floats(numbers.into_iter().map(float).collect()), Arg::Ints))
        }
    }
}
