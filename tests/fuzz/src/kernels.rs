//! Random kernels: what the verifier claims against what the interpreter finds, and the CPU executor against the
//! interpreter, on storage of any layout between canaries.

use crate::random::Random;
use crate::storage::{Stored, strides};
use crate::target::{Outcome, Target, variant};
use passhost_ir::Kernel;
use passhost_ir::kernel::{
    Facts, IndexId, InterpretedOutput, InterpretedRow, Mode, Reg, Tensor, interpret_watched, verify,
};
use passhost_kernels::{BoundInput, BoundOutput, CallingThread, CpuKernel, NewThreads, ThreadPool};
use passhost_random_kernels::RandomKernel;
use passhost_random_kernels::check_against;

/// The target.
pub struct Kernels;

/// A kernel with its inputs, and how they lie.
pub struct Case {
    kernel: Kernel,
    tensors: Vec<Tensor>,
    strides: Vec<Vec<i64>>,
    /// Threads that compute it.
    threads: usize,
}

impl Target for Kernels {
    type Case = Case;

    fn make(&mut self, random: &mut Random) -> Case {
        let seed = random.bits();
        let (kernel, tensors) =
            if seed.is_multiple_of(8) { RandomKernel::contraction(seed) } else { RandomKernel::generate(seed) };
        let strides = tensors.iter().map(|tensor| strides(&tensor.shape, random)).collect();
        Case { kernel, tensors, strides, threads: if random.chance(10) { 3 } else { 1 } }
    }

    fn run(&mut self, case: &Case) -> Outcome {
        let facts = match verify(&case.kernel) {
            Ok(facts) => facts,
            Err(error) => return Err(format!("the verifier refuses a kernel that was made to pass: {error}")),
        };
        let mut wrong = None;
        let expected = interpret_watched(&case.kernel, &facts, &case.tensors, Mode::Declared, &mut |row| {
            wrong = wrong.take().or_else(|| contradiction(&case.kernel, &facts, row));
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let first = case.on_the_cpu(0x7ff8_dead_beef_7e57)?;
        let second = case.on_the_cpu(0x0101_0101_0101_0101)?;
        if first != second {
            return Err("the result depends on what lies around the inputs".into());
        }
        judge(&expected, &first)
    }

    fn written(&self, case: &Case) -> Vec<u8> {
        format!("{}\nstrides {:?}\nthreads {}\n", case.kernel, case.strides, case.threads).into_bytes()
    }
}

/// Where a row has something other than the verifier says.
pub(crate) fn contradiction(kernel: &Kernel, facts: &Facts, row: &InterpretedRow<'_>) -> Option<String> {
    for element in 0..row.positions().len() {
        for id in (0..kernel.index.len() as u32).map(IndexId) {
            let interval = facts.index_interval(id);
            if let Some(index) = row.index(id, element)
                && !(interval.low..=interval.high).contains(&i128::from(index))
            {
                return Some(format!("i{} is {index}, the verifier says {interval:?}", id.0));
            }
        }
        for (reg, interval) in (0..).map(Reg).zip(&facts.value_intervals) {
            let value = row.value(reg, element);
            if let Some(interval) = interval
                && !value.is_unknown()
                && !(interval.low..=interval.high).contains(&i128::from(value.value.as_i64()))
            {
                return Some(format!("v{} is {value:?}, the verifier says {interval:?}", reg.0));
            }
        }
    }
    None
}

/// The outputs of the executor against those of the interpreter.
fn judge(expected: &[InterpretedOutput], found: &[Vec<u8>]) -> Outcome {
    let (mut checked, mut unknown) = (0, 0);
    for (position, (expected, found)) in expected.iter().zip(found).enumerate() {
        let stats = check_against(expected, found)
            .map_err(|mismatch| format!("output {position}, {}: {mismatch}", variant(&mismatch)))?;
        checked += stats.checked;
        unknown += stats.unknown;
    }
    Ok(match (checked, unknown) {
        (0, 0) => "empty".into(),
        (0, _) => "nothing known".into(),
        _ => "as interpreted".into(),
    })
}

impl Case {
    fn on_the_cpu(&self, filler: u64) -> Result<Vec<Vec<u8>>, String> {
        let compiled = CpuKernel::compile(&self.kernel).map_err(|error| format!("verified, and refused: {error}"))?;
        let inputs: Vec<Stored> = self
            .tensors
            .iter()
            .zip(&self.strides)
            .map(|(tensor, strides)| Stored::new(tensor, strides, filler))
            .collect();
        let before: Vec<Vec<u64>> = inputs.iter().map(|input| input.words().to_vec()).collect();
        let mut outputs: Vec<Stored> =
            self.kernel.output_types().iter().map(|ty| Stored::room(ty.bytes() as usize, filler)).collect();
        let bound: Vec<BoundInput<'_>> = inputs
            .iter()
            .zip(self.tensors.iter().zip(&self.strides))
            .map(|(input, (tensor, strides))| input.bound(tensor, strides))
            .collect();
        let places: Vec<BoundOutput> = outputs
            .iter_mut()
            .map(|output| {
                let (pointer, bytes) = output.place();
                BoundOutput { pointer, bytes }
            })
            .collect();
        let threads: &dyn ThreadPool = if self.threads == 1 { &CallingThread } else { &NewThreads(self.threads) };
        // SAFETY: the storage outlives the run, the outputs are borrowed mutably until it is over, and nobody else has
        // them.
        let ran = unsafe { compiled.run(&bound, &places, threads) };
        ran.map_err(|error| format!("as declared, and refused: {error}"))?;
        if inputs.iter().zip(&before).any(|(input, before)| input.words() != before) {
            return Err("an input was written to".into());
        }
        let contents = outputs.iter().map(Stored::contents).collect::<Option<Vec<_>>>();
        contents.ok_or_else(|| "something beside an output was written to".into())
    }
}
