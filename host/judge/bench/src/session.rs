//! The device child's state between messages: the loaded reference, and the evaluation of rewrites against it.

mod checks;
mod contestant;
mod domain;
mod elsewhere;
mod others;
mod prepared;
mod timing;
mod trace;
mod tuning;

use crate::blame::{memory_of, of_input, of_reference, of_rewrite};
use crate::device::Device;
use crate::held::Held;
use crate::inputs::{DrawError, Round, draw};
use crate::on_device::draws;
use crate::trivial::degenerate_held;
use checks::Checks;
use others::Others;
use passhost_ir::verify::check_bytes;
use passhost_ir::{Graph, InputSpec, NodeId, OpTable, TensorType, constant_nodes, functionalise};
use passhost_protocol::device::{Draws, Evaluation, Loaded, ReferenceError, RewriteError, Stage};
use passhost_result::{Settings, Work};
use passhost_runtime::{Hints, Mode, NodeError, Program, Target, Tensor, Watch};
use passhost_torch::allocator;
use prepared::Kept;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Rounds from here on are redraws after a round that told nothing.
const REDRAW: u32 = 1 << 16;

/// A reference program that has run.
pub struct Reference {
    device: Rc<Device>,
    graph: Graph,
    specs: Vec<InputSpec>,
    program: Program,
    /// It in double precision, without and with the rounding of its own conversions; compiled where it is asked for.
    doubles: [OnceCell<Result<Program, NodeError>>; 2],
    output_types: Vec<TensorType>,
    /// Rounds that rewrites share.
    kept: RefCell<Kept>,
    /// What a round takes, once it is known.
    round_takes: OnceCell<Duration>,
}

/// The inputs of one round, which nobody writes to: each run gets tensors of its own.
#[derive(Clone)]
struct Drawn {
    inputs: Vec<Rc<Held>>,
}

impl Drawn {
    fn draw(device: &Device, specs: &[InputSpec], round: Round) -> Result<Drawn, ReferenceError> {
        let inputs =
            specs.iter().enumerate().map(|(position, spec)| held_input(device, spec, position, round).map(Rc::new));
        Ok(Drawn { inputs: inputs.collect::<Result<_, _>>()? })
    }

    fn tensors(&self, target: &Target, specs: &[InputSpec]) -> Result<Vec<Tensor>, ReferenceError> {
        let copies = specs.iter().zip(&self.inputs);
        copies.map(|(spec, input)| input.copy(target, &spec.ty).map_err(|error| of_input(&spec.name, error))).collect()
    }
}

/// Input `position`, drawn where it is held.
fn held_input(device: &Device, spec: &InputSpec, position: usize, round: Round) -> Result<Held, ReferenceError> {
    let drawn =
        device.on_device(&spec.ty).map(|kernels| draws::draw(device.context(), kernels, (spec, position), round));
    match drawn {
        Some(Ok(Some(tensor))) => Ok(Held::of(device, &tensor)),
        // What the device has no room for is drawn on the CPU.
        _ => Ok(Held::host(spec.ty.dtype, draw_input(spec, position, round)?)),
    }
}

/// The elements of input `position`.
pub fn draw_input(spec: &InputSpec, position: usize, round: Round) -> Result<Vec<u8>, ReferenceError> {
    draw(spec, position, round).map_err(|error| not_drawn(spec, &error))
}

fn not_drawn(spec: &InputSpec, error: &DrawError) -> ReferenceError {
    ReferenceError::Input { input: spec.name.clone(), message: error.to_string() }
}

/// A tensor of these elements on the device.
pub fn input_tensor(target: &Target, spec: &InputSpec, bytes: &[u8]) -> Result<Tensor, ReferenceError> {
    Tensor::from_bytes(target, &spec.ty, bytes).map_err(|error| of_input(&spec.name, error))
}

/// Learns the types of values.
struct Types(Vec<TensorType>);

impl Watch for Types {
    const TEMPORARIES: bool = false;

    fn value(&mut self, number: usize, tensor: &Tensor) {
        self.0[number] = tensor.ty();
    }
}

impl Reference {
    /// Compiles and runs the program.
    pub fn load(
        device: &Rc<Device>,
        graph: Graph,
        specs: Vec<InputSpec>,
        seed: u64,
        mut stage: impl FnMut(Stage),
    ) -> Result<(Reference, Loaded), ReferenceError> {
        stage(Stage::Reference);
        // A GPU that has no memory for the run in double precision does without.
        let needed = check_bytes(&graph, &specs, false);
        if let Some(available) = device.lacks(needed) {
            return Err(ReferenceError::TooLarge { needed, available });
        }
        let program =
            Program::compile(&graph, Mode::Found, &Hints::default(), device.context()).map_err(of_reference)?;
        device.charge(Work::Compile);
        let round = Round { seed, number: 0, stressed: None };
        let drawn = Drawn::draw(device, &specs, round)?;
        let inputs = drawn.tensors(device.target(), &specs)?;
        device.charge(Work::Draw);

        let mut types = Types(graph.values.iter().map(|value| value.ty.clone()).collect());
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
        let (kept, round_takes, doubles) = Default::default();
        let device = device.clone();
        let reference = Reference { device, graph, specs, program, doubles, output_types, kept, round_takes };
        reference.refuse_degenerate(&outputs, seed)?;
        reference.device.charge(Work::Compare);
        Ok((reference, Loaded { types: types.0, peak_bytes, first_ns }))
    }

