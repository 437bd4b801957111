//! A comparison of entrants on the terminal.

use crate::summary::{against, bracketed, class_words, counting_once, name, named, range, share, short};
use crate::terminal::{Terminal, TitledCell, Tone, WIDE};
use passhost_page::number::counted;
use passhost_report::{
    AgainstFirst, DeviceTimeRatio, EntrantComparison, EntrantStanding, GraphPlace, Missing, NEARLY, ScoreChange,
    headline_name,
};
use passhost_result::untrusted::one_line;
use passhost_score::Verdict;

/// Changes of a kind that are shown; JSON has them all.
const SHOWN: usize = 5;

/// The lines for a comparison.
pub fn render(comparison: &EntrantComparison, terminal: &Terminal) -> Vec<String> {
    let conditions = &comparison.conditions;
    let device = conditions.device.as_deref().unwrap_or("no device");
    let mut title = format!(
        "{} of {}, {device}, policy {}",
        counted(comparison.graphs, "graph"),
        counted(comparison.samples, "sample"),
        one_line(&conditions.policy, 40)
    );
    title.push_str(&against(conditions));
    let mut lines = terminal.painted(Tone::Strong, &title, "");
    for remark in &comparison.remarks {
        lines.extend(terminal.painted(Tone::Warn, &one_line(remark, 400), ""));
    }
    lines.extend(standings(comparison, terminal));
    for (at, standing) in comparison.standings.iter().enumerate() {
        if let Some(against) = &standing.against_first {
            lines.push(String::new());
            lines.extend(changes(at + 1, against, comparison, terminal));
        }
    }
    if !comparison.unwinnable.is_empty() {
        let places: Vec<&GraphPlace> = comparison.unwinnable.iter().collect();
        let text = format!(
            "graphs that fail with every plugin because the sample cannot be judged, and do not count: {}: {}",
            places.len(),
            named(&places)
        );
        lines.push(String::new());
        lines.extend(terminal.painted(Tone::Warn, &text, ""));
    }
    let left_out = [
        ("graphs that not all entrants have", &comparison.missing),
        ("graphs that were not measured for all", &comparison.unmeasured),
    ];
    for (what, graphs) in left_out {
        lines.extend(left_out_of(what, graphs, comparison.standings.len(), terminal));
    }
    lines
}

fn standings(comparison: &EntrantComparison, terminal: &Terminal) -> Vec<String> {
    let headline = comparison.conditions.headline;
    let ratio = |standing: &EntrantStanding| Some(*standing.against_first.as_ref()?.headline(headline));
    let verdict = |standing: &EntrantStanding| ratio(standing).map(|ratio| ratio.verdict);
    let wide = terminal.width() >= WIDE;
    let numbered: Vec<(usize, &EntrantStanding)> = (1..).zip(&comparison.standings).collect();
    let mut lines = terminal.rows(&numbered, |&(number, standing)| {
        let (wall, ratio) = (standing.part.wall.as_ref(), ratio(standing));
        let speed = standing.against_first.as_ref().and_then(|against| against.speed.as_ref());
        let name = one_line(&standing.entrant.name, 30);
        let verdict = match verdict(standing) {
            None if number == 1 => "first",
            None => "-",
            Some(Verdict::Faster) => "better",
            Some(Verdict::Slower) => "worse",
            Some(Verdict::Undecided) => "undecided",
        };
        [
            // Where there is no room for names, the lines below the table have them.
            TitledCell::new("entrant", if wide { format!("{number} {name}") } else { number.to_string() }),
            TitledCell::new("AS", short(wall.map(|wall| wall.aggregate_score))),
            TitledCell::new("strict", short(wall.map(|wall| wall.aggregate_score_strict))),
            TitledCell::new("ES(0)", short(wall.and_then(|wall| wall.es.get(&0).copied()))).from(WIDE),
            TitledCell::new("right", share(&standing.part)),
            TitledCell::new("speed", short(speed.map(|speed| speed.ratio))).from(WIDE),
            TitledCell::new("ratio", short(ratio.map(|ratio| ratio.ratio))),
            TitledCell::new("95%", range(ratio.and_then(|ratio| ratio.interval))),
            TitledCell::new("verdict", verdict),
        ]
    });
    for (line, standing) in lines.iter_mut().skip(1).zip(&comparison.standings) {
        let tone = match verdict(standing) {
            Some(Verdict::Faster) => Tone::Good,
            Some(Verdict::Slower) => Tone::Bad,
            Some(Verdict::Undecided) | None => continue,
        };
        *line = terminal.paint(tone, line);
    }
    for (number, standing) in numbered {
        let name = one_line(&standing.entrant.name, 60);
        let text = format!("{number} is {name}, {}", one_line(&standing.entrant.sources.join(", "), 200));
        lines.extend(terminal.painted(Tone::Dim, &text, ""));
    }
    lines
}

