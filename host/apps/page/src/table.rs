//! Tables that a reader can sort and filter.

use crate::number;
use crate::series::Series;
use maud::{Markup, html};

/// A table. Columns say how they are sorted; the script makes buttons of their headings.
#[derive(Debug, Clone)]
pub struct Table {
    /// Tells it from the other tables of the page; it is ours, in lower case without spaces.
    id: String,
    /// What the table shows.
    caption: Markup,
    /// One for each cell of a row.
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    /// What stands before the field that filters rows by text; `None` of tables that are short.
    filter: Option<&'static str>,
}

/// A row of a table, a cell for each column.
pub type TableRow = Vec<Cell>;

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    /// The heading.
    pub heading: Markup,
    /// The unit, where there is one.
    pub unit: &'static str,
    /// What its cells have.
    pub content: Content,
}

/// What the cells of a column have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Words.
    Words,
    /// Numbers, which stand on the right.
    Numbers,
    /// Pictures, which nobody can sort by.
    Pictures,
}

impl Content {
    fn class(self) -> Option<&'static str> {
        match self {
            Content::Words => None,
            Content::Numbers => Some("number"),
            Content::Pictures => Some("picture"),
        }
    }
}

impl Column {
    /// A column of words.
    pub fn text(heading: &str) -> Column {
        Column { heading: html! { (heading) }, unit: "", content: Content::Words }
    }

    /// A column of numbers of one of several things that are told apart by colour.
    pub fn of_series(series: Series, heading: &str, unit: &'static str) -> Column {
        Column { heading: html! { (series.badge()) (heading) }, unit, content: Content::Numbers }
    }

    /// A column of pictures.
    pub fn pictures(heading: &str, unit: &'static str) -> Column {
        Column { content: Content::Pictures, ..Column::measured(heading, unit) }
    }

    /// A column of numbers without a unit.
    pub fn number(heading: &str) -> Column {
        Column::measured(heading, "")
    }

    /// A column of numbers with a unit.
    pub fn measured(heading: &str, unit: &'static str) -> Column {
        Column { heading: html! { (heading) }, unit, content: Content::Numbers }
    }
}

/// A cell of a table.
#[derive(Debug, Clone)]
pub struct Cell {
    content: Markup,
    /// What the row is sorted by where it is not the text.
    key: Option<f64>,
    is_name: bool,
    /// Whether nothing is known of it: a column of such cells alone is left out.
    is_absent: bool,
}

impl Cell {
    /// The cell that names its row.
    pub fn name(content: Markup) -> Cell {
        Cell { content, key: None, is_name: true, is_absent: false }
    }

    /// Words, sorted as such.
    pub fn text(content: Markup) -> Cell {
        Cell { content, key: None, is_name: false, is_absent: false }
    }

    /// Anything, sorted by a number. Cells whose key is not finite come last.
    pub fn keyed(content: Markup, key: f64) -> Cell {
        Cell { content, key: Some(key), is_name: false, is_absent: false }
    }

    /// Words in place of what is not known.
    pub fn absent(words: &str) -> Cell {
        Cell { is_absent: true, ..Cell::keyed(html! { span.muted { (words) } }, f64::NAN) }
    }

    /// A number.
    pub fn of(value: f64, format: impl Fn(f64) -> String) -> Cell {
        Cell::keyed(html! { (format(value)) }, value)
    }

    /// A number, or a dash.
    pub fn maybe(value: Option<f64>, format: impl Fn(f64) -> String) -> Cell {
        value.map_or_else(|| Cell::absent(number::NONE), |value| Cell::of(value, format))
    }
}

impl Table {
    /// A table with a column for each cell of a row, but for those of which nothing is known in any row. The first cell of each
    /// row names it.
    pub fn new(id: impl Into<String>, caption: Markup, columns: Vec<Column>, rows: Vec<TableRow>) -> Table {
        let is_known = |at: usize| rows.iter().any(|row| row.get(at).is_some_and(|cell| !cell.is_absent));
        let known: Vec<bool> = (0..columns.len()).map(|at| rows.is_empty() || is_known(at)).collect();
        let columns = only(columns, &known);
        let rows = rows.into_iter().map(|row| only(row, &known)).collect();
        Table { id: id.into(), caption, columns, rows, filter: None }
    }

