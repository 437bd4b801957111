//! Who stands where among those who were measured alike.

use crate::submission::{Submission, entry};
use passhost_report::{Entry, Part, Sourced, Summary, compare_sharing, summarise};
use passhost_score::{Interval, Verdict};
use passhost_supervisor::Headline;
use std::collections::BTreeMap;

/// Who was measured on the same samples, under the same policy, on the same kind of device, by the same host.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Names of the list, the policy, the device and the host, as the board has them.
    pub names: [String; 4],
    /// The score that ranks, as the policy says.
    pub headline: Headline,
    /// One an author, the best first.
    pub rows: Vec<Row>,
}

/// An author in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// One more than the number of authors whose best is better beyond doubt: those whom nothing tells apart share a place.
    pub place: usize,
    /// Whose.
    pub author: String,
    /// The best of their submissions.
    pub best: Scored,
    /// The others, the last signed first.
    pub history: Vec<Scored>,
}

impl Row {
    /// How many submissions share the author's errors.
    pub fn submissions(&self) -> usize {
        1 + self.history.len()
    }
}

/// A submission in a ranking, and what it scores there.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Position among the submissions of the board.
    pub submission: usize,
    /// What it scores.
    pub score: Score,
}

/// What a submission scores on the samples of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The score that ranks.
    pub headline: f64,
    /// Covers it with the error that the author's submissions share. `None` where nothing was timed.
    pub interval: Option<Interval>,
    /// Whether it is faster than eager, with the error that they share.
    pub verdict: Verdict,
    /// All that its results come to.
    pub part: Part,
}

/// A submission that is whole in a ranking.
pub(crate) struct Candidate {
    pub submission: usize,
    pub results: Vec<Sourced>,
}

/// The rows of a ranking, and the candidates of which nothing can be scored.
pub(crate) fn rows(candidates: &[Candidate], submissions: &[Submission]) -> (Headline, Vec<Row>, Vec<usize>) {
    let author = |candidate: &Candidate| submissions[candidate.submission].author.as_str();
    let mut shares: BTreeMap<&str, u32> = BTreeMap::new();
    candidates.iter().for_each(|candidate| *shares.entry(author(candidate)).or_default() += 1);
    let mut unscored = vec![];
    let mut authors: BTreeMap<&str, Vec<Standing<'_>>> = BTreeMap::new();
    for candidate in candidates {
        match Standing::of(candidate, shares[author(candidate)]) {
            Some(standing) => authors.entry(author(candidate)).or_default().push(standing),
            None => unscored.push(candidate.submission),
        }
    }
    let mut bests: Vec<(&str, Standing<'_>, Vec<Scored>)> = vec![];
    for (author, mut standings) in authors {
        standings.sort_by(|one, other| other.scored.score.headline.total_cmp(&one.scored.score.headline));
        let mut standings = standings.into_iter();
        let Some(best) = standings.next() else { continue };
        let mut history: Vec<Scored> = standings.map(|standing| standing.scored).collect();
        history.sort_by_key(|scored| std::cmp::Reverse(submissions[scored.submission].signed_at));
        bests.push((author, best, history));
    }
    let headline = bests.first().map_or(Headline::Published, |(_, best, _)| best.entry.conditions.headline);
    let places: Vec<usize> = bests.iter().map(|(_, own, _)| place(own, &bests)).collect();
    let mut rows: Vec<Row> = std::iter::zip(places, bests)
        .map(|(place, (author, best, history))| Row { place, author: author.to_owned(), best: best.scored, history })
        .collect();
    rows.sort_by(|one, other| {
        let by_score = other.best.score.headline.total_cmp(&one.best.score.headline);
        one.place.cmp(&other.place).then(by_score)
    });
    (headline, rows, unscored)
}

/// A candidate that has a score, and what it is compared by.
struct Standing<'c> {
    scored: Scored,
    entry: Entry<'c>,
    /// Submissions of its author.
    share: u32,
}

