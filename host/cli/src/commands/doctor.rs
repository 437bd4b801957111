//! `passhost doctor`

use crate::arguments::DeviceArguments;
use crate::output::print;
use crate::terminal::{Terminal, Tone};
use crate::{Exit, Stop};
use passhost_ir::{Arg, Dtype, Infer, OpName, TensorType};
use passhost_protocol::guest::FromGuest;
use passhost_supervisor::Types;
use passhost_supervisor::child::{Child, beside_this_executable};
use passhost_supervisor::device::Device;
use passhost_supervisor::reader::Reader;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn run(arguments: &DeviceArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let mut exit = Exit::Success;
    let mut report = |name: &str, result: Result<String, String>, needed: bool| {
        let (mark, text) = match result {
            Ok(text) => (terminal.paint(Tone::Good, "ok  "), text),
            Err(text) if needed => {
                exit = Exit::Host;
                (terminal.paint(Tone::Bad, "FAIL"), text)
            }
            Err(text) => (terminal.paint(Tone::Warn, "warn"), text),
        };
        print([format!("{mark}  {name:<14} {text}")]);
    };
    report("passhost", Ok(env!("CARGO_PKG_VERSION").to_owned()), true);
    report("guest process", guest(), true);
    report("reader process", reader(), true);
    report("types process", types(), true);
    report(
        "plugin cache",
        super::open_cache()
            .map(|_| "usable".to_owned())
            .map_err(|reason| format!("{reason}; plugins compile each time")),
        false,
    );
    let device = Device::open(arguments.device, arguments.threads);
    let settings = device.as_ref().map(|device| device.info().settings.clone()).unwrap_or_default();
    report("device", device.map(|device| super::device_line(device.info())).map_err(|error| error.to_string()), true);
    if !settings.is_empty() {
        report("GPU settings", Ok(settings), false);
    }
    Ok(exit)
}

/// A reader that says why it cannot open a sample works.
fn reader() -> Result<String, String> {
    let answered = Reader::open(Path::new("no sample")).map_err(|error| error.to_string())?;
    drop(answered);
    Ok(beside_this_executable("passhost-reader").display().to_string())
}

fn types() -> Result<String, String> {
    let mut types = Types::new(Arc::default());
    let operand = TensorType::contiguous(Dtype::F32, vec![2, 3]);
    let answer = types.infer(&OpName::new("aten::relu", ""), &[Arg::Value(operand)]);
    match (types.take_trouble(), answer) {
        (Some(trouble), _) => Err(trouble.to_string()),
        (None, Ok(_)) => Ok("infers".into()),
        (None, Err(error)) => Err(error.to_string()),
    }
}

fn guest() -> Result<String, String> {
    let mut child: Child<FromGuest> =
        Child::start("guest", "passhost-guest", None, &[]).map_err(|error| error.to_string())?;
    match child.receive(Instant::now() + Duration::from_secs(10)) {
        Ok(FromGuest::Hello { engine }) => {
            Ok(format!("{}, engine {engine}", beside_this_executable("passhost-guest").display()))
        }
        Ok(_) => Err("answers out of turn; rebuild with `make build`".into()),
        Err(error) => Err(error.to_string()),
    }
}
