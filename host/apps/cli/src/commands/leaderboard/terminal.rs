//! The standings on the terminal.

use super::{SUPERSEDED, authors, headline, is_shared, title, warning};
use crate::terminal::{Terminal, TitledCell, Tone};
use passhost_board::{Board, Ranking, Scored, Standings};
use passhost_page::number;
use passhost_result::untrusted::one_line;

/// The lines for a board.
pub fn render(board: &Board, standings: &Standings, terminal: &Terminal) -> Vec<String> {
    let mut lines = vec![terminal.paint(Tone::Strong, &one_line(&board.title, 100))];
    lines.extend(warning(board).map(|text| terminal.paint(Tone::Warn, text)));
    if authors(standings) == 0 {
        lines.push("nobody is on this board yet".to_owned());
    }
    for ranking in &standings.rankings {
        lines.push(String::new());
        lines.extend(terminal.wrap(&title(ranking), ""));
        lines.extend(rows(ranking, standings, terminal));
        if ranking.rows.iter().any(|row| !row.others.is_empty()) {
            lines.extend(terminal.wrap(&format!("a row without a place is {SUPERSEDED}"), ""));
        }
    }
    let left_out = [
        (standings.unranked.len(), "submissions are in no ranking or not in all"),
        (standings.refused.len(), "results are refused"),
    ];
    for (count, what) in left_out.into_iter().filter(|(count, _)| *count > 0) {
        lines.push(format!("{what}: {count}; `passhost leaderboard DIR --check FILE` says why"));
    }
    lines
}

fn rows(ranking: &Ranking, standings: &Standings, terminal: &Terminal) -> Vec<String> {
    let mut lines: Vec<([String; 3], &Scored)> = vec![];
    for row in &ranking.rows {
        let shared = if is_shared(ranking, row.place) { "=" } else { "" };
        let (place, author) = (format!("{}{shared}", row.place), one_line(&row.author, 40));
        lines.push(([place, author, row.submissions().to_string()], &row.best));
        lines.extend(row.others.iter().map(|other| (Default::default(), other)));
    }
    terminal.rows(&lines, |([place, author, of], Scored { submission, score })| {
        let submission = &standings.submissions[*submission];
        let interval = score.interval.map(|interval| format!("[{:.3}, {:.3}]", interval.low, interval.high));
        [
            TitledCell::new("place", place),
            TitledCell::new("author", author),
            TitledCell::new("plugin", one_line(&submission.plugin, 40)),
            TitledCell::new(headline(ranking), format!("{:.3}", score.headline)),
            TitledCell::new("", interval.unwrap_or_default()),
            TitledCell::new("right", number::percent(score.part.right_share())),
            TitledCell::new("of", of),
            TitledCell::new("signed by", one_line(&submission.signer, 40)),
        ]
    })
}
