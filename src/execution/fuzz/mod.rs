//! Random programs: compiled code against the reference interpreter, and arbitrary input against the parser and the
//! whole path.
//!
//! * `cases/`: the crate `tile-fuzz`, which makes programs and knows no compiler.
//! * [`differential`]: compiles a program, runs it, and compares with what the interpreter says.
//! * [`mutate`]: changes the text of a program.
//! * [`plans`]: how often the compiler gives up plans, and how loops of products multiply.
//! * [`text`]: the body of the fuzz target of the text parser.
//! * [`whole`]: the bodies of the fuzz targets of the whole path.
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

/// Time that this thread has spent on a processor, which other programs of a busy machine do not add to. Where the
/// system does not say, it is the time that has passed.
fn processor_time() -> Duration {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    // Linux: nanoseconds on a processor, nanoseconds in a queue, and a count.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = text.split(' ').next().and_then(|word| word.parse().ok());
    spent.map_or_else(|| FIRST.elapsed(), Duration::from_nanos)
}
