//! Linear layouts over F2: where the elements of a tile live.
//!
//! # The question
//!
//! A tile program works on whole tiles; a GPU has registers of lanes of warps of blocks, and shared memory with banks.
//! Code generation answers one question over and over: *which element of the tile is in which place*, and its converse.
//! Every good answer (coalesced loads, tensor-core fragments, swizzled shared memory) turns out to have one property in
//! common, and this crate is what follows from it.
//!
//! # The property
//!
//! Extents of tiles are powers of two, so a coordinate is a field of bits, and the row-major index of an element is the
//! concatenation of these fields. Register, lane, warp and block numbers are fields of bits too. A layout is *linear
//! over F2* when flipping one bit of the place always flips the same bits of the element's index, whatever the other
//! bits are. Then
//!
//! ```text
//! element(place ^ other) = element(place) ^ element(other)
//! ```
//!
//! and it suffices to write down one *basis vector* for each bit of the place: the index that this bit contributes.
//!
//! # A worked example
//!
//! Take a 4x4 tile. The index of element `(row, column)` is `4 * row + column`, four bits `r1 r0 c1 c0`. Let each
//! thread hold two neighbouring elements of a row, in two registers; let lane bit 0 step along the row, and lane bits 1
//! and 2 along the rows. A warp has 32 lanes but 8 would do: lane bits 3 and 4 have nothing left to say, so the lanes
//! from 8 on hold replicas.
//!
//! | bit of the place | moves the element by | basis vector |
//! |---|---|---|
//! | register 0 | one column | 1 |
//! | lane 0 | two columns | 2 |
//! | lane 1 | one row | 4 |
//! | lane 2 | two rows | 8 |
//! | lane 3, lane 4 | nothing | 0 |
//!
//! Register 1 of lane 5 (binary 00101) holds element `1 ^ 2 ^ 8 = 11`, which is row 2, column 3. The whole tile, as
//! `lane:register`:
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
//! use tile_layout::{Layout, Slot, Shape, Thread};
//!
//! let tile = Shape::new(&[4, 4])?;
//! let layout: Layout = "register = [1], lane = [2, 4, 8, 0, 0], warp = [], block = []".parse()?;
//! layout.validate(&tile)?;
//!
//! let place = Slot { register: 1, thread: Thread { lane: 5, ..Thread::default() } };
//! assert_eq!(layout.element(place), 11);
//! assert_eq!(tile.unflatten(11), [2, 3]);
//! assert_eq!(layout.owner(&tile, 11)?, place);
//!
//! // Lanes 3 and 4 are free variables: a store is guarded by `lane & 24 == 0`.
//! assert_eq!(layout.free_variables().lane, 24);
//!
//! // The column of a thread's first element is one operation away from the lane number.
//! let column = layout.coordinate_expr(&tile, 1)?;
//! assert_eq!(column.thread.to_bit_expr().to_string(), "((lane & 1) << 1)");
//! assert_eq!(column.registers, [0, 1]);
//!
//! // The transposed tile has the same registers; two bit fields of every vector changed places.
//! let (transposed, _) = layout.permute(&tile, &[1, 0])?;
//! assert_eq!(transposed.to_string(), "register = [4], lane = [8, 1, 2, 0, 0], warp = [], block = []");
//! # Ok::<(), tile_layout::LayoutError>(())
//! ```
//!
//! # What follows
//!
//! Collect the basis vectors as the columns of a matrix of bits; questions about layouts become linear algebra, exact
//! and fast.
//!
//! 1. *Who holds an element?* Solve a linear system ([`LinearMap::right_inverse`], [`Layout::owner`]).
//! 2. *Is every element held?* The matrix has full row rank ([`Layout::validate`]). *Is some element held twice?* The
//!    kernel is the set of bit flips that do not change the element ([`LinearMap::kernel`],
//!    [`Layout::free_variables`]). A zero vector is the plain case: broadcast.
//! 3. *What does a reshape, a transpose, a reduction or a broadcast do?* It changes the index linearly, so it acts on
//!    the vectors one by one ([`Layout::permute`], [`Layout::reduce`], ...).
//! 4. *Can a thread use a vector access?* The unit vectors of the fastest dimension lie in the span of the registers
//!    ([`Layout::vector_width`]).
//! 5. *How to compute the address?* Evaluate the columns; runs of columns that are consecutive powers of two are one
//!    shift and one mask ([`Layout::coordinate_expr`]).
//! 6. *How to convert?* The map from target places to source places is `src⁻¹ · dst`. Where it leaves lanes and warps
//!    alone, nothing moves; where it leaves warps alone, shuffles do ([`ShufflePlan`]); otherwise the tile goes through
//!    shared memory ([`plan_shared`]).
//! 7. *Are there bank conflicts?* The words of one phase of an access and the banks are both spans, and the degree is a
//!    power of two read off their ranks ([`conflict_degree`]). A conflict-free swizzle is a common complement of two
//!    subspaces.
//! 8. *Does a matrix instruction apply?* Its fragment divides the layout on the left ([`LinearMap::left_divide`],
//!    [`SharedAccess`], [`MmaShape`]).
//!
//! # A catalogue
//!
//! All are layouts of a 16x16 tile (index bits: four of the row above four of the column) for one warp.
//!
//! * Row per lane pair, eight columns per thread, as a 16-byte load of 16-bit elements wants it:
//!   `register = [1, 2, 4], lane = [8, 16, 32, 64, 128]`.
//! * The accumulator of `mma.sync` m16n8, twice: `register = [1, 128, 8], lane = [2, 4, 16, 32, 64]`.
//! * Its row sums: columns are forgotten, `register = [8], lane = [0, 0, 1, 2, 4]`. All four lanes of a group hold the
//!   sum of the group's row: replicas are not a special case.
//! * In shared memory, an offset takes the place of register, lane and warp: `[1, 2, 4, 8, 16, 32, 64, 128]` is
//!   row-major storage; `[1, 2, 4, 8, 16, 32, 64 ^ 1, 128 ^ 2]` XORs the two low column bits with the two high row
//!   bits, a swizzle.
//!
//! # What is not linear
//!
//! Extents that are not powers of two (global arrays), addresses with runtime strides, and padding by other than powers
//! of two. They stay ordinary arithmetic on the coordinates that a layout provides.
//!
//! # Map of the crate
//!
//! `map` and `subspace` are the algebra; `shape` numbers elements; `layout` and `ops` are distributed layouts and what
//! tile operations do to them; `reduction` plans reductions and scans; `blocked`, `mma` and `dot` build them; `expr`
//! turns them into index arithmetic; `bank` counts conflicts; `access`, `swizzle`, `shuffle` and `convert` move data
//! between layouts; `hardware_swizzle` and `warpgroup` are the arrangements of shared memory, descriptors and fragments
//! of asynchronous products, `in_place` turns tiles that these cannot take, `tensor_copy` are the boxes of the tensor
//! memory accelerator. Every plan is an executable description, and the tests execute plans on all threads.
#![forbid(unsafe_code)]

