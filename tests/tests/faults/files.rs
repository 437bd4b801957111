//! Caches that cannot be written are gone without, and leave nothing that others could use.

use passhost_tests::{Passhost, Run, directory, plugin, sample_with};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A plugin, a sample and a cache.
struct Setup {
    sample: TempDir,
    /// Of the user: the cache is in it.
    caches: TempDir,
}

impl Setup {
    fn new() -> Setup {
        Setup { sample: sample_with("pointwise-chain", &["float32/s0-1_"]), caches: directory() }
    }

    fn cache(&self) -> PathBuf {
        self.caches.path().join("passhost")
    }

    /// An evaluation of a pass that changes nothing, so that it is not timed.
    fn eval(&self) -> Passhost {
        let caches = self.caches.path().display().to_string();
        Passhost::eval(&plugin("noop"), self.sample.path()).variable("XDG_CACHE_HOME", &caches)
    }

    /// The next evaluation is as if nothing had happened.
    fn expect_next_is_whole(&self) {
        let run = self.eval().run();
        run.expect_end(0, &["AS "]);
        run.expect(!run.err.contains("no plugin cache"), "there is a cache");
        run.expect(run.variants()[0]["class"] == "pass_miss", "the plugin ran");
        run.expect(self.entries().len() == 1, &format!("the plugin is kept, and nothing else: {:?}", self.entries()));
    }

    fn entries(&self) -> Vec<PathBuf> {
        files_in(&self.cache().join("artefacts"))
    }
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn run(eval: &Passhost, mut command: Command) -> Run {
    let output = command.output();
    assert!(output.is_ok(), "passhost does not start: {output:?}");
    output.map_or_else(|_| unreachable!("it was checked"), |output| eval.ended(&output))
}

/// As a user for whom the modes of files hold, which they do not for root.
fn without_the_powers_of_root(mut command: Command) -> Command {
    let renounce = || {
        // Who has no such powers may not renounce them, and need not.
        let _ = remove_capability_from_bounding_set(CapabilitySet::DAC_OVERRIDE);
        Ok(())
    };
    // SAFETY: between fork and exec it makes one system call and allocates nothing.
    unsafe { command.pre_exec(renounce) };
    command
}

#[test]
fn a_cache_that_cannot_be_written_is_gone_without() {
    let setup = Setup::new();
    setup.expect_next_is_whole();
    let artefacts = setup.cache().join("artefacts");
    let set_mode = |mode| std::fs::set_permissions(&artefacts, Permissions::from_mode(mode));
    assert!(set_mode(0o500).is_ok(), "its mode is set");
    let eval = setup.eval();
    let run = run(&eval, without_the_powers_of_root(eval.command()));
    assert!(set_mode(0o700).is_ok(), "its mode is set again");
    run.expect_end(0, &["AS ", "no plugin cache: cannot use", "artefacts", "make it writable", "XDG_CACHE_HOME"]);
    setup.expect_next_is_whole();
}

/// A copy of the key that outlived its making would be one that device children may read.
#[test]
fn what_is_left_of_making_a_cache_is_hidden_like_the_cache() {
    let setup = Setup::new();
    let remove = [libc::SYS_unlink, libc::SYS_unlinkat];
    setup.eval().on_a_kernel_without(&remove).run().expect_end(0, &["AS "]);
    let mut left = files_in(&setup.cache());
    left.sort();
    assert_eq!(left, [setup.cache().join("artefacts"), setup.cache().join("artefacts.key")]);
}
