//! Policies: what an evaluation lets a pass insert, what it tries besides the recorded graphs, and which score counts.
//!
//! A policy is a file of JSON that people read. Those of the directory `policies` are compiled in; anybody may write
//! another. A result carries the text of the policy that it was made under, and its SHA-256, so that a reader knows the
//! rules without this repository.
//!
//! ```
//! use passhost_policy::{Inserted, Policy};
//!
//! let strict = Policy::built_in("strict")?;
//! assert_eq!(strict.rules().inserted, Inserted::Views);
//! let wrong = r#"{"name": "lax", "inserted": "everything"}"#;
//! assert!(Policy::parse(wrong).unwrap_err().to_string().contains("expected `listed` or `views` at line 1"));
//! # Ok::<(), passhost_policy::PolicyError>(())
//! ```

use base16ct::lower::encode_string;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The files that are compiled in, the first one holds where none is named.
const BUILT_IN: [&str; 3] = [
    include_str!("../../../../policies/open.json"),
    include_str!("../../../../policies/kernels.json"),
    include_str!("../../../../policies/strict.json"),
];

/// Name and SHA-256 of texts that were compiled into older programs, whose results still carry them.
const FORMER: [(&str, &str); 3] = [
    ("open", "f4133d62584ffa9240bd1e269425d798068378837aa107d7f37922bb36cbc78e"),
    ("kernels", "b404eaaacbbd3590f891687cd1e2d330830d3ec0c5e8882b1eb35aec01e4de17"),
    ("strict", "ecb1c3e19897d628641dd09ac2e10ceb3e42450e253ca992affc63975c250f24"),
];

/// Hidden sizes of one graph, at most: each costs a check and a correctness run.
pub const MOST_HIDDEN_SHAPES: u32 = 4;
/// Bytes of a policy file.
const LONGEST: usize = 64 << 10;
/// Characters of a name.
const LONGEST_NAME: usize = 40;

/// Why a text is no policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// None of that name is compiled in.
    #[error("there is no policy `{name}`; expected one of {}, or the path of a file", names().join(", "))]
    Unknown {
        /// As asked for.
        name: String,
    },
    /// It is no JSON, or has an unknown key or value, or lacks a key. The message of the parser names what is allowed,
    /// and the line.
    #[error("{0}")]
    Form(#[from] serde_json::Error),
    /// The name is of no use in a table.
    #[error("`name` is `{0}`; expected 1 to {LONGEST_NAME} letters, digits, `-` or `_`")]
    Name(String),
    /// Too many hidden sizes.
    #[error("`hidden_shapes` is {0}; expected 0 to {MOST_HIDDEN_SHAPES}")]
    HiddenShapes(u32),
    /// Too long to be one.
    #[error("it has {0} bytes; a policy has at most {LONGEST}")]
    Size(usize),
}

/// Which calls of ATen ops a rewrite may have that the sample's graph does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inserted {
    /// Any op of the insert list.
    Listed,
    /// Ops that never copy.
    Views,
}

/// The score that stands for an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Headline {
    /// AS, as published.
    #[serde(rename = "AS")]
    Published,
    /// AS strict, which forgives nothing.
    #[serde(rename = "AS strict")]
    Strict,
}

/// What a policy says. Every key stands in the file: a reader need not know what is meant where one is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// What it is called in tables and results.
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    /// What may be inserted besides kernels.
    pub inserted: Inserted,
    /// Whether inputs may be drawn as the published loaders do, constants included.
    pub published_inputs: bool,
    /// Whether there are rounds with unusual inputs, which AS strict counts.
    #[serde(rename = "domain_rounds")]
    pub edge_case_rounds: bool,
    /// Other sizes of each graph that the pass must be right on. AS strict counts them.
    pub hidden_shapes: u32,
    /// Whether AS strict also counts an element as right that agrees with a run in double precision and not with eager.
    pub truth_decides: bool,
    /// The score that stands for an evaluation, and that a threshold is held against.
    pub headline: Headline,
}

