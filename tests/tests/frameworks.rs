//! The unmodified clients of training frameworks, each with an episode against `passhost serve`. `make test-frameworks`
//! installs them and runs this; without what it installs each is skipped, by name.

use passhost_tests::{Server, repository};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Has a program of tests/python talk to a server. It finds what it needs in its environment: the server, a client's name
/// and token, the sample, and the folder of the passes that its scripted model writes.
fn episode(set: &str, program: &str) {
    run(set, program, |command| {
        let server = Server::start(&[]);
        command.env("PASSHOST_ADDRESS", &server.address).env("PASSHOST_SAMPLE", server.sample());
        command.env("PASSHOST_URL", format!("http://{}", server.address));
        command.env("PASSHOST_CLIENT", "alice").env("PASSHOST_TOKEN", server.token("alice"));
        command.env("PASSHOST_PASSES", repository().join("tests/scripted-passes"));
        Some(server)
    });
}

/// Runs a program by the Python that has the packages of its set and the package in python/, and fails with all that it
/// printed if it fails. Whom it talks to is there until it ends.
fn run(set: &str, program: &str, prepare: impl FnOnce(&mut Command) -> Option<Server>) {
    let Some(python) = python(set) else {
        println!("skipped: {set} is not installed; `make test-frameworks` does that");
        return;
    };
    let mut command = Command::new(python);
    command.arg(repository().join("tests/python").join(set).join(program)).stdin(Stdio::null());
    command.env("PYTHONPATH", repository().join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    let _server = prepare(&mut command);
    let output = command.output();
    assert!(output.is_ok(), "{output:?}");
    let Ok(output) = output else { unreachable!("it was checked") };
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{set}/{program} ends with {}\n{out}\n{err}", output.status);
    println!("{set}/{program}: {}", out.lines().last().unwrap_or_default());
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

#[test]
fn openenv_validates_the_server_and_its_package() {
    episode("openenv", "validated.py");
}

#[test]
fn verifiers_task_set_solves_a_sample() {
    episode("verifiers", "task_set.py");
}

#[test]
fn trl_verl_grpo_trainer_trains_on_two_episodes() {
    episode("trl_verl", "trl_episode.py");
}

#[test]
fn trl_verl_agent_loop_runs_three_trajectories() {
    episode("trl_verl", "verl_episode.py");
}

#[test]
fn skyrl_environment_is_made_and_solved() {
    episode("skyrl", "episode.py");
}

#[test]
fn skyrl_has_what_the_readme_of_the_package_needs() {
    episode("skyrl", "readme.py");
}

#[test]
fn package_passes_its_own_tests_and_checks() {
    run("package", "checks.py", |_| None);
}
