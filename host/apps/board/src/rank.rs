//! Who stands where among those who were measured alike.

use crate::submission::{Submission, entry};
use passhost_report::{EntrantResults, PartScores, Sourced, Summary, compare_sharing, summarise};
use passhost_result::Headline;
use passhost_score::{Interval, Verdict};
use std::collections::BTreeMap;

/// Who was measured on the same samples, under the same policy, on the same kind of device, by the same host.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Names of the list, the policy, the device and the host, as the board has them.
    pub names: [String; 4],
    /// The score that ranks, as the policy says.
    pub headline: Headline,
    /// One an author, the best first.
    pub rows: Vec<RankingRow>,
}

/// An author in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct RankingRow {
    /// One more than the number of authors whose best is better beyond doubt: those whom nothing tells apart share a place.
    pub place: usize,
    /// Whose.
    pub author: String,
    /// The best of their submissions.
    pub best: Scored,
    /// The best submission of each of their other plugins, the highest score first.
    pub others: Vec<Scored>,
    /// The other submissions, the last signed first.
    pub history: Vec<Scored>,
}

impl RankingRow {
    /// How many submissions share the author's errors.
    pub fn submissions(&self) -> usize {
        self.all().count()
    }

    /// All submissions of the author.
    pub fn all(&self) -> impl Iterator<Item = &Scored> {
        std::iter::once(&self.best).chain(&self.others).chain(&self.history)
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
    pub part: PartScores,
    /// How many graphs end in which way.
    pub ends: BTreeMap<String, usize>,
}

impl Score {
    /// The verdict, or how the graphs end where none of them is right: then times say nothing.
    pub fn against_eager(&self) -> String {
        if self.part.right > 0 {
            return self.verdict.to_string();
        }
        let named = |end: &String| match end.as_str() {
            "accuracy" => "wrong".to_owned(),
            "pass miss" => "unchanged".to_owned(),
            other => other.to_owned(),
        };
        let counted: Vec<String> = self.ends.iter().map(|(end, count)| format!("{} ({count})", named(end))).collect();
        match self.ends.keys().next() {
            Some(only) if counted.len() == 1 => named(only),
            _ => counted.join(", "),
        }
    }
}

/// A submission that is whole in a ranking.
pub(crate) struct RankingCandidate {
    pub submission: usize,
    pub results: Vec<Sourced>,
}

/// The rows of a ranking, and the candidates of which nothing can be scored.
pub(crate) fn rows(
    candidates: &[RankingCandidate],
    submissions: &[Submission],
) -> (Headline, Vec<RankingRow>, Vec<usize>) {
    let author = |candidate: &RankingCandidate| submissions[candidate.submission].author.as_str();
    let mut shares: BTreeMap<&str, u32> = BTreeMap::new();
    candidates.iter().for_each(|candidate| *shares.entry(author(candidate)).or_default() += 1);
    let mut unscored = vec![];
    let mut authors: BTreeMap<&str, Vec<RankedCandidate<'_>>> = BTreeMap::new();
    for candidate in candidates {
        match RankedCandidate::of(candidate, shares[author(candidate)]) {
            Some(standing) => authors.entry(author(candidate)).or_default().push(standing),
            None => unscored.push(candidate.submission),
        }
    }
    let authors: Vec<Author<'_>> =
        authors.into_iter().filter_map(|(name, standings)| Author::of(name, standings, submissions)).collect();
    let headline = authors.first().map_or(Headline::Published, |author| author.best.entry.conditions.headline);
    let places: Vec<usize> = authors.iter().map(|own| place(&own.best, &authors)).collect();
    let mut rows: Vec<RankingRow> = std::iter::zip(places, authors)
        .map(|(place, Author { name, best, others, history })| RankingRow {
            place,
            author: name.to_owned(),
            best: best.scored,
            others,
            history,
        })
        .collect();
    rows.sort_by(|one, other| {
        let by_score = other.best.score.headline.total_cmp(&one.best.score.headline);
        one.place.cmp(&other.place).then(by_score)
    });
    (headline, rows, unscored)
}

/// A candidate that has a score, and what it is compared by.
struct RankedCandidate<'c> {
    scored: Scored,
    entry: EntrantResults<'c>,
    /// Submissions of its author.
    share: u32,
}

impl<'c> RankedCandidate<'c> {
    fn of(candidate: &'c RankingCandidate, share: u32) -> Option<RankedCandidate<'c>> {
        let entry = entry(&candidate.results, share)?;
        let Summary { all: part, ends, .. } = summarise(&entry);
        let wall = part.wall.as_ref()?;
        let (headline, interval) = wall.headline(entry.conditions.headline);
        let verdict = wall.confidence.as_ref().map_or(Verdict::Undecided, |confidence| confidence.verdict);
        let score = Score { headline, interval, verdict, part, ends };
        Some(RankedCandidate { scored: Scored { submission: candidate.submission, score }, entry, share })
    }
}

/// What an author has in a ranking.
struct Author<'c> {
    name: &'c str,
    best: RankedCandidate<'c>,
    others: Vec<Scored>,
    history: Vec<Scored>,
}

impl<'c> Author<'c> {
    /// `None` without a submission.
    fn of(name: &'c str, mut standings: Vec<RankedCandidate<'c>>, submissions: &[Submission]) -> Option<Author<'c>> {
        standings.sort_by(|one, other| other.scored.score.headline.total_cmp(&one.scored.score.headline));
        let plugin = |standing: &RankedCandidate<'_>| submissions[standing.scored.submission].plugin_sha256.as_str();
        let (mut plugins, mut history): (Vec<RankedCandidate<'_>>, Vec<Scored>) = (vec![], vec![]);
        for standing in standings {
            if plugins.iter().any(|best| plugin(best) == plugin(&standing)) {
                history.push(standing.scored);
            } else {
                plugins.push(standing);
            }
        }
        history.sort_by_key(|scored| std::cmp::Reverse(submissions[scored.submission].signed_at));
        let mut plugins = plugins.into_iter();
        let best = plugins.next()?;
        let others = plugins.map(|standing| standing.scored).collect();
        Some(Author { name, best, others, history })
    }
}

