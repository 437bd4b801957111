//! What is said of many graphs in the same words, said once.

use crate::entry::GraphItem;
use crate::place::GraphPlace;
use crate::summary::without_numbers;

/// What is said of some graphs. It may be a plugin's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// The words, as they are about the first of the graphs; of the others only numbers differ.
    pub text: String,
    /// How often it is said.
    pub times: usize,
    /// How many graphs it is said of.
    pub graphs: usize,
    /// The first of them.
    pub place: GraphPlace,
}

/// What `of` says of each graph, the most frequent first.
pub(crate) fn sayings<'a>(items: &[&GraphItem<'a>], of: impl Fn(&GraphItem<'a>) -> Vec<String>) -> Vec<Saying> {
    let mut known: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut sayings: Vec<Saying> = vec![];
    for item in items {
        let mut of_this = std::collections::HashSet::new();
        for text in of(item) {
            let at = *known.entry(without_numbers(&text)).or_insert_with(|| {
                sayings.push(Saying { text, times: 0, graphs: 0, place: GraphPlace::of(item) });
                sayings.len() - 1
            });
            sayings[at].times += 1;
            sayings[at].graphs += usize::from(of_this.insert(at));
        }
    }
    sayings.sort_by_key(|saying| std::cmp::Reverse((saying.graphs, saying.times)));
    sayings
}
