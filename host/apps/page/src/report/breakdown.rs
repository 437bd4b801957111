//! Scores by what graphs have in common.

use super::{NAME, legend, named};
use crate::{Cell, Column, Markup, Series, Table, html, number, untrusted};
use passhost_report::{Breakdown, BreakdownRow, Contest};

/// Ops that are shown, the most frequent.
const OPS: usize = 60;
/// Rows from which on a table can be filtered.
const MANY: usize = 15;
/// The breakdown that has a section of its own.
const SAMPLE: &str = "sample";

pub(super) fn breakdowns(contest: &Contest<'_>, at: usize) -> Markup {
    html! {
        p { "AS on the graphs that all were tried on, and in small the share of them that is right. Equal to the score above, but of fewer graphs." }
        div.legend { (legend(contest)) }
        div.side {
            @for breakdown in contest.breakdowns.iter().filter(|breakdown| breakdown.by != SAMPLE) { (table(breakdown, at)) }
        }
    }
}

/// A row for each sample, where there are several, with the best of it marked.
pub(super) fn samples(contest: &Contest<'_>, at: usize) -> Markup {
    let by_sample = contest.breakdowns.iter().find(|breakdown| breakdown.by == SAMPLE);
    let Some(breakdown) = by_sample.filter(|breakdown| breakdown.rows.len() > 1) else { return html! {} };
    let caption = html! {
        "AS by sample, on the graphs that all were tried on, and in small the share of them that is right. "
        @if contest.contenders.len() > 1 { "★ stands at the highest score of a row, decided or not." }
    };
    let filter = (breakdown.rows.len() > MANY).then_some("Show samples with");
    let row = |row: &BreakdownRow| {
        let scores = row.parts.iter().map(|part| part.wall.as_ref().map(|wall| wall.aggregate_score));
        let best = best(&scores.collect::<Vec<Option<f64>>>());
        let mut cells = row_of(breakdown.by, row, best);
        for (column, one) in cells.iter_mut().skip(2).zip(contest.contenders.iter().enumerate()) {
            column.0.heading = named(one.0, one.1);
            column.0.unit = "AS, right";
        }
        cells
    };
    Table::of(format!("by-sample-{at}"), caption, &breakdown.rows, row).filtered(filter).markup()
}

/// Who has the highest score, if nobody shares it by the digits that are shown.
fn best(scores: &[Option<f64>]) -> Option<usize> {
    let known: Vec<(usize, f64)> = scores.iter().enumerate().filter_map(|(at, score)| Some((at, (*score)?))).collect();
    let (best, highest) = known.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let shared = known.iter().filter(|(_, score)| number::score(*score) == number::score(highest)).count();
    (shared == 1 && known.len() > 1).then_some(best)
}

fn table(breakdown: &Breakdown, at: usize) -> Markup {
    let left_out = breakdown.rows.len().saturating_sub(OPS);
    let caption = html! {
        "By " (breakdown.by)
        @if breakdown.by == "op" { ": graphs that call it; a graph counts in the row of each of its ops" }
        @if left_out > 0 { "; the " (left_out) " least frequent are left out" }
    };
    let rows = breakdown.rows.iter().take(OPS);
    let filter = (rows.len() > MANY).then_some("Show rows with");
    let id = format!("by-{}-{at}", breakdown.by.replace(' ', "-"));
    Table::of(id, caption, rows, |one| row_of(breakdown.by, one, None)).filtered(filter).markup()
}

/// The scores on some graphs, of which the `best` is marked.
fn row_of(by: &str, row: &BreakdownRow, best: Option<usize>) -> Vec<(Column, Cell)> {
    let mut cells = vec![
        (Column::text(by), Cell::name(untrusted(&row.name, NAME))),
        (Column::number("graphs"), Cell::of(row.graphs as f64, |count| number::grouped(count as u64))),
    ];
    cells.extend(row.parts.iter().enumerate().map(|(series, part)| {
        let cell = match &part.wall {
            Some(wall) => Cell::keyed(
                html! {
                    @if best == Some(series) { strong.good { "★ " (number::score(wall.aggregate_score)) } }
                    @else { (number::score(wall.aggregate_score)) }
                    " " span.unit { (number::percent(part.right_share())) }
                },
                wall.aggregate_score,
            ),
            None => Cell::keyed(html! { (number::NONE) }, f64::NAN),
        };
        (Column::of_series(Series(series), " AS", "right"), cell)
    }));
    cells
}

#[cfg(test)]
mod tests {
    use super::best;

    #[test]
    fn the_highest_score_is_best_unless_it_is_shared() {
        for (scores, expected) in [
            (&[Some(1.0), Some(2.0), None][..], Some(1)),
            (&[Some(2.001), Some(2.002)], None),
            (&[Some(2.0), None], None),
            (&[None], None),
        ] {
            assert_eq!(best(scores), expected, "{scores:?}");
        }
    }
}
