//! A kernel on a context, or several as one launch, prepared for the layout that they met last.

use crate::context::{Context, Launching};
use crate::engine::{Engine, EngineTensor};
use crate::error::{ContextError, LaunchError};
use passhost_ir::{Kernel, NodeId, TensorType};
use passhost_kernels::cuda::{Candidates, CudaKernel, PreparedLaunch};
use passhost_kernels::{BoundInput, BoundOutput, CpuKernel, PreparedRun};
use std::sync::Arc;

/// A kernel on a context, or several as one launch on a GPU. The first run prepares it for the layout of its tensors: checks them against the kernel's
/// declarations, and compiles. Later runs on tensors of this layout look at nothing else, take no lock and allocate
/// nothing. A run on tensors of another layout prepares it anew.
pub struct DeviceKernel {
    compiled: Compiled,
    outputs: Vec<TensorType>,
    prepared: Option<PreparedKernel>,
    preparations: u64,
    /// Addresses of a launch, inputs first; kept for its memory.
    addresses: Vec<u64>,
}

enum Compiled {
    Cpu(Arc<CpuKernel>),
    Gpu(Box<CudaKernel>),
}

struct PreparedKernel {
    /// Those of the inputs, strides included.
    inputs: Vec<TensorType>,
    launch: KernelLaunch,
}

enum KernelLaunch {
    Cpu(PreparedRun),
    Gpu(PreparedLaunch),
}

/// What a kernel takes in each schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelTimes {
    /// Its node.
    pub node: NodeId,
    /// Nanoseconds of a launch in each, in the order of the candidates.
    pub times: Vec<u64>,
}

/// A run that measures.
pub(crate) struct TuningRun<'a> {
    /// Whether to measure the candidates of a node.
    pub(crate) wanted: &'a mut dyn FnMut(NodeId, &Candidates) -> bool,
    pub(crate) measured: Vec<KernelTimes>,
}

impl DeviceKernel {
    /// Verifies a kernel and makes it ready for a context's kind of device.
    pub fn new<E: Engine>(context: &Context<E>, kernel: &Kernel) -> Result<DeviceKernel, LaunchError> {
        DeviceKernel::joined(context, &[kernel])
    }

    /// Kernels that use nothing that another of them writes, as one launch: its inputs and outputs are those of all. The
    /// CPU takes one at a time.
    pub(crate) fn joined<E: Engine>(context: &Context<E>, kernels: &[&Kernel]) -> Result<DeviceKernel, LaunchError> {
        let compiled = match kernels {
            [kernel] if context.engine().gpu_index().is_none() => Compiled::Cpu(Arc::new(CpuKernel::compile(kernel)?)),
            _ => Compiled::Gpu(Box::new(CudaKernel::joined(kernels)?)),
        };
        let outputs = kernels.iter().flat_map(|kernel| kernel.output_types()).collect();
        Ok(DeviceKernel { compiled, outputs, prepared: None, preparations: 0, addresses: vec![] })
    }

    /// The same in the schedule of this name, where it is among those that it may have.
    #[must_use]
    pub(crate) fn scheduled(self, schedule: Option<&String>) -> DeviceKernel {
        let compiled = match (self.compiled, schedule) {
            (Compiled::Gpu(kernel), Some(name)) => Compiled::Gpu(Box::new(kernel.scheduled(name.clone()))),
            (compiled, _) => compiled,
        };
        DeviceKernel { compiled, ..self }
    }

    /// Types of the outputs, all contiguous.
    pub fn output_types(&self) -> &[TensorType] {
        &self.outputs
    }

    /// How often it was prepared for a layout.
    pub fn preparations(&self) -> u64 {
        self.preparations
    }

    /// Runs on tensors. On a GPU the outputs are written when the stream gets there.
    ///
    /// # Safety
    /// The context is of the device that the kernel was made for. Outputs have the types that [`DeviceKernel::output_types`]
    /// gives, and overlap neither each other nor an input. Until the device has run the kernel nobody else writes to a
    /// tensor, or reads an output, and it is not run on another stream.
    pub unsafe fn run<E: Engine>(
        &mut self,
        context: &Context<E>,
        inputs: &[&E::Tensor],
        outputs: &[&E::Tensor],
    ) -> Result<(), LaunchError> {
        context.entered(|launching| {
            if let Some(position) = inputs.iter().chain(outputs).position(|tensor| !launching.holds(tensor)) {
                return Err(LaunchError::Elsewhere(position));
            }
            let outputs = outputs.iter().map(|tensor| tensor.data_ptr() as u64);
            // SAFETY: the caller's promise, and all tensors lie on this device.
            unsafe { self.launch(launching, inputs.iter().copied(), outputs) }
        })?
    }

