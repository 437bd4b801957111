//! Which graph something is about.

use crate::entry::Item;
use serde::Serialize;

/// Which graph.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// Name of the sample.
    pub sample: String,
    /// Path of the graph within it.
    pub variant: String,
    /// That path, with those folders alone that tell it from the sample's other graphs.
    pub short: String,
}

impl Place {
    pub(crate) fn of(item: &Item<'_>) -> Place {
        let (sample, variant) = (item.document.job.sample.clone(), item.variant.name.clone());
        Place { sample, variant, short: item.short.clone() }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.sample, self.short)
    }
}
