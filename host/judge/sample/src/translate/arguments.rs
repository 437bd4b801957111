//! The arguments of a call, bound to names as Python binds them.

use super::unsupported::Unsupported;
use crate::value::PyValue;

/// Positional and keyword arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments {
    /// In order. A method's first one is the object.
    pub positional: Vec<PyValue>,
    /// By name.
    pub keyword: Vec<(String, PyValue)>,
}

/// An argument bound to a parameter.
pub struct BoundArgument {
    /// The parameter.
    pub name: &'static str,
    /// What is given, or the default.
    pub value: PyValue,
    /// Whether it is the default.
    pub is_default: bool,
}

impl Arguments {
    /// One value a parameter of a signature as Python writes it: `"input, p=0.5, training=True"`. Where the default is a
    /// bool, so must be what is given. There and where it is `[]`, `None` stands for the default.
    pub fn bind<const N: usize>(self, signature: &'static str) -> Result<[PyValue; N], Unsupported> {
        let mut bound = self.named(signature)?.into_iter().map(|argument| argument.value);
        debug_assert_eq!(bound.len(), N, "{signature}");
        Ok(std::array::from_fn(|_| optional(bound.next())))
    }

    /// As [`Arguments::bind`], with the names of the parameters.
    pub fn named(self, signature: &'static str) -> Result<Vec<BoundArgument>, Unsupported> {
        let parameters = signature.split(", ").map(|parameter| match parameter.split_once('=') {
            Some((name, default)) => (name, Some(default)),
            None => (parameter, None),
        });
        let parameters: Vec<(&str, Option<&str>)> = parameters.collect();
        let (count, most) = (self.positional.len(), parameters.len());
        if count > most {
            return Err(Unsupported(format!("it takes at most {most} arguments, found {count}")));
        }
        let mut given: Vec<Option<PyValue>> = self.positional.into_iter().map(Some).collect();
        given.resize(most, None);
        for (name, value) in self.keyword {
            let position = parameters.iter().position(|(known, _)| *known == name).ok_or_else(|| {
                let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
                Unsupported(format!("it has no argument `{name}`; it has {}", names.join(", ")))
            })?;
            if given[position].replace(value).is_some() {
                return Err(Unsupported(format!("`{name}` is given twice")));
            }
        }
        let bound = parameters.into_iter().zip(given).map(|((name, default), given)| {
            let default = default.map(literal);
            let value = match (&default, given) {
                (None, given) => required(given, name)?,
                (Some(PyValue::Bool(default)), given) => PyValue::Bool(flag(given, *default, name)?),
                (Some(default @ PyValue::List(_)), None | Some(PyValue::None)) => default.clone(),
                (Some(default), given) => given.unwrap_or_else(|| default.clone()),
            };
            Ok(BoundArgument { name, is_default: default.as_ref() == Some(&value), value })
        });
        bound.collect()
    }

    /// Takes out a keyword argument.
    pub fn take(&mut self, name: &str) -> Option<PyValue> {
        let position = self.keyword.iter().position(|(key, _)| key == name)?;
        Some(self.keyword.remove(position).1)
    }

    /// Takes out an argument that may be given by name or at a position.
    pub fn take_at(&mut self, position: usize, name: &str) -> Option<PyValue> {
        let is_there = position < self.positional.len();
        self.take(name).or_else(|| is_there.then(|| self.positional.remove(position)))
    }

    /// The kinds of the arguments, for messages: `T, [T, T], dim=int`.
    pub fn kinds(&self) -> Vec<String> {
        let positional = self.positional.iter().map(|value| value.kind().to_owned());
        let keyword = self.keyword.iter().map(|(name, value)| format!("{name}={}", value.kind()));
        positional.chain(keyword).collect()
    }
}

/// A default in a signature.
fn literal(text: &str) -> PyValue {
    match text {
        "None" => PyValue::None,
        "True" | "False" => PyValue::Bool(text == "True"),
        "[]" => PyValue::List(vec![]),
        number => match (number.parse(), number.parse()) {
            (Ok(whole), _) => PyValue::Int(whole),
            (_, Ok(float)) => PyValue::Float(float),
            _ => PyValue::Str(text.trim_matches('\'').to_owned()),
        },
    }
}

/// An argument that must be there.
pub fn required(value: Option<PyValue>, name: &str) -> Result<PyValue, Unsupported> {
    value.ok_or_else(|| Unsupported(format!("it needs an argument `{name}`")))
}

/// An argument, `None` where it was left out.
pub fn optional(value: Option<PyValue>) -> PyValue {
    value.unwrap_or(PyValue::None)
}

/// Whether a flag is set; anything but a bool is refused.
pub fn flag(value: Option<PyValue>, default: bool, name: &str) -> Result<bool, Unsupported> {
    match value {
        None | Some(PyValue::None) => Ok(default),
        Some(PyValue::Bool(value)) => Ok(value),
        Some(other) => Err(Unsupported(format!("`{name}` is a {}, expected a bool", other.kind()))),
    }
}

/// Integers given as a list or one by one.
pub fn sizes(values: Vec<PyValue>) -> PyValue {
    match <[PyValue; 1]>::try_from(values) {
        Ok([list @ PyValue::List(_)]) => list,
        Ok([one]) => PyValue::List(vec![one]),
        Err(several) => PyValue::List(several),
    }
}
