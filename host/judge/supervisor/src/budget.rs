//! What the budget has no room for.

use passhost_result::Settings;
use std::time::Duration;

/// How many times the budget the least that is done may take before its user is told.
const FACTOR: u32 = 10;

/// What a round takes, in times of drawing the inputs and running eager once: eager, the rewrite, a run in double precision
/// and the comparisons.
const ROUND: u32 = 4;

/// What is said before a variant is measured whose least rounds take more than ten times the budget, where drawing its
/// inputs and running eager once took `loading`; `None` where they take less.
pub(crate) fn warning(loading: Duration, settings: &Settings) -> Option<String> {
    // At least one round of each kind, whatever the budget is.
    let others = if settings.quick { 0 } else { 1 + u32::from(settings.edge_case_rounds) };
    let rounds = settings.rounds.saturating_add(others);
    let least = loading.saturating_mul(ROUND).saturating_mul(rounds);
    let budget = Duration::from_millis(settings.budget_ms);
    // Rounds have half a second however small the budget is.
    if least < budget.max(settings.for_rounds()).saturating_mul(FACTOR) {
        return None;
    }
    let quick = if settings.quick { "" } else { "--quick or " };
    let what = if rounds == 1 {
        "the round that every check has takes".into()
    } else {
        format!("the {rounds} rounds that every check has take")
    };
    Some(format!(
        "{what} about {:.0} s, and the budget is {} s: use {quick}a smaller variant (--variant), or wait",
        least.as_secs_f64(),
        budget.as_secs_f64()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_rounds_that_take_ten_times_the_budget_are_told_of_before_they_run() {
        let settings = |budget_ms| Settings { budget_ms, ..Settings::default() };
        let said = warning(Duration::from_secs(12), &settings(300));
        let expected = "the 5 rounds that every check has take about 240 s, and the budget is 0.3 s: use --quick or a smaller \
                        variant (--variant), or wait";
        assert_eq!(said.as_deref(), Some(expected));
        let quick = warning(Duration::from_secs(12), &settings(300).quickly());
        assert!(quick.is_some_and(
            |said| said.contains("the round that every check has takes about 48 s") && !said.contains("--quick")
        ));
        for (loading, budget_ms, is_said) in
            [(12_000, 10_000, true), (4_000, 10_000, false), (240, 300, false), (260, 300, true), (260, 0, true)]
        {
            let said = warning(Duration::from_millis(loading), &settings(budget_ms));
            assert_eq!(said.is_some(), is_said, "{loading} ms with a budget of {budget_ms} ms: {said:?}");
        }
    }
}
