//! How strong the check of a variant is.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How many mutants of a variant's graph, plausible cheats of a few nodes each, the check refuses. Which survive is not for
/// everybody: it is a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Strength {
    /// Mutants that it refuses.
    pub killed: u32,
    /// Mutants that were tried and are not known to compute what the graph does.
    pub mutants: u32,
    /// Why it is not determined; the counts say nothing then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undetermined: Option<String>,
}

impl Strength {
    /// Mutants that the check calls right.
    pub fn survived(&self) -> u32 {
        self.mutants.saturating_sub(self.killed)
    }

    /// Of several variants together, those whose strength is determined; `None` where there are none.
    pub fn of_all<'s>(all: impl IntoIterator<Item = &'s Strength>) -> Option<Strength> {
        let known = all.into_iter().filter(|strength| strength.undetermined.is_none() && strength.mutants > 0);
        known.cloned().reduce(|sum, one| Strength {
            killed: sum.killed.saturating_add(one.killed),
            mutants: sum.mutants.saturating_add(one.mutants),
            undetermined: None,
        })
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.undetermined {
            Some(why) => write!(f, "not determined: {why}"),
            None if self.mutants == 0 => f.write_str("not determined: no mutant of its graph is known"),
            None => write!(f, "{} of {} mutants killed", self.killed, self.mutants),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_determined_adds_nothing_and_is_never_whole() {
        let of = |killed, mutants| Strength { killed, mutants, undetermined: None };
        let unknown = Strength { undetermined: Some("its graph is large".into()), ..of(0, 0) };
        assert_eq!(Strength::of_all(&[of(3, 4), unknown.clone(), of(5, 5)]), Some(of(8, 9)));
        assert_eq!(Strength::of_all(&[unknown.clone(), of(0, 0)]), None);
        assert_eq!(of(3, 4).to_string(), "3 of 4 mutants killed");
        assert_eq!(unknown.to_string(), "not determined: its graph is large");
        assert!(of(0, 0).to_string().starts_with("not determined"));
    }
}
