//! Small pictures that stand in the cells of a table, all on one scale.

use crate::chart::Scale;
use crate::series::Series;
use maud::{Markup, html};

/// Units from left to right, and from top to bottom.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 20.0;

/// A scale that several strips have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ruler {
    /// How values become places.
    pub scale: Scale,
    /// The ends; what is beyond stands at the end.
    pub range: (f64, f64),
}

/// What a strip shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StripMark {
    /// A thin line across, such as at a ratio of 1.
    Rule(f64),
    /// A line from one value to another in the colour of a series.
    Span(f64, f64, Series),
    /// A point in the colour of a series.
    Point(f64, Series),
    /// A cross, of what does not count.
    Wrong(f64),
}

impl Ruler {
    /// A strip with marks. It says nothing that the table does not say in numbers, so that who cannot see it misses nothing.
    pub fn strip(&self, marks: &[StripMark]) -> Markup {
        let x = |value: f64| format!("{:.1}", self.position(value));
        let middle = HEIGHT / 2.0;
        html! {
            svg.strip viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" {
                @for mark in marks {
                    @match *mark {
                        StripMark::Rule(at) => line.rule x1=(x(at)) x2=(x(at)) y1="0" y2=(HEIGHT) {},
                        StripMark::Span(low, high, series) => {
                            line.(series.class()) x1=(x(low)) x2=(x(high)) y1=(middle) y2=(middle) {}
                        },
                        StripMark::Point(at, series) => circle.(series.class()) cx=(x(at)) cy=(middle) r="4.5" {},
                        StripMark::Wrong(at) => path.wrong d={ "M" (x(at)) " " (middle) "m-5-5 10 10m0-10-10 10" } {},
                    }
                }
            }
        }
    }

    fn position(&self, value: f64) -> f64 {
        let [low, high, at] = [self.range.0, self.range.1, value].map(|value| self.scale.place(value));
        let share = (at - low) / (high - low);
        6.0 + (WIDTH - 12.0) * if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_where_their_values_are_and_never_outside() {
        let ruler = Ruler { scale: Scale::Logarithmic, range: (0.1, 10.0) };
        let places = [0.1, 1.0, 10.0, 1e9, f64::NAN].map(|value| ruler.position(value));
        assert_eq!(places.map(f64::round), [6.0, 120.0, 234.0, 234.0, 6.0]);
        let strip = ruler.strip(&[StripMark::Rule(1.0), StripMark::Point(10.0, Series(0)), StripMark::Wrong(0.1)]);
        let strip = strip.into_string();
        assert!(strip.contains(r#"<line class="rule" x1="120.0""#), "{strip}");
        assert!(strip.contains(r#"<circle class="series-1" cx="234.0""#), "{strip}");
        assert!(strip.contains(r#"<path class="wrong" d="M6.0 10m-5-5 10 10m0-10-10 10""#), "{strip}");
    }
}
