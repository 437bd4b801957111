//! Inferred types against real runs, for every op on the sample list.

#![allow(clippy::panic, reason = "a test fails by panicking")]

mod notation;
mod operands;
mod tables;

use notation::{Case, Expectation, cases};
use operands::filled;
use passhost_ir::{Arg, Infer, OpTable, TensorType};
use passhost_torch::{MetaInfer, PreparedCall, Target, Tensor};
use std::collections::BTreeSet;
use tables::TABLES;

/// Runs the op on real tensors of these types.
fn run(case: &Case<'_>) -> Result<Vec<TensorType>, String> {
    let tensors: Vec<Tensor> = case.args.iter().flat_map(Arg::values).map(filled).collect();
    let target = Target::cpu().inference();
    let call = PreparedCall::new(&target, &case.op, &case.args).map_err(|error| error.to_string())?;
    let operands: Vec<&Tensor> = tensors.iter().collect();
    let results = target.within(|scope| call.call(scope, &operands)).map_err(|error| error.to_string())?;
    Ok(results.iter().map(Tensor::ty).collect())
}

/// What is wrong with the inference in this case. `runs` says whether the CPU runs it.
fn disagreement(case: &Case<'_>, runs: &mut bool) -> Option<String> {
    let shown = |types: &[TensorType]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let inferred = MetaInfer.infer(&case.op, &case.args).map_err(|error| error.to_string());
    let real = run(case);
    *runs = real.is_ok();
    let fits = match (case.expectation, &inferred, &real) {
        (Expectation::Agreement, Ok(inferred), Ok(real)) => inferred == real,
        (Expectation::Agreement, Err(_), Err(_)) => true,
        (Expectation::Refused(words), Err(message), Err(_)) | (Expectation::Unknown(words), Err(message), Ok(_)) => {
            message.contains(words)
        }
        _ => false,
    };
    let inferred = inferred.map_or_else(|message| message, |types| shown(&types));
    let real = real.map_or_else(|message| message, |types| shown(&types));
    (!fits).then(|| format!("{}\n  {:?}\n  inferred {inferred}\n  the CPU  {real}", case.text, case.expectation))
}

/// What is wrong with the inference in a table.
fn disagreements(table: &str) -> Vec<String> {
    let mut wrong = vec![];
    for line in cases(table).chunk_by(|a, b| a.line == b.line) {
        let mut any = false;
        for case in line {
            let mut runs = false;
            wrong.extend(disagreement(case, &mut runs));
            any |= runs;
        }
        // Lines of which the CPU runs nothing are mistakes, unless they say so.
        if !any && line[0].expectation == Expectation::Agreement {
            wrong.push(format!("{}\n  the CPU runs none of these", line[0].line));
        }
    }
    wrong
}

#[test]
fn inferred_types_are_those_of_a_real_run() {
    passhost_torch::process::set_threads(2);
    let mut wrong = vec![];
    for (name, table) in TABLES {
        wrong.extend(disagreements(table).into_iter().map(|text| format!("{name}: {text}")));
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_op_on_the_sample_list_has_a_case_that_the_cpu_runs() {
    passhost_torch::process::set_threads(2);
    let mut missing: BTreeSet<String> = OpTable::sample().iter().map(|schema| schema.op.to_string()).collect();
    for case in TABLES.iter().flat_map(|(_, table)| cases(table)) {
        let name = case.op.to_string();
        if case.expectation == Expectation::Agreement && missing.contains(&name) && run(&case).is_ok() {
            missing.remove(&name);
        }
    }
    assert_eq!(missing, BTreeSet::new());
}
