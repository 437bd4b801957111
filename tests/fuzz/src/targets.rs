//! The targets by name, and what a run of each needs.

use crate::campaign::Programs;
use crate::frames;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What can be fuzzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub enum Name {
    /// Plugin files against the static checks.
    Validate,
    /// Plugin files against the compiler, in guest children.
    Compile,
    /// Plugin files against the runtime, in guest children.
    Run,
    /// Returned graphs, and messages with them, against the verifier.
    Rewrites,
    /// Random kernels: verifier and CPU executor against the interpreter.
    Kernels,
    /// Random kernels: what the CUDA generator takes for granted, at every point.
    Claims,
    /// Files of samples against the reader.
    Samples,
    /// Directories of samples against reader children.
    Reader,
    /// Lying children against the supervisor.
    Frames,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
    }
}

impl Name {
    /// Wall clock of one case, far above what any takes: past it the host hangs.
    pub fn deadline(self) -> Duration {
        Duration::from_secs(match self {
            Name::Validate | Name::Rewrites | Name::Kernels | Name::Claims | Name::Samples => 60,
            Name::Compile | Name::Run | Name::Reader => 120,
            Name::Frames => 300,
        })
    }

    /// The program that cases run in, with those beside it that the host starts.
    pub(crate) fn programs(self) -> std::io::Result<Programs> {
        let worker = passhost_child::beside_this_executable("passhost-fuzz");
        match self {
            Name::Frames => frames::stand_ins(&worker),
            _ => Ok(Programs { worker, directory: None::<tempfile::TempDir> }),
        }
    }
}

/// Does something with a target, whose type differs from name to name.
macro_rules! each {
    ($name:expr, $target:ident => $with:expr) => {{
        use $crate::targets::Name;
        match $name {
            Name::Validate => {
                let $target = $crate::components::Validate::new();
                $with
            }
            Name::Compile => {
                let $target = $crate::components::Compile::new();
                $with
            }
            Name::Run => {
                let $target = $crate::components::Run::new();
                $with
            }
            Name::Rewrites => {
                let $target = $crate::rewrites::Rewrites::new();
                $with
            }
            Name::Kernels => {
                let $target = Ok::<_, String>($crate::kernels::Kernels);
                $with
            }
            Name::Claims => {
                let $target = Ok::<_, String>($crate::claims::Claims);
                $with
            }
            Name::Samples => {
                let $target = $crate::samples::Samples::new();
                $with
            }
            Name::Reader => {
                let $target = $crate::samples::Reader::new();
                $with
            }
            Name::Frames => {
                let $target = $crate::frames::Frames::new();
                $with
            }
        }
    }};
}
pub(crate) use each;

/// Where cases are written that show something wrong, unless said otherwise.
pub fn failures() -> PathBuf {
    PathBuf::from("fuzz-failures")
}
