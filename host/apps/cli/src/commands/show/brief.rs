//! What a pass makes of many graphs, in short: what is the same but for sizes and element types stands once.

use passhost_result::untrusted::one_line;

/// Names of graphs that are told together, and lines of what changed.
const NAMES: usize = 8;
const LINES: usize = 120;

/// What there is to show of a rewrite.
#[derive(Debug, Default)]
pub struct ShownRewrite {
    /// Name of the graph.
    pub name: String,
    /// What the pass logged and what it left alone.
    pub said: Vec<String>,
    /// The rewrite, or the parts of it that were asked for.
    pub body: Vec<String>,
    /// Whether it may run.
    pub end: Vec<String>,
    /// Whether anything that counts is changed.
    pub is_changed: bool,
}

impl ShownRewrite {
    /// All lines, in their order.
    pub fn lines(self) -> impl Iterator<Item = String> {
        self.said.into_iter().chain(self.body).chain(self.end)
    }

    /// What changed; where nothing did, what the pass said.
    fn short(&self) -> Vec<String> {
        if !self.is_changed {
            return [&["# unchanged".to_owned()], &*self.said, &self.end].concat();
        }
        let more = self.body.len().saturating_sub(LINES);
        let note = (more > 0).then(|| format!("# ... and {more} lines more"));
        self.body.iter().take(LINES).cloned().chain(note).chain(self.end.iter().cloned()).collect()
    }
}

/// How many graphs were changed, and how; graphs whose changes are alike together.
pub fn brief(all: &[ShownRewrite]) -> Vec<String> {
    let mut groups: Vec<(Vec<String>, Vec<&ShownRewrite>)> = vec![];
    for one in all {
        let key: Vec<String> = one.short().iter().filter_map(|line| alike(line)).collect();
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    let changed = all.iter().filter(|one| one.is_changed).count();
    let group = |(_, members): &(_, Vec<&ShownRewrite>)| {
        let mut names: Vec<String> = members.iter().take(NAMES).map(|one| one_line(&one.name, 120)).collect();
        names.extend((members.len() > NAMES).then(|| format!("and {} others", members.len() - NAMES)));
        let alike = if members.len() > 1 { " (alike; the first is shown)" } else { "" };
        [vec![format!("# {}{alike}", names.join(", "))], members[0].short()].concat()
    };
    let first = format!("changed {changed} of {} graphs", all.len());
    std::iter::once(first).chain(groups.iter().flat_map(group)).collect()
}

/// A line without what sizes, their number and the element type make of it; none of one that is all about sizes.
fn alike(line: &str) -> Option<String> {
    let mut text = String::new();
    for c in line.chars() {
        match c {
            '0'..='9' if text.ends_with('0') => {}
            '0'..='9' => text.push('0'),
            c => text.push(c),
        }
    }
    let lists = [(", p0=0", ""), (", i0", ""), (", p0", ""), (",0", ""), ("bf0", "f0")];
    let text = lists.iter().fold(text, |text, (from, to)| text.replace(from, to));
    (!text.contains("  i0 = ")).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, body: &[&str], said: &str) -> ShownRewrite {
        let body: Vec<String> = body.iter().map(|line| (*line).to_owned()).collect();
        let (said, end) = (vec![said.to_owned()], vec!["# verified; fuel 17".to_owned()]);
        ShownRewrite { name: name.into(), is_changed: !body.is_empty(), said, body, end }
    }

    #[test]
    fn changes_that_differ_in_sizes_stand_once_and_refusals_where_nothing_changed() {
        let all = [
            shown(
                "a",
                &["- #0 %y: f16[5] = relu", "+   space p0=5", "+   i0 = p0", "+   v0: f16 = load x0[i0]"],
                "# log: a",
            ),
            shown(
                "b",
                &["- #0 %y: bf16[6,7] = relu", "+   space p0=6, p1=7", "+   v0: bf16 = load x0[i0, i1]"],
                "# log: b",
            ),
            shown("c", &[], "# left alone #3: too large"),
            shown("d", &["- #0 %y: f16[5] = gelu"], "# log: d"),
        ];
        let lines = brief(&all);
        let expected = [
            "changed 3 of 4 graphs",
            "# a, b (alike; the first is shown)",
            "- #0 %y: f16[5] = relu",
            "+   space p0=5",
            "+   i0 = p0",
            "+   v0: f16 = load x0[i0]",
            "# verified; fuel 17",
            "# c",
            "# unchanged",
            "# left alone #3: too large",
            "# verified; fuel 17",
            "# d",
            "- #0 %y: f16[5] = gelu",
            "# verified; fuel 17",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_long_change_is_cut_and_many_names_are_counted() {
        let long: Vec<&str> = (0..LINES + 3).map(|_| "+ x").collect();
        let all: Vec<ShownRewrite> = (0..NAMES + 2).map(|at| shown(&at.to_string(), &long, "")).collect();
        let lines = brief(&all);
        assert!(
            lines[1].contains("7, and 2 others") && lines.contains(&"# ... and 3 lines more".to_owned()),
            "{lines:?}"
        );
    }
}
