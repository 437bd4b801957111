//! One text for each JSON value.

use serde_json::Value;
use std::fmt::Write as _;

/// The canonical form of a value: that of RFC 8785, but that integers of 64 bits keep all of their digits. (By that RFC a
/// number is a double. Seeds are not: above 2^53 several would have the same form.)
///
/// - There is no white space, and members of an object come in the order of their names' UTF-16 code units.
/// - A string has the escapes that JSON demands, the short ones where there are any, and everything else as it is.
/// - An integer from -2^63 to 2^64 - 1 is its digits. Any other number is the shortest text that reads back as the same
///   double, as ECMAScript prints it; -0 is 0.
///
/// ```
/// let value = serde_json::json!({"b": 1.0, "a": [18446744073709551615u64, 1e21, "\u{8}é\u{1}"]});
/// assert_eq!(passhost_sign::canonical(&value), r#"{"a":[18446744073709551615,1e+21,"\bé\u0001"],"b":1}"#);
/// ```
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
        Value::Number(number) if number.is_u64() || number.is_i64() => text.push_str(&number.to_string()),
        // A value holds no number that is not finite.
        Value::Number(number) => text.push_str(ryu_js::Buffer::new().format(number.as_f64().unwrap_or(f64::NAN))),
        Value::Array(values) => {
            text.push('[');
            for (position, value) in values.iter().enumerate() {
                text.push_str(if position == 0 { "" } else { "," });
                write(value, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            text.push('{');
            for (position, (name, value)) in members.into_iter().enumerate() {
                let comma = if position == 0 { "" } else { "," };
                // Writing to a string cannot fail.
                let _ = write!(text, "{comma}{}:", Value::String(name.clone()));
                write(value, text);
            }
            text.push('}');
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        canonical(&serde_json::from_str(text).unwrap())
    }

    /// The numbers of RFC 8785, appendix B, that JSON has.
    #[test]
    fn doubles_are_printed_as_the_rfc_prints_them() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(canonical(&Value::from(f64::from_bits(bits))), expected);
        }
    }

    #[test]
    fn members_are_in_the_order_of_utf_16_and_strings_have_the_escapes_of_the_rfc() {
        // RFC 8785, 3.2.3: a smiley is above U+FB33 by code points, and below by code units.
        let text = r#"{"€":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"ö":7}"#;
        assert_eq!(of(text), "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}");
        let text = r#"["\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/\u007f<"]"#;
        assert_eq!(of(text), "[\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}<\"]");
    }

    #[test]
    fn integers_keep_every_digit_and_one_value_has_one_spelling() {
        assert_eq!(of("[18446744073709551615,9007199254740993]"), "[18446744073709551615,9007199254740993]");
        assert_eq!(of("[-9223372036854775808,-0,-0.0,1.0,1e2,100]"), "[-9223372036854775808,0,0,1,100,100]");
        // Above 64 bits there are doubles alone.
        assert_eq!(of("18446744073709551617"), "18446744073709552000");
        assert_eq!(of(r#"{"a":1,"a":2}"#), r#"{"a":2}"#);
        assert_eq!(of(" { \"a\" : [ null , true ] } "), r#"{"a":[null,true]}"#);
    }
}
