//! `passhost setup-sdk`

use super::source::{sdk_directory, sdk_source};
use crate::exit::{Exit, Stop};
use crate::output::{print, relay};
use crate::terminal::{Terminal, Tone};
use clap::Args;
use passhost_builder::{Sdk, SdkError};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct SetupSdkArguments {
    /// A clone of passhost, or its installed source; found by itself beside the program and in the current directory
    #[arg(long, value_name = "DIR")]
    pub source: Option<PathBuf>,
    /// Where the compiled SDK goes: where the other commands look for it if absent
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

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
