//! Which graphs somebody means who names a part of their names.

use passhost_ir::Dtype;

/// Whether a name has one of these texts, as [`is_named`] says; any name, where there are none.
pub fn is_among(name: &str, texts: &[String]) -> bool {
    texts.is_empty() || texts.iter().any(|text| is_named(name, text))
}

/// Whether a text is in a name, whose components are divided by slashes.
///
/// - Without a slash it is a part of one component, wherever that stands.
/// - With one, its own components are consecutive components of the name: whole ones, but for the last, which may be the
///   beginning of one. `float16/s0-1` is in `graphs/float16/s0-1_s1-7`, and not in `graphs/bfloat16/s0-1_s1-7`. A slash at
///   the beginning says nothing but that a component begins there, and one at the end that another follows.
///
/// Where a part of a component is PyTorch's name of an element type, it means that type alone, and not a longer one:
/// `float16` is not in `graphs/bfloat16/s0-8`.
///
/// ```
/// use passhost_result::is_named;
/// let name = "graphs/subgraphs/float16/s0-1_s1-7/gpt2";
/// assert!(is_named(name, "float16") && is_named(name, "float16/s0-1") && is_named(name, "/s0-1"));
/// assert!(!is_named(name, "loat16/s0-1") && !is_named(name, "float16/s1") && !is_named(name, "graphs/float16"));
/// ```
pub fn is_named(name: &str, text: &str) -> bool {
    let components: Vec<&str> = name.split('/').collect();
    if !text.contains('/') {
        return components.iter().any(|component| has(component, text, |_| true));
    }
    let wanted: Vec<&str> = text.strip_prefix('/').unwrap_or(text).split('/').collect();
    let Some((last, whole)) = wanted.split_last() else { return true };
    components
        .windows(wanted.len())
        .any(|window| window[..whole.len()] == *whole && has(window[whole.len()], last, |at| at == 0))
}

/// Whether a text is in a component at a place that `fits`.
fn has(component: &str, text: &str, fits: impl Fn(usize) -> bool) -> bool {
    let is_type = Dtype::ALL.iter().any(|dtype| dtype.torch_name() == text);
    let is_apart = |at: usize| {
        let (before, after) = (component[..at].chars().next_back(), component[at + text.len()..].chars().next());
        !before.into_iter().chain(after).any(char::is_alphanumeric)
    };
    component.match_indices(text).any(|(at, _)| fits(at) && (!is_type || is_apart(at)))
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
        assert!(is_named("x/float16_2", "x/float16") && !is_named("x/int8x", "x/int8"), "at the end of a text");
    }

    #[test]
    fn a_text_without_a_slash_is_a_part_of_one_component() {
        assert!(is_named("graphs/bfloat16/s0-8", "float") && is_named("graphs/bfloat16/s0-8", "0-"));
        assert!(is_named("anything", "") && !is_named("graphs/float32", "half"));
    }

    #[test]
    fn a_text_with_slashes_is_components_of_which_the_last_may_be_a_beginning() {
        let (half, brain) = ("graphs/float16/s0-1_s1-7/gpt2", "graphs/bfloat16/s0-1_s1-7/gpt2");
        for (text, is_in_half, is_in_brain) in [
            ("float16/s0-1", true, false),
            ("float16/s0-1_s1-7/g", true, false),
            ("bfloat16/s0-1", false, true),
            ("loat16/s0-1", false, false),
            ("graphs/float16", true, false),
            ("graphs/bfloat16/", false, true),
            ("/float16/", true, false),
            ("/s0-1", true, true),
            ("/0-1", false, false),
            ("s0-1/gpt2", false, false),
            ("graphs/s0-1", false, false),
            ("gpt2/", false, false),
            ("graphs//float16", false, false),
            ("/", true, true),
        ] {
            assert_eq!((is_named(half, text), is_named(brain, text)), (is_in_half, is_in_brain), "{text}");
        }
    }

    #[test]
    fn a_name_is_among_those_that_any_of_several_texts_means() {
        let among = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            ["x/float16/a", "x/bfloat16/a", "x/float32/a"].map(|name| is_among(name, &texts))
        };
        assert_eq!(among(&["float16", "bfloat16"]), [true, true, false]);
        assert_eq!(among(&[]), [true; 3]);
    }
}
