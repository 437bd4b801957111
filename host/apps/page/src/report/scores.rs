//! Scores with their intervals, and how they come about.

use super::{headline, is_captured, legend, named};
use crate::{
    Cell, Chart, ChartAxis, Column, Curve, Figure, Markup, Ruler, Scale, Series, StripMark, Table, html, number,
};
use passhost_report::{ClockScores, Contest, ContestEntrant, FloorShare};
use passhost_result::Headline;
use passhost_score::Interval;

/// Shares of the graphs at which the speedup is named.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];
/// Speedups of which it is said how many graphs reach them.
const REACHED: [f64; 4] = [1.0, 1.5, 2.0, 4.0];
/// In place of what a document does not have.
const NOT_RECORDED: &str = "not recorded";

pub(super) fn scores(contest: &Contest<'_>, at: usize) -> Markup {
    let ruler = ruler(contest);
    let caption = html! {
            "Scores on the " (number::counted(contest.contenders.first().map_or(0, |one| one.shared.graphs), "graph"))
            " that all were tried on; intervals say what measuring the same graphs again would give. "
            (headline(contest)) " is what ranks. " (over_device_time(contest)) "The strip has " (headline(contest)) " with its interval, its line is eager."
    };
    let entrants = contest.contenders.iter().enumerate();
    let strength = contest.contenders.first().and_then(|one| one.shared.strength.as_ref());
    let strength =
        html! { @if let Some(strength) = strength { p { "Strength of the check: " (strength.to_string()) "." } } };
    let table = Table::of(format!("scores-{at}"), caption, entrants, |(series, one)| row(contest, series, one, &ruler))
        .markup();
    html! { (table) (strength) }
}

/// On which graphs device times are known, where these are not all.
fn over_device_time(contest: &Contest<'_>) -> Markup {
    let less =
        |one: &ContestEntrant| one.device.as_ref().map(|device| device.graphs).filter(|of| *of < one.shared.graphs);
    html! {
        @if let Some(graphs) = contest.contenders.iter().find_map(less) {
            "AS over device time is of the " (number::counted(graphs, "graph")) " whose device time is known with all. "
        }
    }
}

/// A scale for the headline scores of all.
fn ruler(contest: &Contest<'_>) -> Ruler {
    let ends = contest.contenders.iter().filter_map(|one| {
        let (value, interval) = one.shared.wall.as_ref()?.headline(contest.conditions.headline);
        Some(interval.map_or([value, value], |interval| [interval.low, interval.high]))
    });
    Ruler { scale: Scale::Logarithmic, range: ChartAxis::around("", ends.flatten()).range }
}

/// Whether AS forgives somebody an error, so that AS strict is another number.
fn forgives(contest: &Contest<'_>) -> bool {
    let walls = contest.contenders.iter().filter_map(|one| one.shared.wall.as_ref());
    let scores = |wall: &ClockScores| [wall.aggregate_score, wall.aggregate_score_strict].map(number::score);
    walls.map(scores).any(|[published, strict]| published != strict)
}

