//! What a signature is about.

use crate::error::{LineError, SignError};
use crate::job::{BatchId, JobId};
use crate::key::{PublicKey, SecretKey};
use crate::line::{BEGINNING, BEGINNING_LIMIT, LINE_LIMIT, nameless, open, seal};
use crate::time::time_text;
use crate::trusted::{TrustedKeys, is_name};
use passhost_protocol::{BoundedLines, LineRead};
use passhost_result::document::{Blame, Document, SCHEMA};
use passhost_result::untrusted::one_line;
use passhost_result::{RENAMED, is_read, recount};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};

/// Lines of a file that are read: as many results as nobody has.
const LINES_LIMIT: usize = 1 << 16;

/// A result document, and what whoever measured it knows besides. The document has the hashes of plugin, sample, policy and
/// rewrites, the settings, the device and the seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Names the evaluation. Its result counts once.
    pub job: JobId,
    /// Names the batch that it belongs to, all of whose results are one submission. Older statements name none: each of them
    /// is a submission of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
    /// When it was signed, in seconds since 1970, by the clock of whoever signed it.
    pub signed_at: u64,
    /// Whose submission it is, as whoever signed it says; their own if absent.
    pub author: Option<String>,
    /// SHA-256 of the programs that made it, by name.
    pub programs: BTreeMap<String, String>,
    /// The result.
    pub document: Document,
}

/// A statement, and who signed it.
#[derive(Debug, Clone, PartialEq)]
pub struct Signed {
    /// What was signed.
    pub statement: Statement,
    /// By whom; whether that is anybody is for [`TrustedKeys`](crate::TrustedKeys) to say.
    pub signer: PublicKey,
}

impl Statement {
    /// One line that says so, without its end.
    ///
    /// # Errors
    ///
    /// If the document is none that anybody should rely on, or could not be read again.
    pub fn sign(&self, key: &SecretKey) -> Result<String, SignError> {
        unfit(&self.document).map_or_else(|| self.sign_any(key), |reason| Err(SignError::Unfit(reason)))
    }

    /// [`Statement::sign`] of whatever came of a job, for who asked for it. Nothing that ranks results goes by it alone.
    ///
    /// # Errors
    ///
    /// If the document could not be read again.
    pub fn sign_any(&self, key: &SecretKey) -> Result<String, SignError> {
        let line = seal(&serde_json::to_value(self).map_err(SignError::Json)?, key);
        // Who reads it later does so: a number that changed on the way would show here.
        read(&line).map_err(SignError::Refused)?;
        Ok(line)
    }

    /// When it was signed, as text.
    pub fn signed_at_text(&self) -> String {
        time_text(self.signed_at)
    }
}

/// Why a document is none to sign, if it is none.
fn unfit(document: &Document) -> Option<String> {
    // Whatever a graph says of itself: where nothing counts, there is no measurement.
    let unmeasured = recount(document).variants.iter().filter(|variant| variant.outcome.is_none()).count();
    if document.is_partial() {
        Some("a result of some graphs alone is none to rank; evaluate without --quick and --variant".into())
    } else if document.job.fixed_seed {
        Some("its seed was fixed by hand, so that the pass may have known its inputs; evaluate without --seed".into())
    } else if let Some(baseline) = &document.job.baseline {
        Some(format!("{} is no plugin", one_line(&baseline.method, 40)))
    } else if unmeasured > 0 {
        let of = document.variants.len();
        Some(format!("{unmeasured} of its {of} graphs were not measured; try again when the machine does nothing else"))
    } else if document.variants.is_empty() && document.blame != Some(Blame::Plugin) {
        Some("nothing of the sample could be evaluated".into())
    } else {
        None
    }
}

/// The statement of a line, which may end in a line break, and who signed it.
///
/// # Errors
///
/// If it was changed after it was signed, or says what this program does not know.
pub fn read(line: impl AsRef<[u8]>) -> Result<Signed, LineError> {
    read_of(line.as_ref(), None)
}

