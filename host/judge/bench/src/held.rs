//! The elements of a tensor, where they are.

use crate::device::BenchDevice;
use crate::element::HostElements;
use passhost_ir::{Dtype, TensorType};
use passhost_runtime::EngineTensor;
use passhost_torch::{Target, Tensor, TorchError};
use std::cell::{OnceCell, RefCell};

/// Bytes that any element type may be read at multiples of.
const ALIGNMENT: usize = 16;

/// The elements of a tensor: on the host, or on a device that draws and compares them itself. There they stay until
/// something on the CPU needs them.
pub struct HeldTensor {
    dtype: Dtype,
    /// A contiguous tensor at a multiple of [`ALIGNMENT`] that nobody writes to.
    tensor: Option<Tensor>,
    bytes: OnceCell<Vec<u8>>,
    /// The digest that it has under a key.
    digest: RefCell<Option<(u64, Vec<u8>)>>,
}

impl HeldTensor {
    /// Row-major bytes on the host.
    pub fn host(dtype: Dtype, bytes: Vec<u8>) -> HeldTensor {
        HeldTensor { dtype, tensor: None, bytes: OnceCell::from(bytes), digest: RefCell::default() }
    }

    /// Row-major bytes of a tensor that comes from the host, on the device where such tensors are.
    pub fn brought(device: &BenchDevice, ty: &TensorType, bytes: Vec<u8>) -> HeldTensor {
        let upload = || Tensor::from_bytes(device.target(), &contiguous(ty), &bytes).ok();
        let tensor = device.on_device(ty).and_then(|_| upload());
        HeldTensor { dtype: ty.dtype, tensor, bytes: OnceCell::from(bytes), digest: RefCell::default() }
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
            tensor => HeldTensor { dtype: ty.dtype, tensor, bytes: OnceCell::new(), digest: RefCell::default() },
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

    /// The first of them, on the host.
    pub fn first(&self, count: usize) -> HeldTensor {
        let count = (count as u64).min(self.count());
        let ty = TensorType::contiguous(self.dtype, [count as i64]);
        let part = self.tensor.as_ref().and_then(|tensor| tensor.reinterpret(0, &ty).ok());
        let bytes = part.map(|part| part.to_bytes());
        HeldTensor::host(self.dtype, bytes.unwrap_or_else(|| self.elements().slice(0..count as usize).bytes.to_vec()))
    }

    /// Whether no element is infinite or NaN.
    pub fn is_finite(&self) -> bool {
        let there = self.tensor.as_ref().and_then(|tensor| tensor.is_finite().ok());
        there.unwrap_or_else(|| {
            let mut is_finite = true;
            self.elements().for_each(|value| is_finite &= value.is_finite());
            is_finite
        })
    }

    /// The mean of floats.
    pub fn mean(&self) -> f64 {
        let there = self.tensor.as_ref().and_then(|tensor| tensor.mean().ok());
        there.unwrap_or_else(|| {
            let values = self.elements().to_f64();
            values.iter().sum::<f64>() / values.len() as f64
        })
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

    /// Of those on a device that do not have, under this key, the digest of before, how many there are. What has none yet gets
    /// it.
    pub fn changed(held: &[&HeldTensor], device: &BenchDevice, key: u64, is_before: bool) -> u64 {
        let has_digest = |held: &HeldTensor| held.digest.borrow().as_ref().is_some_and(|(of, _)| *of == key);
        let there = held.iter().filter(|held| held.tensor.is_some() && !(is_before && has_digest(held)));
        let (there, tensors): (Vec<_>, Vec<Tensor>) =
            there.filter_map(|held| Some((held, held.bytes_on_device()?))).unzip();
        let digests = there.into_iter().zip(device.digests(key, &tensors));
        let differs = |(held, digest): (&&HeldTensor, Vec<u8>)| {
            let before = held.digest.replace(Some((key, digest.clone())));
            before.is_some_and(|(of, before)| of == key && before != digest)
        };
        digests.map(differs).filter(|differs| *differs).count() as u64
    }

    /// Whether a tensor has just these elements.
    pub fn is_in(&self, tensor: &Tensor) -> bool {
        let there = self.bytes_on_device().and_then(|bytes| bytes.same_bytes(&tensor.as_bytes().ok()?).ok());
        there.unwrap_or_else(|| tensor.to_bytes() == self.elements().bytes)
    }
}

fn contiguous(ty: &TensorType) -> TensorType {
    TensorType::contiguous(ty.dtype, ty.shape.clone())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::on_device::{LEAST, draws};
    use crate::session::tests::alone;

    #[test]
    fn a_tensor_has_the_elements_that_are_held_wherever_they_are() {
        let _alone = alone();
        for (device, count, is_there) in [
            (BenchDevice::cpu(), LEAST, false),
            (BenchDevice::cpu_like_a_gpu(), LEAST, true),
            (BenchDevice::cpu_like_a_gpu(), LEAST - 1, false),
            (BenchDevice::cpu_like_a_gpu().checked_by_cpu(), LEAST, false),
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
        }
    }

    #[test]
    fn bytes_are_compared_to_the_last_whatever_their_number_and_place() {
        let _alone = alone();
        let device = BenchDevice::cpu();
        let ty = |count: u64| TensorType::contiguous(Dtype::U8, [count as i64]);
        let made = || Tensor::from_bytes(device.target(), &ty(40), &[7; 40]).unwrap();
        let (one, other) = (made(), made());
        for (start, count) in [(0, 40), (0, 39), (8, 32), (1, 32), (3, 5), (16, 0)] {
            let part = |of: &Tensor| of.reinterpret(start, &ty(count)).unwrap();
            assert!(part(&one).same_bytes(&part(&other)).unwrap(), "{count} from {start}");
            for place in (count > 0).then(|| [0, count / 2, count - 1]).into_iter().flatten() {
                let byte = |value| other.reinterpret(start + place, &ty(1)).unwrap().fill(value);
                byte(8);
                assert!(!part(&one).same_bytes(&part(&other)).unwrap(), "{place} of {count} from {start}");
                byte(7);
            }
        }
    }

    #[test]
    fn a_digest_tells_of_every_byte_of_every_tensor() {
        let _alone = alone();
        let device = BenchDevice::cpu_like_a_gpu();
        // Chunks of all sizes, and bytes left over.
        let ty = |count: usize| TensorType::contiguous(Dtype::U8, [count as i64]);
        let counts = [(2 << 20) + (1 << 19) + (1 << 17) + 9, LEAST, 1 << 17];
        let tensors = counts.map(|count| Tensor::from_bytes(device.target(), &ty(count), &vec![1; count]).unwrap());
        let mut before = device.digests(5, &tensors);
        assert_eq!(before.len(), tensors.len());
        assert_ne!(before, device.digests(6, &tensors), "it is under a key");
        for (number, (tensor, count)) in tensors.iter().zip(counts).enumerate() {
            for place in (0..count).step_by(count / 3 + 1).chain([count - 1]) {
                tensor.reinterpret(place as u64, &ty(1)).unwrap().fill(255);
                let now = device.digests(5, &tensors);
                let differ: Vec<usize> = (0..now.len()).filter(|&at| now[at] != before[at]).collect();
                assert_eq!(differ, [number], "byte {place} of tensor {number}");
                before = now;
            }
        }
    }

    #[test]
    fn a_tensor_at_an_odd_address_is_held_as_a_copy() {
        let _alone = alone();
        let device = BenchDevice::cpu_like_a_gpu();
        let bytes = TensorType::contiguous(Dtype::U8, [LEAST as i64 + 3]);
        let memory = Tensor::from_bytes(device.target(), &bytes, &vec![1; LEAST + 3]).unwrap();
        let part = |start| memory.reinterpret(start, &TensorType::contiguous(Dtype::U8, [LEAST as i64])).unwrap();
        for (start, shares) in [(0, true), (3, false)] {
            let held = HeldTensor::of(&device, &part(start));
            assert_eq!(held.tensor().map(|tensor| tensor.data_ptr() == memory.data_ptr()), Some(shares));
            assert!(held.is_in(&part(start)));
        }
    }
}
