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
        @for breakdown in &contest.breakdowns { (table(contest, breakdown, at)) }
        @if !has_ops {
            p { "By op: not recorded. These documents were made before graphs were kept in them; "
                code { "passhost samples stats" } " counts the ops of samples." }
        }
    }
}

fn table(contest: &Contest<'_>, breakdown: &Breakdown, at: usize) -> Markup {
    let heading = |series: usize| Column::of_series(Series(series), " AS", "right");
    let rows: Vec<Vec<Cell>> = breakdown.rows.iter().take(OPS).map(row).collect();
    let filter = (rows.len() > MANY).then_some("Show rows with");
    let mut columns = vec![Column::text(breakdown.by), Column::number("graphs")];
    columns.extend((0..contest.contenders.len()).map(heading));
    let left_out = breakdown.rows.len().saturating_sub(OPS);
    Table::new(
        format!("by-{}-{at}", breakdown.by.replace(' ', "-")),
        html! {
            "By " (breakdown.by)
            @if breakdown.by == "op" { ": graphs that call it; a graph counts in the row of each of its ops" }
            @if left_out > 0 { "; the " (left_out) " least frequent are left out" }
        },
        columns,
        rows,
    )
    .filtered(filter)
    .markup()
}

fn row(row: &BreakdownRow) -> Vec<Cell> {
    let cells = row.parts.iter().map(|part| match &part.wall {
        Some(wall) => Cell::keyed(
            html! { (number::score(wall.aggregate_score)) " " span.unit { (number::percent(part.right_share())) } },
            wall.aggregate_score,
        ),
        None => Cell::maybe(None, number::score),
    });
    [Cell::name(untrusted(&row.name, NAME)), Cell::of(row.graphs as f64, |count| number::grouped(count as u64))]
        .into_iter()
        .chain(cells)
        .collect()
}