/// A policy as a result has it: its name, its text, and the text's hash.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "PolicyRecord", into = "PolicyRecord")]
pub struct Policy {
    record: PolicyRecord,
    rules: Rules,
}

/// What stands in a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PolicyRecord {
    name: String,
    sha256: String,
    text: String,
}

impl Policy {
    /// Reads the text of a policy.
    ///
    /// # Errors
    ///
    /// If a key or a value is unknown, or a key is missing.
    pub fn parse(text: &str) -> Result<Policy, PolicyError> {
        let rules = checked(text, |text| serde_json::from_str(text))?;
        let record = PolicyRecord { name: rules.name.clone(), sha256: sha256(text), text: text.to_owned() };
        Ok(Policy { record, rules })
    }

    /// The one of this name that is compiled in.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn built_in(name: &str) -> Result<Policy, PolicyError> {
        let found = BUILT_IN.iter().map(|text| Policy::parse(text)).find(|policy| match policy {
            Ok(policy) => policy.name() == name,
            Err(_) => true,
        });
        found.unwrap_or_else(|| Err(PolicyError::Unknown { name: name.to_owned() }))
    }

    /// What it says.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// Of its text, in hexadecimal: what `sha256sum` prints of the file.
    pub fn sha256(&self) -> &str {
        &self.record.sha256
    }

    /// The file.
    pub fn text(&self) -> &str {
        &self.record.text
    }

    /// What is wrong with it as somebody else wrote it down: a name or a hash that its text does not have, or the name of
    /// one that is compiled in and says something else.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = vec![];
        if self.record.name != self.rules.name {
            found.push(format!("it is called `{}`, and its text says `{}`", self.record.name, self.rules.name));
        }
        let hash = sha256(&self.record.text);
        if self.record.sha256 != hash {
            found.push(format!("its SHA-256 is given as {}, that of its text is {hash}", self.record.sha256));
        }
        let is_former = FORMER.contains(&(self.rules.name.as_str(), hash.as_str()));
        if !is_former && Policy::built_in(&self.rules.name).is_ok_and(|own| own.text() != self.record.text) {
            let name = &self.rules.name;
            found.push(format!("it is called `{name}`, and this program's policy of that name has another text"));
        }
        found
    }
}

impl Default for Policy {
    /// What holds where no policy is named: `open`.
    fn default() -> Policy {
        Policy::parse(BUILT_IN[0]).unwrap_or_else(|_| unreachable!("a test reads what is compiled in"))
    }
}

impl TryFrom<PolicyRecord> for Policy {
    type Error = PolicyError;

    /// As it was written down: [`Policy::contradictions`] holds name and hash against the text.
    fn try_from(record: PolicyRecord) -> Result<Policy, PolicyError> {
        Ok(Policy { rules: checked(&record.text, recorded)?, record })
    }
}

impl From<Policy> for PolicyRecord {
    fn from(policy: Policy) -> PolicyRecord {
        policy.record
    }
}

/// The names of the policies that are compiled in, the default first.
pub fn names() -> Vec<String> {
    BUILT_IN.iter().filter_map(|text| Policy::parse(text).ok()).map(|policy| policy.name().to_owned()).collect()
}

/// Rules as `read` finds them in a text, if they are of use.
fn checked(text: &str, read: impl Fn(&str) -> serde_json::Result<Rules>) -> Result<Rules, PolicyError> {
    if text.len() > LONGEST {
        return Err(PolicyError::Size(text.len()));
    }
    let rules = read(text)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if rules.name.is_empty() || rules.name.len() > LONGEST_NAME || !rules.name.chars().all(fits) {
        return Err(PolicyError::Name(rules.name));
    }
    if rules.hidden_shapes > MOST_HIDDEN_SHAPES {
        return Err(PolicyError::HiddenShapes(rules.hidden_shapes));
    }
    Ok(rules)
}

