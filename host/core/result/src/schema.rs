//! What a document calls itself, and what older ones call their members.

use serde::de::{Deserialize as _, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// Names the form of a result document; the number grows when a field changes its name or meaning, or goes.
pub const SCHEMA: &str = "passhost.result/3";

/// An older form that is read as well.
pub const OLDER_SCHEMA: &str = "passhost.result/2";

/// Members that [`OLDER_SCHEMA`] had by another name, and what they are called now. The fields themselves have these as
/// aliases, so that older documents are read; this is for who compares names.
pub const RENAMED: [(&str, &str); 12] = [
    ("departure", "first_divergent_node"),
    ("domain", "edge_cases"),
    ("domain_rounds", "edge_case_rounds"),
    ("eager_right", "eager_passes"),
    ("eager_right_from", "eager_passes_at"),
    ("right_from", "passes_at"),
    ("stressed", "scaled"),
    ("trivial_right_at_minus_2", "trivial_passes_at_minus_2"),
    ("unusual", "edge_case"),
    ("unusual", "edge_cases"),
    ("unusual_rounds", "edge_case_rounds"),
    ("wrong_in_domain", "wrong_on_edge_cases"),
];

/// Whether documents of this schema are read.
pub fn is_read(schema: &str) -> bool {
    [SCHEMA, OLDER_SCHEMA].contains(&schema)
}

/// The schema of a document that was read: an older document becomes one of today.
pub(crate) fn read_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let schema = String::deserialize(deserializer)?;
    Ok(if schema == OLDER_SCHEMA { SCHEMA.to_owned() } else { schema })
}

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
