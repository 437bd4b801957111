//! Programs with in-place ops against their functional graphs, on the CPU.

#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and its helpers with it"
)]

mod ops;
mod random;
mod run;

use passhost_ir::Graph;

fn start() {
    passhost_torch::process::set_threads(2);
}

#[test]
fn functional_graphs_calculate_what_programs_write() {
    start();
    let blocks = include_str!("../../../../core/ir/src/functional/programs.txt").split("\n\n# ").skip(1);
    let mut count = 0;
    for (title, text) in blocks.filter_map(|block| block.split_once('\n')) {
        let program = Graph::parse(text).unwrap_or_else(|error| panic!("{title}: {error}"));
        for seed in [1, 77] {
            run::check(&program, title, seed).unwrap_or_else(|error| panic!("{title}: {error}"));
        }
        count += 1;
    }
    assert!(count > 40, "{count} programs");
}

#[test]
fn random_programs_and_their_functional_graphs_calculate_the_same() {
    start();
    let (mut refused, mut written_back) = (vec![], 0);
    for seed in 0..300 {
        let program = random::program(seed);
        match run::check(&program, &format!("seed {seed}"), seed) {
            Ok(functional) => written_back += functional.graph.nodes.len().saturating_sub(program.nodes.len()),
            Err(error) => refused.push(error),
        }
    }
    assert!(refused.len() < 40, "{} programs are refused:\n{}", refused.len(), refused.join("\n"));
    assert!(written_back > 1_000, "only {written_back} nodes were added");
}
