//! Scores by what graphs have in common.

use super::NAME;
use crate::{Cell, Column, Markup, Series, Table, html, number, untrusted};
use passhost_report::{Breakdown, BreakdownRow, Contest};

/// Ops that are shown, the most frequent.
const OPS: usize = 60;
/// Rows from which on a table can be filtered.
const MANY: usize = 15;

pub(super) fn breakdowns(contest: &Contest<'_>, at: usize) -> Markup {
    let has_ops = contest.breakdowns.iter().any(|breakdown| breakdown.by == "op");
    html! {
        p { "AS on the graphs that all were tried on, and in small the share of them that is right. Equal to the score above, but of fewer graphs." }
        @for breakdown in &contest.breakdowns { (table(breakdown, at)) }
        @if !has_ops {
            p { "By op: not recorded. These documents were made before graphs were kept in them; "
                code { "passhost samples stats" } " counts the ops of samples." }
        }
    }
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
    Table::of(id, caption, rows, |one| row(breakdown.by, one)).filtered(filter).markup()
}

fn row(by: &str, row: &BreakdownRow) -> Vec<(Column, Cell)> {
    let mut cells = vec![
        (Column::text(by), Cell::name(untrusted(&row.name, NAME))),
        (Column::number("graphs"), Cell::of(row.graphs as f64, |count| number::grouped(count as u64))),
    ];
    cells.extend(row.parts.iter().enumerate().map(|(series, part)| {
        let cell = match &part.wall {
            Some(wall) => Cell::keyed(
                html! { (number::score(wall.aggregate_score)) " " span.unit { (number::percent(part.right_share())) } },
                wall.aggregate_score,
            ),
            None => Cell::maybe(None, number::score),
        };
        (Column::of_series(Series(series), " AS", "right"), cell)
    }));
    cells
}
