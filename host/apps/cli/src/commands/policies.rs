//! `passhost policies [NAME]`

use crate::exit::{Exit, OrStop, Stop};
use crate::output::{print, print_text};
use crate::terminal::{Terminal, entry};
use clap::Args;
use passhost_policy::{Policy, names};

#[derive(Debug, Args)]
pub struct PoliciesArguments {
    /// The policy to print
    pub name: Option<String>,
}

pub fn run(arguments: &PoliciesArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let built_in = |name: &str| Policy::built_in(name).or_stop(Exit::Usage);
    if let Some(name) = &arguments.name {
        print_text(built_in(name)?.text());
        return Ok(Exit::Success);
    }
    for name in names() {
        let policy = built_in(&name)?;
        print(entry(&format!("{name:<8} "), 9, &policy.rules().about, terminal.width()));
    }
    Ok(Exit::Success)
}
