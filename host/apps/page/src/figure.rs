//! Figures: a picture, what it shows in words, and its numbers as a table.

use crate::table::Table;
use maud::{Markup, html};

/// A figure of a page.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Tells it from the other figures of the page; it is ours, in lower case without spaces.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it, and what can be seen in it.
    pub description: String,
    /// The shapes: what [`crate::Chart::shapes`] gives, for a picture of `WIDTH` by `HEIGHT`.
    pub shapes: Markup,
    /// Which colour is what.
    pub legend: Markup,
    /// The same in numbers.
    pub numbers: Table,
}

/// Units of a picture from left to right: two for each pixel at the size in which it is shown.
pub(crate) const WIDTH: u32 = 1360;
/// Units from top to bottom.
pub(crate) const HEIGHT: u32 = 620;

impl Figure {
    /// The figure.
    pub fn markup(&self) -> Markup {
        let (title, description) = (format!("{}-title", self.id), format!("{}-description", self.id));
        html! {
            figure id=(self.id) {
                figcaption {
                    strong { (self.title) } " " (self.description)
                    div.legend { (self.legend) }
                }
                p.hint hidden { "Scroll sideways for all of it →" }
                div.scroll role="region" aria-label=(self.title) tabindex="0" {
                    svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-labelledby={ (title) " " (description) }
                        xmlns="http://www.w3.org/2000/svg" {
                        title id=(title) { (self.title) }
                        desc id=(description) { (self.description) }
                        (self.shapes)
                    }
                }
                details { summary { "The numbers of this figure" } (self.numbers.markup()) }
            }
        }
    }
}
