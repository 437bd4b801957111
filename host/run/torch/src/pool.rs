//! Memory of a GPU for launches that are captured.

use crate::bridge::ffi;
use crate::error::TorchError;
use crate::target::Target;
use cxx::UniquePtr;

/// Memory that nothing is given but what is captured on one stream: where it lies, it stays. While it is open, ops on that
/// stream take their memory from it; so it must be closed once the capture has ended, however it ended. Dropping it frees
/// what no tensor holds.
pub struct CapturePool(UniquePtr<ffi::CapturePool>);

impl CapturePool {
    /// Opens one for a stream that is about to be captured.
    pub fn open(target: &Target) -> Result<CapturePool, TorchError> {
        match target.gpu_stream_number() {
            Some(stream) => Ok(CapturePool(ffi::open_capture_pool(target.number(), stream)?)),
            None => Err(TorchError::Torch("there is nothing to capture on the CPU".into())),
        }
    }

    /// From now on memory comes from where it came from before.
    pub fn close(&mut self) -> Result<(), TorchError> {
        Ok(self.0.pin_mut().close()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_has_none() {
        let refused = CapturePool::open(&Target::cpu()).err();
        assert_eq!(refused, Some(TorchError::Torch("there is nothing to capture on the CPU".into())));
    }
}
