//! Comparisons.

use super::{Accepts, operations};
use crate::kernel::scalar::Num;

operations! {
    /// Two operands of one type, result `bool`. False if either is NaN, but for `Ne`, which is true.
    enum Compare: "comparison";

    /// What is usual takes everything that is calculated with.
    row CompareRow {
        /// The types that it takes.
        pub takes: Accepts = Accepts::Compute,
        /// Whether it holds for floats.
        pub float: fn(&f64, &f64) -> bool = |_, _| false,
        /// Whether it holds for integers or `bool`.
        pub integer: fn(&i64, &i64) -> bool = |_, _| false,
    }

    {
        /// Equal.
        Eq = "eq" { float: PartialEq::eq, integer: PartialEq::eq }
        /// Not equal.
        Ne = "ne" { float: PartialEq::ne, integer: PartialEq::ne }
        /// Less.
        Lt = "lt" { float: PartialOrd::lt, integer: PartialOrd::lt }
        /// Less or equal.
        Le = "le" { float: PartialOrd::le, integer: PartialOrd::le }
        /// Greater.
        Gt = "gt" { float: PartialOrd::gt, integer: PartialOrd::gt }
        /// Greater or equal.
        Ge = "ge" { float: PartialOrd::ge, integer: PartialOrd::ge }
    }
}

impl Compare {
    /// Whether it holds of two values of one type.
    pub fn holds(self, a: Num, b: Num) -> bool {
        match (a, b) {
            (Num::Int(a), Num::Int(b)) => (self.integer())(&a, &b),
            (a, b) => (self.float())(&a.as_f64(), &b.as_f64()),
        }
    }
}
