//! The files of `deploy/` start `passhost` with commands and options that it has.

use passhost_tests::{Passhost, command, repository};

/// The words after `passhost` in a file, command by command: lists of words in YAML, lines in a script.
fn commands(name: &str, text: &str) -> Vec<Vec<String>> {
    let lists = text.lines().filter_map(|line| {
        let list = ["args: ", "command: "].iter().find_map(|key| line.trim_start().strip_prefix(key))?;
        let words: Result<Vec<String>, _> = serde_json::from_str(list);
        assert!(words.is_ok(), "{name}: {list}: {words:?}");
        words.ok().filter(|words| words.first().is_some_and(|word| word != "sh"))
    });
    let lines = text.lines().filter_map(|line| command(name, line.strip_prefix("exec ")?, true)).map(|line| line.words);
    lists.chain(lines).collect()
}

#[test]
fn what_the_files_start_is_there() {
    for (name, expected) in [
        ("kubernetes.yaml", &["serve", "worker"][..]),
        ("compose.yaml", &["serve", "worker"]),
        ("slurm.sh", &["worker"]),
    ] {
        let text = std::fs::read_to_string(repository().join("deploy").join(name)).unwrap_or_default();
        let found = commands(name, &text);
        assert_eq!(found.iter().map(|words| &*words[0]).collect::<Vec<_>>(), expected, "{name}");
        for words in found {
            let help = Passhost::new([&words[0], "--help"]).run();
            for option in words.iter().filter(|word| word.starts_with("--")) {
                help.expect_end(0, &[&format!("{option} <")]);
            }
            // A sample list that is there, and nothing else beside options.
            let (list, options) = (&words[1], &words[2..]);
            assert!(repository().join("samples").join(list.rsplit('/').next().unwrap_or_default()).exists(), "{list}");
            assert!(options.chunks(2).all(|pair| pair.len() == 2 && pair[0].starts_with("--")), "{name}: {options:?}");
        }
    }
}

#[test]
fn containers_are_unprivileged() {
    let text = std::fs::read_to_string(repository().join("deploy/kubernetes.yaml")).unwrap_or_default();
    let count = |part: &str| text.matches(part).count();
    let containers = count("          image: passhost\n");
    let confined = "{readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}";
    assert_eq!((containers, count(confined), count("runAsNonRoot: true")), (3, 3, 2));
    assert_eq!(
        (count("nvidia.com/gpu: 1"), count("readinessProbe:"), count("terminationGracePeriodSeconds:")),
        (1, 2, 2)
    );
}
