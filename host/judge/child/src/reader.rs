//! The client of the reader child, which reads one sample and can do nothing else.

use crate::process::{Child, ChildError, Confinement};
use passhost_ir::{Infer, OpTable, verify_graph};
use passhost_protocol::reader::{
    FromReader, LARGEST_EXTENT, OpenedSample, ReaderQuestion, SampleError, SampleVariant, ToReader,
};
use passhost_result::SandboxProfile;
use passhost_result::untrusted::one_line;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Wall clock for reading the files of a sample.
const OPEN: Duration = Duration::from_secs(60);

/// The child in messages.
const NAME: &str = "reader";

/// A child with an open sample.
pub struct Reader {
    child: Child<FromReader>,
    path: PathBuf,
    profile: SandboxProfile,
}

impl Reader {
    /// Starts a child that opens the sample at `path`, confined as it must be.
    ///
    /// # Errors
    ///
    /// The outer one if the child is lost, the inner one if there is no such sample or one of its files cannot be read.
    pub fn open(
        path: &Path,
        confinement: Confinement,
    ) -> Result<Result<(Reader, OpenedSample), SampleError>, ChildError> {
        let mut child: Child<FromReader> = Child::start(NAME, "passhost-reader", Some(path.as_os_str()), &[])?;
        let deadline = Instant::now() + OPEN;
        let FromReader::Ready(profile) = child.receive(deadline)? else {
            return Err(ChildError::UnexpectedMessage(NAME));
        };
        child.hold_to(confinement, profile)?;
        child.send(&ToReader::Open)?;
        match child.receive(deadline)? {
            FromReader::Opened(opened) => {
                Ok(opened.map(|opened| (Reader { child, path: path.into(), profile }, opened)))
            }
            _ => Err(ChildError::UnexpectedMessage(NAME)),
        }
    }

    /// What keeps the child in.
    pub fn profile(&self) -> SandboxProfile {
        self.profile
    }

    /// Asks about the variant at `index`, and checks what the child answers. `infer` answers the questions about types; the
    /// time that it takes does not count.
    ///
    /// # Errors
    ///
    /// If the child is lost, or answers what cannot be.
    pub fn ask(
        &mut self,
        index: usize,
        question: ReaderQuestion,
        infer: &mut dyn Infer,
        limit: Duration,
    ) -> Result<FromReader, ChildError> {
        let index = u32::try_from(index).map_err(|_| ChildError::UnexpectedMessage(NAME))?;
        self.child.send(&ToReader::Ask { index, question })?;
        let mut deadline = Instant::now() + limit;
        loop {
            match self.child.receive(deadline)? {
                FromReader::Infer { op, args } => {
                    let asked = Instant::now();
                    let answer = infer.infer(&op, &args);
                    deadline += asked.elapsed();
                    self.child.send(&ToReader::Typed(answer))?;
                }
                answer => return self.checked(answer),
            }
        }
    }

    fn checked(&self, answer: FromReader) -> Result<FromReader, ChildError> {
        Ok(match answer {
            FromReader::Variant(read) => FromReader::Variant(read.and_then(|variant| self.verified(variant))),
            FromReader::Changed(read) => {
                FromReader::Changed(read.and_then(|variant| self.verified(variant).map_err(|error| error.to_string())))
            }
            FromReader::Symbols(symbols) => {
                let wrong = symbols.iter().flatten().find(|(_, extent)| !(1..=LARGEST_EXTENT).contains(*extent));
                if let Some((symbol, &extent)) = wrong {
                    let symbol = one_line(symbol, 40);
                    let what = format!("`{symbol}` stands for {extent}; expected 1 to {LARGEST_EXTENT}");
                    return Err(ChildError::Impossible { name: NAME, what });
                }
                FromReader::Symbols(symbols)
            }
            answer => answer,
        })
    }