mod access;
mod bank;
mod blocked;
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
mod parts;
mod reduction;
mod shape;
mod shuffle;
mod subspace;
mod swizzle;
mod tensor_copy;
mod warpgroup;

pub use access::{AccessMode, Direction, Instruction, SharedAccess, SharedLayout, ThreadBases, elem_log2_bytes};
pub use bank::{
    BANK_BITS, PHASE_LOG2, WORD_LOG2, conflict_degree, global_sectors, phase_lane_bits, phase_wavefronts, wavefronts,
};
pub use convert::{Conversion, ConvertOptions, convert, register_map, register_permutation};
pub use dot::{DotShape, DotStep, FragmentStride, Multiplier, WarpGrid};
pub use error::{LayoutError, Result};
pub use expr::{BitExpr, Coordinate, LinearExpr, Term};
pub use hardware_swizzle::{HardwareError, HardwareLayout, HardwareSwizzle, Major, MatrixDescriptor, WarpgroupOperand};
pub use in_place::{InPlace, Part, transposed_panels};
pub use layout::{Input, InputMasks, LANE_BITS, Layout, Slot, Thread, WARP_SIZE};
pub use map::{LinearMap, combine, low_mask};
pub use mma::{Fragment, MmaShape, MmaTiling, Operand, TmemShape, TmemTile, mma_tiled, tmem_layout};
pub use parts::{PartRegisters, PartsPlan};
pub use reduction::{Reduction, WarpScan};
pub use shape::Shape;
pub use shuffle::{Exchange, ShufflePlan, ShuffleRound};
pub use subspace::Subspace;
pub use swizzle::{Run, SharedOptions, SharedPlan, plan_shared};
pub use tensor_copy::{
    Condition, GlobalView, Ineligible, Known, MAP_STRIDE_LIMIT, MAP_UNIT, Outside, SINGLE_STRIDE, TensorBox,
    TensorCopyPlan, TensorElement, TensorMapPlan, TileCopy, TileDim, ViewDim, plan_tensor_copy,
};
pub use warpgroup::{
    WARPGROUP_ROWS, WarpgroupDot, WarpgroupStep, warpgroup_accumulator, warpgroup_left, warpgroups_of,
};
