//! Storage bound to a kernel, held against its declarations.
//!
//! The storage belongs to someone else, PyTorch as a rule.

use passhost_ir::{Dtype, Kernel, numel};

/// An input tensor's storage.
#[derive(Debug, Clone)]
pub struct BoundInput<'a> {
    /// The element at index 0 in every dimension.
    pub pointer: *const u8,
    /// Bytes of the storage from `pointer` to its end.
    pub bytes: usize,
    /// Element type.
    pub dtype: Dtype,
    /// Extent of each dimension.
    pub shape: &'a [i64],
    /// Distance, in elements, of neighbours along each dimension; at least 0.
    pub strides: &'a [i64],
}

/// An output tensor's storage, contiguous.
#[derive(Debug, Clone, Copy)]
pub struct BoundOutput {
    /// The first element.
    pub pointer: *mut u8,
    /// Exactly as many as the output's elements take.
    pub bytes: usize,
}

/// Storage that does not fit a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// Another number of inputs.
    #[error("the kernel has {expected} inputs, {found} were bound")]
    InputCount {
        /// Inputs declared.
        expected: usize,
        /// Inputs bound.
        found: usize,
    },
    /// Another number of outputs.
    #[error("the kernel has {expected} outputs, {found} were bound")]
    OutputCount {
        /// Outputs declared.
        expected: usize,
        /// Outputs bound.
        found: usize,
    },
    /// An input of another type.
    #[error("input {input} of the kernel is {expected}, a tensor of {found} was bound to it")]
    InputDtype {
        /// The input.
        input: usize,
        /// Type declared.
        expected: Dtype,
        /// Type bound.
        found: Dtype,
    },
    /// An input of another shape.
    #[error("input {input} of the kernel has shape {expected:?}, a tensor of shape {found:?} was bound to it")]
    InputShape {
        /// The input.
        input: usize,
        /// Shape declared.
        expected: Vec<i64>,
        /// Shape bound.
        found: Vec<i64>,
    },
    /// Strides of another rank than the shape, or a negative one.
    #[error("input {input} was bound with strides {strides:?}; expected {rank} strides of at least 0")]
    InputStrides {
        /// The input.
        input: usize,
        /// Strides bound.
        strides: Vec<i64>,
        /// Dimensions of the input.
        rank: usize,
    },
    /// Elements beyond the end of the storage.
    #[error("input {input} reaches {needed} bytes into its storage, which ends after {bytes}")]
    InputReach {
        /// The input.
        input: usize,
        /// Bytes that its shape and strides reach, saturated.
        needed: u64,
        /// Bytes there are.
        bytes: usize,
    },
    /// An address that is no multiple of the element size.
    #[error("input {input} starts at an address that is no multiple of {alignment} bytes, the size of its elements")]
    InputAlignment {
        /// The input.
        input: usize,
        /// Bytes per element.
        alignment: u64,
    },
    /// An output of another size.
    #[error("output {output} takes {needed} bytes, {bytes} were bound to it")]
    OutputSize {
        /// The output.
        output: usize,
        /// Bytes of its elements.
        needed: u64,
        /// Bytes bound.
        bytes: usize,
    },
    /// An address that is no multiple of the element size.
    #[error("output {output} starts at an address that is no multiple of {alignment} bytes, the size of its elements")]
    OutputAlignment {
        /// The output.
        output: usize,
        /// Bytes per element.
        alignment: u64,
    },
    /// An output that would overwrite an input while it is read.
    #[error("output {output} overlaps input {input}; give it storage of its own")]
    OutputOverlapsInput {
        /// The output.
        output: usize,
        /// The input.
        input: usize,
    },
    /// Two outputs in one place.
    #[error("outputs {first} and {second} overlap; give each storage of its own")]
    OutputsOverlap {
        /// The first of the two.
        first: usize,
        /// The second.
        second: usize,
    },
}

/// Checks everything; returns how many elements each input's strides reach.
pub(crate) fn check(
    kernel: &Kernel,
    inputs: &[BoundInput<'_>],
    outputs: &[BoundOutput],
) -> Result<Vec<usize>, BindError> {
    if inputs.len() != kernel.inputs.len() {
        return Err(BindError::InputCount { expected: kernel.inputs.len(), found: inputs.len() });
    }
    if outputs.len() != kernel.stores.len() {
        return Err(BindError::OutputCount { expected: kernel.stores.len(), found: outputs.len() });
    }
    let mut reaches = Vec::with_capacity(inputs.len());
    for (input, (decl, bound)) in kernel.inputs.iter().zip(inputs).enumerate() {
        if bound.dtype != decl.dtype {
            return Err(BindError::InputDtype { input, expected: decl.dtype, found: bound.dtype });
        }
        if bound.shape != decl.shape {
            return Err(BindError::InputShape { input, expected: decl.shape.clone(), found: bound.shape.to_vec() });
        }
        if bound.strides.len() != decl.shape.len() || bound.strides.iter().any(|stride| *stride < 0) {
            let (strides, rank) = (bound.strides.to_vec(), decl.shape.len());
            return Err(BindError::InputStrides { input, strides, rank });
        }
        let (reach, size) = (reach(bound), decl.dtype.size());
        let needed = reach.saturating_mul(size);
        if needed > bound.bytes as u64 || needed > isize::MAX as u64 {
            return Err(BindError::InputReach { input, needed, bytes: bound.bytes });
        }
        if reach > 0 && !(bound.pointer as u64).is_multiple_of(size) {
            return Err(BindError::InputAlignment { input, alignment: size });
        }
        reaches.push(reach as usize);
    }
    for (output, (store, bound)) in kernel.stores.iter().zip(outputs).enumerate() {
        let size = kernel.body[store.value.0 as usize].dtype.size();
        let needed = numel(&store.shape).saturating_mul(size);
        if needed != bound.bytes as u64 {
            return Err(BindError::OutputSize { output, needed, bytes: bound.bytes });
        }
        if needed > 0 && !(bound.pointer as u64).is_multiple_of(size) {
            return Err(BindError::OutputAlignment { output, alignment: size });
        }
    }
    check_apart(inputs, outputs)?;
    Ok(reaches)
}

/// Checks that no output overlaps an input or another output.
pub(crate) fn check_apart(inputs: &[BoundInput<'_>], outputs: &[BoundOutput]) -> Result<(), BindError> {
    let range = |pointer: *const u8, bytes: u64| (pointer as u64, (pointer as u64).saturating_add(bytes));
    let overlap = |a: (u64, u64), b: (u64, u64)| a.0.max(b.0) < a.1.min(b.1);
    let read = |input: &BoundInput<'_>| range(input.pointer, reach(input).saturating_mul(input.dtype.size()));
    let mut written: Vec<(u64, u64)> = vec![];
    for (output, bound) in outputs.iter().enumerate() {
        let place = range(bound.pointer, bound.bytes as u64);
        if let Some(input) = inputs.iter().position(|input| overlap(place, read(input))) {
            return Err(BindError::OutputOverlapsInput { output, input });
        }
        if let Some(first) = written.iter().position(|other| overlap(*other, place)) {
            return Err(BindError::OutputsOverlap { first, second: output });
        }
        written.push(place);
    }
    Ok(())
}

/// Elements from the first to the last that shape and strides reach, saturated; 0 for an empty tensor.
fn reach(input: &BoundInput<'_>) -> u64 {
    if input.shape.contains(&0) {
        return 0;
    }
    input
        .shape
        .iter()
        .zip(input.strides)
        .fold(1u64, |reach, (extent, stride)| reach.saturating_add((*extent as u64 - 1).saturating_mul(*stride as u64)))
}
