//! Names of folders.

use std::collections::HashSet;

/// Characters of a model's name that a folder keeps.
const LENGTH: usize = 100;
/// Of these, what the name of a piece has, and characters of all of it.
const MODEL: usize = 40;
const PIECE: usize = 160;

/// A name that is a folder on every system: letters, digits and `_ . + -`, the first no sign.
pub fn folder(name: &str) -> String {
    plain(name, LENGTH)
}

fn plain(name: &str, limit: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.+-".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).take(limit).collect();
    match name.chars().next() {
        None => "_".to_owned(),
        Some('.' | '+' | '-') => format!("_{name}"),
        Some(_) => name,
    }
}

/// The name of a piece: `bert-layer.3.attention-softmax-dropout`. Of a long name of a model the end is left.
pub fn piece(model: &str, label: &str) -> String {
    let model = plain(model, usize::MAX);
    let end = model[model.len().saturating_sub(MODEL)..].trim_start_matches(['_', '.', '+', '-']);
    plain(&if end.is_empty() { label.to_owned() } else { format!("{end}-{label}") }, PIECE)
}

/// Makes names unique, also where upper and lower case are the same: the second `a` is `a.2`.
#[derive(Debug, Default)]
pub struct Unique(HashSet<String>);

impl Unique {
    /// The name, or one like it that was not given yet.
    pub fn name(&mut self, wanted: String) -> String {
        let numbered = (2..).map(|number| format!("{wanted}.{number}"));
        let name =
            std::iter::once(wanted.clone()).chain(numbered).find(|name| !self.0.contains(&name.to_ascii_lowercase()));
        let name = name.unwrap_or(wanted);
        self.0.insert(name.to_ascii_lowercase());
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
    }

    #[test]
    fn a_piece_is_called_by_its_model_layer_and_ops() {
        for (model, label, expected) in [
            ("bert", "layer.3.attention-softmax-dropout", "bert-layer.3.attention-softmax-dropout"),
            ("", "softmax", "softmax"),
            (&format!("hub/{}_tiny", "deep-".repeat(20)), "add", &format!("{}_tiny-add", "deep-".repeat(7))),
        ] {
            assert_eq!(piece(model, label), expected);
        }
    }

    #[test]
    fn the_second_of_a_name_is_another() {
        let mut names = Unique::default();
        assert_eq!(["a", "b", "A", "a"].map(|name| names.name(name.to_owned())), ["a", "b", "A.2", "a.3"]);
    }
}
