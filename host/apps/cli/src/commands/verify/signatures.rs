//! Who signed what is verified, and whether that counts.

use crate::commands::documents;
use crate::commands::programs::programs;
use crate::exit::{Exit, OrStop, Stop};
use passhost_result::document::Document;
use passhost_result::untrusted::one_line;
use passhost_result::verify::recompute;
use passhost_sign::{LineError, Met, SCHEMA, Signed, Statement, TrustedKeys, TrustedKeysError};
use std::collections::BTreeMap;
use std::path::Path;

/// Digits of a hash that are shown.
const DIGITS: usize = 16;

/// What a file says, and what its signature is worth.
pub struct SignedClaim {
    /// Names it, for who reads of it.
    pub name: String,
    /// The result, if there is one.
    pub document: Option<Document>,
    /// Why it counts for nothing.
    pub refusals: Vec<String>,
    /// What is worth knowing of its signature.
    pub remarks: Vec<String>,
    /// Whether it has one that fits.
    pub is_signed: bool,
}

/// What signatures are held against.
pub struct Signatures {
    trusted: Option<TrustedKeys>,
    /// The programs that results must have been made by, unless any will do.
    programs: Option<BTreeMap<String, String>>,
    met: Met,
}

impl Signatures {
    pub fn new(trusted_keys: Option<&Path>, revoked: Option<&Path>, any_host: bool) -> Result<Signatures, Stop> {
        let trusted = trusted_keys.map(|path| without(TrustedKeys::read(path), revoked)).transpose()?;
        let compared = trusted.is_some() && !any_host;
        let programs = compared.then(programs).transpose().or_stop(Exit::Host)?;
        Ok(Signatures { trusted, programs, met: Met::default() })
    }

    /// The results of a file. Where keys are given, each must be signed with one of them.
    pub fn claims(&mut self, path: &Path) -> anyhow::Result<Vec<SignedClaim>> {
        if !documents::is_signed(path)? {
            match documents::read(path) {
                Ok(documents) => return Ok(documents.into_iter().map(|document| self.unsigned(document)).collect()),
                // What is no result either way may be a signed one that was changed in its first bytes.
                Err(error) if self.trusted.is_none() => return Err(error),
                Err(_) => {}
            }
        }
        let lines = documents::signed_lines(path)?;
        let is_only = lines.len() == 1;
        let claims = lines.into_iter().zip(1..).map(|(line, number)| {
            let place = path.display().to_string();
            let place = if is_only { place } else { format!("{place}, line {number}") };
            match line {
                Ok(signed) => self.signed(signed, place),
                Err(error) => {
                    let refusals = vec![error.to_string()];
                    SignedClaim { name: place, document: None, refusals, remarks: vec![], is_signed: false }
                }
            }
        });
        Ok(claims.collect())
    }

    fn unsigned(&self, document: Document) -> SignedClaim {
        let unsigned = LineError::Unsigned { schema: document.schema.clone(), expected: SCHEMA };
        let refusals = self.trusted.iter().map(|_| unsigned.to_string()).collect();
        SignedClaim { name: name(&document), document: Some(document), refusals, remarks: vec![], is_signed: false }
    }

    fn signed(&mut self, Signed { statement, signer }: Signed, place: String) -> SignedClaim {
        let (mut refusals, mut remarks) = (vec![], vec![]);
        let at = statement.signed_at_text();
        let batch = statement.batch.as_ref().map(|batch| format!(", batch {batch}")).unwrap_or_default();
        let trusted = self.trusted.as_ref();
        match trusted.map(|trusted| trusted.trust_result(signer, statement.signed_at, &statement.job)) {
            Some(Ok(key)) => remarks.push(format!("signed by {} at {at}, job {}{batch}", key.name, statement.job)),
            Some(Err(error)) => refusals.push(error.to_string()),
            None => remarks.push(format!(
                "signed at {at}, job {}{batch}, with {signer}; whether that is anybody is not known without --trusted-keys",
                statement.job
            )),
        }
        if let Some(author) = &statement.author {
            remarks.push(format!("submitted by {}, as whoever signed it says", one_line(author, 80)));
        }
        refusals.extend(self.programs.as_ref().and_then(|programs| another_host(&statement, programs)));
        // Jobs and seeds are known to all: what does not count takes none from what does, as on a board.
        if refusals.is_empty() && recompute(&statement.document).is_empty() {
            refusals.extend(self.met.meet(&statement, &place).err().map(|repetition| repetition.to_string()));
        }
        let name = format!("{place}: {}", name(&statement.document));
        SignedClaim { name, document: Some(statement.document), refusals, remarks, is_signed: true }
    }
}

/// Keys without the results that were revoked.
pub fn without(keys: Result<TrustedKeys, TrustedKeysError>, revoked: Option<&Path>) -> Result<TrustedKeys, Stop> {
    keys.and_then(|keys| revoked.map_or(Ok(keys.clone()), |path| keys.without(path))).or_stop(Exit::Usage)
}

/// Which program is another one than those of this installation, if any is.
fn another_host(statement: &Statement, programs: &BTreeMap<String, String>) -> Option<String> {
    let found = &statement.programs;
    let names = programs.keys().chain(found.keys().filter(|name| !programs.contains_key(*name)));
    let other = names.into_iter().find(|name| programs.get(*name) != found.get(*name))?;
    let shown = |hash: Option<&String>| {
        hash.map_or_else(
            || "none".to_owned(),
            |hash| hash.chars().take(DIGITS).filter(char::is_ascii_hexdigit).collect(),
        )
    };
    Some(format!(
        "it was made by another {} (SHA-256 {}...) than this installation has ({}...); verify it with the installation that \
         made it, or leave the programs out of account with --any-host",
        one_line(other, 40),
        shown(found.get(other)),
        shown(programs.get(other))
    ))
}

fn name(document: &Document) -> String {
    one_line(&format!("{} on {}", document.job.plugin, document.job.sample), 200)
}
