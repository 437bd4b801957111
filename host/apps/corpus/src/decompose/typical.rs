//! Op sequences that occur more than once.

use std::collections::HashMap;
use std::ops::Range;

/// Shortest sequence that counts.
pub const SHORTEST: usize = 4;
/// Longest one.
pub const LONGEST: usize = 63;

/// A base of the polynomial hash of windows: any odd number with bits all over.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A place in a set of sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Occurrence {
    sequence: usize,
    start: usize,
}

/// Windows of [`SHORTEST`] to [`LONGEST`] ops that occur twice or more in `sequences`, without overlap; for each
/// sequence its windows in order. A `None` is in no window.
///
/// Greedy: longer windows before shorter ones, of one length the most frequent first, then the one that comes first.
pub fn repeated(sequences: &[Vec<Option<u32>>]) -> Vec<Vec<Range<usize>>> {
    let hashes: Vec<Prefixes> = sequences.iter().map(|sequence| Prefixes::of(sequence)).collect();
    let mut taken: Vec<Vec<bool>> =
        sequences.iter().map(|sequence| sequence.iter().map(Option::is_none).collect()).collect();
    let mut found = vec![vec![]; sequences.len()];
    for length in (SHORTEST..=LONGEST).rev() {
        for places in groups(sequences, &hashes, &taken, length) {
            let free = disjoint(&places, &taken, length);
            if free.len() < 2 {
                continue;
            }
            for Occurrence { sequence, start } in free {
                taken[sequence][start..start + length].fill(true);
                found[sequence].push(start..start + length);
            }
        }
    }
    for windows in &mut found {
        windows.sort_unstable_by_key(|window| window.start);
    }
    found
}

/// The places of each window of this length that occurs at two places or more.
fn groups(
    sequences: &[Vec<Option<u32>>],
    hashes: &[Prefixes],
    taken: &[Vec<bool>],
    length: usize,
) -> Vec<Vec<Occurrence>> {
    let window = |place: Occurrence| &sequences[place.sequence][place.start..place.start + length];
    let mut by_hash: HashMap<u64, Vec<Vec<Occurrence>>> = HashMap::new();
    for (sequence, taken) in taken.iter().enumerate() {
        let mut free = 0;
        for (end, is_taken) in taken.iter().enumerate() {
            free = if *is_taken { 0 } else { free + 1 };
            if free < length {
                continue;
            }
            let place = Occurrence { sequence, start: end + 1 - length };
            let same_hash = by_hash.entry(hashes[sequence].window(place.start, length)).or_default();
            match same_hash.iter_mut().find(|group| window(group[0]) == window(place)) {
                Some(group) => group.push(place),
                None => same_hash.push(vec![place]),
            }
        }
    }
    let mut groups: Vec<Vec<Occurrence>> = by_hash.into_values().flatten().filter(|group| group.len() > 1).collect();
    groups.sort_unstable_by_key(|group| (std::cmp::Reverse(group.len()), group[0]));
    groups
}

/// Those places, from the front, that are free and do not overlap.
fn disjoint(places: &[Occurrence], taken: &[Vec<bool>], length: usize) -> Vec<Occurrence> {
    let mut chosen: Vec<Occurrence> = vec![];
    for &place in places {
        let overlaps =
            chosen.last().is_some_and(|last| last.sequence == place.sequence && last.start + length > place.start);
        if !overlaps && !taken[place.sequence][place.start..place.start + length].contains(&true) {
            chosen.push(place);
        }
    }
    chosen
}

/// Hashes of all prefixes of a sequence, of which that of any window follows.
struct Prefixes {
    hashes: Vec<u64>,
    powers: Vec<u64>,
}

impl Prefixes {
    fn of(sequence: &[Option<u32>]) -> Prefixes {
        let (mut hashes, mut powers) = (vec![0u64], vec![1u64]);
        for (position, op) in sequence.iter().enumerate() {
            let op = op.map_or(0, |op| u64::from(op) + 1).wrapping_mul(0xff51_afd7_ed55_8ccd);
            hashes.push(hashes[position].wrapping_mul(BASE).wrapping_add(op ^ (op >> 29)));
            powers.push(powers[position].wrapping_mul(BASE));
        }
        Prefixes { hashes, powers }
    }

    fn window(&self, start: usize, length: usize) -> u64 {
        self.hashes[start + length].wrapping_sub(self.hashes[start].wrapping_mul(self.powers[length]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The windows of each sequence, as it is written and without what is in none.
    fn found(sequences: &[&str]) -> Vec<String> {
        let op = |c: char| (c != '.').then_some(c as u32);
        let numbers: Vec<Vec<Option<u32>>> = sequences.iter().map(|text| text.chars().map(op).collect()).collect();
        let shown = |(text, windows): (&&str, Vec<Range<usize>>)| {
            let windows: Vec<String> =
                windows.into_iter().map(|window| format!("{}:{}", window.start, &text[window.clone()])).collect();
            windows.join(" ")
        };
        sequences.iter().zip(repeated(&numbers)).map(shown).collect()
    }

    #[test]
    fn longer_windows_go_first_and_none_overlap() {
        assert_eq!(found(&["abcdefxabcdef"]), ["0:abcdef 7:abcdef"]);
        assert_eq!(found(&["abcdefyabcd", "zzabcdef"]), ["0:abcdef", "2:abcdef"]);
        // The short window counts only where it is not part of a longer one.
        assert_eq!(found(&["abcdeabcde", "xabcdy", "abcd"]), ["0:abcde 5:abcde", "1:abcd", "0:abcd"]);
        assert_eq!(found(&["aaaaaaaaa"]), ["0:aaaa 4:aaaa"]);
    }

    #[test]
    fn short_windows_and_what_is_excluded_do_not_count() {
        assert_eq!(found(&["abcxabc"]), [""]);
        assert_eq!(found(&["ab.cdab.cd", "", "abcd"]), ["", "", ""]);
    }

    #[test]
    fn of_one_length_the_most_frequent_go_first() {
        // `bcde` occurs three times, `abcd` twice.
        assert_eq!(found(&["abcde", "abcdx", "bcdey", "bcdez"]), ["1:bcde", "", "0:bcde", "0:bcde"]);
        // Where both are equally frequent, the one in front.
        assert_eq!(found(&["abcde", "abcdx", "bcdey"]), ["0:abcd", "0:abcd", ""]);
    }

    #[test]
    fn no_window_is_longer_than_the_longest() {
        let long = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-";
        let windows = found(&[long, long]);
        assert_eq!(windows, [format!("0:{}", &long[..63]), format!("0:{}", &long[..63])]);
    }
}
