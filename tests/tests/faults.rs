//! Faults of the machine: processes that are killed at any moment, disks that are full or cannot be written. Each ends in
//! a message and an exit code that were meant for it, and what comes next is as if nothing had happened.

mod batches;
mod files;
mod group;
mod kills;
