//! The secret of an endpoint, and how it is found in what the endpoint and its model say, however it is spelled there.
//!
//! A model is read as JSON within JSON: the answer, the arguments of a call in it, the source in these. A letter that is an
//! escape in one of them is a plain letter in the next, where the text is kept. So a spelled letter counts as the letter,
//! before anything is parsed, and what is kept is looked at once more.

use crate::error::EndpointError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Characters from which on a key is a secret, and taken out of what an endpoint says. A shorter one, such as `EMPTY`, is a
/// word that a model may say.
const SECRET: usize = 16;
/// What stands in its place.
const REMOVED: &str = "<key>";
/// Backslashes before an escape that are looked behind: each level of JSON within JSON doubles them.
const DEEP: usize = 16;

/// The secret that an endpoint wants. It is shown nowhere.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key, without the line's end that a file has.
    ///
    /// # Errors
    ///
    /// If it could not be sent.
    pub fn new(text: &str) -> Result<ApiKey, EndpointError> {
        let key = text.trim();
        let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain { Ok(ApiKey(key.to_owned())) } else { Err(EndpointError::Key) }
    }

    /// As it is sent.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// `text` without the key: each of its letters may be plain, or an escape of JSON or of Rust.
    pub fn removed_from(&self, text: &str) -> String {
        if self.0.len() < SECRET {
            return text.to_owned();
        }
        let (mut kept, mut rest) = (String::new(), text);
        // Keys and escapes are ASCII, so that each of their ends is one of a character.
        while let Some((start, length)) = self.find(rest.as_bytes()) {
            kept.push_str(&rest[..start]);
            kept.push_str(REMOVED);
            rest = &rest[start + length..];
        }
        kept + rest
    }

    /// The same of all texts in a value.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON and read again.
    pub fn removed_from_all<T: Serialize + DeserializeOwned>(&self, value: &T) -> serde_json::Result<T> {
        let mut value = serde_json::to_value(value)?;
        self.remove(&mut value);
        serde_json::from_value(value)
    }

    fn remove(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.removed_from(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.remove(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.remove(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Where the key stands first, and how many bytes it takes there.
    fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        (0..text.len()).find_map(|start| Some((start, self.length_at(&text[start..])?)))
    }

    fn length_at(&self, text: &[u8]) -> Option<usize> {
        let mut ends = vec![0];
        for &letter in self.0.as_bytes() {
            let next = ends.iter().flat_map(|&end| spellings(&text[end..], letter).map(move |length| end + length));
            let mut next: Vec<usize> = next.collect();
            next.sort_unstable();
            next.dedup();
            if next.is_empty() {
                return None;
            }
            ends = next;
        }
        ends.into_iter().max()
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// How many bytes each spelling of a letter takes with which a text begins.
fn spellings(text: &[u8], letter: u8) -> impl Iterator<Item = usize> {
    let plain = (text.first() == Some(&letter)).then_some(1);
    let slashes = text.iter().take(DEEP).take_while(|byte| **byte == b'\\').count();
    let escape = &text[slashes..];
    let quoted = b"/\"'".contains(&letter) && escape.first() == Some(&letter);
    let escaped = (slashes > 0).then(|| if quoted { Some(1) } else { escape_of(escape, letter) }).flatten();
    // Of the letter that is a backslash itself, each level has twice as many.
    let several = [2, 4, 8, DEEP].into_iter().filter(move |count| letter == b'\\' && *count <= slashes);
    plain.into_iter().chain(several).chain(escaped.map(|length| slashes + length))
}

/// How many bytes an escape of a letter takes behind its backslash: `u0073`, `u{73}` or `x73`.
fn escape_of(text: &[u8], letter: u8) -> Option<usize> {
    let is_letter = |digits: &[u8]| {
        let digits =
            std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) == Some(letter.into())
    };
    match text {
        [b'u', b'{', rest @ ..] => {
            let end = rest.iter().take(7).position(|byte| *byte == b'}')?;
            is_letter(&rest[..end]).then_some(end + 3)
        }
        [b'u', rest @ ..] => is_letter(rest.get(..4)?).then_some(5),
        [b'x', rest @ ..] => is_letter(rest.get(..2)?).then_some(3),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use serde_json::json;

    const KEY: &str = "sk-secret/of-a-test";

    #[test]
    fn a_key_is_one_word() {
        assert!(ApiKey::new(" sk-1\n").is_ok());
        for bad in ["", "\n", "two words", "sk-1\r\nx-header: y", "schlüssel"] {
            assert_eq!(ApiKey::new(bad).err(), Some(EndpointError::Key), "{bad:?}");
        }
    }

    #[test]
    fn a_key_is_found_however_it_is_spelled() {
        let key = ApiKey::new(KEY).unwrap();
        let all = |spell: fn(char) -> String| KEY.chars().map(spell).collect::<String>();
        for spelled in [
            KEY.to_owned(),
            r"\u0073k-secret\/of-a-test".to_owned(),
            r"sk-secret\u002Fof-a-tes\u0074".to_owned(),
            all(|c| format!("\\u{:04x}", c as u32)),
            all(|c| format!("\\u{:04X}", c as u32)),
            // A string within a string, and the same once more.
            json!(r"\u0073k-secret\/of-a-test").to_string(),
            json!(json!(r"sk-secre\u0074\/of-a-test").to_string()).to_string(),
            // As a source spells it.
            r"\x73k-secret/of-a-tes\u{74}".to_owned(),
            all(|c| format!("\\u{{{:06x}}}", c as u32)),
        ] {
            let removed = key.removed_from(&format!("ä{spelled}ö{spelled}"));
            assert_eq!(removed.matches(REMOVED).count(), 2, "{spelled}: {removed}");
            let parsed =
                serde_json::from_str::<String>(&format!("\"{}\"", removed.replace('"', ""))).unwrap_or_default();
            assert!(!parsed.contains("secret") && !removed.contains("of-a"), "{spelled}: {removed}");
        }
        for other in
            ["sk-secret/of-a-tes", r"\u0074k-secret/of-a-test", r"sk\-secret/of-a-test", r"\u007", r"\u{73", "\\"]
        {
            assert_eq!(key.removed_from(other), other, "it is none");
        }
        let word = ApiKey::new("secret").unwrap();
        assert_eq!(word.removed_from("secret"), "secret", "a short key is a word like others");
    }

    #[test]
    fn a_key_may_have_backslashes_and_quotes() {
        let key = ApiKey::new(r#"sk-a\b\\c"of-a-test"#).unwrap();
        let mut text = key.text().to_owned();
        for _ in 0..3 {
            assert_eq!(key.removed_from(&text).matches(REMOVED).count(), 1, "{text}");
            text = json!(text).to_string();
        }
        let mut value = json!({"a": [key.text(), {"b": json!({"c": key.text()}).to_string()}], "d": 1.25});
        value = key.removed_from_all(&value).unwrap();
        assert_eq!(value, json!({"a": ["<key>", {"b": "{\"c\":\"<key>\"}"}], "d": 1.25}));
    }

    #[test]
    fn what_only_looks_like_escapes_takes_no_time() {
        for key in [r"\\\\sk-secret-of-a-test", "uuuuuuuuuuuuuuuuuuuuu0", KEY] {
            let key = ApiKey::new(key).unwrap();
            for text in ["\\", "u", r"\u0075", "s"] {
                let text = text.repeat(20_000);
                assert_eq!(key.removed_from(&text), text);
            }
        }
    }
}
