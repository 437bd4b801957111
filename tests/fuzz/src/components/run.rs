//! How far a plugin file gets: through the static checks, the compiler, a run.

use super::Source;
use crate::graphs;
use crate::random::Random;
use crate::target::{Outcome, Target, variant};
use passhost_child::guest::{Guest, GuestError};
use passhost_child::{Confinement, Plugin};
use passhost_ir::verify::check_counts;
use passhost_ir::{Arg, Graph, Infer, InferError, OpName, OpTable, TensorType, verify_rewrite};
use passhost_protocol::guest::GuestFailure;
use passhost_result::GuestLimits;

/// Limits of a case: enough for a pass on a small graph, and little to wait for.
fn limits() -> GuestLimits {
    GuestLimits { fuel: 100_000_000, memory: 64 << 20, deadline_ms: 5_000, infer_calls: 100, ..GuestLimits::default() }
}

/// The static checks, which need no child.
pub struct Validate(Source);

/// The compiler, in a guest child.
pub struct Compile(Source);

/// `describe` and a run on a graph, in a guest child, with the verification of what comes back.
pub struct Run {
    source: Source,
    graphs: Vec<Graph>,
}

impl Validate {
    /// With the plugins of the repository.
    ///
    /// # Errors
    ///
    /// If one was not built.
    pub fn new() -> Result<Validate, String> {
        Source::new().map(Validate)
    }
}

impl Compile {
    /// With the plugins of the repository.
    ///
    /// # Errors
    ///
    /// If one was not built.
    pub fn new() -> Result<Compile, String> {
        Source::new().map(Compile)
    }
}

impl Run {
    /// With the plugins of the repository, and graphs for them.
    ///
    /// # Errors
    ///
    /// If one was not built.
    pub fn new() -> Result<Run, String> {
        Ok(Run { source: Source::new()?, graphs: graphs::originals() })
    }
}

impl Target for Validate {
    type Case = Vec<u8>;

    fn make(&mut self, random: &mut Random) -> Vec<u8> {
        self.0.any(random)
    }

    fn run(&mut self, case: &Vec<u8>) -> Outcome {
        match passhost_sandbox::check::check(case, &GuestLimits::default()) {
            Ok(()) => Ok("passes the static checks".into()),
            Err(failure) => refused("refused", &failure),
        }
    }

    fn written(&self, case: &Vec<u8>) -> Vec<u8> {
        case.clone()
    }
}

impl Target for Compile {
    type Case = Vec<u8>;

    fn make(&mut self, random: &mut Random) -> Vec<u8> {
        self.0.valid(random)
    }

    fn run(&mut self, case: &Vec<u8>) -> Outcome {
        match load(case) {
            Ok(_) => Ok("compiles".into()),
            Err(error) => ended("refused", &error),
        }
    }

    fn written(&self, case: &Vec<u8>) -> Vec<u8> {
        case.clone()
    }
}

impl Target for Run {
    /// The plugin, and which graph it is run on.
    type Case = (Vec<u8>, usize);

    fn make(&mut self, random: &mut Random) -> (Vec<u8>, usize) {
        (self.source.valid(random), random.below(self.graphs.len()))
    }

    fn run(&mut self, (wasm, graph): &(Vec<u8>, usize)) -> Outcome {
        let original = &self.graphs[*graph];
        let mut guest = match load(wasm) {
            Ok(guest) => guest,
            Err(error) => return ended("not loaded", &error),
        };
        if let Err(error) = guest.describe() {
            return ended("not described", &error);
        }
        match guest.run(original, passhost_guest_sdk::testing::DEVICE, true, 100, &mut Nobody) {
            Err(error) => ended("not run", &error),
            Ok((Err(failure), _)) => refused("not run", &failure),
            Ok((Ok(rewrite), _)) => {
                let verified = check_counts(original, &rewrite.graph)
                    .and_then(|()| verify_rewrite(original, &rewrite.graph, OpTable::insert(), &mut Nobody));
                Ok(match verified {
                    Ok(_) => "run, and accepted".into(),
                    Err(error) => format!("run, and refused: {}", variant(&error)),
                })
            }
        }
    }

    fn written(&self, (wasm, _): &(Vec<u8>, usize)) -> Vec<u8> {
        wasm.clone()
    }
}

/// Knows no types.
struct Nobody;

impl Infer for Nobody {
    fn infer(&mut self, op: &OpName, _: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        Err(InferError::Unknown(op.to_string()))
    }
}

fn load(wasm: &[u8]) -> Result<Guest, GuestError> {
    let plugin = Plugin { path: "drawn".into(), wasm: wasm.to_vec(), sha256: String::new() };
    Guest::load(&plugin, limits(), None, Confinement::default())
}

/// A refusal by its kind, and by its limit where it ran into one.
fn refused(stage: &str, failure: &GuestFailure) -> Outcome {
    match failure {
        GuestFailure::Host(reason) => Err(format!("{stage}: the host is at fault: {reason}")),
        GuestFailure::Limit { limit, .. } => Ok(format!("{stage}: Limit {limit}")),
        failure => Ok(format!("{stage}: {}", variant(failure))),
    }
}

/// The same, where a child that dies or talks nonsense is a failure: no plugin may bring that about.
fn ended(stage: &str, error: &GuestError) -> Outcome {
    match error {
        GuestError::Plugin(failure) => refused(stage, failure),
        error => Err(format!("{stage}: {error}")),
    }
}
