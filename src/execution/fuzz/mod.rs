//! Fuzzing: compares compiled random programs with the reference interpreter, and feeds arbitrary input to the parser
//! and to the whole compiler.
//!
//! * `cases/`: the crate `tile-fuzz`, which generates programs and does not depend on the compiler.
//! * [`differential`]: compiles a program, runs it, and compares the results with the interpreter's.
//! * [`mutate`]: changes the text of a program.
//! * [`plans`]: counts plans that the compiler gives up, and the instructions that loops of dots use.
//! * [`text`]: the body of the fuzz target of the text parser.
//! * [`whole`]: the bodies of the fuzz targets of the whole compiler.
//! * `command/`: the program `tile-fuzz`.

pub mod differential;
pub mod mutate;
pub mod plans;
pub mod text;
pub mod whole;

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

/// Processor time of this thread, which does not include the time of other programs on a busy machine. Falls back to
/// elapsed time if the system does not provide it.
fn processor_time() -> Duration {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    // Linux: nanoseconds on a processor, nanoseconds in a run queue, and a count.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = text.split(' ').next().and_then(|word| word.parse().ok());
    spent.map_or_else(|| FIRST.elapsed(), Duration::from_nanos)
}
