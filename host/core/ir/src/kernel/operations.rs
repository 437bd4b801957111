//! The scalar operations of the kernel language, each defined once: a row of a table for each kind of operation.
//!
//! A row names the operation and says which types it takes and gives, what it means, how exact an executor must be, and
//! what the analyses need to know of it. The verifier, the interpreter, the generator of random kernels, the text form
//! and the interface of plugins read the columns; nobody else lists operations. An executor adds a column of its own
//! where it is at home: `host/run/kernels` has one for the CPU and one for CUDA, and neither compiles with an
//! operation missing.
//!
//! Each column is a function with a match, not one table in memory: so a plugin that verifies its kernels does not carry
//! the functions that only an interpreter calls.

mod binary;
mod compare;
mod names;
mod reduce;
mod unary;

pub use binary::{Binary, Errors};
pub use compare::Compare;
pub use names::{NameList, NamedOperation, UnknownOperation, named};
pub use reduce::{IdentityElement, ReduceOp, ScanOp};
pub use unary::{Monotonicity, Unary};

use crate::Dtype;

/// How far a transcendental function of an executor may be off, in units in the last place of its type.
pub const TRANSCENDENTAL_ULPS: f64 = 2.0;

/// A set of types that an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    /// `f32` and `f64`.
    Floats,
    /// `i32` and `i64`.
    Integers,
    /// Floats and integers.
    Numbers,
    /// `bool` and integers.
    Bits,
    /// Everything that is calculated with.
    Compute,
    /// What sums and products accumulate in.
    Accumulators,
    /// `bool` alone.
    Bool,
    /// Everything that is stored, too.
    Any,
}

impl Accepts {
    /// Whether the set holds a type.
    pub fn holds(self, dtype: Dtype) -> bool {
        use Dtype::{Bool, F32, F64, I32, I64};
        match self {
            Accepts::Floats => matches!(dtype, F32 | F64),
            Accepts::Integers => matches!(dtype, I32 | I64),
            Accepts::Numbers => matches!(dtype, I32 | I64 | F32 | F64),
            Accepts::Bits => matches!(dtype, Bool | I32 | I64),
            Accepts::Compute => dtype.is_compute(),
            Accepts::Accumulators => matches!(dtype, I64 | F32 | F64),
            Accepts::Bool => dtype == Bool,
            Accepts::Any => !dtype.is_complex(),
        }
    }

    /// The types, for a message.
    pub const fn text(self) -> &'static str {
        match self {
            Accepts::Floats => "f32 or f64",
            Accepts::Integers => "i32 or i64",
            Accepts::Numbers => "i32, i64, f32 or f64",
            Accepts::Bits => "bool, i32 or i64",
            Accepts::Compute => "bool, i32, i64, f32 or f64",
            Accepts::Accumulators => "i64, f32 or f64",
            Accepts::Bool => "bool",
            Accepts::Any => "any type but complex ones",
        }
    }
}

/// The type of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// That of the operands.
    Operand,
    /// `bool`.
    Bool,
    /// `i64`: a position among the elements.
    Position,
}

impl Gives {
    /// The result's type, given the operands'.
    pub const fn of(self, operand: Dtype) -> Dtype {
        match self {
            Gives::Operand => operand,
            Gives::Bool => Dtype::Bool,
            Gives::Position => Dtype::I64,
        }
    }
}

/// What the generator of random kernels mostly gives an operation as its first operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandDraw {
    /// Anything.
    Any,
    /// A magnitude of at most 1: the result grows fast, and infinities would fill every kernel.
    Small,
    /// A positive number: the result of others is not a number.
    Positive,
    /// A number away from integers: next to one, the error of an ulp decides.
    Uneven,
}

