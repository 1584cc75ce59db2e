//! PTX parser and functional simulator: runs compiled kernels on the CPU.
//!
//! [`Module::parse`] turns PTX text into a typed [`ir`]; a [`Device`] holds memory and launches entries. Every access
//! is checked for bounds, alignment and bytes that were never written. A deadlock is reported with the wait of each
//! thread. Under [`RunOptions::adversarial`] warps run in random order, asynchronous operations complete as late as is
//! legal, and data races and missing proxy fences are reported with both instructions.
//!
//! ```
//! use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions};
//!
//! let module = Module::parse(
//!     ".version 8.8 .target sm_90 .address_size 64
//!      .visible .entry double(.param .u64 p) .reqntid 32 {
//!        .reg .b64 %rd<4>; .reg .b32 %r<4>;
//!        ld.param.b64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
//!        ld.global.b32 %r2, [%rd3]; add.s32 %r2, %r2, %r2; st.global.b32 [%rd3], %r2; ret; }",
//! )?;
//! let mut device = Device::new(Config::default());
//! let data: Vec<u8> = (0..32u32).flat_map(u32::to_le_bytes).collect();
//! let p = device.alloc_from(&data);
//! let launch = LaunchConfig { grid: [1, 1, 1], args: &[Arg::Ptr(p)], ..LaunchConfig::default() };
//! let report = device.launch(&module, "double", &launch, &RunOptions::default())?;
//! let mut out = [0; 4];
//! device.read(p.offset(4 * 7), &mut out)?;
//! assert_eq!(u32::from_le_bytes(out), 14);
//! assert_eq!(report.stats.bytes("global"), (128, 128));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Module map
//!
//! | module | contents |
//! |---|---|
//! | [`ir`] | the typed instructions, operands and declarations |
//! | `parse` | text to `ir`; every unknown instruction or modifier is an error with its position |
//! | `exec` | decoding, memory, warps, scheduling, instructions, asynchronous operations, race detection |
//! | [`num`] | floating point in every format and rounding mode |
//! | [`timing`] | predicted time on a machine |
//! | [`tensor`] | matrix fragments, descriptors, tensor memory |
//! | [`units`] | mbarriers, tensor maps and copies by them |
//!
//! # Limits
//!
//! Memory shared by CTAs is sequentially consistent. The simulator does not model weaker orderings; the race detector
//! reports accesses whose order PTX does not guarantee. Textures, surfaces and sparse matrices are rejected with an
//! error.

mod exec;
pub mod fuzzing;
pub mod ir;
pub mod mutate;
pub mod num;
mod parse;
pub mod tensor;
pub mod timing;
pub mod units;

pub use exec::{
    AccessReport, Arbitrary, ArbitraryLanes, Arg, BlockClocks, Class, ClockReads, Config, Coverage, Device, DevicePtr,
    Executed, LaunchConfig, LoadError, RaceReport, RecordOptions, Recording, Report, RunOptions, SimError,
    SimErrorKind, Site, Stats,
};
pub use ir::Module;
pub use parse::{ParseError, ParseErrorKind};
