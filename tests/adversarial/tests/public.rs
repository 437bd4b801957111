//! The page of public exploits: each has cases that refuse it or a reason why it cannot be written, and the page counts right.

use std::path::{Path, PathBuf};

const PAGE: &str = "docs/results/exploits.md";
const ATTACKS: &str = "| attack | what it does | here |";
const REASONS: &str = "| reason | means |";
/// What a link to a case begins with.
const CORPUS: &str = "../../tests/adversarial/";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The cells of all rows under this head, wherever it stands in the page.
fn rows<'p>(page: &'p str, head: &str) -> Vec<Vec<&'p str>> {
    let tables = page.split("\n\n").filter_map(|part| part.strip_prefix(head));
    let lines = tables.flat_map(|table| table.lines().skip(2));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Why there is no such case to refuse an attack, if so.
fn unusable(name: &str) -> Option<String> {
    let expect = repository().join("tests/adversarial").join(name).join("expect.json");
    match std::fs::read_to_string(&expect) {
        Err(error) => Some(format!("{}: {error}", expect.display())),
        Ok(_) if name.starts_with("honest") => Some(format!("{name} is an honest pass")),
        Ok(text) if text.contains("\"open\":") => Some(format!("{name} is open: it is not refused yet")),
        Ok(text) => text.contains("\"verdict\": \"right\"").then(|| format!("{name} is right: nothing refuses it")),
    }
}

/// The case that a link names and leads to.
fn case_of(link: &str) -> Option<&str> {
    let (text, target) = link.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    target.strip_prefix(CORPUS).filter(|name| *name == text)
}

/// All that is wrong with a page.
fn complaints(page: &str, unusable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let reasons: Vec<&str> = rows(page, REASONS).iter().map(|cells| cells[0]).collect();
    let (mut found, mut given, mut refused) = (vec![], vec![], 0);
    let attacks = rows(page, ATTACKS);
    for cells in &attacks {
        let &[attack, what, here] = cells.as_slice() else {
            found.push(format!("{cells:?} has {} cells of 3", cells.len()));
            continue;
        };
        if !attack.contains("](https://") || what.is_empty() {
            found.push(format!("{attack} names no source, or does not say what it does"));
        }
        match here.split(", ").map(case_of).collect::<Option<Vec<_>>>() {
            Some(names) => {
                refused += 1;
                found.extend(names.into_iter().filter_map(&unusable));
            }
            None if reasons.contains(&here) => given.push(here),
            None => found.push(format!("{attack} has \"{here}\", which is neither cases nor a reason")),
        }
    }
    let unused = reasons.iter().filter(|reason| !given.contains(reason));
    found.extend(unused.map(|reason| format!("no attack has the reason \"{reason}\"")));
    let (all, cannot) = (attacks.len(), given.len());
    let counted = format!("{all} of {all}: {refused} refused by a case, {cannot} cannot be written.");
    if !page.lines().any(|line| line == counted) {
        found.push(format!("the page does not say \"{counted}\""));
    }
    found
}

#[test]
fn every_public_exploit_is_refused_by_a_case_or_cannot_be_written() {
    let page = std::fs::read_to_string(repository().join(PAGE)).unwrap_or_default();
    let found = complaints(&page, unusable);
    assert!(found.is_empty(), "{PAGE}:\n{}", found.join("\n"));
    assert!(rows(&page, ATTACKS).len() > 100, "the tables of {PAGE} were not found");
}

#[test]
fn a_row_without_answer_a_missing_case_and_a_wrong_count_are_found() {
    let page = |here: &str, counted: &str| {
        let known = "| [a](https://a.example) | Does it. | no clock |";
        let asked = format!("| [b](https://b.example) | Does it. | {here} |");
        let reasons = format!("{REASONS}\n| --- | --- |\n| no clock | There is none. |");
        format!("{counted}\n\n{reasons}\n\n{ATTACKS}\n| --- | --- | --- |\n{known}\n{asked}\n")
    };
    let none = |name: &str| (name != "01-a/b").then(|| format!("no {name}"));
    let both = "2 of 2: 1 refused by a case, 1 cannot be written.";
    let case = "[01-a/b](../../tests/adversarial/01-a/b)";
    let two = format!("{case}, [02-c/d](../../tests/adversarial/02-c/d)");
    for (here, counted, expected) in [
        (case, both, ""),
        (&two, both, "no 02-c/d"),
        ("no clock", "2 of 2: 0 refused by a case, 2 cannot be written.", ""),
        (case, "2 of 2: 2 refused by a case, 0 cannot be written.", "the page does not say"),
        ("", "2 of 2: 0 refused by a case, 1 cannot be written.", "neither cases nor a reason"),
        ("no luck", "2 of 2: 0 refused by a case, 1 cannot be written.", "neither cases nor a reason"),
        (
            "[01-a/b](../../tests/adversarial/01-a/c)",
            "2 of 2: 0 refused by a case, 1 cannot be written.",
            "neither cases",
        ),
        (&format!("{case} | more"), "2 of 2: 0 refused by a case, 1 cannot be written.", "4 cells of 3"),
    ] {
        let found = complaints(&page(here, counted), none).join("\n");
        assert!(found.is_empty() == expected.is_empty() && found.contains(expected), "{here}: {found}");
    }
}
