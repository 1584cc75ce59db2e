//! A stand-in for `libcuda.so.1`: the part of the driver API that the GPU kit uses, on the PTX simulator.
//!
//! It lets the kit's device for real GPUs be tested from end to end without one: the same Python package, the same
//! calls, the same marshalling of parameters. An image is PTX text here, which drivers take as well. A kernel runs
//! within the call that launches it; an error of a kernel stays with the context, as with a real driver, and every
//! later call returns it. Events count launches instead of time: what they say is no measurement, and the device's name
//! begins with `ptx-sim`.
//!
//! Programs find the functions by [`cuGetProcAddress_v2`], as the Python package does; nothing else is exported.

mod api;
mod state;

pub use api::cuGetProcAddress_v2;