impl<'c> Standing<'c> {
    fn of(candidate: &'c Candidate, share: u32) -> Option<Standing<'c>> {
        let entry = entry(&candidate.results, share)?;
        let Summary { all: part, .. } = summarise(&entry);
        let wall = part.wall.as_ref()?;
        let confidence = wall.confidence.as_ref();
        let (headline, interval) = match entry.conditions.headline {
            Headline::Published => (wall.aggregate_score, confidence.map(|confidence| confidence.aggregate_score)),
            Headline::Strict => {
                (wall.aggregate_score_strict, confidence.map(|confidence| confidence.aggregate_score_strict))
            }
        };
        let verdict = confidence.map_or(Verdict::Undecided, |confidence| confidence.verdict);
        let score = Score { headline, interval, verdict, part };
        Some(Standing { scored: Scored { submission: candidate.submission, score }, entry, share })
    }
}

/// One more than the number of those who are better beyond doubt.
fn place(own: &Standing<'_>, all: &[(&str, Standing<'_>, Vec<Scored>)]) -> usize {
    let others = all.len() - 1;
    let better = |other: &&(&str, Standing<'_>, Vec<Scored>)| {
        let (_, other, _) = other;
        // Each could have been the best of as many; and each author has a part in as many comparisons as there are others.
        let pairs = own.share.saturating_mul(other.share);
        let comparisons = pairs.saturating_mul(u32::try_from(others).unwrap_or(u32::MAX));
        let compared = compare_sharing(&[own.entry.clone(), other.entry.clone()], comparisons);
        let against = compared.ok().and_then(|comparison| comparison.standings.into_iter().nth(1)?.against_first);
        against.is_some_and(|against| against.headline(own.entry.conditions.headline).verdict == Verdict::Faster)
    };
    let is_other = |other: &&(&str, Standing<'_>, Vec<Scored>)| other.1.scored.submission != own.scored.submission;
    1 + all.iter().filter(is_other).filter(better).count()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::admission::Conditions;
    use crate::submission::Batch;
    use passhost_made_documents::{document, right, unmeasured};
    use passhost_score::FALSE_VERDICTS;
    use passhost_sign::BatchId;
    use passhost_supervisor::document::Variant;

    /// The submission of an author at a time, with these graphs of one sample.
    fn submission(author: &str, signed_at: u64, variants: Vec<Variant>) -> Submission {
        let document = document(&format!("{author}-{signed_at}"), "sample", variants);
        Submission {
            batch: Batch::Named(BatchId::random().unwrap()),
            files: vec![format!("{author}.jsonl")],
            jobs: vec![],
            author: author.into(),
            signer: "lab".into(),
            plugin: author.into(),
            plugin_sha256: document.job.plugin_sha256.clone(),
            signed_at,
            results: vec![Sourced { source: String::new(), document }],
            conditions: Conditions { policy: 0, device: Some(0), host: 0 },
        }
    }

    fn ranked(submissions: &[Submission]) -> (Vec<Row>, Vec<usize>) {
        let candidate =
            |(submission, own): (usize, &Submission)| Candidate { submission, results: own.results.clone() };
        let candidates: Vec<Candidate> = submissions.iter().enumerate().map(candidate).collect();
        let (headline, rows, unscored) = rows(&candidates, submissions);
        assert_eq!(headline, Headline::Published);
        (rows, unscored)
    }

    fn places(rows: &[Row]) -> Vec<(usize, &str)> {
        rows.iter().map(|row| (row.place, row.author.as_str())).collect()
    }

    #[test]
    fn authors_whom_nothing_tells_apart_share_a_place() {
        let of = |author: &str, speedup| submission(author, 1, vec![right("a", speedup), right("b", speedup)]);
        // Two measurements lie within the resolution of each other, 4%.
        let (rows, _) = ranked(&[of("one", 2.0), of("two", 2.05), of("three", 4.0), of("four", 1.0)]);
        assert_eq!(places(&rows), [(1, "three"), (2, "two"), (2, "one"), (4, "four")]);
        assert!(ranked(&[]).0.is_empty());
        let alone = [of("one", 2.0)];
        assert_eq!(places(&ranked(&alone).0), [(1, "one")]);
    }

    #[test]
    fn an_author_is_ranked_by_the_best_and_all_share_one_error() {
        let of = |author: &str, at, speedup| submission(author, at, vec![right("a", speedup)]);
        let often = [of("often", 1, 1.0), of("often", 3, 1.5), of("often", 2, 2.0), of("once", 1, 2.0)];
        let (rows, _) = ranked(&often);
        assert_eq!(rows.iter().map(|row| row.place).collect::<Vec<_>>(), [1, 1]);
        let [often, once] = ["often", "once"].map(|author| rows.iter().find(|row| row.author == author).unwrap());
        assert_eq!((often.submissions(), often.best.submission), (3, 2));
        assert_eq!(often.history.iter().map(|scored| scored.submission).collect::<Vec<_>>(), [1, 0]);
        let confidence = |row: &Row| row.best.score.part.wall.as_ref().unwrap().confidence.unwrap();
        assert_eq!((confidence(often).submissions, confidence(once).submissions), (3, 1));
        assert!(often.best.score.interval.unwrap().spread() >= once.best.score.interval.unwrap().spread());
    }

    #[test]
    fn who_tries_often_needs_more_evidence() {
        // A little faster than the resolution, with processes that differ.
        let shaky = |at| {
            let mut variant = right("a", 1.09);
            for (process, factor) in variant.timing.as_mut().unwrap().processes.iter_mut().zip([1.0, 1.004, 0.996]) {
                for (block, wobble) in process.pairs.iter_mut().zip([0.997, 1.003]) {
                    block.other_ns.iter_mut().for_each(|time| *time = (*time as f64 * factor * wobble).round() as u64);
                }
            }
            submission("one", at, vec![variant])
        };
        let verdict = |count: u64| ranked(&(0..count).map(shaky).collect::<Vec<_>>()).0[0].best.score.verdict;
        assert_eq!(verdict(1), Verdict::Faster);
        assert_eq!(verdict(40), Verdict::Undecided, "an error of {} a verdict", FALSE_VERDICTS / 40.0);
    }

    #[test]
    fn what_was_not_measured_has_no_place() {
        let (rows, unscored) = ranked(&[submission("one", 1, vec![unmeasured("a", "busy")])]);
        assert_eq!((rows.len(), unscored), (0, vec![0]));
    }
}
