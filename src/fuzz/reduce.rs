//! Makes a failing case smaller.
