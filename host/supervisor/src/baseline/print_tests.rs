#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use expect_test::{Expect, expect};

/// A program as lines: names, ops and arguments as they go to Python.
fn check(graph: &str, expected: Expect) {
    let program = Program::of(&Graph::parse(graph).unwrap(), "cuda:0");
    expected.assert_eq(&program.map_or_else(|error| format!("{error}\n"), |program| lines(&program)));
}

fn lines(program: &Program) -> String {
    let mut text = format!("({})\n", program.inputs.join(", "));
    for call in &program.calls {
        let keywords = call.keywords.iter().map(|(name, value)| format!("{name}={value}"));
        let arguments: Vec<String> = call.arguments.iter().cloned().chain(keywords).collect();
        let comma = if call.unpacks { "," } else { "" };
        let op = format!("{}.{}", call.op, call.overload);
        text.push_str(&format!("{}{comma} = {op}({})\n", call.results.join(", "), arguments.join(", ")));
        if !call.dead.is_empty() {
            text.push_str(&format!("  lets go of {}\n", call.dead.join(", ")));
        }
    }
    text + &format!("({})\n", program.outputs.join(", "))
}

#[test]
fn defaults_at_the_end_are_left_out_and_others_stay_in_their_place() {
    check("graph(%x: f32[4,6], %import os: f32[4,6]) {\n  return (%x)\n}", expect![[r#""#]]);
}
