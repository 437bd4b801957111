//! What somebody submitted: the results of one plugin in one batch.

use crate::accepted::SampleList;
use crate::conditions::RankingConditions;
use passhost_report::{Apart, EntrantResults, GraphFilter, Sourced, entries};
use passhost_sign::{BatchId, JobId, Signed, TrustedKey};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Samples that are named where many are missing.
const NAMED: usize = 5;

/// The batch that a result belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubmittedBatch {
    /// The one that it names.
    Named(BatchId),
    /// It was signed before batches had names: nobody knows what it belongs to, so that it stands by itself.
    Alone(JobId),
}

impl fmt::Display for SubmittedBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubmittedBatch::Named(batch) => write!(f, "batch {batch}"),
            SubmittedBatch::Alone(job) => write!(f, "job {job}, without a batch"),
        }
    }
}

/// The results of one plugin in one batch, of one author, by one key, made under the same conditions, whichever files they
/// lie in.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The batch.
    pub batch: SubmittedBatch,
    /// The files, by name.
    pub files: Vec<String>,
    /// Whose it is, as whoever signed it says.
    pub author: String,
    /// Whose key signed it.
    pub signer: String,
    /// What the plugin calls itself, with its version, else its path; untrusted.
    pub plugin: String,
    /// Of the plugin.
    pub plugin_sha256: String,
    /// When the last of its results was signed, in seconds since 1970.
    pub signed_at: u64,
    /// The evaluations of its results, which no other submission has all of.
    pub jobs: Vec<JobId>,
    /// Its results, each with its file.
    pub results: Vec<Sourced>,
    pub(crate) conditions: RankingConditions,
}

/// A submission that is not in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Unranked {
    /// Position among the submissions.
    pub submission: usize,
    /// Why, as a sentence about it.
    pub reason: String,
}

/// A result that counts.
pub(crate) struct Admitted<'k> {
    pub file: String,
    pub key: &'k TrustedKey,
    pub conditions: RankingConditions,
    pub result: Signed,
}

/// What makes results one submission, but for the device: some results needed none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SubmissionKey {
    batch: SubmittedBatch,
    plugin: String,
    author: String,
    signer: String,
    policy: usize,
    host: usize,
}

impl SubmissionKey {
    pub fn of(result: &Signed, key: &TrustedKey, conditions: RankingConditions) -> SubmissionKey {
        let statement = &result.statement;
        let alone = || SubmittedBatch::Alone(statement.job.clone());
        SubmissionKey {
            batch: statement.batch.clone().map_or_else(alone, SubmittedBatch::Named),
            plugin: statement.document.job.plugin_sha256.clone(),
            author: statement.author.clone().unwrap_or_else(|| key.name.clone()),
            signer: key.name.clone(),
            policy: conditions.policy,
            host: conditions.host,
        }
    }
}

/// Sorts results into submissions, those signed first at the beginning. Results that needed no device go with those that
/// did.
pub(crate) fn submissions(admitted: Vec<Admitted<'_>>) -> Vec<Submission> {
    let mut groups: BTreeMap<SubmissionKey, Vec<Admitted<'_>>> = BTreeMap::new();
    for one in admitted {
        groups.entry(SubmissionKey::of(&one.result, one.key, one.conditions)).or_default().push(one);
    }
    let mut found = vec![];
    for (group, results) in groups {
        let devices: BTreeSet<Option<usize>> = results.iter().map(|one| one.conditions.device).collect();
        let is_none_alone = devices.len() == 1;
        for device in devices.into_iter().filter(|device| device.is_some() || is_none_alone) {
            let of_device = |one: &&Admitted<'_>| one.conditions.device.is_none_or(|own| Some(own) == device);
            let own: Vec<&Admitted<'_>> = results.iter().filter(of_device).collect();
            found.extend(submission(&group, device, &own));
        }
    }
    found.sort_by(|one, other| (one.signed_at, &one.files).cmp(&(other.signed_at, &other.files)));
    found
}

