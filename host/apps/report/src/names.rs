//! Names of graphs that fit a table.

use std::collections::HashSet;

/// Names with only those folders that tell them apart, the ones in front if there is a choice: `float32/s0-4`, not
/// `graphs/subgraphs/float32/s0-4/resnet18`. As they are if they do not differ or are not equally deep.
pub fn short_names(names: &[&str]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split('/').collect()).collect();
    let depth = parts.first().map_or(0, Vec::len);
    let short = |kept: &[usize]| -> Vec<String> {
        let name = |parts: &Vec<&str>| kept.iter().map(|&at| parts[at]).collect::<Vec<_>>().join("/");
        parts.iter().map(name).collect()
    };
    let tells_apart = |kept: &[usize]| short(kept).iter().collect::<HashSet<_>>().len() == names.len();
    let mut kept: Vec<usize> = (0..depth).collect();
    if names.len() < 2 || parts.iter().any(|parts| parts.len() != depth) || !tells_apart(&kept) {
        return names.iter().map(|&name| name.to_owned()).collect();
    }
    for at in (0..depth).rev() {
        let without: Vec<usize> = kept.iter().copied().filter(|&other| other != at).collect();
        if tells_apart(&without) {
            kept = without;
        }
    }
    short(&kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_the_folders_that_all_share() {
        let names = ["graphs/sub/float32/s0-1/vit", "graphs/sub/float32/s0-8/vit", "graphs/sub/float16/s0-1/vit"];
        assert_eq!(short_names(&names), ["float32/s0-1", "float32/s0-8", "float16/s0-1"]);
        let passnet = ["g/float16/1/timm/one/one_0", "g/float16/1/timm/two/two_0", "g/float32/1/timm/one/one_0"];
        assert_eq!(short_names(&passnet), ["float16/one", "float16/two", "float32/one"]);
        assert_eq!(short_names(&["a/b"]), ["a/b"]);
        assert_eq!(short_names(&["a/b", "a/b"]), ["a/b", "a/b"]);
        assert_eq!(short_names(&["a", "a/b"]), ["a", "a/b"]);
    }
}
