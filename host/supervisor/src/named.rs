//! Which graphs somebody means who names a part of their names.

use passhost_ir::Dtype;

/// Whether a text is in a name. PyTorch's name of an element type means that type alone, and not a longer one: `float16` is
/// not in `graphs/bfloat16/s0-8`.
pub fn is_named(name: &str, text: &str) -> bool {
    let is_whole = Dtype::ALL.iter().any(|dtype| dtype.torch_name() == text);
    let is_apart = |at: usize| {
        let (before, after) = (name[..at].chars().next_back(), name[at + text.len()..].chars().next());
        !before.into_iter().chain(after).any(char::is_alphanumeric)
    };
    name.match_indices(text).any(|(at, _)| !is_whole || is_apart(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_type_is_not_in_the_name_of_a_longer_one() {
        assert!(!is_named("graphs/subgraphs/bfloat16/s0-8", "float16"));
        assert!(is_named("graphs/subgraphs/float16/s0-8", "float16"));
        assert!(is_named("bfloat16/float16/s0-8", "float16"), "the second one");
        assert!(is_named("float16", "float16") && !is_named("uint8/x", "int8"));
    }

    #[test]
    fn any_other_text_is_in_a_name_wherever_it_stands() {
        assert!(is_named("graphs/bfloat16/s0-8", "loat16/s0") && is_named("graphs/bfloat16/s0-8", "float"));
        assert!(is_named("anything", "") && !is_named("graphs/float32", "half"));
    }
}
