//! The pass on one graph: run twice, because what it returns must depend on nothing but the graph. What the host answers
//! meanwhile is at the pass's expense.

use crate::account::Account;
use crate::check::{Checker, Refused};
use crate::event::{Event, VariantPlace};
use passhost_child::guest::GuestError;
use passhost_child::guest_failure;
use passhost_ir::Graph;
use passhost_ir::verify::{GraphError, check_counts};
use passhost_protocol::encode;
use passhost_protocol::guest::{self, GuestFailure, Limit};
use passhost_result::GuestUsage;
use passhost_result::document::{Blame, Graphs, Rewrite, Variant, failure, inserts_calls, rewrite_sha256};
use passhost_result::untrusted::{indented, one_line};
use passhost_score::FailureClass;

/// Characters of a line of an excerpt.
const EXCERPT: usize = 200;

/// Runs the pass twice and returns what it made of the graph.
pub(crate) fn rewrite(
    checker: &mut Checker<'_>,
    functional: &Graph,
    variant: &mut Variant,
    place: &VariantPlace,
    account: &mut Account,
) -> Result<Graph, Refused> {
    let (first, usage) = run(checker, functional, variant, place, account)?;
    let (second, _) = run(checker, functional, variant, place, account)?;
    pay(checker, account)?;
    // Encoded: a NaN equals itself there, and zeros of two signs differ.
    if !matches!((encode(&first), encode(&second)), (Ok(first), Ok(second)) if first == second) {
        let message = "two runs of the pass on the same graph gave different rewrites";
        let hint = "a pass must be a pure function; do not iterate over hash maps with random keys";
        let failure = failure(Blame::Plugin, "rewrite", message, hint);
        return Err(Refused { class: FailureClass::Integrity, failure });
    }
    if first.refusals_left_out > 0 {
        let left_out = first.refusals_left_out;
        variant.notes.push(format!("the pass gave reasons for what it left alone, of which {left_out} are left out"));
    }
    variant.usage = Some(usage);
    let text = first.graph.to_string();
    variant.rewrite = Some(Rewrite {
        sha256: rewrite_sha256(&text, checker.device, &checker.supervisor.config.policy),
        nodes_before: functional.nodes.len(),
        nodes_after: first.graph.nodes.len(),
        kernels: 0,
        pass_miss: false,
        refusals: first.refusals,
        graphs: Graphs::of(functional, text),
    });
    Ok(first.graph)
}

/// Refuses a rewrite whose author has had more of the host's time than there is.
pub(crate) fn pay(checker: &Checker<'_>, account: &Account) -> Result<(), Refused> {
    if !account.is_overdrawn() {
        return Ok(());
    }
    let value = checker.supervisor.config.limits.answers_ms;
    let overdrawn = GuestError::Plugin(GuestFailure::Limit { limit: Limit::Answers, value });
    Err(Refused { class: FailureClass::Compile, failure: guest_failure("rewrite", overdrawn) })
}

/// Runs the pass. A child that dies is replaced once: a pass that kills it twice has done it itself.
fn run(
    checker: &mut Checker<'_>,
    graph: &Graph,
    variant: &mut Variant,
    place: &VariantPlace,
    account: &mut Account,
) -> Result<(guest::Rewrite, GuestUsage), Refused> {
    let refused = |error| Refused { class: FailureClass::Compile, failure: guest_failure("rewrite", error) };
    let answer = match run_once(checker, graph, account) {
        Err(GuestError::Child(error)) => {
            let note = format!("{error}; the pass was run again in a fresh one");
            reload(checker);
            checker.supervisor.tell(&Event::ChildReplaced { place: place.clone(), message: one_line(&note, 600) });
            let again = run_once(checker, graph, account);
            if again.is_ok() {
                variant.notes.push(note);
            }
            again
        }
        answer => answer,
    };
    match answer {
        Ok((Ok(mut rewrite), usage)) => {
            // The child has seen to both, unless a plugin has taken it over.
            rewrite.bound_refusals();
            check_counts(graph, &rewrite.graph).map_err(|error| refused_graph(&error, &rewrite.graph, variant))?;
            Ok((rewrite, usage))
        }
        Ok((Err(error), usage)) => {
            variant.usage = Some(usage);
            Err(refused(GuestError::Plugin(error)))
        }
        Err(error) => {
            // Whatever state the child is in, the next variant starts with a fresh one.
            reload(checker);
            Err(refused(error))
        }
    }
}

/// Where a refused graph is wrong, fit for a terminal.
pub(crate) fn excerpt(error: &GraphError, graph: &Graph) -> Vec<String> {
    error.excerpt(graph).iter().map(|line| indented(line, EXCERPT)).collect()
}

/// A graph that the verifier refuses. The variant says where in its text.
pub(crate) fn refused_graph(error: &GraphError, graph: &Graph, variant: &mut Variant) -> Refused {
    variant.excerpt = excerpt(error, graph);
    let hint = "`passhost show --after` prints the graph that the pass returned";
    Refused { class: FailureClass::Compile, failure: failure(Blame::Plugin, "verify", error, hint) }
}

fn reload(checker: &mut Checker<'_>) {
    let (config, cache) = (&checker.supervisor.config, checker.supervisor.cache.as_ref());
    checker.plugins.own_mut().reload(config.limits, cache);
}

type Answer = (Result<guest::Rewrite, GuestFailure>, GuestUsage);

fn run_once(checker: &mut Checker<'_>, graph: &Graph, account: &mut Account) -> Result<Answer, GuestError> {
    let calls = infer_calls(graph, checker.supervisor.config.limits.infer_calls);
    let inserts = inserts_calls(&checker.supervisor.config.policy);
    match checker.plugins.own_mut().guest() {
        Ok(guest) => guest.run(graph, checker.device, inserts, calls, &mut account.pays(&mut checker.types)),
        Err(failure) => Err(GuestError::Plugin(GuestFailure::Host(failure.message.clone()))),
    }
}

/// Questions about types that a pass may ask about a graph: ten for each node on top of the limit.
pub fn infer_calls(graph: &Graph, limit: u64) -> u64 {
    10 * graph.nodes.len() as u64 + limit
}
