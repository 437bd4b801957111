//! Machine code for GPUs by real compiler children, without a GPU. Skipped only where `scripts/setup` found no NVRTC, and
//! never in CI.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use passhost_cache::Cache;
use passhost_child::Confinement;
use passhost_child::machine_code::{Allowance, CodeError, MachineCode, processes};
use passhost_kernels::cuda::{Nvrtc, NvrtcError};
use passhost_protocol::compiler::CompilerSource;
use passhost_tests::{directory, repository};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// NVRTC in this process; none where it is known to be missing.
fn nvrtc() -> Option<Nvrtc> {
    let torch = PathBuf::from(std::env::var_os("LIBTORCH").unwrap_or_default());
    match Nvrtc::load(&[torch.join("../nvidia/cu13/lib")]) {
        Ok(nvrtc) => Some(nvrtc),
        Err(NvrtcError::Missing { reason }) => {
            let [known, ci] = ["PASSHOST_WITHOUT_NVRTC", "CI"].map(std::env::var_os);
            assert!(known.is_some() && ci.is_none(), "no NVRTC (scripts/setup fetches it): {reason}");
            println!("skipped, as scripts/setup found no NVRTC: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A kernel as the host emits it.
fn emitted() -> CompilerSource {
    let text = std::fs::read_to_string(repository().join("host/run/kernels/tests/golden/softmax.cu")).unwrap();
    let prelude = std::fs::read_to_string(repository().join("host/run/kernels/src/cuda/prelude.cu")).unwrap();
    CompilerSource { text: prelude + &text, capability: (9, 0) }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(120)
}

#[test]
fn a_child_makes_what_nvrtc_makes_and_the_cache_keeps_it() {
    let Some(nvrtc) = nvrtc() else { return };
    let (directory, source) = (directory(), emitted());
    let expected = nvrtc.compile(&source.text, source.capability).unwrap().0;
    let cache = Arc::new(Cache::open(&directory.path().join("kernels")).unwrap());
    let mut allowance = Allowance::default();
    for _ in 0..2 {
        let mut machine_code = MachineCode::new(processes(Confinement::default()), Some(Arc::clone(&cache)));
        assert_eq!(machine_code.of(&source, &mut allowance, soon()).unwrap(), expected);
        assert_eq!(machine_code.of(&source, &mut allowance, soon()).unwrap(), expected);
        assert!(machine_code.profile().is_some());
    }
    let [entries, _] = cache.paths();
    assert_eq!(std::fs::read_dir(entries).unwrap().count(), 1);
}

#[test]
fn what_the_compiler_says_of_a_source_comes_back_and_no_file_is_read_for_it() {
    if nvrtc().is_none() {
        return;
    }
    let mut machine_code = MachineCode::new(processes(Confinement::default()), None);
    for (text, said) in [("no kernel", "identifier \"no\" is undefined"), ("#include \"/etc/passwd\"", "cannot open")] {
        let source = CompilerSource { text: text.into(), capability: (9, 0) };
        let refused = machine_code.of(&source, &mut Allowance::default(), soon());
        assert!(matches!(&refused, Err(CodeError::Refused(log)) if log.contains(said)), "{refused:?}");
    }
}
