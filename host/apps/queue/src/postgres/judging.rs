//! Results that workers delivered, whether they count, and whether another host comes to the same.

use super::{Postgres, count, integer, statements, stored};
use crate::record::sha256;
use crate::{Delivered, Judge, Judged, QueueError, Rerun, Ticket};
use ::postgres::Row;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Results that are judged before others are read.
const JUDGED_AT_ONCE: usize = 16;

/// A run of a job before the one whose result is judged.
struct EarlierRun {
    ticket: String,
    host: String,
    outcome: Vec<u8>,
}

/// What follows from a result that counts.
#[derive(Default)]
struct Comparison {
    /// How another host is to run the job again.
    again: Option<Rerun>,
    /// That two runs differ.
    differs: Option<String>,
    /// The earlier run that counts no more, from 1.
    wrong: Option<i32>,
    /// Whether its host is quarantined.
    quarantines: bool,
}

impl Comparison {
    /// Of a result that counts; why it does not, if so. A result that has the judge panic is refused: else each server would end at it.
    fn judged(judge: &dyn Judge, delivered: &Delivered, earlier: &[EarlierRun]) -> Result<Comparison, String> {
        let judged = || judge.check(delivered).map(|()| Comparison::of(judge, delivered, earlier));
        let panicked = |_| Err("the server panicked when it judged the result; report this".to_owned());
        catch_unwind(AssertUnwindSafe(judged)).unwrap_or_else(panicked)
    }

    fn of(judge: &dyn Judge, delivered: &Delivered, earlier: &[EarlierRun]) -> Comparison {
        let host = &delivered.host;
        let difference = |run: &EarlierRun| judge.difference(&run.outcome, &delivered.outcome);
        match earlier {
            [] => Comparison { again: judge.rerun(delivered), ..Comparison::default() },
            [first] => match difference(first) {
                None => Comparison::default(),
                Some(what) => Comparison {
                    again: Some(Rerun { needs: delivered.needs.clone(), draws: vec![] }),
                    differs: Some(format!(
                        "the results of {} and {host} for job {} differ: {what}",
                        first.host, first.ticket
                    )),
                    wrong: Some(1),
                    quarantines: false,
                },
            },
            [first, second, ..] => {
                let (one, other, job) = (&first.host, &second.host, &first.ticket);
                let outlier = |wrong: &str, right: &str, what: String| {
                    format!("the result of {wrong} for job {job} differs from those of {right} and {host}: {what}")
                };
                let (differs, wrong, quarantines) = match (difference(first), difference(second)) {
                    (Some(what), None) => (outlier(one, other, what), Some(1), true),
                    (None, Some(what)) => (outlier(other, one, what), Some(2), true),
                    (Some(what), Some(_)) => (
                        format!("the results of {one}, {other} and {host} for job {job} all differ: {what}"),
                        Some(1),
                        false,
                    ),
                    (None, None) => {
                        let both = format!("the results of {one} and {other} for job {job} differ");
                        (format!("{both}, and that of {host} agrees with both"), None, false)
                    }
                };
                Comparison { again: None, differs: Some(differs), wrong, quarantines }
            }
        }
    }
}

fn earlier(row: &Row) -> Result<Vec<EarlierRun>, QueueError> {
    let texts = |column: usize| Ok::<Vec<String>, QueueError>(row.try_get::<_, Option<_>>(column)?.unwrap_or_default());
    let outcomes = row.try_get::<_, Option<Vec<Vec<u8>>>>(10)?.unwrap_or_default();
    let runs = texts(8)?.into_iter().zip(texts(9)?).zip(outcomes);
    Ok(runs.map(|((ticket, host), outcome)| EarlierRun { ticket, host, outcome }).collect())
}

impl Postgres {
    pub(super) fn judge_delivered(&self, judge: &dyn Judge) -> Result<Judged, QueueError> {
        let (of_host, hosts) = (integer(self.limits.attempts), integer(self.limits.hosts));
        let mut judged = Judged::default();
        // Why results could not be read; the next look tries them again.
        let mut unread: Option<QueueError> = None;
        loop {
            let rows = self.query(statements::DELIVERED, &[&(JUDGED_AT_ONCE as i64)])?;
            for row in &rows {
                let (ticket, attempt): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
                let (host, needs, bytes) = (row.try_get(2)?, row.try_get(3)?, row.try_get::<_, Option<Vec<u8>>>(4)?);
                let outcome = match bytes {
                    Some(bytes) => Ok(bytes),
                    None => self.stored_outcome(row.try_get(5)?, count(row, 6)?),
                };
                let (outcome, not_stored) = match outcome {
                    Ok(outcome) => (outcome, None),
                    Err(error) => match stored::why_it_does_not_count(&error) {
                        Some(why) => (vec![], Some(why.to_owned())),
                        None => {
                            unread = Some(error.into());
                            continue;
                        }
                    },
                };
                let delivered = Delivered { ticket: Ticket(ticket), host, needs, outcome };
                let (quarantine, earlier) = (row.try_get::<_, Option<String>>(7)?, earlier(row)?);
                let why = quarantine.map(|why| format!("its host is quarantined: {why}"));
                let why = why.or(not_stored);
                let has_run = earlier.iter().any(|run| run.host == delivered.host);
                let why = why.or_else(|| has_run.then(|| "its host ran the job before".to_owned()));
                // Another server may have judged it meanwhile.
                match why.map_or_else(|| Comparison::judged(judge, &delivered, &earlier), Err) {
                    Ok(comparison) => judged.accepted += self.accept(&delivered, attempt, comparison)?,
                    Err(why) => {
                        let (job, why) = (delivered.ticket.as_str(), why.replace('\0', " "));
                        judged.refused +=
                            self.query(statements::REFUSE, &[&job, &attempt, &why, &of_host, &hosts])?.len();
                    }
                }
            }
            match unread.take() {
                Some(error) if judged == Judged::default() => return Err(error),
                None if rows.len() == JUDGED_AT_ONCE => {}
                _ => return Ok(judged),
            }
        }
    }

    fn accept(&self, delivered: &Delivered, attempt: i32, comparison: Comparison) -> Result<usize, QueueError> {
        let Delivered { ticket, outcome, .. } = delivered;
        let Comparison { again, differs, wrong, quarantines } = comparison;
        let new = again.as_ref().map(|_| Ticket::random(self.name.as_deref().unwrap_or_default())).transpose()?;
        let (new, Rerun { needs, draws }) = (new.as_ref().map(Ticket::as_str), again.unwrap_or_default());
        let kept = new.map(|_| outcome);
        let differs = differs.map(|differs| differs.replace('\0', " "));
        let (hash, bytes) = (sha256(outcome), outcome.len() as i64);
        let accepted = self.query(
            statements::ACCEPT,
            &[&ticket.as_str(), &attempt, &hash, &bytes, &new, &needs, &draws, &kept, &differs, &wrong, &quarantines],
        )?;
        Ok(accepted.len())
    }
}
