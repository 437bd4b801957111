//! Whose signatures count: a file that people write and read.
//!
//! ```text
//! # who                                                                       and what is known of the key
//! ed25519 d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a lab
//! ed25519 3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c lab until 2026-12-31
//! ed25519 fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025 guest revoked   # was lost
//! ```

use crate::error::{TrustError, TrustedKeysError};
use crate::job::JobId;
use crate::key::PublicKey;
use crate::time::time_text;
use passhost_protocol::open_regular;
use passhost_result::untrusted::one_line;
use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Bytes of a file of keys.
const FILE_LIMIT: u64 = 1 << 20;
/// Characters of a name.
const NAME_LIMIT: usize = 64;

/// A key, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey {
    /// The key.
    pub key: PublicKey,
    /// Whose. Several keys may be one person's.
    pub name: String,
    standing: KeyStatus,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyStatus {
    Trusted,
    /// Up to the end of this day, in seconds since 1970; and the day as it was written.
    Until(u64, String),
    Revoked,
}

/// Keys that count, and jobs whose results do not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedKeys {
    keys: Vec<TrustedKey>,
    /// By job, what its line says.
    revoked: BTreeMap<JobId, String>,
}

/// Whether this can be the name of a person or a key: letters, digits and `-_.@`.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    !text.is_empty() && text.chars().count() <= NAME_LIMIT && text.chars().all(fits)
}

impl TrustedKeys {
    /// Reads a file of keys.
    ///
    /// # Errors
    ///
    /// If it cannot be read, a line is none, or there is no key.
    pub fn read(path: &Path) -> Result<TrustedKeys, TrustedKeysError> {
        let mut text = String::new();
        let failed = |source| TrustedKeysError::Read(path.into(), source);
        let read = open_regular(path).and_then(|file| file.take(FILE_LIMIT + 1).read_to_string(&mut text));
        // What is cut off may be that a key was revoked.
        if read.map_err(failed)? as u64 > FILE_LIMIT {
            return Err(failed(io::Error::other(format!("it has more than {FILE_LIMIT} bytes"))));
        }
        TrustedKeys::parse(path, &text)
    }

    /// The keys of a text. `path` is for messages.
    ///
    /// # Errors
    ///
    /// If a line is none, or there is no key.
    pub fn parse(path: &Path, text: &str) -> Result<TrustedKeys, TrustedKeysError> {
        let mut keys: Vec<TrustedKey> = vec![];
        for (line, content) in (1..).zip(text.lines()) {
            let wrong = |reason: String| TrustedKeysError::Line(path.into(), line, reason);
            let words: Vec<&str> = content.split('#').next().unwrap_or_default().split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let key = trusted_key(&words).map_err(wrong)?;
            if let Some(same) = keys.iter().find(|other| other.key == key.key) {
                return Err(wrong(format!("the key of {} stands here for {} once more", same.name, key.name)));
            }
            keys.push(key);
        }
        if keys.is_empty() {
            Err(TrustedKeysError::Empty(path.into()))
        } else {
            Ok(TrustedKeys { keys, revoked: BTreeMap::new() })
        }
    }

    /// The key, which may count no more.
    ///
    /// # Errors
    ///
    /// If it is none of these.
    pub fn known(&self, key: PublicKey) -> Result<&TrustedKey, TrustError> {
        let found = self.keys.iter().find(|trusted| trusted.key == key);
        found.ok_or_else(|| TrustError::Unknown(key.to_string()))
    }

    /// The same keys without the results of the jobs in a file, a job at the beginning of each line, as `passhost fleet revoked`
    /// prints it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or a line begins with no job.
    pub fn without(mut self, path: &Path) -> Result<TrustedKeys, TrustedKeysError> {
        let text = open_regular(path).and_then(io::read_to_string);
        let text = text.map_err(|source| TrustedKeysError::Revoked(path.into(), source))?;
        for (line, content) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let (job, why) = content.split_once(' ').unwrap_or((content, ""));
            let job = JobId::try_from(job.to_owned());
            let job = job.map_err(|reason| TrustedKeysError::RevokedLine(path.into(), line, reason))?;
            self.revoked.insert(job, one_line(why, 400));
        }
        Ok(self)
    }

    /// Whose key signed a result, if it counts.
    ///
    /// # Errors
    ///
    /// If the key does not count, or the result was revoked.
    pub fn trust_result(&self, key: PublicKey, signed_at: u64, job: &JobId) -> Result<&TrustedKey, TrustError> {
        let key = self.trust(key, signed_at)?;
        let revoked = self.revoked.get(job);
        revoked.map_or(Ok(key), |why| Err(TrustError::RevokedJob { job: job.clone(), why: why.clone() }))
    }

    /// Whose key signed something at this time, in seconds since 1970.
    ///
    /// # Errors
    ///
    /// If that key does not count.
    pub fn trust(&self, key: PublicKey, signed_at: u64) -> Result<&TrustedKey, TrustError> {
        let known = self.known(key)?;
        let name = known.name.clone();
        match &known.standing {
            KeyStatus::Trusted => Ok(known),
            KeyStatus::Until(end, _) if signed_at <= *end => Ok(known),
            KeyStatus::Until(_, until) => {
                Err(TrustError::Expired { name, signed: time_text(signed_at), until: until.clone() })
            }
            KeyStatus::Revoked => Err(TrustError::Revoked(name)),
        }
    }
}

