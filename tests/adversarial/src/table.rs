//! The table of all cases, for people and for programs.

use crate::{Case, Found, verdict};
use serde::Serialize;

/// What several attempts at one case came to.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The case's name: `10-partial-work/half-of-a-sum`.
    pub case: String,
    /// What is done, in a sentence.
    pub trick: String,
    /// Attempts made.
    pub attempts: usize,
    /// Attempts that ended as the case expects.
    pub as_expected: usize,
    /// The verdict on the last, with the stage or the findings that led to it.
    pub caught_by: String,
    /// Largest AS strict of all attempts, where there is a score.
    pub strict: Option<f64>,
    /// Attempts at an attack whose outputs are right that earned more than the identity would: AS strict above 1, its
    /// interval included.
    pub gained: usize,
    /// What is needed before the case can end as it expects.
    pub open: Option<String>,
    /// What the last attempt that ended otherwise ended with, unless the case is open.
    pub complaint: Option<String>,
}

impl Row {
    /// Of no attempts yet.
    pub fn new(case: &Case) -> Row {
        Row {
            case: case.name.clone(),
            trick: case.expect.trick.clone(),
            attempts: 0,
            as_expected: 0,
            caught_by: String::new(),
            strict: None,
            gained: 0,
            open: case.expect.open.clone(),
            complaint: None,
        }
    }

    /// Takes note of one more attempt at the case.
    pub fn add(&mut self, case: &Case, found: &Found) {
        self.attempts += 1;
        let checked = verdict::check(&case.expect, found);
        self.as_expected += usize::from(checked.is_ok());
        match (checked, &case.expect.open) {
            (Ok(()), Some(_)) => {
                self.complaint = Some("it ends as it must: take `open` out of its expect.json".to_owned());
            }
            (Err(why), None) => self.complaint = Some(format!("{why}\n{}", verdict::message(found))),
            (Ok(()), None) | (Err(_), Some(_)) => {}
        }
        self.caught_by = caught_by(found);
        self.gained += usize::from(!case.expect.honest && gains(found));
        let scores = found.document.as_ref().and_then(|document| document.scores.as_ref());
        if let Some(strict) = scores.map(|scores| scores.aggregate_score_strict) {
            self.strict = Some(self.strict.map_or(strict, |most| most.max(strict)));
        }
    }
}

/// Whether the whole interval of AS strict lies above what the identity earns.
fn gains(found: &Found) -> bool {
    let confidence = found.document.as_ref().and_then(|document| document.confidence.as_ref());
    let is_right = verdict::of(found) == "right";
    is_right && confidence.is_some_and(|confidence| confidence.aggregate_score_strict.low > 1.0)
}

/// The verdict, and the stage or the findings that led to it.
fn caught_by(found: &Found) -> String {
    let verdict = verdict::of(found);
    let Some(document) = &found.document else { return verdict };
    let kinds = verdict::kinds(document);
    match verdict::failure(document) {
        _ if !found.false_findings.is_empty() => {
            format!("{verdict}; {} findings in other draws", found.false_findings.len())
        }
        _ if !kinds.is_empty() => format!("{verdict}: {}", kinds.join(", ")),
        Some(failure) if failure.stage != "correctness" => format!("{verdict} at {}", failure.stage),
        _ => verdict,
    }
}

/// The rows as tables in Markdown, the open ones in a table of their own. Brief ones do not say what a case does.
pub fn markdown(rows: &[Row], is_brief: bool) -> String {
    let (heading, line) = if is_brief { ("", "") } else { ("what it does | ", "--- | ") };
    let mut text = format!(
        "| case | {heading}attempts | caught by | AS strict | gained |\n| --- | {line}---: | --- | ---: | ---: |\n"
    );
    let mut open =
        String::from("| case | what it does | now | AS strict | needed |\n| --- | --- | --- | ---: | --- |\n");
    for row in rows {
        let strict = row.strict.map_or_else(|| "-".to_owned(), |strict| format!("{strict:.2}"));
        let Row { case, trick, attempts, caught_by, gained, .. } = row;
        match &row.open {
            Some(needed) => open.push_str(&format!("| {case} | {trick} | {caught_by} | {strict} | {needed} |\n")),
            None => {
                let trick = if is_brief { String::new() } else { format!("{trick} | ") };
                text.push_str(&format!("| {case} | {trick}{attempts} | {caught_by} | {strict} | {gained} |\n"));
            }
        }
    }
    if rows.iter().any(|row| row.open.is_some()) { format!("{text}\nOpen:\n\n{open}") } else { text }
}
