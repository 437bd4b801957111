//! `passhost agent show DIR`

use super::{AgentShowArguments, page, scores};
use crate::exit::{Exit, Stop};
use crate::files::CommandFiles;
use crate::output::{print, write_text};
use crate::terminal::Terminal;
use passhost_agent::run::{files, read, text};
use std::path::Path;

pub fn run(arguments: &AgentShowArguments, terminal: &Terminal) -> Result<Exit, Stop> {
    let AgentShowArguments { directory, html } = arguments;
    let recorded = files(directory);
    CommandFiles::default().writes("--html", html).reads("the run", &recorded).check()?;
    if let Some(path) = html {
        let (settings, recorded) = read(directory)?;
        write_text(path, &page::page(&settings, &recorded, &|hash| text(directory, hash).ok()).render())?;
    }
    if html.as_deref() != Some(Path::new("-")) {
        print(scores::render(&scores::read(directory)?, terminal));
    }
    Ok(Exit::Success)
}
