//! Every graph with its times.

use super::{NAME, SENTENCE, graph_name, legend};
use crate::{Cell, ChartAxis, Column, Markup, Ruler, Scale, Series, StripMark, Table, html, number, untrusted};
use passhost_report::{Contest, ContestRow};
use std::collections::HashMap;

pub(super) fn graphs(contest: &Contest<'_>, at: usize) -> Markup {
    let ruler = ruler(contest);
    let caption = html! {
        "By wall clock: for each plugin how many times as fast as eager, with the eager that it is against and its own time; \
         where the graph does not count, why. The strip has a line for eager, one for the reference time where there is one, and \
         for each plugin a point, or a red cross where the graph does not count: further right is faster."
    };
    let table =
        Table::of(format!("graphs-{at}"), caption, in_order(contest), |(one, is_only)| row(one, is_only, &ruler));
    html! { div.legend { (legend(contest)) } (table.filtered(Some("Show graphs with")).markup()) }
}

/// Graphs that all were tried on before others, and whether each is the only one of its sample.
fn in_order<'c, 'a>(contest: &'c Contest<'a>) -> Vec<(&'c ContestRow<'a>, bool)> {
    let mut of_sample: HashMap<&str, usize> = HashMap::new();
    contest.rows.iter().for_each(|row| *of_sample.entry(row.sample_key).or_default() += 1);
    let mut rows: Vec<_> = contest.rows.iter().map(|row| (row, of_sample[row.sample_key] == 1)).collect();
    rows.sort_by_key(|(row, _)| !row.is_shared);
    rows
}

/// A scale for speedups.
fn ruler(contest: &Contest<'_>) -> Ruler {
    let references = contest.rows.iter().filter_map(|row| Some(row.eager_us? / row.floor?.wall_us?));
    let cells = contest.rows.iter().flat_map(|row| &row.cells).flatten();
    let speedups = cells.filter_map(|cell| cell.speedup);
    Ruler { scale: Scale::Logarithmic, range: ChartAxis::around("", references.chain(speedups)).range }
}

fn row(row: &ContestRow<'_>, is_only: bool, ruler: &Ruler) -> Vec<(Column, Cell)> {
    let reference = row.floor.and_then(|floor| floor.wall_us);
    let bytes = row.bytes.map(|bytes| bytes as f64);
    let mut marks: Vec<StripMark> = vec![StripMark::Rule(1.0)];
    marks.extend(reference.zip(row.eager_us).map(|(reference, eager)| StripMark::Rule(eager / reference)));
    for (series, cell) in row.cells.iter().enumerate() {
        let speedup = cell.as_ref().and_then(|cell| cell.speedup);
        let is_right = cell.as_ref().is_some_and(|cell| cell.is_right);
        let mark = |at| if is_right { StripMark::Point(at, Series(series)) } else { StripMark::Wrong(at) };
        marks.extend(speedup.map(mark));
    }
    let element_type = row.element_type.map(|name| Cell::text(untrusted(name, NAME)));
    let element_type = element_type.unwrap_or_else(|| Cell::absent("not recorded"));
    let mut cells = vec![
        (Column::text("graph"), Cell::name(graph_name(&row.place, is_only))),
        (Column::text("type"), element_type),
        (Column::measured("size", "in + out"), Cell::maybe(bytes, |bytes| number::bytes(bytes as u64))),
        (Column::measured("reference time", "µs"), Cell::maybe(reference, number::microseconds)),
        (Column::pictures("speedup", "log scale"), Cell::text(ruler.strip(&marks))),
    ];
    let none = || Cell::keyed(html! { span.muted { "no result" } }, f64::NAN);
    cells.extend(row.cells.iter().enumerate().map(|(series, cell)| {
        let column = Column::of_series(Series(series), " × eager", "eager → own, µs");
        (column, cell.as_ref().map_or_else(none, of_entrant))
    }));
    cells
}

fn of_entrant(cell: &passhost_report::ContestCell<'_>) -> Cell {
    // Eager as the speedup is against it: another plugin's may have been slower.
    let times = cell.speedup.zip(cell.timing).map(|(speedup, timing)| {
        [speedup * timing.rewritten_us, timing.rewritten_us].map(number::microseconds).join(" → ")
    });
    let is_named = !cell.is_right || cell.end != "right";
    let content = html! {
        @if let Some(speedup) = cell.speedup {
            (number::score(speedup)) " " span.unit { (times.unwrap_or_default()) }
            @if is_named { br; }
        }
        @if is_named { span.bad { (untrusted(&cell.end.replace("pass miss", "unchanged"), SENTENCE)) } }
    };
    // One that does not count is not sorted among those that do.
    Cell::keyed(content, cell.speedup.filter(|_| cell.is_right).unwrap_or(f64::NAN))
}
