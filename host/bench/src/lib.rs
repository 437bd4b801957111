//! What the device child does: draws inputs, runs both programs, compares them, checks integrity, measures.

mod attempt;
mod blame;
mod compare;
mod device;
mod domain;
mod element;
mod gpu_state;
mod held;
mod inputs;
mod integrity;
mod link;
mod measure;
mod on_device;
mod once;
mod precision;
mod quantiles;
mod serve;
mod session;
mod steady;
mod structured;
mod trivial;
mod types;
mod witness;

pub use attempt::{ANSWERING, MEASURING, attempt};
pub use serve::{ServeError, serve};
pub use types::serve_types;
