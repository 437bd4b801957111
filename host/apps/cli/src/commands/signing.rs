//! Signing results as they come.

use super::keygen;
use super::programs::programs;
use crate::arguments::SignArguments;
use crate::exit::{Exit, Stop};
use crate::terminal::Terminal;
use passhost_child::device::DeviceSetup;
use passhost_corpus::write_whole;
use passhost_result::document::Document;
use passhost_result::untrusted::one_line;
use passhost_result::verify::recompute;
use passhost_sign::{BatchId, JobId, KeyError, SecretKey, SignError, Statement};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A key, and what it is about to vouch for.
pub struct Signer {
    key: SecretKey,
    path: PathBuf,
    author: Option<String>,
    /// As they were when the command began.
    programs: BTreeMap<String, String>,
}

impl Signer {
    /// Reads the key, if there is one to sign with, before anything runs. `unfit` are options that make no result to sign,
    /// and whether each was given.
    pub fn new(arguments: &SignArguments, unfit: &[(bool, &str)]) -> Result<Option<Signer>, Stop> {
        let Some(path) = &arguments.sign else { return Ok(None) };
        if let Some((_, option)) = unfit.iter().find(|(is_given, _)| *is_given) {
            return Err(Stop::usage(format!(
                "a result of {option} is none to rank, and is not signed; leave out {option} or --sign"
            )));
        }
        if let Some(author) = &arguments.author {
            keygen::check_name("--author", author)?;
        }
        let key = SecretKey::read(path).map_err(keygen::stop)?;
        let programs = programs().map_err(|error| Stop::new(Exit::Host, error))?;
        Ok(Some(Signer { key, path: real(path), author: arguments.author.clone(), programs }))
    }

    /// Refuses a key that lies in one of these, which are given to child processes.
    pub fn apart_from<'p>(&self, given: impl IntoIterator<Item = &'p Path>) -> Result<(), Stop> {
        let folder = given.into_iter().map(real).find(|given| self.path.starts_with(given));
        let path = self.path.clone();
        folder.map_or(Ok(()), |folder| Err(Stop::new(Exit::Usage, KeyError::Reachable { path, folder })))
    }

    /// Refuses where nobody can say which programs made a result.
    fn check_programs(&self) -> Result<(), Stop> {
        if programs().map_err(|error| Stop::new(Exit::Host, error))? == self.programs {
            return Ok(());
        }
        Err(Stop::host(
            "passhost's programs were replaced while they ran, so that nobody can say which made this result: it is not \
             signed; evaluate again",
        ))
    }

    fn sign(&self, document: &Document, job: JobId, batch: BatchId) -> Result<Result<String, SignError>, Stop> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| Stop::new(Exit::Host, error))?;
        let statement = Statement {
            job,
            batch: Some(batch),
            signed_at: since.as_secs(),
            author: self.author.clone(),
            programs: self.programs.clone(),
            document: document.clone(),
        };
        Ok(statement.sign(&self.key))
    }
}

/// The path without links.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A device whose child cannot read the key: the other children can read nothing that lies where a key may.
pub fn kept_from_key(mut setup: DeviceSetup, signer: Option<&Signer>) -> DeviceSetup {
    setup.hidden.extend(signer.map(|signer| signer.path.clone()));
    setup
}

/// Results of one batch that were signed.
pub struct Signing<'s> {
    signer: &'s Signer,
    batch: BatchId,
    lines: Vec<String>,
}

impl<'s> Signing<'s> {
    pub fn new(signer: &'s Signer, batch: BatchId) -> Signing<'s> {
        Signing { signer, batch, lines: vec![] }
    }

    /// Signs a result. One that is none to sign is left out, which is said.
    pub fn add(&mut self, document: &Document, job: JobId, terminal: &Terminal) -> Result<(), Stop> {
        let left_out = |reason: &str| {
            let sample = one_line(&document.job.sample, 80);
            terminal.complain(&format!("the result on {sample} is not signed: {reason}"));
        };
        if let Some(difference) = recompute(document).first() {
            left_out(&format!("it does not follow from its own trials: {difference}; measure it again"));
            return Ok(());
        }
        match self.signer.sign(document, job, self.batch.clone())? {
            Ok(line) => self.lines.push(line + "\n"),
            Err(SignError::Unfit { reason }) => left_out(&reason),
            Err(error) => return Err(Stop::new(Exit::Host, error)),
        }
        Ok(())
    }

    /// How many results are signed.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Writes what is signed so far.
    pub fn write(&self, path: &Path) -> Result<(), Stop> {
        self.signer.check_programs()?;
        Ok(write_whole(path, self.lines.concat())?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_protocol::device::DeviceChoice;

    #[test]
    fn a_device_is_kept_from_the_key_that_signs_and_from_where_keys_lie() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let key = SecretKey::create(&path).unwrap();
        let signer = Signer { key, path: path.clone(), author: None, programs: BTreeMap::new() };
        let setup = crate::commands::device_setup(DeviceChoice::Cpu, None);
        let usual = setup.hidden.clone();
        assert!(crate::commands::key_directories().iter().all(|directory| usual.contains(directory)), "{usual:?}");
        assert_eq!(kept_from_key(setup.clone(), None).hidden, usual);
        assert_eq!(kept_from_key(setup, Some(&signer)).hidden, [usual, vec![path]].concat());
    }
}
