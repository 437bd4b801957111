//! Charts, drawn by plotters. No text of others comes into them: curves have numbers, which the page explains.

use crate::figure::{HEIGHT, WIDTH};
use crate::series::Series;
use maud::{Markup, PreEscaped};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// Placeholders that `style.css` replaces.
const INK: RGBColor = RGBColor(0, 0, 0);
const RULE: RGBColor = RGBColor(0, 2, 0);
/// Height of letters.
const LETTERS: u32 = 25;
/// Room on the right for the numbers of curves.
const NUMBERS: u32 = 56;
/// Least distance of these from each other.
const APART: i32 = 27;

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart. Values are positive.
    Logarithmic,
}

impl Scale {
    /// A value as a place on the axis.
    pub fn place(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Logarithmic => value.max(f64::MIN_POSITIVE).ln(),
        }
    }
}

/// An axis.
#[derive(Debug, Clone)]
pub struct ChartAxis {
    /// What it measures, with its unit.
    pub label: String,
    /// How values become places.
    pub scale: Scale,
    /// The ends.
    pub range: (f64, f64),
    /// Values that are named.
    pub ticks: Vec<f64>,
}

impl ChartAxis {
    /// A logarithmic axis around values, whose ticks are 1, 2 and 5 times powers of ten.
    pub fn around(label: &str, values: impl IntoIterator<Item = f64>) -> ChartAxis {
        let finite = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = finite.fold((1.0_f64, 1.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let range = (low / 1.08, high * 1.08);
        let steps = (-9..=9).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(power)));
        let ticks = steps.filter(|tick| (range.0..=range.1).contains(tick)).collect();
        ChartAxis { label: label.to_owned(), scale: Scale::Logarithmic, range, ticks }
    }
}

/// The axis as plotters has it, in places.
impl Ranged for ChartAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (from, to): (i32, i32)) -> i32 {
        let Range { start, end } = self.range();
        let share = (place - start) / (end - start);
        from + (f64::from(to - from) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.iter().map(|tick| self.scale.place(*tick)).collect()
    }

    fn range(&self) -> Range<f64> {
        self.scale.place(self.range.0)..self.scale.place(self.range.1)
    }
}

impl ValueFormatter<f64> for ChartAxis {
    fn format_ext(&self, place: &f64) -> String {
        let value = match self.scale {
            Scale::Linear => *place,
            Scale::Logarithmic => place.exp(),
        };
        let rounded = (value * 1e4).round() / 1e4;
        if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
    }
}

/// A curve.
#[derive(Debug, Clone)]
pub struct Curve {
    /// Whose it is.
    pub series: Series,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// What it may be as well, around it: x, the lower and the upper end.
    pub band: Vec<(f64, f64, f64)>,
    /// Whether points are marked, because nothing is between them.
    pub is_marked: bool,
}

/// Curves over one axis.
#[derive(Debug, Clone)]
pub struct Chart {
    /// From left to right.
    pub x: ChartAxis,
    /// From bottom to top.
    pub y: ChartAxis,
    /// What is drawn, the last on top.
    pub curves: Vec<Curve>,
    /// Values of x at which a line stands.
    pub rules_x: Vec<f64>,
    /// Values of y at which one stands.
    pub rules_y: Vec<f64>,
}

type Plane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<ChartAxis, ChartAxis>>;
type DrawResult = Result<(), DrawingAreaErrorKind<std::io::Error>>;

impl Chart {
    /// The chart's shapes, for a [`crate::Figure`].
    pub fn shapes(&self) -> Markup {
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
        // Into a text everything can be drawn: an error is a chart without room, of which what is there is shown.
        let _ = self.draw(&area).and_then(|()| area.present());
        drop(area);
        let inside = text.split_once('>').map_or("", |(_, inside)| inside);
        PreEscaped(inside.trim_end().trim_end_matches("</svg>").to_owned())
    }