    /// An output that is constant or not finite gets one more chance with other inputs.
    fn refuse_degenerate(&self, outputs: &[Tensor], seed: u64) -> Result<(), ReferenceError> {
        if self.first_degenerate(outputs).is_none() {
            return Ok(());
        }
        let drawn = Drawn::draw(&self.device, &self.specs, Round { seed, number: REDRAW, stressed: None })?;
        let outputs = self.program.run(&drawn.tensors(self.device.target(), &self.specs)?).map_err(of_reference)?;
        match self.first_degenerate(&outputs) {
            None => Ok(()),
            Some((output, what)) => Err(ReferenceError::Degenerate { output: output as u32, what: what.into() }),
        }
    }

    fn first_degenerate(&self, outputs: &[Tensor]) -> Option<(usize, &'static str)> {
        outputs.iter().zip(&self.output_types).enumerate().find_map(|(position, (tensor, ty))| {
            degenerate_held(ty, &Held::of(&self.device, tensor)).map(|what| (position, what))
        })
    }

    fn drawn(&self, round: Round) -> Result<Drawn, RewriteError> {
        Drawn::draw(&self.device, &self.specs, round).map_err(input_error)
    }

    /// A rewrite made ready to run. What it inserts and no input reaches is calculated by the first run.
    /// `hints` says nothing of what is calculated once.
    fn compiled(&self, rewrite: &Graph, hints: &Hints) -> Result<Program, RewriteError> {
        let once = match functionalise(&self.graph, OpTable::sample()) {
            Ok(original) => constant_nodes(rewrite, &original.graph),
            Err(_) => Default::default(),
        };
        let hints = Hints { once, ..hints.clone() };
        Program::compile(rewrite, Mode::Declared, &hints, self.device.context()).map_err(of_rewrite)
    }

    /// What outputs have.
    fn held(&self, outputs: &[Tensor]) -> Vec<Held> {
        Held::all(&self.device, outputs)
    }

    /// Checks a rewrite.
    pub fn evaluate(
        &self,
        rewrite: &Graph,
        hints: &Hints,
        draws: &Draws,
        settings: &Settings,
        stage: impl FnMut(Stage),
    ) -> Evaluation {
        let mut evaluation = Evaluation::default();
        if let Err(error) = self.try_evaluate(rewrite, hints, draws, settings, stage, &mut evaluation) {
            evaluation.error = Some(memory_of(error, || self.device.can_give(settings.rewrite_bytes)));
            evaluation.outputs.clear();
        }
        if evaluation.error.is_some() || !evaluation.findings.is_empty() {
            // Nothing that such a rewrite may have touched is kept for another one.
            self.kept.take();
        }
        evaluation
    }

    fn try_evaluate(
        &self,
        rewrite: &Graph,
        hints: &Hints,
        draws: &Draws,
        settings: &Settings,
        mut stage: impl FnMut(Stage),
        evaluation: &mut Evaluation,
    ) -> Result<(), RewriteError> {
        stage(Stage::Plan);
        let program = self.compiled(rewrite, hints)?;
        self.device.charge(Work::Compile);
        stage(Stage::Correctness);
        let &Draws { seed, are_shared, .. } = draws;
        self.kept.borrow_mut().begin(seed);
        let ordinary = |number| Round { seed, number, stressed: None };
        let started = Instant::now();
        let first = self.round(ordinary(0), are_shared)?;
        let others = Others::choose(self, draws, settings, self.round_takes(started, &first.eager));
        let fixed = self.specs.iter().filter(|spec| spec.is_fixed());
        evaluation.notes.extend(fixed.map(|spec| format!("input `{}` is the same in every round", spec.name)));
        evaluation.others = others.report;
        let mut checks = Checks::new(self, &program, (settings, are_shared), evaluation);
        checks.round(ordinary(0), &first)?;
        drop(first);
        for number in 1..settings.rounds {
            checks.round(ordinary(number), &*self.round(ordinary(number), are_shared)?)?;
        }
        let confirmed = checks.confirm(seed);
        let ended = confirmed.and_then(|()| others.run(&mut checks, settings.rounds));
        // What the ordinary rounds say together is an offence whatever becomes of the others.
        let reports = checks.finish();
        ended?;
        evaluation.outputs = reports;
        Ok(())
    }
}

fn input_error(error: ReferenceError) -> RewriteError {
    match error {
        ReferenceError::Memory { message } => RewriteError::Memory { node: NodeId(0), op: "input".to_owned(), message },
        other => RewriteError::Reference(other),
    }
}

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod truth_tests;
