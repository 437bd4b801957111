//! The list of names by which a kernel in the interface of plugins speaks of operations: an instruction holds a position
//! in it. So a new operation changes no interface.

/// A kind of operation, which a name belongs to.
pub trait NamedOperation: Copy {
    /// What to call the kind in a message.
    const KIND: &'static str;

    /// The operation's name.
    fn text(self) -> &'static str;

    /// The operation of this kind with this name.
    fn find(name: &str) -> Option<Self>;
}

/// Why an instruction names no operation of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownOperation(String);

/// A list under construction: each name once, in the order of first use.
#[derive(Debug, Clone, Default)]
pub struct NameList(Vec<&'static str>);

impl NameList {
    /// The position of an operation's name.
    pub fn position(&mut self, operation: impl NamedOperation) -> u32 {
        let name = operation.text();
        // The same name is the same text: a kernel has few, and comparing addresses first makes this cheap.
        let known = self.0.iter().position(|known| std::ptr::eq(*known, name) || *known == name);
        known.unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        }) as u32
    }

    /// The names.
    pub fn into_names(self) -> Vec<String> {
        self.0.into_iter().map(str::to_owned).collect()
    }
}

/// The operation at a position of a list.
pub fn named<O: NamedOperation>(names: &[String], position: u32) -> Result<O, UnknownOperation> {
    let found = names.get(position as usize).and_then(|name| O::find(name));
    found.ok_or_else(|| unknown(O::KIND, names, position))
}

/// Why there is none at a position.
fn unknown(kind: &'static str, names: &[String], position: u32) -> UnknownOperation {
    UnknownOperation(match names.get(position as usize) {
        None => format!("{kind} number {position} is asked for, but the kernel lists {} names", names.len()),
        // A name may be of any length; a message is not.
        Some(name) => format!("there is no {kind} `{}`", name.chars().take(40).collect::<String>()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Binary, ReduceOp, Unary};

    #[test]
    fn names_are_listed_once_and_found_by_kind() {
        let mut list = NameList::default();
        let positions = [list.position(Binary::Max), list.position(Unary::Exp), list.position(ReduceOp::Max)];
        assert_eq!(positions, [0, 1, 0]);
        let names = list.into_names();
        assert_eq!(names, ["max", "exp"]);
        assert_eq!(named::<Binary>(&names, 0), Ok(Binary::Max));
        assert_eq!(named::<ReduceOp>(&names, 0), Ok(ReduceOp::Max));
        for (position, expected) in [
            (0, "there is no unary operation `max`"),
            (2, "unary operation number 2 is asked for, but the kernel lists 2 names"),
        ] {
            assert_eq!(named::<Unary>(&names, position).map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
    }
}