    fn draw(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> DrawResult {
        let mut plane = ChartBuilder::on(area)
            .margin_top(12)
            .margin_right(NUMBERS)
            .x_label_area_size(76)
            .y_label_area_size(96)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        let letters = ("sans-serif", LETTERS).into_font().color(&INK);
        plane
            .configure_mesh()
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .label_style(letters.clone())
            .axis_desc_style(letters)
            .axis_style(INK)
            .bold_line_style(RULE)
            .light_line_style(TRANSPARENT)
            .draw()?;
        self.draw_rules(&mut plane)?;
        for curve in &self.curves {
            self.draw_curve(curve, &mut plane)?;
        }
        self.draw_numbers(area, &plane)
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (low, high) = self.y.range;
        (self.x.scale.place(x), self.y.scale.place(y.clamp(low, high)))
    }

    fn draw_rules(&self, plane: &mut Plane<'_, '_>) -> DrawResult {
        let style = INK.stroke_width(2);
        let ((left, right), (low, high)) = (self.x.range, self.y.range);
        for &x in &self.rules_x {
            plane.draw_series(LineSeries::new([self.at(x, low), self.at(x, high)], style))?;
        }
        for &y in &self.rules_y {
            plane.draw_series(LineSeries::new([self.at(left, y), self.at(right, y)], style))?;
        }
        Ok(())
    }

    fn draw_curve(&self, curve: &Curve, plane: &mut Plane<'_, '_>) -> DrawResult {
        let color = curve.series.placeholder();
        let lower = curve.band.iter().map(|&(x, low, _)| self.at(x, low));
        let upper = curve.band.iter().rev().map(|&(x, _, high)| self.at(x, high));
        let outline: Vec<(f64, f64)> = lower.chain(upper).collect();
        if !outline.is_empty() {
            plane.draw_series([Polygon::new(outline, color.mix(0.13))])?;
        }
        let points: Vec<(f64, f64)> = curve.points.iter().map(|&(x, y)| self.at(x, y)).collect();
        plane.draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(4)))?;
        if curve.is_marked {
            plane.draw_series(points.iter().map(|&point| Circle::new(point, 5, color.filled())))?;
        }
        Ok(())
    }

    /// The number of each curve, beside where it ends, pushed down where another is in the way.
    fn draw_numbers(&self, area: &DrawingArea<SVGBackend<'_>, Shift>, plane: &Plane<'_, '_>) -> DrawResult {
        let end = |curve: &Curve| {
            let &(x, y) = curve.points.last()?;
            Some((plane.backend_coord(&self.at(x, y)), curve.series))
        };
        let mut ends: Vec<((i32, i32), Series)> = self.curves.iter().filter_map(end).collect();
        ends.sort_by_key(|((_, y), series)| (*y, *series));
        for at in 1..ends.len() {
            ends[at].0.1 = ends[at].0.1.max(ends[at - 1].0.1 + APART);
        }
        // Where the lowest would leave the picture, it moves up, and whatever is above it.
        let mut limit = HEIGHT as i32 - 80;
        for ((_, y), _) in ends.iter_mut().rev() {
            *y = (*y).min(limit);
            limit = *y - APART;
        }
        for ((x, y), series) in ends {
            let letters = ("sans-serif", LETTERS).into_font().style(FontStyle::Bold).color(&series.placeholder());
            let letters = letters.pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(series.number().to_string(), (x + 14, y), letters))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(curves: Vec<Curve>) -> Chart {
        let x = ChartAxis { label: "t".into(), scale: Scale::Linear, range: (-10.0, 4.0), ticks: vec![-10.0, 0.0] };
        Chart { x, y: ChartAxis::around("ES(t)", [0.5, 3.0]), curves, rules_x: vec![], rules_y: vec![1.0] }
    }

    #[test]
    fn a_curve_is_a_line_in_the_colour_of_its_series_with_its_number() {
        let curve = Curve {
            series: Series(1),
            points: vec![(-10.0, 0.5), (0.0, 2.0)],
            band: vec![(-10.0, 0.4, 0.6), (0.0, 1.9, 2.1)],
            is_marked: true,
        };
        let shapes = chart(vec![curve]).shapes().into_string();
        for part in ["<polyline", "stroke=\"#000102\"", "<polygon", "<circle", "\n2\n</text>", "\nES(t)\n"] {
            assert!(shapes.contains(part), "{part} in {shapes}");
        }
        assert!(!shapes.contains("svg"), "{shapes}");
    }

    #[test]
    fn a_chart_of_nothing_has_its_axes() {
        assert!(chart(vec![]).shapes().into_string().contains("\n-10\n"));
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ChartAxis::around("", [0.4, 12.0]).ticks, [0.5, 1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ChartAxis::around("", [f64::NAN, f64::INFINITY]).ticks, [1.0]);
    }
}
