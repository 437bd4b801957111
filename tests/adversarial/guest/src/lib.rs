//! A pass that plays a script. The script lies in a buffer of the component, so that a copy of the component with other
//! text in that place is another plugin: see `script.rs`. What scripts may say stands in `tests/adversarial/README.md`.
//!
//! An attack is mostly an honest lowering of a wrong graph. So a script edits the graph first, and `fuse` then makes
//! kernels of it as the reference passes do; what the guest SDK would never return, `damage.rs` does afterwards.

#[cfg(target_arch = "wasm32")]
mod component;
mod damage;
mod edit;
mod fragment;
mod lowering;
mod play;
mod script;
mod strain;
mod witness;

pub use play::{Played, World, play};
pub use script::{MAGIC, ROOM, Step, steps};
