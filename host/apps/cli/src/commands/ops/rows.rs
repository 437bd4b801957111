//! All overloads of an op in one row, with what GraphNet has of them.

use crate::exit::Stop;
use passhost_corpus::lowerings::{Calls, Lowerings, NO_LOWERING, read};
use passhost_corpus::quantities::count;
use passhost_guest_sdk::lower::{LoweringCoverage, coverage};
use passhost_ir::{OpName, OpTable};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What `scripts/lowerings` wrote of GraphNet.
pub const COUNTS: &str = include_str!("graphnet.txt");

/// Reasons that are spelt out for one op.
const REASONS: usize = 3;

/// An op.
pub struct OpSummary {
    /// Its name, without an overload.
    pub name: &'static str,
    /// What becomes of each overload that a pass may see.
    pub standings: Vec<(&'static OpName, LoweringCoverage)>,
    /// Calls of all overloads.
    pub calls: Calls,
}

/// The calls of GraphNet's graphs by op.
pub fn graphnet() -> Result<Lowerings, Stop> {
    read(COUNTS).map_err(|error| Stop::host(format!("the counts of GraphNet: {error}")))
}

/// All ops, those with most calls first.
pub fn rows() -> Result<Vec<OpSummary>, Stop> {
    let counts = graphnet()?;
    let mut by_name: BTreeMap<&str, OpSummary> = BTreeMap::new();
    for schema in OpTable::all().iter().filter(|schema| !schema.is_in_place()) {
        let name = schema.op.name.as_str();
        let row = by_name.entry(name).or_insert_with(|| OpSummary { name, standings: vec![], calls: Calls::default() });
        row.standings.extend(coverage(&schema.op).map(|coverage| (&schema.op, coverage)));
        if let Some(calls) = counts.get(&schema.op.to_string()) {
            row.calls.add(calls);
        }
    }
    let mut rows: Vec<OpSummary> = by_name.into_values().collect();
    rows.sort_by_key(|row| Reverse(row.calls.calls));
    Ok(rows)
}

impl OpSummary {
    /// Whether some calls may become part of a kernel.
    pub fn is_lowered(&self) -> bool {
        self.standings.iter().any(|(_, coverage)| matches!(coverage, LoweringCoverage::Kernel { .. }))
    }

    /// Why calls stay, where all do.
    pub fn reason(&self) -> Option<&'static str> {
        match self.standings.first() {
            Some((_, LoweringCoverage::Library(reason))) if !self.is_lowered() => Some(reason),
            _ => None,
        }
    }

    /// In a word or two.
    pub fn becomes(&self) -> String {
        let Calls { calls, kernels, views, .. } = self.calls;
        let covered = kernels + views;
        let is_view = self.standings.iter().all(|(_, coverage)| *coverage == LoweringCoverage::View);
        match () {
            () if self.reason().is_some() => "call".to_owned(),
            () if calls > 0 && covered < calls && covered > 0 => {
                // Rounded down: all but one are not all.
                let tenths = covered * 1000 / calls;
                format!("{}, {}.{}%", self.kind(), tenths / 10, tenths % 10)
            }
            () if calls > 0 && covered == 0 => "call".to_owned(),
            () if is_view => "view".to_owned(),
            () => self.kind().to_owned(),
        }
    }

    fn kind(&self) -> &'static str {
        match (self.calls.kernels, self.calls.views) {
            (0, 1..) => "view",
            (1.., 1..) => "kernel or view",
            _ => "kernel",
        }
    }

    /// What calls must be like, which overloads stay, and why calls of GraphNet do.
    pub fn notes(&self) -> Vec<String> {
        if let Some(reason) = self.reason() {
            return vec![reason.to_owned()];
        }
        let mut notes = vec![];
        let conditions = self.standings.iter().find_map(|(_, coverage)| match coverage {
            LoweringCoverage::Kernel { condition } => *condition,
            _ => None,
        });
        notes.extend(conditions.map(str::to_owned));
        for (op, coverage) in &self.standings {
            if let LoweringCoverage::Library(reason) = coverage {
                notes.push(format!("`{}` stays: {reason}", op.overload));
            }
        }
        let mut refused: Vec<(&String, &u64)> = self.calls.refused.iter().collect();
        refused.retain(|(reason, _)| *reason != NO_LOWERING);
        refused.sort_by_key(|(_, calls)| Reverse(**calls));
        let of_calls = |(reason, calls): &(&String, &u64)| {
            format!("{} {} not: {reason}", count(**calls), if **calls == 1 { "is" } else { "are" })
        };
        notes.extend(refused.iter().take(REASONS).map(of_calls));
        notes
    }
}
