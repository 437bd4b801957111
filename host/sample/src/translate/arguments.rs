//! The arguments of a call, bound to names as Python binds them.

use super::Unsupported;
use crate::value::PyValue;

/// Positional and keyword arguments.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// In order. A method's first one is the object.
    pub positional: Vec<PyValue>,
    /// By name.
    pub keyword: Vec<(String, PyValue)>,
}

impl Arguments {
    /// One slot a parameter, `None` where nothing was given.
    pub fn bind<const N: usize>(self, names: [&str; N]) -> Result<[Option<PyValue>; N], Unsupported> {
        if self.positional.len() > N {
            return Err(Unsupported(format!("it takes at most {N} arguments, found {}", self.positional.len())));
        }
        let mut bound = [const { None }; N];
        for (slot, value) in bound.iter_mut().zip(self.positional) {
            *slot = Some(value);
        }
        for (name, value) in self.keyword {
            let position = names
                .iter()
                .position(|known| *known == name)
                .ok_or_else(|| Unsupported(format!("it has no argument `{name}`; it has {}", names.join(", "))))?;
            if bound[position].replace(value).is_some() {
                return Err(Unsupported(format!("`{name}` is given twice")));
            }
        }
        Ok(bound)
    }

    /// Takes out a keyword argument.
    pub fn take(&mut self, name: &str) -> Option<PyValue> {
        let position = self.keyword.iter().position(|(key, _)| key == name)?;
        Some(self.keyword.remove(position).1)
    }

    /// The kinds of the arguments, for messages: `T, [T, T], dim=int`.
    pub fn kinds(&self) -> Vec<String> {
        let positional = self.positional.iter().map(|value| value.kind().to_owned());
        let keyword = self.keyword.iter().map(|(name, value)| format!("{name}={}", value.kind()));
        positional.chain(keyword).collect()
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
