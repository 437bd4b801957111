//! Where two JSON values differ.

use crate::untrusted::one_line;
use serde_json::Value;

/// Where two values differ first, and what stands there in the one and in the other.
pub fn first_difference(one: &Value, other: &Value) -> Option<[String; 3]> {
    differences(one, other, Value::eq).into_iter().next()
}

/// Everywhere that two values differ, where members and elements that are no lists themselves may be the `same` or not.
pub(crate) fn differences(one: &Value, other: &Value, same: fn(&Value, &Value) -> bool) -> Vec<[String; 3]> {
    let mut found = vec![];
    below("", one, other, same, &mut found);
    found
}

fn below(at: &str, one: &Value, other: &Value, same: fn(&Value, &Value) -> bool, found: &mut Vec<[String; 3]>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let missing = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(missing) {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                let [one, other] = [one, other].map(|map| map.get(key).unwrap_or(&Value::Null));
                below(&at, one, other, same, found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                below(&format!("{at}[{index}]"), one, other, same, found);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            found.push([format!("the number of {at}"), one.len().to_string(), other.len().to_string()]);
        }
        _ if same(one, other) => {}
        _ => found.push([at.to_owned(), shown(one), shown(other)]),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "not given".into(),
        Value::String(text) => format!("`{}`", one_line(text, 100)),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or(f64::NAN).to_string(),
        value => one_line(&value.to_string(), 200),
    }
}
