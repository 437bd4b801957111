//! The unmodified clients of training frameworks, each with an episode against `passhost serve`. `make test-frameworks`
//! installs them and runs this; without what it installs each is skipped, by name.

use passhost_tests::{Server, repository};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs a program of tests/python by the Python that has the packages of its set, and fails with all that it printed if it
/// fails. It finds what it needs in its environment: the server, a client's name and token, the sample, and the folder of
/// the passes that its scripted model writes.
fn episode(set: &str, program: &str) {
    let Some(python) = python(set) else {
        println!("skipped: {set} is not installed; `make test-frameworks` does that");
        return;
    };
    let server = Server::start(&[]);
    let mut command = Command::new(python);
    command.arg(repository().join("tests/python").join(set).join(program)).stdin(Stdio::null());
    command.env("PASSHOST_ADDRESS", &server.address).env("PASSHOST_SAMPLE", server.sample());
    command.env("PASSHOST_CLIENT", "alice").env("PASSHOST_TOKEN", server.token("alice"));
    command.env("PASSHOST_PASSES", repository().join("tests/scripted-passes"));
    let output = command.output();
    assert!(output.is_ok(), "{output:?}");
    let Ok(output) = output else { unreachable!("it was checked") };
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{set}/{program} ends with {}\n{out}\n{err}", output.status);
    println!("{set}/{program}: {}", out.trim_end());
}

/// The interpreter of a set; none where nothing is installed. Who asks for the tests wants it to be there.
fn python(set: &str) -> Option<PathBuf> {
    let environments = PathBuf::from(std::env::var_os("PASSHOST_FRAMEWORKS")?);
    let python = environments.join(set).join("bin/python");
    assert!(python.exists(), "no {}; `make test-frameworks` installs it", python.display());
    Some(python)
}

#[test]
fn openenv_client_solves_a_sample() {
    episode("openenv", "client.py");
}
