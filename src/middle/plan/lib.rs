//! Plans warp-specialized dots: decides how a loop over a dot uses `wgmma` and TMA.
//!
//! A program says which tiles are multiplied and in which order. It does not mention warps, stages or registers. The
//! planner chooses them. It enumerates the candidates that fit the machine's limits, predicts the clocks of each from
//! measured numbers, and takes the best. It sees a kernel only as the numbers in [`DotLoop`] or [`Kernel`] and does
//! not depend on MLIR.
//!
//! # The generated code
//!
//! A *producer* warp keeps a ring of *stages* in shared memory filled by TMA loads. One or more *consumer* warpgroups
//! issue the dots. Each keeps the accumulators of its rows (or columns) in registers, and one chain of instructions
//! in flight while it waits for the next stage. `setmaxnreg` moves registers from the producer to the consumers. The
//! epilogue stores results through shared memory in chunks with rows of 128 bytes, in one or two buffers per
//! consumer. Unless the kernel loops over tiles, these buffers reuse the memory of the ring.
//!
//! An operand that TMA cannot load is *producer-computed*: warps of the producer load it, compute it, and store it to
//! the stage. An operand that must be transposed or computed in its stage is converted by the consumers, or by a
//! *converter* warpgroup between the producer and the consumers.
//!
//! # Clocks of an iteration
//!
//! An iteration takes as long as the slowest of these:
//!
//! * *tensor cores*: a dot of 64 rows, n columns and 32 bytes of K takes n / 2 clocks for all element types, but at
//!   least the time to read it from shared memory, which dominates for n below 64. The gap between the end of a chain
//!   and the start of the next is added as far as no other chain in flight covers it;
//! * *L2*: the bytes of a stage at the rate of SMs that share operands;
//! * *latency of the ring*: a stage is loaded, waited for, multiplied and released. With S stages, each iteration
//!   pays for 1/S of this round trip;
//! * *promotion*: the partial results of 8-bit floats that must be added to an f32 accumulator, while dots are in
//!   flight;
//! * *conversion*: the bytes that the consumers or the converter warpgroup read and write back in place;
//! * *production*: the loads and instructions of producer warps that compute an operand.
//!
//! Measurements show that the model can ignore the following. Concurrent copies of up to 64 bytes per clock do not
//! slow dots down by their shared-memory traffic. Instructions of 128 columns reach the rate of those of 256. Several
//! TMA boxes per stage cost no more than one.
//!
//! *Example.* 128x256x64 of bf16 on an H100. Tensor cores: two blocks of 64 rows, n = 256, 4 steps along K: 2 * 128 *
//! 4 = 1024 clocks. L2: 48 KB at 50 bytes per clock, 982 clocks. A round trip takes 1587 (from memory) + 2 * 51 +
//! 1024 = 2714 clocks. Three stages reduce it to 905 clocks per iteration, less than 1024; a fourth adds slack and
//! still fits. Two consumers hold 128 accumulators per thread, 160 of their 232 registers in all.
//!
//! # Assumptions
//!
//! * All SMs are busy, and neighboring CTAs share operands in L2.
//! * A loop of unknown trip count runs 64 iterations, and has an SM of its own unless a hint asks for more CTAs.
//! * Register estimates are rough, so the plan leaves the consumers all registers that the producer does not need.
//!
//! # Bound on the work
//!
//! [`plan`] tries at most 5 divisions into warpgroups, 4 instruction widths, 2 sizes of the producer, 2 choices of
//! the converter and 4 occupancies. Each candidate takes constant time.
//!
//! # Hints
//!
//! A hint is a cost. A plan that ignores it is charged a few percent. The hint therefore decides between plans of
//! similar speed, but never forces a ring that does not fit or registers that spill.
#![forbid(unsafe_code)]

mod dependent;
mod dot;
mod kernel;
mod machine;
mod model;
mod sync;
mod tensor;

pub use dependent::{DependentPlan, plan_dependent};
pub use dot::{AStorage, DotLoop, Epilogue, Hints, NoPlan, Plan, Prediction, Registers, ScaleAgent, Scales, plan};
pub use kernel::{Kernel, KernelPlan, Ring, plan_kernel};
pub use machine::{Entry, Machine, MachineError};
pub use model::{MAX_STAGES, Numbers, PROMOTION};
pub use sync::{SyncKernel, SyncPlan, plan_sync};
pub use tensor::{Divided, MOST_SLICES, TensorPlan, plan_tensor, tensor_clocks};

/// A number with its unit, for a reason: `1 stage`, `2 stages`.
pub fn plural(number: u32, unit: &str) -> String {
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}
