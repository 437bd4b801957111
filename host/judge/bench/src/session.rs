//! The device child's state between messages: the loaded reference, and the evaluation of rewrites against it.

mod checks;
mod contestant;
mod drawn;
mod edge_case;
mod edge_cases;
mod evaluate;
mod external;
mod others;
mod prepared;
mod rounds;
mod timing;
mod trace;
mod tuning;

pub use drawn::{draw_input, input_tensor};

use crate::blame::{of_reference, of_rewrite};
use crate::device::BenchDevice;
use crate::held::HeldTensor;
use crate::inputs::Round;
use crate::trivial::degenerate;
use drawn::{DrawnInputs, input_error};
use passhost_ir::verify::{check_bytes, peak_bytes};
use passhost_ir::{Graph, InputSpec, NodeKind, OpTable, TensorType, constant_nodes, functionalise};
use passhost_protocol::device::{DeviceStage, LoadReport, ReferenceError, RewriteError, RewriteJob};
use passhost_result::Work;
use passhost_runtime::{Hints, Mode, NodeError, Watch};
use passhost_torch::{Program, Target, Tensor, allocator};
use prepared::KeptRounds;
use std::cell::OnceCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Rounds from here on are redraws after a round that told nothing.
const REDRAW: u32 = 1 << 16;

/// Bytes of a check from which on other processes need the memory that libtorch keeps for later.
const LARGE: u64 = 1 << 30;

/// A reference program that has run.
pub struct ReferenceSession {
    device: Rc<BenchDevice>,
    graph: Graph,
    specs: Vec<InputSpec>,
    program: Program,
    /// It in double precision, without and with the rounding of its own conversions; compiled where it is asked for.
    doubles: [OnceCell<Result<Program, NodeError>>; 2],
    output_types: Vec<TensorType>,
    /// What a round takes, once it is known.
    round_takes: OnceCell<Duration>,
    kept_rounds: KeptRounds,
}

/// Learns the types of values.
pub struct LearnedTypes(pub Vec<TensorType>);

impl LearnedTypes {
    /// Of a graph, as they were inferred.
    pub fn of(graph: &Graph) -> LearnedTypes {
        LearnedTypes(graph.values.iter().map(|value| value.ty.clone()).collect())
    }
}

impl Watch<Target> for LearnedTypes {
    const TEMPORARIES: bool = false;

    fn value(&mut self, number: usize, tensor: &Tensor) {
        self.0[number] = tensor.ty();
    }
}

impl ReferenceSession {
    /// Whether a rewrite takes more memory at once than eager, by estimate: where it finds none, it is to blame then.
    fn takes_less_than(&self, rewrite: &Graph) -> bool {
        peak_bytes(&self.graph, OpTable::sample()) < peak_bytes(rewrite, OpTable::insert())
    }

    /// Leaves other processes the memory that this one has no use for until the next request.
    pub fn give_back(&self) {
        if check_bytes(&self.graph, &self.specs, false) >= LARGE {
            self.device.give_back();
        }
    }

    /// Compiles and runs the program.
    pub fn load(
        device: &Rc<BenchDevice>,
        graph: Graph,
        specs: Vec<InputSpec>,
        seed: u64,
        mut stage: impl FnMut(DeviceStage),
    ) -> Result<(ReferenceSession, LoadReport), ReferenceError> {
        stage(DeviceStage::Reference);
        // A GPU that has no memory for the run in double precision does without.
        let needed = check_bytes(&graph, &specs, false);
        if let Some(available) = device.lacks(needed) {
            return Err(ReferenceError::TooLarge { needed, available });
        }
        let program =
            Program::compile(&graph, Mode::Found, &Hints::default(), device.context()).map_err(of_reference)?;
        device.charge(Work::Compile);
        let round = Round { seed, number: 0, scaled: None };
        let drawn = DrawnInputs::draw(device, &specs, round)?;
        let inputs = drawn.tensors(device.target(), &specs)?;
        device.charge(Work::Draw);

        let mut types = LearnedTypes::of(&graph);
        let peak = allocator::Peak::start(device.target());
        let started = Instant::now();
        let outputs = program.run_watched(&inputs, &mut types).map_err(of_reference)?;
        program.finish().map_err(of_reference)?;
        let first_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let peak_bytes = peak.bytes();
        device.charge(Work::RunEager);
        let output_types: Vec<TensorType> = outputs.iter().map(Tensor::ty).collect();
        let mut graph = graph;
        for (value, found) in graph.values.iter_mut().zip(&types.0) {
            value.ty = found.clone();
        }
        let (round_takes, doubles, kept_rounds) = Default::default();
        let device = device.clone();
        let reference =
            ReferenceSession { device, graph, specs, program, doubles, output_types, round_takes, kept_rounds };
        reference.refuse_degenerate(&outputs, seed)?;
        reference.device.charge(Work::Compare);
        Ok((reference, LoadReport { types: types.0, peak_bytes, first_ns }))
    }

    /// An output that is constant or not finite gets one more chance with other inputs.
    fn refuse_degenerate(&self, outputs: &[Tensor], seed: u64) -> Result<(), ReferenceError> {
        if self.first_degenerate(outputs).is_none() {
            return Ok(());
        }
        let drawn = DrawnInputs::draw(&self.device, &self.specs, Round { seed, number: REDRAW, scaled: None })?;
        let outputs = self.program.run(&drawn.tensors(self.device.target(), &self.specs)?).map_err(of_reference)?;
        match self.first_degenerate(&outputs) {
            None => Ok(()),
            Some((output, what)) => Err(ReferenceError::Degenerate { output: output as u32, what: what.into() }),
        }
    }

    fn first_degenerate(&self, outputs: &[Tensor]) -> Option<(usize, &'static str)> {
        outputs.iter().enumerate().find_map(|(position, tensor)| {
            degenerate(&HeldTensor::of(&self.device, tensor)).map(|what| (position, what))
        })
    }

    fn drawn(&self, round: Round) -> Result<DrawnInputs, RewriteError> {
        DrawnInputs::draw(&self.device, &self.specs, round).map_err(input_error)
    }

    /// A rewrite made ready to run. What it inserts and no input reaches is calculated by the first run.
    fn compiled(&self, job: &RewriteJob) -> Result<Program, RewriteError> {
        let once = match functionalise(&self.graph, OpTable::sample()) {
            Ok(original) => constant_nodes(&job.rewrite, &original.graph),
            Err(_) => Default::default(),
        };
        let in_place = job.in_place.iter().cloned().collect();
        let schedules = job.schedules.iter().cloned().collect();
        // What changes nothing is eager, and takes as long.
        let products = job.rewrite.nodes.iter().any(|node| matches!(node.kind, NodeKind::Kernel { .. }));
        let hints = Hints { once, in_place, schedules, products };
        Program::compile(&job.rewrite, Mode::Declared, &hints, self.device.context()).map_err(of_rewrite)
    }

    /// What outputs have.
    fn held(&self, outputs: &[Tensor]) -> Vec<HeldTensor> {
        HeldTensor::all(&self.device, outputs)
    }
}

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod truth_tests;
