//! Where two JSON values differ.

use crate::untrusted::one_line;
use serde_json::Value;

/// Where two values differ first, and what stands there in the one and in the other.
pub fn first_difference(one: &Value, other: &Value) -> Option<[String; 3]> {
    below("", one, other)
}

fn below(at: &str, one: &Value, other: &Value) -> Option<[String; 3]> {
    let inner = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let missing = other.keys().filter(|key| !one.contains_key(*key));
            one.keys().chain(missing).find_map(|key| {
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
                below(&inner(key), &of(one), &of(other))
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(index, (one, other))| below(&format!("{at}[{index}]"), one, other))
        }
        (Value::Array(one), Value::Array(other)) => {
            Some([format!("the number of {at}"), one.len().to_string(), other.len().to_string()])
        }
        _ => (one != other).then(|| [at.to_owned(), shown(one), shown(other)]),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "not given".into(),
        Value::String(text) => format!("`{}`", one_line(text, 100)),
        value => one_line(&value.to_string(), 100),
    }
}
