//! What every HTML page of passhost is made of. A page is one file: style and script stand in it, it asks for nothing, and
//! its [`Page::render`] writes a Content-Security-Policy under which a browser runs nothing but our script and loads nothing
//! at all.
//!
//! ```
//! use passhost_page::{Cell, Column, Page, Section, Table, html, number, untrusted};
//!
//! let rows = vec![vec![Cell::name(untrusted("<script>", 60)), Cell::of(1.25, number::score)]];
//! let columns = vec![Column::text("plugin"), Column::number("AS")];
//! let table = Table::new("plugins", html! { "Plugins, best first" }, columns, rows).filtered(Some("Show plugins with"));
//! let page = Page {
//!     title: "Leaderboard".into(),
//!     lead: html! { p { "Who is fastest." } },
//!     sections: vec![Section::new("standing", "Standing", table.markup())],
//!     footer: html! {},
//! };
//! assert!(page.render().contains("&lt;script&gt;"));
//! ```
//!
//! # What a page may hold
//!
//! - Everything that is interpolated in [`html!`] is escaped. Text that a plugin, a sample or a file wrote goes through
//!   [`untrusted`] or [`untrusted_lines`] besides, which take away what a browser does not escape but would act on: control
//!   characters, terminal escapes and marks of direction. Nothing of it is ever an attribute's name, an `id` or an address.
//! - No `style` attribute and no `on...` attribute: the policy would not let them work. Classes of `style.css` it is, and
//!   [`Series`] for what is told apart by colour.
//! - A page is whole without its script, which adds sorting and filtering to what is there.
//! - Whatever a colour says is said by a number or a word as well.

mod chart;
mod figure;
mod layout;
pub mod number;
mod policy;
pub mod report;
mod series;
mod strip;
mod table;
mod text;

pub use chart::{Chart, ChartAxis, Curve, Scale};
pub use figure::Figure;
pub use layout::{Page, Section};
pub use maud::{Markup, PreEscaped, html};
pub use series::{SERIES, Series};
pub use strip::{Ruler, StripMark};
pub use table::{Cell, Column, Content, Table, TableRow};
pub use text::{untrusted, untrusted_lines};