fn read_of(line: &[u8], keys: Option<&TrustedKeys>) -> Result<Signed, LineError> {
    let opened = open(line.strip_suffix(b"\n").unwrap_or(line))?;
    let signer = opened.signer;
    // Anybody can sign anything with a key of their own.
    keys.map_or(Ok(()), |keys| keys.known(signer).map(drop)).map_err(LineError::Untrusted)?;
    let payload = opened.payload()?;
    let form = |reason: String| LineError::Form(one_line(&reason, 300));
    let schema = payload.pointer("/document/schema").and_then(Value::as_str).unwrap_or("none");
    if !is_read(schema) {
        return Err(form(format!("the schema of its document is `{schema}`, expected `{SCHEMA}`")));
    }
    let statement = Statement::deserialize(&payload).map_err(|error| form(error.to_string()))?;
    let known = serde_json::to_value(&statement).map_err(|error| form(error.to_string()))?;
    if let Some(author) = statement.author.as_ref().filter(|author| !is_name(author)) {
        return Err(form(format!("its author `{author}` is no name")));
    }
    match unknown("", &payload, &known) {
        Some(name) => Err(form(format!("it says something of `{name}`"))),
        None => Ok(Signed { statement, signer }),
    }
}

/// The statements of a file, one a line, or why a line is none. A file that has no line like one is one thing, for which
/// there is one reason. With `keys` a line of a signer who is not among them is refused before it is parsed. One line is held
/// at a time: what a file costs besides is what its statements take.
///
/// # Errors
///
/// If the file cannot be read.
pub fn read_all(mut file: impl Read, keys: Option<&TrustedKeys>) -> io::Result<Vec<Result<Signed, LineError>>> {
    let mut beginning = vec![];
    file.by_ref().take(BEGINNING_LIMIT as u64).read_to_end(&mut beginning)?;
    let mut lines = BoundedLines::new(BufReader::new(beginning.as_slice().chain(file)), LINE_LIMIT);
    let (mut found, mut is_any_signed) = (vec![], beginning.starts_with(BEGINNING.as_bytes()));
    while let Some(line) = lines.read()? {
        if found.len() == LINES_LIMIT {
            found.push(Err(LineError::TooMany(LINES_LIMIT)));
            break;
        }
        found.push(match line {
            LineRead::Whole(line) | LineRead::Unended(line) => {
                is_any_signed |= line.starts_with(BEGINNING.as_bytes());
                read_of(line, keys)
            }
            LineRead::TooLong => Err(LineError::TooLong(LINE_LIMIT)),
        });
    }
    if is_any_signed || found.len() == 1 {
        return Ok(found);
    }
    // One document over several lines, or lines of something else, such as a batch: the first says of what.
    let is_all = beginning.len() < BEGINNING_LIMIT;
    Ok(vec![match (read_of(&beginning, keys), found.into_iter().next()) {
        (Err(LineError::Json(_)), Some(first)) if is_all => first,
        (Err(LineError::Json(_)), _) if !is_all => Err(nameless()),
        (whole, _) => whole,
    }])
}

