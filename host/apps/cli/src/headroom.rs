//! What holds the score of a plugin back, on the terminal.

use crate::summary::{name, short};
use crate::terminal::{Terminal, TitledCell, WIDE};
use passhost_report::{Clock, GraphTime, Headroom, MeanSpeedup, RightGraph};
use passhost_result::untrusted::one_line;

/// Graphs that are shown; JSON has all right ones.
const SHOWN: usize = 10;
/// Characters of what is left to the library, on a wide terminal and on a narrow one.
const CALLS: [usize; 2] = [30, 14];

/// What the rewrites leave to the library, and the right graphs with the lowest speedups.
pub fn render(headroom: &Headroom, terminal: &Terminal) -> Vec<String> {
    if headroom.graphs.is_empty() {
        return vec![];
    }
    let mut lines = terminal.wrap(&left_to_the_library(headroom), "");
    lines.extend(slowest(headroom, terminal));
    lines
}

/// How many graphs leave calls to the library, and how fast these are beside the others. Nothing where no rewrite is known.
fn left_to_the_library(headroom: &Headroom) -> String {
    let Headroom { graphs, with_calls, without_calls, .. } = headroom;
    let count = |of: &Option<MeanSpeedup>| of.map_or(0, |mean| mean.graphs);
    let known = count(with_calls) + count(without_calls);
    if known == 0 {
        return String::new();
    }
    let fast = |MeanSpeedup { graphs, speedup }: MeanSpeedup, what: &str| {
        let verb = if graphs == 1 { "leaves" } else { "leave" };
        format!("{graphs} {verb} {what}: {speedup:.2}x")
    };
    let in_the_mean = |mean, what| format!("{} in the geometric mean", fast(mean, what));
    let parts: Vec<String> = match (*with_calls, *without_calls) {
        (Some(with), Some(without)) => vec![in_the_mean(with, "calls to the library"), fast(without, "none")],
        (Some(with), None) => vec![in_the_mean(with, "calls to the library")],
        (None, without) => without.map(|without| in_the_mean(without, "no call to the library")).into_iter().collect(),
    };
    let unknown = match graphs.len() - known {
        0 => String::new(),
        unknown => format!("; of {unknown} it is not recorded"),
    };
    format!("of {} right graphs {}{unknown}", graphs.len(), parts.join("; "))
}

fn slowest(headroom: &Headroom, terminal: &Terminal) -> Vec<String> {
    let speedup = |timed: Option<GraphTime>| short(timed.map(|timed| timed.speedup));
    let us = |timed: Option<GraphTime>| timed.map_or("-".to_owned(), |timed| format!("{:.1}", timed.us));
    let limit = if terminal.width() >= WIDE { CALLS[0] } else { CALLS[1] };
    let (of_device, own_us, at, at_us) = match headroom.clock {
        // By wall clock the first speedup is that of what was measured.
        Clock::Wall => (usize::MAX, "us", "at reference", "reference us"),
        Clock::Device => (0, "device us", "at floor", "floor us"),
    };
    // On a CPU there is no reference.
    let is_held = headroom.graphs.iter().any(|graph| graph.at_reference.is_some());
    let [of_reference, its_us] = if is_held { [0, WIDE] } else { [usize::MAX; 2] };
    terminal.rows(&headroom.graphs[..headroom.graphs.len().min(SHOWN)], |graph| {
        let RightGraph { place, measured, at_reference, .. } = graph;
        let calls = graph.library_calls_text().map_or("-".to_owned(), |calls| one_line(&calls, limit));
        [
            TitledCell::new("slowest right", name(place)),
            TitledCell::new("speedup", short(Some(graph.speedup))),
            TitledCell::new("device", speedup(*measured)).from(of_device),
            TitledCell::new(own_us, us(*measured)).from(WIDE),
            TitledCell::new(at, speedup(*at_reference)).from(of_reference),
            TitledCell::new(at_us, us(*at_reference)).from(its_us),
            TitledCell::new("library calls", calls),
        ]
    })
}
