//! Which overload of an op takes given arguments, by the dispatcher's own schemas.

use super::arguments::Arguments;
use super::unsupported::Unsupported;
use crate::value::PyValue;
use passhost_ir::schema::BaseType;
use passhost_ir::{Arg, OpName, OpTable, Schema, ValueId, refused_argument};

/// Python's names of arguments that the dispatcher calls otherwise.
pub fn schema_name<'a>(name: &'a str, schema: &Schema) -> &'a str {
    if schema.position(name).is_some() {
        return name;
    }
    match name {
        "input" | "tensor" | "x" => "self",
        "split_size_or_sections" => "split_size",
        "axis" => "dim",
        "keepdims" => "keepdim",
        "self" => "input",
        other => other,
    }
}

/// Keyword arguments that say where or how a tensor is kept, not what is in it.
fn is_placement(name: &str, value: &PyValue, schema: &Schema) -> bool {
    let absent = schema.position(name).is_none();
    matches!(
        (name, value),
        ("requires_grad" | "pin_memory" | "non_blocking", PyValue::Bool(_)) | ("out" | "generator", PyValue::None)
    ) || (absent && matches!(value, PyValue::Device | PyValue::Strided))
}

/// The overload of `aten::name` that takes these arguments, and the arguments in its schema's order. `only` names one.
pub fn resolve(
    name: &str,
    only: Option<&str>,
    arguments: &Arguments,
) -> Result<(&'static Schema, Vec<Arg>), Unsupported> {
    let full = format!("aten::{name}");
    let args: Vec<Arg> = arguments
        .positional
        .iter()
        .map(|value| value.to_arg().ok_or_else(|| no_form(value)))
        .collect::<Result<_, _>>()?;
    let mut candidates: Vec<&Schema> = match only {
        Some(overload) => OpTable::sample().get(&OpName::new(&full, overload)).into_iter().collect(),
        None => OpTable::sample().overloads(&full).collect(),
    };
    if candidates.is_empty() {
        let full = OpName::new(full, only.unwrap_or_default());
        return Err(Unsupported(format!("there is no op `{full}` among those that samples may use")));
    }
    // An exact fit before one that converts, and the shorter signature before the longer.
    candidates.sort_by_key(|schema| (conversions(schema, &args, &arguments.keyword), schema.args.len()));
    let mut first_error = None;
    for schema in candidates {
        let keyword: Vec<(String, Arg)> = arguments
            .keyword
            .iter()
            .filter(|(key, value)| !is_placement(key, value, schema))
            .map(|(key, value)| {
                Ok((schema_name(key, schema).to_owned(), value.to_arg().ok_or_else(|| no_form(value))?))
            })
            .collect::<Result<_, Unsupported>>()?;
        match schema.normalise(args.clone(), keyword) {
            Ok(mut args) => {
                on_the_device(schema, &mut args);
                refused_argument(schema, &args).map_err(|error| Unsupported(error.to_string()))?;
                return Ok((schema, args));
            }
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    Err(Unsupported(first_error.map_or_else(|| "no overload fits".to_owned(), |error| error.to_string())))
}

fn no_form(value: &PyValue) -> Unsupported {
    Unsupported(format!("a {} cannot be an argument of an op", value.kind()))
}

/// A tensor made from nothing lies on the device of the evaluation, wherever the model made it.
fn on_the_device(schema: &Schema, args: &mut [Arg<ValueId>]) {
    let takes_tensors = schema.args.iter().any(|declared| declared.ty.base == BaseType::Tensor);
    if let Some(device) = schema.position("device").filter(|_| !takes_tensors) {
        args[device] = Arg::Device;
    }
}

/// How many arguments an overload would have to convert, a Python number for a tensor most of all.
fn conversions(schema: &Schema, args: &[Arg], keyword: &[(String, PyValue)]) -> usize {
    let keyword = keyword.iter().filter_map(|(name, value)| {
        let declared = &schema.args[schema.position(schema_name(name, schema))?];
        Some((declared, value.to_arg()?))
    });
    let all = schema.args.iter().zip(args.iter().cloned()).chain(keyword);
    all.map(|(declared, arg)| usize::from(!declared.ty.accepts(&arg)) * 2 + usize::from(widens(declared.ty.base, &arg)))
        .sum()
}

fn widens(base: BaseType, arg: &Arg) -> bool {
    matches!((base, arg), (BaseType::Float, Arg::Int(_)) | (BaseType::Scalar, Arg::Bool(_)))
}

/// Whether the op returns a list or several tensors: Python then sees a tuple even of one.
pub fn returns_several(schema: &Schema) -> bool {
    schema.returns.len() > 1 || schema.returns.iter().any(|result| result.ty.list.is_some())
}
