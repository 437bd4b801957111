//! The device child's end of the pipes to its supervisor. Compilation asks through it in the middle of a request.

use passhost_protocol::compiler::CompilerSource;
use passhost_protocol::device::{DeviceStage, FromDevice, ToDevice};
use passhost_protocol::{FrameError, MAX_FRAME, read_frame, write_frame};
use passhost_runtime::{Compiler, Cubin, NvrtcError};
use std::io::{BufReader, BufWriter, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where requests come from and replies go to.
pub struct Link<R, W: Write>(Mutex<Ends<R, W>>);

struct Ends<R, W: Write> {
    from: BufReader<R>,
    to: BufWriter<W>,
}

impl<R: Read, W: Write> Link<R, W> {
    /// A link that nobody has used yet.
    pub fn new(from: R, to: W) -> Link<R, W> {
        Link(Mutex::new(Ends { from: BufReader::new(from), to: BufWriter::new(to) }))
    }

    /// The next message.
    ///
    /// # Errors
    ///
    /// If the pipe breaks or is closed, or the message is malformed.
    pub fn receive(&self) -> Result<ToDevice, FrameError> {
        read_frame(&mut self.ends().from, MAX_FRAME)
    }

    /// Sends a message.
    ///
    /// # Errors
    ///
    /// If the pipe breaks.
    pub fn send(&self, message: &FromDevice) -> Result<(), FrameError> {
        write_frame(&mut self.ends().to, message)
    }

    /// Says how far the work is. If the supervisor is gone, the next reply will show it.
    pub fn announce(&self, stage: DeviceStage) {
        let _ = self.send(&FromDevice::Stage(stage));
    }

    /// Asks for machine code, and waits for it.
    fn compile(&self, text: &str, capability: (i32, i32)) -> Result<Cubin, NvrtcError> {
        let not_had = |reason: String| NvrtcError::NotHad { reason };
        let mut ends = self.ends();
        let question = FromDevice::Compile(CompilerSource { text: text.to_owned(), capability });
        write_frame(&mut ends.to, &question).map_err(|error| not_had(error.to_string()))?;
        match read_frame(&mut ends.from, MAX_FRAME).map_err(|error| not_had(error.to_string()))? {
            ToDevice::Compiled(code) => code.map(Cubin).map_err(not_had),
            _ => Err(not_had("the supervisor answers out of turn; rebuild with `make build`".into())),
        }
    }

    fn ends(&self) -> MutexGuard<'_, Ends<R, W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Machine code for GPUs of a compute capability, from the supervisor.
pub fn compiler<R, W>(link: &Arc<Link<R, W>>, capability: (i32, i32)) -> Compiler
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
{
    let link = Arc::clone(link);
    Compiler::asking(move |text| link.compile(text, capability))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    /// Asks for the machine code of a text, of a supervisor that sends this message.
    fn ask(answer: &ToDevice) -> (FromDevice, Result<Cubin, NvrtcError>) {
        let (child, mut supervisor) = UnixStream::pair().unwrap();
        write_frame(&mut supervisor, answer).unwrap();
        let link = Arc::new(Link::new(child.try_clone().unwrap(), child));
        let code = compiler(&link, (9, 0)).compile("text");
        (read_frame(&mut supervisor, MAX_FRAME).unwrap(), code)
    }

    #[test]
    fn the_supervisor_is_asked_for_machine_code_of_the_whole_text() {
        let (question, code) = ask(&ToDevice::Compiled(Ok(vec![1, 2])));
        assert_eq!(question, FromDevice::Compile(CompilerSource { text: "text".into(), capability: (9, 0) }));
        assert_eq!(code, Ok(Cubin(vec![1, 2])));
    }

    #[test]
    fn what_the_supervisor_says_instead_is_the_error() {
        let unexpected = ToDevice::Open {
            device: passhost_protocol::device::DeviceChoice::Cpu,
            threads: None,
            launch: passhost_result::Launch::Stream,
            files: None,
            hidden: vec![],
            check_on_cpu: false,
        };
        for (answer, reason) in
            [(ToDevice::Compiled(Err("no compiler".into())), "no compiler"), (unexpected, "out of turn")]
        {
            let (_, code) = ask(&answer);
            assert!(code.as_ref().is_err_and(|error| error.to_string().contains(reason)), "{code:?}");
        }
    }

    #[test]
    fn a_supervisor_that_is_gone_is_an_error() {
        let (child, supervisor) = UnixStream::pair().unwrap();
        drop(supervisor);
        let link = Arc::new(Link::new(child.try_clone().unwrap(), child));
        assert!(matches!(compiler(&link, (9, 0)).compile("text"), Err(NvrtcError::NotHad { .. })));
    }
}