/// Makes an enum of a table, and a method of each of its columns. What a row leaves out is as in the row type's `USUAL`.
macro_rules! operations {
    (
        $(#[$meta:meta])*
        enum $name:ident: $kind:literal;
        $(#[$row_meta:meta])*
        row $row:ident {
            $($(#[$column_doc:meta])* $vis:vis $column:ident: $ty:ty = $usual:expr),* $(,)?
        }
        $rows:tt
    ) => {
        operations!(@enum [$(#[$meta])*] $name $kind $rows);

        $(#[$row_meta])*
        #[derive(Clone, Copy)]
        struct $row { $($column: $ty),* }

        impl $row {
            const USUAL: $row = $row { $($column: $usual),* };
        }

        impl $name {
            $(
                $(#[$column_doc])*
                $vis const fn $column(self) -> $ty {
                    operations!(@column self $name $row $column $rows)
                }
            )*
        }
    };
    (
        @enum [$($meta:tt)*] $name:ident $kind:literal {
            $($(#[$doc:meta])* $variant:ident = $text:literal { $($row:tt)* })*
        }
    ) => {
        $($meta)*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name { $($(#[$doc])* $variant),* }

        impl $name {
            /// Every operation of this kind, in the order of the table.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The name, in the text form and in the interface of plugins.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// The operation with this name.
            pub fn from_name(name: &str) -> Option<$name> {
                // A comparison for each name would be longer than all other code of a small component that reads kernels.
                $name::ALL.iter().copied().find(|operation| operation.name() == name)
            }
        }

        impl super::NamedOperation for $name {
            const KIND: &'static str = $kind;

            fn text(self) -> &'static str {
                self.name()
            }

            fn find(name: &str) -> Option<$name> {
                $name::from_name(name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
    (
        @column $self:ident $name:ident $type:ident $column:ident {
            $($(#[$doc:meta])* $variant:ident = $text:literal { $($field:ident: $value:expr),* $(,)? })*
        }
    ) => {
        match $self {
            $($name::$variant => {
                #[allow(clippy::needless_update, reason = "some rows say everything themselves")]
                const ROW: $type = $type { $($field: $value,)* ..$type::USUAL };
                ROW.$column
            })*
        }
    };
}
use operations;

#[cfg(test)]
mod tests {
    use super::*;

    /// A name belongs to one operation among those that the text form does not tell apart by a word before it.
    #[test]
    fn names_are_unique_and_found() {
        let pointwise = Unary::ALL.iter().map(|op| op.name()).chain(Binary::ALL.iter().map(|op| op.name()));
        let mut names: Vec<&str> = pointwise.chain(Compare::ALL.iter().map(|op| op.name())).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(Unary::ALL.iter().all(|op| Unary::from_name(op.name()) == Some(*op)));
        assert!(ReduceOp::ALL.iter().all(|op| ReduceOp::from_name(op.name()) == Some(*op)));
        assert_eq!(Unary::from_name("no such operation"), None);
    }

    /// A row that leaves out a function for a type that it admits would fall back to the first operand.
    #[test]
    fn operations_mean_something_for_every_type_that_they_take() {
        for op in Unary::ALL {
            if op.takes().holds(Dtype::F32) {
                let points = [-2.5, -0.7, 0.3, 0.5, 1.7, 2.5, f64::NAN];
                assert!(points.iter().any(|&x| (op.float())(x).to_bits() != x.to_bits()), "{op} of floats");
            }
            if op.takes().holds(Dtype::I32) {
                assert!([-2, 0, 3].iter().any(|&x| (op.integer())(x) != x), "{op} of integers");
            }
        }
        for op in Binary::ALL {
            if op.takes().holds(Dtype::F32) {
                let points = [(0.3, 2.5), (2.5, 0.3)];
                assert!(points.iter().any(|&(x, y)| (op.float())(x, y) != x), "{op} of floats");
            }
            if op.takes().holds(Dtype::I32) {
                assert!(
                    [(6, 3), (3, 5)].iter().any(|&(x, y)| (op.integer())(Dtype::I32, x, y) != x),
                    "{op} of integers"
                );
            }
        }
    }
}
