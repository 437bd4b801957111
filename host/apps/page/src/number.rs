//! Numbers as a page shows them: three digits that say something, and a dash for what is not known.

/// What stands where there is no number.
pub const NONE: &str = "–";

/// A score or a speedup: two digits behind the point, three below 0.1.
pub fn score(value: f64) -> String {
    if value < 0.0995 { format!("{value:.3}") } else { format!("{value:.2}") }
}

/// An interval of such: `1.02–1.10`.
pub fn interval(low: f64, high: f64) -> String {
    format!("{}–{}", score(low), score(high))
}

/// Microseconds, without the unit, which stands in the heading: `7.4`, `128`, `12 340`.
pub fn microseconds(value: f64) -> String {
    match value {
        value if value < 9.95 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => grouped(value.round() as u64),
    }
}

/// A share as a percentage without decimals. Not quite all is not 100%, hardly any is not 0%.
pub fn percent(share: f64) -> String {
    let rounded = (100.0 * share).round();
    match rounded {
        100.0 if share < 1.0 => "99%".to_owned(),
        0.0 if share > 0.0 => "<1%".to_owned(),
        _ => format!("{rounded:.0}%"),
    }
}

/// Bytes with a binary prefix: `512 B`, `4.0 KiB`, `96 MiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value < 9.95 { format!("{value:.1} {}", UNITS[unit]) } else { format!("{value:.0} {}", UNITS[unit]) }
}

/// A whole number, its digits in groups of three.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A count and what is counted: `1 graph`, `12 graphs`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(count as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_say_something() {
        let cases = [
            (score(2.609), "2.61"),
            (score(0.0123), "0.012"),
            (interval(1.0, 1.256), "1.00–1.26"),
            (microseconds(7.432), "7.43"),
            (microseconds(42.84), "42.8"),
            (microseconds(12_340.2), "12\u{202f}340"),
            (percent(0.9999), "99%"),
            (percent(1.0), "100%"),
            (percent(0.001), "<1%"),
            (percent(0.0), "0%"),
            (bytes(512), "512 B"),
            (bytes(4096), "4.0 KiB"),
            (bytes(100 << 20), "100 MiB"),
            (bytes(u64::MAX), "16384 PiB"),
            (grouped(1_234_567), "1\u{202f}234\u{202f}567"),
            (counted(1, "graph"), "1 graph"),
            (counted(2, "graph"), "2 graphs"),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }
}
