//! Signing results as they come.

use super::keygen;
use super::programs::programs;
use crate::exit::{Exit, OrStop, Stop};
use crate::terminal::Terminal;
use clap::Args;
use passhost_child::device::DeviceSetup;
use passhost_corpus::write_whole;
use passhost_result::document::Document;
use passhost_result::untrusted::one_line;
use passhost_result::verify::recompute;
use passhost_sign::{BatchId, JobId, KeyError, SecretKey, SignError, Statement};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Args)]
#[command(next_help_heading = "Signing")]
pub struct SignArguments {
    /// Signs each result with this key of `passhost keygen`: one line each, which `passhost verify` and boards take
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,
    /// Whose submission it is, for boards; the signer's own if absent
    #[arg(long, value_name = "NAME", requires = "sign")]
    pub author: Option<String>,
}

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
        let programs = programs().or_stop(Exit::Host)?;
        Ok(Some(Signer { key, path: real(path), author: arguments.author.clone(), programs }))
    }

    /// What is signed of a result.
    fn statement(&self, document: Document, job: JobId, batch: Option<BatchId>) -> anyhow::Result<Statement> {
        let signed_at = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let (author, programs) = (self.author.clone(), self.programs.clone());
        Ok(Statement { job, batch, signed_at, author, programs, document })
    }

    /// The line of what came of a job of a queue, whether or not it is one to rank.
    pub fn line_of_job(&self, job: &str, document: &str) -> Result<String, String> {
        let line = || -> anyhow::Result<String> {
            let job = JobId::try_from(job.to_owned()).map_err(anyhow::Error::msg)?;
            Ok(self.statement(serde_json::from_str(document)?, job, None)?.sign_any(&self.key)?)
        };
        line().map_err(|error| format!("the result cannot be signed: {error}"))
    }

    /// Where the key is, which no child may read.
    pub fn key_path(&self) -> &Path {
        &self.path
    }

    /// Refuses a key that lies in one of these, which are given to child processes.
    pub fn apart_from<'p>(&self, given: impl IntoIterator<Item = &'p Path>) -> Result<(), Stop> {
        let folder = given.into_iter().map(real).find(|given| self.path.starts_with(given));
        let path = self.path.clone();
        folder.map_or(Ok(()), |folder| Err(Stop::new(Exit::Usage, KeyError::Reachable(path, folder))))
    }

    /// Refuses where nobody can say which programs made a result.
    fn check_programs(&self) -> Result<(), Stop> {
        if programs().or_stop(Exit::Host)? == self.programs {
            return Ok(());
        }
        Err(Stop::host(
            "passhost's programs were replaced while they ran, so that nobody can say which made this result: it is not \
             signed; evaluate again",
        ))
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
        match self.line(document, job)? {
            Ok(line) => self.lines.push(line + "\n"),
            Err(reason) => {
                let sample = one_line(&document.job.sample, 80);
                terminal.complain(&format!("the result on {sample} is not signed: {reason}"));
            }
        }
        Ok(())
    }

    /// The line of a result, or why there is none.
    fn line(&self, document: &Document, job: JobId) -> Result<Result<String, String>, Stop> {
        let statement = self.signer.statement(document.clone(), job, Some(self.batch.clone())).or_stop(Exit::Host)?;
        let line = match statement.sign(&self.signer.key) {
            Ok(line) => line,
            // What nobody should rely on is that first, whatever else may be wrong with it.
            Err(SignError::Unfit(reason)) => return Ok(Err(reason)),
            Err(error) => return Err(Stop::new(Exit::Host, error)),
        };
        Ok(match recompute(document).first() {
            Some(difference) => Err(format!("it does not follow from its own trials: {difference}; measure it again")),
            None => Ok(line),
        })
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
    use passhost_made_documents::{document, right, unmeasured};
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

    #[test]
    fn of_a_result_that_was_not_measured_that_is_said_whatever_else_is_wrong_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let key = SecretKey::create(&path).unwrap();
        let signer = Signer { key, path, author: None, programs: BTreeMap::new() };
        let signing = Signing::new(&signer, BatchId::random().unwrap());
        let said = |variants, is_altered: bool| {
            let mut document = document("fuse", "sample", variants);
            if is_altered {
                document.variants[0].passes_at = Some(4);
            }
            signing.line(&document, JobId::within("batch", &[])).map_err(|stop| stop.error).unwrap().err()
        };
        let altered = said(vec![right("a", 2.0)], true).unwrap();
        assert!(altered.contains("does not follow from its own trials: a: "), "{altered}");
        let noisy = said(vec![right("a", 2.0), unmeasured("b", "busy")], true).unwrap();
        assert!(noisy.contains("1 of its 2 graphs were not measured"), "{noisy}");
        assert_eq!(said(vec![right("a", 2.0)], false), None);
    }
}
