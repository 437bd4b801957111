//! One step of a program, ready to be run: a node of the graph, or kernels that are one launch.

use crate::arena::{Arena, Range};
use crate::context::Active;
use crate::engine::{Engine, EngineTensor};
use crate::error::{Cause, NodeError};
use crate::kernel::{DeviceKernel, TuningRun};
use crate::watch::{Temporary, Watch};
use passhost_ir::{NodeId, TensorType};

/// A step, to be run.
pub(crate) struct Instruction<C> {
    /// The node, or the first of several.
    pub(crate) node: NodeId,
    /// How many nodes it stands for.
    pub(crate) nodes: usize,
    pub(crate) name: String,
    pub(crate) operation: InstructionKind<C>,
    /// Slots of the results.
    pub(crate) outputs: Vec<usize>,
    /// Types that the results must have; empty where they are yet to be found out.
    pub(crate) declared: Vec<TensorType>,
    /// Slots of values that nobody reads afterwards.
    pub(crate) last_uses: Vec<usize>,
    /// Temporaries that nobody reads afterwards, by their number in the plan.
    pub(crate) ends: Vec<usize>,
    /// Whether it gives the same in every run, so that only the first one calculates it.
    pub(crate) is_constant: bool,
}

pub(crate) enum InstructionKind<C> {
    /// An op and the slots of its tensor arguments, in order.
    Call { call: C, operands: Vec<usize> },
    /// A scatter that writes into its first operand, which then is the result.
    PutBack {
        /// Makes of the whole the part that is written, and copies into that; `None` if it was calculated there.
        copy: Option<[C; 2]>,
        /// Slots of what is written into, and of what is put there.
        whole: usize,
        part: usize,
    },
    /// A launch and the slots of its inputs, one kernel's after the other's. So are outputs.
    Kernel {
        kernel: Box<DeviceKernel>,
        inputs: Vec<usize>,
        /// Where its outputs go.
        written: Vec<OutputPlace>,
        /// Addresses of the outputs; kept for its memory.
        addresses: Vec<u64>,
    },
}

/// Where an output of a kernel goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputPlace {
    /// To memory of its own.
    Fresh,
    /// To this range of the plan.
    Temporary(usize),
}

/// What instructions of one run work on.
pub(crate) struct RunFrame<'a, 't, E: Engine, W> {
    pub(crate) active: &'a Active<'a, E>,
    /// What measures kernels before they are launched, if they are to be measured.
    pub(crate) tuning: Option<&'a mut TuningRun<'t>>,
    pub(crate) watch: &'a mut W,
    /// Where temporaries lie.
    pub(crate) ranges: &'a [Range],
    pub(crate) arena: Option<&'a Arena<E::Tensor>>,
    /// The tensors that exist, by value.
    pub(crate) slots: &'a mut [Option<E::Tensor>],
}

