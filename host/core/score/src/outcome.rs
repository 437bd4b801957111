//! What became of one graph variant.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::options::Interpretation;

/// Why a variant is not right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The rewrite ran, its values are wrong.
    Accuracy,
    /// An output has another dtype than eager's.
    TypeMismatch,
    /// An output has another shape than eager's.
    ShapeMismatch,
    /// An output has NaN or Inf where eager's has none.
    NanInf,
    /// The rewrite failed while it ran.
    Runtime,
    /// The plugin does not load, traps, exceeds a limit, or returns an invalid graph.
    Compile,
    /// Eager itself failed: the sample's fault.
    Reference,
    /// The rewrite changed nothing that counts.
    PassMiss,
    /// The integrity checks found something.
    Integrity,
    /// Right in the sizes that it was judged on, and wrong or refused in others.
    ShapeOverfit,
}

impl FailureClass {
    /// Every class, in the order of the declaration.
    pub const ALL: [FailureClass; 10] = [
        FailureClass::Accuracy,
        FailureClass::TypeMismatch,
        FailureClass::ShapeMismatch,
        FailureClass::NanInf,
        FailureClass::Runtime,
        FailureClass::Compile,
        FailureClass::Reference,
        FailureClass::PassMiss,
        FailureClass::Integrity,
        FailureClass::ShapeOverfit,
    ];

    /// The t from which ES(t) counts the failure as a speedup of 1, `None` for never.
    pub fn tolerated_from(self, interpretation: Interpretation) -> Option<i8> {
        let (default, mismatch_extended) = match self {
            FailureClass::Accuracy => (1, 1),
            FailureClass::TypeMismatch | FailureClass::ShapeMismatch | FailureClass::NanInf => (3, 2),
            FailureClass::Runtime => (3, 3),
            FailureClass::Compile => (3, 4),
            FailureClass::Reference | FailureClass::PassMiss | FailureClass::Integrity | FailureClass::ShapeOverfit => {
                return None;
            }
        };
        Some(match interpretation {
            Interpretation::Default => default,
            Interpretation::MismatchExtended => mismatch_extended,
        })
    }

    /// Whether ES(t) counts the failure as a speedup of 1.
    pub fn is_tolerated(self, t: i8, interpretation: Interpretation) -> bool {
        self.tolerated_from(interpretation).is_some_and(|from| t >= from)
    }
}

impl fmt::Display for FailureClass {
    /// The name as in the serialised form.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// What became of one variant: outputs and times to compare, or the reason why there are none that count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariantOutcome {
    /// Both programs ran, and nothing but the distance of the outputs decides.
    Compared {
        /// Median eager end-to-end time over median rewritten end-to-end time; positive and finite.
        speedup: f64,
        /// The least t at which all outputs are right, from [`variant_passes_at`]; `None` if at none.
        #[serde(alias = "right_from")]
        passes_at: Option<i8>,
        /// Whether a trivial candidate (zeros, an input copied, the mean) is right at t = -2. Only AS strict asks.
        #[serde(alias = "trivial_right_at_minus_2")]
        trivial_passes_at_minus_2: bool,
        /// Whether it is wrong on inputs that are unusual, or on hidden sizes of them, but that the reference is right on.
        /// Only AS strict asks.
        #[serde(default)]
        #[serde(alias = "wrong_in_domain")]
        wrong_on_edge_cases: bool,
        /// Where a run in double precision may decide, by what AS strict goes in place of `passes_at`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided: Option<Decided>,
    },
    /// The variant is not right at any t. `Failed(Accuracy)` scores like a comparison that is right at none.
    Failed(FailureClass),
}

/// When a variant is right where each element may agree with eager's or with that of a run in double precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The least t at which all outputs are right so; `None` if at none.
    #[serde(alias = "right_from")]
    pub passes_at: Option<i8>,
}

impl VariantOutcome {
    /// The same where a run in double precision decides, if it may: what AS strict goes by.
    pub(crate) fn decided(self) -> VariantOutcome {
        match self {
            VariantOutcome::Compared {
                speedup,
                decided: decided @ Some(Decided { passes_at }),
                trivial_passes_at_minus_2,
                wrong_on_edge_cases,
                ..
            } => {
                VariantOutcome::Compared { speedup, passes_at, trivial_passes_at_minus_2, wrong_on_edge_cases, decided }
            }
            other => other,
        }
    }

    /// The speedup if the variant is right at `t`, else the class of its failure there.
    ///
    /// Outputs that are right at some t only are an accuracy failure below it.
    pub fn at(&self, t: i8) -> Result<f64, FailureClass> {
        match *self {
            VariantOutcome::Compared { speedup, passes_at: Some(from), .. } if t >= from => Ok(speedup),
            VariantOutcome::Compared { .. } => Err(FailureClass::Accuracy),
            VariantOutcome::Failed(class) => Err(class),
        }
    }
}

/// The least t at which a whole variant is right, from the same of each of its outputs.
///
/// A variant without outputs is right at none: there is nothing that could have been wrong. The reference
/// implementation calls that an accuracy failure too.
pub fn variant_passes_at(outputs: impl IntoIterator<Item = Option<i8>>) -> Option<i8> {
    let each_right: Option<Vec<i8>> = outputs.into_iter().collect();
    each_right?.into_iter().max()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod tests {
    use super::*;

    #[test]
    fn classes_are_tolerated_as_published() {
        for (class, default, mismatch_extended) in [
            (FailureClass::Accuracy, Some(1), Some(1)),
            (FailureClass::TypeMismatch, Some(3), Some(2)),
            (FailureClass::ShapeMismatch, Some(3), Some(2)),
            (FailureClass::NanInf, Some(3), Some(2)),
            (FailureClass::Runtime, Some(3), Some(3)),
            (FailureClass::Compile, Some(3), Some(4)),
            (FailureClass::Reference, None, None),
            (FailureClass::PassMiss, None, None),
            (FailureClass::Integrity, None, None),
            (FailureClass::ShapeOverfit, None, None),
        ] {
            assert_eq!(class.tolerated_from(Interpretation::Default), default, "{class}");
            assert_eq!(class.tolerated_from(Interpretation::MismatchExtended), mismatch_extended, "{class}");
        }
    }

    #[test]
    fn display_is_the_serialised_name() {
        for class in FailureClass::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{class}\""));
        }
    }

    #[test]
    fn a_variant_is_right_where_all_its_outputs_are() {
        for (outputs, expected) in [
            (vec![], None),
            (vec![Some(-7)], Some(-7)),
            (vec![Some(-7), Some(1), Some(-10)], Some(1)),
            (vec![Some(-7), None], None),
            (vec![Some(-10), Some(-3)], Some(-3)),
            (vec![Some(-10)], Some(-10)),
            (vec![None, Some(-10)], None),
        ] {
            assert_eq!(variant_passes_at(outputs.clone()), expected, "{outputs:?}");
        }
    }

    #[test]
    fn outputs_that_are_not_yet_right_are_an_accuracy_failure() {
        let late = VariantOutcome::Compared {
            speedup: 2.0,
            passes_at: Some(-3),
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        };
        assert_eq!(late.at(-4), Err(FailureClass::Accuracy));
        assert_eq!(late.at(-3), Ok(2.0));
        let never = VariantOutcome::Compared {
            speedup: 2.0,
            passes_at: None,
            trivial_passes_at_minus_2: false,
            wrong_on_edge_cases: false,
            decided: None,
        };
        assert_eq!(never.at(4), Err(FailureClass::Accuracy));
        assert_eq!(VariantOutcome::Failed(FailureClass::Compile).at(4), Err(FailureClass::Compile));
    }
}
