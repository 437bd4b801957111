//! `passhost setup-sdk`

use super::source::{sdk_directory, sdk_source};
use crate::arguments::SetupSdkArguments;
use crate::exit::{Exit, Stop};
use crate::output::{print, relay};
use crate::terminal::{Terminal, Tone};
use passhost_builder::{Sdk, SdkError};

pub fn run(arguments: &SetupSdkArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let source = arguments.source.clone().map_or_else(sdk_source, Ok)?;
    let directory = arguments.out.clone().unwrap_or_else(sdk_directory);
    let sdk = Sdk::compile(&source, &directory, |errors| relay("cargo", errors)).map_err(|error| {
        let is_usage = matches!(error, SdkError::NoSource(_) | SdkError::Occupied(_));
        let exit = if is_usage { Exit::Usage } else { Exit::Host };
        Stop::new(exit, error)
    })?;
    print([format!(
        "{}  {}, compiled by {}",
        terminal.paint(Tone::Good, "ok"),
        sdk.directory().display(),
        sdk.compiler_version()
    )]);
    Ok(Exit::Success)
}
