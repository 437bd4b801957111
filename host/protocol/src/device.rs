//! Between the supervisor and the child that holds libtorch.
