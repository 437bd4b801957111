//! Why a variant is wrong, in words: the first wrong element, how many there are, and the node that makes them.

use passhost_ir::parameter_name;
use passhost_result::document::Variant;
use passhost_result::untrusted::one_line;
use passhost_result::{Decided, DivergentNode, OutputReport, ShownBy};

/// Characters of an op's name.
const OP: usize = 60;

/// What is wrong with a variant that ran, where that shows in its outputs, or on edge-case inputs alone.
pub fn reason(variant: &Variant) -> Option<String> {
    if variant.class.is_none() && variant.decided.is_none() {
        variant.edge_cases.first()?;
        return variant.first_divergent_node.as_ref().map(|first_divergent_node| made_by(first_divergent_node, None));
    }
    let wrong = variant.outputs.iter().enumerate().find(|(_, output)| output.wrong > 0);
    let element = wrong.and_then(|(position, output)| wrong_element(position, output));
    let output = wrong.map(|(_, output)| output).filter(|_| element.is_some());
    let made = variant.first_divergent_node.as_ref().map(|first_divergent_node| made_by(first_divergent_node, output));
    match (element, made) {
        (None, None) => None,
        (one, other) => Some([one, other].into_iter().flatten().collect::<Vec<_>>().join("; ")),
    }
}

/// What tells the reason of one variant from that of another, apart from its numbers.
pub fn kind(variant: &Variant) -> Option<(usize, Option<(u32, String)>)> {
    let output = variant.outputs.iter().position(|output| output.wrong > 0);
    let first_divergent_node = variant
        .first_divergent_node
        .as_ref()
        .map(|first_divergent_node| (first_divergent_node.node.0, first_divergent_node.op.clone()));
    let is_wrong = variant.class.is_some() || variant.decided.is_some() || !variant.edge_cases.is_empty();
    (is_wrong && (output.is_some() || first_divergent_node.is_some()))
        .then_some((output.unwrap_or(usize::MAX), first_divergent_node))
}

/// `output 0 at [0, 3] is 0.5, expected 0.25; 6 of 12 elements (50.0%) are wrong at t = -5, in all rounds together`.
fn wrong_element(position: usize, output: &OutputReport) -> Option<String> {
    let place = output.first_wrong.as_ref()?;
    let [found, expected] = numbers([output.first_wrong_value?, output.first_wrong_reference?]);
    let share = share(output.wrong, output.elements);
    let sides = output.decided.as_ref().map(sides).unwrap_or_default();
    let moved = output.moved().map(|moved| format!("; {moved}")).unwrap_or_default();
    Some(format!(
        "output {position} at {place:?} is {found}, expected {expected}{moved}; {share} wrong at t = -5, in all rounds together{sides}"
    ))
}

/// What a run in double precision says of it.
fn sides(decided: &Decided) -> String {
    let [own, eager] = [decided.passes_at, decided.eager_passes_at]
        .map(|passes_at| passes_at.map_or("at no t".to_owned(), |t| format!("at t = {t}")));
    format!("; against a double precision run the rewrite passes {own}, eager {eager}")
}

/// The inputs that show it, where they are not ordinary.
fn inputs(shown_by: &ShownBy) -> String {
    match shown_by {
        ShownBy::Ordinary => String::new(),
        ShownBy::Scaled { input } => format!("where input `{}` has 8 times its scale: ", named(input)),
        ShownBy::EdgeCase { input, draw } => {
            format!("where input `{}` {}: ", named(input), one_line(draw, 2 * OP))
        }
    }
}

/// Names of inputs; of long ones the end, which says which tensor it is.
fn named(inputs: &str) -> String {
    let names: Vec<String> = inputs.split(", ").map(parameter_name).collect();
    let names = one_line(&names.join(", "), usize::MAX);
    match names.chars().count().saturating_sub(OP) {
        0 => names,
        more => format!("…{}", names.chars().skip(more).collect::<String>()),
    }
}

