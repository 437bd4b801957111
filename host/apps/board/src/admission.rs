//! Which results count, each by itself.

use crate::accepted::{AcceptedSettings, Board};
use crate::conditions::RankingConditions;
use crate::submission::SubmissionKey;
use passhost_result::document::{Blame, Document, Failure};
use passhost_result::untrusted::one_line;
use passhost_result::verify::recompute;
use passhost_result::{first_difference, recount};
use passhost_sign::{Met, Signed, TrustedKey, TrustedKeys};
use std::collections::HashMap;

/// Digits of a hash that are shown.
const DIGITS: usize = 16;

/// What was met so far, by which the next result is a repetition.
#[derive(Debug, Default)]
pub(crate) struct MetHere {
    met: Met,
    /// By submission and sample.
    within: HashMap<(SubmissionKey, String), String>,
}

impl MetHere {
    /// Why a result was met before, if it was. Else notes it as met at this place.
    fn repetition(&mut self, result: &Signed, group: SubmissionKey, place: &str) -> Option<String> {
        let statement = &result.statement;
        if let Some(repetition) = self.met.repetition(statement) {
            return Some(repetition.to_string());
        }
        let job = &statement.document.job;
        let own = (group, job.sample_sha256.clone());
        if let Some(first) = self.within.get(&own) {
            return Some(format!(
                "its plugin has another result on `{}` in the same batch, in {first}: a second measurement belongs to another \
                 batch",
                one_line(&job.sample, 80)
            ));
        }
        self.within.insert(own, place.to_owned());
        self.met.meet(statement, place).err().map(|repetition| repetition.to_string())
    }
}

/// Whose key signed a result and in which ranking it counts, or everything that is wrong with it.
pub(crate) fn admit<'k>(
    board: &Board,
    keys: &'k TrustedKeys,
    met: &mut MetHere,
    result: &Signed,
    place: &str,
) -> Result<(&'k TrustedKey, RankingConditions), Vec<String>> {
    let mut reasons = vec![];
    let trusted = keys.trust_result(result.signer, result.statement.signed_at, &result.statement.job);
    reasons.extend(trusted.as_ref().err().map(ToString::to_string));
    reasons.extend(of_itself(&result.statement.document));
    let conditions = conditions(board, result, &mut reasons);
    reasons.extend(sample(board, &result.statement.document));
    let (Ok(key), Some(conditions), true) = (trusted, conditions, reasons.is_empty()) else { return Err(reasons) };
    // Jobs and seeds are known to all: what does not count takes none from what does.
    let repetition = met.repetition(result, SubmissionKey::of(result, key, conditions), place);
    repetition.map_or(Ok((key, conditions)), |repetition| Err(vec![repetition]))
}

/// What is wrong with a document, whatever board it is for.
fn of_itself(document: &Document) -> Vec<String> {
    let mut reasons = vec![];
    if let [first, others @ ..] = recompute(document).as_slice() {
        let more = match others.len() {
            0 => String::new(),
            1 => "; and one thing more".to_owned(),
            count => format!("; and {count} things more"),
        };
        reasons.push(format!("it does not follow from its own trials: {first}{more}"));
    }
    let unfit = [
        (document.is_partial(), "it is of some graphs alone (--quick, --variant)"),
        (document.job.fixed_seed, "its seed was fixed by hand"),
        (document.job.baseline.is_some(), "it is that of a baseline"),
    ];
    let unfit = unfit.into_iter().filter(|(is_so, _)| *is_so);
    reasons.extend(unfit.map(|(_, what)| format!("it is no result to rank: {what}")));
    reasons.extend(unmeasured(document));
    reasons
}

