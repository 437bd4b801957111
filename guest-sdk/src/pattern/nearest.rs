//! What the log says of a pattern that matches nowhere. `passhost eval --explain` shows it.

use super::NearMiss;

/// Characters of a line.
const LENGTH: usize = 600;

/// Logs the attempt that came nearest.
pub(super) fn report(miss: &NearMiss) {
    crate::log::log_hint(&line(miss));
}

fn line(miss: &NearMiss) -> String {
    miss.to_string().chars().take(LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_an_end() {
        let miss = |expected: String| NearMiss {
            matched: vec![],
            node: None,
            path: "root".to_owned(),
            expected,
            found: "a graph without nodes".to_owned(),
        };
        assert_eq!(line(&miss("x".repeat(10_000))).len(), LENGTH);
        assert!(line(&miss("aten::neg".to_owned())).ends_with("found a graph without nodes"));
    }
}