/// Rules of a result, whose text may be of a time when fewer keys were known.
fn recorded(text: &str) -> serde_json::Result<Rules> {
    let mut keys: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)?;
    keys.entry("truth_decides").or_insert(false.into());
    serde_json::from_value(keys.into())
}

fn sha256(text: &str) -> String {
    encode_string(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_can_be_read_and_the_first_is_the_default() {
        for text in BUILT_IN {
            let policy = Policy::parse(text).unwrap();
            assert_eq!(Policy::built_in(policy.name()).unwrap(), policy);
            assert!(policy.contradictions().is_empty(), "{}", policy.name());
        }
        assert_eq!(names(), ["open", "kernels", "strict"]);
        assert_eq!(Policy::default().name(), "open");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_what_is_allowed() {
        let with = |old: &str, new: &str| {
            assert!(BUILT_IN[0].contains(old), "{old}");
            Policy::parse(&BUILT_IN[0].replace(old, new)).unwrap_err().to_string()
        };
        for (old, new, said) in [
            ("\"about\"", "\"colour\"", "unknown field `colour`, expected one of `name`, `about`"),
            ("\"listed\"", "\"all\"", "unknown variant `all`, expected `listed` or `views` at line 4"),
            ("\"AS\"", "\"ES\"", "unknown variant `ES`, expected `AS` or `AS strict` at line 9"),
            ("\"hidden_shapes\": 0,", "", "missing field `hidden_shapes`"),
            ("\"hidden_shapes\": 0", "\"hidden_shapes\": 9", "`hidden_shapes` is 9; expected 0 to 4"),
            ("\"domain_rounds\": true", "\"domain_rounds\": 1", "expected a boolean at line 6"),
            ("\"name\": \"open\"", "\"name\": \"a b\"", "`name` is `a b`; expected 1 to 40 letters"),
            ("\"headline\"", "\"name\": \"twice\", \"headline\"", "duplicate field `name` at line 9"),
        ] {
            let error = with(old, new);
            assert!(error.contains(said), "{new}: {error}");
        }
        assert!(matches!(Policy::parse(&" ".repeat(LONGEST + 1)), Err(PolicyError::Size(_))));
        let unknown = Policy::built_in("lax").unwrap_err().to_string();
        assert!(unknown.contains("expected one of open, kernels, strict"), "{unknown}");
    }

    #[test]
    fn a_record_is_read_back_as_it_was_written_and_held_against_its_text() {
        let strict = Policy::built_in("strict").unwrap();
        let written = serde_json::to_string(&strict).unwrap();
        assert_eq!(serde_json::from_str::<Policy>(&written).unwrap(), strict);
        let forged = written.replace("\\\"views\\\"", "\\\"listed\\\"");
        let forged: Policy = serde_json::from_str(&forged).unwrap();
        assert_eq!(forged.rules().inserted, Inserted::Listed);
        let found = forged.contradictions();
        assert!(found.len() == 2 && found[0].contains("SHA-256") && found[1].contains("another text"), "{found:?}");
    }

    #[test]
    fn a_result_of_a_former_text_contradicts_nothing_and_a_new_file_needs_every_key() {
        let strict = Policy::built_in("strict").unwrap();
        let former = strict.text().replace("    \"truth_decides\": true,\n", "");
        assert!(Policy::parse(&former).unwrap_err().to_string().contains("missing field `truth_decides`"));
        let record = |text: &str| serde_json::json!({ "name": "strict", "sha256": sha256(text), "text": text });
        let read: Policy = serde_json::from_value(record(&former)).unwrap();
        assert!(!read.rules().truth_decides && read.contradictions().is_empty(), "{:?}", read.contradictions());
        let changed = former.replace("\"views\"", "\"listed\"");
        let read: Policy = serde_json::from_value(record(&changed)).unwrap();
        assert!(read.contradictions()[0].contains("another text"), "{:?}", read.contradictions());
    }
}