fn submission(group: &SubmissionKey, device: Option<usize>, results: &[&Admitted<'_>]) -> Option<Submission> {
    let first = results.first()?;
    let job = &first.result.statement.document.job;
    let info = job.plugin_info.as_ref();
    let files: BTreeSet<&String> = results.iter().map(|one| &one.file).collect();
    let jobs: BTreeSet<&JobId> = results.iter().map(|one| &one.result.statement.job).collect();
    let sourced = |one: &&Admitted<'_>| Sourced::new(one.file.clone(), one.result.statement.document.clone());
    Some(Submission {
        batch: group.batch.clone(),
        files: files.into_iter().cloned().collect(),
        author: group.author.clone(),
        signer: group.signer.clone(),
        plugin: info.map_or_else(|| job.plugin.clone(), |info| format!("{} {}", info.name, info.version)),
        plugin_sha256: job.plugin_sha256.clone(),
        signed_at: results.iter().map(|one| one.result.statement.signed_at).max().unwrap_or(0),
        jobs: jobs.into_iter().cloned().collect(),
        results: results.iter().map(sourced).collect(),
        conditions: RankingConditions { device, ..first.conditions },
    })
}

impl Submission {
    /// Its results on the samples of a list, or why they are not all there. `None` where there is none of them.
    pub(crate) fn on(&self, list: &SampleList) -> Option<Result<Vec<Sourced>, String>> {
        let of = |sha256: &str| self.results.iter().find(|result| result.document.job.sample_sha256 == sha256);
        let found: Vec<Option<&Sourced>> = list.samples.iter().map(|sample| of(&sample.sha256)).collect();
        if found.iter().all(Option::is_none) {
            return None;
        }
        let missing = list.samples.iter().zip(&found).filter(|(_, found)| found.is_none());
        let missing: Vec<&str> = missing.map(|(sample, _)| sample.name.as_str()).collect();
        if missing.is_empty() {
            return Some(Ok(found.into_iter().flatten().cloned().collect()));
        }
        let mut names = missing[..missing.len().min(NAMED)].join(", ");
        if missing.len() > NAMED {
            names.push_str(&format!(" and {} more", missing.len() - NAMED));
        }
        let (list, missing, of) = (&list.name, missing.len(), list.samples.len());
        Some(Err(format!("it has no result that counts for {missing} of the {of} samples of list `{list}`: {names}")))
    }
}

/// The only entry of these results, as one of so many submissions.
pub(crate) fn entry(results: &[Sourced], submissions: u32) -> Option<EntrantResults<'_>> {
    entries(results, Apart::Plugins, &GraphFilter::default())
        .into_iter()
        .next()
        .map(|entry| entry.shared_by(submissions))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::accepted::ListedSample;
    use passhost_made_documents::{document, right};
    use passhost_sign::{SecretKey, Statement, TrustedKeys};
    use std::path::Path;

    /// The submissions of results, each in a file, of a batch, on a sample: how many results each has on the list of both
    /// samples, if it is whole, or why it is not, and its files.
    fn found(results: &[(&str, Option<&BatchId>, &str)]) -> Vec<(Result<usize, String>, String)> {
        let directory = tempfile::tempdir().unwrap();
        let signer = SecretKey::create(&directory.path().join("key")).unwrap().public();
        let keys = TrustedKeys::parse(Path::new("keys"), &format!("{signer} lab")).unwrap();
        let admitted = |(at, (file, batch, sample)): (usize, &(&str, Option<&BatchId>, &str))| {
            let document = document("pass", sample, vec![right("a", 2.0)]);
            let (job, batch) = (JobId::random().unwrap(), batch.cloned());
            let signed_at = at as u64;
            let statement = Statement { job, batch, signed_at, author: None, programs: BTreeMap::new(), document };
            Admitted {
                file: (*file).to_owned(),
                key: keys.trust(signer, 1).unwrap(),
                conditions: RankingConditions { policy: 0, device: Some(0), host: 0 },
                result: Signed { statement, signer },
            }
        };
        let submissions = submissions(results.iter().enumerate().map(admitted).collect());
        let listed = |name: &str| ListedSample { name: name.into(), sha256: format!("hash of {name}"), graphs: 1 };
        let list = SampleList { name: "list".into(), samples: vec![listed("one"), listed("two")] };
        let on = |submission: &Submission| match submission.on(&list).unwrap() {
            Ok(results) => Ok(results.len()),
            Err(reason) => Err(reason.to_string()),
        };
        submissions.iter().map(|submission| (on(submission), submission.files.join(" "))).collect()
    }

    #[test]
    fn a_batch_is_one_submission_whichever_files_its_lines_lie_in() {
        let [a, b, c] = [(); 3].map(|()| BatchId::random().unwrap());
        let whole = |files: &str| (Ok(2), files.to_owned());
        let together: Vec<_> =
            [&a, &b, &c].iter().flat_map(|batch| [("x", Some(*batch), "one"), ("x", Some(*batch), "two")]).collect();
        assert_eq!(found(&together), [whole("x"), whole("x"), whole("x")]);
        assert_eq!(found(&[("x", Some(&a), "one"), ("y", Some(&a), "two")]), [whole("x y")]);
        // The best line of each of several batches is no submission.
        let picked = found(&[("x", Some(&a), "one"), ("x", Some(&b), "two")]);
        let said: Vec<&str> =
            picked.iter().filter_map(|(result, _)| result.as_ref().err()).map(String::as_str).collect();
        assert_eq!(said.len(), 2, "{picked:?}");
        assert!(
            said[0].contains("1 of the 2 samples of list `list`: two") && said[1].ends_with("`list`: one"),
            "{said:?}"
        );
    }

    #[test]
    fn a_line_without_a_batch_is_a_submission_of_its_own() {
        let found = found(&[("x", None, "one"), ("x", None, "two"), ("x", None, "two")]);
        assert!(found.len() == 3 && found.iter().all(|(result, _)| result.is_err()), "{found:?}");
    }
}
