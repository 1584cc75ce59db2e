//! The interface between the driver and the compiler.
//!
//! The driver does not depend on MLIR: it passes bytes to a [`Compiler`] and gets text back. The compiler does not
//! deal with files, options or ptxas. Both depend on these types and not on each other. The binary that links the
//! compiler supplies an implementation; tests supply a closure.
//!
//! * [`advice`]: what users can change, in the spelling of their front end.
//! * [`boundary`]: places between passes.
//! * [`choice`]: what the compiler chose for products, transfers and loops.
//! * [`pipeline`]: the options of the pass pipeline.
//! * [`request`]: compile requests and their results.
//! * [`remark`]: optimization remarks of passes.
//! * [`scope`]: named time spans that an embedder can observe.

#![deny(unsafe_code)]

pub mod advice;
pub mod boundary;
pub mod choice;
pub mod pipeline;
pub mod remark;
pub mod request;
pub mod scope;

pub use advice::Advice;
pub use boundary::Boundary;
pub use choice::{Agent, Choice, Copying, LoopPlan, Order, Product, Transfer};
pub use pipeline::{NUMERICS, PipelineOption};
pub use remark::{Remark, RemarkSort, RemarkSubject, gathered};
pub use request::{
    Backend, CompileError, CompileOutput, CompileRequest, Compiler, DebugInfo, Emit, InputKind, Insertion,
    Instrumentation, Level, Listing, NotTileIr, Position, Snapshot, has_strict_plans, input_kind,
};
