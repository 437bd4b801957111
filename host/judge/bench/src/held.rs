//! The elements of a tensor, where they are.

use crate::device::BenchDevice;
use crate::element::HostElements;
use crate::on_device::digest::digest;
use passhost_ir::{Dtype, TensorType};
use passhost_runtime::EngineTensor;
use passhost_torch::{Target, Tensor, TorchError};
use std::cell::OnceCell;

/// Bytes that any element type may be read at multiples of.
const ALIGNMENT: usize = 16;

/// The elements of a tensor: on the host, or on a device that draws and compares them itself. There they stay until
/// something on the CPU needs them.
pub struct HeldTensor {
    dtype: Dtype,
    /// A contiguous tensor at a multiple of [`ALIGNMENT`] that nobody writes to.
    tensor: Option<Tensor>,
    bytes: OnceCell<Vec<u8>>,
}

impl HeldTensor {
    /// Row-major bytes on the host.
    pub fn host(dtype: Dtype, bytes: Vec<u8>) -> HeldTensor {
        HeldTensor { dtype, tensor: None, bytes: OnceCell::from(bytes) }
    }

    /// What a tensor has that nobody writes to from now on.
    pub fn of(device: &BenchDevice, tensor: &Tensor) -> HeldTensor {
        let ty = tensor.ty();
        let kept = device.on_device(&ty).and_then(|_| match tensor.address_if(&contiguous(&ty)) {
            Some(address) if address % ALIGNMENT == 0 => Some(tensor.clone()),
            _ => tensor.copied().ok(),
        });
        match kept {
            None => HeldTensor::host(ty.dtype, tensor.to_bytes()),
            tensor => HeldTensor { dtype: ty.dtype, tensor, bytes: OnceCell::new() },
        }
    }

    /// Of each tensor.
    pub fn all(device: &BenchDevice, tensors: &[Tensor]) -> Vec<HeldTensor> {
        tensors.iter().map(|tensor| HeldTensor::of(device, tensor)).collect()
    }

    /// The elements on the host, brought there if they are not.
    pub fn elements(&self) -> HostElements<'_> {
        let bytes = self.bytes.get_or_init(|| self.tensor.as_ref().map(Tensor::to_bytes).unwrap_or_default());
        HostElements { dtype: self.dtype, bytes }
    }

    /// Element type.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        match &self.tensor {
            Some(tensor) => tensor.ty().numel(),
            None => self.elements().len() as u64,
        }
    }

    /// The tensor, if they are on the device.
    pub fn tensor(&self) -> Option<&Tensor> {
        self.tensor.as_ref()
    }

    /// The same as a tensor of bytes.
    pub fn bytes_on_device(&self) -> Option<Tensor> {
        self.tensor.as_ref()?.as_bytes().ok()
    }

    /// A tensor of its own with these elements, of a type that is theirs.
    pub fn copy(&self, target: &Target, ty: &TensorType) -> Result<Tensor, TorchError> {
        match &self.tensor {
            Some(tensor) => tensor.copied(),
            None => Tensor::from_bytes(target, ty, self.elements().bytes),
        }
    }

    /// Whether a tensor has just these elements.
    pub fn is_in(&self, tensor: &Tensor) -> bool {
        let there = self.bytes_on_device().and_then(|bytes| bytes.same_bytes(&tensor.as_bytes().ok()?).ok());
        there.unwrap_or_else(|| tensor.to_bytes() == self.elements().bytes)
    }

    /// A digest under a key, of what a program on the device could write to.
    pub fn digest(&self, device: &BenchDevice, key: u64) -> Option<Vec<u8>> {
        let kernels = device.on_device(&self.tensor.as_ref()?.ty())?;
        digest(device.context(), kernels, key, &self.bytes_on_device()?).ok()
    }
}

fn contiguous(ty: &TensorType) -> TensorType {
    TensorType::contiguous(ty.dtype, ty.shape.clone())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::on_device::{CHUNK, draws};
    use crate::session::tests::alone;

    #[test]
    fn a_tensor_has_the_elements_that_are_held_wherever_they_are() {
        let _alone = alone();
        for (device, count, is_there) in [
            (BenchDevice::cpu(), CHUNK, false),
            (BenchDevice::cpu_like_a_gpu(), CHUNK, true),
            (BenchDevice::cpu_like_a_gpu(), CHUNK - 1, false),
            (BenchDevice::cpu_like_a_gpu().checked_by_cpu(), CHUNK, false),
        ] {
            let ty = TensorType::contiguous(Dtype::I16, [1, count as i64]);
            let bytes: Vec<u8> = (0..2 * count).map(|number| (number % 251) as u8).collect();
            let tensor = Tensor::from_bytes(device.target(), &ty, &bytes).unwrap();
            let held = HeldTensor::of(&device, &tensor);
            assert_eq!((held.tensor().is_some(), held.count()), (is_there, count as u64));
            let copy = held.copy(device.target(), &ty).unwrap();
            assert!(held.is_in(&copy) && copy.data_ptr() != tensor.data_ptr() && held.elements().bytes == bytes);
            let changed = draws::altered(&copy, &[(count - 1, -1.0)]).unwrap();
            assert!(!held.is_in(&changed) && held.is_in(&copy));
            let digest = held.digest(&device, 5);
            assert_eq!(digest.is_some(), is_there);
            for place in (0..2 * count).step_by(count / 2 + 1) {
                tensor
                    .as_bytes()
                    .unwrap()
                    .reinterpret(place as u64, &TensorType::contiguous(Dtype::U8, [1]))
                    .unwrap()
                    .fill(255);
                assert_ne!(held.digest(&device, 5).as_deref().unwrap_or_default(), digest.as_deref().unwrap_or(&[1]));
            }
        }
    }

    #[test]
    fn a_tensor_at_an_odd_address_is_held_as_a_copy() {
        let _alone = alone();
        let device = BenchDevice::cpu_like_a_gpu();
        let bytes = TensorType::contiguous(Dtype::U8, [CHUNK as i64 + 3]);
        let memory = Tensor::from_bytes(device.target(), &bytes, &vec![1; CHUNK + 3]).unwrap();
        let part = |start| memory.reinterpret(start, &TensorType::contiguous(Dtype::U8, [CHUNK as i64])).unwrap();
        for (start, shares) in [(0, true), (3, false)] {
            let held = HeldTensor::of(&device, &part(start));
            assert_eq!(held.tensor().map(|tensor| tensor.data_ptr() == memory.data_ptr()), Some(shares));
            assert!(held.digest(&device, 9).is_some());
        }
    }
}
