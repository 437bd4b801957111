//! The board as a static site.

use super::{index, submitted};
use crate::exit::{Exit, OrStop, Stop};
use crate::output::print;
use anyhow::Context as _;
use passhost_agent_tools::sha256;
use passhost_board::{Board, Standings, Submission};
use passhost_corpus::write_whole;
use std::collections::BTreeSet;
use std::path::Path;

const INDEX: &str = "index.html";
/// The directory of the pages of submissions.
const SUBMISSIONS: &str = "submissions";

/// Writes the pages. Those of an earlier time that are not among them go.
pub fn write(out: &Path, board: &Board, standings: &Standings) -> Result<(), Stop> {
    let folder = out.join(SUBMISSIONS);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make `{}`", folder.display()))
        .or_stop(Exit::Host)?;
    let mut names = BTreeSet::new();
    for (position, submission) in standings.submissions.iter().enumerate() {
        let name = page_name(submission);
        write_whole(&folder.join(&name), submitted::page(board, standings, position).render())?;
        names.insert(name);
    }
    remove_others(&folder, &names)?;
    write_whole(&out.join(INDEX), index::page(board, standings).render())?;
    print([format!("{}, and a page for each of {} submissions", out.join(INDEX).display(), names.len())]);
    Ok(())
}

/// Where the page of a submission is, from the first page.
pub fn address(submission: &Submission) -> String {
    format!("{SUBMISSIONS}/{}", page_name(submission))
}

/// The name of its page: hexadecimal digits, whatever the submission is called.
fn page_name(submission: &Submission) -> String {
    let jobs: String = submission.jobs.iter().map(ToString::to_string).collect();
    let digits = &sha256(jobs.as_bytes())[..32];
    format!("{digits}.html")
}

/// Removes pages of submissions that are on the board no more. What has another name is somebody else's.
fn remove_others(folder: &Path, names: &BTreeSet<String>) -> Result<(), Stop> {
    let is_page = |name: &str| {
        name.strip_suffix(".html")
            .is_some_and(|stem| stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_page(&name) && !names.contains(&name) {
            std::fs::remove_file(entry.path())
                .with_context(|| format!("cannot remove `{}`", entry.path().display()))
                .or_stop(Exit::Host)?;
        }
    }
    Ok(())
}
