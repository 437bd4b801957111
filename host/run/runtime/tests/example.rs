//! The example runs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/run_graph.rs"]
mod run_graph;

#[test]
fn a_graph_runs_twice_without_a_library() {
    run_graph::main().unwrap();
}
