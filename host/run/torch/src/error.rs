//! Why libtorch gave nothing.

/// Why an op could not be prepared or called, or a tensor not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TorchError {
    /// A device has no memory left for what was asked.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// libtorch has no kernel for the device.
    #[error("{0}")]
    NotImplemented(String),
    /// It gave a tensor with elements of a type that graphs do not have.
    #[error("it gives elements of c10's type {0}, which graphs do not have")]
    ElementType(i8),
    /// libtorch refused the name, the arguments or the operands, or bytes are not those of a type.
    #[error("{0}")]
    Torch(String),
}

impl From<cxx::Exception> for TorchError {
    fn from(exception: cxx::Exception) -> TorchError {
        // The marks that the shim puts before the words of these kinds of exceptions.
        let message = first_line(exception.what().trim_start_matches(['\u{1e}', '\u{1f}']));
        match exception.what().chars().next() {
            Some('\u{1f}') => TorchError::OutOfMemory(without_advice(&message)),
            Some('\u{1e}') => TorchError::NotImplemented(message),
            _ => TorchError::Torch(message),
        }
    }
}

/// What libtorch says of a full GPU: how much was asked for and how much there is, without what follows on settings to try.
fn without_advice(message: &str) -> String {
    let message = message.strip_prefix("CUDA out of memory. ").unwrap_or(message);
    message.split_inclusive(". ").take(2).collect::<String>().trim_end().to_owned()
}

/// libtorch's messages carry a C++ backtrace after the first line.
fn first_line(message: &str) -> String {
    let text = message.split("\nException raised from").next().unwrap_or(message);
    text.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::without_advice;

    #[test]
    fn a_full_gpu_is_described_without_advice() {
        let message = "CUDA out of memory. Tried to allocate 148.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which \
                       13.56 MiB is free. Process 449 has 139.11 GiB memory in use. If reserved but unallocated memory is";
        let expected =
            "Tried to allocate 148.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which 13.56 MiB is free.";
        assert_eq!(without_advice(message), expected);
    }
}
