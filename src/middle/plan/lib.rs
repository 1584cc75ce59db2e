//! How a loop over a matrix product is carried out on a GPU with warpgroup products and tensor copies.
//!
//! A program says which tiles are multiplied, in which order, and nothing about warps, stages or registers. The planner
//! chooses them: it lists the ways that fit the machine's limits, predicts the clocks of each from measured numbers,
//! and takes the best. It knows a kernel by the numbers in [`DotLoop`] alone.
//!
//! # The shape of the answer
//!
//! A *producer* warp keeps a ring of stages in shared memory filled by tensor copies. One or more *consumer* warpgroups
//! multiply, each with accumulators of its own rows (or columns) in registers, and keep one chain of products in flight
//! while they wait for the next stage. `setmaxnreg` moves registers from the producer to the consumers. Results leave
//! through shared memory in chunks of 128-byte rows, two buffers for each consumer; a block that has no next tile puts
//! the chunks where the ring was.
//!
//! # Clocks of an iteration
//!
//! The time of an iteration is the largest of what keeps a resource busy, and of the ring's round trip:
//!
//! * *tensor cores*: a product of 64 x n by 32 bytes of K takes n / 2 clocks, whatever the types, but no less than it
//!   takes to read them from shared memory, which is more for n below 64; to it comes what is exposed of the time
//!   between the end of a chain and the start of the next, if nothing else is in flight so long;
//! * *L2*: the stage's bytes at the rate that SMs get who share operands;
//! * *latency*: a stage is loaded, waited for, multiplied and released; with S stages one of S round trips is due for
//!   each iteration;
//! * *promotion*: where sums of 8-bit floats must be added to a second accumulator, the additions beside the products;
//! * *preparation*: where an operand is computed from what is loaded, or must be turned in shared memory, it is read
//!   and written once more, by the consumers or by a warpgroup beside them.
//!
//! Measured, and therefore not in the model: shared-memory bandwidth does not slow products beside copies of up to 64
//! bytes a clock, n128 is as fast as n256, several boxes cost no more than one.
//!
//! *Worked example.* 128x256x64 of bf16 on an H100. Tensor cores: 2 blocks of rows, n256, 4 steps: 2 * 128 * 4 = 1024
//! clocks. L2: 48 KB at 50 bytes a clock, 982. A round trip takes 1587 (from memory) + 2 * 51 + 1024 = 2714 clocks:
//! three stages make 905 of it for each iteration, less than 1024; one more gives slack, and four fit. Two consumers
//! have 128 accumulators each, 160 registers in all, of 232.
//!
//! # Hints
//!
//! A hint is a cost. A plan that does not follow it is charged a few percent, so that it decides between plans that
//! are about as good, and never forces a ring that does not fit or registers that spill.
#![forbid(unsafe_code)]

mod kernel;
mod machine;
mod model;
mod product;

pub use kernel::{Kernel, KernelPlan, MAX_STAGES, Ring, plan_kernel};
pub use machine::{Entry, Machine, MachineError};
pub use model::{Numbers, PROMOTION};
pub use product::{AStorage, DotLoop, Epilogue, Hints, NoPlan, Plan, Prediction, Registers, plan};
