//! Names that are like one that is not there.

/// How alike a name must be to be suggested, between 0 and 1.
const LIKENESS: f64 = 0.8;

/// The known names that are most like this one, the likest first.
pub fn like<'n>(name: &str, known: impl IntoIterator<Item = &'n str>, count: usize) -> Vec<&'n str> {
    let likeness = |known: &str| {
        let contains = name.chars().count() > 2 && known.contains(name);
        if contains { 1.0 } else { strsim::jaro_winkler(known, name) }
    };
    let mut like: Vec<(f64, &str)> = known.into_iter().map(|known| (likeness(known), known)).collect();
    like.retain(|(likeness, _)| *likeness >= LIKENESS);
    like.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    like.dedup();
    like.into_iter().take(count).map(|(_, name)| name).collect()
}

/// `did you mean `x` or `y`?`, and what to do `otherwise` where no name is like it.
pub fn did_you_mean<T: std::fmt::Display>(names: &[T], otherwise: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { otherwise.to_owned() } else { format!("did you mean {}?", names.join(" or ")) }
}
