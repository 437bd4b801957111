//! Counts as bars on a terminal.

use passhost_corpus::quantities::count;

/// The widest a label may be before it is cut; less on a narrow terminal.
const LABEL: usize = 40;

/// A line for each label with its count and a bar. The longest bar fills the line.
pub fn bars(rows: &[(String, u64)], width: usize) -> Vec<String> {
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let label_width = longest(&mut rows.iter().map(|(label, _)| label.chars().count())).min(LABEL).min(width / 2);
    let counts: Vec<String> = rows.iter().map(|(_, number)| count(*number)).collect();
    let count_width = longest(&mut counts.iter().map(String::len));
    let room = width.saturating_sub(label_width + count_width + 4).max(1);
    let most = rows.iter().map(|(_, number)| *number).max().unwrap_or(0).max(1);
    let line = |((label, number), shown): (&(String, u64), &String)| {
        let label = cut(label, label_width);
        let length = (*number as f64 / most as f64 * room as f64).ceil() as usize;
        format!("{label:<label_width$}  {shown:>count_width$}  {}", "█".repeat(length.min(room))).trim_end().to_owned()
    };
    rows.iter().zip(&counts).map(line).collect()
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// How many numbers lie from each power of `base` up to the next: the power and the count, zeros by themselves, without
/// gaps.
pub fn by_powers(numbers: impl Iterator<Item = u64>, base: u64) -> Vec<(u64, u64)> {
    let mut counts = std::collections::BTreeMap::new();
    for number in numbers {
        let low = if number == 0 { 0 } else { base.pow(number.ilog(base)) };
        *counts.entry(low).or_insert(0) += 1;
    }
    let (Some(&first), Some(&last)) = (counts.keys().next(), counts.keys().next_back()) else { return vec![] };
    let powers = std::iter::successors(Some(first), |&low| if low == 0 { Some(1) } else { low.checked_mul(base) });
    powers.take_while(|&low| low <= last).map(|low| (low, counts.get(&low).copied().unwrap_or(0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_share_one_scale_and_fit_the_line() {
        let rows = [("aten::add.Tensor".to_owned(), 1_200), ("aten::relu".to_owned(), 300), ("none".to_owned(), 0)];
        assert_eq!(
            bars(&rows, 35),
            ["aten::add.Tensor  1,200  ██████████", "aten::relu          300  ███", "none                  0"]
        );
        for width in [25, 40, 200] {
            let longest = bars(&rows, width).iter().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(longest <= width, "{longest} of {width}");
        }
    }

    #[test]
    fn numbers_are_counted_between_powers_without_gaps() {
        assert_eq!(by_powers([0, 1, 3, 3, 20].into_iter(), 2), [(0, 1), (1, 1), (2, 2), (4, 0), (8, 0), (16, 1)]);
        assert_eq!(by_powers([u64::MAX].into_iter(), 8), [(1 << 63, 1)]);
        assert!(by_powers(std::iter::empty(), 2).is_empty());
    }
}