    /// A table with a row for each of these, each cell beside the column that it stands in.
    pub fn of<T>(
        id: impl Into<String>,
        caption: Markup,
        of: impl IntoIterator<Item = T>,
        row: impl Fn(T) -> Vec<(Column, Cell)>,
    ) -> Table {
        let mut columns = vec![];
        let rows = of.into_iter().map(|one| {
            let cells;
            (columns, cells) = row(one).into_iter().unzip();
            cells
        });
        let rows = rows.collect();
        Table::new(id, caption, columns, rows)
    }

    /// With a field that filters rows by text, and what stands before it; `None` of tables that are short.
    #[must_use]
    pub fn filtered(self, filter: Option<&'static str>) -> Table {
        Table { filter, ..self }
    }

    /// The table, in a frame of its own that scrolls where it is wider than the page.
    pub fn markup(&self) -> Markup {
        let caption = format!("{}-caption", self.id);
        html! {
            div.table {
                @if let Some(label) = self.filter {
                    p.filter hidden {
                        label { (label) " " input type="search" data-filters=(self.id) autocomplete="off" spellcheck="false"; }
                        " " span.count {}
                    }
                }
                p.hint hidden { "Scroll sideways for all columns →" }
                div.scroll role="region" aria-labelledby=(caption) tabindex="0" {
                    table id=(self.id) class=[(self.rows.len() > 1).then_some("sortable")] {
                        caption id=(caption) { span { (self.caption) } }
                        thead { tr { @for column in &self.columns { (heading(column)) } } }
                        tbody { @for row in &self.rows { tr { @for (cell, column) in row.iter().zip(&self.columns) {
                            (self::cell(cell, column))
                        } } } }
                    }
                }
            }
        }
    }
}

/// Those of some things that are to be kept.
fn only<T>(all: Vec<T>, kept: &[bool]) -> Vec<T> {
    all.into_iter().zip(kept).filter_map(|(one, kept)| kept.then_some(one)).collect()
}

fn heading(column: &Column) -> Markup {
    html! {
        th class=[column.content.class()] scope="col" {
            (column.heading)
            @if !column.unit.is_empty() { " " span.unit { (column.unit) } }
        }
    }
}

fn cell(cell: &Cell, column: &Column) -> Markup {
    let key = cell.key.map(|key| if key.is_finite() { key.to_string() } else { String::new() });
    html! {
        @if cell.is_name {
            th scope="row" data-key=[key] { (cell.content) }
        } @else {
            td class=[column.content.class()] data-key=[key] { (cell.content) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_which_nothing_is_known_is_left_out() {
        let row = |known: Option<f64>| {
            vec![Cell::name(html! { "a" }), Cell::absent("not recorded"), Cell::maybe(known, number::score)]
        };
        let columns = vec![Column::text("name"), Column::number("gone"), Column::number("stays")];
        let table =
            Table::new("one", html! {}, columns.clone(), vec![row(None), row(Some(2.0))]).markup().into_string();
        assert!(!table.contains("gone") && table.contains("stays") && table.contains("2.00"), "{table}");
        assert!(
            Table::new("none", html! {}, columns, vec![]).markup().into_string().contains("gone"),
            "no row says so"
        );
    }

    #[test]
    fn a_table_says_what_its_rows_and_columns_are() {
        let table = Table {
            id: "times".into(),
            caption: html! { "Times" },
            columns: vec![Column::text("graph"), Column::measured("eager", "µs"), Column::text("type")],
            rows: vec![vec![
                Cell::name(html! { "<a>" }),
                Cell::maybe(None, number::score),
                Cell::text(html! { "f32" }),
            ]],
            filter: Some("Show"),
        };
        let text = table.markup().into_string();
        for part in [
            r#"<caption id="times-caption"><span>Times</span></caption>"#,
            r#"<th class="number" scope="col">eager <span class="unit">µs</span></th>"#,
            r#"<th scope="row">&lt;a&gt;</th>"#,
            r#"<td class="number" data-key=""><span class="muted">–</span></td>"#,
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains(r#"class="""#), "{text}");
    }
}
