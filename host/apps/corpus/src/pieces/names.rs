//! Names of folders.

use crate::decompose::Origin;
use std::collections::HashSet;

/// Characters of a model's name that a folder keeps.
const LENGTH: usize = 100;

/// A name that is a folder on every system: letters, digits and `_ . + -`, the first no sign.
pub fn folder(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.+-".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).take(LENGTH).collect();
    match name.chars().next() {
        None => "_".to_owned(),
        Some('.' | '+' | '-') => format!("_{name}"),
        Some(_) => name,
    }
}

/// What PassNet would call a piece: `resnet18_start3_end6_1`.
pub fn piece(model: &str, origin: &Origin) -> String {
    let (start, end, number) = origin.place;
    format!("{}_start{start}_end{end}_{number}", folder(model))
}

/// Makes names unique: the second `a` is `a.2`.
#[derive(Debug, Default)]
pub struct Unique(HashSet<String>);

impl Unique {
    /// The name, or one like it that was not given yet.
    pub fn name(&mut self, wanted: String) -> String {
        let numbered = (2..).map(|number| format!("{wanted}.{number}"));
        let name = std::iter::once(wanted.clone()).chain(numbered).find(|name| !self.0.contains(name));
        let name = name.unwrap_or(wanted);
        self.0.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folders_whatever_a_model_is_called() {
        for (name, expected) in [
            ("resnet18.a1_in1k", "resnet18.a1_in1k"),
            ("a/b c", "a_b_c"),
            ("..", "_.."),
            ("-x", "_-x"),
            ("", "_"),
            ("mod\u{e8}le", "mod_le"),
        ] {
            assert_eq!(folder(name), expected, "{name}");
        }
        let origin = Origin { model: 0, place: (3, 6, 1) };
        assert_eq!(piece("resnet18", &origin), "resnet18_start3_end6_1");
    }

    #[test]
    fn the_second_of_a_name_is_another() {
        let mut names = Unique::default();
        assert_eq!(["a", "b", "a", "a"].map(|name| names.name(name.to_owned())), ["a", "b", "a.2", "a.3"]);
    }
}
