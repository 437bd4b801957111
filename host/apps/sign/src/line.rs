//! A payload with a signature around it, as one line of text.

use crate::canonical::canonical;
use crate::error::LineError;
use crate::key::{PublicKey, SecretKey};
use passhost_result::schema_of;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

/// Names the form of a signed line; the number grows when a field changes its meaning or goes.
pub const SCHEMA: &str = "passhost.signed/1";

/// What stands before a payload where it is signed, so that a signature under the same key over anything else is none here.
pub const DOMAIN: &[u8] = b"passhost signed result 1\0";

/// How every signed line begins, as its first member does.
pub const BEGINNING: &str = "{\"payload\":";

/// Bytes of the longest line. A graph takes some 14 KB of it, and up to 64 KB more where its text is long.
pub const LINE_LIMIT: usize = 32 << 20;

/// Bytes from which it is told what an unsigned line calls itself.
pub(crate) const BEGINNING_LIMIT: usize = 64 << 10;

/// What follows a payload.
const SCHEMA_MEMBER: &str = ",\"schema\":\"";

/// Bytes of the end of a line, in which everything but the payload stands.
const END_LIMIT: usize = 1 << 10;

/// One line, without its end.
pub(crate) fn seal(payload: &Value, key: &SecretKey) -> String {
    let signature = key.sign(&message(payload));
    let signature = base16ct::lower::encode_string(&signature);
    canonical(&json!({
        "payload": payload,
        "schema": SCHEMA,
        "signature": signature,
        "signer": String::from(key.public()),
    }))
}

/// A line whose signature fits.
pub(crate) struct OpenedLine<'l> {
    /// The payload as it was signed, which nobody has parsed yet.
    payload: &'l [u8],
    pub signer: PublicKey,
}

/// The payload of a line, and who signed it. Nothing is parsed but the end of the line, in which the signature is: a line
/// that nobody signed costs its bytes.
pub(crate) fn open(line: &[u8]) -> Result<OpenedLine<'_>, LineError> {
    if line.len() > LINE_LIMIT {
        return Err(LineError::TooLong(LINE_LIMIT));
    }
    let Some(rest) = line.strip_prefix(BEGINNING.as_bytes()) else { return Err(unsigned(line)) };
    let end = rest.len().saturating_sub(END_LIMIT);
    let at = rest[end..].windows(SCHEMA_MEMBER.len()).rposition(|bytes| bytes == SCHEMA_MEMBER.as_bytes());
    let Some(at) = at.map(|at| end + at) else { return Err(LineError::Ending) };
    let (payload, end) = rest.split_at(at);
    let Envelope { signature, signer } = envelope(end, line.len() - end.len())?;
    let message = [DOMAIN, payload].concat();
    if signer.has_signed(&message, &signature) { Ok(OpenedLine { payload, signer }) } else { Err(LineError::Signature) }
}

impl OpenedLine<'_> {
    /// What was signed, which must be in its canonical form: so no two lines say the same.
    pub fn payload(&self) -> Result<Value, LineError> {
        let json = |error: serde_json::Error| LineError::Json(error.to_string());
        let payload: Value = serde_json::from_slice(self.payload).map_err(json)?;
        let at = first_difference(self.payload, canonical(&payload).as_bytes());
        at.map_or(Ok(payload), |at| Err(LineError::NotCanonical(BEGINNING.len() + at)))
    }
}

/// What a line says of its signature.
struct Envelope {
    signature: [u8; 64],
    signer: PublicKey,
}

/// Of the end of a line, from the comma after the payload on, which is at a byte of the line.
fn envelope(end: &[u8], at: usize) -> Result<Envelope, LineError> {
    let object = [b"{", &end[1..]].concat();
    let members: Map<String, Value> = serde_json::from_slice(&object).map_err(|_| LineError::Ending)?;
    let schema = text(&members, "schema")?;
    if schema != SCHEMA {
        return Err(LineError::Unsigned { schema: shown(schema), expected: SCHEMA });
    }
    let signer: PublicKey = text(&members, "signer")?.parse().map_err(LineError::Envelope)?;
    let digits = text(&members, "signature")?;
    let mut signature = [0; 64];
    if !base16ct::lower::decode(digits, &mut signature).is_ok_and(|digits| digits.len() == 64) {
        return Err(lacks("a signature of 128 hexadecimal digits"));
    }
    let expected = canonical(&json!({"schema": SCHEMA, "signature": digits, "signer": String::from(signer)}));
    let differs = first_difference(&object, expected.as_bytes());
    differs.map_or(Ok(Envelope { signature, signer }), |differs| Err(LineError::NotCanonical(at + differs)))
}

