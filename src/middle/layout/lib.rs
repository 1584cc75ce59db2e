//! Linear layouts over F2: which register of which thread, or which address in shared memory, holds each element of a
//! tile.
//!
//! # The problem
//!
//! A tile program operates on whole tiles. A GPU has registers in lanes, lanes in warps, warps in blocks (CTAs), and
//! shared memory divided into banks. Code generation keeps asking one question: *which element does this register
//! hold*, and the converse. Coalesced loads, tensor-core fragments and swizzled shared memory are all answers to it.
//! They have one property in common, and everything in this crate follows from that property.
//!
//! # The property
//!
//! Tile extents are powers of two. Each coordinate is therefore a bit field, and the row-major index of an element is
//! the concatenation of these fields. Register, lane, warp and block numbers are bit fields too; together they name a
//! *slot*, one register of one thread. A layout maps slots to elements. It is *linear over F2* if flipping one bit of
//! the slot always flips the same bits of the element's index, whatever the other bits are:
//!
//! ```text
//! element(a ^ b) = element(a) ^ element(b)
//! ```
//!
//! One *basis vector* for each bit of the slot then describes the whole layout: the index that this bit contributes.
//! The element in a slot is the XOR of the basis vectors of the bits that are set.
//!
//! # A worked example
//!
//! Take a 4x4 tile. The index of element `(row, column)` is `4 * row + column`, the four bits `r1 r0 c1 c0`. Each
//! thread holds two neighboring elements of a row in two registers. Lane bit 0 selects the left or right half of a row;
//! lane bits 1 and 2 select the row. Eight lanes hold the whole tile, but a warp has 32. Lane bits 3 and 4 therefore
//! contribute nothing, and lanes 8 to 31 hold replicas.
//!
//! | bit of the slot | moves the element by | basis vector |
//! |---|---|---|
//! | register 0 | one column | 1 |
//! | lane 0 | two columns | 2 |
//! | lane 1 | one row | 4 |
//! | lane 2 | two rows | 8 |
//! | lane 3, lane 4 | nothing | 0 |
//!
//! Register 1 of lane 5 (binary 00101) holds element `1 ^ 2 ^ 8 = 11`, which is row 2, column 3. The whole tile, with
//! each slot written as `lane:register`:
//!
//! ```text
//!          column 0  1    2  3
//! row 0       0:0 0:1  1:0 1:1
//! row 1       2:0 2:1  3:0 3:1
//! row 2       4:0 4:1  5:0 5:1
//! row 3       6:0 6:1  7:0 7:1
//! ```
//!
//! ```
//! use tile_layout::{Layout, Shape, Slot, Thread};
//!
//! let tile = Shape::new(&[4, 4])?;
//! let layout: Layout = "register = [1], lane = [2, 4, 8, 0, 0], warp = [], block = []".parse()?;
//! layout.validate(&tile)?;
//!
//! let slot = Slot { register: 1, thread: Thread { lane: 5, ..Thread::default() } };
//! assert_eq!(layout.element(slot), 11);
//! assert_eq!(tile.unflatten(11), [2, 3]);
//! assert_eq!(layout.owner(&tile, 11)?, slot);
//!
//! // Lane bits 3 and 4 are free variables: guard a store with `lane & 24 == 0`.
//! assert_eq!(layout.free_variables().lane, 24);
//!
//! // The column of a thread's first element takes one mask and one shift of the lane number.
//! let column = layout.coordinate_expr(&tile, 1)?;
//! assert_eq!(column.thread.to_bit_expr().to_string(), "((lane & 1) << 1)");
//! assert_eq!(column.registers, [0, 1]);
//!
//! // Transposing the tile moves no data: it swaps two bit fields of every basis vector.
//! let (transposed, _) = layout.permute(&tile, &[1, 0])?;
//! assert_eq!(transposed.to_string(), "register = [4], lane = [8, 1, 2, 0, 0], warp = [], block = []");
//! # Ok::<(), tile_layout::LayoutError>(())
//! ```
//!
//! # Consequences
//!
//! Write the basis vectors as the columns of a bit matrix. Questions about layouts become linear algebra over F2, with
//! exact answers and no enumeration of the tile.
//!
//! 1. *Which slot holds an element?* Solve a linear system ([`LinearMap::right_inverse`], [`Layout::owner`]).
//! 2. *Does the layout cover the tile?* It does if the matrix has full row rank ([`Layout::validate`]). *Which slots
//!    are replicas?* The kernel is the set of bit flips that do not change the element ([`LinearMap::kernel`],
//!    [`Layout::free_variables`]). A zero column is the simplest case: a broadcast.
//! 3. *What do a reshape, a transpose, a reduction and a broadcast do?* Each changes the index linearly, so it maps the
//!    basis vectors one by one ([`Layout::permute`], [`Layout::reduce`], ...).
//! 4. *Can a thread use a vector access?* It can if the registers span the low unit vectors of the fastest dimension
//!    ([`Layout::vector_width`]).
//! 5. *How is an address computed?* Evaluate the columns. A run of columns that are consecutive powers of two needs one
//!    mask and one shift ([`Layout::coordinate_expr`]).
//! 6. *How is a tile converted?* The map from target slots to source slots is `src⁻¹ · dst`. If it keeps every element
//!    in its thread, the conversion renumbers registers. If it keeps every element in its warp, shuffles suffice
//!    ([`ShufflePlan`]). Otherwise the tile goes through shared memory ([`plan_shared`]).
//! 7. *Does an access have bank conflicts?* The words of one phase of the access and the banks they hit both form
//!    subspaces, and the conflict degree is a power of two that follows from their dimensions ([`conflict_degree`]). A
//!    conflict-free swizzle is a common complement of two subspaces.
//! 8. *Does a matrix instruction apply?* It does if its fragment divides the layout on the left
//!    ([`LinearMap::left_divide`], [`SharedAccess`], [`MmaShape`]).
//!
//! # Examples of layouts
//!
//! All are layouts of a 16x16 tile for one warp. The index has eight bits: the row in the high four, the column in the
//! low four.
//!
//! * One row per pair of lanes and eight columns per thread, for 16-byte loads of 16-bit elements: `register = [1, 2,
//!   4], lane = [8, 16, 32, 64, 128]`.
//! * The accumulators of two `mma.sync` m16n8 side by side: `register = [1, 128, 8], lane = [2, 4, 16, 32, 64]`.
//! * The row sums of that accumulator. The reduction drops the column bits: `register = [8], lane = [0, 0, 1, 2, 4]`.
//!   All four lanes of a group hold the sum of the group's row. Replicas need no special case.
//! * A tile in shared memory, where the element offset takes the role of the slot. `[1, 2, 4, 8, 16, 32, 64,
//!   128]` is row-major storage. `[1, 2, 4, 8, 16, 32, 64 ^ 1, 128 ^ 2]` is a swizzle: it XORs the two high row bits
//!   into the two low column bits.
//!
//! # Limits
//!
//! Three things are not linear over F2: extents that are not powers of two (global arrays), addresses with runtime
//! strides, and padding by amounts that are not powers of two. They remain ordinary arithmetic on the coordinates that
//! a layout provides.
//!
//! # Map of the crate
//!
//! | modules | contents |
//! |---|---|
//! | `map`, `subspace` | the algebra: linear maps and subspaces over F2 |
//! | `shape` | tile shapes and the numbering of elements |
//! | `layout`, `ops` | distributed layouts, and how tile operations change them |
//! | `blocked`, `mma`, `dot` | constructors: coalesced layouts, matrix fragments, the operands of a dot |
//! | `reduction` | plans for reductions and scans |
//! | `canonical` | reductions in an order that depends on the shape alone |
//! | `expr` | layouts as index arithmetic |
//! | `bank` | bank conflicts and memory sectors |
//! | `convert`, `shuffle`, `access`, `swizzle`, `parts` | moving data between layouts |
//! | `hardware_swizzle`, `warpgroup` | shared-memory layouts, descriptors and fragments of `wgmma` |
//! | `in_place` | transposes of tiles in shared memory, for operands that `wgmma` cannot read as stored |
//! | `pairs` | packed elements of four bits as pairs of one byte |
//! | `tensor_copy` | tensor maps and boxes of TMA loads and stores |
//! | `tensor_memory`, `scale_factors` | accumulators of `tcgen05.mma` with the registers that read them, and scales |
//!
//! Every plan is data that an interpreter can execute, and the tests execute plans for all threads.
#![forbid(unsafe_code)]