/// Whatever a graph says of itself: where nothing counts, there is no measurement.
fn unmeasured(document: &Document) -> Option<String> {
    let counted = recount(document).variants;
    let of_graphs = document.variants.iter().zip(&counted).filter(|(_, counted)| counted.outcome.is_none());
    let why: Vec<Option<&Failure>> = of_graphs.map(|(variant, _)| variant.failure.as_ref()).collect();
    let whole = document.failure.as_ref().filter(|failure| counted.is_empty() && failure.blame == Blame::Host);
    let first = match (why.first(), whole) {
        (None, None) => return None,
        (Some(failure), _) => failure.map_or("it has no times", |failure| &failure.message),
        (None, Some(failure)) => &failure.message,
    };
    Some(format!("{} of its graphs were not measured: {}", why.len(), one_line(first, 200)))
}

/// Where a result belongs by the board's own lists.
fn conditions(board: &Board, result: &Signed, reasons: &mut Vec<String>) -> Option<RankingConditions> {
    let document = &result.statement.document;
    let policy = board.policies.iter().position(|policy| policy.sha256 == document.policy.sha256());
    if policy.is_none() {
        let (name, found) = (one_line(document.policy.name(), 60), digits(document.policy.sha256()));
        reasons.push(format!("its policy `{name}` (SHA-256 {found}) is not on this board's list"));
    }
    let device = device(board, document);
    reasons.extend(device.as_ref().err().cloned());
    let host = host(board, result);
    reasons.extend(host.as_ref().err().cloned());
    reasons.extend(settings(board, document));
    Some(RankingConditions { policy: policy?, device: device.ok()?, host: host.ok()? })
}

fn device(board: &Board, document: &Document) -> Result<Option<usize>, String> {
    let Some(found) = &document.job.device else { return Ok(None) };
    let kind = found.facts.kind.to_string();
    let is_it = |device: &crate::AcceptedDevice| {
        device.kind == kind
            && device.model == found.name
            && device.threads.is_none_or(|threads| threads == found.threads)
    };
    board.devices.iter().position(is_it).map(Some).ok_or_else(|| {
        let device = one_line(&format!("{kind}, {}, {} threads,", found.name, found.threads), 200);
        format!("its device {device} is not on this board's list")
    })
}

fn host(board: &Board, result: &Signed) -> Result<usize, String> {
    let programs = &result.statement.programs;
    let torch = result.statement.document.job.device.as_ref().map(|device| &device.torch);
    let alike = |host: &crate::AcceptedHost| host.programs == *programs;
    let is_it = |host: &crate::AcceptedHost| alike(host) && torch.is_none_or(|torch| host.torch == *torch);
    if let Some(position) = board.hosts.iter().position(is_it) {
        return Ok(position);
    }
    if let Some(torch) = torch.filter(|_| board.hosts.iter().any(alike)) {
        return Err(format!("it was made with torch {}, which no host on this board's list has", one_line(torch, 60)));
    }
    // The program that the most alike host has otherwise.
    let others = |host: &crate::AcceptedHost| {
        let names = host.programs.keys().chain(programs.keys());
        names.filter(|name| host.programs.get(*name) != programs.get(*name)).cloned().collect::<Vec<String>>()
    };
    let closest = board.hosts.iter().map(others).min_by_key(Vec::len);
    let program = closest.and_then(|names| names.into_iter().next()).unwrap_or_else(|| "passhost".to_owned());
    let found = programs.get(&program).map_or_else(|| "none".to_owned(), |hash| digits(hash));
    let program = one_line(&program, 60);
    Err(format!("it was made by {program} with SHA-256 {found}, and no host on this board's list has that"))
}

fn settings(board: &Board, document: &Document) -> Option<String> {
    let found = AcceptedSettings::of(document);
    if found == board.settings {
        return None;
    }
    let [accepted, found] =
        [&board.settings, &found].map(|settings| serde_json::to_value(settings).unwrap_or_default());
    let [item, accepted, found] = first_difference(&accepted, &found)?;
    Some(format!("its setting {item} is {found}, and this board accepts {accepted}"))
}

