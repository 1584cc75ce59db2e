//! What the command and the compiler say to each other.
//!
//! The command knows nothing of MLIR: it hands bytes to a [`Compiler`] and takes text back. The compiler knows no
//! files, no options and no ptxas. Both know these types, and neither knows the other. The binary that links the
//! compiler supplies one; tests supply a closure.
//!
//! * [`request`]: what a compiler is asked and what it answers.
//! * [`remark`]: what a pass tells the user about its decisions.
//! * [`scope`]: named spans of time that an embedder can watch.

#![deny(unsafe_code)]

pub mod remark;
pub mod request;
pub mod scope;

pub use remark::{Remark, RemarkSort, RemarkSubject};
pub use request::{
    Backend, CompileError, CompileOutput, CompileRequest, Compiler, DebugInfo, Emit, InputKind, Insertion,
    Instrumentation, Level, Listing, NotTileIr, Place, Snapshot, input_kind,
};