fn row(contest: &Contest<'_>, series: usize, one: &ContestEntrant, ruler: &Ruler) -> Vec<(Column, Cell)> {
    let (wall, device) = (one.shared.wall.as_ref(), one.device.as_ref().map(|device| &device.scores));
    let by = |scores: Option<&ClockScores>, headline| with_interval(scores.map(|scores| scores.headline(headline)));
    let mut marks = vec![StripMark::Rule(1.0)];
    if let Some((value, interval)) = wall.map(|wall| wall.headline(contest.conditions.headline)) {
        marks.extend(interval.map(|Interval { low, high }| StripMark::Span(low, high, Series(series))));
        marks.push(StripMark::Point(value, Series(series)));
    }
    let all = &one.summary.all;
    let no_time = || Cell::maybe(None, number::score);
    let device = if one.speedups.is_empty() { no_time() } else { by(device, Headline::Published) };
    let mut scores = vec![
        (Column::measured("AS", "95% interval"), by(wall, Headline::Published)),
        (Column::pictures(headline(contest), "log scale"), Cell::text(ruler.strip(&marks))),
        (Column::measured("AS strict", "95% interval"), by(wall, Headline::Strict)),
    ];
    if forgives(contest) {
        scores.rotate_right(1);
    }
    let mut cells = vec![
        (Column::text("plugin or baseline"), Cell::name(named(series, one))),
        (Column::measured("right", "at t\u{a0}=\u{a0}−5"), Cell::of(one.shared.right_share(), number::percent)),
    ];
    cells.extend(scores);
    cells.push((Column::measured("AS over device time", "95% interval"), device));
    if !is_captured(contest) {
        cells.push((Column::measured("reference over time", "end to end"), share(one, one.light.wall)));
    }
    cells.push((Column::measured("speed of light", "device time"), share(one, one.light.device)));
    let is_other = all.scored != one.shared.graphs || contest.contenders.iter().any(|one| one.is_baseline);
    let of_all = all.wall.as_ref().filter(|_| is_other).map(|wall| wall.aggregate_score);
    let text = |score| format!("{} of {}", number::score(score), all.scored);
    cells.push((Column::measured("AS of all its graphs", "against its own eager"), Cell::maybe(of_all, text)));
    cells
}

/// A score with its interval, or that it is not recorded.
fn with_interval(score: Option<(f64, Option<Interval>)>) -> Cell {
    let Some((value, interval)) = score else { return Cell::absent(NOT_RECORDED) };
    let interval = interval.map(|Interval { low, high }| number::interval(low, high));
    Cell::keyed(
        html! { (number::score(value)) " " span.unit { @if let Some(interval) = interval { (interval) } } },
        value,
    )
}

/// A share of the floor and over how many graphs it is, or that it is not recorded; where nothing is right there is none.
pub(super) fn share(one: &ContestEntrant, share: Option<FloorShare>) -> Cell {
    match share {
        Some(share) => Cell::keyed(
            html! { (number::percent(share.mean)) " " span.unit { "over " (number::counted(share.graphs, "graph")) } },
            share.mean,
        ),
        None if one.shared.right == 0 => Cell::maybe(None, number::percent),
        None => Cell::absent(NOT_RECORDED),
    }
}

pub(super) fn by_tolerance(contest: &Contest<'_>, at: usize) -> Markup {
    let scored: Vec<(usize, &ContestEntrant, &ClockScores)> = contest
        .contenders
        .iter()
        .enumerate()
        .filter_map(|(series, one)| Some((series, one, one.shared.wall.as_ref()?)))
        .collect();
    let Some((_, _, first)) = scored.first() else { return html! { p { "Nothing was measured." } } };
    let tolerances: Vec<i8> = first.es.keys().copied().collect();
    let curve = |(series, _, wall): &(usize, &ContestEntrant, &ClockScores)| Curve {
        series: Series(*series),
        points: wall.es.iter().map(|(t, es)| (f64::from(*t), *es)).collect(),
        band: wall.es_intervals.iter().map(|(t, interval)| (f64::from(*t), interval.low, interval.high)).collect(),
        is_marked: true,
    };
    let ends =
        tolerances.first().zip(tolerances.last()).map_or((0.0, 1.0), |(low, high)| (f64::from(*low), f64::from(*high)));
    let bounds =
        |wall: &ClockScores| wall.es_intervals.values().flat_map(|one| [one.low, one.high]).collect::<Vec<f64>>();
    let values = scored.iter().flat_map(|(_, _, wall)| bounds(wall).into_iter().chain(wall.es.values().copied()));
    let chart = Chart {
        x: ChartAxis {
            label: "t: errors up to this tolerance are forgiven; −5 is the default of torch.testing".into(),
            scale: Scale::Linear,
            range: ends,
            ticks: tolerances.iter().map(|t| f64::from(*t)).collect(),
        },
        y: ChartAxis::around("ES(t), times eager (log)", values),
        curves: scored.iter().rev().map(curve).collect(),
        rules_x: vec![-5.0],
        rules_y: vec![1.0],
    };
    let numbers = Table::of(
        format!("tolerance-numbers-{at}"),
        html! { "ES(t), times as fast as eager" },
        &scored,
        |(series, one, wall)| {
            let es =
                |t: &i8| (Column::number(&format!("t = {t}")), Cell::maybe(wall.es.get(t).copied(), number::score));
            let name = (Column::text("plugin or baseline"), Cell::name(named(*series, one)));
            std::iter::once(name).chain(tolerances.iter().map(es)).collect()
        },
    );
    Figure {
        id: format!("tolerance-figure-{at}"),
        title: "ES(t), the speedup with errors forgiven step by step.".into(),
        description: format!(
            "A graph that is not right within t counts as {} times eager's speed; from t = 0 on failures are forgiven as well. \
             What rises late is wrong, or fails. Shaded: 95% intervals. The line at 1 is eager.",
            contest.conditions.options.b
        ),
        shapes: chart.shapes(),
        legend: legend(contest),
        numbers,
    }
    .markup()
}

