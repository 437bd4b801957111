//! The page of a submission: where it stands, what it is made of, and what was measured.

use passhost_board::{Board, RankingRow, Scored, Standings, Submission};
use passhost_page::report::{Origin, report};
use passhost_page::{Markup, Page, Section, html, number, untrusted};
use passhost_report::{Apart, EntrantResults, GraphFilter, contests, entries};
use passhost_result::untrusted::one_line;
use passhost_sign::time_text;

/// Characters of a name that are shown.
const NAME: usize = 80;

/// The page of the submission at a position: what `passhost report --html` says of its results, and whose they are.
pub fn page(board: &Board, standings: &Standings, position: usize) -> Page {
    let submission = &standings.submissions[position];
    let entries = entries(&submission.results, Apart::Plugins, &GraphFilter::default());
    let share = share(standings, position);
    let entries: Vec<EntrantResults<'_>> = entries.into_iter().map(|entry| entry.shared_by(share)).collect();
    let files = submission.files.iter().map(|file| one_line(file, NAME)).collect();
    let origin = Origin { version: env!("CARGO_PKG_VERSION").to_owned(), files };
    let Page { lead: of_results, mut sections, footer, .. } = report(&contests(&entries), &origin);
    // After how to read the page.
    sections.insert(1.min(sections.len()), Section::new("standing", "On the board", standing(standings, position)));
    sections.push(Section::new("made", "What was measured", made(submission)));
    Page {
        title: "A submission".into(),
        lead: html! { (lead(board, submission)) (of_results) },
        sections,
        footer: html! { p { a href="../index.html" { "The board" } } (footer) },
    }
}

/// How many submissions of its author share the errors of a submission.
fn share(standings: &Standings, position: usize) -> u32 {
    let counts = standings.places(position).map(|(_, row, _)| u32::try_from(row.submissions()).unwrap_or(u32::MAX));
    counts.max().unwrap_or(1)
}

fn lead(board: &Board, submission: &Submission) -> Markup {
    html! {
        @if let Some(text) = super::warning(board) { p.bad { strong { (text) } } }
        p {
            strong { (untrusted(&submission.plugin, NAME)) } " of " (untrusted(&submission.author, NAME)) ", measured and signed by "
            (untrusted(&submission.signer, NAME)) ", last at " (time_text(submission.signed_at)) "."
        }
        p {
            "The signatures fit, no job was met before, and all scores follow from the recorded trials. A key proves who measured, \
             and not that it is true: " code { "passhost verify FILE --trusted-keys KEYS --sample DIR --replay" } " judges it again."
        }
    }
}

/// Where it stands, and what it scores there.
fn standing(standings: &Standings, position: usize) -> Markup {
    let found: Vec<_> = standings.places(position).collect();
    let what = |row: &RankingRow| match row.best.submission == position {
        true => "the author's best",
        false => super::SUPERSEDED,
    };
    html! {
        @if found.is_empty() { p { "It is in no ranking." } }
        @for (ranking, row, Scored { score, .. }) in found {
            h3 { (super::title(ranking)) }
            p {
                "Place " (row.place) " (" (what(row)) "): " (super::headline(ranking)) " " (number::score(score.headline))
                @if let Some(interval) = score.interval { " [" (number::interval(interval.low, interval.high)) "]" }
                ", " (number::percent(score.part.right_share())) " of " (number::counted(score.part.scored, "graph")) " right."
            }
        }
        @for unranked in standings.unranked.iter().filter(|unranked| unranked.submission == position) {
            p.bad { (untrusted(&unranked.reason.to_string(), 600)) }
        }
    }
}

fn made(submission: &Submission) -> Markup {
    let first = submission.results.first().map(|result| &result.document);
    let device = submission.results.iter().find_map(|result| result.document.job.device.as_ref());
    html! {
        ul {
            li { (submission.batch) }
            @for file in &submission.files { li { "file " (untrusted(file, NAME)) } }
            li { "plugin, SHA-256 " code { (untrusted(&submission.plugin_sha256, 64)) } }
            @if let Some(device) = device {
                li { "device " (untrusted(&device.name, NAME)) ", " (device.threads) " threads, torch " (untrusted(&device.torch, NAME)) }
            }
            @if let Some(document) = first {
                li { "policy " (untrusted(document.policy.name(), NAME)) ", SHA-256 " code { (untrusted(document.policy.sha256(), 64)) } }
                li { "budget " (number::grouped(document.limits.measurement.budget_ms)) " ms a graph" }
            }
            @for result in &submission.results {
                li { "sample " (untrusted(&result.document.job.sample, NAME)) ", SHA-256 " code { (untrusted(&result.document.job.sample_sha256, 64)) } }
            }
        }
    }
}
