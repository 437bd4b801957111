//! The first page of a board: rankings, what is not in them, and the rules.

use super::site::address;
use super::{SUPERSEDED, authors, headline, is_shared, place, title, warning};
use passhost_board::{Board, Ranking, RankingRow, Score, Scored, Standings};
use passhost_page::report::in_short;
use passhost_page::{
    Cell, ChartAxis, Column, Markup, Page, Ruler, Scale, Section, Series, StripMark, Table, html, number, untrusted,
};
use passhost_result::Headline;
use passhost_result::untrusted::one_line;
use passhost_sign::time_text;

/// Characters of a name that are shown.
const NAME: usize = 60;
/// Rows from which on a table can be filtered.
const MANY: usize = 12;

/// The page.
pub fn page(board: &Board, standings: &Standings) -> Page {
    let mut sections = vec![Section::new("rankings", "Rankings", rankings(board, standings))];
    if standings.rankings.iter().any(|ranking| ranking.rows.iter().any(|row| !row.history.is_empty())) {
        sections.push(Section::new("history", "Other submissions", history(standings)));
    }
    if !standings.unranked.is_empty() || !standings.refused.is_empty() {
        sections.push(Section::new("left-out", "Not on the board", left_out(standings)));
    }
    sections.push(Section::new("rules", "What this board accepts", rules(board)));
    Page { title: one_line(&board.title, 200), lead: lead(board, standings), sections, footer: footer() }
}

fn lead(board: &Board, standings: &Standings) -> Markup {
    let (authors, rankings) = (authors(standings), standings.rankings.len());
    html! {
        @if let Some(text) = warning(board) { p.bad { strong { (text) } } }
        p {
            @if authors == 0 { "Nobody is on this board yet." }
            @else { (number::counted(authors, "author")) " in " (number::counted(rankings, "ranking")) "." }
            " Authors whom the measurements do not tell apart share a place."
        }
        p {
            "Every result is signed. A key proves who measured a result, and not that it is true: scores were computed again \
             from the recorded trials, and whoever has plugin and samples can judge them again with "
            code { "passhost verify --replay" } "."
        }
    }
}

fn footer() -> Markup {
    html! { p { "Written by passhost " (env!("CARGO_PKG_VERSION")) "; nothing on this page is loaded from elsewhere." } }
}

fn rankings(board: &Board, standings: &Standings) -> Markup {
    html! {
        @if standings.rankings.is_empty() { p { "There is no result that counts." } }
        @for ranking in standings.rankings.iter().take(1) { p { (in_short(headline(ranking), board.settings.options.b)) } }
        @for (position, ranking) in standings.rankings.iter().enumerate() {
            (ranking_table(position, ranking, standings).markup())
        }
        p.muted {
            "An author is ranked by the best of k submissions, which share one error: each interval covers with 1\u{a0}−\u{a0}5%/k, each \
             verdict against eager is wrong with 0.1%/k. A place is one more than the number of authors who are better beyond doubt."
        }
        @if standings.rankings.iter().flat_map(|ranking| &ranking.rows).any(|row| !row.others.is_empty()) {
            p.muted {
                "The plugins of an author stand below each other, each by its best submission, the best first. "
                code { "passhost compare" } " says which of them the measurements tell apart."
            }
        }
    }
}

fn ranking_table(position: usize, ranking: &Ranking, standings: &Standings) -> Table {
    let listed = ranking.rows.iter().flat_map(|row| std::iter::once(&row.best).chain(&row.others));
    let ends = listed.flat_map(|Scored { score, .. }| {
        let ends = score.interval.map(|interval| [interval.low, interval.high]);
        ends.into_iter().flatten().chain([score.headline, 1.0])
    });
    let ruler = Ruler { scale: Scale::Logarithmic, range: ChartAxis::around("", ends).range };
    // An author's best submission, and below it the best of each of their other plugins.
    let submissions: Vec<(&RankingRow, &Scored)> = ranking
        .rows
        .iter()
        .flat_map(|row| std::iter::once(&row.best).chain(&row.others).map(move |scored| (row, scored)))
        .collect();
    let filter = (submissions.len() > MANY).then_some("Show authors and plugins with");
    let caption = html! { (title(ranking)) ", by " (headline(ranking)) };
    let row = |(row, scored): (&RankingRow, &Scored)| {
        let is_best = *scored == row.best;
        let shared = if is_shared(ranking, row.place) { " (shared)" } else { "" };
        let place = html! { @if is_best { (row.place) (shared) } };
        let count = is_best.then_some(row.submissions() as f64);
        let mut cells = vec![
            (Column::number("place"), Cell::keyed(place, row.place as f64)),
            (Column::text("author"), Cell::name(untrusted(&row.author, NAME))),
        ];
        cells.extend(cells_of(scored, is_best, ranking, standings));
        cells.insert(4, (Column::pictures(headline(ranking), "log scale"), Cell::text(strip(&scored.score, &ruler))));
        let count = (Column::number("submissions"), Cell::maybe(count, |count| format!("{count:.0}")));
        cells.insert(cells.len() - 1, count);
        cells
    };
    Table::of(format!("ranking-{position}"), caption, submissions, row).filtered(filter)
}

