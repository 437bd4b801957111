//! What a document calls itself.

use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// The member `schema` of a JSON object of which this is the beginning, or all of it. Nothing else of it is kept.
pub fn schema_of(beginning: &[u8]) -> Option<String> {
    let mut schema = None;
    let mut json = serde_json::Deserializer::from_slice(beginning);
    // What comes after the member, and whether it ends, does not matter.
    let _ = json.deserialize_map(SchemaVisitor(&mut schema));
    schema
}

struct SchemaVisitor<'f>(&'f mut Option<String>);

impl<'de> Visitor<'de> for SchemaVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if name == "schema" {
                *self.0 = Some(members.next_value()?);
                return Err(A::Error::custom("it was found"));
            }
            members.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_asked_for_its_own_schema_however_far_it_was_read() {
        for (text, expected) in [
            (r#"{"schema": "one", "more": [1, 2]}"#, Some("one")),
            (r#"{"schema": "one", "mo"#, Some("one")),
            ("{\n  \"other\": {\"schema\": \"inner\"},\n  \"schema\": \"one\"", Some("one")),
            (r#"{"other": {"schema": "inner"}, "sch"#, None),
            (r#"{"schema": "on"#, None),
            (r#"{"schema": 1}"#, None),
            (r#"[{"schema": "one"}]"#, None),
            (r#""schema""#, None),
            ("", None),
        ] {
            assert_eq!(schema_of(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