fn changes(number: usize, against: &AgainstFirst, comparison: &EntrantComparison, terminal: &Terminal) -> Vec<String> {
    let AgainstFirst { better, worse, .. } = *against;
    let undecided = comparison.graphs - better - worse;
    let ratio = against.headline(comparison.conditions.headline);
    let score = headline_name(comparison.conditions.headline);
    let title = format!(
        "{number} against 1: {score} {:.3} times as high{}; better on {}, worse on {worse}, undecided on {undecided}",
        ratio.ratio,
        bracketed(ratio.interval),
        counted(better, "graph"),
    );
    let mut lines = terminal.painted(Tone::Strong, &title, "");
    if ratio.interval.is_none() {
        lines.extend(terminal.painted(Tone::Warn, "times were not taken in as many processes: no interval", ""));
    }
    lines.extend(against.device.into_iter().flat_map(|device| terminal.wrap(&on_the_device(number, device), "")));
    let over_samples = against.over_samples.filter(|_| comparison.samples > 1);
    lines.extend(over_samples.iter().flat_map(|over| terminal.wrap(&counting_once("a ratio of", over), "")));
    for (what, found) in [
        ("right, and wrong with 1", &against.turned_right),
        ("wrong, and right with 1", &against.turned_wrong),
        ("unchanged, and changed with 1", &against.turned_unchanged),
        ("changed, and unchanged with 1", &against.turned_changed),
        ("right with both, at another speed", &against.moved),
    ] {
        lines.extend(listed(what, found, terminal));
    }
    lines
}

/// What an entrant's rewrites take on the device alone beside those of the first, on all graphs that both have right.
fn on_the_device(number: usize, DeviceTimeRatio { graphs, ratio, nearly }: DeviceTimeRatio) -> String {
    format!(
        "rewrite against rewrite, without eager: on the device alone {number} takes {ratio:.3} times as long as 1 in the \
         geometric mean of {} that both have right; 1 takes at most {NEARLY:.2} times as long as {number} on {nearly} of them",
        counted(graphs, "graph")
    )
}

/// Changes of one kind, those first that come first.
fn listed(what: &str, changes: &[ScoreChange], terminal: &Terminal) -> Vec<String> {
    if changes.is_empty() {
        return vec![];
    }
    let mut lines = vec![format!("{what}: {}", changes.len())];
    lines.extend(terminal.rows(&changes[..changes.len().min(SHOWN)], |change| {
        let (first, other) = (class_words(change.first), class_words(change.other));
        [
            TitledCell::new("graph", name(&change.place)),
            TitledCell::new("ratio", short(Some(change.ratio.ratio))),
            TitledCell::new("95%", range(change.ratio.interval)).from(WIDE),
            TitledCell::new("result", if first == other { other } else { format!("{first} to {other}") }),
        ]
    }));
    if changes.len() > SHOWN {
        lines.push(format!("and {} more, see --json", changes.len() - SHOWN));
    }
    lines
}

/// Graphs that are not compared, counted and named.
fn left_out_of(what: &str, graphs: &[Missing], entrants: usize, terminal: &Terminal) -> Vec<String> {
    if graphs.is_empty() {
        return vec![];
    }
    let mut lines = vec![String::new()];
    lines.extend(terminal.painted(Tone::Warn, &format!("{what}: {}", graphs.len()), ""));
    for at in 0..entrants {
        let lacking = graphs.iter().filter(|missing| missing.lacking.contains(&at));
        let places: Vec<&GraphPlace> = lacking.map(|missing| &missing.place).collect();
        if !places.is_empty() {
            let text = format!("{} lacks {}: {}", at + 1, places.len(), named(&places));
            lines.extend(terminal.wrap(&text, "  "));
        }
    }
    lines
}
