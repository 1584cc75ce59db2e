//! Tile IR bytecode: reader and writer for both containers, without MLIR.
//!
//! There are two kinds of files. Producers write the *public* container (versions 13.1 to 13.5, magic `7F "TileIR"
//! 00`). The *specification* container (13.1, magic `06 03 80 "Tile" 00`) uses a different envelope, self-describing
//! operation records and tagged constants. The eight magic bytes alone select the container. The two share one
//! implementation; a [`WireProfile`] holds the differences.
//!
//! ```text
//! bytes --container--> section windows --sections, types, debug--> pools --ops--> bodies      read
//! Module --ops, attrs--> bodies --sections--> pools --container--> bytes                     write
//! ```
//!
//! A producer may write the sections in any order. The reader always decodes them in the order strings, producer,
//! types, constants, debug information, globals, functions, because each refers only to earlier ones. A section is
//! accepted only if it was consumed to its last byte. No input makes the reader panic, recurse without bound or
//! allocate more than a small multiple of the input's size.
//!
//! ```
//! let empty_module = [
//!     0x7F, b'T', b'i', b'l', b'e', b'I', b'R', 0, 13, 1, 0, 0, // magic, version 13.1, tag 0
//!     0x82, 8, 8, 0xCB, 0, 0xCB, 0xCB, 0xCB, 0xCB, 0xCB, 0xCB, 0xCB, // no functions
//!     0x85, 4, 4, 0xCB, 0, 0xCB, 0xCB, 0xCB, // no types
//!     0x81, 4, 4, 0xCB, 0, 0xCB, 0xCB, 0xCB, // no strings
//!     0,
//! ];
//! let module = tile_bytecode::read(&empty_module, &Default::default()).unwrap();
//! let again = tile_bytecode::write(&module, tile_bytecode::Profile::Public, module.version).unwrap();
//! assert_eq!(again, empty_module);
//! ```

#![forbid(unsafe_code)]

mod anonymise;
mod attrs;
mod body;
mod builder;
mod container;
mod debug;
mod error;
pub mod forms;
pub mod fuzzing;
mod module;
mod ops;
mod preview;
mod reader;
pub mod schema;
mod sections;
mod spec_ops;
mod types;
pub mod varint;
mod writer;

pub use anonymise::anonymise;
pub use body::{AllOps, AttrValue, Block, BlockOps, Body, BoolList, OpRef, Region};
pub use builder::{BodyBuilder, OpInit, Pools};
pub use container::{Profile, WireProfile, is_bytecode, is_mlir_bytecode};
pub use error::{Class, ErrorKind, Field, Part, ReadError, ReadResult, SectionId, WriteError};
pub use module::*;
pub use ops::MAX_REGIONS;
pub use preview::{Binary, Fragment, Implementation, LayoutMap, Preview, Scratch};
pub use reader::{ReadOptions, read, read_with_profile};
pub use writer::write;
