//! Which graph something is about.

use crate::entry::GraphItem;
use serde::Serialize;

/// Which graph.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct GraphPlace {
    /// Name of the sample.
    pub sample: String,
    /// Path of the graph within it.
    pub variant: String,
    /// That path, with those folders alone that tell it from the sample's other graphs.
    pub short: String,
}

impl GraphPlace {
    pub(crate) fn of(item: &GraphItem<'_>) -> GraphPlace {
        let (sample, variant) = (item.document.job.sample.clone(), item.variant.name.clone());
        GraphPlace { sample, variant, short: item.short.clone() }
    }
}

impl std::fmt::Display for GraphPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.sample, self.short)
    }
}
