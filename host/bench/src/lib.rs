//! Inputs, comparison, measurement and integrity checks: what the device child does.

mod compare;
mod element;
mod inputs;