/// Why a line that does not begin like a signed one is none.
fn unsigned(line: &[u8]) -> LineError {
    let beginning = &line[..line.len().min(BEGINNING_LIMIT)];
    match (schema_of(beginning), serde_json::from_slice::<IgnoredAny>(line)) {
        (None, Err(error)) => LineError::Json(error.to_string()),
        (schema, _) if schema.as_deref() == Some(SCHEMA) => lacks("a payload as its first member"),
        (Some(schema), _) => LineError::Unsigned { schema: shown(&schema), expected: SCHEMA },
        (None, Ok(IgnoredAny)) => nameless(),
    }
}

/// Why something that does not say what it is is no signed result.
pub(crate) fn nameless() -> LineError {
    LineError::Unsigned { schema: "none".into(), expected: SCHEMA }
}

fn message(payload: &Value) -> Vec<u8> {
    [DOMAIN, canonical(payload).as_bytes()].concat()
}

fn text<'v>(members: &'v Map<String, Value>, name: &'static str) -> Result<&'v str, LineError> {
    members.get(name).and_then(Value::as_str).ok_or_else(|| lacks(name))
}

fn lacks(what: &str) -> LineError {
    LineError::Envelope(format!("it lacks {what}"))
}

/// A schema that somebody may have made up, for a message.
fn shown(schema: &str) -> String {
    schema.chars().filter(|c| !c.is_control()).take(60).collect()
}

