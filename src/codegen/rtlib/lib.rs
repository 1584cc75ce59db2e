//! The device library: mathematical functions and number-format conversions for which NVPTX lacks instructions, and
//! the run-time functions of kernels ([`Runtime`]). It is embedded in this crate as LLVM bitcode, so no CUDA toolkit is
//! needed.
//!
//! # Linking it into a kernel
//!
//! 1. Declare the functions that the kernel calls. [`Function::symbol`] and [`Function::signature`] give the name and
//!    the types. Small integers are passed as `iN` without extension attributes.
//! 2. Before optimization, parse [`bitcode`] (`MemoryBuffer::create_from_memory_range_copy`,
//!    `Module::parse_bitcode_from_buffer`, in the kernel's context). Set its data layout to the kernel module's
//!    (`library.set_data_layout(&kernel.get_data_layout())`): it does not define one, works with 64-bit and short
//!    pointers, and LLVM would warn about different layouts. Then `link_in_module` it.
//! 3. Give internal linkage to every *defined* function with a name that starts with [`PREFIX`]. All are
//!    `alwaysinline`. The optimizer inlines them at any level (at `O0`, run `always-inline` by itself), and
//!    `globaldce` removes the rest and the unused tables.
//!
//! Long code for rare arguments is a separate function: internal, `noinline`, and not in the registry. ptxas gives
//! each group of warps that calls it a copy with that group's registers, and does not wait before the call for dots
//! in flight.
//!
//! # Requirements on code generation
//!
//! The functions spell out each rounding. They are correct under LLVM's defaults for floating point: IEEE subnormals
//! (no `denormal-fp-math-f32` attribute on the kernel; flushing operations are separate functions here) and no global
//! contraction (`AllowFPOpFusion` other than `Fast`). Contraction on individual instructions of the kernel does no
//! harm. `tests/rtlib` checks in the generated PTX that multiplications and additions are not fused.
//!
//! # The functions of a cast
//!
//! * From a narrow float: [`Function::Widen`] to f32 is exact. Any further conversion (to f64, to an integer, to
//!   another narrow format) starts from the f32. The [`Function::WidenPair`] forms convert two elements to f16 with
//!   about half the instructions.
//! * To a narrow float: [`Function::Narrow`] from f32, f64 and 32- or 64-bit integers, rounded once. Narrower integers
//!   are extended to 32 bits first; f16 and bf16 sources are widened first.
//! * To e8m0: [`Function::Scale`], from f32 or f64.
//! * If the target has an instruction for the conversion, prefer the instruction.

mod registry;
mod runtime;

pub use registry::{
    Arithmetic, Direction, Float, Format, Function, Half, Math, Mode, Number, Overflow, Signature, Type, Wide,
};
pub use runtime::{MapAnswer, Runtime, maps};

/// The prefix of all symbols of the library.
pub const PREFIX: &str = "__tileir_";

/// The library as LLVM 21 bitcode for `nvptx64-nvidia-cuda`, without a data layout.
pub fn bitcode() -> &'static [u8] {
    include_bytes!(concat!(env!("OUT_DIR"), "/rtlib.bc"))
}