fn trusted_key(words: &[&str]) -> Result<TrustedKey, String> {
    let ["ed25519", key, name, rest @ ..] = words else {
        return Err("it does not begin with `ed25519 KEY NAME`".into());
    };
    let key = key.parse()?;
    if !is_name(name) {
        return Err(format!(
            "`{name}` is no name: it has other characters than letters, digits and `-_.@`, or over {NAME_LIMIT}"
        ));
    }
    let standing = match rest {
        [] => KeyStatus::Trusted,
        ["revoked"] => KeyStatus::Revoked,
        ["until", day] => KeyStatus::Until(end_of(day)?, (*day).to_owned()),
        _ => return Err("after the name comes nothing, `revoked` or `until 2026-12-31`".into()),
    };
    Ok(TrustedKey { key, name: (*name).to_owned(), standing })
}

fn end_of(day: &str) -> Result<u64, String> {
    let time = humantime::parse_rfc3339(&format!("{day}T23:59:59Z")).ok();
    let seconds = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs());
    seconds.ok_or_else(|| format!("`{day}` is no day; write 2026-12-31"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::key::SecretKey;

    fn public(seed: u8) -> PublicKey {
        SecretKey::from_seed(&[seed; 32]).public()
    }

    fn parse(text: &str) -> Result<TrustedKeys, String> {
        TrustedKeys::parse(Path::new("keys"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_count_as_their_lines_say() {
        let text = format!(
            "# keys\n\n{} lab # a comment\n{}\tlab until 2026-01-02\n{} guest revoked\n",
            public(1),
            public(2),
            public(3)
        );
        let keys = parse(&text).unwrap();
        let end = 1_767_398_399; // 2026-01-02T23:59:59Z
        assert_eq!(keys.trust(public(1), u64::MAX).unwrap().name, "lab");
        assert_eq!(keys.trust(public(2), end).unwrap().name, "lab");
        let said = |seed, at| keys.trust(public(seed), at).unwrap_err().to_string();
        assert!(
            said(2, end + 1).contains("at 2026-01-03T00:00:00Z with a key of lab that was trusted until 2026-01-02")
        );
        assert!(said(3, 0).contains("a key of guest that was revoked"));
        assert!(said(4, 0).contains(&format!("not among the trusted ones: {}", public(4))));
    }

    #[test]
    fn a_revoked_result_counts_no_more_although_its_key_does() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("revoked");
        let job = JobId::within("one", &[]);
        std::fs::write(&path, format!("{job} 2026-11-28T12:00:00Z node-1 the ratio of the canary is 1.1\n\n")).unwrap();
        let keys =
            TrustedKeys::parse(Path::new("keys"), &format!("{} lab", public(1))).unwrap().without(&path).unwrap();
        let error = keys.trust_result(public(1), 1, &job).unwrap_err().to_string();
        assert!(error.contains(&format!("job {job} was revoked: 2026-11-28T12:00:00Z node-1 the ratio")), "{error}");
        assert_eq!(keys.trust_result(public(1), 1, &JobId::within("other", &[])).unwrap().name, "lab");
        std::fs::write(&path, format!("{job}\nnode-1\n")).unwrap();
        let error = keys.clone().without(&path).unwrap_err().to_string();
        assert!(error.contains("line 2: the id of a job has 32 hexadecimal digits"), "{error}");
        assert!(keys.without(directory.path()).unwrap_err().to_string().contains("cannot read the revoked results"));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let key = public(1);
        for (text, said) in [
            (String::new(), "`keys` names no key"),
            (format!("\n{key}"), "`keys`, line 2: it does not begin with `ed25519 KEY NAME`"),
            ("ed25519 00 lab".into(), "64 hexadecimal digits"),
            (format!("{key} lab forever"), "`revoked` or `until 2026-12-31`"),
            (format!("{key} lab until tomorrow"), "`tomorrow` is no day"),
            (format!("{key} <b>"), "`<b>` is no name"),
            (format!("{key} lab\n{key} guest"), "line 2: the key of lab stands here for guest once more"),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
