//! What notes of a result are about.

use std::fmt;

macro_rules! note_kinds {
    ($($(#[$about:meta])* $kind:ident => $term:literal,)*) => {
        /// A kind of note. Notes change no verdict and no score; each ends with the term of its kind, which
        /// `passhost explain` takes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum NoteKind {
            $($(#[$about])* $kind,)*
        }

        impl NoteKind {
            /// Every kind, in the order of the declaration.
            pub const ALL: &'static [NoteKind] = &[$(NoteKind::$kind),*];

            /// What stands behind a note, and what `passhost explain` takes.
            pub fn term(self) -> &'static str {
                match self {
                    $(NoteKind::$kind => $term,)*
                }
            }
        }
    };
}

note_kinds! {
    /// A graph amplifies roundings so that a round with scaled inputs says nothing.
    AmplifiedRounding => "amplified rounding",
    /// A baseline is tried on ordinary inputs alone.
    BaselineInputs => "baseline inputs",
    /// The budget had no room for something.
    Budget => "budget",
    /// Inserted nodes that no input reaches.
    ConstantNodes => "constant nodes",
    /// No schedule of a kernel could be measured.
    DefaultSchedules => "default schedules",
    /// After a finding the rewrite failed in another way, too.
    EndedEarly => "ended early",
    /// An input is the same in every round.
    FixedInput => "fixed input",
    /// An output is the same in every draw of the inputs.
    FixedOutput => "fixed output",
    /// Fewer hidden sizes were tried than the policy asks for.
    HiddenSizes => "hidden sizes",
    /// Launches took longer than the host can.
    HostSpread => "host spread",
    /// A type was inferred otherwise than a run gave it.
    InferredType => "bug of passhost",
    /// Something in an inserted kernel is worth a look.
    KernelRemark => "kernel remark",
    /// The reference fails in double precision.
    NoDoublePrecisionRun => "no double precision run",
    /// Eager ran at another speed in the control run than beside the rewrite.
    Noise => "noise",
    /// Some reasons of the pass for what it left alone were too many.
    ReasonsLeftOut => "reasons left out",
    /// A process of the plugin or the reader died, and a fresh one did its work.
    RestartedProcess => "restarted process",
    /// The kernel lacks a part of a sandbox.
    Sandbox => "sandbox",
}

impl NoteKind {
    /// A note of this kind: the text, then the term in brackets.
    pub fn note(self, text: impl fmt::Display) -> String {
        format!("{text} ({})", self.term())
    }
}
