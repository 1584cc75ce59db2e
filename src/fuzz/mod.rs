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