/// One more than the number of those who are better beyond doubt.
fn place(own: &RankedCandidate<'_>, all: &[Author<'_>]) -> usize {
    let others = u32::try_from(all.len() - 1).unwrap_or(u32::MAX);
    let is_other = |other: &&Author<'_>| other.best.scored.submission != own.scored.submission;
    let better = |other: &&Author<'_>| {
        // Each could have been the best of as many; and each author has a part in as many comparisons as there are others.
        let pairs = own.share.saturating_mul(other.best.share);
        is_better(&other.best, own, pairs.saturating_mul(others))
    };
    1 + all.iter().filter(is_other).filter(better).count()
}

/// Whether one is better than another beyond doubt, where so many comparisons share an error.
fn is_better(one: &RankedCandidate<'_>, than: &RankedCandidate<'_>, comparisons: u32) -> bool {
    let compared = compare_sharing(&[than.entry.clone(), one.entry.clone()], comparisons);
    let against = compared.ok().and_then(|comparison| comparison.standings.into_iter().nth(1)?.against_first);
    against.is_some_and(|against| against.headline(than.entry.conditions.headline).verdict == Verdict::Faster)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::conditions::RankingConditions;
    use crate::submission::SubmittedBatch;
    use passhost_made_documents::{document, failed, missed, right, unmeasured};
    use passhost_result::document::Variant;
    use passhost_score::{FALSE_VERDICTS, FailureClass};
    use passhost_sign::BatchId;

    /// The submission of an author at a time, with these graphs of one sample, of one plugin.
    fn submission(author: &str, signed_at: u64, variants: Vec<Variant>) -> Submission {
        submission_of(&format!("plugin of {author}"), author, signed_at, variants)
    }

    fn submission_of(plugin: &str, author: &str, signed_at: u64, variants: Vec<Variant>) -> Submission {
        let document = document(plugin, "sample", variants);
        Submission {
            batch: SubmittedBatch::Named(BatchId::random().unwrap()),
            files: vec![format!("{author}.jsonl")],
            jobs: vec![],
            author: author.into(),
            signer: "lab".into(),
            plugin: plugin.into(),
            plugin_sha256: document.job.plugin_sha256.clone(),
            signed_at,
            results: vec![Sourced::new("", document)],
            conditions: RankingConditions { policy: 0, device: Some(0), host: 0 },
        }
    }

    fn ranked(submissions: &[Submission]) -> (Vec<RankingRow>, Vec<usize>) {
        let candidate =
            |(submission, own): (usize, &Submission)| RankingCandidate { submission, results: own.results.clone() };
        let candidates: Vec<RankingCandidate> = submissions.iter().enumerate().map(candidate).collect();
        let (headline, rows, unscored) = rows(&candidates, submissions);
        assert_eq!(headline, Headline::Published);
        (rows, unscored)
    }

    fn places(rows: &[RankingRow]) -> Vec<(usize, &str)> {
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
        let confidence = |row: &RankingRow| row.best.score.part.wall.as_ref().unwrap().confidence.unwrap();
        assert_eq!((confidence(often).submissions, confidence(once).submissions), (3, 1));
        assert!(often.best.score.interval.unwrap().spread() >= once.best.score.interval.unwrap().spread());
    }

    #[test]
    fn an_authors_plugins_stand_below_each_other_the_best_first() {
        let of =
            |plugin: &str, at, speedup| submission_of(plugin, "me", at, vec![right("a", speedup), right("b", speedup)]);
        let submissions =
            [of("slow", 1, 1.0), of("good", 2, 2.0), of("fast", 3, 4.0), of("like", 4, 2.05), of("fast", 5, 3.0)];
        let (rows, _) = ranked(&submissions);
        let [row] = rows.as_slice() else { unreachable!("one author: {rows:?}") };
        assert_eq!((row.best.submission, row.submissions()), (2, 5));
        assert_eq!(row.others.iter().map(|other| other.submission).collect::<Vec<_>>(), [3, 1, 0]);
        assert_eq!(row.history.iter().map(|scored| scored.submission).collect::<Vec<_>>(), [4]);
        // All share the error of the author's five submissions.
        let shares = row.all().map(|scored| scored.score.part.wall.as_ref().unwrap().confidence.unwrap().submissions);
        assert_eq!(shares.collect::<Vec<_>>(), [5; 5]);
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
    fn where_nothing_is_right_it_is_said_what_it_is() {
        let wrong = |name: &str| failed(name, FailureClass::Accuracy);
        for (variants, expected) in [
            (vec![right("a", 2.0), wrong("b")], "faster"),
            (vec![wrong("a"), wrong("b")], "wrong"),
            (vec![missed("a")], "unchanged"),
            (vec![wrong("a"), missed("b"), missed("c")], "wrong (1), unchanged (2)"),
        ] {
            let rows = ranked(&[submission("one", 1, variants)]).0;
            assert_eq!(rows[0].best.score.against_eager(), expected);
        }
    }

    #[test]
    fn what_was_not_measured_has_no_place() {
        let (rows, unscored) = ranked(&[submission("one", 1, vec![unmeasured("a", "busy")])]);
        assert_eq!((rows.len(), unscored), (0, vec![0]));
    }
}
