//! `passhost samples pack LIST|DIR... --out DIR` and `passhost samples unpack LIST|DIR... --out DIR`

use super::each_once;
use crate::exit::{Exit, Stop};
use crate::output::print;
use crate::terminal::Terminal;
use clap::Args;
use passhost_corpus::new_directory;
use passhost_corpus::packing::{Form, convert, place};
use passhost_corpus::quantities::count;
use passhost_result::untrusted::one_line;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct ConvertArguments {
    /// Samples, lists of them, or directories that hold some
    #[arg(required = true, value_name = "LIST|DIR")]
    pub paths: Vec<PathBuf>,
    /// An empty or new directory, in which each sample lies as it does below the directory or the list that names it
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

pub fn run(arguments: &ConvertArguments, form: Form, terminal: &Terminal) -> Result<Exit, Stop> {
    let found = each_once(&arguments.paths)?;
    new_directory(&arguments.out)?;
    let (mut samples, mut files, mut exit) = (0, 0, Exit::Success);
    for (path, sample) in &found {
        let place = place(path, sample).ok_or_else(|| Stop::usage(format!("`{}` has no name", sample.display())))?;
        match convert(sample, form, &arguments.out.join(place)) {
            Ok(written) => (samples, files) = (samples + 1, files + written),
            Err(error) if error.is_hosts() => return Err(error.into()),
            Err(error) => {
                terminal.complain(&one_line(&format!("{}: {error}", sample.display()), 1000));
                exit = Exit::Usage;
            }
        }
    }
    let out = arguments.out.display();
    print([format!(
        "{} of {} samples, {} files of theirs, in {out}",
        count(samples),
        found.len(),
        count(files as u64)
    )]);
    Ok(exit)
}
