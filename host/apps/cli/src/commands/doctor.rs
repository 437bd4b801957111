//! `passhost doctor`

use crate::arguments::DeviceArguments;
use crate::exit::{Exit, Stop};
use crate::output::print;
use crate::terminal::{Terminal, Tone, entry};
use passhost_builder::Sdk;
use passhost_child::device::Device;
use passhost_child::machine_code::processes;
use passhost_child::{Child, Confinement, TypesClient, beside_this_executable};
use passhost_confine::attempt::{self, HARMLESS};
use passhost_ir::{Arg, Dtype, Infer, OpName, TensorType};
use passhost_protocol::Reply;
use passhost_protocol::guest::FromGuest;
use passhost_protocol::reader::FromReader;
use passhost_result::SandboxProfile;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Ways out that are tried: one of each kind. The end-to-end tests try them all.
const ATTEMPTS: [&str; 6] = ["open-passwd", "create-file", "listen-tcp", "fork", "exec", "signal-parent"];

/// What is tried on the key of a cache.
const OPEN: &str = "open-target";

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
        print(entry(&format!("{mark}  {name:<18} "), 25, &text, terminal.width()));
    };
    report("passhost", Ok(env!("CARGO_PKG_VERSION").to_owned()), true);
    let mut whole = true;
    for (name, confinement, answer) in [
        ("guest process", "guest confinement", guest()),
        ("reader process", "reader confinement", reader()),
        ("types process", "types confinement", types()),
    ] {
        match answer {
            Ok((text, profile)) => {
                report(name, Ok(text), true);
                report(confinement, confined(profile), false);
                whole &= profile.missing().is_none();
            }
            Err(text) => report(name, Err(text), true),
        }
    }
    report(
        "plugin cache",
        super::open_cache()
            .map(|_| "usable".to_owned())
            .map_err(|reason| format!("{reason}; plugins compile each time")),
        false,
    );
    // Where something is missing, which is said already, an attempt works.
    report("attempts", attempts(), whole);
    report("SDK", sdk(), false);
    let compiler = compiler();
    report("compiler", compiler.as_ref().map(|(text, _)| text.clone()).map_err(Clone::clone), false);
    if let Ok((_, Some(profile))) = compiler {
        report("NVRTC confinement", confined(profile), false);
    }
    let device = Device::open(super::device_setup(arguments.device, arguments.threads));
    let settings = device.as_ref().map(|device| device.info().settings.clone()).unwrap_or_default();
    let profile = device.as_ref().map(Device::profile).ok();
    report("device", device.map(|device| super::device_line(device.info())).map_err(|error| error.to_string()), true);
    if let Some(profile) = profile {
        report("device confinement", confined(profile), false);
    }
    if !settings.is_empty() {
        report("GPU settings", Ok(settings), false);
    }
    Ok(exit)
}

/// What confines a child, or a warning what is missing.
fn confined(profile: SandboxProfile) -> Result<String, String> {
    match profile.missing() {
        None => Ok(profile.to_string()),
        Some(missing) => Err(format!("this kernel has no {missing} ({profile}); see THREAT_MODEL.md")),
    }
}

/// Native code tries to get out of a guest and a reader process, and in a device process at the caches' keys.
fn attempts() -> Result<String, String> {
    let (reads, hidden) = ([OsString::from("/nowhere")], super::hidden());
    let hidden: Vec<OsString> = hidden.into_iter().map(OsString::from).collect();
    // Where its user may write: a read-only root would refuse a file before confinement does.
    let target = std::env::temp_dir().join(format!("passhost-attempt-{}", std::process::id()));
    let target = target.as_os_str();
    let mut worked = vec![];
    for (program, arguments, stage) in [
        ("passhost-guest", &[][..], "running"),
        ("passhost-reader", &reads, passhost_sample::READING),
        ("passhost-builder", &[], "compiling"),
    ] {
        for name in ATTEMPTS {
            worked.extend(hole((program, arguments, stage), name, target, false)?);
        }
        worked.extend(hole((program, arguments, stage), HARMLESS.name, target, true)?);
    }
    let device = ("passhost-device", &hidden[..], "measuring");
    for path in hidden.iter().filter(|path| Path::new(path).is_file()) {
        worked.extend(hole(device, OPEN, path, false)?);
    }
    worked.extend(hole(device, HARMLESS.name, target, true)?);
    _ = std::fs::remove_file(target);
    match worked.as_slice() {
        [] => Ok(format!("confinement holds against {}, and hides the keys of caches", ATTEMPTS.join(", "))),
        _ => Err(format!("confinement does not do what it should: {}; see THREAT_MODEL.md", worked.join(", "))),
    }
}

