//! The device library: mathematical functions and number-format conversions that NVPTX has no instruction for, as
//! LLVM bitcode inside this crate, so that no CUDA toolkit is needed.
//!
//! # Linking it into a kernel
//!
//! 1. Declare the functions that the kernel calls: [`Function::symbol`] and [`Function::signature`] give the name and
//!    the types. Small integers travel as `iN` without extension attributes.
//! 2. Before optimisation, parse [`bitcode`] (`MemoryBuffer::create_from_memory_range_copy`,
//!    `Module::parse_bitcode_from_buffer`, in the kernel's context), give it the kernel module's data layout
//!    (`library.set_data_layout(&kernel.get_data_layout())`; it has none of its own, suits 64-bit and short pointers
//!    alike, and differing layouts would be warned about), and `link_in_module` it.
//! 3. Give every *defined* function whose name starts with [`PREFIX`] internal linkage. All are `alwaysinline`; the
//!    optimiser inlines them at any level (at `O0` run `always-inline` by itself), then `globaldce` removes the rest
//!    and the tables that no function reads.
//!
//! What a rare argument needs much code for is a function that stays one: it is internal and `noinline`, and has no
//! entry in the registry. ptxas gives it a copy with the registers of each group of warps that calls it, and does not
//! wait in front of it for products that are in flight.
//!
//! # What the code generator must leave alone
//!
//! The functions state each rounding. They hold under LLVM's defaults for floating point: IEEE subnormals (no
//! `denormal-fp-math-f32` attribute on the kernel; operations that flush are separate functions here) and no global
//! contraction (`AllowFPOpFusion` other than `Fast`). Contraction allowed on individual instructions of the kernel is
//! no obstacle. `tests/rtlib` checks on the generated PTX that products and sums stay apart.

//! # Which functions make up a cast
//!
//! * From a narrow float: [`Function::Widen`] to f32 is exact, and any further conversion (to f64, to an integer, to
//!   another narrow format) starts there. The [`Function::WidenPair`] forms take two elements to f16 in about half the
//!   instructions.
//! * To a narrow float: [`Function::Narrow`] from f32, f64 and 32- or 64-bit integers, rounded once. Narrower integers
//!   are extended to 32 bits first; f16 and bf16 sources are widened first.
//! * To e8m0: [`Function::Scale`], from f32 or f64.
//! * Where the target has the instruction, the instruction is better; the functions are for the others.

mod registry;

pub use registry::{
    Arithmetic, Direction, Float, Format, Function, Half, Math, Mode, Number, Overflow, Signature, Type, Wide,
};

/// All symbols of the library start so.
pub const PREFIX: &str = "__tileir_";

/// The library as LLVM 21 bitcode for `nvptx64-nvidia-cuda`, without a data layout.
pub fn bitcode() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/rtlib.bc"))
}