pub(super) fn distribution(contest: &Contest<'_>, at: usize) -> Markup {
    let curve = |(series, one): (usize, &ContestEntrant)| {
        let graphs = one.shared.graphs.max(1) as f64;
        let fastest_first = one.speedups.iter().rev().enumerate();
        let points = fastest_first.flat_map(|(rank, speedup)| {
            let share = |rank: usize| 100.0 * rank as f64 / graphs;
            [(share(rank), *speedup), (share(rank + 1), *speedup)]
        });
        Curve { series: Series(series), points: points.collect(), band: vec![], is_marked: false }
    };
    let chart = Chart {
        x: ChartAxis {
            label: "graphs, %, from the fastest to the slowest of each".into(),
            scale: Scale::Linear,
            range: (0.0, 100.0),
            ticks: (0..=10).map(|tenth| f64::from(tenth) * 10.0).collect(),
        },
        y: ChartAxis::around(
            "speedup, times eager (log)",
            contest.contenders.iter().flat_map(|one| one.speedups.iter().copied()),
        ),
        curves: contest.contenders.iter().enumerate().map(curve).rev().collect(),
        rules_x: vec![],
        rules_y: vec![1.0],
    };
    Figure {
        id: format!("distribution-figure-{at}"),
        title: "Speedups of the graphs that are right, sorted.".into(),
        description: "Each curve ends where the right graphs of its plugin end: what is missing to 100% does not count. Where it \
                      crosses 1, eager is as fast."
            .into(),
        shapes: chart.shapes(),
        legend: legend(contest),
        numbers: quantiles(contest, at),
    }
    .markup()
}

/// How many graphs reach which speedup, and the speedups that shares of the graphs reach.
fn quantiles(contest: &Contest<'_>, at: usize) -> Table {
    let caption = html! {
        "fast_p: the share of graphs that are right and more than p times as fast as eager; and the speedup that a share of the \
         graphs reaches"
    };
    Table::of(format!("distribution-numbers-{at}"), caption, contest.contenders.iter().enumerate(), |(series, one)| {
        let graphs = one.shared.graphs.max(1);
        let reach = |least: f64| {
            let reached = one.speedups.iter().filter(|speedup| **speedup > least).count() as f64 / graphs as f64;
            let column = Column::measured(&format!("fast_{least}"), "share of graphs");
            (column, Cell::of(reached, number::percent))
        };
        // The graph that so many are at least as fast as, where so many are right.
        let at_share = |share: f64| {
            let rank = (share * graphs as f64).ceil() as usize;
            let speedup = one.speedups.iter().rev().nth(rank.max(1) - 1).copied();
            (Column::measured(&number::percent(share), "reach at least"), Cell::maybe(speedup, number::score))
        };
        let name = (Column::text("plugin or baseline"), Cell::name(named(series, one)));
        std::iter::once(name).chain(REACHED.map(reach)).chain(SHARES.map(at_share)).collect()
    })
}