    /// A graph that comes from a child is held against the rules of graphs by who uses it.
    fn verified(&self, variant: SampleVariant) -> Result<SampleVariant, SampleError> {
        let wrong = |reason: String| SampleError::Program { file: self.path.display().to_string(), reason };
        verify_graph(&variant.program, OpTable::sample()).map_err(|error| wrong(error.to_string()))?;
        let (found, expected) = (variant.inputs.len(), variant.program.inputs.len());
        if found != expected {
            return Err(wrong(format!("{found} inputs are described, the program has {expected}")));
        }
        for (spec, &input) in variant.inputs.iter().zip(&variant.program.inputs) {
            let ty = variant.program.ty(input);
            if spec.ty != *ty {
                return Err(wrong(format!("input `{}` is described as {}, the program has {ty}", spec.name, spec.ty)));
            }
        }
        Ok(variant)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::process::tests::scripted;
    use passhost_ir::{
        Arg, Draw, Graph, InferError, InputSpec, NodeId, NodeKind, OpName, TensorType, ValueId, functionalise,
    };
    use passhost_protocol::write_frame;
    use passhost_result::InputMode;

    struct Nobody;

    impl Infer for Nobody {
        fn infer(&mut self, _: &OpName, _: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
            Err(InferError::Unavailable("nobody is asked".into()))
        }
    }

    const LIMIT: Duration = Duration::from_secs(60);

    /// A reader whose child answers so.
    fn reader(answer: &FromReader) -> (tempfile::TempDir, Reader) {
        let mut says = vec![];
        write_frame(&mut says, answer).unwrap();
        let (directory, child) = scripted(&says);
        (
            directory,
            Reader { child, path: "sample".into(), profile: SandboxProfile { seccomp: true, landlock: Some(6) } },
        )
    }

    /// A small program that writes in place, with its inputs.
    fn variant() -> SampleVariant {
        let text = "graph(%x: f32[4]) {
  %a: f32[4] = aten::relu(%x)
  %v: f32[2] = aten::slice.Tensor(%a, 0, 0, 2, 1)
  %b: f32[2] = aten::exp_(%v)
  return (%a)
}
";
        let program = Graph::parse(text).unwrap();
        let ty = program.ty(program.inputs[0]).clone();
        let draw = Draw::Normal { mean: 0.0, std: 1.0 };
        SampleVariant {
            program,
            inputs: vec![InputSpec { name: "x".into(), ty, draw, min: None, max: None }],
            notes: vec![],
        }
    }

    #[test]
    fn a_program_that_cannot_be_is_the_samples_and_ends_nothing() {
        type Change = fn(&mut SampleVariant);
        let changes: [(&str, Change, Option<&str>); 8] = [
            ("none", |_| {}, None),
            ("a largest id", |v| v.program.nodes[2].id = NodeId(u32::MAX), Some("a node has the id #4294967295")),
            ("a value that is not there", |v| v.program.nodes[0].outputs[0] = ValueId(u32::MAX), Some("4294967295")),
            ("an operand that is not there", |v| v.program.outputs[0] = ValueId(u32::MAX), Some("4294967295")),
            ("another input", |v| v.inputs[0].ty.shape[0] = i64::MAX, Some("input `x` is described as")),
            ("an input too many", |v| v.inputs.push(v.inputs[0].clone()), Some("2 inputs are described")),
            ("an impossible type", |v| v.program.values[1].ty.shape[0] = i64::MAX, Some("%a")),
            (
                "an argument of another kind",
                |v| {
                    let NodeKind::Aten { args, .. } = &mut v.program.nodes[1].kind else { unreachable!() };
                    args[1] = Arg::Values(vec![]);
                },
                Some("aten::slice"),
            ),
        ];
        for (what, change, refused) in changes {
            let mut variant = variant();
            change(&mut variant);
            let (_directory, mut reader) = reader(&FromReader::Variant(Ok(variant)));
            let question = ReaderQuestion::Variant(InputMode::Fresh);
            let FromReader::Variant(read) = reader.ask(0, question, &mut Nobody, LIMIT).unwrap() else {
                panic!("{what}")
            };
            match (refused, read) {
                (None, Ok(variant)) => assert!(functionalise(&variant.program, OpTable::sample()).is_ok()),
                (Some(why), Err(error @ SampleError::Program { .. })) => {
                    assert!(error.to_string().contains(why), "{what}: {error}");
                }
                (_, read) => panic!("{what}: {read:?}"),
            }
        }
    }

    #[test]
    fn symbols_that_no_extent_has_are_the_samples_doing() {
        for (extent, is_taken) in [(1, true), (LARGEST_EXTENT, true), (0, false), (i64::MIN, false), (i64::MAX, false)]
        {
            let (_directory, mut reader) = reader(&FromReader::Symbols(vec![[("S0".to_owned(), extent)].into()]));
            let symbols = reader.ask(0, ReaderQuestion::Symbols, &mut Nobody, LIMIT);
            assert_eq!(symbols.is_ok(), is_taken, "{extent}");
            if let Err(error) = symbols {
                assert!(error.to_string().contains(&format!("`S0` stands for {extent}")), "{error}");
                assert!(matches!(error, ChildError::Impossible { .. }));
            }
        }
    }
}