mod access;
mod bank;
mod blocked;
mod canonical;
mod convert;
mod dot;
mod error;
mod expr;
mod hardware_swizzle;
mod in_place;
mod layout;
mod map;
mod mma;
mod ops;
mod pairs;
mod parts;
mod reduction;
mod scale_factors;
mod shape;
mod shuffle;
mod subspace;
mod swizzle;
mod tensor_copy;
mod tensor_memory;
mod warpgroup;

pub use access::{
    AccessMode, Direction, Instruction, Matrices, SharedAccess, SharedLayout, ThreadBases, elem_log2_bytes,
};
pub use bank::{
    BANK_BITS, PHASE_LOG2, WORD_LOG2, conflict_degree, global_sectors, phase_lane_bits, phase_wavefronts, wavefronts,
};
pub use canonical::{CanonicalReduction, Stage, Step, canonical_bits, canonical_first};
pub use convert::{Conversion, ConvertOptions, convert, register_map, register_permutation};
pub use dot::{DotShape, DotStep, FragmentStride, Multiplier, WarpGrid};
pub use error::{LayoutError, Result};
pub use expr::{BitExpr, Coordinate, LinearExpr, Term};
pub use hardware_swizzle::{HardwareError, HardwareLayout, HardwareSwizzle, Major, MatrixDescriptor, WarpgroupOperand};
pub use in_place::{InPlace, Part, transposed_panels};
pub use layout::{Input, InputMasks, LANE_BITS, Layout, Slot, Thread, WARP_SIZE};
pub use map::{LinearMap, combine, low_mask};
pub use mma::{Fragment, MmaShape, MmaTiling, Operand, TmemShape, TmemTile, mma_tiled, tmem_layout};
pub use pairs::Pairs;
pub use parts::{PartRegisters, PartsPlan};
pub use reduction::{Reduction, WarpScan};
pub use scale_factors::ScaleFactors;
pub use shape::Shape;
pub use shuffle::{Exchange, ShufflePlan, ShuffleRound};
pub use subspace::Subspace;
pub use swizzle::{Run, SharedOptions, SharedPlan, plan_shared};
pub use tensor_copy::{
    Condition, GlobalView, Ineligible, Known, MAP_STRIDE_LIMIT, MAP_UNIT, Outside, SINGLE_STRIDE, TensorBox,
    TensorCopyPlan, TensorElement, TensorMapPlan, TileCopy, TileDim, ViewDim, plan_tensor_copy,
};
pub use tensor_memory::{MoveShape, TensorLoad, TensorMemory};
pub use warpgroup::{
    WARPGROUP_ROWS, WarpgroupDot, WarpgroupStep, warpgroup_accumulator, warpgroup_left, warpgroups_of,
};
