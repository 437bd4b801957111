//! The samples of a server.

use crate::exit::Stop;
use passhost_sample::Named;
use std::collections::BTreeMap;

/// Samples by their names.
pub type ServedSamples = BTreeMap<String, Named>;

/// Samples by the names of their directories.
pub fn by_name(named: Vec<Named>) -> Result<ServedSamples, Stop> {
    let mut samples = ServedSamples::new();
    for sample in named {
        let name = sample.path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let path = sample.path.display().to_string();
        let name = name.ok_or_else(|| Stop::usage(format!("`{path}` has no name that could be asked for")))?;
        if let Some(other) = samples.insert(name.clone(), sample) {
            let other = other.path.display();
            return Err(Stop::usage(format!(
                "two samples are called `{name}`, `{other}` and `{path}`; serve them apart"
            )));
        }
    }
    Ok(samples)
}
