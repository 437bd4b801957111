//! The standings on the terminal.

use super::{authors, headline, is_shared, letter, letters, title, warning};
use crate::terminal::{Terminal, Tone, table};
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
    let head = ["place", "author", "plugin", headline(ranking), "", "right", "of", "signed by", "worse than"];
    // Only where an author has several plugins is one of them worse than another.
    let columns = if ranking.rows.iter().any(|row| !row.others.is_empty()) { head.len() } else { head.len() - 1 };
    let mut lines: Vec<Vec<String>> = vec![];
    for row in &ranking.rows {
        let shared = if is_shared(ranking, row.place) { "=" } else { "" };
        let (place, author) = (format!("{}{shared}", row.place), one_line(&row.author, 40));
        let label = if row.others.is_empty() { String::new() } else { letter(0) + " " };
        let of = row.submissions().to_string();
        let best = cells(label, &row.best, standings);
        lines.push(line([place, author], best, of, String::new(), columns));
        for (other, position) in row.others.iter().zip(1..) {
            let cells = cells(letter(position) + " ", &other.scored, standings);
            let nobody = [String::new(), String::new()];
            lines.push(line(nobody, cells, String::new(), letters(&other.worse_than), columns));
        }
    }
    table(&head[..columns], &lines, terminal.width())
}

/// Plugin, score, interval, share of right graphs, and who signed.
fn cells(label: String, scored: &Scored, standings: &Standings) -> [String; 5] {
    let (submission, score) = (&standings.submissions[scored.submission], &scored.score);
    let interval = score.interval.map(|interval| format!("[{:.3}, {:.3}]", interval.low, interval.high));
    [
        label + &one_line(&submission.plugin, 40),
        format!("{:.3}", score.headline),
        interval.unwrap_or_default(),
        number::percent(score.part.right_share()),
        one_line(&submission.signer, 40),
    ]
}

fn line(whose: [String; 2], cells: [String; 5], of: String, worse_than: String, columns: usize) -> Vec<String> {
    let [plugin, score, interval, right, signer] = cells;
    let line = whose.into_iter().chain([plugin, score, interval, right, of, signer, worse_than]);
    line.take(columns).collect()
}
