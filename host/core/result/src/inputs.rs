//! How inputs are drawn, and in which sizes.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How inputs are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum InputMode {
    /// Around the recorded statistics, and never constant: a pass must not get away with assuming a zero bias.
    #[default]
    Fresh,
    /// As the published loaders draw them, constants included.
    Published,
}

/// The symbols of a variant, each with the extent that it stands for.
pub type Symbols = BTreeMap<String, i64>;
