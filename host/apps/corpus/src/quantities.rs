//! Numbers as people read them.

use humansize::{BINARY, format_size};
use std::time::Duration;

/// `1,390,112`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `98.5 MiB`, powers of 1024.
pub fn bytes(number: u64) -> String {
    format_size(number, BINARY.decimal_places(1))
}

/// `3.2s`, `40s`, `5m 40s`, `2h 05m`.
pub fn time(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 if duration.subsec_millis() >= 50 => format!("{:.1}s", duration.as_secs_f64()),
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sizes_and_times_are_short() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_390_112, "1,390,112")] {
            assert_eq!(count(number), expected);
        }
        for (number, expected) in
            [(0, "0 B"), (1023, "1023 B"), (2048, "2 KiB"), (1_500_000, "1.4 MiB"), (u64::MAX, "16 EiB")]
        {
            assert_eq!(bytes(number), expected);
        }
        for (millis, expected) in
            [(0, "0s"), (3_200, "3.2s"), (40_000, "40s"), (340_000, "5m 40s"), (7_500_000, "2h 05m")]
        {
            assert_eq!(time(Duration::from_millis(millis)), expected);
        }
    }
}
