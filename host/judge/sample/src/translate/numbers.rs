//! Tensors where an op takes a number: Python converts one with a single element, `torch.arange(end)`, `torch.ones((n,))`.

use super::arguments::Arguments;
use super::builder::GraphBuilder;
use super::methods;
use super::overload::schema_name;
use super::unsupported::Unsupported;
use crate::value::PyValue;
use passhost_ir::schema::{BaseType, SchemaArg};
use passhost_ir::{OpTable, Schema};

/// The arguments of `aten::name` with numbers in place of tensors that no overload takes there; `None` where there are no
/// such tensors.
pub fn in_place_of_tensors(
    builder: &mut GraphBuilder<'_>,
    name: &str,
    arguments: &Arguments,
) -> Result<Option<Arguments>, Unsupported> {
    let overloads: Vec<&Schema> = OpTable::sample().overloads(&format!("aten::{name}")).collect();
    let is_number = |declared: &dyn Fn(&Schema) -> Option<&SchemaArg>| {
        let mut declared = overloads.iter().filter_map(|schema| declared(schema)).peekable();
        declared.peek().is_some() && declared.all(|declared| declared.ty.base != BaseType::Tensor)
    };
    let mut numbers = arguments.clone();
    for (position, value) in numbers.positional.iter_mut().enumerate() {
        if is_number(&|schema| schema.args.get(position)) {
            *value = number(builder, value)?;
        }
    }
    for (name, value) in &mut numbers.keyword {
        if is_number(&|schema| schema.args.get(schema.position(schema_name(name, schema))?)) {
            *value = number(builder, value)?;
        }
    }
    Ok((numbers != *arguments).then_some(numbers))
}

/// A value with the number in each tensor of it.
fn number(builder: &mut GraphBuilder<'_>, value: &PyValue) -> Result<PyValue, Unsupported> {
    match value {
        PyValue::Tensor(_) => match methods::item(builder, value)? {
            PyValue::Element(_) => {
                Err(Unsupported("it takes a number out of a tensor whose elements are not recorded".into()))
            }
            number => Ok(number),
        },
        PyValue::List(items) => {
            let numbers = items.iter().map(|item| number(builder, item)).collect::<Result<_, _>>()?;
            Ok(PyValue::List(numbers))
        }
        other => Ok(other.clone()),
    }
}