/// A member of `value`, or of what is in it, that `known` does not have. A newer program may know more than an older one
/// wrote down.
fn unknown(at: &str, value: &Value, known: &Value) -> Option<String> {
    match (value, known) {
        (Value::Object(value), Value::Object(known)) => value.iter().find_map(|(name, value)| {
            let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            let mut names = RENAMED.iter().filter(|(older, _)| older == name).map(|(_, now)| *now);
            let known = known.get(name).or_else(|| names.find_map(|now| known.get(now)));
            known.map_or_else(|| Some(at.clone()), |known| unknown(&at, value, known))
        }),
        (Value::Array(value), Value::Array(known)) => {
            let mut pairs = value.iter().zip(known).enumerate();
            pairs.find_map(|(position, (value, known))| unknown(&format!("{at}[{position}]"), value, known))
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::TrustError;
    use passhost_made_documents::{baseline, document, failed, right, unmeasured};
    use passhost_result::OLDER_SCHEMA;
    use passhost_result::document::Launch;
    use passhost_score::FailureClass;
    use serde_json::json;
    use std::path::Path;

    fn statement(document: Document) -> Statement {
        Statement {
            job: JobId::random().unwrap(),
            batch: Some(BatchId::random().unwrap()),
            signed_at: 1_767_398_399,
            author: None,
            programs: BTreeMap::from([("passhost".to_owned(), "00".to_owned())]),
            document,
        }
    }

    fn key() -> SecretKey {
        SecretKey::from_seed(&[7; 32])
    }

    fn measured() -> Document {
        let mut one = right("a", 2.0);
        one.seed = Some(u64::MAX);
        document("pass", "sample", vec![one, failed("b", FailureClass::Runtime)])
    }

    #[test]
    fn what_is_read_is_what_was_signed() {
        let statement = statement(measured());
        let line = statement.sign(&key()).unwrap();
        let signed = read(format!("{line}\n")).unwrap();
        assert_eq!((signed.statement, signed.signer), (statement.clone(), key().public()));
        assert_eq!(statement.signed_at_text(), "2026-01-02T23:59:59Z");
        assert_eq!(time_text(u64::MAX), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn a_batch_is_named_or_not_and_a_line_without_one_is_as_it_was() {
        let (named, unnamed) = (statement(measured()), Statement { batch: None, ..statement(measured()) });
        let [named_line, unnamed_line] = [&named, &unnamed].map(|statement| statement.sign(&key()).unwrap());
        assert!(!unnamed_line.contains("\"batch\""), "{unnamed_line}");
        assert_eq!(read(&unnamed_line).unwrap().statement.batch, None);
        assert_eq!(read(&named_line).unwrap().statement, named);
        // The name is signed.
        let batch = String::from(named.batch.clone().unwrap());
        let moved = named_line.replacen(&batch, &"0".repeat(32), 1);
        assert_eq!(read(moved).unwrap_err(), LineError::Signature);
        let mut payload = serde_json::to_value(&unnamed).unwrap();
        payload["batch"] = Value::Null;
        let error = read(seal(&payload, &key())).unwrap_err().to_string();
        assert!(error.contains("it says something of `batch`"), "{error}");
        payload["batch"] = "night".into();
        let error = read(seal(&payload, &key())).unwrap_err().to_string();
        assert!(error.contains("the id of a batch has 32 hexadecimal digits"), "{error}");
    }

    #[test]
    fn a_line_of_nobody_who_is_trusted_is_not_parsed() {
        let line = statement(measured()).sign(&key()).unwrap();
        let trusted =
            |key: &SecretKey| TrustedKeys::parse(Path::new("keys"), &format!("{} lab\n", key.public())).unwrap();
        let read = |keys: &TrustedKeys, line: &str| read_all(line.as_bytes(), Some(keys)).unwrap().swap_remove(0);
        assert!(read(&trusted(&key()), &line).is_ok());
        let other = SecretKey::from_seed(&[8; 32]);
        // What is no statement is refused for its key alone.
        for line in [line, seal(&json!("nothing"), &key())] {
            let error = read(&trusted(&other), &line).unwrap_err();
            assert!(matches!(error, LineError::Untrusted(TrustError::Unknown(_))), "{error}");
        }
    }

    #[test]
    fn a_line_that_is_changed_leaves_the_others_of_its_file() {
        let line = statement(measured()).sign(&key()).unwrap();
        let read_all = |text: &str| read_all(text.as_bytes(), None).unwrap();
        let reads = |text: &str| read_all(text).iter().map(Result::is_ok).collect::<Vec<bool>>();
        assert_eq!(reads(&format!("{line}\n{line}\n")), [true, true]);
        assert_eq!(reads(&format!("{}\n{line}", line.replacen('{', "[", 1))), [false, true]);
        assert_eq!(reads(&format!("{line}\r\n\n{line}\n")), [false, false, true]);
        let unsigned = |text: &str| read_all(text).swap_remove(0).unwrap_err().to_string();
        assert_eq!(read_all("{\n  \"schema\": \"passhost.result/3\"\n}\n").len(), 1);
        assert!(unsigned("{\n  \"schema\": \"passhost.result/3\"\n}\n").contains("schema is `passhost.result/3`"));
        assert!(unsigned("{\"schema\":\"passhost.batch/2\"}\n{}\n").contains("schema is `passhost.batch/2`"));
        assert!(unsigned("words\nand words\n").contains("it is no JSON"));
        // What an unsigned document calls itself is looked for in its beginning.
        let long = format!("[\n{}0]\n", "0,\n".repeat(BEGINNING_LIMIT));
        assert!(unsigned(&long).contains("it is not signed: its schema is `none`"));
    }

    #[test]
    fn a_line_is_as_long_as_a_result_may_be_and_a_file_has_as_many_as_are_read() {
        let line = statement(measured()).sign(&key()).unwrap() + "\n";
        let errors = |file: &mut dyn Read| -> Vec<Option<LineError>> {
            read_all(file, None).unwrap().into_iter().map(Result::err).collect()
        };
        let long = std::io::repeat(b'0').take(LINE_LIMIT as u64 + 1);
        let mut file = BEGINNING.as_bytes().chain(long).chain(b"\n".as_slice()).chain(line.as_bytes());
        assert_eq!(errors(&mut file), [Some(LineError::TooLong(LINE_LIMIT)), None]);
        let found = errors(&mut line.as_bytes().chain(std::io::repeat(b'\n')));
        assert_eq!(found.len(), LINES_LIMIT + 1);
        assert_eq!((&found[0], &found[LINES_LIMIT]), (&None, &Some(LineError::TooMany(LINES_LIMIT))));
    }

    #[test]
    fn what_nobody_should_rely_on_is_not_signed() {
        let with = |change: &dyn Fn(&mut Document)| {
            let mut document = measured();
            change(&mut document);
            document
        };
        let of_sample = with(&|document| {
            document.variants.clear();
            document.blame = Some(Blame::Sample);
        });
        for (document, reason) in [
            (with(&|document| document.limits.measurement.quick = true), "a result of some graphs alone"),
            (with(&|document| document.job.left_out = 1), "a result of some graphs alone"),
            (with(&|document| document.variants[0].timing = None), "1 of its 2 graphs were not measured"),
            (with(&|document| document.job.fixed_seed = true), "its seed was fixed"),
            (with(&|document| document.variants.push(unmeasured("c", "busy"))), "1 of its 3 graphs were not measured"),
            (of_sample, "nothing of the sample"),
            (baseline("eager", Launch::Stream, "sample", vec![right("a", 1.0)], 1.0), "eager is no plugin"),
            (with(&|document| document.variants[0].timing.as_mut().unwrap().speedup = f64::NAN), "would be refused"),
        ] {
            let error = statement(document).sign(&key()).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    /// A value as the older schema had it.
    fn older(value: &Value, at: &str) -> Value {
        let name = |now: &str| match (at, now) {
            ("other_rounds", "edge_cases") => "unusual".to_owned(),
            _ => RENAMED.iter().find(|(_, renamed)| *renamed == now).map_or(now, |(older, _)| older).to_owned(),
        };
        match value {
            Value::Object(members) => members.iter().map(|(now, value)| (name(now), older(value, now))).collect(),
            Value::Array(values) => values.iter().map(|value| older(value, at)).collect(),
            Value::String(schema) if schema == SCHEMA => json!(OLDER_SCHEMA),
            other => other.clone(),
        }
    }

    #[test]
    fn what_was_signed_under_the_older_schema_is_read() {
        let statement = statement(measured());
        let payload = serde_json::to_value(&statement).unwrap();
        let before = older(&payload, "");
        let names = ["/limits/measurement/domain_rounds", "/variants/0/right_from", "/variants/0/domain"];
        for name in names.map(|name| format!("/document{name}")) {
            assert!(before.pointer(&name).is_some() && payload.pointer(&name).is_none(), "{name}: {before:#}");
        }
        assert_eq!(read(seal(&before, &key())).unwrap().statement, statement);
    }

    #[test]
    fn what_this_program_does_not_know_is_refused_and_what_it_knows_besides_is_not() {
        let payload = serde_json::to_value(statement(measured())).unwrap();
        let said = |change: &dyn Fn(&mut Value)| {
            let mut payload = payload.clone();
            change(&mut payload);
            read(seal(&payload, &key())).map(|_| ()).map_err(|error| error.to_string())
        };
        let refused = |change: &dyn Fn(&mut Value), text: &str| {
            let error = said(change).unwrap_err();
            assert!(error.contains(text) && error.contains("with the version that made it"), "{error}");
        };
        refused(&|payload| payload["document"]["variants"][0]["luck"] = json!(1), "`document.variants[0].luck`");
        refused(&|payload| payload["note"] = json!(1), "unknown field `note`");
        refused(&|payload| payload["document"]["schema"] = json!("passhost.result/1"), "expected `passhost.result/3`");
        refused(&|payload| payload["job"] = json!("1"), "32 hexadecimal digits");
        refused(&|payload| payload["document"]["variants"][0]["seed"] = json!(1.5), "expected u64");
        // What was added to the form since.
        let older = |payload: &mut Value| drop(payload["document"].as_object_mut().unwrap().remove("progress"));
        assert_eq!(said(&older), Ok(()));
    }
}
