//! Limits that the command has no options for. Needs the SDK: `make sdk`.

use passhost_builder::{BuildError, BuildLimits, Confinement, PassSource, RefusalReason, Sdk, build};
use passhost_protocol::builder::BuildLimit;
use std::error::Error;
use std::path::PathBuf;

/// What becomes of one of the hostile sources within these limits.
fn reason(source: &str, limits: BuildLimits) -> Result<RefusalReason, Box<dyn Error>> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let source = PassSource::of_text(std::fs::read(package.join("../../../tests/hostile-sources").join(source))?)?;
    match build(&Sdk::open(&Sdk::installed())?, &source, limits, Confinement::WherePossible) {
        Err(BuildError::Refused(refusal)) => Ok(refusal.reason),
        Err(error) => Err(error.into()),
        Ok(_) => Err("it was built".into()),
    }
}

#[test]
fn a_compiler_that_grows_is_stopped() -> Result<(), Box<dyn Error>> {
    let limits = BuildLimits { memory: 300 << 20, ..BuildLimits::default() };
    assert_eq!(reason("macros-that-double.rs", limits)?, RefusalReason::Limit(BuildLimit::Memory));
    Ok(())
}

#[test]
fn a_compiler_that_writes_is_stopped() -> Result<(), Box<dyn Error>> {
    let limits = BuildLimits { scratch: 1 << 20, ..BuildLimits::default() };
    assert_eq!(reason("large-component.rs", limits)?, RefusalReason::Limit(BuildLimit::Scratch));
    Ok(())
}

#[test]
fn a_compiler_that_takes_long_is_stopped() -> Result<(), Box<dyn Error>> {
    let limits = BuildLimits { wall_ms: 500, ..BuildLimits::default() };
    assert_eq!(reason("loop-in-a-constant.rs", limits)?, RefusalReason::Limit(BuildLimit::Wall));
    Ok(())
}