/// What is wrong with a result's sample for every list.
fn sample(board: &Board, document: &Document) -> Option<String> {
    let job = &document.job;
    let listed: Vec<_> =
        board.sample_lists.iter().flat_map(|list| list.samples.iter().map(move |sample| (list, sample))).collect();
    let sample = one_line(&job.sample, 80);
    if let Some((_, same)) = listed.iter().find(|(_, listed)| listed.sha256 == job.sample_sha256) {
        let found = document.variants.len();
        let fewer = || format!("it has {found} of the {} graphs of sample `{sample}`", same.graphs);
        return (found != same.graphs).then(fewer);
    }
    Some(match listed.iter().find(|(_, listed)| listed.name == job.sample) {
        Some((list, listed)) => {
            let (found, listed) = (digits(&job.sample_sha256), digits(&listed.sha256));
            let list = &list.name;
            format!(
                "its sample `{sample}` has another content (SHA-256 {found}) than the one on list `{list}` ({listed})"
            )
        }
        None => format!("its sample `{sample}` is on none of this board's lists"),
    })
}

fn digits(hash: &str) -> String {
    let digits: String = hash.chars().take(DIGITS).filter(|digit| digit.is_ascii_graphic()).collect();
    format!("{digits}...")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use passhost_made_documents::{document, right};
    use passhost_sign::{BatchId, JobId, SecretKey, Statement};
    use std::collections::BTreeMap;
    use std::path::Path;

    #[test]
    fn a_job_a_measurement_and_a_sample_in_a_batch_count_once() {
        let directory = tempfile::tempdir().unwrap();
        let signer = SecretKey::create(&directory.path().join("key")).unwrap().public();
        let keys = TrustedKeys::parse(Path::new("keys"), &format!("{signer} lab")).unwrap();
        let mut variant = right("a", 2.0);
        variant.seed = Some(7);
        let document = document("pass", "sample", vec![variant]);
        let (job, batch) = (JobId::random().unwrap(), BatchId::random().ok());
        let statement = Statement { job, batch, signed_at: 1, author: None, programs: BTreeMap::new(), document };
        let one = Signed { statement, signer };
        let mut met = MetHere::default();
        let mut meet = |result: &Signed, place: &str| {
            let conditions = RankingConditions { policy: 0, device: Some(0), host: 0 };
            let key = keys.trust(result.signer, 1).unwrap();
            met.repetition(result, SubmissionKey::of(result, key, conditions), place)
        };
        assert_eq!(meet(&one, "one, line 1"), None);
        let is_of_first = |reason: Option<String>, start: &str, of: &str| {
            let found = reason.unwrap();
            assert!(found.starts_with(start) && found.contains(of) && found.contains("in one, line 1"), "{found}");
        };
        // In another batch.
        let mut other = one.clone();
        other.statement.batch = BatchId::random().ok();
        is_of_first(meet(&other, "two, line 1"), "job ", "was met before");
        other.statement.job = JobId::random().unwrap();
        is_of_first(meet(&other, "two, line 2"), "its graph `a` has the seed", "a measurement counts once");
        // A second measurement: not in the same batch, whatever file it lies in; in another batch, or in none, it is one.
        let mut again = one.clone();
        again.statement.job = JobId::random().unwrap();
        again.statement.document.variants[0].seed = Some(8);
        is_of_first(meet(&again, "three, line 1"), "its plugin has another result on `sample`", "in the same batch");
        is_of_first(meet(&one, "copy, line 1"), "job ", "was met before");
        again.statement.batch.clone_from(&other.statement.batch);
        assert_eq!(meet(&again, "one, line 2"), None);
        for seed in [9, 10] {
            again.statement = Statement { job: JobId::random().unwrap(), batch: None, ..again.statement };
            again.statement.document.variants[0].seed = Some(seed);
            assert_eq!(meet(&again, "one, line 3"), None);
        }
    }
}
