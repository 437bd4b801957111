//! A program that someone else runs, as a baseline is: its inputs are written to files, and what came of them is read from
//! files and compared as outputs of a rewrite are.

use super::ReferenceSession;
use super::checks::Checks;
use super::drawn::held_input;
use crate::held::HeldTensor;
use crate::inputs::Round;
use crate::once::write;
use passhost_ir::{NodeId, TensorType};
use passhost_protocol::device::{EvaluationReport, ExternalRun, RewriteError, SingleRunError};
use passhost_protocol::open_regular;
use passhost_result::Work;
use std::io::Read as _;
use std::path::{Path, PathBuf};

impl ReferenceSession {
    /// Writes the inputs of so many rounds. One input is in memory at a time.
    pub fn write_inputs(&self, directory: &Path, seed: u64, rounds: u32) -> Result<(), SingleRunError> {
        for number in 0..rounds {
            let round = Round { seed, number, scaled: None };
            for (position, spec) in self.specs.iter().enumerate() {
                let input = held_input(&self.device, spec, position, round)?;
                self.device.charge(Work::Draw);
                write(&file(directory, number, "input", position), input.elements().bytes)?;
            }
        }
        Ok(())
    }

    /// Compares outputs in files with those of eager on the same inputs.
    pub fn judge_external(&self, run: &ExternalRun) -> EvaluationReport {
        let mut evaluation = EvaluationReport::default();
        if let Err(error) = self.try_judge_external(run, &mut evaluation) {
            evaluation.outputs.clear();
            evaluation.error = Some(error);
        }
        evaluation
    }

    fn try_judge_external(&self, run: &ExternalRun, evaluation: &mut EvaluationReport) -> Result<(), RewriteError> {
        self.must_have_types(&run.outputs)?;
        // Nothing of passhost's runs but eager itself.
        let mut checks = Checks::new(self, &self.program, &run.settings, evaluation);
        for number in run.first..run.first.saturating_add(run.rounds) {
            let round = Round { seed: run.seed, number, scaled: None };
            let prepared = self.round(round)?;
            let outputs = self.output_types.iter().enumerate();
            let of_run = |position| file(&run.directory, number, &run.name, position);
            let outputs =
                outputs.map(|(position, ty)| Ok(HeldTensor::brought(&self.device, ty, read(&of_run(position), ty)?)));
            let outputs = outputs.collect::<Result<Vec<HeldTensor>, RewriteError>>()?;
            checks.compare(round, &prepared, &outputs);
        }
        evaluation.outputs = checks.finish();
        Ok(())
    }

    /// Element types and shapes, and how many there are: where elements lie in memory is whoever's run it.
    fn must_have_types(&self, found: &[TensorType]) -> Result<(), RewriteError> {
        let count = |types: &[TensorType]| format!("{} outputs", types.len());
        if found.len() != self.output_types.len() {
            return Err(wrong("its outputs", count(&self.output_types), count(found)));
        }
        for (position, (ty, found)) in self.output_types.iter().zip(found).enumerate() {
            if (ty.dtype, &ty.shape) != (found.dtype, &found.shape) {
                return Err(wrong(&format!("output {position}"), ty.to_string(), found.to_string()));
            }
        }
        Ok(())
    }
}

fn file(directory: &Path, round: u32, name: &str, position: usize) -> PathBuf {
    directory.join(format!("round_{round}")).join(format!("{name}_{position}.bin"))
}

fn wrong(op: &str, declared: String, found: String) -> RewriteError {
    RewriteError::WrongType { node: NodeId(0), op: op.into(), declared, found }
}

/// The elements of an output of this type. A file that has more is read no further.
fn read(path: &Path, ty: &TensorType) -> Result<Vec<u8>, RewriteError> {
    let failed = |error: std::io::Error| RewriteError::Op {
        node: NodeId(0),
        op: path.display().to_string(),
        message: error.to_string(),
    };
    let expected = ty.bytes();
    // One byte more, so that the end of the file is found without growing.
    let mut bytes = Vec::with_capacity(expected as usize + 1);
    open_regular(path).and_then(|file| file.take(expected + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 != expected {
        let found = format!("a file of {} bytes", bytes.len());
        return Err(wrong(&path.display().to_string(), format!("{expected} bytes"), found));
    }
    Ok(bytes)
}