    /// # Safety
    /// Inputs and outputs lie in the device's memory, outputs are contiguous and overlap nothing, and nobody else accesses
    /// what is written, or writes to what is read, until the device has run the kernel. It is launched on one stream.
    pub(crate) unsafe fn launch<'t, E: Engine>(
        &mut self,
        launching: &Launching<'_, E>,
        inputs: impl Iterator<Item = &'t E::Tensor> + Clone,
        outputs: impl Iterator<Item = u64> + Clone,
    ) -> Result<(), LaunchError> {
        // SAFETY: the inputs have the types that it was prepared for; the rest is the caller's promise.
        if self.take_addresses(inputs.clone(), outputs.clone()) && unsafe { self.launch_prepared(launching)? } {
            return Ok(());
        }
        self.prepare(launching, inputs.clone(), outputs.clone())?;
        // SAFETY: as above.
        if self.take_addresses(inputs, outputs) && unsafe { self.launch_prepared(launching)? } {
            return Ok(());
        }
        Err(LaunchError::Refused)
    }

    /// Notes the addresses of tensors; false if they are not of the layout that it is prepared for.
    fn take_addresses<'t, T: EngineTensor>(
        &mut self,
        mut inputs: impl Iterator<Item = &'t T>,
        outputs: impl Iterator<Item = u64>,
    ) -> bool {
        let Some(prepared) = &self.prepared else { return false };
        self.addresses.clear();
        for ty in &prepared.inputs {
            let Some(address) = inputs.next().and_then(|tensor| tensor.address_if(ty)) else { return false };
            self.addresses.push(address as u64);
        }
        self.addresses.extend(outputs);
        inputs.next().is_none()
    }

    /// Launches at the noted addresses; false if they are aligned in another way than what it is prepared for.
    ///
    /// # Safety
    /// The tensors have the types that it was prepared for; the rest as for [`DeviceKernel::launch`].
    unsafe fn launch_prepared<E: Engine>(&mut self, launching: &Launching<'_, E>) -> Result<bool, LaunchError> {
        let Some(prepared) = &mut self.prepared else { return Ok(false) };
        match (&mut prepared.launch, &launching.on_gpu) {
            // SAFETY: the caller's promise.
            (KernelLaunch::Cpu(run), _) => Ok(unsafe { run.run(launching.engine, &self.addresses) }),
            (KernelLaunch::Gpu(launch), Some((on, entered))) => {
                // SAFETY: as above.
                Ok(unsafe { launch.launch(entered, on.stream, &self.addresses) }.map_err(ContextError::from)?)
            }
            (KernelLaunch::Gpu(_), None) => Ok(false),
        }
    }

    fn prepare<'t, E: Engine>(
        &mut self,
        launching: &Launching<'_, E>,
        inputs: impl Iterator<Item = &'t E::Tensor> + Clone,
        outputs: impl Iterator<Item = u64>,
    ) -> Result<(), LaunchError> {
        let types: Vec<TensorType> = inputs.clone().map(EngineTensor::ty).collect();
        let bound: Vec<BoundInput<'_>> = inputs.zip(&types).map(|(tensor, ty)| bound_input(tensor, ty)).collect();
        let results = self.bound_outputs(outputs);
        let launch = match (&self.compiled, &launching.on_gpu) {
            (Compiled::Cpu(kernel), _) => KernelLaunch::Cpu(kernel.prepare(&bound, &results)?),
            (Compiled::Gpu(kernel), Some((on, _))) => {
                KernelLaunch::Gpu(kernel.prepare(&on.gpu, &on.compiler, &bound, &results)?)
            }
            (Compiled::Gpu(_), None) => return Err(LaunchError::Refused),
        };
        self.preparations += 1;
        self.addresses.reserve(types.len() + self.outputs.len());
        self.prepared = Some(PreparedKernel { inputs: types, launch });
        Ok(())
    }

    /// Measures a launch of this node in each schedule that it may have on these tensors, where there are several and they
    /// are wanted.
    ///
    /// # Safety
    /// As for [`DeviceKernel::launch`].
    pub(crate) unsafe fn tune<'t, E: Engine>(
        &self,
        node: NodeId,
        TuningRun { wanted, measured }: &mut TuningRun<'_>,
        launching: &Launching<'_, E>,
        inputs: impl Iterator<Item = &'t E::Tensor> + Clone,
        outputs: impl Iterator<Item = u64> + Clone,
    ) -> Result<(), LaunchError> {
        let (Compiled::Gpu(kernel), Some((on, entered))) = (&self.compiled, &launching.on_gpu) else { return Ok(()) };
        let types: Vec<TensorType> = inputs.clone().map(EngineTensor::ty).collect();
        let bound: Vec<BoundInput<'_>> =
            inputs.clone().zip(&types).map(|(tensor, ty)| bound_input(tensor, ty)).collect();
        let results = self.bound_outputs(outputs.clone());
        let candidates = kernel.candidates(&on.gpu, &bound, &results)?;
        let Some(candidates) = candidates.filter(|candidates| wanted(node, candidates)) else { return Ok(()) };
        let addresses: Vec<u64> = inputs.map(|tensor| tensor.data_ptr() as u64).chain(outputs).collect();
        // SAFETY: the candidates are for these very tensors; the rest is the caller's promise.
        let times = unsafe { candidates.measure(&on.gpu, &on.compiler, (entered, on.stream), &addresses)? };
        measured.push(KernelTimes { node, times });
        Ok(())
    }

    fn bound_outputs(&self, addresses: impl Iterator<Item = u64>) -> Vec<BoundOutput> {
        let outputs = addresses.zip(&self.outputs);
        outputs.map(|(address, ty)| BoundOutput { pointer: address as *mut u8, bytes: ty.bytes() as usize }).collect()
    }
}

fn bound_input<'a>(tensor: &impl EngineTensor, ty: &'a TensorType) -> BoundInput<'a> {
    BoundInput {
        pointer: tensor.data_ptr().cast_const(),
        bytes: tensor.bytes_from_data(),
        dtype: ty.dtype,
        shape: &ty.shape,
        strides: &ty.strides,
    }
}
