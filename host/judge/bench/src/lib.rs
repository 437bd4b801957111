//! What the device child does: draws inputs, runs both programs, compares them, checks integrity, measures.

mod attempt;
mod blame;
mod bounded;
pub mod compare;
pub mod contested;
pub mod counter;
pub mod decided;
pub mod device;
pub mod edge_cases;
pub mod element;
mod gpu_state;
pub mod held;
pub mod inputs;
mod integrity;
pub mod judge;
mod link;
mod measure;
mod moved;
pub mod on_device;
mod once;
pub mod precision;
mod quantiles;
mod serve;
mod session;
mod steady;
mod structured;
mod trivial;
mod types;
pub mod ulps;
mod witness;

pub use attempt::{ANSWERING, MEASURING, attempt};
pub use serve::{DeviceServeError, serve};
pub use types::serve_types;
