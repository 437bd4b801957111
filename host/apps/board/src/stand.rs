//! Everything that is submitted to a board, and what becomes of it.

use crate::accepted::{Board, FILE};
use crate::admission::{MetHere, admit};
use crate::conditions::RankingConditions;
use crate::rank::{Ranking, RankingCandidate, RankingRow, Scored, rows};
use crate::submission::{Admitted, Submission, Unranked, submissions};
use passhost_protocol::open_regular;
use passhost_sign::{LineError, Signed, TrustedKeys, read_all};
use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::Path;

/// Why a submission is in no ranking.
const NO_DEVICE: &str = "none of it ran on a device, so that it belongs to no ranking: its plugin does not load";
const UNSCORED: &str = "nothing of it can be scored";

/// Bytes of a file of results.
const FILE_LIMIT: u64 = 512 << 20;

/// What lies in the directory of a board.
#[derive(Debug, Clone, Default)]
pub struct BoardContents {
    /// Files of results, by name.
    pub files: Vec<SubmittedFile>,
}

/// A file of results.
#[derive(Debug, Clone)]
pub struct SubmittedFile {
    /// Its name.
    pub name: String,
    /// Its results, or why a line is none.
    pub lines: Vec<Result<Signed, LineError>>,
}

impl SubmittedFile {
    /// Reads a file, which is called `name` from then on. Of lines that none of these keys signed nothing is read.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or has more than 512 MiB.
    pub fn read(path: &Path, name: String, keys: &TrustedKeys) -> io::Result<SubmittedFile> {
        let file = open_regular(path)?;
        if file.metadata()?.len() > FILE_LIMIT {
            return Err(io::Error::other(format!("it has more than {FILE_LIMIT} bytes")));
        }
        Ok(SubmittedFile { name, lines: read_all(file.take(FILE_LIMIT), Some(keys))? })
    }
}

impl BoardContents {
    /// Reads every file of a directory that ends in `.json` or `.jsonl`, but the board's own.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read; the path is named.
    pub fn read(directory: &Path, keys: &TrustedKeys) -> Result<BoardContents, (std::path::PathBuf, io::Error)> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| (path, error)
        };
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(directory).map_err(failed(directory))? {
            names.insert(entry.map_err(failed(directory))?.file_name());
        }
        let is_result = |name: &str| name != FILE && [".json", ".jsonl"].iter().any(|ending| name.ends_with(ending));
        let names = names.iter().filter_map(|name| name.to_str()).filter(|name| is_result(name));
        // Anybody may have put a file there: one that cannot be read costs itself alone.
        let unreadable = |error: io::Error| vec![Err(LineError::Unreadable(error.to_string()))];
        let files = names.map(|name| {
            let read = SubmittedFile::read(&directory.join(name), name.to_owned(), keys);
            read.unwrap_or_else(|error| SubmittedFile { name: name.to_owned(), lines: unreadable(error) })
        });
        Ok(BoardContents { files: files.collect() })
    }
}

/// What becomes of everything that was submitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    /// Those that have anybody, in the order of the board's lists.
    pub rankings: Vec<Ranking>,
    /// What was submitted, signed first at the beginning.
    pub submissions: Vec<Submission>,
    /// Submissions that are missing in a ranking.
    pub unranked: Vec<Unranked>,
    /// Lines that count for nothing.
    pub refused: Vec<Refused>,
}

impl Standings {
    /// Where a submission stands: the rankings that it is in, whose row it is there, and what it scores.
    pub fn places(&self, submission: usize) -> impl Iterator<Item = (&Ranking, &RankingRow, &Scored)> {
        let rows = self.rankings.iter().flat_map(|ranking| ranking.rows.iter().map(move |row| (ranking, row)));
        rows.filter_map(move |(ranking, row)| {
            Some((ranking, row, row.all().find(|scored| scored.submission == submission)?))
        })
    }
}

/// A line that counts for nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// The file.
    pub file: String,
    /// The line, from 1, of a file that has several.
    pub line: Option<usize>,
    /// What it says that it is about, if it was signed; untrusted.
    pub about: Option<String>,
    /// Everything that is wrong with it, a sentence each.
    pub reasons: Vec<String>,
}

impl Board {
    /// Who stands where. Of several results of one job the one that was signed first counts, of those that were signed at
    /// one time the one in the first file.
    pub fn stand(&self, contents: &BoardContents, keys: &TrustedKeys) -> Standings {
        let (mut refused, mut signed) = (vec![], vec![]);
        for SubmittedFile { name, lines } in &contents.files {
            for (line, number) in lines.iter().zip(1..) {
                let place = (name, (lines.len() > 1).then_some(number));
                match line {
                    Ok(result) => signed.push((place, result)),
                    Err(error) => refused.push(refusal(place, None, vec![error.to_string()])),
                }
            }
        }
        signed.sort_by_key(|(_, result)| result.statement.signed_at);
        let (mut met, mut admitted) = (MetHere::default(), vec![]);
        for (place, result) in signed {
            let (file, line) = place;
            let named = line.map_or_else(|| file.clone(), |line| format!("{file}, line {line}"));
            match admit(self, keys, &mut met, result, &named) {
                Ok((key, conditions)) => {
                    admitted.push(Admitted { file: file.clone(), key, conditions, result: result.clone() });
                }
                Err(reasons) => refused.push(refusal(place, Some(result), reasons)),
            }
        }
        let submissions = submissions(admitted);
        let (rankings, unranked) = self.rankings(&submissions);
        Standings { rankings, submissions, unranked, refused }
    }

    fn rankings(&self, submissions: &[Submission]) -> (Vec<Ranking>, Vec<Unranked>) {
        let (mut rankings, mut unranked) = (vec![], vec![]);
        let alone = submissions.iter().enumerate().filter(|(_, submission)| submission.conditions.device.is_none());
        unranked.extend(alone.map(|(submission, _)| Unranked { submission, reason: NO_DEVICE.to_owned() }));
        for list in &self.sample_lists {
            let conditions: BTreeSet<RankingConditions> =
                submissions.iter().map(|submission| submission.conditions).collect();
            for conditions in conditions {
                let Some(device) = conditions.device else { continue };
                let mut candidates = vec![];
                for (submission, own) in submissions.iter().enumerate().filter(|(_, own)| own.conditions == conditions)
                {
                    match own.on(list) {
                        Some(Ok(results)) => candidates.push(RankingCandidate { submission, results }),
                        Some(Err(reason)) => unranked.push(Unranked { submission, reason }),
                        None => {}
                    }
                }
                let (headline, rows, unscored) = rows(&candidates, submissions);
                let unscored = unscored.into_iter();
                unranked.extend(unscored.map(|submission| Unranked { submission, reason: UNSCORED.to_owned() }));
                let names = [
                    &list.name,
                    &self.policies[conditions.policy].name,
                    &self.devices[device].name,
                    &self.hosts[conditions.host].name,
                ];
                if !rows.is_empty() {
                    rankings.push(Ranking { names: names.map(Clone::clone), headline, rows });
                }
            }
        }
        (rankings, unranked)
    }
}

fn refusal((file, line): (&String, Option<usize>), result: Option<&Signed>, reasons: Vec<String>) -> Refused {
    let about = result.map(|result| {
        let job = &result.statement.document.job;
        format!("{} on {}", job.plugin, job.sample)
    });
    Refused { file: file.clone(), line, about, reasons }
}
