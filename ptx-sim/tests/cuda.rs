//! CUDA kernels, compiled by NVIDIA's nvcc, run in the simulator.
//!
//! Each kernel `cuda/<name>.cu` demonstrates one feature. `cuda/ptx/<name>.ptx` is nvcc's output for it, so these
//! tests need no compiler. Results are compared with the same computation in Rust. Every kernel runs under the plain
//! schedule and under adversarial ones with race detection.

#[path = "common/cases.rs"]
mod cases;
#[path = "cuda/harness.rs"]
mod harness;

#[path = "cuda/atomics.rs"]
mod atomics;
#[path = "cuda/barriers.rs"]
mod barriers;
#[path = "cuda/control.rs"]
mod control;
#[path = "cuda/floats.rs"]
mod floats;
#[path = "cuda/fresh.rs"]
mod fresh;
#[path = "cuda/halves.rs"]
mod halves;
#[path = "cuda/integers.rs"]
mod integers;
#[path = "cuda/memory.rs"]
mod memory;
#[path = "cuda/mma.rs"]
mod mma;
#[path = "cuda/tcgen05.rs"]
mod tcgen05;
#[path = "cuda/tma.rs"]
mod tma;
#[path = "cuda/warps.rs"]
mod warps;
#[path = "cuda/wgmma.rs"]
mod wgmma;
