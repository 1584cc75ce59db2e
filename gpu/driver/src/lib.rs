//! A replacement for `libcuda.so.1`: the part of the driver API that the GPU kit uses, on the PTX simulator.
//!
//! It allows testing the kit's GPU support end to end without a GPU: with the same Python package, the same calls, and
//! the same marshalling of parameters. Images must be PTX text, which drivers accept too. A kernel runs within the
//! call that launches it. As with a real driver, a kernel's error is sticky: every later call in the context returns
//! it. Events count launches instead of time, so they are not measurements, and the device's name begins with
//! `ptx-sim`.
//!
//! Programs look up the functions through [`cuGetProcAddress_v2`], as the Python package does; nothing else is
//! exported.

mod api;
mod state;

pub use api::cuGetProcAddress_v2;
