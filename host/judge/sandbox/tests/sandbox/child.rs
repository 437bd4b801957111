//! The real binary, spoken to in frames.

use passhost_ir::{Arg, DeviceFacts, DeviceKind, Graph, Infer, InferError, OpName, TensorType};
use passhost_protocol::guest::{FromGuest, GuestFailure, GuestRewrite, ToGuest};
use passhost_protocol::{FrameError, MAX_FRAME, read_frame, write_frame};
use passhost_result::{GuestLimits, GuestUsage, PassInfo};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct Guest {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    pub(crate) engine: String,
}

impl Drop for Guest {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Guest {
    pub(crate) fn start() -> Guest {
        let mut process = Command::new(env!("CARGO_BIN_EXE_passhost-guest"))
            .env("PASSHOST_TEST", "a variable that the child must drop")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = process.stdin.take();
        let stdout = process.stdout.take().unwrap();
        let mut guest = Guest { process, stdin, stdout, engine: String::new() };
        match guest.receive() {
            Ok(FromGuest::Hello { engine, .. }) => guest.engine = engine,
            other => panic!("expected Hello, got {other:?}"),
        }
        guest
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Loads and expects success.
    pub(crate) fn with(wasm: &[u8], limits: GuestLimits) -> Guest {
        let mut guest = Guest::start();
        match guest.load(wasm, None, limits) {
            FromGuest::Loaded { artefact: Some(_), .. } => guest,
            other => panic!("expected Loaded, got {other:?}"),
        }
    }

    pub(crate) fn send(&mut self, message: &ToGuest) {
        write_frame(self.stdin.as_mut().unwrap(), message).unwrap();
    }

    pub(crate) fn receive(&mut self) -> Result<FromGuest, FrameError> {
        read_frame(&mut self.stdout, MAX_FRAME)
    }

    pub(crate) fn load(&mut self, wasm: &[u8], artefact: Option<Vec<u8>>, limits: GuestLimits) -> FromGuest {
        self.send(&ToGuest::Load { wasm: wasm.to_vec(), artefact, limits });
        self.receive().unwrap()
    }

    pub(crate) fn describe(&mut self) -> (Result<PassInfo, GuestFailure>, GuestUsage) {
        self.send(&ToGuest::Describe);
        match self.receive() {
            Ok(FromGuest::Described(info, usage)) => (info, usage),
            other => panic!("expected Described, got {other:?}"),
        }
    }

    pub(crate) fn run(&mut self, graph: &Graph, infer_calls: u64) -> (Result<GuestRewrite, GuestFailure>, GuestUsage) {
        self.run_with(graph, infer_calls, &mut Echo)
    }

    pub(crate) fn run_with(
        &mut self,
        graph: &Graph,
        infer_calls: u64,
        infer: &mut dyn Infer,
    ) -> (Result<GuestRewrite, GuestFailure>, GuestUsage) {
        self.send(&ToGuest::Run { graph: graph.clone(), device: DEVICE, inserts_calls: true, infer_calls });
        loop {
            match self.receive() {
                Ok(FromGuest::Infer { op, args }) => self.send(&ToGuest::Inferred(infer.infer(&op, &args))),
                Ok(FromGuest::Ran(rewrite, usage)) => return (rewrite, usage),
                other => panic!("expected Infer or Ran, got {other:?}"),
            }
        }
    }

    /// Closes the connection and waits: exit status and standard error.
    pub(crate) fn finish(mut self) -> (Option<i32>, String) {
        use std::io::Read;
        let mut text = String::new();
        let mut stderr = self.process.stderr.take().unwrap();
        self.stdin = None;
        stderr.read_to_string(&mut text).unwrap();
        (self.process.wait().unwrap().code(), text)
    }
}

/// The device that every plugin is told.
const DEVICE: DeviceFacts = DeviceFacts {
    kind: DeviceKind::Cuda,
    multiprocessors: 132,
    l2_bytes: 50 << 20,
    bandwidth: 3_350_000_000_000,
    launch_ns: 2_000,
};

/// Answers with the tensors it is asked about.
pub(crate) struct Echo;

impl Infer for Echo {
    fn infer(&mut self, op: &OpName, args: &[Arg<TensorType>]) -> Result<Vec<TensorType>, InferError> {
        match op.name.as_str() {
            "" => Ok(args.iter().flat_map(Arg::values).cloned().collect()),
            other => Err(InferError::Unknown(other.to_owned())),
        }
    }
}