impl<E: Engine, W: Watch<E>> RunFrame<'_, '_, E, W> {
    /// Runs some of the instructions, in their order.
    pub(crate) fn run_all<'i>(
        &mut self,
        instructions: impl Iterator<Item = &'i mut Instruction<E::Call>>,
        check: bool,
    ) -> Result<(), NodeError> {
        for instruction in instructions {
            if let Err(cause) = self.run(instruction, check) {
                return Err(NodeError { node: instruction.node, op: instruction.name.clone(), cause });
            }
        }
        Ok(())
    }

    /// Runs one, and frees what nobody reads afterwards. `check` says whether results of ops are held against the types
    /// declared.
    pub(crate) fn run(&mut self, instruction: &mut Instruction<E::Call>, check: bool) -> Result<(), Cause> {
        let Instruction { node, operation, outputs, declared, last_uses, ends, .. } = instruction;
        match operation {
            InstructionKind::Call { call, operands } => {
                let results = self.call(call, operands)?;
                self.keep(results, outputs, declared, check)?;
            }
            InstructionKind::PutBack { copy, whole, part } => {
                let result = self.write_back(copy.as_ref(), [*whole, *part])?;
                self.keep(vec![result], outputs, declared, check)?;
            }
            InstructionKind::Kernel { kernel, inputs, written, addresses } => {
                addresses.clear();
                for (index, (&slot, written)) in outputs.iter().zip(written).enumerate() {
                    self.make_room(slot, *written, &kernel.output_types()[index])?;
                    addresses.push(self.slots[slot].as_ref().map_or(0, |tensor| tensor.data_ptr() as u64));
                }
                if inputs.iter().any(|&slot| self.slots[slot].is_none()) {
                    return Err(freed_too_early());
                }
                let slots = &*self.slots;
                let operands = inputs.iter().filter_map(|&slot| slots[slot].as_ref());
                if let Some(tuning) = &mut self.tuning {
                    // SAFETY: as below.
                    unsafe {
                        let addresses = addresses.iter().copied();
                        kernel.tune(*node, tuning, self.active.launching, operands.clone(), addresses)?;
                    }
                }
                // SAFETY: inputs of the program lie on this device, as was checked, and everything else was made on it.
                // Outputs are fresh, or ranges of the arena that overlap nothing that is still read. Nobody else runs
                // meanwhile on the memory of this program; what its caller does with inputs and outputs is ordered by the
                // stream.
                unsafe { kernel.launch(self.active.launching, operands, addresses.iter().copied())? };
            }
        }
        for &slot in outputs.iter() {
            if let Some(tensor) = &self.slots[slot] {
                self.watch.value(slot, tensor);
            }
        }
        for &slot in last_uses.iter() {
            self.slots[slot] = None;
        }
        for &number in ends.iter().filter(|_| W::TEMPORARIES) {
            if let Some(temporary) = self.temporary(number)? {
                self.watch.end(temporary)?;
            }
        }
        Ok(())
    }

    /// Keeps results of an op in their slots.
    fn keep(
        &mut self,
        results: Vec<E::Tensor>,
        slots: &[usize],
        declared: &[TensorType],
        check: bool,
    ) -> Result<(), Cause> {
        if results.len() != slots.len() {
            let message = format!("{} results, expected {}", results.len(), slots.len());
            return Err(Cause::Failed(message));
        }
        for (index, (&slot, tensor)) in slots.iter().zip(results).enumerate() {
            if let Some(declared) = declared.get(index).filter(|_| check) {
                check_type(declared, tensor.ty())?;
            }
            self.slots[slot] = Some(tensor);
        }
        Ok(())
    }

    /// Copies a part to where it belongs, unless it was calculated there.
    fn write_back(&self, copy: Option<&[E::Call; 2]>, slots: [usize; 2]) -> Result<E::Tensor, Cause> {
        let [whole, part] = slots.map(|slot| self.slots[slot].as_ref().ok_or_else(freed_too_early));
        let (whole, part) = (whole?, part?);
        if let Some([view, copy]) = copy {
            let place = self.active.call(view, &[whole])?;
            let place = place.first().ok_or_else(|| Cause::Failed("a view without a result".into()))?;
            self.active.call(copy, &[place, part])?;
        }
        Ok(whole.clone())
    }

    fn call(&self, call: &E::Call, operands: &[usize]) -> Result<Vec<E::Tensor>, Cause> {
        let operand = |&slot: &usize| self.slots[slot].as_ref().ok_or_else(freed_too_early);
        let operands: Vec<&E::Tensor> = operands.iter().map(operand).collect::<Result<_, _>>()?;
        self.active.call(call, &operands)
    }

    fn temporary(&self, number: usize) -> Result<Option<Temporary<E::Tensor>>, Cause> {
        self.arena.map(|arena| arena.temporary(&self.ranges[number])).transpose()
    }

    /// Sees to memory that a kernel writes.
    fn make_room(&mut self, slot: usize, written: OutputPlace, ty: &TensorType) -> Result<(), Cause> {
        match written {
            OutputPlace::Fresh => self.slots[slot] = Some(self.watch.output(self.active, ty)?),
            OutputPlace::Temporary(number) if W::TEMPORARIES => {
                if let Some(temporary) = self.temporary(number)? {
                    self.watch.begin(temporary)?;
                }
            }
            OutputPlace::Temporary(_) => {}
        }
        Ok(())
    }
}

fn freed_too_early() -> Cause {
    Cause::Failed("an operand was freed too early; this is a bug of passhost".into())
}

/// Strides of dimensions of extent 1 are free, and results compare by logical index.
fn check_type(declared: &TensorType, found: TensorType) -> Result<(), Cause> {
    if found.dtype == declared.dtype && found.shape == declared.shape {
        return Ok(());
    }
    Err(Cause::Type { declared: declared.to_string(), found: found.to_string() })
}
