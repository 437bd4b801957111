//! What is told apart by colour, and by more than colour.

use maud::{Markup, html};

/// Colours that are told apart, also by those who see few. What comes after them begins anew.
pub const SERIES: usize = 8;

/// One of several things that a page shows side by side, from 0. It has a number, which stands beside its colour wherever
/// that is used, and, as a curve, dashes of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series(pub usize);

impl Series {
    /// The number that a reader sees, from 1.
    pub fn number(self) -> usize {
        self.0 + 1
    }

    /// The class that gives an element of the page its colour, as `color`.
    pub fn class(self) -> String {
        format!("series-{}", self.0 % SERIES + 1)
    }

    /// Its number in its colour.
    pub fn badge(self) -> Markup {
        html! { span.badge.(self.class()) { (self.number()) } }
    }

    /// The colour in a figure: a placeholder that `style.css` replaces by that of the series, so that it follows dark and
    /// print styles.
    pub(crate) fn placeholder(self) -> plotters::style::RGBColor {
        plotters::style::RGBColor(0, 1, (self.0 % SERIES + 1) as u8)
    }
}