/// What came of an attempt that came to something else than it may.
fn hole(
    (program, arguments, stage): (&str, &[OsString], &str),
    name: &str,
    target: &OsStr,
    may: bool,
) -> Result<Option<String>, String> {
    let path = beside_this_executable(program);
    let arguments: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
    let outcome = attempt::of_program(&path, &arguments, stage, name, target);
    let outcome = outcome.map_err(|error| format!("{} does not start: {error}", path.display()))?;
    Ok((outcome.held() == may).then(|| format!("{name} ({program}, {outcome})")))
}

/// What a child says of itself first.
fn greeting<M: Reply + Send + 'static>(
    (what, program): (&'static str, &str),
    argument: Option<&OsStr>,
    read: impl Fn(M) -> Option<(String, SandboxProfile)>,
) -> Result<(String, SandboxProfile), String> {
    let mut child: Child<M> = Child::start(what, program, argument, &[]).map_err(|error| error.to_string())?;
    let message = child.receive(Instant::now() + Duration::from_secs(10)).map_err(|error| error.to_string())?;
    let (engine, profile) = read(message).ok_or("answers out of turn; rebuild with `make build`")?;
    Ok((format!("{}{engine}", beside_this_executable(program).display()), profile))
}

fn reader() -> Result<(String, SandboxProfile), String> {
    greeting(("reader", "passhost-reader"), Some(OsStr::new("/nowhere")), |message| match message {
        FromReader::Ready(profile) => Some((String::new(), profile)),
        _ => None,
    })
}

fn guest() -> Result<(String, SandboxProfile), String> {
    greeting(("guest", "passhost-guest"), None, |message| match message {
        FromGuest::Hello { engine, profile } => Some((format!(", engine {engine}"), profile)),
        _ => None,
    })
}

fn types() -> Result<(String, SandboxProfile), String> {
    let mut types = TypesClient::new(Arc::default(), Confinement::default());
    let operand = TensorType::contiguous(Dtype::F32, vec![2, 3]);
    let mut session = types.session();
    let answer = session.infer(&OpName::new("aten::relu", ""), &[Arg::Value(operand)]);
    match (session.end(), answer, types.profile()) {
        (Some(trouble), _, _) => Err(trouble.to_string()),
        (None, Ok(_), Some(profile)) => Ok(("infers".into(), profile)),
        (None, Ok(_), None) => Err("does not say what keeps it in; rebuild with `make build`".into()),
        (None, Err(error), _) => Err(error.to_string()),
    }
}

/// What passes are compiled against; nothing else needs it.
fn sdk() -> Result<String, String> {
    let sdk = Sdk::open(&super::source::sdk_directory());
    sdk.map(|sdk| format!("{}, {}", sdk.directory().display(), sdk.compiler_version()))
        .map_err(|error| error.to_string())
}

/// What makes machine code for a GPU; nothing else needs it.
fn compiler() -> Result<(String, Option<SandboxProfile>), String> {
    match processes(Confinement::default())() {
        Ok(compiler) => Ok((compiler.identity, compiler.profile)),
        Err(reason) => Err(format!("{reason}; without it no kernel runs on a GPU")),
    }
}