/// The node that makes it, and what it makes of what. Where that is the very element of an output, nothing is said twice.
fn made_by(first_divergent_node: &DivergentNode, output: Option<&OutputReport>) -> String {
    let DivergentNode { node, op, is_kept, element, rewritten, shown_by, unknown, .. } = first_divergent_node;
    let (inputs, op) = (inputs(shown_by), one_line(op, OP));
    let mut text = if *is_kept {
        let limit = if *shown_by == ShownBy::Ordinary { " at t = -5" } else { " within the tolerance" };
        format!(
            "{inputs}it shows first in node {node} ({op}), which was kept: what it reads is right{limit}, and no further"
        )
    } else {
        format!("{inputs}node {node} ({op}) makes it: what it reads is right")
    };
    let is_said = |output: &OutputReport| {
        let value = output.first_wrong_value.map(|value| value.to_string());
        output.first_wrong.as_ref() == Some(element) && value.as_ref() == Some(rewritten)
    };
    if !output.is_some_and(is_said) {
        text.push_str(&value_of(first_divergent_node, output.is_none()));
    }
    if !unknown.is_empty() {
        let nodes: Vec<String> = unknown.iter().map(ToString::to_string).collect();
        let pronoun = if nodes.len() == 1 { "that gives" } else { "those give" };
        let nodes = nodes.join(", ");
        text.push_str(&format!("; or {nodes} before it: nothing in the graph says what {pronoun}"));
    }
    text
}

/// What the node makes where the graph has what.
fn value_of(first_divergent_node: &DivergentNode, with_share: bool) -> String {
    let DivergentNode { value, original, element, rewritten, expected, wrong, elements, .. } = first_divergent_node;
    let (value, original) = (one_line(value, OP), one_line(original, OP));
    let [rewritten, expected] = match (rewritten.parse(), expected.parse()) {
        (Ok(found), Ok(expected)) => numbers([found, expected]),
        _ => [one_line(rewritten, OP), one_line(expected, OP)],
    };
    let share = if with_share { format!("; {} otherwise", share(*wrong, *elements)) } else { String::new() };
    format!(", its %{value} at {element:?} is {rewritten} where %{original} of the graph is {expected}{share}")
}

/// `3 of 4096 elements (0.1%) are`.
fn share(wrong: u64, elements: u64) -> String {
    let verb = if wrong == 1 { "is" } else { "are" };
    if wrong == elements {
        return format!("all {elements} elements are");
    }
    // Rounded down: all but one are not all.
    let tenths = u128::from(wrong) * 1000 / u128::from(elements.max(1));
    let percent = if tenths == 0 { "less than 0.1%".to_owned() } else { format!("{}.{}%", tenths / 10, tenths % 10) };
    format!("{wrong} of {elements} elements ({percent}) {verb}")
}

/// Two numbers that differ, as far as it takes to see that.
fn numbers(values: [f64; 2]) -> [String; 2] {
    let short = values.map(number);
    if short[0] == short[1] { values.map(|value| value.to_string()) } else { short }
}

/// A number as far as a person reads it: seven digits.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || !value.is_finite() || (value.fract() == 0.0 && magnitude < 1e7) {
        return value.to_string();
    }
    if !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.6e}");
    }
    let digits = (6 - magnitude.log10().floor() as i32).max(0);
    let text = format!("{value:.*}", usize::try_from(digits).unwrap_or(0));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_name_of_an_input_the_end_is_left() {
        let long = format!("L_self_modules_{}_parameters_weight_", "deep_modules_".repeat(12) + "last");
        let name = named(&long);
        assert!(name.starts_with('…') && name.ends_with(".deep.last.weight"), "{name}");
        assert_eq!(name.chars().count(), OP + 1);
        assert_eq!(named("x, L_self_modules_norm_buffers_mean_"), "x, norm.mean");
    }

    #[test]
    fn numbers_are_short_and_exact_where_they_can_be() {
        for (value, text) in [
            (0.0, "0"),
            (-3.0, "-3"),
            (0.5, "0.5"),
            (0.158_808_01, "0.158808"),
            (123_456.789, "123456.8"),
            (1.0e-9, "1.000000e-9"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(share(1, 100_000), "1 of 100000 elements (less than 0.1%) is");
        assert_eq!(numbers([0.25, 0.250_000_000_1]), ["0.25", "0.2500000001"]);
        assert_eq!(share(4095, 4096), "4095 of 4096 elements (99.9%) are");
        assert_eq!(share(8, 8), "all 8 elements are");
    }
}
