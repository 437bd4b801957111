//! Which nodes to fuse: the regions, one kernel each, with which a graph is estimated to take the least time.
//!
//! Every node that lowers is a region at first. Two regions join where that saves the most of the graph's estimated time,
//! pair after pair, until nothing is saved: one region reads what the other calculates, or both read the same tensor. The
//! graph with every region contracted to one node stays free of cycles, the nodes together lower to one kernel, and the
//! joined region is looked at again with its neighbours. What remains becomes a kernel where that is estimated to be faster
//! than the calls of ATen that it stands for.
//!
//! What a pair saves is estimated before anything is written, as if every tensor were read in order. Only the pair in front
//! is lowered, and its kernel decides: pairs whose ops read each other element by element need not even that.

mod order;
mod plan;
mod reads;
pub(super) mod refusal;
mod row_major;
mod search;

pub use plan::{Fused, FusionPlan, fuse};
pub use row_major::lay_row_major;
pub(super) use search::FusionSearch;