fn first_difference(one: &[u8], other: &[u8]) -> Option<usize> {
    let differs = one.iter().zip(other).position(|(one, other)| one != other);
    differs.or_else(|| (one.len() != other.len()).then(|| one.len().min(other.len())))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn key() -> SecretKey {
        SecretKey::from_seed(&[7; 32])
    }

    fn line() -> String {
        seal(&json!({"seed": u64::MAX, "score": 1.5, "name": "é"}), &key())
    }

    /// What a line says, in canonical form, and who signed it.
    fn opened(line: &str) -> Result<(Value, PublicKey), LineError> {
        let opened = open(line.as_bytes())?;
        Ok((opened.payload()?, opened.signer))
    }

    #[test]
    fn a_line_gives_back_what_was_signed() {
        let (payload, signer) = opened(&line()).unwrap();
        assert_eq!((payload["seed"].as_u64(), signer), (Some(u64::MAX), key().public()));
    }

    /// Signed under an earlier version of this program.
    #[test]
    fn a_line_of_before_is_as_good_as_ever() {
        let line = r#"{"payload":{"name":"é","score":1.5,"seed":18446744073709551615},"schema":"passhost.signed/1","signature":"07f4f65bbf58ace7e017f7a49d7591648edb9890025596174d821b40cb81a5e6ca85fea27c02c5c11ed5746980d26c158deec272dfe466c6c30f74c8bb56aa03","signer":"ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c"}"#;
        assert_eq!(self::line(), line);
        assert!(opened(line).is_ok());
    }

    #[test]
    fn whichever_byte_is_changed_the_line_is_refused() {
        let line = line();
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut bytes = line.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                assert!(open(&bytes).is_err(), "{}", String::from_utf8_lossy(&bytes));
            }
            if let Some((before, after)) = line.split_at_checked(at) {
                assert!(opened(&format!("{before} {after}")).is_err(), "{before} {after}");
                assert!(opened(before).is_err(), "{before}");
            }
        }
    }

    #[test]
    fn another_spelling_of_the_same_is_refused() {
        let line = line();
        for (from, to) in [
            ("1.5", "1.50"),
            ("18446744073709551615", "18446744073709551616"),
            ("é", "\\u00e9"),
            ("\"score\":1.5", "\"score\":9,\"score\":1.5"),
            ("1.5", "NaN"),
        ] {
            let changed = line.replacen(from, to, 1);
            assert_ne!(changed, line, "{from}");
            assert_eq!(opened(&changed).err(), Some(LineError::Signature), "{changed}");
        }
        for (from, to) in
            [("\"schema\":", "\"schema\": "), (",\"signer\"", ", \"signer\""), ("\"signer\"", "\"sign\\u0065r\"")]
        {
            let changed = line.replacen(from, to, 1);
            assert!(matches!(opened(&changed), Err(LineError::NotCanonical(_) | LineError::Ending)), "{changed}");
        }
    }

    /// A line with this text for its payload, which is signed as it stands.
    fn signed_as_it_stands(payload: &str) -> String {
        let signature = key().sign(&[DOMAIN, payload.as_bytes()].concat());
        let signature = base16ct::lower::encode_string(&signature);
        let signer = String::from(key().public());
        format!(r#"{BEGINNING}{payload},"schema":"{SCHEMA}","signature":"{signature}","signer":"{signer}"}}"#)
    }

    #[test]
    fn what_is_signed_in_another_form_is_refused() {
        assert!(opened(&signed_as_it_stands(r#"{"a":1.5,"b":"é"}"#)).is_ok());
        for payload in [
            r#"{"a":1.50}"#,
            r#"{"a":15e-1}"#,
            r#"{"a":1.0}"#,
            r#"{"a": 1}"#,
            r#"{"b":1,"a":1}"#,
            r#"{"a":1,"a":1}"#,
            r#"{"a":"\u00e9"}"#,
            r#" {"a":1}"#,
        ] {
            let found = opened(&signed_as_it_stands(payload));
            assert!(matches!(found, Err(LineError::NotCanonical(_))), "{payload}: {found:?}");
        }
        for payload in ["", "{", r#"{"a":NaN}"#, r#"{"a":1e999}"#, r#"1,"more":2"#] {
            let found = opened(&signed_as_it_stands(payload));
            assert!(matches!(found, Err(LineError::Json(_))), "{payload}: {found:?}");
        }
    }

    #[test]
    fn what_nobody_signed_is_not_parsed() {
        let broken = line().replacen("{\"name\"", "{{\"name\"", 1);
        assert_eq!(opened(&broken).err(), Some(LineError::Signature), "whether it is JSON was not looked at");
        let long = format!("{BEGINNING}{}", "[".repeat(LINE_LIMIT));
        assert_eq!(opened(&long).err(), Some(LineError::TooLong(LINE_LIMIT)));
        assert_eq!(opened(&long[..LINE_LIMIT]).err(), Some(LineError::Ending));
    }

    #[test]
    fn what_surrounds_a_payload_cannot_be_exchanged() {
        let change = |name: &str, to: Value| {
            let mut value: Value = serde_json::from_str(&line()).unwrap();
            value[name] = to;
            opened(&canonical(&value)).unwrap_err().to_string()
        };
        let other = SecretKey::from_seed(&[8; 32]);
        assert!(change("signer", String::from(other.public()).into()).contains("signature does not fit"));
        assert!(change("signature", "00".repeat(64).into()).contains("signature does not fit"));
        assert!(change("signature", "00".into()).contains("128 hexadecimal digits"));
        assert!(change("signature", Value::Null).contains("lacks signature"));
        assert!(change("signer", "00".into()).contains("64 hexadecimal digits"));
        assert!(change("note", "hello".into()).contains("lacks a payload as its first member"));
        assert!(change("sinew", "hello".into()).contains("not in the form"));
        assert!(change("schema", "passhost.signed/0".into()).contains("schema is `passhost.signed/0`"));
        assert!(change("schema", "passhost.result/3".into()).contains("it is not signed"));
        // A signature by the same key over the same bytes without the domain, for whatever it was meant.
        let value: Value = serde_json::from_str(&line()).unwrap();
        let elsewhere = key().sign(canonical(&value["payload"]).as_bytes());
        assert!(change("signature", base16ct::lower::encode_string(&elsewhere).into()).contains("does not fit"));
    }
}