/// What is said of a submission, column by column: also where it is not the author's best, by which they are ranked.
fn cells_of(scored: &Scored, is_best: bool, ranking: &Ranking, standings: &Standings) -> [(Column, Cell); 7] {
    let (submission, score) = (&standings.submissions[scored.submission], &scored.score);
    let (wall, device) = (score.part.wall.as_ref(), score.part.device.as_ref());
    let interval = score.interval.map(|interval| number::interval(interval.low, interval.high));
    let (other, other_score) = match ranking.headline {
        Headline::Published => ("AS strict", wall.map(|wall| wall.aggregate_score_strict)),
        Headline::Strict => ("AS", wall.map(|wall| wall.aggregate_score)),
    };
    let plugin = html! {
        a href=(address(submission)) { (untrusted(&submission.plugin, NAME)) }
        @if !is_best { br; span.muted { (SUPERSEDED) } }
    };
    let own = html! { (number::score(score.headline)) " " span.muted { (interval.unwrap_or_default()) } };
    let signed = html! { (untrusted(&submission.signer, NAME)) ", " span.whole { (time_text(submission.signed_at)) } };
    let device = device.map(|device| device.aggregate_score);
    [
        (Column::text("plugin, its report"), Cell::text(plugin)),
        (Column::measured(headline(ranking), "interval"), Cell::keyed(own, score.headline)),
        (Column::text("against eager, where it ran"), Cell::text(html! { (score.against_eager()) })),
        (Column::number(other), Cell::maybe(other_score, number::score)),
        (Column::measured("AS", "device time"), Cell::maybe(device, number::score)),
        (Column::number("right"), Cell::of(score.part.right_share(), number::percent)),
        (Column::text("signed"), Cell::text(signed)),
    ]
}

/// The score and its interval beside those of others, and a line where the score is 1.
fn strip(score: &Score, ruler: &Ruler) -> Markup {
    let series = Series(0);
    let span = score.interval.map(|interval| StripMark::Span(interval.low, interval.high, series));
    let marks = [Some(StripMark::Rule(1.0)), span, Some(StripMark::Point(score.headline, series))];
    ruler.strip(&marks.into_iter().flatten().collect::<Vec<_>>())
}

fn history(standings: &Standings) -> Markup {
    let tables = standings
        .rankings
        .iter()
        .enumerate()
        .filter(|(_, ranking)| ranking.rows.iter().any(|row| !row.history.is_empty()));
    html! {
        p { "The other submissions of the authors above, the last signed first." }
        @for (position, ranking) in tables { (history_table(position, ranking, standings).markup()) }
    }
}

fn history_table(position: usize, ranking: &Ranking, standings: &Standings) -> Table {
    let past: Vec<(&RankingRow, &Scored)> =
        ranking.rows.iter().flat_map(|row| row.history.iter().map(move |scored| (row, scored))).collect();
    let filter = (past.len() > MANY).then_some("Show authors and plugins with");
    let row = |(row, scored): (&RankingRow, &Scored)| {
        let author = (Column::text("author"), Cell::name(untrusted(&row.author, NAME)));
        std::iter::once(author).chain(cells_of(scored, false, ranking, standings)).collect()
    };
    Table::of(format!("history-{position}"), html! { (title(ranking)) }, past, row).filtered(filter)
}

fn left_out(standings: &Standings) -> Markup {
    let unranked = standings.unranked.iter().map(|unranked| {
        let submission = &standings.submissions[unranked.submission];
        vec![
            Cell::name(untrusted(&submission.files.join(", "), NAME)),
            Cell::text(html! { (untrusted(&submission.plugin, NAME)) ", " (untrusted(&submission.author, NAME)) }),
            Cell::text(untrusted(&unranked.reason.to_string(), 600)),
        ]
    });
    let refused = standings.refused.iter().map(|refused| {
        vec![
            Cell::name(untrusted(&place(refused), NAME * 2)),
            Cell::text(untrusted(refused.about.as_deref().unwrap_or(number::NONE), NAME * 2)),
            Cell::text(html! {
                @for (position, reason) in refused.reasons.iter().enumerate() {
                    @if position > 0 { br; }
                    (untrusted(&reason.to_string(), 600))
                }
            }),
        ]
    });
    let rows: Vec<Vec<Cell>> = unranked.chain(refused).collect();
    let filter = (rows.len() > MANY).then_some("Show files and reasons with");
    let columns = vec![Column::text("file"), Column::text("about"), Column::text("why")];
    Table::new("left-out-table", html! { "Results that count in no ranking, or not in all" }, columns, rows)
        .filtered(filter)
        .markup()
}

fn rules(board: &Board) -> Markup {
    let measurement = &board.settings.limits.measurement;
    html! {
        p {
            "Each combination of a list of samples, a policy, a kind of device and a host is a ranking of its own. An author must \
             have a result on every sample of the list, in one batch, measured with a budget of "
            (number::grouped(measurement.budget_ms)) " ms a graph and the other settings of " code { "board.json" } "."
        }
        @for list in &board.sample_lists {
            p {
                "List " strong { (untrusted(&list.name, NAME)) } ": " (number::counted(list.samples.len(), "sample")) ", "
                (number::counted(list.samples.iter().map(|sample| sample.graphs).sum(), "graph")) "."
            }
        }
        ul {
            @for policy in &board.policies { li { "policy " (untrusted(&policy.name, NAME)) ", SHA-256 " code { (untrusted(&policy.sha256, 64)) } } }
            @for device in &board.devices { li { "device " (untrusted(&device.name, NAME)) } }
            @for host in &board.hosts {
                li {
                    "host " (untrusted(&host.name, NAME)) ", torch " (untrusted(&host.torch, NAME))
                    ul { @for (name, sha256) in &host.programs { li { (untrusted(name, NAME)) " " code { (untrusted(sha256, 64)) } } } }
                }
            }
        }
    }
}
